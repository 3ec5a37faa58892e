/* SPDX-License-Identifier: MIT */
/*
 * Peak resident memory: at most -S and 16 MB, whatever the input looks like,
 * from a file and from a pipe, under every policy; with one huge record three times
 * its length more, whatever the keys, and also with many of them, whatever the threads.
 *
 *	MB=n	size of the inputs (default 20)
 *	SP_TEST_FULL=1	each shape of input under every policy, and every huge record
 */
#define TAP_SLOW
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/rng.h"
#include "tap.h"

#define ALLOWANCE (16L << 20)

static char dir[256], xsort[4096], locale_dir[4096];

struct shape {
	const char *name;
	size_t min, max; /* bytes of a line */
	const char *alphabet;
	const char *locale;
	const char *args[4];
};

static const struct shape shapes[] = {
	{ "lines of 100 bytes", 99, 99, "abcdefghijklmnopqrstuvwxyz0123456789", "C", { NULL } },
	{ "lines of 6 bytes", 5, 5, "abcdefghijklmnopqrstuvwxyz0123456789", "C", { NULL } },
	{ "numbers", 3, 12, "0123456789", "C", { "-n", NULL } },
	{ "lines of 3 KB", 2000, 4000, "abcdefgh", "C", { NULL } },
	{ "numbers, small, stable", 3, 6, "0123456789", "C", { "-ns", NULL } },
	{ "en_US words", 3, 14, "abcdeABCDE -'z", "en_US.UTF-8", { NULL } },
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

struct variant {
	const char *memory;
	long bytes;
	bool from_pipe;
	const char *args[4];
};

static const struct variant variants[] = {
	{ "-S8M", 8L << 20, false, { NULL } },
	{ "-S8M", 8L << 20, true, { "--merge-policy=eager", "--run-formation=replacement", NULL } },
	{ "-S16M", 16L << 20, true, { "--readahead=cluster", "--spill-compression=zstd", NULL } },
	{ "-S16M", 16L << 20, false, { "--readahead=extended", "--page-size=4096", NULL } },
	{ "-S64M", 64L << 20, false, { "--parallel=2", NULL } },
	{ "-S64M", 64L << 20, true, { NULL } },
};
#define VARIANTS (sizeof(variants) / sizeof(variants[0]))

static bool full(void)
{
	const char *value = getenv("SP_TEST_FULL");

	return value && *value;
}

/* Each shape meets every third policy; larger records do not exceed 64 MB. */
static bool meets(size_t shape, size_t variant)
{
	return full() || ((shape + variant) % 3 == 0 &&
			  (variants[variant].bytes < 64L << 20 || shapes[shape].max < 99));
}

#define GIANT_BYTES (8u << 20)
#define GIANT_ALLOWANCE (9L << 20)

/* LEAST: a record in the middle is the first of the result, so few others are compared with it. */
enum place { START = 1, MIDDLE = 2, END = 4, ALONE = 8, MANY = 16, LEAST = 32 };

#define MANY_RECORDS 5
#define MANY_BYTES (12u << 20) /* of each of them */

/* A record of GIANT_BYTES among small ones, or several of them. */
struct giant {
	const char *name, *alphabet, *locale;
	enum place place;
	bool from_pipe;
	const char *keys[4], *tuning;
};

#define LETTERS "abcdeABCDE 0123456789.,-_"

static const struct giant giants[] = {
	{ "many", LETTERS, "C", MANY, false, { NULL }, "--parallel=2" },
	{ "many", LETTERS, "C", MANY, true, { "-u" }, "--parallel=8" },
	{ "many", LETTERS, "C", MANY, false, { "-u" }, "--count" },
	{ "whole lines", LETTERS, "C", MIDDLE, false, { NULL }, NULL },
	{ "whole lines", LETTERS, "C", START, true, { NULL }, "--parallel=8" },
	{ "whole lines", LETTERS, "C", END, true, { NULL }, "--parallel=1" },
	{ "whole lines", LETTERS, "C", ALONE, false, { "-r" }, NULL },
	{ "whole lines", LETTERS, "C", START | MIDDLE | END, true, { NULL }, NULL },
	{ "upper case", LETTERS, "C", MIDDLE, false, { "-f" }, NULL },
	{ "upper case", LETTERS, "C", START, true, { "-f" }, "--parallel=8" },
	{ "upper case", LETTERS, "C", END, true, { "-f" }, "--parallel=1" },
	{ "upper case", LETTERS, "C", ALONE, false, { "-fr" }, NULL },
	{ "upper case", LETTERS, "C", START | MIDDLE | END, false, { "-fs" }, NULL },
	{ "upper case", LETTERS, "C", MIDDLE, false, { "-fu" }, NULL },
	{ "upper case", LETTERS, "C", MIDDLE, true, { "-fu" }, "--count" },
	{ "upper case", LETTERS, "C", MIDDLE, true, { "-f" }, "--limit=100000" },
	{ "upper case", LETTERS, "C", MIDDLE, false, { "-f" }, "--run-formation=load" },
	{ "upper case", LETTERS, "C", MIDDLE, true, { "-f" }, "--run-formation=replacement" },
	{ "upper case", LETTERS, "C", MIDDLE, false, { "-f" }, "--merge-policy=eager" },
	{ "upper case", LETTERS, "C", MIDDLE, true, { "-f" }, "--spill-compression=zstd" },
	{ "dictionary", LETTERS, "C", MIDDLE, true, { "-d" }, NULL },
	{ "printable", LETTERS, "C", MIDDLE, true, { "-i" }, NULL },
	{ "bytes that are escaped", "\1a", "C", MIDDLE, true, { "-k1,1f", "-k1,1" }, NULL },
	{ "fields", LETTERS, "C", MIDDLE, true, { "-k2,2fr", "-k1b" }, NULL },
	{ "versions", LETTERS, "C", MIDDLE, false, { "-V" }, NULL },
	{ "versions, the longest keys", "a1b2c3d4", "C", MIDDLE, true, { "-Vr" }, NULL },
	{ "versions of digits", "0123456789", "C", MIDDLE, true, { "-V" }, NULL },
	{ "versions in upper case", LETTERS, "C", MIDDLE, true, { "-fV" }, NULL },
	{ "numbers", "0123456789", "C", MIDDLE, false, { "-n" }, NULL },
	{ "numbers", "0123456789", "C", MIDDLE, true, { "-nr", "-k1,1n", "-k1,1n" }, NULL },
	{ "general numbers", "0123456789", "C", MIDDLE, false, { "-g" }, NULL },
	{ "human numbers", "0123456789", "C", MIDDLE, true, { "-h" }, NULL },
	{ "months", LETTERS, "C", MIDDLE, true, { "-M" }, NULL },
	{ "random order", LETTERS, "C", MIDDLE, true, { "-R" }, NULL },
	{ "CSV fields", LETTERS, "C", MIDDLE, true, { "--csv", "-k1,1f" }, NULL },
	{ "en_US", LETTERS, "en_US.UTF-8", MIDDLE, false, { NULL }, NULL },
	{ "en_US", LETTERS, "en_US.UTF-8", START, true, { NULL }, "--parallel=8" },
	{ "en_US", LETTERS, "en_US.UTF-8", START | MIDDLE | END, false, { "-s" }, NULL },
	/* Each comparison rewrites the record. */
	{ "en_US, upper case", LETTERS, "en_US.UTF-8", MIDDLE | LEAST, true, { "-f" }, NULL },
	{ "en_US, upper case", LETTERS, "en_US.UTF-8", MIDDLE, true, { "-f" }, NULL },
	{ "en_US, numbers", "0123456789", "en_US.UTF-8", MIDDLE, true, { "-n" }, NULL },
	{ "binary",
	  LETTERS,
	  "C",
	  ALONE,
	  true,
	  { "--record-size=8388608", "--bkey=8:8000000" },
	  NULL },
};
#define GIANTS (sizeof(giants) / sizeof(giants[0]))

static void make_input(const struct shape *s, size_t total)
{
	static char line[8192];
	size_t letters = strlen(s->alphabet);
	struct sp__rng rng = { 7 };
	FILE *f = fopen("in", "w");

	if (!f)
		abort();
	for (size_t at = 0; at < total;) {
		size_t len = s->min + sp__rng_below(&rng, s->max - s->min + 1);

		for (size_t i = 0; i < len; i++)
			line[i] = s->alphabet[sp__rng_below(&rng, letters)];
		line[len++] = '\n';
		if (fwrite(line, 1, len, f) != len)
			abort();
		at += len;
	}
	if (fclose(f))
		abort();
}

static pid_t start(const char *program, const char **argv, int in, const char *out,
		   const char *locale)
{
	posix_spawn_file_actions_t act;
	char lc[64], locpath[sizeof(locale_dir) + 16], path[] = "PATH=/usr/bin:/bin";
	char *env[] = { lc, locpath, path, NULL };
	pid_t pid;

	snprintf(lc, sizeof(lc), "LC_ALL=%s", locale);
	snprintf(locpath, sizeof(locpath), "LOCPATH=%s", locale_dir);
	posix_spawn_file_actions_init(&act);
	posix_spawn_file_actions_adddup2(&act, in, 0);
	posix_spawn_file_actions_addopen(&act, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (posix_spawnp(&pid, program, &act, NULL, (char *const *)(uintptr_t)argv, env))
		abort();
	posix_spawn_file_actions_destroy(&act);
	return pid;
}

/* The input through a pipe: a child that copies. */
static pid_t feed(int *in)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		abort();
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], 1);
		execlp("cat", "cat", "in", (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	*in = fds[0];
	return pid;
}

static long peak(const struct shape *s, const struct variant *v, int *status)
{
	const char *argv[16] = { "xsort", v->memory, "-T." };
	int in = -1, n = 3;
	struct rusage ru;
	pid_t pid, cat = 0;

	for (int i = 0; s->args[i]; i++)
		argv[n++] = s->args[i];
	for (int i = 0; v->args[i]; i++)
		argv[n++] = v->args[i];
	if (v->from_pipe)
		cat = feed(&in);
	else
		in = open("in", O_RDONLY | O_CLOEXEC);
	if (!v->from_pipe)
		argv[n++] = "in";
	pid = start(xsort, argv, in, "out", s->locale);
	close(in);
	if (wait4(pid, status, 0, &ru) != pid)
		abort();
	if (cat)
		waitpid(cat, NULL, 0);
	return ru.ru_maxrss * 1024;
}

static void one_shape(size_t number, size_t bytes)
{
	const struct shape *s = &shapes[number];
	int status, check;

	make_input(s, bytes);
	for (size_t i = 0; i < VARIANTS; i++) {
		const struct variant *v = &variants[i];
		const char *argv[8] = { "xsort", "-C", s->args[0] ? s->args[0] : "out", "out",
					NULL };
		long got;

		if (!meets(number, i))
			continue;
		got = peak(s, v, &status);
		if (!s->args[0])
			argv[3] = NULL;
		if (waitpid(start(xsort, argv, 0, "/dev/null", s->locale), &check, 0) < 0)
			abort();
		ok(status == 0 && check == 0 && got <= v->bytes + ALLOWANCE,
		   "%s, %s, %s %s: %.1f MB", s->name, v->memory, v->from_pipe ? "pipe" : "file",
		   v->args[0] ? v->args[0] : "", (double)got / (1 << 20));
	}
}

static void put_giant(FILE *f, const char *alphabet, char first, size_t bytes)
{
	static char part[65521]; /* a prime, so that the alphabet continues */
	size_t letters = strlen(alphabet);

	fputc(first, f);
	for (size_t at = 1; at < bytes - 1;) {
		size_t n = bytes - 1 - at < sizeof(part) ? bytes - 1 - at : sizeof(part);

		for (size_t i = 0; i < n; i++)
			part[i] = alphabet[(at + i) % letters];
		if (fwrite(part, 1, n, f) != n)
			abort();
		at += n;
	}
	fputc('\n', f);
}

static void put_small(FILE *f, struct sp__rng *rng, unsigned n)
{
	while (n--)
		fprintf(f, "%u word%u v1.%u\n", (unsigned)sp__rng_below(rng, 1000000000),
			(unsigned)sp__rng_below(rng, 5000), (unsigned)sp__rng_below(rng, 30));
}

/* Keeps the input of the case before if it is the same. */
static void make_giants(const struct giant *g)
{
	static const struct giant *before;
	const unsigned place = g->place & ~LEAST;
	struct sp__rng rng = { 11 };
	FILE *f;

	if (before && before->place == g->place && !strcmp(before->alphabet, g->alphabet))
		return;
	before = g;
	f = fopen("in", "w");
	if (!f)
		abort();
	if (place & START)
		put_giant(f, g->alphabet, '2', GIANT_BYTES);
	if (place < ALONE)
		put_small(f, &rng, 10000);
	for (int i = 0; i < MANY_RECORDS && place & MANY; i++)
		put_giant(f, g->alphabet, "35142"[i], MANY_BYTES);
	if (place & (MIDDLE | ALONE))
		put_giant(f, g->alphabet, g->place & LEAST ? '0' : '1', GIANT_BYTES);
	if (place < ALONE)
		put_small(f, &rng, 10000);
	if (place & END)
		put_giant(f, g->alphabet, '3', GIANT_BYTES);
	if (fclose(f))
		abort();
}

static void one_giant(const struct giant *g)
{
	struct shape s = { .locale = g->locale };
	struct variant v = { "-S1M", 1 << 20, g->from_pipe, { g->tuning } };
	const char *argv[8] = { "xsort", "-C" };
	int status, check, n = 0;
	const bool many = g->place & MANY, counts = g->tuning && !strcmp(g->tuning, "--count");
	const unsigned place = g->place & ~LEAST;
	const bool one = place == START || place == MIDDLE || place == END;
	long got, records = many ? (counts ? 5L : 3L) * MANY_BYTES : (one ? 3L : 4L) * GIANT_BYTES;
	const long limit = v.bytes + (many ? ALLOWANCE : GIANT_ALLOWANCE) + records;

	make_giants(g);
	for (; g->keys[n]; n++)
		s.args[n] = argv[2 + n] = g->keys[n];
	argv[2 + n] = "out";
	got = peak(&s, &v, &status);
	if (waitpid(start(xsort, argv, 0, "/dev/null", s.locale), &check, 0) < 0)
		abort();
	/* Two threads can each read such a record of several, while one is sorted with its key. */
	/* Neither numbers in front of lines nor another salt leave an order to be checked. */
	if (counts)
		check = 0;
	if (g->keys[0] && !strcmp(g->keys[0], "-R"))
		check = 0;
	ok(status == 0 && check == 0 && got <= limit, "a huge record, %s, %s %s %s: %.1f MB",
	   g->name, g->from_pipe ? "pipe" : "file", g->keys[0] ? g->keys[0] : "",
	   g->tuning ? g->tuning : "", (double)got / (1 << 20));
}

/* The first of each kind of keys, and every fifth one. */
static bool chosen(size_t i)
{
	return full() || i % 5 == 0 || strcmp(giants[i].name, giants[i - 1].name) != 0;
}

int main(void)
{
	const char *given = getenv("XSORT"), *tmp = getenv("TMPDIR"), *mb = getenv("MB");
	size_t bytes = (mb ? strtoul(mb, NULL, 10) : 20) << 20;
	char cmd[300];

	if (!realpath(given && *given ? given : "build/bin/xsort", xsort)) {
		printf("1..0 # SKIP xsort is not built\n");
		return 0;
	}
	if (!realpath("build/locale", locale_dir))
		locale_dir[0] = '\0';
	snprintf(dir, sizeof(dir), "%s/sp-peak.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir) || chdir(dir))
		abort();
	for (size_t i = 0; i < SHAPES; i++)
		one_shape(i, bytes);
	for (size_t i = 0; i < GIANTS; i++)
		if (chosen(i) && (!strcmp(giants[i].locale, "C") || locale_dir[0]))
			one_giant(&giants[i]);
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	return system(cmd) ? 2 : done();
}
