/* SPDX-License-Identifier: MIT */
/*
 * A join that loses, doubles or exchanges a record ends with SP_EBALANCE and without
 * an output.  Every way of joining goes through without a fault first, and is seen to be
 * that way; then a fault is put at each wrapped function (joinwraps.h) that it came through.
 */
#define TAP_THREADS

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spindle/join.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "joinwraps.h"
#include "tap.h"

/* Ways of joining. */

#define BIT(s) (1u << (s))
#define EVERY (BIT(SCAN) | BIT(FILL))
#define LINE_BYTES 40
#define LONG_BYTES 400

struct way {
	const char *name;
	enum sp_join_algorithm algorithm;
	unsigned wraps; /* that it goes through */
	uint64_t join_bytes, input_bytes;
	unsigned threads; /* 0: one; more need some megabytes of memory */
	size_t lines, line_bytes;
	unsigned ordered;
	bool unpaired[2], no_pairs, semi, sorted, header, csv, fixed, pipes;
	bool (*was)(const struct sp_join_stats *st);
};

static bool in_memory(const struct sp_join_stats *st)
{
	return st->algorithm == SP_JOIN_HYBRID && !st->run.spill_write_bytes;
}

static bool spilled(const struct sp_join_stats *st)
{
	return st->run.spill_write_bytes && st->depth == 1 && !st->nested_blocks;
}

static bool filtered(const struct sp_join_stats *st)
{
	return spilled(st) && st->filter_drops;
}

static bool swept(const struct sp_join_stats *st)
{
	return st->groups > 0;
}

static bool deep(const struct sp_join_stats *st)
{
	return st->depth > 1 && !st->nested_blocks;
}

static bool reversed(const struct sp_join_stats *st)
{
	return st->reversals > 0;
}

static bool nested(const struct sp_join_stats *st)
{
	return st->nested_blocks > 1;
}

static bool by_sorting(const struct sp_join_stats *st)
{
	return st->ordered_by == SP_JOIN_BY_SORTING;
}

static bool by_probing(const struct sp_join_stats *st)
{
	return st->ordered_by == SP_JOIN_BY_PROBING;
}

static bool merged(const struct sp_join_stats *st)
{
	return st->algorithm == SP_JOIN_MERGE;
}

#define SPILLED .join_bytes = 256 << 10, .lines = 5000
#define SPILLS (EVERY | BIT(SPILL) | BIT(READ))
static const struct way ways[] = {
	{ "hash join in memory", SP_JOIN_HYBRID, EVERY | BIT(ADD), .lines = 1000,
	  .was = in_memory },
	{ "hybrid hash join", SP_JOIN_HYBRID, SPILLS | BIT(ADD), SPILLED, .was = spilled },
	{ "hybrid hash join by three threads", SP_JOIN_HYBRID, SPILLS | BIT(ADD), SPILLED,
	  .threads = 3, .unpaired = { true, true }, .was = spilled },
	{ "hash join ordered by probing by three threads", SP_JOIN_HYBRID, EVERY | BIT(ADD),
	  .lines = 5000, .threads = 3, .ordered = 1, .was = by_probing },
	{ "hybrid hash join with a filter", SP_JOIN_HYBRID, SPILLS | BIT(ADD), SPILLED,
	  .unpaired = { true, true }, .was = filtered },
	{ "hybrid hash join of more than expected", SP_JOIN_HYBRID, SPILLS | BIT(ADD) | BIT(WALK),
	  SPILLED, .input_bytes = 1000, .was = spilled },
	{ "hybrid hash join with headers", SP_JOIN_HYBRID, SPILLS | BIT(ADD), SPILLED,
	  .header = true, .was = spilled },
	{ "GRACE hash join", SP_JOIN_GRACE, SPILLS | BIT(ADD), SPILLED, .was = spilled },
	{ "GRACE hash join of binary records", SP_JOIN_GRACE, SPILLS | BIT(ADD), SPILLED,
	  .fixed = true, .was = spilled },
	{ "GRACE hash join of CSV records", SP_JOIN_GRACE, SPILLS | BIT(ADD), SPILLED, .csv = true,
	  .was = spilled },
	{ "records without partner", SP_JOIN_GRACE, SPILLS | BIT(ADD), SPILLED,
	  .unpaired = { true, true }, .no_pairs = true, .was = spilled },
	{ "semi-join", SP_JOIN_GRACE, SPILLS | BIT(ADD), SPILLED, .no_pairs = true, .semi = true,
	  .was = spilled },
	{ "sort-hash join", SP_JOIN_SHJ, SPILLS | BIT(ADD) | BIT(SWEEP), SPILLED, .was = swept },
	{ "two levels of partitions", SP_JOIN_HYBRID, SPILLS | BIT(ADD) | BIT(WALK),
	  .join_bytes = 256 << 10, .lines = 16000, .line_bytes = LONG_BYTES, .input_bytes = 1000,
	  .was = deep },
	{ "roles reversed", SP_JOIN_GRACE, SPILLS | BIT(ADD), SPILLED, .was = reversed },
	{ "block nested loops", SP_JOIN_NESTED, SPILLS | BIT(ADD), .join_bytes = 256 << 10,
	  .lines = 16000, .was = nested },
	{ "block nested loops, full outer", SP_JOIN_NESTED, SPILLS | BIT(ADD),
	  .join_bytes = 256 << 10, .lines = 16000, .unpaired = { true, true }, .was = nested },
	{ "inputs read as they come", SP_JOIN_HYBRID, SPILLS | BIT(ADD) | BIT(AHEAD),
	  .join_bytes = 512 << 10, .lines = 16000, .pipes = true, .was = spilled },
	{ "ordered by probing", SP_JOIN_HYBRID, EVERY | BIT(ADD), .lines = 1000, .ordered = 1,
	  .unpaired = { true, true }, .was = by_probing },
	{ "ordered by sorting", SP_JOIN_HYBRID, SPILLS | BIT(ADD) | BIT(SORTED), SPILLED,
	  .ordered = 1, .unpaired = { true, true }, .was = by_sorting },
	{ "merge join", SP_JOIN_MERGE, EVERY, .lines = 5000, .sorted = true, .was = merged },
	{ "merge join, full outer", SP_JOIN_MERGE, EVERY, .lines = 5000, .sorted = true,
	  .unpaired = { true, true }, .was = merged },
	{ "files found sorted", SP_JOIN_AUTO, EVERY, .lines = 5000, .sorted = true, .was = merged },
	{ "files found sorted, full outer", SP_JOIN_AUTO, EVERY | BIT(READ),
	  .join_bytes = 256 << 10, .lines = 12000, .sorted = true, .unpaired = { true, true },
	  .was = merged },
};

