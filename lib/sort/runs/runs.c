/* SPDX-License-Identifier: MIT */
/*
 * Opens the store of runs and writes runs: the one that is being formed, which the next sorted
 * records can continue, and those that merges make.  Adopts the runs of checkpoints.
 */
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "base/array.h"
#include "base/err.h"
#include "base/host.h"
#include "sort/plan/plan.h"
#include "sort/runs/step.h"

/* Maximum number of outstanding requests in temporary space. */
#define REQUESTS 256
/* Divisor of the free space in temporary directories; other programs need the rest. */
#define SPACE_SHARE 2
/* Descriptors that exceed this fraction of the memory are reduced. */
#define DESCRIBED_SHARE 32
#define MAX_GROUP_SHIFT 12
/* Minimum for runs of a program: four runs with their pipes, and a new one. */
#define PROGRAM_DESCRIPTORS 12

/* Finds the last key of a page: the key, then the record if it is a last resort. */
static int lastkey(void *ctx, const char *rec, size_t bytes, const void **key, size_t *key_bytes)
{
	struct sp__spilled *spilled = ctx;
	const struct sp__sort_shared *s = spilled->sort;
	const struct sp__keyset *ks = sp__ks(s->opts.keys);
	const char *slice;

	sp__count_skip(s->opts.count, &rec, &bytes);
	bytes -= sp__rec_term(&ks->format);
	if (ks->form == SP__KEY_INPLACE) {
		sp__key_slice(s->opts.keys, rec, bytes, &slice, key_bytes);
		*key = slice;
		return 0;
	}
	if (ks->form == SP__KEY_COLLATED) {
		*key = rec;
		*key_bytes = bytes;
		return 0;
	}
	if (sp__key_encode(s->opts.keys, rec, bytes, &spilled->lastkey) < 0)
		return -ENOMEM;
	*key = spilled->lastkey.data;
	*key_bytes = spilled->lastkey.bytes;
	return 0;
}

uint64_t sp__runs_cached(const struct sp_sort_opts *o)
{
	uint64_t bytes = sp__host_unwritten();
	struct statvfs fs;

	if (o->run.volume || o->run.direct > 0 || o->run.compression != SP_SPILL_RAW ||
	    o->compress_program || !o->run.ntmpdirs)
		return 0;
	for (size_t i = 0; i < o->run.ntmpdirs; i++) {
		if (access(o->run.tmpdirs[i], W_OK | X_OK) < 0 || statvfs(o->run.tmpdirs[i], &fs))
			return 0;
		bytes = sp__min(bytes, (uint64_t)fs.f_bavail * fs.f_frsize / SPACE_SHARE);
	}
	return bytes;
}

/*
 * Chooses direct or cached I/O.  Data that will be read before the system would write it is best
 * left to the page cache, and never reaches the device.  Other data is written and read directly,
 * which saves two copies and evicts no other pages from the cache.
 */
static enum sp__direct spill_direct(const struct sp__spilled *spilled)
{
	const struct sp__sort_shared *s = spilled->sort;
	/* Input of unknown length uses the cache while it is short. */
	uint64_t bytes = s->plan.input_bytes ? s->plan.input_bytes : s->plan.memory_bytes;

	if (s->opts.run.direct >= 0)
		return s->opts.run.direct ? SP__DIRECT_AUTO : SP__DIRECT_NEVER;
	return bytes <= sp__host_unwritten() ? SP__DIRECT_NEVER : SP__DIRECT_AUTO;
}

/* Returns the number of threads that write runs, each of which sees its own. */
static unsigned sharers(const struct sp__spilled *spilled)
{
	return sp__max(spilled->beside, 1);
}

/* True if more has been spilled than the page cache should hold. */
static bool outgrows_cache(const struct sp__spilled *spilled)
{
	uint64_t bytes = spilled->store->write_bytes - spilled->store->read_bytes;

	return spilled->sort->opts.run.direct < 0 &&
	       spilled->store->opts.direct == SP__DIRECT_NEVER && !spilled->store->first_file &&
	       bytes * sharers(spilled) > sp__host_unwritten();
}

bool sp__runs_cuttable(const struct sp__spilled *spilled)
{
	const struct sp__sort_shared *s = spilled->sort;
	const struct sp_sort_opts *o = &s->opts;

	return s->threads > 1 && !s->env.device && !o->compress_program &&
	       o->readahead == SP_READ_AUTO && !o->merge_bytes && !spilled->uncut;
}

