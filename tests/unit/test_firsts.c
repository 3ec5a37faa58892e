/* SPDX-License-Identifier: MIT */
/*
 * First records in the order of the input: keys that occur once are recognised, and an
 * input that changes between two readings is noticed.
 */
#define TAP_THREADS

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "keysets.h"
#include "sort/firsts.h"
#include "tap.h"

#define LINES 700
#define BATCH 5000
#define SHARE ((size_t)1 << 20)

static char text[LINES * 1500];
static const char *lines[LINES + 1];
static size_t nlines;

static size_t bytes_of(size_t i)
{
	return (size_t)(lines[i + 1] - lines[i]);
}

/* Makes lines of at most `kinds` kinds. */
static void make_lines(enum line_shape shape, struct sp__rng *rng, uint64_t kinds)
{
	static char kind[LINES][1500];
	size_t bytes[LINES], at = 0;

	for (unsigned i = 0; i < kinds; i++)
		bytes[i] = line_make(kind[i], shape, rng, i);
	for (nlines = 0; nlines < LINES; nlines++) {
		uint64_t i = sp__rng_below(rng, kinds);

		lines[nlines] = memcpy(text + at, kind[i], bytes[i]);
		at += bytes[i];
	}
	lines[nlines] = text + at;
}

static bool occurs_again(const struct sp_keyset *ks, size_t i)
{
	bool again = false;

	for (size_t k = 0; k < nlines && !again; k++)
		again = k != i &&
			!sp__key_compare(ks, lines[i], bytes_of(i) - 1, lines[k], bytes_of(k) - 1);
	return again;
}

/* Opens a set of repeated keys and puts all lines, some at a time. */
static int hash_lines(struct sp__repeated *r, const struct sp_sort_opts *o, uint64_t max,
		      struct sp__budget *budget, struct sp_errinfo *err)
{
	size_t from = 0, to;
	int rc = sp__repeated_open(r, o, SHARE, max, budget, err);

	for (; !rc && from < nlines; from = to) {
		for (to = from + 1; to < nlines && lines[to] - lines[from] < BATCH; to++)
			;
		rc = sp__repeated_put(
			r, &(struct sp_batch){ lines[from], (size_t)(lines[to] - lines[from]) });
	}
	return rc ? rc : sp__repeated_finish(r);
}

struct outcome {
	size_t missed, mistaken, once, repeated;
};

static struct sp_sort_opts options(const struct sp_keyset *ks)
{
	struct sp_sort_opts o = SP_SORT_OPTS_INIT;

	o.keys = ks;
	o.format = sp__ks(ks)->format;
	o.unique = true;
	return o;
}

static void compare(const struct sp_keyset *ks, struct outcome *all)
{
	const struct sp_sort_opts o = options(ks);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__budget budget = { 0 };
	struct sp__repeated r;

	if (hash_lines(&r, &o, LINES, &budget, &err) || r.records != nlines) {
		all->missed++;
		printf("# %s\n", err.text);
	}
	for (size_t i = 0; i < nlines; i++) {
		bool has = sp__repeated_has(&r, lines[i], bytes_of(i)) == 1;
		bool again = occurs_again(ks, i);

		all->missed += again && !has;
		all->mistaken += !again && has;
		all->once += !again;
		all->repeated += again;
	}
	sp__repeated_close(&r);
	all->missed += budget.used_bytes != 0;
}

static void tells(struct order o)
{
	struct sp_keyset *ks;
	struct sp__rng rng = { 11 };
	struct outcome all = { 0 };

	o.letters = strchr(o.letters, 'r') ? "ru" : "u";
	ks = order_open(&o);
	if (!ks || sp__ks(ks)->form == SP__KEY_COLLATED) {
		sp_keyset_free(ks);
		return;
	}
	for (int shape = 0; shape < LINE_SHAPES; shape++)
		for (uint64_t kinds = 3; kinds <= LINES; kinds *= 5) {
			make_lines(shape, &rng, kinds);
			compare(ks, &all);
		}
	make_lines(LINE_RANDOM, &rng, LINES);
	compare(ks, &all);
	ok(!all.missed && all.repeated, "%s: repeated keys are found (%zu)", o.name, all.repeated);
	ok(all.mistaken * 100 <= all.once, "%s: few others are taken for them (%zu of %zu)", o.name,
	   all.mistaken, all.once);
	sp_keyset_free(ks);
}

