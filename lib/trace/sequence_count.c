/* SPDX-License-Identifier: MIT */
/*
 * Counts seeks, merges and bytes in one walk over a sequence, and the regions that its writes
 * cover: writes are sorted by offset and joined where they touch.
 */
#include <stdlib.h>
#include "base/minmax.h"
#include "trace/sequence.h"

/* State of a volume after its last request. */
struct position {
	uint64_t start, end; /* of the last request */
	uint64_t read_end;   /* of the last read */
	bool any, any_read, write;
};

struct range {
	uint64_t start, end;
	uint32_t volume;
};

static void count_one(struct sp_sequence_counts *c, struct position *p, const struct sp__seqreq *r)
{
	uint64_t end = r->offset + r->bytes;

	c->seeks += !p->any || r->offset != p->end;
	c->merges += p->any && r->write == p->write && (r->offset == p->end || end == p->start);
	if (r->write) {
		c->write_requests++;
		c->write_bytes += r->bytes;
	} else {
		c->read_requests++;
		c->read_bytes += r->bytes;
		c->cluster_reads += !p->any_read || r->offset != p->read_end;
		p->any_read = true;
		p->read_end = end;
	}
	p->any = true;
	p->write = r->write;
	p->start = r->offset;
	p->end = end;
}

static int by_place(const void *pa, const void *pb)
{
	const struct range *a = pa, *b = pb;

	int order = SP__ORDER(a->volume, b->volume);

	return order ? order : SP__ORDER(a->start, b->start);
}

/* Joins ranges, sorted by offset, to regions. */
static void join_ranges(struct sp_sequence *seq, const struct range *w, size_t n)
{
	for (size_t i = 0, next; i < n; i = next) {
		struct sp_sequence_counts *c = &seq->volume[w[i].volume].counts;
		uint64_t end = w[i].end, written = end - w[i].start;

		for (next = i + 1;
		     next < n && w[next].volume == w[i].volume && w[next].start <= end; next++) {
			written += w[next].end - w[next].start;
			end = sp__max(end, w[next].end);
		}
		c->regions++;
		c->region_bytes += end - w[i].start;
		c->overwritten_bytes += written - (end - w[i].start);
	}
}

static int count_regions(struct sp_sequence *seq)
{
	struct range *w;
	size_t n = 0;

	for (size_t i = 0; i < seq->n; i++)
		n += seq->req[i].write;
	w = malloc((n ? n : 1) * sizeof(*w));
	if (!w)
		return -ENOMEM;
	n = 0;
	for (size_t i = 0; i < seq->n; i++) {
		const struct sp__seqreq *r = &seq->req[i];

		if (r->write)
			w[n++] = (struct range){ r->offset, r->offset + r->bytes, r->volume };
	}
	qsort(w, n, sizeof(*w), by_place);
	join_ranges(seq, w, n);
	free(w);
	return 0;
}

int sp__sequence_count(struct sp_sequence *seq)
{
	struct position *p = calloc(seq->nvolumes ? seq->nvolumes : 1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	seq->device_seeks = 0;
	for (size_t i = 0; i < seq->nvolumes; i++) {
		struct sp_sequence_counts *c = &seq->volume[i].counts;

		*c = (struct sp_sequence_counts){ .failed = c->failed, .empty = c->empty };
	}
	for (size_t i = 0; i < seq->n; i++) {
		const struct sp__seqreq *r = &seq->req[i];

		seq->device_seeks +=
			!i || seq->req[i - 1].volume != r->volume || p[r->volume].end != r->offset;
		count_one(&seq->volume[r->volume].counts, &p[r->volume], r);
	}
	free(p);
	for (size_t i = 0; i < seq->nvolumes; i++) {
		struct sp_sequence_counts *c = &seq->volume[i].counts;

		c->requests = c->failed + c->empty + c->read_requests + c->write_requests;
	}
	return count_regions(seq);
}

static void sum(struct sp_sequence_counts *to, const struct sp_sequence_counts *c)
{
	to->requests += c->requests;
	to->failed += c->failed;
	to->empty += c->empty;
	to->read_requests += c->read_requests;
	to->read_bytes += c->read_bytes;
	to->write_requests += c->write_requests;
	to->write_bytes += c->write_bytes;
	to->seeks += c->seeks;
	to->merges += c->merges;
	to->cluster_reads += c->cluster_reads;
	to->regions += c->regions;
	to->region_bytes += c->region_bytes;
	to->overwritten_bytes += c->overwritten_bytes;
}

void sp_sequence_stats(const struct sp_sequence *seq, struct sp_sequence_stats *stats)
{
	*stats = (struct sp_sequence_stats){ .device_seeks = seq->device_seeks,
					     .volumes = seq->nvolumes,
					     .refinement = seq->refinement,
					     .window = seq->window };
	for (size_t i = 0; i < seq->nvolumes; i++)
		sum(&stats->total, &seq->volume[i].counts);
}

int sp_sequence_volume(const struct sp_sequence *seq, size_t number, const char **name,
		       struct sp_sequence_counts *counts)
{
	if (number >= seq->nvolumes)
		return -ERANGE;
	*name = seq->volume[number].name;
	*counts = seq->volume[number].counts;
	return 0;
}
