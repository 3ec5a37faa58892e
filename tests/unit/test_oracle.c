/* SPDX-License-Identifier: MIT */
/*
 * Compares the drive's times with those of an independent, validated simulator.
 *
 *	test_oracle [MODEL [CSV...]]
 *
 * A CSV file has the requests of one job and their times (tests/oracle/README.md).
 * Every request is served by the model from the recorded end of the one before;
 * the simulator that made the files loses up to 0.5 ns a block, so the
 * tolerance is 1 us + 0.5 ns x blocks so far.  At most 0.3 % may differ by one
 * revolution.  Files whose name tells a scheduler (..._fcfs, _clook, _sstf,
 * _sptf) are also run as a whole through the simulated block device: the order
 * of completion must be the same, for SPTF the mean response time within 1 %.
 * That simulator gives an idle drive the first of several requests of the same
 * moment, ours lets the scheduler choose; so those of the start are submitted
 * 1 ns after each other.
 *
 * Without arguments: tests/oracle/atlas10k3_like.json and all files there.
 */
#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "dev/device.h"
#include "dev/drive.h"
#include "sim/blockdev.h"
#include "tap.h"

struct row {
	struct sp__blockreq req; /* first: the block device gives it back */
	uint64_t submit_ns, complete_ns;
	uint64_t lbn;
	uint32_t blocks;
	bool write;
	size_t idx;
	double cyl, head, sector; /* where its last track begins; NAN if not given */
};

struct job {
	const char *path, *name;
	size_t n;
	struct row *rows;  /* in order of submission */
	struct row **done; /* in order of completion */
};

static int column(const char *head, const char *name)
{
	size_t len = strlen(name);

	for (int i = 0;; i++) {
		if (!strncmp(head, name, len) && strchr(",\r\n", head[len]))
			return i;
		head = strchr(head, ',');
		if (!head++)
			return -1;
	}
}

static double value(const char *line, int col)
{
	while (col-- && line)
		line = (line = strchr(line, ',')) ? line + 1 : NULL;
	return line ? strtod(line, NULL) : NAN;
}

static uint64_t ns(double ms)
{
	return (uint64_t)llround(ms * 1e6);
}

static int by_submission(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->submit_ns != y->submit_ns)
		return x->submit_ns < y->submit_ns ? -1 : 1;
	return (x->idx > y->idx) - (x->idx < y->idx);
}

static int by_completion(const void *a, const void *b)
{
	const struct row *const *x = a, *const *y = b;

	if ((*x)->complete_ns != (*y)->complete_ns)
		return (*x)->complete_ns < (*y)->complete_ns ? -1 : 1;
	return by_submission(*x, *y);
}

enum { IDX, SUBMIT, COMPLETE, LBN, N, READ, CYL, HEAD, SECTOR, COLUMNS };

/* The last three may be missing. NULL, or what is wrong. */
static const char *columns(const char *line, int col[COLUMNS])
{
	static const char *const names[COLUMNS] = { "idx", "submit_ms", "complete_ms",
						    "lbn", "nblocks",	"is_read",
						    "cyl", "head",	"sector" };

	for (int i = 0; i < COLUMNS; i++) {
		col[i] = column(line, names[i]);
		if (col[i] < 0 && i < CYL)
			return names[i];
	}
	return NULL;
}

static bool add_row(struct job *j, const char *line, const int col[COLUMNS], uint64_t blocks)
{
	double v[COLUMNS];

	for (int i = 0; i < COLUMNS; i++)
		v[i] = col[i] < 0 ? NAN : value(line, col[i]);
	if (!(v[LBN] >= 0 && v[N] >= 1 && v[LBN] + v[N] <= (double)blocks && v[SUBMIT] >= 0 &&
	      v[COMPLETE] > v[SUBMIT]))
		return false;
	if (!(j->n & (j->n - 1)))
		j->rows = realloc(j->rows, (j->n ? 2 * j->n : 1) * sizeof(*j->rows));
	j->rows[j->n++] = (struct row){ .submit_ns = ns(v[SUBMIT]),
					.complete_ns = ns(v[COMPLETE]),
					.lbn = (uint64_t)v[LBN],
					.blocks = (uint32_t)v[N],
					.write = v[READ] == 0,
					.idx = (size_t)v[IDX],
					.cyl = v[CYL],
					.head = v[HEAD],
					.sector = v[SECTOR] };
	return true;
}

