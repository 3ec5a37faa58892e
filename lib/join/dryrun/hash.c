/* SPDX-License-Identifier: MIT */
/*
 * Predicts a hash join: stages as in hash/join.c, pairs, nested loops.
 *
 * A partition is two runs with known lengths and locations.
 *
 * Not modelled: partitions evicted because the plan was wrong, and the filter.
 */
#include <math.h>
#include <stdlib.h>
#include "join/dryrun/impl.h"
#include "join/hash/sweep.h"
#include "join/hash/table.h"
#include "join/space/space.h"

enum { BUILD, PROBE };

/*
 * Blocks of nested loops that are run dry, for long and short runs; the others take the same time.
 */
#define MIN_BLOCKS 4
#define MAX_BLOCKS 16
#define BLOCKS_CHUNKS 4096

/* Bytes for records in a cell of a sort-hash join. */
#define CELL_BYTES (SP__SWEEP_CELL - 8)

struct partition {
	struct sp__run *run[2]; /* by role */
	struct sp__runwriter write;
	uint64_t queued; /* bytes in cells */
	bool spilled, writing;
};

struct stage {
	struct sp__dryjoin *t;
	unsigned depth;
	int side[2]; /* by role */
	unsigned npartitions;
	struct partition *partitions;
	uint16_t partition_of[SP__BUCKETS];
	uint64_t build_bytes, passed[2];
	char *mem; /* memory of all writers; they do not touch it */
	uint64_t mem_bytes;
	unsigned planned; /* partitions on the device */
	/* Sort-hash join: */
	bool sorted;
	uint64_t ncells, cells; /* total; in use */
	unsigned now;		/* the partition being written */
	int role;
};

/* Returns the next bytes of an input or a partition; 0: the end, or an error. */
static uint64_t next_chunk(struct sp__dryjoin *t, struct sp__dryfile *from, struct sp__chunkread *r)
{
	const char *data;
	size_t bytes = 0;

	if (!from->run)
		return sp__dryjoin_next(t, from);
	if (t->error || sp__dryjoin_failed(t, sp__chunkread_next(r, &data, &bytes)) || !bytes)
		return 0;
	sp__dryjoin_work(t, sp__dryrun_requests(&t->env, (double)bytes, (double)bytes));
	return bytes;
}

static void open_chunks(struct sp__dryjoin *t, struct sp__dryfile *from, struct sp__chunkread *r,
			bool last_time)
{
	*r = (struct sp__chunkread){ 0 };
	if (from->run)
		sp__chunkread_open(r, t->spill, from->run, last_time, NULL, t->l->read_bytes);
}

/* Returns the length of the next records of a file. */
static uint64_t next_length(struct sp__dryjoin *t, int side)
{
	uint64_t bytes;

	t->length_owed[side] += t->mean[side] * t->bundle[side];
	bytes = (uint64_t)t->length_owed[side];
	t->length_owed[side] -= (double)bytes;
	return bytes;
}

/* Partitioning. */

static void open_partition(struct stage *s, struct partition *p, int role)
{
	struct sp__dryjoin *t = s->t;
	const struct sp__join_inputs in = { .opts = &t->o, .env = &t->env };

	if (!t->spill)
		(void)sp__dryjoin_failed(
			t, sp__joinspace_open(&t->spill, &in, t->l->page_bytes, s->planned, false));
	if (t->error || sp__dryjoin_failed(t, sp__run_new(&p->run[role], &t->env.budget)))
		return;
	p->writing = true;
	(void)sp__dryjoin_failed(t, sp__runwriter_open(&p->write, t->spill, p->run[role], s->mem,
						       s->mem_bytes, NULL, NULL));
}

static void write_partition(struct stage *s, struct partition *p, uint64_t bytes)
{
	struct sp__dryjoin *t = s->t;
	double chunk = (double)sp__runwriter_chunk(&p->write) * t->l->page_bytes;

	sp__dryjoin_work(t, sp__dryrun_requests(&t->env, (double)bytes, chunk));
	(void)sp__dryjoin_failed(t, sp__runwriter_skip(&p->write, bytes));
}

static uint64_t cells_of(uint64_t bytes)
{
	return (bytes + CELL_BYTES - 1) / CELL_BYTES;
}

/* Writes a cell of the current partition, or as many cells as a bundle takes. */
static void drain(struct stage *s)
{
	const int side = s->side[s->role];
	struct partition *p;
	uint64_t bytes, cells;

	while (!s->partitions[s->now].queued)
		s->now = (s->now + 1) % s->npartitions;
	p = &s->partitions[s->now];
	bytes = CELL_BYTES;
	if (s->t->bundle[side] > 1)
		bytes = sp__max(bytes, (uint64_t)(s->t->bundle[side] * s->t->mean[side]));
	cells = cells_of(p->queued);
	bytes = sp__min(p->queued, cells_of(bytes) * CELL_BYTES);
	p->queued -= bytes;
	s->cells -= cells - cells_of(p->queued);
	sp__dryjoin_work(s->t, 1);
	sp__charge_work(&s->t->env, (uint64_t)((double)bytes / s->t->mean[side]), 0, bytes);
	write_partition(s, p, bytes);
}

