/* SPDX-License-Identifier: MIT */
/*
 * The incremental sort: what each call says in each state, and that a sort may
 * be abandoned anywhere.
 */
#define TAP_THREADS

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <spindle/sort.h>
#include "keysets.h"
#include "tap.h"

#define LINES 60000

static const char *const tmp[] = { "/tmp" };
static char *input;
static size_t input_bytes;
static unsigned laters;

static struct sp_sort *begin(const struct sp_keyset *ks, uint64_t memory, unsigned threads,
			     const char *const *dirs, struct sp_errinfo *err)
{
	struct sp_sort_opts o = SP_SORT_OPTS_INIT;
	struct sp_sort *s;

	*err = (struct sp_errinfo)SP_ERRINFO_INIT;
	o.format = (struct sp_recfmt){ .kind = SP_REC_LINE, .eol = '\n' };
	o.keys = ks;
	o.run.memory_bytes = memory;
	o.run.tmpdirs = dirs;
	o.run.ntmpdirs = 1;
	o.run.parallel = threads;
	if (memory < 1 << 20)
		o.run_bytes = 64 << 10;
	return sp_sort_new(&s, &o, err) ? NULL : s;
}

static void make_input(void)
{
	struct sp__rng rng = { 12 };

	input = malloc(LINES * 24);
	if (!input)
		abort();
	for (int i = 0; i < LINES; i++)
		input_bytes += (size_t)sprintf(input + input_bytes, "%08x %d\n",
					       (unsigned)sp__rng_below(&rng, 100000), i);
}

/* Whole lines, some at a time; until bytes have been taken, or an error. */
static int put(struct sp_sort *s, size_t bytes)
{
	struct sp__rng rng = { 2 };
	size_t at = 0;

	while (at < bytes) {
		size_t end = at + sp__rng_below(&rng, 60000);
		struct sp_batch b = { input + at, 0 };
		int rc;

		if (end >= input_bytes)
			end = input_bytes - 1;
		while (input[end] != '\n')
			end++;
		b.bytes = end + 1 - at;
		while ((rc = sp_sort_put(s, &b)) == SP_LATER) {
			laters++;
			rc = sp_sort_wait(s);
			if (rc < 0)
				return rc;
		}
		if (rc < 0)
			return rc;
		at = end + 1;
	}
	return 0;
}

static int next(struct sp_sort *s, struct sp_batch *b)
{
	int rc;

	while ((rc = sp_sort_get(s, b)) == SP_LATER) {
		laters++;
		rc = sp_sort_wait(s);
		if (rc < 0)
			return rc;
	}
	return rc;
}

/* Reads the result; true if it is all lines in order. */
static bool result(struct sp_sort *s, const struct sp_keyset *ks)
{
	static char last[64];
	size_t last_bytes = 0, bytes = 0;
	struct sp_batch b;
	bool good = true;
	int rc;

	while ((rc = next(s, &b)) == SP_READY) {
		const char *p = b.data, *end = p + b.bytes;

		bytes += b.bytes;
		while (p < end) {
			const char *nl = memchr(p, '\n', (size_t)(end - p));

			if (!nl || nl - p > 60)
				return false;
			good &= !last_bytes ||
				sp_keyset_compare(ks, last, last_bytes, p, (size_t)(nl - p)) <= 0;
			last_bytes = (size_t)(nl - p);
			memcpy(last, p, last_bytes);
			p = nl + 1;
		}
	}
	return good && rc == SP_END && bytes == input_bytes;
}

static void whole_sorts(const struct sp_keyset *ks)
{
	struct sp_sort_stats st;
	struct sp_errinfo err;

	for (unsigned threads = 1; threads <= 2; threads++) {
		for (int small = 0; small < 2; small++) {
			struct sp_sort *s = begin(ks, small ? 1 : 64 << 20, threads, tmp, &err);
			bool good;

			if (!s)
				abort();
			good = put(s, input_bytes) == 0 && sp_sort_finish(s) == 0 && result(s, ks);
			sp_sort_stats(s, &st);
			ok(good && st.records == LINES && (st.spilled_runs > 0) == (small > 0),
			   "%d lines are sorted by %u threads %s", LINES, threads,
			   small ? "through temporary space" : "in memory");
			sp_sort_free(s);
		}
	}
}

