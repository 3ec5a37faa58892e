/* SPDX-License-Identifier: MIT */
/*
 * Plans a grouping: estimates records, groups and partial totals from a sample.
 *
 * Algorithm: a worker adds the beginnings of parts of the inputs to a large table.  An entry of the
 * table, a group or a value, that came at least 3 times is taken to come as often everywhere.  The
 * number N of the others follows from those that came once and twice (Chao 1984).  Of each class,
 * n records have N (1 - exp(-n p / N)), if p is their number per record.  So it is known how many
 * records fill a table, and how many partial totals the tables of a run give to the sort; values
 * for which a table does not pay are one each.
 *
 * Memory: that of the tables of a run; 16 MiB at least, 256 MiB at most.  A sample that needs more
 * ends earlier.
 *
 * Assumptions: records with equal keys are spread over the input.  If they are consecutive, there
 * are fewer partial totals.
 */
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include "base/err.h"
#include "base/minmax.h"
#include "group/job.h"
#include "run/memory.h"

#define PLACES 32			 /* of a sample */
#define PLACE_BYTES (UINT64_C(64) << 10) /* of each */
#define TABLE_MIN ((size_t)16 << 20)	 /* of the sample */
#define TABLE_MAX ((size_t)256 << 20)
#define FREQUENT 3    /* times that an entry came, ... */
#define OFTEN 64      /* ... in classes whose limits grow by the root of 2 */
#define SPACE_SHARE 8 /* of temporary space: what pages add */
#define STEPS 64      /* of a search */

/* Entries that came about equally often. */
struct often {
	double entries, records;
};

/* Entries of a table of a worker, by how often they came. */
struct entries {
	double once, twice, sample; /* sample: records of it */
	struct often often[OFTEN];  /* 3 times, ... */
	double added;		    /* times that all came, per record */
};

/* Adds the entries with a tag; 0: the groups. */
static void add_entries(struct entries *e, const struct sp__group_worker *w, uint32_t tag)
{
	e->sample = (double)sp__max(w->records, 1);
	for (uint32_t at = 0; (at = sp__group_table_next(&w->table, at));) {
		const struct sp__grouped *g = sp__arena_at(&w->table.arena, at);
		const double records = (double)g->records;
		struct often *o;

		if (g->tag != tag)
			continue;
		o = &e->often[sp__min((unsigned)(2 * log2(records)), OFTEN - 1)];
		e->once += records == 1;
		e->twice += records == 2;
		o->entries += records >= FREQUENT;
		o->records += records >= FREQUENT ? records : 0;
		e->added += records / e->sample;
	}
}

/* Returns the different entries of n records. */
static double different(const struct entries *e, double n)
{
	const double rest = e->once + 2 * e->twice;
	double all = e->once + e->twice, sum = 0;

	all += e->twice > 0 ? e->once * e->once / (2 * e->twice) : e->once * (e->once - 1) / 2;
	if (all > 0)
		sum = all * -expm1(-n * rest / e->sample / all);
	for (unsigned i = 0; i < OFTEN; i++) {
		const struct often *o = &e->often[i];

		if (o->entries > 0)
			sum += o->entries * -expm1(-n * o->records / o->entries / e->sample);
	}
	return sum;
}

/* Returns how many records have so many different entries; at most `records`. */
static double records_of(const struct entries *e, double entries, double records)
{
	double low = 0, high = records;

	if (different(e, records) <= entries)
		return records;
	for (unsigned i = 0; i < STEPS; i++) {
		const double middle = (low + high) / 2;

		if (different(e, middle) < entries)
			low = middle;
		else
			high = middle;
	}
	return fmax(high, 1);
}

/* True if a table of so many slots, at most, pays for these entries: sp__group_worker_pays(). */
static bool pays(const struct entries *e, double max_slots)
{
	const double tried = SP__GROUP_TRIED;
	const double made = fmin(different(e, tried / fmax(e->added, 1e-9)), tried);

	return tried * tried / 2 <= (tried - made) * (max_slots / 2);
}

