/* SPDX-License-Identifier: MIT */
/*
 * Joins files by index nested loops: makes the plan above a scan of the outer file, and writes the
 * rows of its root.  Before it waits, it writes all rows that it has.
 */
#include <stdio.h>
#include <string.h>
#include "join/inl/inl.h"
#include "predict/costs.h"

#define OUTSTANDING_DEFAULT 128
#define QUEUE_MAX 4096
/* Bytes that cost as much to read as a request, if the device is unknown. */
#define GAP_BYTES (16u << 10)
#define EXPECT_MIN 16

/*
 * Estimates the number of remaining rows from the length of the rows so far.  Done at intervals,
 * after a minimum number of rows.
 */
static void expect_rows(struct sp__inl_plan *p, const struct sp__source *src)
{
	const struct sp_join_opts *o = p->in->opts;
	const uint64_t all = o->input_bytes[p->outer];
	const uint64_t done = src->bytes - (uint64_t)(src->end - src->at);
	uint64_t rows;

	if (src->lines < EXPECT_MIN || (src->lines & (src->lines - 1)) || all <= done)
		return;
	rows = (uint64_t)((double)(all - done) / (double)done * (double)src->lines);
	sp__inl_expect(p->level[0].inl, o->limited ? sp__min(rows, o->limit) : rows);
}

/* Scans the outer file as an operator. */
static int outer_next(void *plan, const struct sp__tuple **row)
{
	struct sp__inl_plan *p = plan;
	struct sp__source *src = &p->in->source[p->outer];
	const char *data;
	size_t bytes;
	int rc;

	if (src->at == src->end) {
		rc = sp__source_try(src);
		if (rc != SP_READY)
			return rc;
	}
	data = src->at;
	src->at = sp__record_next(&src->format, data, src->end, &bytes);
	src->lines++;
	sp__tally_count(&src->done, (uint64_t)(src->at - data));
	sp__line_set(&p->out->emit, p->outer, data, bytes, &p->row.of[p->outer]);
	*row = &p->row;
	expect_rows(p, src);
	return SP_READY;
}

/* Opening. */

static unsigned max_outstanding(const struct sp_join_opts *o, unsigned nlevels)
{
	unsigned max = o->max_outstanding ? o->max_outstanding : OUTSTANDING_DEFAULT;

	return o->algorithm == SP_JOIN_INL ? 1 : (unsigned)sp__min(max, QUEUE_MAX / 2 / nlevels);
}

static uint64_t level_memory(const struct sp__inl_plan *p)
{
	const struct sp_run_opts *run = &p->in->opts->run;
	const uint64_t working = sp__working_memory(run, run->memory_bytes);
	const struct sp__buffers b = sp__buffers(working);

	return (working - (uint64_t)b.chunk_bytes * (b.reads + b.writes)) / p->nlevels;
}

static uint64_t gap_bytes(const struct sp_join_opts *o)
{
	const struct sp__device_costs d = sp__device_costs(o->run.geometry, false);

	if (o->algorithm == SP_JOIN_INL)
		return 0;
	return o->run.geometry ? (uint64_t)(d.seek_s / d.transfer_s_per_mib * (1 << 20))
			       : GAP_BYTES;
}

/* input: NULL for an operator, which uses the source recorded in the index. */
static int open_index(struct sp__inl_plan *p, struct sp__inl_level *l, int side, const char *path,
		      const char *input)
{
	struct sp__join_inputs *in = p->in;
	int rc = sp__index_open(&l->index, path, in->env);

	if (rc == -ENOENT && l->index.fd < 0)
		sp__want_index(in->io, &l->keys, side, input, path);
	return rc ? rc
		  : sp__inlindex_check(&l->index, &l->keys, side, input ? input : l->index.source,
				       in->io, in->env->err);
}

/* Sets the files and fields that are the keys of level i, and its index. */
static int open_keys(struct sp__inl_plan *p, unsigned i, struct sp__inl_opts *lo)
{
	const struct sp_join_opts *o = p->in->opts;
	struct sp__inl_level *l = &p->level[i];
	const char *path = i ? o->then[i - 1].index : o->index[!p->outer];
	const char *input = i ? o->then[i - 1].input : p->in->io->inputs[!p->outer];

	l->keys = *o;
	lo->outer_side = i ? 0 : p->outer;
	lo->left = i ? o->then[i - 1].left - 1 : (unsigned)p->outer;
	lo->inner = i ? i + 1 : (unsigned)!p->outer;
	lo->format = sp__join_format(o, i ? 0 : !p->outer);
	lo->ordered = o->ordered != 0 || o->algorithm == SP_JOIN_INL;
	lo->pairs = i || o->pairs;
	lo->semi = !i && o->semi;
	lo->unpaired = !i && o->unpaired[p->outer];
	if (i) {
		l->field[0] = o->then[i - 1].left_field;
		l->field[1] = o->then[i - 1].key;
		l->keys.keys[0] = &l->field[0];
		l->keys.keys[1] = &l->field[1];
		l->keys.nkeys = 1;
		l->keys.types = NULL;
		l->keys.collated = NULL;
	}
	return open_index(p, l, !lo->outer_side, path, input);
}