static void states(const struct sp_keyset *ks)
{
	struct sp_errinfo err;
	struct sp_sort *s = begin(ks, 64 << 20, 2, tmp, &err);
	struct sp_batch b;

	if (!s)
		abort();
	ok(sp_sort_wait(s) == SP_ESTATE, "waiting for nothing is a mistake");
	ok(sp_sort_get(s, &b) == SP_ESTATE, "as is asking for the result before the end of input");
	ok(put(s, 1000) == 0 && sp_sort_finish(s) == 0, "which do no harm");
	b = (struct sp_batch){ input, 10 };
	ok(sp_sort_put(s, &b) == SP_ESTATE, "no input is accepted after the end");
	ok(sp_sort_finish(s) == SP_ESTATE, "there is one end");
	while (next(s, &b) == SP_READY)
		;
	ok(sp_sort_get(s, &b) == SP_END && sp_sort_get(s, &b) == SP_END, "END is returned again");
	sp_sort_free(s);
	s = begin(ks, 64 << 20, 2, tmp, &err);
	if (!s)
		abort();
	ok(sp_sort_finish(s) == 0 && next(s, &b) == SP_END, "nothing sorted is nothing");
	sp_sort_free(s);
	sp_sort_free(NULL);
}

/* The counters at every step, while work continues in the background. */
static void figures(const struct sp_keyset *ks)
{
	struct sp_sort_stats st = { 0 };
	uint64_t before = 0;
	struct sp_errinfo err;
	struct sp_sort *s = begin(ks, 1, 2, tmp, &err);
	struct sp_batch b = { input, 0 };
	bool good = s != NULL;
	int rc = SP_READY;

	for (size_t at = 0; good && at < input_bytes; at += b.bytes) {
		const char *end = memrchr(input + at, '\n',
					  input_bytes - at < 65536 ? input_bytes - at : 65536);

		b = (struct sp_batch){ input + at, (size_t)(end + 1 - input) - at };
		while ((rc = sp_sort_put(s, &b)) == SP_LATER && good) {
			sp_sort_stats(s, &st);
			good = sp_sort_wait(s) == 0;
		}
		sp_sort_stats(s, &st);
		good = good && rc == SP_READY && st.input_bytes == at + b.bytes;
	}
	good = good && sp_sort_finish(s) == 0;
	while (good && (rc = sp_sort_get(s, &b)) >= 0 && rc != SP_END) {
		sp_sort_stats(s, &st);
		good = st.output_records >= before;
		before = st.output_records;
		if (rc == SP_LATER)
			good = good && sp_sort_wait(s) == 0;
	}
	sp_sort_stats(s, &st);
	ok(good && rc == SP_END && st.output_records == LINES && st.spilled_runs > 0,
	   "figures can be asked for at any moment");
	sp_sort_free(s);
}

/* Far more than the plan of an input of unknown length has left room to describe. */
static void many_pages(const struct sp_keyset *ks)
{
	struct sp_sort_opts o = SP_SORT_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_sort_stats st = { 0 };
	struct sp_batch b;
	struct sp_sort *s;
	uint64_t bytes = 0;
	bool good;

	o.format = (struct sp_recfmt){ .kind = SP_REC_LINE, .eol = '\n' };
	o.keys = ks;
	o.run.memory_bytes = 512 << 10;
	o.run.page_bytes = 4096;
	o.run.tmpdirs = tmp;
	o.run.ntmpdirs = 1;
	o.run.parallel = 2;
	good = sp_sort_new(&s, &o, &err) == 0;
	for (int i = 0; good && i < 40; i++)
		good = put(s, input_bytes) == 0;
	good = good && sp_sort_finish(s) == 0;
	while (good && next(s, &b) == SP_READY)
		bytes += b.bytes;
	if (good)
		sp_sort_stats(s, &st);
	ok(good && bytes == 40 * input_bytes && st.run.memory_overrun_bytes < 64 << 10,
	   "pages beyond what was planned overrun the memory by no more than an eighth (%llu)",
	   (unsigned long long)st.run.memory_overrun_bytes);
	sp_sort_free(s);
}

