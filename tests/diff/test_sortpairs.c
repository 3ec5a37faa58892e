/* SPDX-License-Identifier: MIT */
/*
 * Sorts in temporary space against GNU sort.  The settings of a case (where
 * the input comes from, threads, long records, keys, and all tuning options)
 * are drawn so that every two values occur together within each 200 cases; none of
 * the tuning may change a byte of the result.
 *
 *	SP_DIFF_CASES=n	number of cases (default 40)
 *	SEED=n		another series (default 1)
 *	CASE=n		this case of the series alone
 *	XSORT=path	the program to be tested
 *	SP_DIFF_WORKERS=n	number of processes that share the cases (default 1)
 *
 * xsort gets SP_TASK_DELAY=SEED, another one in each case: a build with delays
 * (make DELAY=1) then runs its tasks in another order.
 *
 * The files of the first cases that fail are kept.
 */
#include <dirent.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include "sortsplit.h"
#include "tap.h"

#define GROUP 50
#define CHECK_CASES 40
#define GROUPS_MAX 4096
#define KEPT 3

static struct pairs pairs;
static uint64_t series;

/* Results of the processes that share the cases. */
static struct found {
	_Atomic unsigned bad[GROUPS_MAX];
	_Atomic bool met[PAIRS_VALUES][PAIRS_VALUES];
} * found;

/* The expected result. */

static size_t record_end(const struct text *t, size_t at, char eol)
{
	char *p = memchr(t->data + at, eol, t->bytes - at);

	return p ? (size_t)(p - t->data) + 1 : t->bytes;
}

/* Each of the records of `unique` with the number of those in `all` that it stands for. */
static void count(const struct sort_case *c, const struct text *all, const struct text *unique,
		  struct text *t)
{
	const char eol = c->eol;
	size_t at = 0;
	char number[32];

	t->bytes = 0;
	for (size_t u = 0, next; u < unique->bytes; u = next) {
		const size_t none = unique->bytes;
		unsigned long long n = 0;
		size_t after, end;

		next = record_end(unique, u, eol);
		after = next < none ? record_end(unique, next, eol) : none;
		/* The first of equal records is kept; it differs from the next one that is kept. */
		for (; at < all->bytes; at = end, n++) {
			end = record_end(all, at, eol);
			if (next < none && end - at == after - next &&
			    !memcmp(all->data + at, unique->data + next, end - at))
				break;
		}
		text_put(t, number, (size_t)sprintf(number, c->csv ? "%llu," : "%7llu ", n));
		text_put(t, unique->data + u, next - u);
	}
}

static void wanted(struct sort_case *c, const char *dir, struct text *want)
{
	read_file(dir, "want", want);
	if (is(c, KEEP, "count")) {
		struct text all = { 0 }, unique = *want;

		*want = (struct text){ 0 };
		must_succeed(start_gnu(c, dir, "-s", &c->files, open_stdin(c, dir), "all"));
		read_file(dir, "all", &all);
		count(c, &all, &unique, want);
		free(all.data);
		free(unique.data);
	}
	if (c->top) {
		size_t end = 0;

		for (uint64_t n = 0; n < c->top && end < want->bytes; n++)
			end = record_end(want, end, c->eol);
		want->bytes = end;
	}
	if (c->csv)
		translate(want);
}

/* Judging. */

static bool left_behind(const struct sort_case *c, const char *dir)
{
	static const char *const known[] = { ".", "..", "salt", "tmp", "tmp2", "stdout", "stderr" };
	DIR *d = opendir(dir);
	struct dirent *e;
	bool strange = false;

	if (!d)
		abort();
	while ((e = readdir(d))) {
		size_t i = 0;

		while (i < COUNT(known) && strcmp(e->d_name, known[i]))
			i++;
		strange = strange ||
			  (i == COUNT(known) &&
			   !(!strncmp(e->d_name, "in", 2) && strlen(e->d_name) == 3) &&
			   !(is(c, RESULT, "split") &&
			     (!strcmp(e->d_name, "splitters") ||
			      (!strncmp(e->d_name, "part", 4) && strlen(e->d_name) == 5))) &&
			   !(is(c, RESULT, "output") && !strcmp(e->d_name, "out")));
	}
	closedir(d);
	return strange || !empty_dir(dir, "tmp") || !empty_dir(dir, "tmp2");
}