/* True if reading is planned by last keys, or if they can cut the final merge into parts. */
static bool needs_last_keys(const struct sp__spilled *spilled)
{
	const struct sp__sort_shared *s = spilled->sort;

	/* An input that was planned to stay in memory has no plan of reading. */
	return sp__readplan_needs_sequence(s->plan.readahead) ||
	       (sp__runs_cuttable(spilled) &&
		(s->plan.in_memory || s->plan.strategy[SP_READ_CLUSTER].feasible));
}

int sp__runs_open_spill(struct sp__spilled *spilled)
{
	struct sp__sort_shared *s = spilled->sort;
	struct sp__spill_opts o = sp__env_spilling(&s->env);
	bool refused =
		s->opts.compress_program && sp__fds_free(PROGRAM_DESCRIPTORS) < PROGRAM_DESCRIPTORS;
	int rc;

	if (spilled->store)
		return 0;
	if (needs_last_keys(spilled))
		spilled->lastkey_fn = lastkey;
	o.err = spilled->err;
	o.number = spilled->number;
	o.direct = spill_direct(spilled);
	o.page_bytes = s->plan.page_bytes;
	o.recycle_level = s->plan.recycle;
	o.kept = spilled->resume ? &spilled->resume->dir : NULL;
	o.kept_name = SP__RESUME_RUNS;
	o.kept_bytes = spilled->resume ? sp__resume_kept_bytes(spilled->resume) : 0;
	o.codec = s->opts.compress_program ? SP_SPILL_RAW : s->opts.run.compression;
	o.pack_beside = s->threads > 1;
	o.program = refused ? NULL : s->opts.compress_program;
	o.depth = REQUESTS;
	o.pool = spilled->write_mem;
	o.pool_bytes = spilled->write_bytes;
	o.budget = &s->env.budget;
	o.placement = s->plan.placement;
	o.runs = s->plan.runs;
	rc = sp__spill_open(&spilled->store, &o);
	if (rc == 0 && refused)
		spilled->store->program_error = EMFILE;
	return rc;
}

static bool too_much_described(const struct sp__spilled *spilled)
{
	const struct sp__sort_shared *s = spilled->sort;
	uint64_t bytes = 0;

	if (s->env.budget.used_bytes <= s->env.budget.limit_bytes ||
	    spilled->store->group_shift == MAX_GROUP_SHIFT)
		return false;
	for (size_t i = 0; i < spilled->nruns; i++)
		bytes += spilled->runs[i] ? spilled->runs[i]->charged : 0;
	return bytes * sharers(spilled) > s->env.budget.limit_bytes / DESCRIBED_SHARE;
}

/*
 * Keeps the descriptors of spilled runs within the memory; called between two runs.
 *
 * An input of unknown length can be longer than the memory that the plan reserved for descriptors.
 * Then the last keys of pages are dropped, unless reading by them was requested, and one checksum
 * covers two pages, then four, and so on.  At 4096 pages of 4 KiB, a checksum covers 16 MiB.
 *
 * Rejected: larger pages, since merges and recycling need pages of one size.
 */
static void bound_descriptors(struct sp__spilled *spilled)
{
	bool drop = spilled->lastkey_fn && spilled->sort->opts.readahead == SP_READ_AUTO;

	while (too_much_described(spilled)) {
		for (size_t i = 0; i < spilled->nruns; i++) {
			if (spilled->runs[i] && drop)
				sp__run_drop_keys(spilled->runs[i]);
			else if (spilled->runs[i])
				sp__run_coarsen(spilled->runs[i]);
		}
		if (drop)
			spilled->lastkey_fn = NULL;
		else
			spilled->store->group_shift++;
		drop = false;
	}
}

/* Called between two runs: adapts to the number of bytes spilled. */
static void runs_adapt(struct sp__spilled *spilled)
{
	bound_descriptors(spilled);
	if (outgrows_cache(spilled))
		sp__spill_go_direct(spilled->store);
}

