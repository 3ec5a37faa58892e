/* SPDX-License-Identifier: MIT */
/*
 * Plans with index nested loops, one to three above each other, over a scripted device: sources and
 * the pages of indexes and records that they ask for arrive in every order that is possible; no
 * order may lose, double or invent a row, give one before its records are there, or leave the plan
 * waiting for nothing.  Then random inputs, against hash joins.
 */
#define TAP_THREADS

#include <unistd.h>
#include <spindle/index.h>
#include <spindle/join.h>
#include "lines.h"
#include "script.h"
#include "flowplan.h"
#include "tap.h"

#define FILES 4
/* The distance of records, so large that no request has two of them. */
#define FILLER 20000

static char dir[] = "/tmp/sp-flow.XXXXXX", file[FILES][32], index_of[FILES][40];

/* Options of the next joins. */
static struct {
	enum sp_join_algorithm algorithm;
	bool ordered, left, semi;
	unsigned outstanding;
	const char *engine;
} how;

static void make_index(int i)
{
	struct sp_index_build_opts o = SP_INDEX_BUILD_OPTS_INIT;

	o.run = run_opts();
	o.format = (struct sp_recfmt){ .kind = SP_REC_LINE, .eol = '\n' };
	o.separator = ' ';
	o.key = "1,1";
	o.page_bytes = 512;
	if (sp_index_build(&o, file[i], index_of[i], NULL, NULL))
		abort();
}

static FILE *begin_file(int i)
{
	FILE *f = fopen(file[i], "w");

	if (!f)
		abort();
	return f;
}

static void make_file(int i, const char *const *lines)
{
	FILE *f = begin_file(i);

	for (; *lines; lines++)
		fprintf(f, "%s\n~ %0*d\n", *lines, FILLER, 0);
	if (fclose(f))
		abort();
	make_index(i);
}

static struct sp_join_opts join_opts(void)
{
	struct sp_join_opts o = SP_JOIN_OPTS_INIT;

	o.run = run_opts();
	o.run.engine = how.engine;
	o.run.direct = 0;
	o.separator = " ";
	o.separator_bytes = 1;
	o.algorithm = how.algorithm;
	o.ordered = how.ordered;
	o.unpaired[0] = how.left;
	o.semi = how.semi;
	o.pairs = !how.semi;
	o.max_outstanding = how.outstanding;
	return o;
}

/* With file i, by its index. */
static struct sp_operator *loops(struct sp_operator *outer, int i)
{
	struct sp_join_opts o = join_opts();

	o.index[1] = index_of[i];
	if (sp_join_operator(&outer, outer, NULL, &o)) {
		printf("# %s: %s\n", err.path, err.text);
		abort();
	}
	return outer;
}

/*
 * Rows settled one after the other, with one read in each file: after four of them two rows may be
 * looked up at the same time, after eight three.
 */
#define SETTLED "w w\nw w\nw w\nw w\n"
static const char *const some_rows[] = { SETTLED "a x\n", "b y\nc z\n", "d u\ne v\n", NULL };
static const char *const few_rows[] = { SETTLED "a x\n", "b y\nc z\nd u\n", NULL };
static const char *const later_rows[] = { SETTLED SETTLED "a x\n", "b y\nc z\n", "d u\ne v\n",
					  NULL };
static const char *const *outer_rows = some_rows;

static struct sp_operator *scan(struct sp_flow *flow)
{
	return source(flow, outer_rows, 0);
}

typedef struct sp_operator *plan_fn(struct sp_flow *flow);

static struct sp_operator *one_level(struct sp_flow *flow)
{
	return loops(scan(flow), 0);
}

static struct sp_operator *two_levels(struct sp_flow *flow)
{
	return loops(one_level(flow), 1);
}

static struct sp_operator *three_levels(struct sp_flow *flow)
{
	return loops(two_levels(flow), 2);
}

/* Removes the settled rows, which come first.  True if all of them were there. */
static bool remove_settled(char *rows)
{
	const int wanted = outer_rows == later_rows ? 8 : 4;
	char *p = rows;
	int n = 0;

	for (; p[0] == 'w' && strchr(p, '\n'); n++)
		p = strchr(p, '\n') + 1;
	memmove(rows, p, strlen(p) + 1);
	return n == wanted;
}