/* Returns NULL if the file is right, otherwise the reason. */
static const char *load(struct job *j, uint64_t blocks)
{
	FILE *f = fopen(j->path, "re");
	const char *reason = NULL;
	char line[1024];
	int col[COLUMNS];

	if (!f)
		return "cannot be opened";
	reason = fgets(line, sizeof(line), f) ? columns(line, col) : "is empty";
	while (!reason && fgets(line, sizeof(line), f)) {
		if (!add_row(j, line, col, blocks))
			reason = "has a request that is not on the drive";
	}
	fclose(f);
	if (reason || !j->n)
		return reason ? reason : "has no requests";
	qsort(j->rows, j->n, sizeof(*j->rows), by_submission);
	j->done = calloc(j->n, sizeof(*j->done));
	for (size_t i = 0; i < j->n; i++)
		j->done[i] = &j->rows[i];
	qsort(j->done, j->n, sizeof(struct row *), by_completion);
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Are the requests where they are recorded to be? */
static void check_places(const struct job *j, const struct sp__drive *d)
{
	size_t wrong = 0;

	if (isnan(j->rows[0].cyl) || isnan(j->rows[0].head) || isnan(j->rows[0].sector))
		return;
	for (size_t i = 0; i < j->n; i++) {
		const struct row *r = &j->rows[i];
		struct sp__track t;
		uint64_t first, sector;
		uint32_t cyl, head;

		sp__trackmap_find(d->map, r->lbn + r->blocks - 1, &t);
		first = r->lbn > t.first_lbn ? r->lbn : t.first_lbn;
		sector = sp__trackmap_sector(d->map, first) - t.first_sector;
		sp__drive_where(d, &t, &cyl, &head);
		if ((r->cyl != cyl || r->head != head || r->sector != (double)sector) &&
		    wrong++ < 5)
			diag("request %zu: cylinder %u, head %u, sector %" PRIu64, r->idx, cyl,
			     head, sector);
	}
	ok(!wrong, "%s: each request is at the cylinder, head and sector recorded", j->name);
}

/* Each request by itself. */
static void check_times(const struct job *j, const struct sp__model *m)
{
	double period = (double)sp__model_drive(m)->period_den /
			(double)sp__model_drive(m)->period_num,
	       blocks = 0;
	double *errors = calloc(j->n, sizeof(*errors));
	size_t flips = 0, wrong = 0, n = 0, split = 0;
	uint64_t free_ns = 0;
	struct sp__device d;

	if (!errors || sp__device_open(&d, m))
		abort();
	for (size_t i = 0; i < j->n; i++) {
		const struct row *r = j->done[i];
		uint64_t start = r->submit_ns + m->overhead_ns[r->write];
		struct sp__subreq p[1];
		struct sp__service s;
		uint32_t got = r->blocks;
		double off, tolerance;

		split += m->ops->split(m, d.state, 0, r->write, r->lbn, &got, p, 1) != 1;
		m->ops->serve(m, d.state, start > free_ns ? start : free_ns, p, &s);
		free_ns = r->complete_ns;
		blocks += r->blocks;
		tolerance = 1000 + 0.5 * blocks;
		off = (double)s.done_ns - (double)r->complete_ns;
		if (fabs(off) <= tolerance) {
			errors[n++] = fabs(off);
		} else if (fabs(fabs(off) - period) <= tolerance) {
			flips++;
		} else if (wrong++ < 5) {
			diag("request %zu (LBN %" PRIu64 ", %u blocks): off by %.0f ns", r->idx,
			     r->lbn, r->blocks, off);
		}
	}
	sp__device_close(&d);
	qsort(errors, n, sizeof(*errors), by_value);
	diag("%s: %zu requests, error median %.3f, p99 %.3f, max %.3f us, %zu off by one "
	     "revolution, %zu wrong",
	     j->name, j->n, n ? errors[n / 2] / 1e3 : 0, n ? errors[n * 99 / 100] / 1e3 : 0,
	     n ? errors[n - 1] / 1e3 : 0, flips, wrong);
	ok(!wrong && !split, "%s: each request takes as long as recorded", j->name);
	ok((double)flips <= 0.003 * (double)j->n,
	   "%s: not more than 0.3 %% differ by one revolution", j->name);
	free(errors);
}

/* The scheduler that the file's name tells; NULL if none. */
static const char *scheduler(const char *name)
{
	static const char *const words[][2] = { { "_fcfs", "noop" },   { "_noop", "noop" },
						{ "_clook", "clook" }, { "_look", "look" },
						{ "_sstf", "sstf" },   { "_sptf", "sptf" },
						{ "_aspctf", "sptf" } };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strstr(name, words[i][0]))
			return words[i][1];
	}
	return NULL;
}

/* Does every later request come at a moment when one has completed? */
static bool closed_loop(const struct job *j, size_t depth)
{
	for (size_t i = depth, k = 0; i < j->n; i++, k++) {
		if (j->rows[i].submit_ns != j->done[k]->complete_ns)
			return false;
	}
	return true;
}

