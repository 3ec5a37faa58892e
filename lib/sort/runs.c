/* SPDX-License-Identifier: MIT */
/*
 * Writing runs to temporary space: its place, the run being written, and whether the next
 * sorted records continue it.
 */
#include <errno.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "base/err.h"
#include "base/host.h"
#include "base/minmax.h"
#include "sort/parts_plan.h"
#include "sort/plan/plan.h"
#include "sort/state.h"

#define PREFETCH 24
/* Requests outstanding in temporary space. */
#define REQUESTS 256
/* Of the space in temporary directories: others need some. */
#define SPACE_SHARE 2
/* Descriptors beyond this share of the memory are reduced. */
#define DESCRIBED_SHARE 32
#define MOST_GROUP_SHIFT 12
/* The least with which a program packs runs: four runs and their pipes, and another being made. */
#define PROGRAM_DESCRIPTORS 12

/* A record as it is in a run. */
static void skip_number(const struct sp_sort *s, const char **rec, size_t *bytes)
{
	uint64_t number;
	size_t head = s->opts.count ? sp__count_get(*rec, *bytes, &number) : 0;

	*rec += head;
	*bytes -= head;
}

/* The last key of a page: key bytes, then the record if it is a last resort. */
static int lastkey(void *ctx, const char *rec, size_t bytes, const void **key, size_t *key_bytes)
{
	struct sp_sort *s = ctx;
	const struct sp__keyset *ks = sp__ks(s->opts.keys);
	const char *slice;

	skip_number(s, &rec, &bytes);
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
	if (sp__key_encode(s->opts.keys, rec, bytes, &s->spilled.lastkey) < 0)
		return -ENOMEM;
	*key = s->spilled.lastkey.data;
	*key_bytes = s->spilled.lastkey.bytes;
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
 * Data that will be read again before the system would write it back is best left to the
 * page cache: it never reaches the device.  The rest is written and read directly, which
 * saves two copies and does not evict other pages from the cache.
 */
static enum sp__direct spill_direct(const struct sp_sort *s)
{
	/* Input of unknown length: as long as it stays small. */
	if (s->opts.run.direct < 0 && !s->plan.input_bytes &&
	    s->plan.memory_bytes <= sp__host_unwritten())
		return SP__DIRECT_NEVER;
	if (s->opts.run.direct >= 0)
		return s->opts.run.direct ? SP__DIRECT_AUTO : SP__DIRECT_NEVER;
	return s->plan.input_bytes && s->plan.input_bytes <= sp__host_unwritten() ? SP__DIRECT_NEVER
										  : SP__DIRECT_AUTO;
}

/* More has been spilled than the page cache should hold. */
static bool outgrows_cache(const struct sp_sort *s)
{
	return s->opts.run.direct < 0 && s->spilled.store->opts.direct == SP__DIRECT_NEVER &&
	       !s->spilled.store->first_file &&
	       s->spilled.store->write_bytes - s->spilled.store->read_bytes > sp__host_unwritten();
}

/* To plan reading by them, or to cut the final merge into parts if there is room for them. */
static bool needs_last_keys(const struct sp_sort *s)
{
	return sp__readplan_needs_sequence(s->plan.readahead) ||
	       (sp__fragments_possible(s) && s->plan.strategy[SP_READ_CLUSTER].feasible);
}

int sp__runs_open_spill(struct sp_sort *s)
{
	struct sp__spill_opts o = sp__env_spilling(&s->env);
	bool refused =
		s->opts.compress_program && sp__fds_free(PROGRAM_DESCRIPTORS) < PROGRAM_DESCRIPTORS;
	int rc;

	if (s->spilled.store)
		return 0;
	if (needs_last_keys(s))
		s->spilled.lastkey_fn = lastkey;
	o.direct = spill_direct(s);
	o.page_bytes = s->plan.page_bytes;
	o.recycle_level = s->plan.recycle;
	o.kept = s->resume ? &s->resume->dir : NULL;
	o.kept_name = SP__RESUME_RUNS;
	o.kept_bytes = s->resume ? s->resume->kept_bytes : 0;
	o.codec = s->opts.compress_program ? SP_SPILL_RAW : s->opts.run.compression;
	o.pack_beside = s->threads > 1;
	o.program = refused ? NULL : s->opts.compress_program;
	o.depth = REQUESTS;
	o.pool = s->spilled.write_mem;
	o.pool_bytes = s->spilled.write_bytes;
	o.budget = &s->env.budget;
	o.placement = s->plan.placement;
	o.runs = s->plan.runs;
	rc = sp__spill_open(&s->spilled.store, &o);
	if (rc == 0 && refused)
		s->spilled.store->program_error = EMFILE;
	return rc;
}

static bool too_much_described(const struct sp_sort *s)
{
	uint64_t bytes = 0;

	if (s->env.budget.used_bytes <= s->env.budget.limit_bytes ||
	    s->spilled.store->group_shift == MOST_GROUP_SHIFT)
		return false;
	for (size_t i = 0; i < s->spilled.nruns; i++)
		bytes += s->spilled.runs[i] ? s->spilled.runs[i]->charged : 0;
	return bytes > s->env.budget.limit_bytes / DESCRIBED_SHARE;
}

/*
 * Between two runs: keeps the descriptors of spilled runs within the memory.
 *
 * Input of unknown length may prove longer than the plan has reserved memory to
 * describe.  Then the last keys of pages are dropped, unless reading by them was
 * requested, and one checksum covers two pages, then four, and so on.  At 4096 pages of
 * 4 KB a checksum covers 16 MB.  Rejected: larger pages, since merges and recycling need
 * pages of one size.
 */
static void bound_descriptors(struct sp_sort *s)
{
	bool drop = s->spilled.lastkey_fn && !sp__plan_reading_given(&s->opts);

	while (too_much_described(s)) {
		for (size_t i = 0; i < s->spilled.nruns; i++) {
			if (s->spilled.runs[i] && drop)
				sp__run_drop_keys(s->spilled.runs[i]);
			else if (s->spilled.runs[i])
				sp__run_coarsen(s->spilled.runs[i]);
		}
		if (drop)
			s->spilled.lastkey_fn = NULL;
		else
			s->spilled.store->group_shift++;
		drop = false;
	}
}

void sp__runs_discard(struct sp__runwriter *w)
{
	struct sp__run *run = w->run;

	sp__runwriter_close(w);
	sp__run_free(run);
}

int sp__runs_new(struct sp_sort *s, struct sp__runwriter *w, unsigned level)
{
	struct sp__run *run;
	int rc = sp__run_new(&run, &s->env.budget);

	if (rc < 0)
		return sp__err(s->env.err, rc, "allocate", NULL, -1);
	run->level = level;
	rc = sp__runwriter_open(w, s->spilled.store, run, s->spilled.write_mem,
				s->spilled.write_bytes, s->spilled.lastkey_fn, s);
	if (rc < 0)
		sp__runs_discard(w);
	return rc;
}

int sp__runs_begin(struct sp_sort *s)
{
	int rc;

	bound_descriptors(s);
	if (outgrows_cache(s))
		sp__spill_go_direct(s->spilled.store);
	rc = sp__runs_new(s, &s->spilled.writer, 0);
	s->spilled.writing = rc == 0;
	return rc;
}

int sp__runs_end(struct sp_sort *s)
{
	struct sp__run *run = s->spilled.writer.run;
	int rc;

	if (!s->spilled.writing)
		return 0;
	s->spilled.writing = false;
	rc = sp__runwriter_finish(&s->spilled.writer);
	sp__bytes_empty(&s->spilled.last_record, &s->env.budget);
	if (rc < 0) {
		sp__runs_discard(&s->spilled.writer);
		return rc;
	}
	sp__runwriter_close(&s->spilled.writer);
	return sp__finish_add_run(s, run);
}

bool sp__runs_continues(const struct sp_sort *s, const struct sp__slot *slot)
{
	const size_t term = sp__rec_term(&s->opts.format);
	const char *first, *last = s->spilled.last_record.data;
	size_t bytes, last_bytes = s->spilled.last_record.bytes;

	if (!s->spilled.writing)
		return false;
	skip_number(s, &last, &last_bytes);
	first = sp__runbuf_record(&slot->buf, &slot->buf.entries[0], &bytes);
	return sp_keyset_compare(s->opts.keys, last, last_bytes - term, first, bytes - term) <= 0;
}

/* The number before a record takes the form that it has in a run; returns its bytes. */
static size_t number_record(const struct sp__runbuf *rb, const struct sp__entry *e)
{
	return sp__count_put(rb->base + sp__ref_offset(e->ref), sp__runbuf_number(rb, e));
}

static int put_again(struct sp__runwriter *w, const char *rec, size_t bytes, uint64_t times)
{
	int rc = 0;

	for (; times && !rc; times--)
		rc = sp__runwriter_put(w, rec, bytes);
	return rc;
}

static int put_all(struct sp_sort *s, const struct sp__runbuf *rb)
{
	const char *rec = NULL;
	size_t bytes = 0;

	for (size_t i = 0; i < rb->n; i++) {
		int rc;

		if (i + PREFETCH < rb->n)
			sp__runbuf_prefetch(rb, &rb->entries[i + PREFETCH]);
		rec = sp__runbuf_record(rb, &rb->entries[i], &bytes);
		if (rb->head && !rb->repeats) {
			size_t head = number_record(rb, &rb->entries[i]);

			rec -= head;
			bytes += head;
		}
		rc = sp__runwriter_put_near(&s->spilled.writer, rec, bytes,
					    (size_t)(rb->base + rb->used - rec));
		if (!rc && rb->head && rb->repeats)
			rc = put_again(&s->spilled.writer, rec, bytes,
				       sp__runbuf_number(rb, &rb->entries[i]) - 1);
		if (rc < 0)
			return rc;
	}
	if (sp__bytes_set(&s->spilled.last_record, rec, bytes, &s->env.budget) < 0)
		return sp__err(s->env.err, -ENOMEM, "allocate", NULL, -1);
	s->spilled.writer.prev = s->spilled.last_record.data;
	return 0;
}

int sp__counting_hold(struct sp__counting *c, const char *rec, size_t bytes, uint64_t number,
		      struct sp__budget *budget)
{
	static const char room[SP__COUNT_BYTES_MAX];
	struct sp__bytes *b = &c->held[c->now];

	c->number = number;
	if (sp__bytes_set(b, room, sizeof(room), budget) < 0 ||
	    sp__bytes_append(b, rec, bytes, budget) < 0)
		return -ENOMEM;
	return 0;
}

int sp__counting_put(struct sp__counting *c, struct sp__runwriter *w)
{
	const struct sp__bytes *b = &c->held[c->now];
	size_t head;

	if (!c->number)
		return 0;
	head = sp__count_put(b->data + SP__COUNT_BYTES_MAX, c->number);
	c->number = 0;
	c->now ^= 1;
	return sp__runwriter_put(w, b->data + SP__COUNT_BYTES_MAX - head,
				 b->bytes - SP__COUNT_BYTES_MAX + head);
}

int sp__runs_store(struct sp_sort *s, struct sp__slot *slot)
{
	int rc;

	if (!atomic_load_explicit(&slot->sorted, memory_order_acquire))
		return sp__errf(s->env.err, SP_EBALANCE, "store", NULL, -1, "run is not sorted");
	rc = sp__runs_open_spill(s);
	if (rc < 0)
		return rc;
	if (!sp__runs_continues(s, slot)) {
		rc = sp__runs_end(s);
		if (rc < 0)
			return rc;
		rc = sp__runs_begin(s);
		if (rc < 0)
			return rc;
	}
	sp__charge_work(&s->env, 0, 0, sp__runbuf_gives(&slot->buf));
	rc = put_all(s, &slot->buf);
	/* A run that may be continued is no checkpoint. */
	if (!rc && s->resume)
		rc = sp__runs_end(s);
	if (!rc && s->resume)
		rc = sp__resume_formed(s, slot);
	if (rc < 0)
		return rc;
	sp__slot_empty(s, slot);
	return 0;
}

void sp__runs_close(struct sp_sort *s)
{
	if (s->spilled.writing)
		sp__runs_discard(&s->spilled.writer);
	sp__bytes_release(&s->spilled.last_record, &s->env.budget);
	sp__keybuf_release(&s->spilled.lastkey);
	for (unsigned i = 0; i < 2; i++)
		sp__bytes_release(&s->spilled.counting.held[i], &s->env.budget);
}
