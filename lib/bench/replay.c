/* SPDX-License-Identifier: MIT */
/*
 * Repeats the requests of a trace.
 *
 * Algorithm: the trace is a list of requests in the order of submission, with a cursor for each
 * class, or one for all.
 *
 * A request is submitted when it is due and a slot is free.  Its latency counts from the due time,
 * so a device slower than the recorded one shows longer latencies.
 *
 * Not modelled: dependencies between requests, which a trace does not record.  Requests wait only
 * for a slot.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "bench/replay.h"
#include "bench/state.h"
#include "trace/sequence.h"

#define PLACE_BYTES ((uint64_t)1 << 20)

/* Replaces an invalid priority by none. */
static uint16_t usable(uint16_t prio)
{
	return prio >> 13 > SP_BENCH_IDLE || (prio & 0x1ff8) || prio >> 13 == SP_BENCH_NONE ? 0
											    : prio;
}

static size_t class_of(const struct sp__replay *r, uint16_t prio)
{
	size_t i = 0;

	while (i + 1 < r->nclasses && r->classes[i].prio != usable(prio))
		i++;
	return i;
}

static void add_class(struct sp__replay *r, uint16_t prio)
{
	size_t i = r->nclasses;

	if (i && r->classes[class_of(r, prio)].prio == usable(prio))
		return;
	if (i == SP_BENCH_CLASSES_MAX)
		return;
	(void)sp_bench_prio_name(usable(prio), r->names[i]);
	r->classes[i] = (struct sp_bench_class){ .name = r->names[i],
						 .prio = usable(prio),
						 .pattern = SP_BENCH_SEQUENTIAL };
	r->nclasses++;
}

static void find_classes(struct sp__replay *r)
{
	uint64_t reads[SP_BENCH_CLASSES_MAX] = { 0 }, all[SP_BENCH_CLASSES_MAX] = { 0 };

	for (size_t i = 0; i < r->seq->n; i++)
		add_class(r, r->seq->req[i].prio);
	for (size_t i = 0; i < r->seq->n; i++) {
		const struct sp__seqreq *q = &r->seq->req[i];
		size_t c = class_of(r, q->prio);

		all[c]++;
		reads[c] += !q->write;
		r->classes[c].bytes = (uint32_t)sp__max(r->classes[c].bytes, q->bytes);
		r->bytes_max = (uint32_t)sp__max(r->bytes_max, q->bytes);
	}
	for (size_t c = 0; c < r->nclasses; c++) {
		r->classes[c].share = (double)all[c] / (double)r->seq->n;
		r->classes[c].reads = (double)reads[c] / (double)all[c];
	}
}

static int place(struct sp__replay *r, const struct sp_bench_opts *opts)
{
	const struct sp_sequence *seq = r->seq;

	r->volumes = calloc(seq->nvolumes, sizeof(*r->volumes));
	r->file = calloc(seq->nvolumes, sizeof(*r->file));
	if (!r->volumes || !r->file)
		return -ENOMEM;
	for (size_t v = 0; v < seq->nvolumes; v++) {
		const struct sp_sequence_counts *c = &seq->volume[v].counts;
		size_t file = v % opts->ntargets;
		uint64_t begin = (r->need[file] + PLACE_BYTES - 1) / PLACE_BYTES * PLACE_BYTES;

		if (seq->volume[v].end > INT64_MAX - begin - PLACE_BYTES)
			return -EOVERFLOW;
		r->file[v] = file;
		r->volumes[v] = (struct sp_bench_volume){ .name = seq->volume[v].name,
							  .target = opts->targets[file],
							  .begin_bytes = begin,
							  .bytes = seq->volume[v].end };
		r->need[file] = begin + seq->volume[v].end;
		r->writes[file] |= c->write_requests > 0;
		r->result.requests += c->requests;
		r->result.skipped += c->failed + c->empty;
	}
	return 0;
}

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Computes the largest number outstanding from the times of submission and completion. */
static int measure_depth(struct sp__replay *r)
{
	const struct sp_sequence *seq = r->seq;
	int64_t *done = calloc(seq->n, sizeof(*done)), last = seq->req[0].done_ns;
	size_t gone = 0;

	if (!done)
		return -ENOMEM;
	for (size_t i = 0; i < seq->n; i++) {
		done[i] = seq->req[i].done_ns;
		if (done[i] > last)
			last = done[i];
	}
	qsort(done, seq->n, sizeof(*done), by_time);
	for (size_t i = 0; i < seq->n; i++) {
		while (gone < i && done[gone] <= seq->req[i].submit_ns)
			gone++;
		if (i + 1 - gone > r->result.recorded_depth)
			r->result.recorded_depth = (unsigned)(i + 1 - gone);
	}
	r->result.recorded_ns = (uint64_t)(last - seq->req[0].submit_ns);
	free(done);
	return 0;
}