static void sweep(struct stage *s, struct partition *p, uint64_t bytes)
{
	while (!s->t->error && s->cells &&
	       s->cells + cells_of(p->queued + bytes) - cells_of(p->queued) > s->ncells)
		drain(s);
	s->cells += cells_of(p->queued + bytes) - cells_of(p->queued);
	p->queued += bytes;
}

static void spill(struct stage *s, struct partition *p, int role, uint64_t records, uint64_t bytes)
{
	if (!p->writing)
		open_partition(s, p, role);
	if (s->t->error)
		return;
	p->write.records += records;
	if (s->sorted)
		sweep(s, p, bytes);
	else
		write_partition(s, p, bytes);
}

/* Bucket of the next records; each key occurs once in the file with fewer records. */
static unsigned next_bucket(struct stage *s, int role)
{
	struct sp__dryjoin *t = s->t;
	const struct sp__dryfile *in = t->input;
	uint64_t key = s->passed[role], keys = in[s->side[!role]].records;

	s->passed[role] += (uint64_t)t->bundle[s->side[role]];
	if (keys < in[s->side[role]].records)
		key = sp__rng_below(&t->rng, keys);
	return (unsigned)(sp__mix64(key + t->seed + s->depth) % SP__BUCKETS);
}

static void take(struct stage *s, int role, uint64_t bytes)
{
	struct sp__dryjoin *t = s->t;
	struct partition *p = &s->partitions[s->partition_of[next_bucket(s, role)]];
	const double mean = t->mean[s->side[role]];
	uint64_t emitted = 0, records = t->bundle[s->side[role]] > 1
						? (uint64_t)fmax((double)bytes / mean, 1)
						: 1;

	if (p->spilled)
		spill(s, p, role, records, bytes);
	else if (role == PROBE)
		emitted = sp__dryjoin_emit(t, t->emits[s->side[PROBE]] * (double)records);
	sp__dryjoin_work(t, 1);
	sp__charge_work(&t->env, records, 1, bytes + emitted);
}

static void end_writing(struct stage *s)
{
	while (!s->t->error && s->cells)
		drain(s);
	s->now = 0;
	for (unsigned i = 0; i < s->npartitions; i++)
		if (s->partitions[i].writing)
			(void)sp__dryjoin_failed(s->t, sp__runwriter_end(&s->partitions[i].write));
	for (unsigned i = 0; i < s->npartitions; i++) {
		struct partition *p = &s->partitions[i];

		if (!p->writing)
			continue;
		(void)sp__dryjoin_failed(s->t, sp__runwriter_finish(&p->write));
		sp__runwriter_close(&p->write);
		p->writing = false;
	}
}

/* Reads an input or a run to its end and partitions it. */
static void pass(struct stage *s, int role, struct sp__dryfile *from)
{
	struct sp__dryjoin *t = s->t;
	struct sp__chunkread read;
	uint64_t bytes, have = 0, next = next_length(t, s->side[role]);

	s->role = role;
	open_chunks(t, from, &read, true);
	while ((bytes = next_chunk(t, from, &read))) {
		for (have += bytes; have >= next && !t->error; have -= next) {
			take(s, role, next);
			next = next_length(t, s->side[role]);
		}
	}
	if (have && !t->error)
		take(s, role, have);
	sp__chunkread_close(&read);
	end_writing(s);
}

/* Runs block nested loops dry; side: the file of the build run. */
static void nested(struct sp__dryjoin *t, struct sp__dryfile *const run[2], int side)
{
	struct sp__chunkread build, probe;
	double block = (double)t->l->table_bytes / t->scale, all = (double)run[BUILD]->bytes;
	double size = (double)sp__rec_size((size_t)t->mean[side], 0) +
		      (double)sp__table_slots_bytes(1 << 20) / (1 << 20);
	double need = all / t->mean[side] * size, blocks = ceil(need / block), share = 1 / blocks;
	double chunk = (double)t->l->read_bytes / SP__CHUNKREAD_CHUNKS, loaded = 0;
	double affordable = BLOCKS_CHUNKS * chunk / (double)run[PROBE]->bytes, first = 0;
	double max = fmin(blocks, fmin(fmax(floor(affordable), MIN_BLOCKS), MAX_BLOCKS));

	open_chunks(t, run[BUILD], &build, true);
	for (double i = 1; i <= max && !t->error; i++) {
		uint64_t bytes;

		if (i == 2)
			first = sp__dryrun_s(&t->env);
		for (; loaded < all * i * share && (bytes = next_chunk(t, run[BUILD], &build));
		     loaded += (double)bytes)
			sp__charge_work(&t->env, (uint64_t)((double)bytes / t->mean[side]), 1,
					bytes);
		open_chunks(t, run[PROBE], &probe, i == max);
		while ((bytes = next_chunk(t, run[PROBE], &probe))) {
			double records = (double)bytes / t->mean[!side];

			bytes += sp__dryjoin_emit(t, records * t->emits[!side] * share);
			sp__charge_work(&t->env, (uint64_t)records, 1, bytes);
		}
		sp__chunkread_close(&probe);
	}
	sp__chunkread_close(&build);
	for (size_t page = (size_t)(loaded / t->l->page_bytes); page < run[BUILD]->run->npages;
	     page++)
		sp__spill_give_page(t->spill, run[BUILD]->run, page);
	/* The mean excludes the first block: the arm was elsewhere before, and the cache cold. */
	if (blocks > max)
		t->more_s += (sp__dryrun_s(&t->env) - first) / (max - 1) * (blocks - max);
}

