/* SPDX-License-Identifier: MIT */
/*
 * Runs hash joins: hybrid, GRACE, and sort-hash joins, which are GRACE except for the order in
 * which partitions are written (sweep.h).
 *
 * Algorithm: a stage (stage.h) partitions both inputs and joins the partitions in memory.  Then
 * each pair of spilled partitions is joined separately, the smaller one as build side.  If it fits
 * into memory, one stage without partitions joins the pair.  If partitioning has not made it
 * smaller, or would cost more than reading the probe side again, block nested loops do (nested.c).
 * Otherwise a stage partitions the pair by another hash.  If partitioning has not made it smaller
 * although its many keys differ and there were several partitions, keys were made to have equal
 * hashes: that other hash is the strong one.
 *
 * Hashes: the partition of a record, and with it the order of the result, follows from a hash with
 * the known seed of the run.  If the build input surely fits into memory, it is not partitioned,
 * and the slots of the table are found by a hash with the random seed of the process, except if
 * unpaired records are written in the order of the slots.  Otherwise the known seed is used for
 * both, since a second hash would take 3 % more instructions.
 *
 * Memory: pages of records and slots (table.h) take |M| of formula (1).  In addition there are the
 * streams, the buffers of the writers and of one partition being read, and the Bloom filter over
 * the keys of the spilled build side.
 *
 * Rejected: storing keys and hashes with the spilled lines, which avoids finding them again but
 * writes and reads a fifth more.
 */
#include <math.h>
#include <stdlib.h>
#include "join/hash/workers.h"
#include "join/space/space.h"

/*
 * Predicts the duration of a hash join on real files after both inputs have been partitioned.
 *
 * Algorithm: the remaining work is to read each pair of partitions and to write its result.  Data
 * moves at the mean rate so far or, if slower, at the device's rate.  Writing the partitions
 * measures the latter, since their extents are as far apart when they are read again.  If a pair
 * exceeds memory, its larger run is read once for each block of the other, or both are partitioned
 * again, as the join will decide.  Probing is more expensive than partitioning, so many blocks take
 * longer.
 *
 * Assumptions, as in the dry run of a join (dryrun/dryrun.c): each record of the side with more
 * records has one partner, since the filter has dropped most of the others.  A pair is as long as
 * both its records.
 */

#define MB 1048576.0

/* Bytes of the result of a pair. */
static double given_bytes(const struct sp__stage *s, const struct sp__run *const run[2])
{
	double mean = 0, max = 0;

	for (int role = 0; role < 2; role++) {
		double records = fmax((double)run[role]->records, 1);

		mean += (double)run[role]->bytes / records;
		max = fmax(max, records);
	}
	return s->h->opts->pairs ? max * mean : 0;
}

/* Bytes moved until a pair's tables have been probed. */
struct moved {
	double read, written;
};

static struct moved moved(const struct sp__stage *s, const struct sp__run *const run[2])
{
	const struct sp__join_layout *l = &s->h->layout;
	uint64_t needs[2], bytes[2];
	bool stubborn = sp__join_stubborn(run[SP__BUILD]->bytes, s->bytes[SP__BUILD]);
	double all = (double)(run[SP__BUILD]->bytes + run[SP__PROBE]->bytes), blocks;
	int build;

	for (int role = 0; role < 2; role++)
		needs[role] = sp__join_need(run[role]->bytes, run[role]->records);
	build = needs[SP__PROBE] < needs[SP__BUILD] ? SP__PROBE : SP__BUILD;
	bytes[SP__BUILD] = run[build]->bytes;
	bytes[SP__PROBE] = run[!build]->bytes;
	blocks = fmax(ceil((double)needs[build] / (double)l->table_bytes), 1);
	if (sp__join_nests(l, s->h->opts->algorithm, s->depth + 1, stubborn, needs[build], bytes))
		return (struct moved){ .read = (double)bytes[SP__BUILD] +
					       (double)bytes[SP__PROBE] * blocks };
	return (struct moved){ .read = blocks > 1 ? 2 * all : all,
			       .written = blocks > 1 ? all : 0 };
}

static double pair_s(const struct sp__stage *s, const struct sp__run *const run[2], double pace_s)
{
	struct moved m = moved(s, run);
	double bytes = m.read + m.written;

	s->h->to_read += (uint64_t)m.read;
	return fmax(pace_s * (bytes + given_bytes(s, run)), sp__spill_write_s(s->h->spill) * bytes);
}

