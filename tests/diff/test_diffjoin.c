/* SPDX-License-Identifier: MIT */
/*
 * Joins against nested loops: the same options on the same random inputs must give
 * the same lines, in whatever order, or, if it is asked for, in that of an input.
 * Some inputs are sorted, or nearly, and it is left to the join what to make of it.
 * Every two of the settings below occur together within each 200 joins.
 *
 *	SP_DIFF_CASES=n	number of joins (default 200)
 *	SEED=n		another series (default 1)
 *	CASE=n		this join of the series alone; its files are kept
 *
 * Each join has a process of its own, with SP_TASK_DELAY set to another seed in
 * each: a build with delays (make DELAY=1) then runs its tasks in another order.
 */
#define TAP_THREADS

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <spindle/index.h>
#include "joincase.h"
#include "tap.h"

#define PATIENCE_S 150

static uint64_t series;
static char dir[64], tmp_dir[80];

/* Running. */

static const char *path_of(const char *name)
{
	static char path[4][128];
	static int next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	return p;
}

static void store(const char *path, const struct text *t)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(t->data, 1, t->bytes, f) != t->bytes || fclose(f))
		abort();
}

static void load(const char *path, struct text *t)
{
	char buf[65536];
	FILE *f = fopen(path, "r");
	size_t n;

	if (!f)
		abort();
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		put(t, buf, n);
	fclose(f);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lines of a text, ended by newlines, sorted unless their order counts; the text is cut up. */
static size_t cut_lines(struct text *t, char ***lines, bool ordered)
{
	size_t n = 0;

	for (size_t i = 0; i < t->bytes; i++)
		n += t->data[i] == '\n';
	*lines = malloc((n + 1) * sizeof(**lines));
	n = 0;
	for (size_t i = 0, begin = 0; i < t->bytes; i++) {
		if (t->data[i] != '\n')
			continue;
		t->data[i] = '\0';
		(*lines)[n++] = t->data + begin;
		begin = i + 1;
	}
	if (!ordered)
		qsort(*lines, n, sizeof(**lines), by_text);
	return n;
}

static bool same(struct text *got, struct text *want, bool ordered)
{
	char **g, **w;
	size_t n = cut_lines(got, &g, ordered), m = cut_lines(want, &w, ordered), i;

	for (i = 0; i < n && i < m && !strcmp(g[i], w[i]); i++)
		;
	if (n != m || i != n)
		diag("%zu lines, should be %zu; the first that differs: '%.60s', not '%.60s'", n, m,
		     i < n ? g[i] : "", i < m ? w[i] : "");
	free(g);
	free(w);
	return n == m && i == n;
}

/* The result of a join's process. */
struct outcome {
	struct sp_join_stats stats;
	int rc;
	bool finished;
	char reason[400];
};

/* Writes one input to a pipe in odd amounts. */
static void feed(int fd, const struct text *t)
{
	for (size_t at = 0; at < t->bytes;) {
		size_t n = 1 + below(UINT64_C(1) << (4 + below(14)));
		ssize_t got = write(fd, t->data + at, n < t->bytes - at ? n : t->bytes - at);

		if (got < 0)
			break;
		at += (size_t)got;
	}
	close(fd);
}

/* In a process of its own. */
static void join_alone(struct trial *c, const struct sp_join_io *io, int in, uint64_t seed,
		       struct outcome *o)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	const char *tmp = tmp_dir;
	char delay[32];

	sprintf(delay, "%llu", (unsigned long long)seed);
	setenv("SP_TASK_DELAY", delay, 1);
	if (in >= 0 && dup2(in, 0) < 0)
		_exit(1);
	c->opts.run.tmpdirs = &tmp;
	c->opts.run.ntmpdirs = 1;
	o->rc = sp_join_run(&c->opts, io, &o->stats, &err);
	if (o->rc)
		snprintf(o->reason, sizeof(o->reason), "%s: %s", err.op,
			 err.text[0] ? err.text : sp_strerror(o->rc));
	o->finished = true;
	_exit(0);
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* piped: the input that comes by a pipe; -1: none. */
static bool run(struct trial *c, const struct sp_join_io *io, int piped, uint64_t seed,
		struct outcome *o)
{
	int ends[2] = { -1, -1 }, status;
	pid_t pid;

	memset(o, 0, sizeof(*o));
	fflush(stdout);
	if (piped >= 0 && pipe2(ends, O_CLOEXEC))
		abort();
	pid = fork();
	if (pid < 0)
		abort();
	if (!pid) {
		close(ends[1]);
		join_alone(c, io, ends[0], seed, o);
	}
	alarm(PATIENCE_S);
	if (ends[0] >= 0) {
		close(ends[0]);
		feed(ends[1], &c->input[piped]);
	}
	if (waitpid(pid, &status, 0) < 0) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	alarm(0);
	if (!o->finished)
		diag("the join ended with status %x", (unsigned)status);
	else if (o->rc)
		diag("%s", o->reason);
	return o->finished && !o->rc;
}

static void print_case(uint64_t number)
{
	printf("# case %llu:", (unsigned long long)number);
	for (unsigned f = 0; factors[f].name; f++)
		printf(" %s=%s", factors[f].name, pairs_value(&pairs, &pick, f));
	printf("\n# reproduce: SEED=%llu CASE=%llu %s\n", (unsigned long long)series,
	       (unsigned long long)number, program_invocation_name);
}

/* The number of the first key field of file 2. */
static void build_index(struct trial *c, const char *input, const char *index)
{
	struct sp_index_build_opts o = SP_INDEX_BUILD_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	const char *tmp = tmp_dir;
	char key[64];

	snprintf(key, sizeof(key), "%zu,%zu%s", c->keys[1][0] + 1, c->keys[1][0] + 1,
		 c->opts.ignore_case ? "f" : "");
	o.run.tmpdirs = &tmp;
	o.run.ntmpdirs = 1;
	o.format = (struct sp_recfmt){ .kind = SP_REC_LINE, .eol = '\n' };
	o.separator = '|';
	o.key = key;
	if (sp_index_build(&o, input, index, NULL, &err) < 0) {
		diag("%s: %s", err.op, err.text);
		abort();
	}
	c->opts.index[1] = index;
}

static bool run_one(uint64_t number, struct outcome *o)
{
	struct trial c = { .opts = SP_JOIN_OPTS_INIT };
	struct text got = { 0 }, want = { 0 };
	struct sp_join_io io = { .inputs = { path_of("1"), path_of("2") },
				 .output = path_of("out"),
				 .output_fd = -1 };
	int piped = -1;
	bool good;

	pairs_case(&pairs, number, &pick);
	state = series * 1000003 + number;
	state *= UINT64_C(0x9E3779B97F4A7C15);
	choose_options(&c);
	for (int side = 0; side < 2; side++) {
		random_input(&c, side);
		if (c.opts.sorted)
			sort_input(&c, side);
		store(io.inputs[side], &c.input[side]);
	}
	if (is(ALGORITHM, "inl") || is(ALGORITHM, "async-inl"))
		build_index(&c, io.inputs[1], path_of("index"));
	if (is(SOURCE, "pipe"))
		io.inputs[piped = c.opts.index[1] ? 0 : (int)below(2)] = "-";
	good = run(&c, &io, piped, state, o);
	pairs_met(&pairs, &pick);
	if (good) {
		load(io.output, &got);
		naive(&c, &want);
		good = same(&got, &want, c.opts.ordered);
	}
	if (rmdir(tmp_dir) || mkdir(tmp_dir, 0777)) {
		diag("a temporary file was left");
		good = false;
	}
	if (!good)
		print_case(number);
	free(got.data);
	free(want.data);
	free(c.input[0].data);
	free(c.input[1].data);
	return good;
}

static uint64_t env(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

/* Outcomes of the joins. */
struct tally {
	uint64_t bad, spilled, by[SP_JOIN_BY_MERGING + 1], merged, given_up;
};

static void note(struct tally *t, const struct sp_join_stats *st)
{
	bool began = st->merged_records[0] + st->merged_records[1] > 0;

	t->spilled += st->run.spill_write_bytes > 0;
	t->by[st->ordered_by]++;
	t->merged += st->algorithm == SP_JOIN_MERGE;
	t->given_up += st->algorithm == SP_JOIN_HYBRID && began;
}

static void all_cases(uint64_t count, struct outcome *o)
{
	struct tally t = { 0 };

	for (uint64_t i = 1; i <= count; i++) {
		t.bad += !run_one(i, o);
		note(&t, &o->stats);
	}
	ok(t.bad == 0, "%llu random joins give what nested loops give", (unsigned long long)count);
	ok(t.spilled > count / 20, "many of them used temporary space (%llu)",
	   (unsigned long long)t.spilled);
	ok(t.by[SP_JOIN_BY_PROBING] >= count / 200 && t.by[SP_JOIN_BY_SORTING] > count / 20,
	   "ordered results came by probing (%llu) and by sorting (%llu)",
	   (unsigned long long)t.by[SP_JOIN_BY_PROBING],
	   (unsigned long long)t.by[SP_JOIN_BY_SORTING]);
	ok(t.merged >= count / 200 && t.given_up >= count / 200,
	   "sorted files were merged to the end (%llu), or to some disorder (%llu)",
	   (unsigned long long)t.merged, (unsigned long long)t.given_up);
	if (count < PAIRS_BLOCK)
		skip("every two settings met", "fewer joins than one block has");
	else
		ok(pairs_missing(&pairs) == 0, "every two settings met");
}

int main(void)
{
	uint64_t only = env("CASE", 0);
	const char *tmp = getenv("TMPDIR");
	struct sigaction act = { .sa_handler = on_alarm };
	struct outcome *o =
		mmap(NULL, sizeof(*o), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (o == MAP_FAILED)
		abort();
	series = env("SEED", 1);
	snprintf(dir, sizeof(dir), "%.40s/diffjoin.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		abort();
	snprintf(tmp_dir, sizeof(tmp_dir), "%s/tmp", dir);
	if (mkdir(tmp_dir, 0777))
		abort();
	sigaction(SIGALRM, &act, NULL);
	signal(SIGPIPE, SIG_IGN);
	pairs_open(&pairs, factors, excluded, series);
	if (only) {
		ok(run_one(only, o), "join %llu of series %llu gives what nested loops give",
		   (unsigned long long)only, (unsigned long long)series);
		diag("its files are in %s", dir);
		return done();
	}
	all_cases(env("SP_DIFF_CASES", PAIRS_BLOCK), o);
	unlink(path_of("1"));
	unlink(path_of("2"));
	unlink(path_of("out"));
	unlink(path_of("index"));
	rmdir(tmp_dir);
	rmdir(dir);
	return done();
}