/* One run along the present path: what it gives, and its error. */
static char *run(plan_fn *plan, int *rc)
{
	struct sp_flow *flow = open_flow();
	struct sp_operator *root;
	struct sp_batch b;
	char *all = NULL;
	size_t bytes;
	FILE *f = open_memstream(&all, &bytes);

	script_begin();
	root = plan(flow);
	do {
		while ((*rc = sp_flow_next(root, &b)) == SP_READY)
			fwrite(b.data, 1, b.bytes, f);
		if (*rc == SP_LATER && sp_flow_wait(flow))
			*rc = SP_ESTATE;
	} while (*rc == SP_LATER && script.completed < 100000);
	fclose(f);
	sp_flow_close(flow);
	return all;
}

static bool is_right(const char *got, const char *want)
{
	return how.ordered ? strcmp(got, want) == 0 : lines_same(got, want);
}

static void check_orders(const char *name, plan_fn *plan, const char *want, long min)
{
	long paths = 0, wrong = 0;
	int rc;

	script.depth = 0;
	do {
		char *got = run(plan, &rc);

		if ((!remove_settled(got) || rc != SP_END || !is_right(got, want)) && !wrong++)
			printf("# %s: %d (%s %s), got\n%s", name, rc, err.path, err.text, got);
		paths++;
		free(got);
	} while (script_next_path());
	ok(!wrong && paths >= min, "%s%s: all %ld orders of completion give the rows, each once",
	   name, how.ordered ? ", ordered" : "", paths);
}

#define ONE "a x 1\nb y 2\nb y 3\nd u 4\ne v 5\n"
#define TWO "a x 1 6\nb y 2 7\nb y 3 7\nd u 4 9\n"
#define THREE "a x 1 6 10\nb y 2 7 11\nb y 3 7 11\nd u 4 9 12\n"

static void check_levels(void)
{
	check_orders("one level", one_level, ONE, 20);
	check_orders("two levels", two_levels, TWO, 200);
	outer_rows = few_rows;
	check_orders("three levels", three_levels, THREE, 100);
	outer_rows = some_rows;
}

static void check_kinds(void)
{
	how.left = true;
	check_orders("rows without a partner", one_level,
		     "a x 1\nb y 2\nb y 3\nc z\nd u 4\ne v 5\n", 20);
	how.left = false;
	how.semi = true;
	check_orders("rows with one", one_level, "a x\nb y\nd u\ne v\n", 20);
	how.semi = false;
}

/* Every read fails, one at a time, in any order of the others. */
static void check_failures(const char *name, plan_fn *plan, const char *want, long reads)
{
	long wrong = 0;
	int rc;

	for (script.fails = 1; script.fails <= reads; script.fails++) {
		script.depth = 0;
		do {
			char *got = run(plan, &rc);

			(void)remove_settled(got);
			wrong += rc != -EIO || err.code != -EIO || !err.path[0] ||
				 !lines_part(got, want);
			free(got);
		} while (script_next_path());
	}
	script.fails = 0;
	ok(!wrong, "%s: any of %ld reads that fails, in any order, is the plan's error", name,
	   reads);
}

/* LATER. */

static bool of_source(const struct pending *p)
{
	return p->source;
}

/* The second record of the first file. */
static bool of_second_record(const struct pending *p)
{
	return p->request && !strcmp(p->request->volume->name, file[0]) && p->request->offset > 5 &&
	       p->request->offset < FILLER + 10;
}

/* While that is outstanding: which rows come? */
static void check_turning(const char *name, plan_fn *plan, bool (*last)(const struct pending *p),
			  const char *want)
{
	struct sp_flow *flow = open_flow();
	struct sp_operator *root;
	struct sp_batch b;
	char *got = NULL;
	size_t bytes;
	FILE *f = open_memstream(&got, &bytes);
	int rc;

	script_begin();
	script.last = last;
	root = plan(flow);
	/* The first batch of the source is not held back. */
	script.source[0]->arrived = 1;
	while (!script.only_last && (rc = sp_flow_next(root, &b)) != SP_END) {
		if (rc == SP_READY)
			fwrite(b.data, 1, b.bytes, f);
		else if (rc < 0 || sp_flow_wait(flow))
			abort();
	}
	fclose(f);
	ok(remove_settled(got) && script.only_last && is_right(got, want), "%s", name);
	free(got);
	sp_flow_close(flow);
	script.last = NULL;
}