static void describe(const struct text *got, const struct text *want, char eol)
{
	unsigned long long record = 1, lines[2] = { 0 };
	const struct text *t[2] = { got, want };
	size_t k = 0;

	for (int i = 0; i < 2; i++)
		for (size_t at = 0; at < t[i]->bytes; at = record_end(t[i], at, eol))
			lines[i]++;
	for (; k < got->bytes && k < want->bytes && got->data[k] == want->data[k]; k++)
		record += got->data[k] == eol;
	diag("%zu bytes in %llu records, should be %zu in %llu; the first that differs is %llu",
	     got->bytes, lines[0], want->bytes, lines[1], record);
}

static const char *difference(struct sort_case *c, const char *dir, int status,
			      const struct text *got, const struct text *want)
{
	static struct text err;

	read_file(dir, "stderr", &err);
	if (status || err.bytes) {
		diag("status %x: %.*s", (unsigned)status, (int)(err.bytes < 300 ? err.bytes : 300),
		     err.bytes ? err.data : "");
		return status ? "the exit status" : "standard error";
	}
	if (!same_text(got, want)) {
		describe(got, want, c->eol);
		return "the result";
	}
	return left_behind(c, dir) ? "a temporary file" : NULL;
}

static void print_case(const struct sort_case *c, uint64_t number, const char *dir,
		       const char *what, const char *const *argv)
{
	const char *name = c->stdin_piece >= 0 ? stdin_name(c) : "";

	printf("# case %llu: %s is wrong:", (unsigned long long)number, what);
	for (unsigned f = 0; f < FACTORS; f++)
		printf(" %s=%s", sort_factors[f].name, setting(c, f));
	printf("\n# reproduce: SEED=%llu CASE=%llu %s\n", (unsigned long long)series,
	       (unsigned long long)number, program_invocation_name);
	printf("# command: cd %s && %s%s%sLOCPATH=%s LC_ALL=%s SP_TASK_DELAY=%llu %s", dir,
	       c->stdin_pipe ? "cat " : "", c->stdin_pipe ? name : "", c->stdin_pipe ? " | " : "",
	       locale_dir, c->key->locale, (unsigned long long)c->seed, xsort_path);
	for (unsigned i = 1; argv[i]; i++)
		print_word(argv[i]);
	printf("%s%s\n", *name && !c->stdin_pipe ? " < " : "", c->stdin_pipe ? "" : name);
}

/* True: xsort did what GNU sort does. */
static bool compare(uint64_t number, bool keep)
{
	static struct sort_case c;
	static struct text got, want;
	char dir_a[300], dir_b[300];
	const char *const dirs[2] = { dir_a, dir_b };
	const char *argv[4 * ARGS_MAX], *what;
	int status;
	pid_t gnu;

	snprintf(dir_a, sizeof(dir_a), "%s/%llu-gnu", top_dir, (unsigned long long)number);
	snprintf(dir_b, sizeof(dir_b), "%s/%llu-xsort", top_dir, (unsigned long long)number);
	choose(&c, &pairs, series, number);
	set_up(&c, dirs);
	gnu = start_gnu(&c, dir_a, is(&c, KEEP, "unique") || is(&c, KEEP, "count") ? "-u" : NULL,
			&c.files, open_stdin(&c, dir_a), "want");
	gather((const struct args *const[]){ &c.order, &c.xsort, &c.files, NULL }, argv);
	status = run_xsort(&c, dir_b, argv, &got);
	must_succeed(gnu);
	wanted(&c, dir_a, &want);
	what = difference(&c, dir_b, status, &got, &want);
	if (!what && is(&c, RESULT, "split") && !c.csv && !parts_fit(&c, dir_a, dir_b))
		what = "a cut";
	pairs_met(&pairs, &c.pick);
	if (what)
		print_case(&c, number, dir_b, what, argv);
	for (int d = 0; d < 2; d++)
		remove_tree(dirs[d]);
	/* The former values, for the printed command. */
	if (keep && what) {
		choose(&c, &pairs, series, number);
		set_up(&c, dirs);
		remove_tree(dir_a);
	}
	return !what;
}