/* Reads all pages of a run.  Returns 1, 0 if they are not as they were written, or an error. */
static int verify(struct sp__spilled *spilled, unsigned id, struct sp__freemem where)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__step_inputs in = { 0 };
	struct sp__cursor cursor = { 0 };
	struct sp__spill *reader;
	const char *data;
	size_t bytes;
	int rc = sp__spill_reader_open(&reader, spilled->store, &err);

	if (rc < 0) {
		*spilled->sort->env.err = err;
		return rc;
	}
	rc = sp__step_open(spilled, reader, &in, &id, NULL, 1, where, &cursor);
	while (!rc && (rc = cursor.feed.get(cursor.feed.ctx, 0, true, &data, &bytes)) == SP_READY)
		rc = cursor.feed.release(cursor.feed.ctx, 0);
	sp__step_close(spilled, &in);
	sp__spill_reader_close(reader, spilled->store);
	if (!rc || rc == SP_ECORRUPT)
		return !rc;
	*spilled->sort->env.err = err;
	return rc;
}

/* Adopts a run.  Returns 1, 0 if it cannot be used, or an error. */
static int adopt(struct sp__spilled *spilled, const struct sp__kept_run *f,
		 struct sp__freemem where)
{
	struct sp__sort_shared *s = spilled->sort;
	struct sp__run *run;
	size_t id = spilled->nruns;
	int rc = sp__run_from_image(&run, &s->env.budget, 0, f->image, f->bytes);

	if (rc == -EINVAL)
		return 0;
	if (rc < 0)
		return sp__err(s->env.err, rc, "allocate", NULL, -1);
	if (!SP__ARRAY_GROW(spilled->runs, spilled->runs_cap, id + 1)) {
		sp__run_free(run);
		return sp__err(s->env.err, -ENOMEM, "allocate", NULL, -1);
	}
	spilled->runs[id] = run;
	rc = verify(spilled, (unsigned)id, where);
	if (rc > 0 && sp__resume_add_found(spilled->resume, id, &f->has) < 0)
		rc = -ENOMEM;
	if (rc <= 0) {
		sp__run_free(run);
		return rc;
	}
	if (!run->lastkeys)
		spilled->lastkey_fn = NULL;
	rc = sp__runs_add(spilled, run);
	if (rc < 0)
		return rc;
	s->stats.spilled_runs--;
	return 1;
}

/* Drops last keys unless all runs have them: reading by last keys needs those of all runs. */
static void drop_keys(struct sp__spilled *spilled)
{
	for (size_t i = 0; !spilled->lastkey_fn && i < spilled->nruns; i++)
		sp__run_drop_keys(spilled->runs[i]);
}

int sp__runs_adopt(struct sp__spilled *spilled, struct sp__freemem where)
{
	struct sp__resume *r = spilled->resume;
	size_t used = 0;
	int rc = 1;

	if (r->nfound) {
		rc = sp__runs_open_spill(spilled);
		if (rc < 0)
			return rc;
		for (rc = 1;
		     rc > 0 && used < r->nfound && r->found[used].has.from == r->covered_bytes;
		     used += rc > 0)
			rc = adopt(spilled, &r->found[used], where);
		drop_keys(spilled);
	}
	sp__resume_adopted(r, used == r->nfound);
	return rc < 0 ? rc : 0;
}

#define PREFETCH 24
/* Of the memory, that the last records of all threads take together. */
#define LAST_SHARE 16

int sp__runs_add(struct sp__spilled *spilled, struct sp__run *run)
{
	const bool counts = !spilled->beside;

	if (!SP__ARRAY_GROW(spilled->runs, spilled->runs_cap, spilled->nruns + 1) ||
	    (counts && sp__policy_add(spilled->policy, (unsigned)spilled->nruns, run->bytes) < 0)) {
		sp__run_free(run);
		return sp__err(spilled->err, -ENOMEM, "allocate", NULL, -1);
	}
	spilled->runs[spilled->nruns++] = run;
	if (counts)
		spilled->sort->stats.spilled_runs++;
	return 0;
}

void sp__runs_discard(struct sp__runwriter *w)
{
	struct sp__run *run = w->run;

	sp__runwriter_close(w);
	sp__run_free(run);
}

int sp__runs_new(struct sp__spilled *spilled, struct sp__runwriter *w, unsigned level)
{
	struct sp__run *run;
	int rc = sp__run_new(&run, &spilled->sort->env.budget);

	if (rc < 0)
		return sp__err(spilled->err, rc, "allocate", NULL, -1);
	run->level = level;
	rc = sp__runwriter_open(w, spilled->store, run, spilled->write_mem, spilled->write_bytes,
				spilled->lastkey_fn, spilled);
	if (rc < 0)
		sp__runs_discard(w);
	return rc;
}