/* join.c: fills in stats.prediction after both inputs are partitioned, on real files. */
static void stage_predict(const struct sp__stage *s)
{
	const struct sp__hash *h = s->h;
	struct sp_prediction *f = &h->counts->stats.prediction;
	uint64_t moved = s->bytes[SP__BUILD] + s->bytes[SP__PROBE];
	double now = (double)(sp__env_now_ns(h->env) - h->env->begin_ns) * 1e-9;

	if (h->env->device || !h->spill || h->sorting)
		return;
	f->transfer_s_per_mib = sp__spill_write_s(h->spill) * MB;
	f->seconds = now;
	for (unsigned i = 0; i < s->npartitions; i++) {
		const struct sp__run *const run[2] = { s->partitions[i].run[SP__BUILD],
						       s->partitions[i].run[SP__PROBE] };

		if (run[SP__BUILD] && run[SP__PROBE])
			f->seconds += pair_s(s, run, now / (double)(moved + h->spill->write_bytes));
	}
}

/* So many different keys are in one of several partitions only if their hashes are equal. */
#define CRAFTED_MIN 256

static int run_stage(struct sp__hash *h, unsigned depth, struct sp__iter *build,
		     struct sp__iter *probe, int build_side, const uint64_t bytes[2],
		     uint64_t records, const struct sp__tally came[2]);

/* Opens a partition as an input. */
static void open_partition(struct sp__hash *h, struct sp__runread *r, struct sp__run *run, int side)
{
	sp__runread_open(r, h->spill, run, &h->format[side], true, h->read_mem,
			 h->layout.read_bytes);
}

/* Writes a record of a partition whose other side is empty; bytes: with its tag. */
static int alone(struct sp__hash *h, int side, const char *line, size_t bytes,
		 struct sp__tally *read_back)
{
	struct sp__line l = { .data = line, .bytes = bytes - h->tag[side] };
	struct sp__slice key;
	int rc = sp__hash_key(h, side, line, bytes, &key);

	if (rc < 0)
		return rc;
	sp__tally_count(read_back, sp__key_hash(key.p, key.n, h->key_seed));
	sp__field_find(h->keying.cut, l.data, l.bytes, h->keying.opts->keys[side][0], &l.key);
	sp__emit_sides(&h->out->emit, side, &l, NULL);
	return h->out->emit.error;
}

/* Writes the records of a partition whose other side is empty, if they belong to the result. */
static int all_alone(struct sp__hash *h, struct sp__run *run, int side,
		     const struct sp__tally *came)
{
	struct sp__runread r;
	struct sp__tally read_back = { 0 };
	struct sp_batch batch;
	int rc;

	if (!h->opts->unpaired[side])
		return sp__balance_alone(h, side, came, NULL);
	open_partition(h, &r, run, side);
	while ((rc = sp__runread_next(&r, &batch)) == SP_READY) {
		const char *at = batch.data, *end = at + batch.bytes;

		while (at < end && rc >= 0) {
			const char *line = at;
			size_t bytes;

			at = sp__record_next(&h->format[side], line, end, &bytes);
			rc = alone(h, side, line, bytes, &read_back);
		}
		sp__hash_report_joining(h);
		if (rc < 0)
			break;
	}
	sp__runread_close(&r);
	return rc < 0 ? rc : sp__balance_alone(h, side, came, &read_back);
}

/*
 * True if a partition that has nearly all records of its stage does not have them by chance.  Only
 * then is it divided by the strong hash, whose random numbers change the order of the result from
 * run to run.
 */
static bool is_crafted(const struct sp__stage *s, const struct sp__run *partition)
{
	return s->planned > 1 && partition->records >= CRAFTED_MIN;
}

/* Joins a pair of partitions of a stage. */
static int pair(struct sp__stage *s, struct sp__partition *partition)
{
	struct sp__hash *h = s->h;
	int build_side = s->side[SP__BUILD];
	const unsigned depth = s->depth + 1;
	struct sp__run *const *run = partition->run, *build = run[SP__BUILD],
			      *probe = run[SP__PROBE];
	struct sp__tally came[2] = { sp__partition_tally(partition, SP__BUILD),
				     sp__partition_tally(partition, SP__PROBE) };
	struct sp__runread r[2];
	struct sp__iter it[2] = { { &r[0], sp__runread_next }, { &r[1], sp__runread_next } };
	uint64_t need, bytes[2];
	const bool strong = h->strong;
	bool stubborn;
	int rc;

	if (!build)
		return 0;
	if (!probe || !probe->records)
		return all_alone(h, build, build_side, &came[SP__BUILD]);
	stubborn = sp__join_stubborn(build->bytes, s->bytes[SP__BUILD]);
	if (sp__join_need(probe->bytes, probe->records) <
	    sp__join_need(build->bytes, build->records)) {
		build = run[SP__PROBE];
		probe = run[SP__BUILD];
		came[SP__BUILD] = sp__partition_tally(partition, SP__PROBE);
		came[SP__PROBE] = sp__partition_tally(partition, SP__BUILD);
		build_side = !build_side;
		h->counts->stats.reversals++;
	}
	need = sp__join_need(build->bytes, build->records);
	bytes[SP__BUILD] = build->bytes;
	bytes[SP__PROBE] = probe->bytes;
	if (sp__join_nests(&h->layout, h->opts->algorithm, depth, stubborn, need, bytes)) {
		bool divides = stubborn && !strong && is_crafted(s, build) &&
			       h->opts->algorithm != SP_JOIN_NESTED && depth < SP__JOIN_DEPTH_MAX;

		rc = sp__hash_nested(h, build, probe, build_side, depth, came, divides);
		if (!divides || rc != SP_EUNSUP)
			return rc;
		h->strong = true;
	}
	/* The second reader reuses the memory: the first has ended before it begins. */
	open_partition(h, &r[SP__BUILD], build, build_side);
	open_partition(h, &r[SP__PROBE], probe, !build_side);
	rc = run_stage(h, depth, &it[SP__BUILD], &it[SP__PROBE], build_side, bytes, build->records,
		       came);
	sp__runread_close(&r[0]);
	sp__runread_close(&r[1]);
	h->strong = strong;
	return rc;
}