/* A sort that spills without a temporary directory fails with an error. */
static void no_directory(const struct sp_keyset *ks)
{
	struct sp_sort_opts o = SP_SORT_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_sort *s = NULL;
	int rc;

	o.format = (struct sp_recfmt){ .kind = SP_REC_LINE, .eol = '\n' };
	o.keys = ks;
	o.run.memory_bytes = 512 << 10;
	rc = sp_sort_new(&s, &o, &err);
	for (int i = 0; !rc && i < 40; i++)
		rc = put(s, input_bytes);
	if (!rc)
		rc = sp_sort_finish(s);
	ok(rc == -EINVAL && strstr(err.text, "no temporary directory"),
	   "a sort that must spill and has no directory for it is refused: %s", err.text);
	if (s)
		sp_sort_free(s);
}

/* A run that is refused before it has opened anything has no statistics. */
static void refused_run(const struct sp_keyset *ks)
{
	const char *const inputs[] = { "/dev/null" };
	struct sp_sort_io io = { .inputs = inputs,
				 .ninputs = 1,
				 .output = "/dev/null",
				 .merge = true,
				 .keep_order = true };
	struct sp_sort_opts o = SP_SORT_OPTS_INIT;
	struct sp_sort_stats stats;
	struct sp_errinfo err = SP_ERRINFO_INIT;

	o.format = (struct sp_recfmt){ .kind = SP_REC_LINE, .eol = '\n' };
	o.keys = ks;
	o.unique = true;
	ok(sp_sort_run(&o, &io, &stats, &err) == SP_EUNSUP,
	   "a merge that keeps the order of its input is refused: %s", err.text);
}

/* Values that need system calls are only computed on request. */
static void device_counters(const struct sp_keyset *ks)
{
	const char *const inputs[] = { "/proc/self/status" };
	struct sp_sort_io io = { .inputs = inputs, .ninputs = 1, .output = "/dev/null" };
	struct sp_sort_opts o = SP_SORT_OPTS_INIT;
	struct sp_sort_stats asked, not_asked;
	struct sp_errinfo err = SP_ERRINFO_INIT;

	o.format = (struct sp_recfmt){ .kind = SP_REC_LINE, .eol = '\n' };
	o.keys = ks;
	o.run.tmpdirs = tmp;
	o.run.ntmpdirs = 1;
	if (sp_sort_run(&o, &io, &not_asked, &err))
		abort();
	io.device_counters = true;
	if (sp_sort_run(&o, &io, &asked, &err))
		abort();
	ok(not_asked.run.device_read_bytes == -1 && asked.run.device_read_bytes >= 0,
	   "bytes to devices are reported on request");
}

static unsigned open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static void abandoned(const struct sp_keyset *ks)
{
	unsigned before = open_files();
	struct sp_errinfo err;
	struct sp_batch b;

	for (int stage = 0; stage < 8; stage++) {
		struct sp_sort *s = begin(ks, stage % 2 ? 1 : 64 << 20, 2, tmp, &err);

		if (!s || (stage / 2 > 0 && put(s, input_bytes / 2)) ||
		    (stage / 2 > 1 && sp_sort_finish(s)) ||
		    (stage / 2 > 2 && next(s, &b) != SP_READY))
			abort();
		sp_sort_free(s);
	}
	ok(open_files() == before,
	   "a sort that is abandoned at the start, with input, at its end, or "
	   "in its result closes its files");
}

static void errors(const struct sp_keyset *ks)
{
	static const char *const missing[] = { "/nonexistent/folder" };
	struct sp_errinfo err;
	struct sp_sort *s = begin(ks, 1, 2, missing, &err);
	struct sp_batch b;
	int rc;

	if (!s)
		abort();
	rc = put(s, input_bytes);
	if (!rc)
		rc = sp_sort_finish(s);
	if (!rc)
		rc = next(s, &b);
	ok(rc == -ENOENT && !strcmp(err.path, missing[0]),
	   "a missing temporary directory is reported by name");
	ok(sp_sort_get(s, &b) == rc && sp_sort_finish(s) == rc, "and the error stays");
	sp_sort_free(s);
}

int main(void)
{
	struct sp_keyset *ks = order_open(&orders[0]);

	make_input();
	whole_sorts(ks);
	ok(laters > 0, "LATER was returned now and then (%u times)", laters);
	states(ks);
	figures(ks);
	no_directory(ks);
	refused_run(ks);
	device_counters(ks);
	many_pages(ks);
	abandoned(ks);
	errors(ks);
	sp_keyset_free(ks);
	free(input);
	return done();
}
