/* SPDX-License-Identifier: MIT */
/*
 * Runs written to temporary space and read back through a page pool, on every
 * engine and with every packing: the bytes, the last keys, reuse of space, and
 * that a page which comes back other than it was written is noticed.
 */
#define TAP_THREADS

#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>
#include <spindle/batch.h>
#include "base/mem.h"
#include "base/rng.h"
#include "spill/pool.h"
#include "spill/writer.h"
#include "tap.h"

#define PAGE 16384u
#define RUNS 5
#define POOL_PAGES 12
#define WRITE_PAGES 16 /* chunks of four when packed: enough for a thread */
#define RUN_MAX 400000

static struct sp_errinfo err;
static struct sp__budget budget;
static struct sp__rng rng;
static char *pool_mem, *write_mem;
static char text[RUNS][RUN_MAX];
static size_t text_bytes[RUNS];

static struct sp__spill *store(const char *engine, enum sp_spill_compression codec, int recycle)
{
	static const char *const dirs[] = { "/tmp", "/var/tmp" };
	struct sp__spill_opts o = { .dirs = dirs,
				    .ndirs = access(dirs[1], W_OK) ? 1 : 2,
				    .engine = engine,
				    .direct = SP__DIRECT_NEVER,
				    .page_bytes = PAGE,
				    .recycle_level = recycle,
				    .codec = codec,
				    .pack_beside = recycle < 0,
				    .depth = 16,
				    .budget = &budget,
				    .err = &err };
	struct sp__spill *s;

	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	return sp__spill_open(&s, &o) ? NULL : s;
}

/* The whole record, without its terminator, is its key. */
static int lastkey(void *ctx, const char *rec, size_t bytes, const void **key, size_t *key_bytes)
{
	(void)ctx;
	*key = rec;
	*key_bytes = bytes - 1;
	return 0;
}

static size_t make_record(char *to)
{
	static const size_t lengths[] = { 3, 60, 60, 700, PAGE - 1, PAGE, PAGE + 1, 20000 };
	size_t len = sp__rng_below(&rng, lengths[sp__rng_below(&rng, 8)]);

	for (size_t i = 0; i < len; i++)
		to[i] = (char)('a' + sp__rng_below(&rng, 4));
	to[len] = '\n';
	return len + 1;
}

static struct sp__run *write_run(struct sp__spill *s, int r, size_t bytes, unsigned level)
{
	struct sp__runwriter w;
	struct sp__run *run;
	int rc;

	if (sp__run_new(&run, &budget))
		abort();
	run->level = level;
	text_bytes[r] = 0;
	rc = sp__runwriter_open(&w, s, run, write_mem, WRITE_PAGES * PAGE, lastkey, NULL);
	while (!rc && text_bytes[r] < bytes) {
		size_t len = make_record(text[r] + text_bytes[r]);

		rc = sp__runwriter_put(&w, text[r] + text_bytes[r], len);
		text_bytes[r] += len;
	}
	if (!rc)
		rc = sp__runwriter_finish(&w);
	sp__runwriter_close(&w);
	if (rc) {
		sp__run_free(run);
		return NULL;
	}
	return run;
}

/*
 * A plan of its own: now and then several pages, as long as each run without
 * one can still get it.
 */
struct sp__readplan {
	struct sp__run **runs;
	size_t asked[RUNS], held[RUNS];
};

static unsigned plan_next(struct sp__readplan *p, unsigned free_pages, unsigned *run)
{
	unsigned starving = 0, pages = 1;

	for (unsigned i = 0; i < RUNS; i++)
		starving += !p->held[i] && p->asked[i] < p->runs[i]->npages;
	for (unsigned i = 0; i < RUNS; i++)
		if (!p->held[i] && p->asked[i] < p->runs[i]->npages) {
			*run = i;
			p->held[i]++;
			p->asked[i]++;
			return 1;
		}
	if (starving || free_pages < RUNS + 3)
		return 0;
	*run = (unsigned)sp__rng_below(&rng, RUNS);
	for (pages = 0; pages < 3 && p->asked[*run] < p->runs[*run]->npages; pages++) {
		p->asked[*run]++;
		p->held[*run]++;
	}
	return pages;
}

static void plan_consumed(struct sp__readplan *p, unsigned run)
{
	p->held[run]--;
}

