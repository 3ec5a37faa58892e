/* SPDX-License-Identifier: MIT */
/*
 * Rearranges and counts a sequence: chooses the next request among a window of the oldest remaining
 * requests.
 *
 * A request can be chosen if it does not conflict with an older one.  All older requests are in the
 * window too, so counting conflicts within the window suffices, and the result is a legal
 * permutation.
 *
 * Time: n w for n requests and a window of w requests.
 *
 * Rejected: the graph of all conflicts.  It needs no window, but an operator cannot hold back all
 * its writes either.
 */
#include <stdlib.h>
#include <string.h>
#include "base/enum.h"
#include "base/minmax.h"
#include "trace/sequence.h"

/*
 * Counts seeks, merges and bytes in one walk over a sequence, and the regions that its writes
 * cover: writes are sorted by offset and joined where they touch.
 */

/* State of a volume after its last request. */
struct position {
	uint64_t start, end; /* start and end of the last request */
	uint64_t read_end;   /* end of the last read */
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

static int by_offset(const void *pa, const void *pb)
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
	qsort(w, n, sizeof(*w), by_offset);
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

struct waiting {
	struct sp__seqreq req;
	size_t conflicts; /* with older requests */
};

struct refining {
	enum sp_sequence_refinement how;
	struct waiting *window; /* oldest first */
	size_t n;
	const struct sp__seqreq *last; /* the last one chosen; NULL: none yet */
};

static bool same_bytes(const struct sp__seqreq *a, const struct sp__seqreq *b)
{
	return a->volume == b->volume && a->offset < b->offset + b->bytes &&
	       b->offset < a->offset + a->bytes;
}

static bool conflict(const struct sp__seqreq *a, const struct sp__seqreq *b)
{
	return (a->write || b->write) && same_bytes(a, b);
}

static int by_place(const struct sp__seqreq *a, const struct sp__seqreq *b)
{
	int order = SP__ORDER(a->volume, b->volume);

	return order ? order : SP__ORDER(a->offset, b->offset);
}

/* True if r suits the last request, whatever its offset. */
static bool suits(const struct refining *f, const struct sp__seqreq *r)
{
	switch (f->how) {
	case SP_SEQUENCE_BY_BLOCK:
		return same_bytes(r, f->last);
	case SP_SEQUENCE_BY_FILE:
		return r->volume == f->last->volume;
	default:
		return by_place(r, f->last) >= 0;
	}
}

static bool better(const struct refining *f, const struct sp__seqreq *a, const struct sp__seqreq *b)
{
	bool suits_a = suits(f, a), suits_b = suits(f, b);

	if (suits_a != suits_b)
		return suits_a;
	return f->how == SP_SEQUENCE_BY_OFFSET && by_place(a, b) < 0;
}

/* The oldest request never conflicts. */
static size_t choose(const struct refining *f)
{
	size_t best = 0;

	for (size_t i = 1; f->last && i < f->n; i++)
		if (!f->window[i].conflicts && better(f, &f->window[i].req, &f->window[best].req))
			best = i;
	return best;
}

static void put(struct refining *f, const struct sp__seqreq *r)
{
	struct waiting *w = &f->window[f->n];

	*w = (struct waiting){ .req = *r };
	for (size_t i = 0; i < f->n; i++)
		w->conflicts += conflict(&f->window[i].req, r);
	f->n++;
}

static struct sp__seqreq take(struct refining *f, size_t at)
{
	struct sp__seqreq r = f->window[at].req;

	f->n--;
	memmove(&f->window[at], &f->window[at + 1], (f->n - at) * sizeof(*f->window));
	for (size_t i = at; i < f->n; i++)
		f->window[i].conflicts -= conflict(&r, &f->window[i].req);
	return r;
}

int sp_sequence_refine(struct sp_sequence *seq, enum sp_sequence_refinement how, size_t window)
{
	struct sp__seqreq *out = malloc((seq->n + 1) * sizeof(*out));
	struct sp__progress progress = sp__sequence_progress(seq);
	struct refining f = { .how = how };
	size_t room = sp__min(window, seq->n), next = 0;

	if (window)
		f.window = calloc(room + 1, sizeof(*f.window));
	if (!out || !f.window) {
		free(out);
		free(f.window);
		return window ? -ENOMEM : -EINVAL;
	}
	for (size_t i = 0; i < seq->n; i++) {
		while (f.n < room && next < seq->n)
			put(&f, &seq->req[next++]);
		out[i] = take(&f, how == SP_SEQUENCE_AS_IS ? 0 : choose(&f));
		f.last = &out[i];
		sp__sequence_report(&progress, SP_SEQUENCE_PHASE_REFINE, i, i, seq->n);
	}
	free(f.window);
	free(seq->req);
	seq->req = out;
	seq->refinement = how;
	seq->window = window;
	return sp__sequence_count(seq);
}

SP__ENUM_TABLE(sp_sequence_refinement, { "none", SP_SEQUENCE_AS_IS },
	       { "block", SP_SEQUENCE_BY_BLOCK }, { "file", SP_SEQUENCE_BY_FILE },
	       { "offset", SP_SEQUENCE_BY_OFFSET }, { "place", SP_SEQUENCE_BY_OFFSET })