static void count(struct sp__stage *s)
{
	struct sp_join_stats *c = &s->h->counts->stats;
	const struct sp__join_balance *probe = &s->balance[SP__PROBE];
	uint64_t spilled = 0;

	for (unsigned i = 0; i < s->npartitions; i++) {
		if (!s->partitions[i].run[SP__BUILD])
			continue;
		spilled += s->partitions[i].run[SP__BUILD]->bytes;
		c->spilled_partitions++;
	}
	c->filter_drops += probe->filtered.records;
	c->filter_probes += probe->filtered.records + probe->spilled.records;
	if (s->depth > c->depth)
		c->depth = s->depth;
	if (s->depth)
		return;
	c->partitions = s->npartitions;
	c->resident_share =
		s->bytes[SP__BUILD] ? 1 - (double)spilled / (double)s->bytes[SP__BUILD] : 1;
	for (int role = 0; role < 2; role++)
		s->h->in->source[s->side[role]].lines += s->balance[role].read.records;
	if (s->h->env->device && s->h->spill)
		sp__env_note_regions(s->h->env, &c->run, s->h->spill);
}

static int pairs_of(struct sp__stage *s)
{
	int rc = 0;

	for (unsigned i = 0; i < s->npartitions && !rc; i++) {
		struct sp__partition *p = &s->partitions[i];

		rc = pair(s, p);
		for (int role = 0; role < 2; role++) {
			if (p->run[role])
				sp__spill_end_run(s->h->spill, p->run[role]);
			sp__run_free(p->run[role]);
			p->run[role] = NULL;
		}
	}
	return rc;
}

/* Adds the time since *since to a phase. */
static void clock_phase(struct sp__hash *h, int phase, uint64_t *since)
{
	uint64_t now = sp__env_now_ns(h->env);

	h->counts->phase_ns[phase] += now - *since;
	*since = now;
}

/* came: the records put into the partitions that are the inputs; NULL: the inputs are files. */
static int run_stage(struct sp__hash *h, unsigned depth, struct sp__iter *build,
		     struct sp__iter *probe, int build_side, const uint64_t bytes[2],
		     uint64_t records, const struct sp__tally came[2])
{
	struct sp__stage *s;
	uint64_t since = sp__env_now_ns(h->env);
	bool built;
	int rc = sp__stage_new(&s, h, depth, build_side, bytes, records);

	if (rc < 0)
		return rc;
	rc = sp__stage_build_parts(s);
	built = rc != SP_EUNSUP;
	if (!built)
		rc = sp__stage_build(s, build);
	if (!rc && !depth)
		rc = sp__ordered_begin(h);
	if (!rc && !built)
		rc = sp__stage_make_table(s);
	clock_phase(h, depth ? SP_JOIN_PHASE_JOIN : SP_JOIN_PHASE_BUILD, &since);
	if (!rc)
		rc = sp__stage_probe(s, probe);
	if (!rc)
		rc = sp__stage_rest(s);
	sp__table_empty(&h->table);
	clock_phase(h, depth ? SP_JOIN_PHASE_JOIN : SP_JOIN_PHASE_PROBE, &since);
	if (!rc)
		rc = sp__balance_stage(s, came);
	count(s);
	if (!rc && !depth)
		stage_predict(s);
	if (!rc)
		rc = pairs_of(s);
	if (!depth)
		h->counts->phase_ns[SP_JOIN_PHASE_JOIN] = sp__env_now_ns(h->env) - since;
	sp__stage_free(s);
	return rc;
}