int sp__runs_begin(struct sp__spilled *spilled, uint64_t begin)
{
	int rc;

	runs_adapt(spilled);
	rc = sp__runs_new(spilled, &spilled->writer, 0);
	spilled->writing = rc == 0;
	if (spilled->writing)
		spilled->writer.run->begin = begin;
	return rc;
}

int sp__runs_end(struct sp__spilled *spilled)
{
	struct sp__run *run = spilled->writer.run;
	int rc;

	if (!spilled->writing)
		return 0;
	spilled->writing = false;
	rc = sp__runwriter_finish(&spilled->writer);
	sp__bytes_empty(&spilled->last_record, &spilled->sort->env.budget);
	if (rc < 0) {
		sp__runs_discard(&spilled->writer);
		return rc;
	}
	sp__runwriter_close(&spilled->writer);
	return sp__runs_add(spilled, run);
}

bool sp__runs_continues(const struct sp__spilled *spilled, const struct sp__runbuf *rb)
{
	const struct sp__sort_shared *s = spilled->sort;
	const size_t term = sp__rec_term(&s->opts.format);
	const char *first, *last = spilled->last_record.data;
	size_t bytes, last_bytes = spilled->last_record.bytes;

	/* Other threads store the records between the two slots. */
	if (!spilled->writing || (spilled->beside && sp__runs_stable(spilled)))
		return false;
	sp__count_skip(s->opts.count, &last, &last_bytes);
	first = sp__runbuf_record(rb, &rb->entries[0], &bytes);
	return sp_keyset_compare(s->opts.keys, last, last_bytes - term, first, bytes - term) <= 0;
}

int sp__runs_put_all(struct sp__spilled *spilled, const struct sp__runbuf *rb)
{
	struct sp__sort_shared *s = spilled->sort;
	const char *rec = NULL;
	size_t bytes = 0;

	for (size_t i = 0; i < rb->n; i++) {
		const struct sp__entry *e = &rb->entries[i];
		uint64_t times = rb->repeats ? sp__runbuf_number(rb, e) : 1;
		int rc;

		if (i + PREFETCH < rb->n)
			sp__runbuf_prefetch(rb, e + PREFETCH);
		rec = sp__runbuf_record(rb, e, &bytes);
		if (rb->head && !rb->repeats) {
			/* The number before the record gets the format of runs. */
			size_t head = sp__count_put(rb->base + sp__ref_offset(e->ref),
						    sp__runbuf_number(rb, e));

			rec -= head;
			bytes += head;
		}
		rc = sp__runwriter_put_near(&spilled->writer, rec, bytes,
					    (size_t)(rb->base + rb->used - rec));
		while (!rc && --times)
			rc = sp__runwriter_put(&spilled->writer, rec, bytes);
		if (rc < 0)
			return rc;
	}
	/* A long record is not copied: each of several threads would keep one. */
	if (spilled->beside && bytes > s->plan.memory_bytes / (LAST_SHARE * spilled->beside))
		return sp__runs_end(spilled);
	if (sp__bytes_set(&spilled->last_record, rec, bytes, &s->env.budget) < 0)
		return sp__err(spilled->err, -ENOMEM, "allocate", NULL, -1);
	spilled->writer.prev = spilled->last_record.data;
	return 0;
}

int sp__counting_hold(struct sp__counting *c, const char *rec, size_t bytes, uint64_t number,
		      struct sp__budget *budget)
{
	c->number = number;
	return sp__count_hold(&c->held[c->now], rec, bytes, budget);
}

int sp__counting_put(struct sp__counting *c, struct sp__runwriter *w)
{
	const struct sp__bytes *b = &c->held[c->now];
	char *rec = b->data + SP__COUNT_SPACE;
	size_t head;

	if (!c->number)
		return 0;
	head = sp__count_put(rec, c->number);
	c->number = 0;
	c->now ^= 1;
	return sp__runwriter_put(w, rec - head, b->bytes - SP__COUNT_SPACE + head);
}

int sp__runs_put(struct sp__spilled *spilled, const char *rec, size_t bytes, const char *prev,
		 size_t prev_bytes)
{
	struct sp__sort_shared *s = spilled->sort;
	int rc;

	if (!s->opts.count) {
		if (prev)
			sp__runs_set_prev(spilled, prev, prev_bytes);
		return sp__runwriter_put(&spilled->writer, rec, bytes);
	}
	rc = sp__counting_hold(&spilled->counting, rec, bytes, 1, &s->env.budget);
	return rc < 0 ? rc : sp__counting_put(&spilled->counting, &spilled->writer);
}

