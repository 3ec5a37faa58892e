/* SPDX-License-Identifier: MIT */
/*
 * Opens and closes a run.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/array.h"
#include "base/clock.h"
#include "base/err.h"
#include "dbm/cells.h"
#include "dbm/machine.h"
#include "dbm/run.h"

/* Texts of a result. */
struct texts {
	char **list;
	size_t n;
};

const char *sp__dbm_keep(struct sp_dbm_result *result, const char *text)
{
	struct texts *t = result->own;
	char *copy = strdup(text);

	if (!copy || !SP__ARRAY_GROW_BY_ONE(t->list, t->n)) {
		free(copy);
		return NULL;
	}
	t->list[t->n++] = copy;
	return copy;
}

void sp_dbm_free(struct sp_dbm_result *result)
{
	struct texts *t = result->own;

	for (size_t i = 0; t && i < t->n; i++)
		free(t->list[i]);
	if (t)
		free(t->list);
	free(t);
	free(result->systems);
	free(result->cells);
	free(result->units);
	*result = (struct sp_dbm_result){ 0 };
}

void sp__dbm_tell(struct sp__dbm_run *run, size_t system, const char *what)
{
	const struct sp_dbm_opts *o = run->opts;

	if (o->progress)
		o->progress(o->progress_arg, run->result->systems[system].name, what,
			    (double)run->done / run->steps);
}

int sp__dbm_leave_out(struct sp__dbm_run *run, size_t system, int rc, struct sp_errinfo *reason)
{
	struct sp_dbm_system *s = &run->result->systems[system];

	s->failure =
		rc == -ECANCELED ? NULL : sp__dbm_keep(run->result, sp__adapter_reason(reason));
	if (!sp__adapter_at_fault(rc)) {
		*run->err = *reason;
		return rc;
	}
	/* Its servers must not disturb the others.  That it fails is said already. */
	(void)!sp__adapter_drop(&run->adapters[system], NULL);
	if (!s->failure)
		return sp__err(run->err, -ENOMEM, "measure", s->name, -1);
	for (size_t i = 0; i < run->result->nsystems; i++)
		if (sp__dbm_works(run, i))
			return 0;
	*run->err = *reason;
	return rc;
}

static int add_row(struct sp__dbm_run *run, enum sp_dbm_query query, double selectivity)
{
	if (!SP__ARRAY_GROW_BY_ONE(run->rows, run->nrows))
		return sp__err(run->err, -ENOMEM, "measure", NULL, -1);
	run->rows[run->nrows++] = (struct sp__dbm_row){ query, selectivity };
	return 0;
}

static int make_rows(struct sp__dbm_run *run)
{
	static const double usual[SP_DBM_QUERIES] = { 0.2, 0.2, 0.001 };
	const struct sp_dbm_opts *o = run->opts;
	int rc = 0;

	for (unsigned q = 0; !rc && q < SP_DBM_QUERIES; q++) {
		if (!(o->queries >> q & 1))
			continue;
		for (size_t i = 0; !rc && i < o->nselectivities; i++)
			rc = add_row(run, q, o->selectivities[i]);
		if (!rc && !o->nselectivities)
			rc = add_row(run, q, usual[q]);
	}
	return rc;
}

static int make_cells(struct sp__dbm_run *run)
{
	struct sp_dbm_result *r = run->result;
	int rc = make_rows(run);

	if (rc)
		return rc;
	r->ncells = run->nrows * run->opts->nsystems;
	r->cells = calloc(r->ncells, sizeof(*r->cells));
	r->units = calloc(r->ncells * run->opts->rounds + 1, sizeof(*r->units));
	run->questions =
		calloc((size_t)run->opts->unit * run->opts->clients, sizeof(*run->questions));
	if (!r->cells || !r->units || !run->questions)
		return sp__err(run->err, -ENOMEM, "measure", NULL, -1);
	/* Loading, an empty unit, and the units, of which warm runs have a round more. */
	run->steps = (unsigned)(run->opts->nsystems *
				(2 + run->nrows * (run->opts->rounds + !run->opts->cold)));
	return 0;
}

static int check_options(const struct sp_dbm_opts *o, struct sp_errinfo *err)
{
	if (!o->nsystems || o->nsystems > SP_DBM_SYSTEMS_MAX)
		return sp__invalid(err, NULL, "1 to %d systems can be measured",
				   SP_DBM_SYSTEMS_MAX);
	if (!o->queries || o->queries >> SP_DBM_QUERIES)
		return sp__invalid(err, NULL, "there is no query to measure");
	for (size_t i = 0; i < o->nselectivities; i++)
		if (!(o->selectivities[i] > 0 && o->selectivities[i] <= 1))
			return sp__invalid(err, NULL,
					   "a selectivity is above 0 and at most 100 %%");
	if (!o->unit || o->unit > SP_DBM_UNIT_MAX || !o->clients || !o->rounds)
		return sp__invalid(err, NULL,
				   "a unit has 1 to %d queries, of at least one client, "
				   "in at least one round",
				   SP_DBM_UNIT_MAX);
	return 0;
}

