/* SPDX-License-Identifier: MIT */
/*
 * Prepares a run: systems and tables; then, before each query, its index and plans.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/gen.h>
#include "base/clock.h"
#include "base/err.h"
#include "base/whole.h"
#include "dbm/run.h"

struct made {
	uint64_t t1_records, t2_records, t1_bytes, t2_bytes;
};

#define BLOCK ((size_t)1 << 20)

struct table {
	const struct sp_dbm_opts *opts;
	const char *path;
	struct sp_gen *gen;
	int fd;
	char *block;
	struct sp__dbm_truth *truth; /* answers to queries of T1; NULL: not known */
	uint64_t bytes;
};

static int write_blocks(struct table *t, struct sp_errinfo *err)
{
	long n = 0;
	int rc = 0;

	while (!rc && (n = sp_gen_fill(t->gen, t->block, BLOCK)) > 0) {
		if (t->opts->stop && *t->opts->stop)
			return sp__err(err, -ECANCELED, "write", t->path, -1);
		if (t->truth && !sp__truth_add(t->truth, t->block, (size_t)n))
			return sp__errf(err, SP_EFORMAT, "write", t->path, -1,
					"a line of the generator is not a record of T1");
		rc = sp__write_whole(t->fd, t->block, (size_t)n, t->bytes);
		t->bytes += (uint64_t)n;
	}
	rc = rc ? rc : (int)n;
	return rc < 0 ? sp__err(err, rc, "write", t->path, -1) : 0;
}

static int make(struct table *t, enum sp_gen_kind kind, uint64_t *records, struct sp_errinfo *err)
{
	struct sp_gen_opts o = SP_GEN_OPTS_INIT;
	int rc;

	o.kind = kind;
	o.scale = t->opts->scale;
	o.record_bytes = t->opts->record_bytes;
	o.shuffle = t->opts->shuffle;
	o.seed = t->opts->seed;
	rc = sp_gen_new(&t->gen, &o, err);
	if (rc)
		return rc;
	t->fd = open(t->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	t->block = malloc(BLOCK);
	if (t->fd < 0 || !t->block)
		rc = sp__err(err, t->fd < 0 ? -errno : -ENOMEM, "create", t->path, -1);
	if (!rc)
		rc = write_blocks(t, err);
	*records = sp_gen_count(t->gen);
	if (t->fd >= 0 && close(t->fd) && !rc)
		rc = sp__err(err, -errno, "close", t->path, -1);
	free(t->block);
	sp_gen_free(t->gen);
	return rc;
}

/*
 * Generates both tables, and counts T1 in the truth.  Returns 0; -ECANCELED if opts->stop says so;
 * -EINVAL if an option of the tables is wrong; -ENOMEM; or -errno.
 */
static int tables_make(const struct sp_dbm_opts *opts, const char *t1, const char *t2,
		       struct made *made, struct sp__dbm_truth *truth, struct sp_errinfo *err)
{
	struct table a = { .opts = opts, .path = t1, .truth = truth },
		     b = { .opts = opts, .path = t2 };
	int rc = make(&a, SP_GEN_T1, &made->t1_records, err);

	if (!rc)
		rc = make(&b, SP_GEN_T2, &made->t2_records, err);
	sp__truth_end(truth);
	made->t1_bytes = a.bytes;
	made->t2_bytes = b.bytes;
	return rc;
}

#define PLAN_MAX 16384

/* Returns 0 if a system of this name was not opened before. */
static int check_name(struct sp__dbm_run *run, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(run->adapters[i].name, run->adapters[n].name))
			return sp__invalid(run->err, run->adapters[n].name,
					   "two systems have one name");
	return 0;
}

static int open_system(struct sp__dbm_run *run, size_t i)
{
	struct sp_dbm_system *s = &run->result->systems[i];
	struct sp__adapter *a = &run->adapters[i];
	char line[SP__ADAPTER_LINE];
	const char *kept;
	int rc = sp__adapter_open(a, &run->place, run->opts->systems[i], run->opts->adapters,
				  run->folders.work, run->err);

	if (!rc)
		rc = check_name(run, i);
	if (rc)
		return rc;
	if (mkdir(a->folder, 0777))
		return sp__err(run->err, -errno, "create", a->folder, -1);
	s->name = sp__dbm_keep(run->result, a->name);
	s->load_s = s->index_s = NAN;
	s->empty = sp__usage_unknown();
	rc = s->name ? sp__adapter_version(a, line, run->err) : -ENOMEM;
	if (rc < 0)
		return sp__err(run->err, rc, "call", a->path, -1);
	kept = sp__dbm_keep(run->result, line);
	if (!kept)
		return sp__err(run->err, -ENOMEM, "call", a->path, -1);
	*(rc ? &s->failure : &s->version) = kept;
	return 0;
}

static int open_systems(struct sp__dbm_run *run)
{
	const struct sp_dbm_opts *o = run->opts;
	size_t working = 0;
	int rc = 0;

	run->result->systems = calloc(o->nsystems, sizeof(*run->result->systems));
	if (!run->result->systems)
		return sp__err(run->err, -ENOMEM, "measure", NULL, -1);
	for (size_t i = 0; !rc && i < o->nsystems; i++) {
		rc = open_system(run, i);
		run->result->nsystems += !rc;
		working += !rc && sp__dbm_works(run, i);
	}
	if (!rc && !working)
		rc = sp__errf(run->err, SP_EUNSUP, "measure", NULL, -1,
			      "no system works here; the first one, %s: %s",
			      run->result->systems[0].name, run->result->systems[0].failure);
	return rc;
}