/* Every n-th group from the first on. */
static void some_groups(uint64_t cases, uint64_t first, uint64_t n)
{
	unsigned bad = 0;

	for (uint64_t g = first; g * GROUP < cases; g += n)
		for (uint64_t k = g * GROUP + 1; k <= (g + 1) * GROUP && k <= cases; k++)
			if (!compare(k, bad < KEPT)) {
				bad++;
				found->bad[g]++;
			}
	for (unsigned a = 0; a < PAIRS_VALUES; a++)
		for (unsigned b = 0; b < PAIRS_VALUES; b++)
			if (pairs.met[a][b])
				found->met[a][b] = true;
}

static pid_t start_worker(uint64_t cases, uint64_t first, uint64_t n)
{
	pid_t pid = fork();

	if (pid < 0)
		abort();
	if (!pid) {
		some_groups(cases, first, n);
		fflush(stdout);
		_exit(0);
	}
	return pid;
}

/* However long it takes: each program that it runs has a limit of its own. */
static void ended_well(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) < 0 || status)
		abort();
}

static void all_cases(uint64_t cases, uint64_t workers)
{
	uint64_t bad = 0;

	found = mmap(NULL, sizeof(*found), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (found == MAP_FAILED || cases > (uint64_t)GROUPS_MAX * GROUP || workers > 64)
		abort();
	fflush(stdout);
	if (workers > 1) {
		pid_t pid[64];

		for (uint64_t w = 0; w < workers; w++)
			pid[w] = start_worker(cases, w, workers);
		for (uint64_t w = 0; w < workers; w++)
			ended_well(pid[w]);
	} else {
		some_groups(cases, 0, 1);
	}
	for (uint64_t g = 0; g * GROUP < cases; g++) {
		uint64_t last = (g + 1) * GROUP < cases ? (g + 1) * GROUP : cases;

		bad += found->bad[g];
		ok(!found->bad[g], "sorts %llu to %llu of series %llu give what GNU sort gives",
		   (unsigned long long)g * GROUP + 1, (unsigned long long)last,
		   (unsigned long long)series);
	}
	for (unsigned a = 0; a < PAIRS_VALUES; a++)
		for (unsigned b = 0; b < PAIRS_VALUES; b++)
			pairs.met[a][b] = found->met[a][b];
	/* Fewer cases than one block has cannot contain every pair. */
	if (cases >= PAIRS_BLOCK)
		ok(pairs_missing(&pairs) == 0, "every two settings met");
	if (rmdir(top_dir))
		diag("files of the first of %llu failures are in %s", (unsigned long long)bad,
		     top_dir);
}

int main(void)
{
	uint64_t only = number_from("CASE", 0);

	series = number_from("SEED", 1);
	if (!peer_is_gnu()) {
		printf("1..0 # SKIP /usr/bin/sort is not GNU sort\n");
		return 0;
	}
	if (!find_programs("sp-pairs")) {
		printf("1..0 # SKIP xsort is not built\n");
		return 0;
	}
	pairs_open(&pairs, sort_factors, sort_excluded, series);
	if (only)
		ok(compare(only, true), "sort %llu of series %llu gives what GNU sort gives",
		   (unsigned long long)only, (unsigned long long)series);
	else
		all_cases(number_from("SP_DIFF_CASES", CHECK_CASES),
			  number_from("SP_DIFF_WORKERS", 1));
	if (only && rmdir(top_dir))
		diag("its files are in %s", top_dir);
	return done();
}