static void check_later(void)
{
	outer_rows = later_rows;
	check_turning("two levels: while the outer rows end, those that there are go all the way",
		      two_levels, of_source, "a x 1 6\n");
	check_turning("three levels do so, too", three_levels, of_source, "a x 1 6 10\n");
	check_turning("a row whose record is missing does not hold up the rows after it",
		      three_levels, of_second_record, "a x 1 6 10\nb y 3 7 11\nd u 4 9 12\n");
	how.ordered = true;
	check_turning("unless the order is to be kept", three_levels, of_second_record,
		      "a x 1 6 10\n");
	how.ordered = false;
	outer_rows = some_rows;
}

/* Random inputs. */

#define ROWS 300

static const char *many_rows[ROWS / 10 + 1];

static void make_random(struct sp__rng *rng, int keys)
{
	static char rows[ROWS / 10][128];

	for (int i = 0; i < ROWS / 10; i++) {
		int n = 0;

		for (int k = 1 + (int)sp__rng_below(rng, 10); k > 0; k--)
			n += sprintf(rows[i] + n, "%03d %d\n",
				     (int)sp__rng_below(rng, (uint64_t)keys), i);
		many_rows[i] = rows[i];
	}
	for (int i = 0; i < 2; i++) {
		FILE *f = begin_file(i);

		for (int k = 0; k < ROWS; k++)
			fprintf(f, "%03d %d%0*d\n", (int)sp__rng_below(rng, (uint64_t)keys), k,
				(int)sp__rng_below(rng, 3000), 0);
		if (fclose(f))
			abort();
		make_index(i);
	}
}

static struct sp_operator *many_loops(struct sp_flow *flow)
{
	return loops(loops(source(flow, many_rows, 0), 0), 1);
}

static struct sp_operator *hashed(struct sp_flow *flow, struct sp_operator *left, int i)
{
	struct sp_join_opts o = join_opts();
	static const char *const inputs[] = { file[0], file[1] };
	struct sp_operator *op;

	o.algorithm = SP_JOIN_HYBRID;
	if (sp_join_operator(&op, left, scan_file(flow, &inputs[i]), &o))
		abort();
	return op;
}

static struct sp_operator *many_hashed(struct sp_flow *flow)
{
	return hashed(flow, hashed(flow, source(flow, many_rows, 0), 0), 1);
}

static struct sp_operator *mixed(struct sp_flow *flow)
{
	return hashed(flow, loops(source(flow, many_rows, 0), 0), 1);
}

static struct sp_operator *mixed_again(struct sp_flow *flow)
{
	return loops(hashed(flow, source(flow, many_rows, 0), 0), 1);
}

/* completed: by the script. */
static void check_same(plan_fn *plan, const char *want, const char *name)
{
	int rc;
	char *got = run(plan, &rc);

	if (!is_right(got, want) || rc) {
		printf("# %s: %d %s, %s, %u outstanding, ordered %d, left %d\n", name, rc, err.text,
		       how.engine, how.outstanding, how.ordered, how.left);
		ok(false, "index nested loops give what hash joins do");
		exit(done());
	}
	free(got);
}

static void check_random(void)
{
	static const char *const engines[] = { "null", "sync", "fault:REORDER=3:sync", "null",
					       NULL };
	static const unsigned outstanding[] = { 1, 2, 3, 8, 40 };
	struct sp__rng rng = { 7 };
	int cases = 0, failed = tap__failed, rc;

	script.random = &rng;
	for (; cases < 20; cases++) {
		char *want;

		make_random(&rng, ROWS / 3 + (int)sp__rng_below(&rng, 2 * ROWS));
		how.ordered = cases & 1;
		how.left = cases & 2;
		how.engine = "sync";
		want = run(many_hashed, &rc);
		if (rc)
			abort();
		how.engine = engines[cases % 5];
		how.outstanding = outstanding[cases / 2 % 5];
		how.algorithm = cases % 7 ? SP_JOIN_ASYNC_INL : SP_JOIN_INL;
		check_same(many_loops, want, "two levels");
		check_same(mixed, want, "below a hash join");
		check_same(mixed_again, want, "above a hash join");
		free(want);
	}
	ok(tap__failed == failed, "index nested loops give what hash joins do: %d random inputs",
	   cases);
	script.random = NULL;
}