/* Running. */

static char dir[64];
static char path[2][96], fifo[2][96], output[96];

/* File 1 has every key once, file 2 some of them and others, several times. */
static void write_input(const struct way *w, int side)
{
	size_t bytes = w->line_bytes ? w->line_bytes : LINE_BYTES;
	FILE *f = fopen(path[side], "w");

	for (size_t i = 0; i < w->lines && f; i++) {
		size_t at = w->sorted ? i : i * 7919 % w->lines;
		int n = fprintf(f, "%06zu,%06zu", side ? at / 2 * 3 : at, i);

		fprintf(f, "%*s%s", (int)bytes - n - !w->fixed, "", w->fixed ? "" : "\n");
	}
	if (!f || fclose(f))
		abort();
}

static pid_t feed(int side)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();

	if (pid)
		return pid;
	if (!freopen(path[side], "r", stdin) || !freopen(fifo[side], "w", stdout))
		_exit(1);
	for (int c; (c = getchar()) != EOF && putchar(c) != EOF;)
		;
	_exit(fclose(stdout) ? 1 : 0);
}

static void tell_nothing(void *arg, unsigned file, uint64_t line, const char *data, size_t bytes)
{
	(void)arg, (void)file, (void)line, (void)data, (void)bytes;
}

static int run_into(const struct way *w, int fd, struct sp_join_stats *st, struct sp_errinfo *err)
{
	static const size_t key = 0;
	const struct sp_key field = { .type = SP_KEY_BYTES, .length = 6 };
	const char *tmp = dir;
	struct sp_join_opts o = SP_JOIN_OPTS_INIT;
	struct sp_join_io io = { .output = fd < 0 ? output : NULL,
				 .output_fd = fd,
				 .disorder = tell_nothing };
	pid_t pid[2] = { 0 };
	int rc;

	o.algorithm = w->algorithm;
	o.separator = ",";
	o.separator_bytes = 1;
	o.nkeys = 1;
	o.keys[0] = o.keys[1] = &key;
	o.pairs = !w->no_pairs;
	o.semi = w->semi;
	o.ordered = w->ordered;
	o.header = w->header;
	o.csv = w->csv;
	o.sorted = w->sorted ? SP_JOIN_SORTED_BYTES : SP_JOIN_UNSORTED;
	o.run.memory_bytes = w->threads ? 12 << 20 : w->join_bytes ? 1 << 20 : 4 << 20;
	o.run.parallel = w->threads ? w->threads : 1;
	o.join_bytes = w->join_bytes;
	o.run.engine = "sync";
	o.run.direct = 0;
	o.run.page_bytes = w->join_bytes ? 4096 : 0;
	o.build = w->input_bytes ? 1 : 0;
	o.run.tmpdirs = &tmp;
	o.run.ntmpdirs = 1;
	format = (struct sp_recfmt){ .kind = w->csv ? SP_REC_CSV : SP_REC_LINE,
				     .eol = '\n',
				     .separator = ',' };
	if (w->fixed) {
		o.fields = &field;
		format = (struct sp_recfmt){ .kind = SP_REC_FIXED, .fixed_bytes = LINE_BYTES };
	}
	for (int i = 0; i < 2; i++) {
		o.unpaired[i] = w->unpaired[i];
		o.input_bytes[i] = w->input_bytes;
		o.fixed_bytes[i] = w->fixed ? LINE_BYTES : 0;
		io.inputs[i] = w->pipes ? fifo[i] : path[i];
		pid[i] = w->pipes ? feed(i) : 0;
	}
	memset(calls, 0, sizeof(calls));
	fired = false;
	unlink(output);
	rc = sp_join_run(&o, &io, st, err);
	for (int i = 0; i < 2; i++)
		if (w->pipes && waitpid(pid[i], NULL, 0) < 0)
			abort();
	return rc;
}

