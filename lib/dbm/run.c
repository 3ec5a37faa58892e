/* SPDX-License-Identifier: MIT */
/*
 * Opens and closes a run, and computes the means, intervals and ratios of its cells.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <spindle/dbm.h>
#include "base/array.h"
#include "base/clock.h"
#include "base/err.h"
#include "benchset/stat.h"
#include "dbm/run.h"
#include "run/memory.h"

/*
 * Cells of one query and selectivity follow each other, one for each system; a round has one unit
 * of each.  So a ratio compares units that are neighbours in time (benchset/stat.h).
 */
struct work {
	struct sp_dbm_result *r;
	const struct sp_dbm_opts *opts;
	double (*simulated)[SP_DBM_EVENTS];
	double *values;
};

static const struct sp_dbm_unit *unit_of(const struct sp_dbm_result *r, size_t cell, unsigned round)
{
	for (size_t i = 0; i < r->nunits; i++)
		if (r->units[i].cell == cell && r->units[i].round == round)
			return &r->units[i];
	return NULL;
}

static double queries(const struct work *w)
{
	return (double)w->opts->unit * w->opts->clients;
}

static void compute_times(const struct work *w, size_t cell)
{
	struct sp_dbm_cell *c = &w->r->cells[cell];
	double sum = 0, squares = 0;
	size_t n = 0;

	for (unsigned round = 0; round < w->opts->rounds; round++) {
		const struct sp_dbm_unit *u = unit_of(w->r, cell, round);

		if (u)
			w->values[n++] = u->usage.wall_s / queries(w);
	}
	for (size_t i = 0; i < n; i++)
		sum += w->values[i];
	for (size_t i = 0; i < n; i++)
		squares += (w->values[i] - sum / (double)n) * (w->values[i] - sum / (double)n);
	c->deviation = n > 1 ? sqrt(squares / (double)(n - 1)) / (sum / (double)n) : NAN;
	c->query_s = sp__stat_estimate(w->values, n);
}

static void compute_ratio(const struct work *w, size_t cell, size_t first)
{
	struct sp_dbm_cell *c = &w->r->cells[cell];
	const double base = w->r->cells[first].query_s.value, own = c->query_s.value;
	size_t n = 0;

	for (unsigned round = 0; round < w->opts->rounds; round++) {
		const struct sp_dbm_unit *a = unit_of(w->r, first, round);
		const struct sp_dbm_unit *b = unit_of(w->r, cell, round);

		if (a && b)
			w->values[n++] =
				(b->usage.wall_s / own - a->usage.wall_s / base) / queries(w);
	}
	c->ratio = sp__stat_ratio(own / base, w->values, n);
}

static void add_usage(struct sp_dbm_usage *to, const struct sp_dbm_usage *u, double part)
{
	to->wall_s += part * u->wall_s;
	to->user_s += part * u->user_s;
	to->system_s += part * u->system_s;
	to->read_bytes += (uint64_t)llround(part * (double)u->read_bytes);
	to->write_bytes += (uint64_t)llround(part * (double)u->write_bytes);
	to->reads += (uint64_t)llround(part * (double)u->reads);
	to->writes += (uint64_t)llround(part * (double)u->writes);
	to->peak_bytes = u->peak_bytes > to->peak_bytes ? u->peak_bytes : to->peak_bytes;
	to->counted = fmin(to->counted, u->counted);
	for (int e = 0; e < SP_DBM_EVENTS; e++) {
		to->events[e] += part * u->events[e];
		to->kernel[e] += part * u->kernel[e];
	}
}

static void compute_usage(struct sp_dbm_result *r, size_t cell)
{
	struct sp_dbm_cell *c = &r->cells[cell];
	double selectivity = 0;

	c->usage = (struct sp_dbm_usage){ .counted = NAN };
	for (size_t i = 0; i < r->nunits; i++) {
		if (r->units[i].cell != cell)
			continue;
		add_usage(&c->usage, &r->units[i].usage, 1.0 / c->units);
		selectivity += r->units[i].true_selectivity / c->units;
	}
	c->true_selectivity = selectivity;
}