static int make_simulated(struct sp__dbm_run *run)
{
	const size_t n = run->result->ncells;

	run->simulated = calloc(n, sizeof(*run->simulated));
	for (size_t i = 0; run->simulated && i < n; i++)
		for (int e = 0; e < SP_DBM_EVENTS; e++)
			run->simulated[i][e] = NAN;
	run->steps += (unsigned)n;
	return run->simulated ? 0 : sp__err(run->err, -ENOMEM, "measure", NULL, -1);
}

/* Opens what the adapters share. */
static int open_place(struct sp__dbm_run *run, char *reason, size_t capacity)
{
	const struct sp_dbm_opts *o = run->opts;
	int rc = sp__folders_open(&run->folders, o->folder, run->err);

	run->place = (struct sp__dbm_place){
		.logs = run->folders.logs,
		.t1 = run->folders.t1,
		.t2 = run->folders.t2,
		.parallel = o->parallel ? o->parallel : run->result->processors,
		.record_bytes = o->record_bytes,
		.limits = { o->timeout_ns, o->stop },
	};
	if (!rc)
		rc = sp__counting_open(&run->counting, o->counters, run->folders.sim, reason,
				       capacity, run->err);
	run->place.counting = &run->counting;
	run->result->counters = run->counting.kind;
	if (!rc && run->counting.kind == SP_DBM_COUNTERS_SIM)
		rc = make_simulated(run);
	if (!rc && *reason && !(run->result->counters_reason = sp__dbm_keep(run->result, reason)))
		rc = sp__err(run->err, -ENOMEM, "measure", NULL, -1);
	return rc;
}

static int open_run(struct sp__dbm_run *run)
{
	char reason[256] = "";
	int rc;

	run->result->own = calloc(1, sizeof(struct texts));
	run->adapters = calloc(run->opts->nsystems, sizeof(*run->adapters));
	if (!run->result->own || !run->adapters)
		return sp__err(run->err, -ENOMEM, "measure", NULL, -1);
	rc = sp__truth_open(&run->truth);
	if (!rc)
		rc = sp__dbm_machine(run->result);
	if (rc)
		return sp__err(run->err, rc, "measure", NULL, -1);
	rc = make_cells(run);
	return rc ? rc : open_place(run, reason, sizeof(reason));
}

/* Ends all servers, and removes all data. */
static int close_run(struct sp__dbm_run *run, int rc)
{
	for (size_t i = 0; run->adapters && i < run->opts->nsystems; i++) {
		struct sp_errinfo err = SP_ERRINFO_INIT;
		int dropped = sp__adapter_drop(&run->adapters[i], &err);

		if (dropped && !rc) {
			*run->err = err;
			rc = dropped;
		}
		sp__adapter_close(&run->adapters[i]);
	}
	free(run->adapters);
	free(run->rows);
	free(run->questions);
	free(run->simulated);
	sp__truth_close(&run->truth);
	if (rc)
		(void)!sp__folders_close(&run->folders, NULL);
	else
		rc = sp__folders_close(&run->folders, run->err);
	return rc;
}

int sp_dbm_run(const struct sp_dbm_opts *opts, struct sp_dbm_result *result, struct sp_errinfo *err)
{
	struct sp__dbm_run run = { .opts = opts, .result = result, .err = err };
	const uint64_t begin = sp__now_ns();
	int rc;

	*result = (struct sp_dbm_result){ 0 };
	rc = check_options(opts, err);
	if (rc)
		return rc;
	rc = open_run(&run);
	if (!rc)
		rc = sp__dbm_set_up(&run);
	if (!rc)
		rc = sp__dbm_measure(&run);
	if (result->cells && sp__cells_compute(result, opts, run.simulated) && !rc)
		rc = sp__err(err, -ENOMEM, "measure", NULL, -1);
	if (rc == -ECANCELED) {
		result->stopped = true;
		*err = (struct sp_errinfo)SP_ERRINFO_INIT;
		rc = 0;
	}
	rc = close_run(&run, rc);
	result->elapsed_s = (double)(sp__now_ns() - begin) / 1e9;
	return rc;
}