/* Partial totals of a run. */
struct totals {
	struct entries groups,
		table;		    /* the table has groups, and values of lists that it pays for */
	double direct;		    /* values per record that are not in the table */
	double max_slots, capacity; /* of the table of a worker: slots, and entries */
};

/* Returns the entries that the table of a worker that has n records gives to the sort. */
static double emitted(const struct totals *t, double n)
{
	const struct entries *e = &t->table;
	const bool small = n >= SP__GROUP_TRIED && !pays(&t->groups, t->max_slots);
	double capacity = small ? fmin(t->capacity, SP__GROUP_SMALL) : t->capacity;
	const double first = records_of(e, capacity, n);
	double sum = capacity;

	if (different(e, n) <= capacity)
		return different(e, n);
	capacity = SP__GROUP_PAYS * capacity > first ? fmin(t->capacity, SP__GROUP_SMALL)
						     : t->capacity;
	sum += (n - first) / records_of(e, capacity, n) * capacity;
	return fmin(sum, n * e->added);
}

/* Finds which entries of the sample go through the table of a run. */
static void divide(const struct sp__group_job *j, struct totals *t)
{
	const struct sp__group_worker *w = &j->workers[0];

	add_entries(&t->groups, w, 0);
	t->table = t->groups;
	for (uint32_t i = 0; i < j->spec.nlists; i++) {
		struct entries values = { 0 };

		add_entries(&values, w, SP__TAG_LIST + i);
		if (pays(&values, t->max_slots))
			add_entries(&t->table, w, SP__TAG_LIST + i);
		else
			t->direct += values.added;
	}
}

/* Adds up what the sample's table gives to the sort. */
static int emit_sample(struct sp__group_worker *w, double *bytes)
{
	struct sp_batch records;
	int rc;

	*bytes = 0;
	w->direct.bytes = 0; /* counted already */
	while ((rc = sp__group_worker_rest(w, &records)) == SP_READY)
		*bytes += (double)records.bytes;
	return rc;
}

/* Returns the temporary space that a sort needs for so many records. */
static uint64_t spilled(const struct sp_sort *sort, double bytes, double records, unsigned threads)
{
	return sp__sort_holds(sort, (uint64_t)bytes, (uint64_t)records, threads)
		       ? 0
		       : (uint64_t)(bytes + bytes / SPACE_SHARE) + 1;
}

static double sample_groups(const struct entries *groups)
{
	double n = groups->once + groups->twice;

	for (unsigned i = 0; i < OFTEN; i++)
		n += groups->often[i].entries;
	return n;
}