/* True if the build input will surely be in memory, and no order follows from its hashes. */
static bool keeps_whole(const struct sp__hash *h, int build)
{
	uint64_t need = sp__join_need_of(h->opts, build);

	return h->opts->algorithm == SP_JOIN_HYBRID && !h->mark && !h->sorting && need &&
	       need + need / 8 < h->layout.table_bytes;
}

static int open_hash(struct sp__hash *h, int build)
{
	int rc;

	h->opts->algorithm = h->counts->stats.algorithm = sp__join_choice(h->opts, &h->layout);
	h->seed = sp__mix64(h->opts->run.seed + 1);
	h->whole = keeps_whole(h, build);
	h->key_seed = h->whole ? sp__key_secret()->seed : h->seed;
	sp__numbers_begin(h, build);
	rc = sp__keying_init(&h->keying, &h->out->emit.cut, h->opts, h->env->err);
	if (rc < 0)
		return rc;
	h->read_mem = sp__pages_alloc(h->layout.read_bytes, true);
	h->write_mem = sp__pages_alloc(h->layout.write_bytes, true);
	h->workers_bytes = sp__workers_bytes(h);
	h->bloom.nwords = h->layout.bloom_bytes / sizeof(uint64_t);
	h->bloom.words = sp__pages_alloc(h->layout.bloom_bytes, false);
	rc = sp__table_init(&h->table, h->layout.table_bytes, h->layout.page_bytes,
			    sp__rec_term(&h->in->source[0].format), &h->env->budget);
	if (rc < 0 || !h->read_mem || !h->write_mem || !h->bloom.words)
		return sp__join_no_memory(h->env);
	h->table.seed_known = !h->whole;
	return 0;
}

static void close_hash(struct sp__hash *h)
{
	sp__joinspace_note(h->in, h->spill);
	sp__spill_close(h->spill);
	sp__table_release(&h->table);
	if (h->read_mem)
		sp__pages_free(h->read_mem, h->layout.read_bytes);
	if (h->write_mem)
		sp__pages_free(h->write_mem, h->layout.write_bytes);
	if (h->bloom.words)
		sp__pages_free(h->bloom.words, h->layout.bloom_bytes);
	sp__keying_release(&h->keying);
	sp__keymem_release(&h->keymem);
}

/*
 * Chooses the build input, 0 or 1.  If lengths are unknown, it is the input that ends first,
 * provided that it ends before half of the memory is full; the data read of the other input then
 * takes part of the memory.
 */
static int choose_build(struct sp__hash *h)
{
	struct sp_join_opts *o = h->opts;
	const bool known[2] = { o->input_bytes[0] > 0, o->input_bytes[1] > 0 };
	uint64_t min = SP__JOIN_PAGES_MIN * (uint64_t)h->layout.page_bytes;
	uint64_t limit = sp__min(h->layout.table_bytes / 2, h->layout.table_bytes - min);
	int first = 2, build;

	if (!o->build && !(known[0] && known[1]) && limit)
		first = sp__source_race(h->in->source, known, limit, h->env->err);
	if (first < 0)
		return first;
	if (first < 2)
		o->input_bytes[first] = h->in->source[first].bytes;
	build = (int)sp__join_build(o) - 1;
	if (first < 2 && !h->in->source[first].bytes)
		build = first;
	h->layout.table_bytes -= sp__min(h->in->source[!build].ahead_bytes, limit);
	return build;
}

int sp__join_hash(struct sp__join_inputs *inputs, struct sp__result *result,
		  const struct sp__join_layout *layout)
{
	struct sp_join_opts *o = inputs->opts;
	struct sp__hash h = { .in = inputs,
			      .out = result,
			      .opts = o,
			      .env = inputs->env,
			      .counts = inputs->counts,
			      .layout = *layout };
	struct sp__numbered from[2] = { { .h = &h }, { .h = &h } };
	struct sp__iter in = { &from[SP__BUILD], sp__numbered_next };
	struct sp__iter out = { &from[SP__PROBE], sp__numbered_next };
	uint64_t bytes[2];
	int build = choose_build(&h), rc;

	if (build < 0)
		return build;
	from[SP__BUILD].side = build;
	from[SP__PROBE].side = !build;
	bytes[SP__BUILD] = o->input_bytes[build];
	bytes[SP__PROBE] = o->input_bytes[!build];
	h.mark = o->unpaired[0] || o->unpaired[1] || o->semi;
	rc = open_hash(&h, build);
	h.counts->stats.build = (unsigned)build + 1;
	if (!rc)
		rc = run_stage(&h, 0, &in, &out, build, bytes, sp__join_records(o, build), NULL);
	if (!rc)
		rc = sp__balance_hash(&h);
	close_hash(&h);
	for (int i = 0; i < 2; i++)
		sp__bytes_release(&from[i].batch, NULL);
	return sp__ordered_end(&h, rc);
}