static void submit(struct sp__blockdev *bd, struct row *r, uint64_t now_ns)
{
	struct sp__blockreq *req = &r->req;

	*req = (struct sp__blockreq){ .lbn = r->lbn, .blocks = r->blocks, .write = r->write };
	sp__blockdev_submit(bd, now_ns, &req, 1, false);
}

/* Runs the job; fills order, and returns how many have completed. */
static size_t run(const struct job *j, struct sp__blockdev *bd, bool closed, size_t depth,
		  struct row **order)
{
	size_t next = 0, done = 0;
	uint64_t now;

	for (; next < (closed ? depth : 0); next++)
		submit(bd, &j->rows[next], next);
	for (;;) {
		struct sp__blockreq *r;

		now = sp__blockdev_next_ns(bd);
		if (!closed && next < j->n && j->rows[next].submit_ns <= now) {
			now = j->rows[next].submit_ns;
			submit(bd, &j->rows[next++], now);
		}
		if (now == SP__NEVER)
			return done;
		for (r = sp__blockdev_advance(bd, now); r;) {
			struct row *row = (struct row *)(void *)r;

			r = r->next;
			order[done++] = row;
			if (closed && next < j->n)
				submit(bd, &j->rows[next++], now);
		}
	}
}

static double mean(const struct job *j, struct row **order, bool recorded)
{
	double sum = 0;

	for (size_t i = 0; i < j->n; i++) {
		const struct row *r = order[i];

		sum += recorded ? (double)(r->complete_ns - r->submit_ns)
				: (double)(r->req.done_ns - r->req.submit_ns);
	}
	return sum / (double)j->n / 1e6;
}

/* The whole job through the scheduler. */
static void check_order(const struct job *j, const struct sp__model *m, const char *sched)
{
	bool sptf = !strcmp(sched, "sptf");
	struct sp__blockdev_opts opts = { .sched = sptf ? "noop" : sched,
					  .window = sptf ? 65536 : 1,
					  .policy = sptf ? SP__WINDOW_SPTF : SP__WINDOW_FIFO };
	struct row **order = calloc(j->n, sizeof(*order));
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__blockdev *bd;
	size_t depth = 1, same = 0, done;
	double ours, theirs;
	bool closed;

	while (depth < j->n && j->rows[depth].submit_ns == j->rows[0].submit_ns)
		depth++;
	closed = closed_loop(j, depth);
	if (!order || sp__blockdev_open(&bd, m, &opts, &err)) {
		ok(false, "%s: the block device opens: %s", j->name, err.text);
		return;
	}
	done = run(j, bd, closed, depth, order);
	sp__blockdev_close(bd);
	if (!ok(done == j->n, "%s: all requests complete", j->name))
		return;
	while (same < j->n && order[same] == j->done[same])
		same++;
	ours = mean(j, order, false);
	theirs = mean(j, order, true);
	diag("%s: %s, %zu outstanding%s, %zu of %zu in the same order, mean response %.3f ms, "
	     "recorded %.3f",
	     j->name, sched, depth, closed ? "" : " at first, open loop", same, j->n, ours, theirs);
	if (!sptf)
		ok(same == j->n, "%s: requests complete in the recorded order", j->name);
	ok(fabs(ours - theirs) <= 0.01 * theirs, "%s: the mean response time is within 1 %%",
	   j->name);
	free(order);
}

static void check(const char *path, const struct sp__model *m)
{
	const char *base = strrchr(path, '/'), *reason, *sched;
	struct job j = { .path = path, .name = base ? base + 1 : path };

	reason = load(&j, m->blocks);
	if (ok(!reason, "%s is a job for %s%s%s", path, m->name, reason ? ": " : "",
	       reason ? reason : "")) {
		check_places(&j, sp__model_drive(m));
		check_times(&j, m);
		sched = scheduler(j.name);
		if (sched)
			check_order(&j, m, sched);
	}
	free(j.rows);
	free(j.done);
}

int main(int argc, char **argv)
{
	const char *model = argc > 1 ? argv[1] : "tests/oracle/atlas10k3_like.json";
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__model *m;
	glob_t g = { 0 };

	if (!ok(!sp__model_load(&m, model, &err), "%s is a model %s", model, err.text))
		return done();
	if (!ok(sp__model_drive(m), "%s is a rotating drive", model)) {
		sp__model_free(m);
		return done();
	}
	for (int i = 2; i < argc; i++)
		check(argv[i], m);
	if (argc < 2) {
		glob("tests/oracle/*.csv", 0, NULL, &g);
		ok(g.gl_pathc > 0, "there are jobs in tests/oracle");
		for (size_t i = 0; i < g.gl_pathc; i++)
			check(g.gl_pathv[i], m);
		globfree(&g);
	}
	sp__model_free(m);
	return done();
}