static void name_cells(struct sp__dbm_run *run)
{
	const size_t n = run->result->nsystems;

	for (size_t i = 0; i < run->result->ncells; i++) {
		struct sp_dbm_cell *c = &run->result->cells[i];

		c->system = run->result->systems[i % n].name;
		c->query = run->rows[i / n].query;
		c->selectivity = run->rows[i / n].selectivity;
	}
}

/* Calls a verb and adds its time. */
static int timed(struct sp__adapter *a, const char *const *arguments, double *seconds,
		 struct sp_errinfo *err)
{
	const uint64_t begin = sp__now_ns();
	int rc = sp__adapter_call(a, arguments, NULL, 0, err);

	*seconds += (double)(sp__now_ns() - begin) / 1e9;
	return rc;
}

static int load(struct sp__dbm_run *run, size_t i, struct sp_errinfo *err)
{
	static const char *const loads[] = { "load", NULL };
	struct sp__adapter *a = &run->adapters[i];

	run->result->systems[i].load_s = run->result->systems[i].index_s = 0;
	a->started = true;
	return timed(a, loads, &run->result->systems[i].load_s, err);
}

/* Makes the index that a query is about. */
static int make_index(struct sp__dbm_run *run, size_t i, enum sp_dbm_query query,
		      struct sp_errinfo *err)
{
	static const char *const t2[] = { "index", "T2", "a1", NULL };
	static const char *const t1[] = { "index", "T1", "a2", NULL };
	struct sp_dbm_system *s = &run->result->systems[i];
	struct sp__adapter *a = &run->adapters[i];
	int rc =
		query == SP_DBM_USS ? 0 : timed(a, query == SP_DBM_UNJ ? t2 : t1, &s->index_s, err);

	if (!rc && sp__folder_bytes(a->folder, &s->loaded_bytes))
		rc = sp__err(err, -errno, "read", a->folder, -1);
	return rc;
}

/* Reads the plan of a row, whose bounds are those of a first query. */
static int read_plan(struct sp__dbm_run *run, size_t row, size_t i, struct sp_errinfo *err)
{
	struct sp_dbm_cell *c = &run->result->cells[row * run->result->nsystems + i];
	struct sp__dbm_question q;
	char lo[16], hi[16], text[PLAN_MAX];
	const char *arguments[] = { "plan", sp_dbm_query_name(c->query), lo, hi, NULL };
	int rc;

	sp__bounds_draw(run, row, 0, &q, 1);
	snprintf(lo, sizeof(lo), "%u", q.lo);
	snprintf(hi, sizeof(hi), "%u", q.hi);
	rc = sp__adapter_call(&run->adapters[i], arguments, text, sizeof(text), err);
	if (rc)
		return rc;
	c->plan_lacks = sp__plan_lacks(c->query, text);
	c->plan = *text ? sp__dbm_keep(run->result, text) : NULL;
	return *text && !c->plan ? sp__err(err, -ENOMEM, "measure", NULL, -1) : 0;
}

/* Loads a system, and measures what starting it takes. */
static int prepare(struct sp__dbm_run *run, size_t i, struct sp_errinfo *err)
{
	struct sp_dbm_usage used = { .counted = NAN };
	int rc;

	sp__dbm_tell(run, i, "load");
	rc = load(run, i, err);
	run->done++;
	sp__dbm_tell(run, i, "start");
	if (!rc)
		rc = sp__adapter_run(&run->adapters[i], &run->truth, run->questions, 0, 1, &used,
				     err);
	if (!rc)
		run->result->systems[i].empty = used;
	run->done++;
	return rc;
}

/* Makes the index of a query, and reads the plans of its rows. */
static int prepare_query(struct sp__dbm_run *run, size_t i, enum sp_dbm_query query,
			 struct sp_errinfo *err)
{
	int rc;

	sp__dbm_tell(run, i, "index");
	rc = make_index(run, i, query, err);
	for (size_t row = 0; !rc && row < run->nrows; row++)
		if (run->rows[row].query == query)
			rc = read_plan(run, row, i, err);
	return rc;
}

int sp__dbm_set_up_query(struct sp__dbm_run *run, enum sp_dbm_query query)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < run->result->nsystems; i++) {
		struct sp_errinfo err = SP_ERRINFO_INIT;

		if (!sp__dbm_works(run, i))
			continue;
		rc = prepare_query(run, i, query, &err);
		if (rc)
			rc = sp__dbm_leave_out(run, i, rc, &err);
	}
	return rc;
}

int sp__dbm_set_up(struct sp__dbm_run *run)
{
	struct made made = { 0 };
	int rc = open_systems(run);

	if (rc)
		return rc;
	name_cells(run);
	rc = tables_make(run->opts, run->folders.t1, run->folders.t2, &made, &run->truth, run->err);
	run->result->t1_records = made.t1_records;
	run->result->t2_records = made.t2_records;
	run->result->t1_bytes = made.t1_bytes;
	run->result->t2_bytes = made.t2_bytes;
	for (size_t i = 0; !rc && i < run->result->nsystems; i++) {
		struct sp_errinfo err = SP_ERRINFO_INIT;

		if (!sp__dbm_works(run, i))
			continue;
		rc = prepare(run, i, &err);
		if (rc)
			rc = sp__dbm_leave_out(run, i, rc, &err);
	}
	return rc;
}