/* Reads all runs, in random order, and empties their files early; returns 0 or the first error. */
static int read_runs(struct sp__spill *s, struct sp__run **runs, bool *same)
{
	struct sp__readplan plan = { .runs = runs };
	struct sp__poolplan pp = { &plan, plan_next, plan_consumed, 3 };
	size_t at[RUNS] = { 0 }, left = RUNS, bytes;
	bool ended[RUNS] = { false }, emptied = false;
	struct sp__pool *pool;
	const char *data;
	int rc = sp__pool_open(&pool, s, runs, NULL, RUNS, pool_mem, POOL_PAGES, &pp);

	if (rc)
		return rc;
	*same = true;
	while (left && rc >= 0) {
		size_t r = sp__rng_below(&rng, RUNS);

		if (ended[r])
			continue;
		if (!emptied && sp__pool_has_all(pool)) {
			sp__spill_empty(s, 0, 1);
			emptied = true;
		}
		rc = sp__pool_get(pool, r, sp__rng_below(&rng, 2), &data, &bytes);
		if (rc == SP_READY) {
			*same &= at[r] + bytes <= text_bytes[r] &&
				 !memcmp(text[r] + at[r], data, bytes);
			at[r] += bytes;
			rc = sp__pool_release(pool, r);
		} else if (rc == SP_END) {
			*same &= at[r] == text_bytes[r];
			ended[r] = true;
			left--;
		}
	}
	sp__pool_close(pool);
	*same &= emptied;
	return rc < 0 ? rc : 0;
}

/* definitions: the key of the last record that ends in the page, else inherited; what follows. */
static bool keys_right(const struct sp__run *run, int r)
{
	const char *key = NULL;
	size_t begin = 0, key_bytes = 0, at = 0, tail;

	for (size_t p = 0; p < run->npages; p++) {
		size_t end = (p + 1) * PAGE < text_bytes[r] ? (p + 1) * PAGE : text_bytes[r];
		unsigned records = 0;

		for (; at < end; at++) {
			if (text[r][at] != '\n')
				continue;
			records++;
			key = text[r] + begin;
			key_bytes = at - begin;
			begin = at + 1;
		}
		tail = end - begin < end - p * PAGE ? end - begin : end - p * PAGE;
		if (run->lastkeys[p].tail != tail || run->lastkeys[p].records != records)
			return false;
		if (key_bytes > SP__LASTKEY_MAX)
			key_bytes = SP__LASTKEY_MAX;
		if (run->lastkeys[p].bytes != key_bytes ||
		    (key_bytes && memcmp(run->keys + run->lastkeys[p].offset, key, key_bytes)))
			return false;
	}
	return true;
}

static bool write_runs(struct sp__spill *s, struct sp__run **runs, bool *keys)
{
	static const size_t sizes[RUNS] = { 300000, 1, PAGE, 100000, 0 };

	*keys = true;
	for (int r = 0; r < RUNS; r++) {
		runs[r] = write_run(s, r, sizes[r], 0);
		if (!runs[r])
			return false;
		*keys &= runs[r]->bytes == text_bytes[r] && keys_right(runs[r], r);
	}
	return true;
}

static void free_runs(struct sp__run **runs)
{
	for (int r = 0; r < RUNS; r++)
		sp__run_free(runs[r]);
}

static void round_trip(const char *engine, enum sp_spill_compression codec, const char *packing)
{
	struct sp__spill *s = store(engine, codec, -1);
	struct sp__run *runs[RUNS] = { NULL };
	bool keys = false, same = false, good = true;

	if (!s) {
		skip(engine, "not here");
		return;
	}
	for (int round = 0; round < 3 && good; round++) {
		good = write_runs(s, runs, &keys) && read_runs(s, runs, &same) == 0 && keys && same;
		free_runs(runs);
	}
	ok(good, "%s, %s: runs come back byte for byte, with the last keys of their pages", engine,
	   packing);
	sp__spill_close(s);
	ok(budget.used_bytes == 0, "%s, %s: and nothing stays charged", engine, packing);
}

static void reuse(void)
{
	struct sp__run *runs[RUNS];
	uint64_t end[2] = { 0, 0 };
	bool keys, same;

	for (int recycle = 0; recycle < 2; recycle++) {
		struct sp__spill *s = store("sync", SP_SPILL_RAW, recycle ? 0 : -1);

		if (!s)
			abort();
		for (int round = 0; round < 4; round++) {
			if (!write_runs(s, runs, &keys) || read_runs(s, runs, &same))
				abort();
			free_runs(runs);
		}
		for (size_t f = 0; f < s->nfiles; f++)
			end[recycle] += s->files[f].space.end;
		sp__spill_close(s);
	}
	ok(end[1] * 2 < end[0], "pages that were read are used again (%llu units against %llu)",
	   (unsigned long long)end[1], (unsigned long long)end[0]);
}