/* Returns the number of runs with that fault at that function that ended wrongly. */
static unsigned undetected(const struct way *w, enum wrapped s, enum fault f, uint64_t ncalls)
{
	/* Reads of pipes differ from run to run. */
	const uint64_t at[] = { w->pipes ? 1 : ncalls / 2 + 1, ncalls };
	const unsigned n = f == LOSE && !w->pipes ? 2 : 1;
	struct sp_join_stats st;
	unsigned bad = 0;

	for (unsigned i = 0; i < n; i++) {
		struct sp_errinfo err = SP_ERRINFO_INIT;
		int rc;

		wrapped = s;
		fault = f;
		fault_at = at[i];
		rc = run_into(w, -1, &st, &err);
		fault = NONE;
		if (fired && rc == SP_EBALANCE && access(output, F_OK) &&
		    !strncmp(err.text, sp_strerror(rc), strlen(sp_strerror(rc))))
			continue;
		/* A fault that needs two records of a batch does not always find them. */
		if (!fired && f == EXCHANGE && i)
			continue;
		diag("call %llu of %llu: %s, result %d: %s", (unsigned long long)at[i],
		     (unsigned long long)ncalls, fired ? "a fault" : "no fault", rc, err.text);
		bad++;
	}
	return bad;
}

/* Faults that the join must notice; the sort of the result balances itself. */
static bool judged(const struct way *w, enum wrapped s, enum fault f)
{
	switch (s) {
	case AHEAD:
		return f == LOSE;
	case READ:
		return f != EXCHANGE || !w->sorted;
	case SWEEP:
		return true;
	default:
		return f != EXCHANGE;
	}
}

static void test_way(const struct way *w)
{
	struct sp_join_stats st = { 0 };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	unsigned wraps = 0;
	uint64_t clean[WRAPS];
	int rc;

	for (int i = 0; i < 2; i++)
		write_input(w, i);
	rc = run_into(w, -1, &st, &err);
	memcpy(clean, calls, sizeof(clean));
	for (int s = 0; s < WRAPS; s++)
		wraps |= clean[s] ? BIT(s) : 0;
	ok(rc == 0 && st.output_records && !access(output, F_OK), "%s: the balance holds", w->name);
	if (rc)
		diag("%s", err.text);
	ok(!st.run.spill_write_bytes || st.run.memory_charged_peak_bytes,
	   "%s: descriptions of spilled pages are charged", w->name);
	ok(w->was(&st) && (wraps & w->wraps) == w->wraps, "%s: the join went that way (%x)",
	   w->name, wraps);
	for (int s = 0; s < WRAPS; s++)
		for (int f = LOSE; f < FAULTS && clean[s]; f++)
			if (judged(w, (enum wrapped)s, (enum fault)f))
				ok(!undetected(w, (enum wrapped)s, (enum fault)f, clean[s]),
				   "%s: a record %s, %s: the join ends with an error", w->name,
				   fault_names[f], wrap_names[s]);
}

/* The result has no reader: that is the error, whatever was done with the records. */
static void test_reader_gone(void)
{
	static const struct way w = { .algorithm = SP_JOIN_HYBRID,
				      .lines = 10000,
				      .line_bytes = LONG_BYTES };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_join_stats st;
	int fd[2];

	write_input(&w, 0);
	write_input(&w, 1);
	if (pipe(fd) || close(fd[0]))
		abort();
	wrapped = ADD;
	fault = LOSE;
	fault_at = 1;
	ok(run_into(&w, fd[1], &st, &err) == -EPIPE && fired && err.code == -EPIPE,
	   "a join whose reader has left is not judged");
	close(fd[1]);
	fault = NONE;
}

int main(void)
{
	const char *tmp = getenv("TMPDIR");

	signal(SIGPIPE, SIG_IGN);
	snprintf(dir, sizeof(dir), "%.40s/balance.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		abort();
	snprintf(output, sizeof(output), "%s/out", dir);
	for (int i = 0; i < 2; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/%d", dir, i);
		snprintf(fifo[i], sizeof(fifo[i]), "%s/fifo%d", dir, i);
		if (mkfifo(fifo[i], 0600))
			abort();
	}
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		test_way(&ways[i]);
	test_reader_gone();
	free(copy);
	for (int i = 0; i < 2; i++) {
		unlink(path[i]);
		unlink(fifo[i]);
	}
	unlink(output);
	rmdir(dir);
	return done();
}