static void limited(void)
{
	struct sp_keyset *ks = order_open(&orders[0]);
	const struct sp_sort_opts o = options(ks);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__budget budget = { 0 };
	struct sp__repeated r;

	for (nlines = 0; nlines < 200; nlines++) {
		lines[nlines] = text + nlines * 4;
		snprintf(text + nlines * 4, 5, "%03zu\n", nlines % 100);
	}
	lines[nlines] = text + nlines * 4;
	ok(hash_lines(&r, &o, 99, &budget, &err) == SP_EUNSUP && !err.code,
	   "99 keys may be repeated, and 100 are: the sorts must do it");
	sp__repeated_close(&r);
	ok(!hash_lines(&r, &o, 100, &budget, &err), "100 may be");
	sp__repeated_close(&r);
	sp_keyset_free(ks);
}

#define CHANGED_LINES 200000
#define LINE_BYTES 14

/*
 * Replaces a byte close to the end of the input as soon as the result is being written, but keeps
 * the time of the last change.
 */
static void change(void *name, int phase, uint64_t done, uint64_t total)
{
	int fd = phase == SP_PHASE_MERGE ? open(name, O_WRONLY) : -1;
	struct stat st;

	(void)done;
	(void)total;
	if (fd < 0)
		return;
	if (fstat(fd, &st) || pwrite(fd, "x", 1, (CHANGED_LINES - 10) * LINE_BYTES) != 1 ||
	    futimens(fd, (struct timespec[]){ st.st_atim, st.st_mtim }))
		abort();
	close(fd);
}

/* Changes the first record then, which has been written; the keys of both readings agree. */
static void change_first(void *name, int phase, uint64_t done, uint64_t total)
{
	int fd = phase == SP_PHASE_RUN_FORMATION && done > 0 ? open(name, O_WRONLY) : -1;
	struct stat st;

	(void)total;
	if (fd < 0)
		return;
	if (fstat(fd, &st) || pwrite(fd, "x", 1, 3) != 1 ||
	    futimens(fd, (struct timespec[]){ st.st_atim, st.st_mtim }))
		abort();
	close(fd);
}

/* Removes the input then; it is open. */
static void take_away(void *name, int phase, uint64_t done, uint64_t total)
{
	(void)done;
	(void)total;
	if (phase == SP_PHASE_MERGE)
		unlink(name);
}

static int run_with(unsigned threads, void (*progress)(void *, int, uint64_t, uint64_t),
		    const char *what)
{
	char in[] = "/tmp/test_firsts.XXXXXX", out[sizeof(in) + 4];
	const char *const inputs[] = { in }, *const tmp[] = { "/tmp" };
	struct sp_keyset *ks = order_open(&orders[0]);
	struct sp_sort_opts o = options(ks);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_sort_io io = { .inputs = inputs,
				 .ninputs = 1,
				 .output = out,
				 .keep_order = true,
				 .progress = progress,
				 .progress_arg = in };
	FILE *f = fdopen(mkstemp(in), "w");
	int rc;

	snprintf(out, sizeof(out), "%s.out", in);
	if (!f)
		abort();
	for (unsigned i = 0; i < CHANGED_LINES; i++)
		fprintf(f, "%06u a line\n", i * 7919 % 200003);
	fclose(f);
	o.run.memory_bytes = 1 << 20;
	o.run.tmpdirs = tmp;
	o.run.ntmpdirs = 1;
	o.run.parallel = threads;
	rc = sp_sort_run(&o, &io, NULL, &err);
	printf("# %u threads, %s: %s\n", threads, what, err.text);
	ok(!rc == !access(out, F_OK), "%u threads, %s: there is no output after an error", threads,
	   what);
	unlink(in);
	unlink(out);
	sp_keyset_free(ks);
	return rc;
}

static void changed(unsigned threads)
{
	ok(run_with(threads, change, "changed") == SP_EFORMAT,
	   "%u threads: another key in the second reading is an error", threads);
	ok(run_with(threads, change_first, "first record changed") == SP_EFORMAT,
	   "%u threads: so is another record than the one that has been written", threads);
	ok(!run_with(threads, take_away, "removed"),
	   "%u threads: an input without a name is read to its end", threads);
}

int main(void)
{
	for (size_t i = 0; i < ORDERS; i++)
		tells(orders[i]);
	limited();
	changed(1);
	changed(3);
	return done();
}