/* A file in the page cache, on ext4; other file systems reserve nothing. */
static void reserved(void)
{
	struct sp__spill *s = store("sync", SP_SPILL_RAW, -1);
	struct sp__run *runs[RUNS];
	struct statfs fs;
	struct stat st;
	bool keys, ext4;

	if (!s || !write_runs(s, runs, &keys) || fstatfs(s->files[0].volume->fd, &fs) ||
	    fstat(s->files[0].volume->fd, &st))
		abort();
	ext4 = fs.f_type == EXT4_SUPER_MAGIC && fs.f_bavail * (uint64_t)fs.f_bsize > 2u << 30;
	if (fs.f_type == EXT4_SUPER_MAGIC && !ext4)
		skip("space reserved ahead", "little is free");
	else
		ok((st.st_blocks * 512 > 16 << 20) == ext4 && st.st_size < 1 << 20,
		   "space is reserved ahead on ext4 alone, and the file is no longer for it");
	sp__spill_trim(s);
	if (fstat(s->files[0].volume->fd, &st))
		abort();
	ok(st.st_blocks * 512 < 4 << 20 && read_runs(s, runs, &keys) == 0 && keys,
	   "reserved units are released when all is written");
	free_runs(runs);
	sp__spill_close(s);
}

static void corruption(enum sp_spill_compression codec, const char *packing)
{
	struct sp__run *runs[RUNS];
	unsigned noticed = 0, wrong = 0;
	bool keys, same = false;

	for (int i = 0; i < 30; i++) {
		struct sp__spill *s = store("sync", codec, -1);
		uint64_t at;
		char byte;

		if (!s || !write_runs(s, runs, &keys))
			abort();
		at = sp__rng_below(&rng, (uint64_t)lseek(s->files[0].volume->fd, 0, SEEK_END));
		if (pread(s->files[0].volume->fd, &byte, 1, (off_t)at) != 1)
			abort();
		byte ^= (char)(1 << sp__rng_below(&rng, 8));
		if (pwrite(s->files[0].volume->fd, &byte, 1, (off_t)at) != 1)
			abort();
		if (read_runs(s, runs, &same) == SP_ECORRUPT && err.path[0] && err.offset >= 0 &&
		    (uint64_t)err.offset <= at)
			noticed++;
		else if (err.code || !same) /* else padding was hit */
			wrong++;
		free_runs(runs);
		sp__spill_close(s);
	}
	ok(noticed > 5 && wrong == 0,
	   "%s: one changed bit is reported as corruption, with file and offset (%u of 30)",
	   packing, noticed);
}

/* One checksum for several pages: while writing, and made so later. */
static void groups(void)
{
	struct sp__run *runs[RUNS];
	unsigned noticed = 0, wrong = 0;
	bool keys, same = false, good = true;

	for (int i = 0; i < 30; i++) {
		struct sp__spill *s = store("sync", SP_SPILL_RAW, -1);
		bool spoil = i % 3 == 2;
		char byte;

		if (!s)
			abort();
		s->group_shift = (unsigned)i % 4;
		if (!write_runs(s, runs, &keys))
			abort();
		for (int r = 0; r < RUNS; r++) {
			uint64_t before = runs[r]->charged;

			sp__run_coarsen(runs[r]);
			sp__run_coarsen(runs[r]);
			sp__run_drop_keys(runs[r]);
			good &= !before || runs[r]->charged < before;
		}
		if (spoil &&
		    (pread(s->files[0].volume->fd, &byte, 1, i * 1000) != 1 || (byte ^= 4, 0) ||
		     pwrite(s->files[0].volume->fd, &byte, 1, i * 1000) != 1))
			abort();
		if (read_runs(s, runs, &same) == SP_ECORRUPT)
			noticed++;
		else
			wrong += !same;
		free_runs(runs);
		sp__spill_close(s);
	}
	ok(good && !budget.used_bytes, "runs described coarsely and without keys cost less");
	ok(!wrong && noticed == 10, "pages in groups come back, and a changed bit is reported");
}

static void faults(void)
{
	struct sp__run *runs[RUNS] = { NULL };
	struct sp__spill *s = store("fault:KIND=WRITE,NTH=3,ERROR=ENOSPC:sync", SP_SPILL_RAW, -1);
	bool keys, same;

	if (!s)
		abort();
	ok(!write_runs(s, runs, &keys) && err.code < 0 && !strcmp(err.op, "write") && err.path[0],
	   "a failed write is reported once, with its file");
	free_runs(runs);
	sp__spill_close(s);
	s = store("fault:KIND=READ,NTH=7,ERROR=EIO:sync", SP_SPILL_RAW, -1);
	if (!s || !write_runs(s, runs, &keys))
		abort();
	ok(read_runs(s, runs, &same) < 0 && !strcmp(err.op, "read") && err.offset >= 0,
	   "as is a read");
	free_runs(runs);
	sp__spill_close(s);
	s = store("fault:COUNT=0,ERROR=SHORT,REORDER=5:sync", SP_SPILL_RAW, -1);
	if (!s)
		abort();
	ok(write_runs(s, runs, &keys) && read_runs(s, runs, &same) == 0 && same,
	   "short transfers in any order do no harm");
	free_runs(runs);
	sp__spill_close(s);
}