static int open_level(struct sp__inl_plan *p, unsigned i, unsigned max)
{
	struct sp__inl_level *l = &p->level[i];
	struct sp__inl_opts lo = {
		.env = p->in->env,
		.cut = &p->out->emit.cut,
		.outer = i ? (struct sp__tuples){ p->level[i - 1].inl, sp__inl_next }
			   : (struct sp__tuples){ p, outer_next },
		.reads = &p->reads,
		.waits = p->waits,
		.index = &l->index,
		.keys = &l->keys,
		.max = max,
		.memory_bytes = level_memory(p),
		.gap_bytes = gap_bytes(p->in->opts),
	};
	int rc = open_keys(p, i, &lo);

	if (rc < 0)
		return rc;
	if (p->in->opts->run.direct < 0)
		sp__index_bypass(&l->index);
	lo.volume = l->index.records;
	return sp__inl_open(&l->inl, &lo);
}

int sp__inl_plan_open(struct sp__inl_plan *p)
{
	const struct sp_join_opts *o = p->in->opts;
	const unsigned max = max_outstanding(o, p->nlevels);
	const struct sp__queue_opts qo = { .engine = o->run.engine,
					   .depth = 2 * max * p->nlevels,
					   .trace = p->in->env->trace,
					   .device = p->in->read.device,
					   .bound = p->bound };
	int rc = sp__requests_open(&p->reads, &qo, p->in->env->err);

	for (unsigned i = 0; i < p->nlevels && !rc; i++)
		rc = open_level(p, i, max);
	return rc;
}

void sp__inl_plan_note(const struct sp__inl_plan *p, struct sp_run_stats *st)
{
	if (!p->reads.queue)
		return;
	snprintf(st->engine, sizeof(st->engine), "%s", sp__queue_engine(p->reads.queue));
	sp__env_note_io(st, sp__queue_counters(p->reads.queue));
}

void sp__inl_plan_close(struct sp__inl_plan *p)
{
	sp__requests_close(&p->reads);
	for (unsigned i = p->nlevels; i-- > 0;) {
		struct sp__inl_level *l = &p->level[i];

		if (l->inl)
			sp__inl_note(l->inl, &p->in->counts->stats);
		sp__inl_close(l->inl);
		sp__index_close(&l->index);
	}
}

void sp__inl_plan_write(struct sp__inl_plan *p, const struct sp__tuple *row)
{
	struct sp__emit *e = &p->out->emit;
	struct sp__line line[SP_JOIN_FILES_MAX];
	const struct sp__line *of[SP_JOIN_FILES_MAX];
	uint64_t written = sp__emit_bytes(e);

	for (unsigned i = 0; i <= p->nlevels; i++) {
		of[i] = row->of[i].data ? &line[i] : NULL;
		if (i < 2 && of[i])
			sp__line_set(e, (int)i, row->of[i].data, row->of[i].bytes, &line[i]);
		else
			line[i] = row->of[i];
	}
	sp__emit_files(e, of);
	sp__charge_work(p->in->env, 1, 1, sp__emit_bytes(e) - written);
}

/* The root. */

/* Flushes the rows so far, and waits. */
static int wait_all(struct sp__inl_plan *p)
{
	int rc = sp__emit_flush(&p->out->emit);

	if (!rc)
		rc = sp__wstream_flush(p->out->ws);
	return rc ? rc : sp__waits_block(p->waits);
}

static int run(struct sp__inl_plan *p)
{
	const struct sp__tuple *row;
	int rc;

	do {
		rc = sp__inl_next(sp__inl_plan_top(p), &row);
		if (rc == SP_LATER) {
			rc = wait_all(p);
			rc = rc ? rc : SP_READY;
		} else if (rc == SP_READY) {
			sp__inl_plan_write(p, row);
			rc = p->out->emit.error ? p->out->emit.error : rc;
		}
	} while (rc == SP_READY);
	return rc;
}

/* Makes the command for the index whose source has changed. */
static void want_again(const struct sp__inl_plan *p)
{
	const struct sp__join_inputs *in = p->in;

	for (unsigned i = 0; i < p->nlevels; i++) {
		const struct sp__inl_level *l = &p->level[i];
		const char *input = i ? in->opts->then[i - 1].input : in->io->inputs[!p->outer];

		if (l->index.path && !strcmp(l->index.path, in->env->err->path)) {
			sp__want_index(in->io, &l->keys, i ? 1 : !p->outer, input, l->index.path);
			return;
		}
	}
}

int sp__join_inl(struct sp__join_inputs *in, struct sp__result *out)
{
	struct sp__inl_plan p = { .in = in,
				  .out = out,
				  .outer = sp__inl_outer(in->opts),
				  .nlevels = 1 + (unsigned)in->opts->nthen,
				  .waits = &in->waits,
				  .bound = true };
	int rc;

	in->counts->stats.algorithm = in->opts->algorithm;
	rc = sp__inl_plan_open(&p);
	/* Only now: if an index cannot be used, there is no result, not even a header. */
	if (!rc)
		rc = sp__join_begin_rows(in, out);
	if (!rc)
		rc = run(&p);
	if (rc == -ESTALE)
		want_again(&p);
	sp__inl_plan_note(&p, &in->counts->stats.run);
	sp__inl_plan_close(&p);
	return rc ? rc : sp__balance_sources(in);
}
