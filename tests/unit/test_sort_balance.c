/* SPDX-License-Identifier: MIT */
/*
 * The balance of a sort: with a fault put in, whichever way records go, the sort ends with
 * SP_EBALANCE and leaves the output as it was; without one it does not.
 *
 * The faults are in sp__scan_next(), sp__runbuf_sort() and sp__merge_next(), which are wrapped
 * (see the Makefile): the first record that comes by is lost, doubled or changed.
 */
#define TAP_THREADS

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
#include <spindle/sort.h>
#include "keysets.h"
#include "sort/tree/merge.h"
#include "tap.h"

#define LINES 40000

enum fault { NONE, LOSE, DOUBLE, CHANGE, SKIP, CUT, FAULTS };
static const char *const names[] = { "no fault",
				     "a record lost",
				     "a record doubled",
				     "a byte changed",
				     "a merge that skips a record",
				     "a batch without its last record" };
static _Atomic int fault;

void __real_sp__runbuf_sort(struct sp__runbuf *rb);
void __wrap_sp__runbuf_sort(struct sp__runbuf *rb);
int __real_sp__merge_next(struct sp__merge *m, bool wait);
int __wrap_sp__merge_next(struct sp__merge *m, bool wait);

int __real_sp__scan_next(void *scan, struct sp_batch *batch);
int __wrap_sp__scan_next(void *scan, struct sp_batch *batch);

static bool due(enum fault f)
{
	int now = (int)f;

	return atomic_compare_exchange_strong(&fault, &now, NONE);
}

/* The second entry becomes a neighbour with another key, of which there are at most two records. */
static void double_one(struct sp__runbuf *rb)
{
	const char *first = rb->base + sp__ref_offset(rb->entries[0].ref);
	const char *second = rb->base + sp__ref_offset(rb->entries[1].ref);

	rb->entries[1] = rb->entries[memcmp(first, second, 8) ? 0 : 2];
}

void __wrap_sp__runbuf_sort(struct sp__runbuf *rb)
{
	__real_sp__runbuf_sort(rb);
	if (rb->n < 3)
		return;
	if (due(LOSE))
		rb->n--;
	else if (due(DOUBLE))
		double_one(rb);
	else if (due(CHANGE))
		rb->base[sp__ref_offset(rb->entries[1].ref) + 5] ^= 1;
}

int __wrap_sp__merge_next(struct sp__merge *m, bool wait)
{
	int rc = __real_sp__merge_next(m, wait);

	return rc == SP_READY && m->prev && due(SKIP) ? __real_sp__merge_next(m, wait) : rc;
}

int __wrap_sp__scan_next(void *scan, struct sp_batch *batch)
{
	int rc = __real_sp__scan_next(scan, batch);

	if (rc == SP_READY && due(CUT))
		do
			batch->bytes--;
		while (batch->bytes && batch->data[batch->bytes - 1] != '\n');
	return rc;
}

static const struct way {
	const char *name;
	uint64_t memory, run;
	enum sp_run_formation formation;
	unsigned threads;
	bool unique, count;
	uint64_t top;
} ways[] = {
	{ .name = "in memory", .memory = 16 << 20, .threads = 1 },
	{ .name = "in memory, two threads", .memory = 16 << 20, .threads = 2 },
	{ .name = "spilled", .memory = 1 << 20, .threads = 1 },
	{ .name = "spilled, three threads", .memory = 1 << 20, .threads = 3 },
	{ .name = "many merges", .memory = 1 << 20, .run = 64 << 10, .threads = 2 },
	{ .name = "replacement selection",
	  .memory = 1 << 20,
	  .threads = 2,
	  .formation = SP_FORM_REPLACEMENT },
	{ .name = "-u", .memory = 1 << 20, .threads = 2, .unique = true },
	{ .name = "-u, replacement selection",
	  .memory = 1 << 20,
	  .formation = SP_FORM_REPLACEMENT,
	  .threads = 1,
	  .unique = true },
	{ .name = "--count", .memory = 1 << 20, .threads = 2, .unique = true, .count = true },
	{ .name = "--limit", .memory = 1 << 20, .threads = 2, .top = 10 * LINES },
	{ .name = "--limit that cuts",
	  .memory = 1 << 20,
	  .run = 64 << 10,
	  .threads = 1,
	  .top = 900 },
};

static char in[64], out[64];

/* Every key twice, the two far apart; equal lines are equal throughout. */
static void make_input(void)
{
	FILE *f;

	snprintf(in, sizeof(in), "/tmp/balance-in.%d", (int)getpid());
	snprintf(out, sizeof(out), "/tmp/balance-out.%d", (int)getpid());
	f = fopen(in, "w");
	if (!f)
		abort();
	for (unsigned i = 0; i < LINES; i++)
		fprintf(f, "%08x a line of so many bytes that two megabytes come together\n",
			(unsigned)sp__mix64(i % (LINES / 2)));
	fclose(f);
}

static void old_output(void)
{
	FILE *f = fopen(out, "w");

	if (!f || fputs("old\n", f) < 0 || fclose(f))
		abort();
}

static bool output_is_old(void)
{
	char line[64] = "";
	FILE *f = fopen(out, "r");
	bool old = f && fgets(line, sizeof(line), f) && !strcmp(line, "old\n");

	if (f)
		fclose(f);
	return old;
}

static int sort(const struct sp_keyset *ks, const struct way *w, bool merge, struct sp_errinfo *err)
{
	static const char *const tmp[] = { "/tmp" };
	const char *inputs[] = { in };
	struct sp_sort_opts o = SP_SORT_OPTS_INIT;
	struct sp_sort_io io = { 0 };

	*err = (struct sp_errinfo)SP_ERRINFO_INIT;
	o.format = (struct sp_recfmt){ .kind = SP_REC_LINE, .eol = '\n' };
	o.keys = ks;
	o.run.memory_bytes = w->memory;
	o.run_bytes = w->run;
	o.formation = w->formation;
	o.run.parallel = w->threads;
	o.unique = w->unique;
	o.count = w->count;
	o.top = w->top;
	o.run.tmpdirs = tmp;
	o.run.ntmpdirs = 1;
	io.inputs = inputs;
	io.ninputs = 1;
	io.output = out;
	io.merge = merge;
	return sp_sort_run(&o, &io, NULL, err);
}

/* Records that --limit cuts off are only counted. */
static bool shows(const struct way *w, enum fault f)
{
	if (!w->top)
		return true;
	return f == LOSE || f == CUT || (f == SKIP && w->top > LINES);
}

static void faults(const struct sp_keyset *ks, const struct way *w, bool merge)
{
	struct sp_errinfo err;
	int rc;

	for (int f = NONE; f < FAULTS; f++) {
		if (f && (!shows(w, (enum fault)f) || (merge && f != SKIP)))
			continue;
		old_output();
		atomic_store(&fault, f);
		rc = sort(ks, w, merge, &err);
		ok(rc == (f ? SP_EBALANCE : 0) && output_is_old() == (f != NONE) &&
			   !atomic_exchange(&fault, NONE),
		   "%s%s, %s: %d %s", merge ? "-m, " : "", w->name, names[f], rc, err.text);
	}
}

int main(void)
{
	struct sp_keyset *ks = order_open(&orders[0]);

	make_input();
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		faults(ks, &ways[i], false);
	faults(ks, &ways[2], true);
	sp_keyset_free(ks);
	unlink(in);
	unlink(out);
	return done();
}