#define MANY 40
#define MANY_PAGES 4000

/* Many runs grow concurrently: they have few extents, which do not overlap. */
static void many(void)
{
	struct sp__spill *s = store("sync", SP_SPILL_RAW, 1);
	unsigned char *used = calloc(2 * MANY, MANY_PAGES);
	struct sp__run *run[MANY] = { NULL };
	size_t extents = 0;
	bool apart = true;
	uint32_t got;

	if (!s || !used)
		abort();
	s->opts.ahead = true;
	for (int i = 0; i < MANY * MANY_PAGES; i++) {
		int r = i % MANY;

		if (!run[r] && sp__run_new(&run[r], &budget))
			abort();
		if (sp__spill_take(s, run[r], 1, &got) || got != 1)
			abort();
	}
	for (int r = 0; r < MANY; r++) {
		sp__spill_give_spare(s, run[r]);
		extents = run[r]->nextents > extents ? run[r]->nextents : extents;
		for (uint64_t u = 0; u < run[r]->units; u++) {
			uint64_t at = sp__spill_unit(run[r], u);

			apart &= at < 2 * MANY * MANY_PAGES && !used[at]++;
		}
		sp__run_free(run[r]);
	}
	ok(apart, "units of runs that grow at a time are each run's own");
	ok(extents < 150, "a run of %d pages among %d has few extents (%zu)", MANY_PAGES, MANY,
	   extents);
	ok(s->files[0].space.used == (uint64_t)MANY * MANY_PAGES, "units taken ahead are released");
	free(used);
	sp__spill_close(s);
}

static bool traced_as(const struct sp__spill *s, int file, const char *name)
{
	const struct sp__volume *v = s->files[file].volume;

	return !strcmp(v->trace_name ? v->trace_name : v->name, name);
}

/* Files of one directory have names of their own in traces, and the directory's in messages. */
static void names(void)
{
	static const char *const dirs[] = { "/tmp", "/tmp" };
	struct sp__spill_opts o = { .dirs = dirs,
				    .ndirs = 2,
				    .engine = "sync",
				    .direct = SP__DIRECT_NEVER,
				    .page_bytes = PAGE,
				    .depth = 1,
				    .budget = &budget };
	struct sp__spill *s;
	int file[4];

	if (sp__spill_open(&s, &o))
		abort();
	for (int i = 0; i < 4; i++) {
		if (i == 2)
			sp__spill_go_direct(s);
		file[i] = sp__spill_next_file(s);
		if (file[i] < 0)
			abort();
	}
	ok(traced_as(s, file[0], "/tmp") && traced_as(s, file[1], "/tmp#1") &&
		   traced_as(s, file[2], "/tmp#2") && traced_as(s, file[3], "/tmp#3"),
	   "in a trace files of one directory are distinguished");
	ok(!strcmp(s->files[file[3]].volume->name, "/tmp"), "in messages they go by the directory");
	sp__spill_close(s);
}

int main(void)
{
	static const char *const engines[] = { "sync", "libaio", "io_uring" };

	sp__budget_init(&budget, 1 << 30);
	pool_mem = sp__pages_alloc(POOL_PAGES * PAGE, false);
	write_mem = sp__pages_alloc(WRITE_PAGES * PAGE, false);
	if (!pool_mem || !write_mem)
		abort();
	for (int e = 0; e < 3; e++) {
		round_trip(engines[e], SP_SPILL_RAW, "raw");
		round_trip(engines[e], SP_SPILL_LZ4, "lz4");
		round_trip(engines[e], SP_SPILL_ZSTD, "zstd");
	}
	reuse();
	reserved();
	corruption(SP_SPILL_RAW, "raw");
	corruption(SP_SPILL_LZ4, "lz4");
	corruption(SP_SPILL_ZSTD, "zstd");
	groups();
	many();
	faults();
	names();
	sp__pages_free(pool_mem, POOL_PAGES * PAGE);
	sp__pages_free(write_mem, WRITE_PAGES * PAGE);
	return done();
}