/* Fewer than many_rows; all in the one page that the index has. */
#define KEYS 25
#define PAGES 1

/* No more is read for the first rows than they need. */
static void check_limit(uint64_t limit)
{
	const uint64_t pages = limit ? PAGES : 0;
	struct sp_flow *flow = open_flow();
	struct sp_run_stats stats;
	struct sp_operator *op;
	struct sp_batch b;
	uint64_t rows = 0;
	int rc;

	script_begin();
	op = loops(source(flow, many_rows, 0), 2);
	if (sp_flow_limit(&op, op, limit))
		abort();
	while ((rc = sp_flow_get(op, &b)) == SP_READY)
		for (const char *p = b.data; p < b.data + b.bytes; p++)
			rows += *p == '\n';
	sp_flow_stats(flow, &stats);
	ok(!rc && rows == limit && stats.read_requests - pages <= 2 * limit + 1,
	   "%llu rows are had with at most %llu inner records: %llu", (unsigned long long)limit,
	   (unsigned long long)(2 * limit + 1), (unsigned long long)(stats.read_requests - pages));
	sp_flow_close(flow);
}

static void check_limits(void)
{
	static char line[KEYS][16];
	static const char *lines[KEYS + 1];

	for (int i = 0; i < KEYS; i++) {
		sprintf(line[i], "k%d %d", i, i);
		lines[i] = line[i];
	}
	make_file(2, lines);
	for (int i = 0; i < KEYS; i++) {
		strcat(line[i], "\n");
		many_rows[i] = line[i];
	}
	many_rows[KEYS] = NULL;
	how.engine = "sync";
	how.ordered = false;
	how.left = false;
	how.outstanding = 0;
	how.algorithm = SP_JOIN_ASYNC_INL;
	check_limit(0);
	check_limit(1);
	check_limit(3);
	check_limit(20);
}

static void check_refusals(void)
{
	struct sp_join_opts o = join_opts();
	struct sp_flow *flow = open_flow();
	struct sp_operator *a, *b, *op;

	script_begin();
	a = scan(flow);
	b = scan(flow);
	o.index[1] = index_of[0];
	ok(sp_join_operator(&op, a, b, &o) == SP_EUNSUP, "index nested loops have one input");
	o.index[1] = NULL;
	ok(sp_join_operator(&op, a, NULL, &o) == SP_EUNSUP && err.text[0], "and an index");
	o.index[1] = index_of[0];
	o.unpaired[1] = true;
	ok(sp_join_operator(&op, a, NULL, &o) == SP_EUNSUP,
	   "which does not find records without a partner");
	o.unpaired[1] = false;
	o.separator = ",";
	ok(sp_join_operator(&op, a, NULL, &o) == SP_EUNSUP, "of the same fields as the join");
	o.separator = " ";
	o.index[1] = "/nowhere/x";
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	ok(sp_join_operator(&op, b, NULL, &o) == -ENOENT && strstr(err.path, "/nowhere/x"),
	   "and which is there");
	sp_flow_close(flow);
}

int main(void)
{
	static const char *const first[] = { "a 1", "b 2", "b 3", "d 4", "e 5", "w 0", NULL };
	static const char *const second[] = { "a 6", "b 7", "c 8", "d 9", "w 0", NULL };
	static const char *const third[] = { "a 10", "b 11", "d 12", "w 0", NULL };

	setenv("LC_ALL", "C", 1);
	if (!mkdtemp(dir))
		abort();
	for (int i = 0; i < FILES; i++) {
		sprintf(file[i], "%s/%d", dir, i);
		sprintf(index_of[i], "%s.index", file[i]);
	}
	make_file(0, first);
	make_file(1, second);
	make_file(2, third);
	how.algorithm = SP_JOIN_ASYNC_INL;
	how.engine = "null";
	for (int i = 0; i < 2; i++) {
		how.ordered = i;
		check_levels();
		check_kinds();
	}
	how.ordered = false;
	check_failures("one level", one_level, ONE, 7);
	outer_rows = few_rows;
	check_failures("two levels", two_levels, TWO, 11);
	outer_rows = some_rows;
	check_later();
	check_refusals();
	check_random();
	check_limits();
	for (int i = 0; i < FILES; i++) {
		unlink(file[i]);
		unlink(index_of[i]);
	}
	rmdir(dir);
	return done();
}