int sp__replay_open(struct sp__replay **out, struct sp_bench_opts *opts, struct sp_errinfo *err)
{
	const struct sp_bench_replay *o = opts->replay;
	struct sp__replay *r = calloc(1, sizeof(*r));
	int rc;

	*out = r;
	if (!r)
		return sp__err(err, -ENOMEM, "open", o->trace, -1);
	rc = sp_sequence_load(&r->seq, o->trace, NULL, err);
	if (rc < 0)
		return rc;
	if (!r->seq->n)
		return sp__errf(err, -ENODATA, "read", o->trace, -1, "has no requests to replay");
	find_classes(r);
	if (r->bytes_max > 1u << 30)
		return sp__errf(err, -EINVAL, "read", o->trace, -1,
				"has a request of more than 1 GiB");
	rc = place(r, opts);
	if (rc == 0)
		rc = measure_depth(r);
	if (rc)
		return sp__err(err, rc, "read", o->trace, -1);
	r->no_stall = o->no_stall;
	r->scale = o->time_scale > 0 ? o->time_scale : 1;
	r->result.depth = opts->depth ? opts->depth : r->result.recorded_depth;
	if (r->result.depth > SP_BENCH_DEPTH_MAX)
		r->result.depth = SP_BENCH_DEPTH_MAX;
	r->result.nvolumes = r->seq->nvolumes;
	r->result.volumes = r->volumes;
	opts->depth = r->result.depth;
	opts->nclasses = r->nclasses;
	opts->classes = r->classes;
	return 0;
}

void sp__replay_close(struct sp__replay *r)
{
	if (!r)
		return;
	sp_sequence_free(r->seq);
	free(r->volumes);
	free(r->file);
	free(r);
}

uint64_t sp__replay_bytes_max(const struct sp__replay *r, uint32_t align_bytes)
{
	return align_bytes > 1 ? r->bytes_max + 2ull * align_bytes : r->bytes_max;
}

/* Moves the cursor to the next request of the class. */
static size_t seek(struct sp__replay *r, int class)
{
	size_t *i = &r->cursor[class < 0 ? 0 : class];

	while (class >= 0 && *i < r->seq->n && class_of(r, r->seq->req[*i].prio) != (size_t) class)
		++*i;
	return *i;
}

uint64_t sp__replay_due(struct sp__replay *r, int class)
{
	size_t i = seek(r, class);

	if (i == r->seq->n)
		return UINT64_MAX;
	if (r->no_stall)
		return 0;
	return r->begin_ns +
	       (uint64_t)((double)(r->seq->req[i].submit_ns - r->seq->req[0].submit_ns) / r->scale);
}

size_t sp__replay_take(struct sp__replay *r, int class, const struct sp_bench *b,
		       struct sp__bench_slot *slot)
{
	size_t i = seek(r, class), file;
	const struct sp__seqreq *q = &r->seq->req[i];
	const struct sp__benchfile *f;
	uint64_t begin, end, align;

	slot->intended_ns = r->no_stall ? 0 : sp__replay_due(r, class);
	r->cursor[class < 0 ? 0 : class] = i + 1;
	file = r->file[q->volume];
	f = &b->files[file];
	align = f->align_bytes;
	begin = f->begin + r->volumes[q->volume].begin_bytes + q->offset;
	end = (begin + q->bytes + align - 1) / align * align;
	if (begin % align || (begin + q->bytes) % align)
		r->result.extended++;
	begin = begin / align * align;
	slot->class = b->classes[class_of(r, q->prio)];
	slot->req.op = q->write ? SP__OP_WRITE : SP__OP_READ;
	slot->req.prio = slot->class->spec.prio;
	slot->req.volume = f->volume;
	slot->req.offset = begin;
	slot->req.bytes = (uint32_t)(end - begin);
	return slot->req.bytes;
}