bool sp__runs_stable(const struct sp__spilled *spilled)
{
	const struct sp__keyset *ks = sp__ks(spilled->sort->opts.keys);

	return ks->last_resort ? ks->last_collated : !ks->exact;
}

int sp__runs_open(struct sp__spilled *spilled)
{
	struct sp__sort_shared *s = spilled->sort;
	bool stable = sp__runs_stable(spilled);
	int rc;

	spilled->write_bytes =
		sp__plan_spill_bytes(&s->opts, s->plan.memory_bytes, s->plan.page_bytes);
	rc = sp__policy_new(&spilled->policy, s->plan.policy, s->plan.fan_in, stable);
	if (rc == SP_EUNSUP)
		return sp__errf(spilled->err, rc, "plan", NULL, -1,
				"polyphase merging does not keep the order of equal keys");
	if (rc < 0)
		return sp__err(spilled->err, rc, rc == -ENOMEM ? "allocate" : "plan", NULL, -1);
	spilled->ids = calloc(s->plan.fan_in, sizeof(*spilled->ids));
	return spilled->ids ? 0 : sp__err(spilled->err, -ENOMEM, "allocate", NULL, -1);
}

void sp__runs_beside(struct sp__spilled *w, const struct sp__spilled *of, unsigned number,
		     unsigned n, struct sp_errinfo *err)
{
	const size_t page = of->sort->plan.page_bytes, each = of->write_bytes / n / page * page;

	*w = (struct sp__spilled){ .sort = of->sort,
				   .err = err,
				   .beside = n,
				   .number = number,
				   .write_mem = of->write_mem + number * each,
				   .write_bytes = each };
}

static int compare_begins(const void *a, const void *b)
{
	const struct sp__run *const *x = a, *const *y = b;

	return ((*x)->begin > (*y)->begin) - ((*x)->begin < (*y)->begin);
}

int sp__runs_take_over(struct sp__spilled *spilled, struct sp__spilled *from)
{
	uint32_t files;
	int rc;

	if (!from->store)
		return 0;
	rc = sp__runs_open_spill(spilled);
	if (!rc)
		rc = sp__spill_absorb(spilled->store, from->store, &files);
	if (rc < 0)
		return rc;
	if (!from->lastkey_fn)
		spilled->lastkey_fn = NULL;
	spilled->store->group_shift =
		sp__max(spilled->store->group_shift, from->store->group_shift);
	if (!SP__ARRAY_GROW(spilled->runs, spilled->runs_cap, spilled->nruns + from->nruns))
		return sp__err(spilled->err, -ENOMEM, "allocate", NULL, -1);
	for (size_t i = 0; i < from->nruns; i++) {
		from->runs[i]->file += files;
		spilled->runs[spilled->nruns++] = from->runs[i];
	}
	from->nruns = 0;
	return 0;
}

int sp__runs_arrange(struct sp__spilled *spilled)
{
	int rc = 0;

	if (spilled->nruns)
		qsort(spilled->runs, spilled->nruns, sizeof(*spilled->runs), compare_begins);
	for (size_t i = 0; rc >= 0 && i < spilled->nruns; i++)
		rc = sp__policy_add(spilled->policy, (unsigned)i, spilled->runs[i]->bytes);
	spilled->sort->stats.spilled_runs += spilled->nruns;
	return rc < 0 ? sp__err(spilled->err, -ENOMEM, "allocate", NULL, -1) : 0;
}

void sp__runs_close(struct sp__spilled *spilled)
{
	struct sp__budget *budget = &spilled->sort->env.budget;

	if (spilled->writing)
		sp__runs_discard(&spilled->writer);
	sp__bytes_release(&spilled->last_record, budget);
	sp__keybuf_release(&spilled->lastkey);
	for (unsigned i = 0; i < 2; i++)
		sp__bytes_release(&spilled->counting.held[i], budget);
	for (size_t i = 0; i < spilled->nruns; i++)
		sp__run_free(spilled->runs[i]);
	free(spilled->runs);
	if (!spilled->beside)
		sp__policy_free(spilled->policy);
	free(spilled->ids);
	sp__spill_close(spilled->store);
}
