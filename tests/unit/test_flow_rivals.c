/* SPDX-License-Identifier: MIT */
/*
 * zl98.s2: two sorts of the library in one plan on one simulated machine, whose results are taken
 * alternately, compared with each of them alone.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/flow.h>
#include <spindle/sort.h>
#include "base/rng.h"
#include "flowplan.h"
#include "tap.h"

#define LINES 60000
#define LINE 100 /* bytes */

static char path[2][32];
static struct sp_keyset *keys;

struct outcome {
	struct sp_run_stats stats;
	size_t lines[2];
	unsigned long turns; /* from one sort to the other */
	bool ordered;
};

static void write_file(char *name, uint64_t seed)
{
	struct sp__rng rng = { seed };
	FILE *f;

	strcpy(name, "/tmp/sp-rivals.XXXXXX");
	f = fdopen(mkstemp(name), "w");
	for (int i = 0; f && i < LINES; i++)
		fprintf(f, "%0*llu\n", LINE - 1, (unsigned long long)sp__rng_next(&rng));
	if (!f || fclose(f))
		abort();
}

static struct sp_operator *sorted(struct sp_flow *flow, int i, enum sp_readahead readahead)
{
	static const char *const inputs[] = { path[0], path[1] }; /* the scan keeps them */
	struct sp_sort_opts o = SP_SORT_OPTS_INIT;
	struct sp_operator *op = scan_file(flow, &inputs[i]);

	o.keys = keys;
	o.readahead = readahead;
	o.run = run_opts();
	if (sp_sort_operator(&op, op, &o))
		abort();
	return op;
}

/* Counts the lines of a batch; false: they are not in order, before the last line ones included. */
static bool look(const struct sp_batch *b, char *last, size_t *lines)
{
	for (const char *at = b->data; at < (const char *)b->data + b->bytes; at += LINE) {
		if (memcmp(at, last, LINE) < 0)
			return false;
		memcpy(last, at, LINE);
		++*lines;
	}
	return true;
}

/* Runs the sorts that `which` has bits for; takes their batches alternately. */
static void run(unsigned which, enum sp_readahead readahead, struct outcome *r)
{
	struct sp_flow *flow = open_flow();
	struct sp_operator *op[2] = { NULL };
	char last[2][LINE] = { { 0 } };
	int before = -1;

	*r = (struct outcome){ .ordered = true };
	for (int i = 0; i < 2; i++)
		if (which & 1U << i)
			op[i] = sorted(flow, i, readahead);
	while (op[0] || op[1]) {
		for (int i = 0; i < 2; i++) {
			struct sp_batch b;
			int rc = op[i] ? sp_flow_get(op[i], &b) : SP_END;

			if (rc == SP_READY)
				r->ordered = look(&b, last[i], &r->lines[i]) && r->ordered;
			else
				op[i] = NULL;
			r->turns += rc == SP_READY && before == !i;
			before = rc == SP_READY ? i : before;
			r->ordered = r->ordered && (rc == SP_READY || rc == SP_END);
		}
	}
	sp_flow_stats(flow, &r->stats);
	if (sp_flow_close(flow))
		r->ordered = false;
}

static void compare(const char *machine)
{
	struct outcome a, b, both, again;

	volume = machine;
	run(1, SP_READ_CLUSTER, &a);
	run(2, SP_READ_CLUSTER, &b);
	run(3, SP_READ_CLUSTER, &both);
	run(3, SP_READ_CLUSTER, &again);
	ok(both.ordered && both.lines[0] == LINES && both.lines[1] == LINES && both.turns > 20,
	   "%s: two concurrent sorts give their results alternately", volume);
	ok(both.stats.elapsed_s == again.stats.elapsed_s &&
		   both.stats.sim_seeks == again.stats.sim_seeks,
	   "%s: twice in the same virtual time (%.6f s)", volume, both.stats.elapsed_s);
	ok(both.stats.sim_requests == a.stats.sim_requests + b.stats.sim_requests,
	   "%s: with as many requests as each alone", volume);
	ok(both.stats.sim_seeks <= a.stats.sim_seeks + b.stats.sim_seeks + 1,
	   "zl98.s2, %s: a rival costs no seek where clusters are read whole (%llu and %llu alone, "
	   "%llu)",
	   volume, (unsigned long long)a.stats.sim_seeks, (unsigned long long)b.stats.sim_seeks,
	   (unsigned long long)both.stats.sim_seeks);
}

int main(void)
{
	struct sp_key key = SP_KEY_INIT;
	struct sp_keyset_opts ko = { .format = { .kind = SP_REC_LINE, .eol = '\n' },
				     .keys = &key,
				     .nkeys = 1,
				     .separator = ' ' };

	if (sp_keyset_new(&keys, &ko, NULL))
		return 2;
	for (int i = 0; i < 2; i++)
		write_file(path[i], 7 + (uint64_t)i);
	compare("sim:linear");
	compare("sim:barracuda4-like,sched=noop");
	for (int i = 0; i < 2; i++)
		unlink(path[i]);
	sp_keyset_free(keys);
	return done();
}
