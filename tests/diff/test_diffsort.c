/* SPDX-License-Identifier: MIT */
/*
 * xsort against GNU sort: the same random command line on the same random
 * input must give the same standard output, files, diagnostics and exit status.
 * Options that only xsort has are given to xsort alone: none of them may change
 * the result.
 *
 *	SEED=n	    another series (default 1)
 *	COUNT=n	    number of combinations (default 400; 2000 with SP_TEST_FULL)
 *	SECONDS_MAX=n	begin no new group after n seconds (default 60)
 *	CASE=n	    this one of the series alone
 *	XSORT=path  the program to be tested
 *
 * The input of a combination that failed is kept, and the command is printed
 * so that it can be pasted into a shell.
 */
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include "combo.h"
#include "tap.h"

#define GROUP 100

struct result {
	int status;
	struct text out, err, file;
};

/* Running. */

static char *environment(const char *locale, const char *dir, char **env)
{
	static char lc[64], tmp[512], path[] = "PATH=/usr/bin:/bin", lang[] = "LANGUAGE=en";
	static char locpath[sizeof(locale_dir) + 16], san[] = "ASAN_OPTIONS=exitcode=99";

	snprintf(lc, sizeof(lc), "LC_ALL=%s", locale);
	snprintf(tmp, sizeof(tmp), "TMPDIR=%s/tmp", dir);
	snprintf(locpath, sizeof(locpath), "LOCPATH=%s", locale_dir);
	env[0] = lc;
	env[1] = tmp;
	env[2] = path;
	env[3] = lang;
	env[4] = locpath;
	env[5] = san;
	env[6] = NULL;
	return lc;
}

static void gather(const struct combo *c, bool ours, const char **argv)
{
	const struct args *parts[] = { &c->order, &c->both, ours ? &c->xsort : NULL, &c->files };
	unsigned n = 0;

	argv[n++] = "sort";
	for (size_t p = 0; p < 4; p++)
		for (unsigned i = 0; parts[p] && i < parts[p]->n; i++)
			argv[n++] = parts[p]->v[i];
	argv[n] = NULL;
}

