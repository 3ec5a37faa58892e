/* SPDX-License-Identifier: MIT */
/*
 * Hash joins in plans: over inputs that do not fit in memory, against joins of files, which are
 * tested against others; and left at any point.
 */
#define TAP_THREADS

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <spindle/flow.h>
#include <spindle/join.h>
#include <spindle/sort.h>
#include "base/rng.h"
#include "flowplan.h"
#include "lines.h"
#include "tap.h"

#define ROWS 6000

static char path[2][32], output[32];

static char *random_file(char *name, struct sp__rng *rng, int keys)
{
	FILE *f;

	strcpy(name, "/tmp/sp-flow.XXXXXX");
	f = fdopen(mkstemp(name), "w");
	for (int k = 0; f && k < ROWS; k++)
		fprintf(f, "%d %d%0*d\n", (int)sp__rng_below(rng, (uint64_t)keys), k,
			(int)sp__rng_below(rng, 400), 0);
	if (!f || fclose(f))
		abort();
	return name;
}

static char *contents(const char *name)
{
	char *all = calloc(1, 64 << 20);
	int fd = open(name, O_RDONLY);

	if (!all || fd < 0 || read(fd, all, (64 << 20) - 1) < 0 || close(fd))
		abort();
	return all;
}

static int keep_all(void *arg, const char *record, size_t bytes)
{
	(void)arg;
	(void)record;
	(void)bytes;
	return 1;
}

static struct sp_operator *scan(struct sp_flow *flow, int i)
{
	static const char *const inputs[] = { path[0], path[1] };
	struct sp_operator *op = scan_file(flow, &inputs[i]);

	if (sp_flow_filter(&op, op, keep_all, NULL))
		abort();
	return op;
}

/* Takes at most that many batches; all: what they have. */
static int take(struct sp_operator *op, long batches, char **all)
{
	struct sp_batch b;
	size_t bytes;
	FILE *f = open_memstream(all, &bytes);
	int rc = SP_READY;

	while (batches-- && (rc = sp_flow_get(op, &b)) == SP_READY)
		fwrite(b.data, 1, b.bytes, f);
	fclose(f);
	return rc;
}

static struct sp_join_opts join_opts(enum sp_join_algorithm algorithm)
{
	struct sp_join_opts o = SP_JOIN_OPTS_INIT;

	o.run = run_opts();
	o.separator = " ";
	o.separator_bytes = 1;
	o.algorithm = algorithm;
	return o;
}

static struct sp_operator *join(struct sp_flow *flow, const struct sp_join_opts *o)
{
	struct sp_operator *left = scan(flow, 0), *op;

	if (sp_join_operator(&op, left, scan(flow, 1), o))
		abort();
	return op;
}

/* Returns the result of an equal join of files. */
static char *want_of(const struct sp_join_opts *o)
{
	struct sp_join_io io = { .inputs = { path[0], path[1] }, .output = output };

	if (sp_join_run(o, &io, NULL, &err))
		abort();
	return contents(output);
}

static bool check(const struct sp_join_opts *o)
{
	struct sp_flow *flow = open_flow();
	char *want = want_of(o), *got;
	int rc = take(join(flow, o), -1, &got);
	bool same = rc == SP_END && (o->ordered ? strcmp(got, want) == 0 : lines_same(got, want));

	if (!same)
		printf("# %s, build %u, ordered %u, pairs %d, unpaired %d %d, semi %d: %d %s\n",
		       sp_join_algorithm_name((int)o->algorithm), o->build, o->ordered, o->pairs,
		       o->unpaired[0], o->unpaired[1], o->semi, rc, err.text);
	sp_flow_close(flow);
	free(want);
	free(got);
	return same;
}