/* Computes the events of a query, without those of a unit without queries. */
static void compute_events(const struct work *w, size_t cell)
{
	struct sp_dbm_cell *c = &w->r->cells[cell];
	const struct sp_dbm_usage *empty = &w->r->systems[cell % w->r->nsystems].empty;
	const double *e = c->events;

	for (int i = 0; i < SP_DBM_EVENTS; i++)
		c->events[i] =
			w->simulated ? w->simulated[cell][i] - empty->events[i]
				     : (c->usage.events[i] - w->opts->clients * empty->events[i]) /
					       queries(w);
	c->instructions_per_row = e[SP_DBM_INSTRUCTIONS] / (double)w->r->t1_records;
	c->cpi = e[SP_DBM_CYCLES] / e[SP_DBM_INSTRUCTIONS];
	for (int i = 0; i < SP_DBM_EVENTS; i++)
		c->misses[i] = 1000 * e[i] / e[SP_DBM_INSTRUCTIONS];
}

static void forget(struct sp_dbm_cell *c)
{
	const struct sp_benchset_estimate none = { NAN, NAN, NAN };

	c->query_s = c->ratio = none;
	c->true_selectivity = c->deviation = c->instructions_per_row = c->cpi = NAN;
	c->usage = sp__usage_unknown();
	for (int i = 0; i < SP_DBM_EVENTS; i++)
		c->events[i] = c->misses[i] = NAN;
}

/* Returns the first cell of the same query that was measured: that of the first system. */
static size_t first_of(const struct sp_dbm_result *r, size_t cell)
{
	size_t first = cell - cell % r->nsystems;

	while (first < cell && !r->cells[first].units)
		first++;
	return first;
}

int sp__cells_compute(struct sp_dbm_result *result, const struct sp_dbm_opts *opts,
		      double (*simulated)[SP_DBM_EVENTS])
{
	struct work w = { result, opts, simulated, calloc(opts->rounds + 1, sizeof(double)) };

	if (!w.values)
		return -ENOMEM;
	for (size_t i = 0; i < result->ncells; i++)
		result->cells[i].units = 0;
	for (size_t i = 0; i < result->nunits; i++)
		result->cells[result->units[i].cell].units++;
	for (size_t i = 0; i < result->ncells; i++) {
		forget(&result->cells[i]);
		if (!result->cells[i].units)
			continue;
		compute_times(&w, i);
		compute_ratio(&w, i, first_of(result, i));
		compute_usage(result, i);
		compute_events(&w, i);
	}
	free(w.values);
	return 0;
}

/* Reads the name of the processor; "" if the kernel does not tell. */
static void read_processor(char *name, size_t capacity)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256];

	*name = 0;
	while (f && !*name && fgets(line, sizeof(line), f)) {
		const char *colon = strstr(line, ": ");

		if (colon && !strncmp(line, "model name", 10))
			snprintf(name, capacity, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
	}
	if (f)
		fclose(f);
}

/* Sets machine, kernel, processors and memory_bytes of a result.  Returns 0 or -ENOMEM. */
static int dbm_machine(struct sp_dbm_result *result)
{
	struct utsname u = { 0 };
	char name[256], kernel[256] = "";

	read_processor(name, sizeof(name));
	if (!uname(&u))
		snprintf(kernel, sizeof(kernel), "%.60s %.60s %.60s", u.sysname, u.release,
			 u.machine);
	result->machine = sp__dbm_keep(result, name);
	result->kernel = sp__dbm_keep(result, kernel);
	result->processors = sp__threads(0);
	result->memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	return result->machine && result->kernel ? 0 : -ENOMEM;
}

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
		rc = dbm_machine(run->result);
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
