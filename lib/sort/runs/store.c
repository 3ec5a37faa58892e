/* SPDX-License-Identifier: MIT */
/*
 * Opens temporary space for runs: direct or through the page cache, with or without last keys.
 * Keeps the descriptors of its pages within the memory.
 */
#include <sys/statvfs.h>
#include <unistd.h>
#include "base/host.h"
#include "base/minmax.h"
#include "sort/plan/plan.h"
#include "sort/plan/readplan.h"
#include "sort/records/counted.h"
#include "sort/runs/spilled.h"

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

void sp__runs_adapt(struct sp__spilled *spilled)
{
	bound_descriptors(spilled);
	if (outgrows_cache(spilled))
		sp__spill_go_direct(spilled->store);
}