static uint64_t scaled(const struct sp__dryjoin *t, uint64_t n)
{
	return (uint64_t)((double)n * t->scale);
}

static uint64_t need_of(const struct sp__dryjoin *t, const struct sp__dryfile *run)
{
	return sp__join_need(scaled(t, run->bytes), scaled(t, run->records));
}

static void pair(struct stage *s, const struct partition *p)
{
	struct sp__dryjoin *t = s->t;
	struct sp__dryfile file[2] = { { .run = p->run[BUILD] }, { .run = p->run[PROBE] } };
	struct sp__dryfile *run[2] = { &file[BUILD], &file[PROBE] };
	int side = s->side[BUILD];
	uint64_t bytes[2];
	bool stubborn;

	if (!p->run[BUILD] || !p->run[PROBE])
		return;
	for (int role = 0; role < 2; role++) {
		file[role].bytes = p->run[role]->bytes;
		file[role].records = p->run[role]->records;
	}
	stubborn = sp__join_stubborn(run[BUILD]->bytes, s->build_bytes);
	if (need_of(t, run[PROBE]) < need_of(t, run[BUILD])) {
		run[BUILD] = &file[PROBE];
		run[PROBE] = &file[BUILD];
		side = !side;
	}
	bytes[BUILD] = scaled(t, run[BUILD]->bytes);
	bytes[PROBE] = scaled(t, run[PROBE]->bytes);
	if (sp__join_nests(t->l, t->algorithm, s->depth + 1, stubborn, need_of(t, run[BUILD]),
			   bytes))
		nested(t, run, side);
	else
		sp__dryjoin_hash(t, s->depth + 1, side, run);
}

/* Stages. */

static int begin_stage(struct stage *s, struct sp__dryjoin *t,
		       const struct sp__dryfile *const from[2])
{
	const struct sp__join_layout *l = t->l;
	enum sp_join_algorithm algorithm = s->depth ? SP_JOIN_HYBRID : t->algorithm;
	struct sp__join_split split;
	uint64_t table = l->table_bytes - l->table_bytes % l->page_bytes, pages;
	bool of_table;

	sp__join_split(l, algorithm, scaled(t, from[BUILD]->bytes), scaled(t, from[BUILD]->records),
		       scaled(t, from[PROBE]->bytes), &split);
	s->npartitions = split.resident + split.spilled;
	s->planned = split.spilled;
	s->sorted = algorithm == SP_JOIN_SHJ;
	s->build_bytes = from[BUILD]->bytes;
	s->ncells = (table - (uint64_t)s->npartitions * l->page_bytes) / SP__SWEEP_CELL;
	pages = sp__join_writer(l, l->write_bytes, split.resident ? 0 : table, s->npartitions,
				s->sorted, &of_table) /
		l->page_bytes;
	s->mem_bytes = pages * l->page_bytes;
	s->mem = malloc(s->mem_bytes);
	sp__join_deal(&split, s->partition_of);
	s->partitions = calloc(s->npartitions, sizeof(*s->partitions));
	for (unsigned i = split.resident; s->partitions && i < s->npartitions; i++)
		s->partitions[i].spilled = true;
	return s->partitions && s->mem && pages ? 0 : -ENOMEM;
}

void sp__dryjoin_hash(struct sp__dryjoin *t, unsigned depth, int build_side,
		      struct sp__dryfile *const from[2])
{
	const struct sp__dryfile *const known[2] = { from[BUILD], from[PROBE] };
	struct stage s = { .t = t, .depth = depth, .side = { build_side, !build_side } };

	(void)sp__dryjoin_failed(t, begin_stage(&s, t, known));
	/* Approximate work of assigning the buckets to partitions. */
	sp__dryjoin_work(t, SP__BUCKETS / 16 + 4 * s.npartitions);
	for (int role = 0; role < 2 && !t->error; role++)
		pass(&s, role, from[role]);
	for (unsigned i = 0; s.partitions && i < s.npartitions; i++) {
		struct partition *p = &s.partitions[i];

		if (!t->error)
			pair(&s, p);
		for (int role = 0; role < 2; role++) {
			if (p->run[role] && !t->error)
				sp__spill_end_run(t->spill, p->run[role]);
			sp__run_free(p->run[role]);
		}
	}
	free(s.partitions);
	free(s.mem);
}