/* Sets what follows from the sample. */
static int estimate(struct sp__group_job *j, const struct sp__group_sample *sample,
		    uint64_t table_bytes, struct sp_group_plan *p)
{
	struct sp__group_worker *w = &j->workers[0];
	const double entries = (double)w->table.groups, seen = (double)w->records;
	const double entry_bytes = (double)w->table.arena.used / fmax(entries, 1);
	const size_t slots = sp__group_table_slots(table_bytes);
	struct totals t = { .max_slots = (double)slots };
	double records = seen, direct, partial_bytes;
	int rc;

	t.capacity = fmin((double)slots / 2,
			  (double)(table_bytes - slots * sizeof(uint64_t)) / fmax(entry_bytes, 1));
	divide(j, &t);
	if (!sample->all)
		records = seen * (double)j->total_bytes / (double)sp__max(sample->bytes, 1);
	if (j->io->source)
		records = (double)j->io->source->records;
	p->sample_records = w->records;
	p->sample_groups = (uint64_t)sample_groups(&t.groups);
	p->records = (uint64_t)records;
	p->groups = sample->all ? p->sample_groups : (uint64_t)different(&t.groups, records);
	rc = emit_sample(w, &partial_bytes);
	if (rc)
		return sp__group_job_no_memory(j);
	direct = (double)sample->direct / fmax(seen, 1) * records;
	p->partials = (uint64_t)(direct + records * t.direct +
				 p->threads * emitted(&t, records / p->threads));
	if (sample->all && p->threads == 1 && entries <= t.capacity && t.direct <= 0)
		p->partials = (uint64_t)(direct + entries);
	partial_bytes *= ((double)p->partials - direct) / fmax(entries, 1);
	partial_bytes += (double)sample->direct_bytes / fmax(seen, 1) * records;
	p->partial_bytes = (uint64_t)partial_bytes;
	p->spill_bytes = spilled(j->partials.sort, partial_bytes, (double)p->partials, p->threads);
	if (p->rows_bytes) {
		rc = sp__group_job_open_rows(j);
		if (!rc && !j->opts->limited)
			p->rows_spill_bytes = spilled(j->rows.sort,
						      partial_bytes / fmax((double)p->partials, 1) *
							      (double)p->groups,
						      (double)p->groups, 1);
	}
	p->in_memory = !p->spill_bytes && !p->rows_spill_bytes;
	return rc;
}

/* Returns the threads that read so many bytes. */
static unsigned threads(struct sp__group_job *j)
{
	struct sp__rstream_opts unused = { 0 };
	const uint64_t part = sp__sort_part_bytes(j->partials.sort, j->total_bytes);

	if (!sp__sort_reads_parts(j->partials.sort, &unused))
		return 1;
	return (unsigned)sp__min(j->nworkers, j->total_bytes / part + 1);
}

/* Returns 0, or -errno if an input is missing: others would not be opened. */
static int find_inputs(const struct sp__group_job *j)
{
	struct stat st;

	for (size_t i = 0; i < j->io->ninputs; i++)
		if (strcmp(j->io->inputs[i], "-") != 0 && stat(j->io->inputs[i], &st))
			return sp__err(j->err, -errno, "open", j->io->inputs[i], -1);
	return 0;
}

static int plan(struct sp__group_job *j, struct sp_group_plan *p)
{
	struct sp__group_sample sample;
	uint64_t table_bytes;
	int rc = sp__group_job_open(j);

	if (!rc)
		rc = find_inputs(j);
	if (rc)
		return rc;
	table_bytes = j->worker_bytes;
	p->tables_bytes = j->worker_bytes * j->nworkers;
	p->sort_bytes = j->sort_bytes;
	p->rows_bytes = j->rows_bytes;
	p->source_bytes = j->io->source ? j->io->source->memory_bytes : 0;
	p->max_threads = j->nworkers;
	j->worker_bytes = sp__min(sp__max(p->tables_bytes, TABLE_MIN), TABLE_MAX);
	if (!j->total_bytes && !j->io->source)
		return 0;
	if (j->io->source)
		j->total_bytes =
			(uint64_t)(j->io->source->record_bytes * (double)j->io->source->records);
	rc = sp__group_job_sample(j, j->total_bytes / PLACES, PLACE_BYTES, &sample);
	p->input_bytes = j->total_bytes;
	p->threads = threads(j);
	return rc ? rc : estimate(j, &sample, table_bytes, p);
}

int sp_group_plan(const struct sp_group_opts *opts, const struct sp_group_io *io,
		  struct sp_group_plan *p, struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct sp_group_opts o = *opts;
	struct sp__group_job j;
	int rc, closed;

	*p = (struct sp_group_plan){ 0 };
	o.run.trace_path = o.run.trace_tasks_path = NULL;
	sp__group_job_begin(&j, &o, io, err ? err : &own);
	rc = io->step ? sp__invalid(j.err, NULL, "one of two steps has no plan") : plan(&j, p);
	closed = sp__group_job_close(&j);
	return rc ? rc : closed;
}