static pid_t spawn(const char *program, const char *const *argv, const char *locale,
		   const char *dir, bool use_stdin)
{
	posix_spawn_file_actions_t act;
	char *env[8];
	pid_t pid;
	int rc;

	environment(locale, dir, env);
	posix_spawn_file_actions_init(&act);
	posix_spawn_file_actions_addchdir_np(&act, dir);
	posix_spawn_file_actions_addopen(&act, 0, use_stdin ? "in0" : "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&act, 1, "stdout", O_WRONLY | O_CREAT | O_TRUNC, 0666);
	posix_spawn_file_actions_addopen(&act, 2, "stderr", O_WRONLY | O_CREAT | O_TRUNC, 0666);
	rc = posix_spawn(&pid, program, &act, NULL, (char *const *)(uintptr_t)argv, env);
	posix_spawn_file_actions_destroy(&act);
	if (rc) {
		printf("Bail out! cannot run %s: %s\n", program, strerror(rc));
		exit(2);
	}
	return pid;
}

/* A message that releases after 9.1 begin with other words. */
static void use_new_words(struct text *err)
{
	static const char old[] = "sort: note numbers use ";
	const size_t kept = strlen("sort: "), gone = strlen("note ");
	char *at = err->bytes ? memmem(err->data, err->bytes, old, strlen(old)) : NULL;

	if (!at)
		return;
	at += kept;
	err->bytes -= gone;
	memmove(at, at + gone, (size_t)(err->data + err->bytes - at));
}

static void wait_for(pid_t pid, const char *dir, const char *output, struct result *r)
{
	r->status = status_of(pid);
	read_file(dir, "stdout", &r->out);
	read_file(dir, "stderr", &r->err);
	use_new_words(&r->err);
	r->file.bytes = 0;
	if (output)
		read_file(dir, output, &r->file);
}

/* -m and half of -c get sorted input: by GNU sort, in place. */
static void presort(const struct combo *c, const char *dir)
{
	const char *argv[ARGS_MAX + 8];
	struct result r = { 0 };
	unsigned n = 0;
	char name[16];

	argv[n++] = "sort";
	for (unsigned i = 0; i < c->order.n; i++)
		argv[n++] = c->order.v[i];
	argv[n++] = "-o";
	argv[n++] = name;
	argv[n++] = name;
	argv[n] = NULL;
	for (unsigned i = 0; i < c->nfiles; i++) {
		snprintf(name, sizeof(name), "in%u", i);
		wait_for(spawn(gnu_path, argv, c->locale, dir, false), dir, NULL, &r);
	}
	free(r.out.data);
	free(r.err.data);
}

static bool has_letter(const struct combo *c, const char *letters)
{
	for (unsigned i = 0; i < c->order.n; i++)
		if (strncmp(c->order.v[i], "--", 2) && strpbrk(c->order.v[i], letters))
			return true;
	return false;
}

static void set_up(struct combo *c, const char *dirs[2])
{
	static const struct text salt = { (char *)(uintptr_t) "0123456789abcdef0123", 20, 0 };
	struct text t = { 0 };
	bool sorted = c->merge || (c->check && one_in(c, 2));
	char name[16];

	for (int d = 0; d < 2; d++)
		make_dirs(dirs[d]);
	for (unsigned i = 0; i < c->nfiles; i++) {
		snprintf(name, sizeof(name), "in%u", i);
		input_make(&t, &c->shape, &c->rng);
		avoid(&t, has_letter(c, "nh"), has_letter(c, "g"), has_letter(c, "V"));
		write_file(dirs[0], name, &t);
		if (!sorted)
			write_file(dirs[1], name, &t);
	}
	for (int d = 0; d < 2; d++)
		write_file(dirs[d], "salt", &salt);
	if (!sorted) {
		free(t.data);
		return;
	}
	presort(c, dirs[0]);
	for (unsigned i = 0; i < c->nfiles; i++) {
		snprintf(name, sizeof(name), "in%u", i);
		read_file(dirs[0], name, &t);
		write_file(dirs[1], name, &t);
	}
	free(t.data);
}

static bool says(const struct result *r, const char *words)
{
	return r->err.bytes && memmem(r->err.data, r->err.bytes, words, strlen(words));
}

static const char *difference(const struct result r[2], const char *dir)
{
	if (r[0].status != r[1].status)
		return "exit status";
	if (!same_text(&r[0].err, &r[1].err))
		return "standard error";
	if (!same_text(&r[0].out, &r[1].out))
		return "standard output";
	if (!same_text(&r[0].file, &r[1].file))
		return "the output file";
	if (!empty_dir(dir, "tmp") || !empty_dir(dir, "tmp2"))
		return "a temporary file left behind";
	return NULL;
}

/* Saying. */

static void print_command(const struct combo *c, uint64_t number, const char *dir, const char *what)
{
	const char *argv[4 * ARGS_MAX + 2];

	gather(c, true, argv);
	printf("# combination %llu: %s differs; cd %s && LOCPATH=%s LC_ALL=%s %s",
	       (unsigned long long)number, what, dir, locale_dir, c->locale, xsort_path);
	for (unsigned i = 1; argv[i]; i++)
		print_word(argv[i]);
	printf("%s\n", c->use_stdin ? " < in0" : "");
}

static void print_result(const char *name, const struct result *r)
{
	printf("# %s: status %x, %zu bytes, error: ", name, (unsigned)r->status, r->out.bytes);
	for (size_t i = 0; i < r->err.bytes && i < 300; i++)
		putchar(r->err.data[i] == '\n' ? '~' : r->err.data[i]);
	putchar('\n');
}

static unsigned refused;

/* True: the programs agree. */
static bool compare(uint64_t seed, uint64_t number)
{
	static struct combo c;
	static struct result r[2];
	char dir_a[300], dir_b[300];
	const char *dirs[2] = { dir_a, dir_b }, *argv[2][4 * ARGS_MAX + 2], *what;
	pid_t pid[2];

	snprintf(dir_a, sizeof(dir_a), "%s/%llu-gnu", top_dir, (unsigned long long)number);
	snprintf(dir_b, sizeof(dir_b), "%s/%llu-xsort", top_dir, (unsigned long long)number);
	choose(&c, seed, number);
	set_up(&c, dirs);
	for (int i = 0; i < 2; i++) {
		gather(&c, i, argv[i]);
		pid[i] = spawn(i ? xsort_path : gnu_path, argv[i], c.locale, dirs[i], c.use_stdin);
	}
	for (int i = 0; i < 2; i++)
		wait_for(pid[i], dirs[i], c.output, &r[i]);
	what = difference(r, dir_b);
	/* Hand-set sizes may contradict each other, and polyphase merging cannot be stable. */
	if (what && (says(&r[1], " of memory\n") || says(&r[1], "polyphase merging does not"))) {
		refused++;
		c.xsort.n = 0;
		gather(&c, true, argv[1]);
		wait_for(spawn(xsort_path, argv[1], c.locale, dir_b, c.use_stdin), dir_b, c.output,
			 &r[1]);
		what = difference(r, dir_b);
	}
	if (what) {
		print_command(&c, number, dir_b, what);
		print_result("sort", &r[0]);
		print_result("xsort", &r[1]);
	} else {
		remove_tree(dir_a);
		remove_tree(dir_b);
	}
	return !what;
}

int main(void)
{
	const bool full = number_from("SP_TEST_FULL", 0);
	uint64_t seed = number_from("SEED", 1), count = number_from("COUNT", full ? 2000 : 400);
	uint64_t only = number_from("CASE", 0), max_s = number_from("SECONDS_MAX", 60), bad = 0, i;
	time_t begin = time(NULL);

	if (!peer_is_gnu()) {
		printf("1..0 # SKIP /usr/bin/sort is not GNU sort\n");
		return 0;
	}
	if (!find_programs("sp-diff")) {
		printf("1..0 # SKIP xsort is not built\n");
		return 0;
	}
	if (only) {
		ok(compare(seed, only), "combination %llu of seed %llu", (unsigned long long)only,
		   (unsigned long long)seed);
	} else {
		for (i = 1; i <= count && time(NULL) - begin <= (time_t)max_s; i += GROUP) {
			uint64_t group_bad = 0;

			for (uint64_t k = i; k < i + GROUP && k <= count; k++)
				group_bad += !compare(seed, k);
			ok(group_bad == 0, "combinations %llu to %llu of seed %llu agree",
			   (unsigned long long)i, (unsigned long long)(i + GROUP - 1),
			   (unsigned long long)seed);
			bad += group_bad;
		}
		diag("%u combinations had options that contradict each other", refused);
	}
	if (rmdir(top_dir))
		diag("inputs of %llu failures are kept in %s", (unsigned long long)bad, top_dir);
	return done();
}