static void check_kinds(void)
{
	static const enum sp_join_algorithm algorithms[] = { SP_JOIN_HYBRID, SP_JOIN_GRACE,
							     SP_JOIN_NESTED, SP_JOIN_SHJ };
	int wrong = 0, cases = 0;

	for (; cases < tap_times(36); cases++) {
		struct sp_join_opts o = join_opts(algorithms[cases % 4]);
		const int kind = cases / 3 % 4;

		o.ordered = (unsigned)cases / 4 % 3;
		o.build = (unsigned)cases % 3;
		o.unpaired[0] = kind == 1 || kind == 3;
		o.unpaired[1] = kind == 1;
		o.semi = kind == 2;
		o.pairs = kind < 2;
		wrong += !check(&o);
	}
	ok(!wrong, "hash joins in plans give what joins of files give: %d kinds", cases);
}

/* However far it has come, the plan can be closed. */
static void check_leaving(void)
{
	struct sp_join_opts o = join_opts(SP_JOIN_HYBRID);
	struct sp_flow *flow;
	struct sp_operator *op;
	struct sp_batch batch;
	char *got;
	int wrong = 0;

	for (long batches = 0; batches < 12; batches++) {
		flow = open_flow();
		o.ordered = batches % 3 == 2;
		wrong += take(join(flow, &o), batches, &got) < 0;
		free(got);
		sp_flow_close(flow);
	}
	for (int calls = 0; calls < 12; calls++) {
		flow = open_flow();
		op = join(flow, &o);
		for (int i = 0; i < calls; i++)
			wrong += sp_flow_next(op, &batch) < 0;
		sp_flow_close(flow);
	}
	ok(!wrong, "a plan can be closed in the middle of a hash join");
}

/* The pairs of one key, far more than memory, come as they are asked for. */
static void check_product(void)
{
	struct sp_join_opts o = join_opts(SP_JOIN_HYBRID);
	struct sp_flow *flow = open_flow();
	struct sp_operator *op = join(flow, &o);
	struct sp_batch b;
	size_t bytes = 0, max = 0;
	int rc;

	while ((rc = sp_flow_get(op, &b)) == SP_READY && bytes < 256 << 20) {
		bytes += b.bytes;
		max = b.bytes > max ? b.bytes : max;
	}
	ok(rc == SP_READY && max <= 512 << 10,
	   "a product is not kept: %zu bytes of it in batches of %zu at most", bytes, max);
	sp_flow_close(flow);
}

static void check_errors(void)
{
	struct sp_join_opts o = join_opts(SP_JOIN_HYBRID);
	static const char *const nowhere[] = { "/nowhere/tmp" };
	struct sp_flow *flow = open_flow();
	struct sp_operator *left, *right, *op;
	char *got;
	int rc;

	o.run.tmpdirs = nowhere;
	rc = take(join(flow, &o), -1, &got);
	ok(rc == -ENOENT && strstr(err.path, nowhere[0]),
	   "the error of temporary space is that of the plan");
	free(got);
	sp_flow_close(flow);
	flow = open_flow();
	o = join_opts(SP_JOIN_HYBRID);
	left = scan(flow, 0);
	right = scan(flow, 1);
	o.run.volume = "sim:hdd-2005";
	ok(sp_join_operator(&op, left, right, &o) == SP_EUNSUP, "no volume is simulated");
	o.run.volume = NULL;
	o.join_bytes = 1;
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	ok(sp_join_operator(&op, left, right, &o) == SP_EBUDGET && err.text[0],
	   "a join that does not fit in memory is refused when the plan is made");
	sp_flow_close(flow);
}

int main(void)
{
	struct sp__rng rng = { 11 };

	setenv("LC_ALL", "C", 1);
	random_file(path[0], &rng, 4000);
	random_file(path[1], &rng, 4000);
	strcpy(output, "/tmp/sp-flow.XXXXXX");
	close(mkstemp(output));
	check_kinds();
	check_leaving();
	check_errors();
	unlink(path[0]);
	unlink(path[1]);
	random_file(path[0], &rng, 1);
	random_file(path[1], &rng, 1);
	check_product();
	unlink(path[0]);
	unlink(path[1]);
	unlink(output);
	return done();
}
