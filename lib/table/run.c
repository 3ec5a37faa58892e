/* SPDX-License-Identifier: MIT */
/*
 * Runs clients on tables (clients/client.h).
 *
 * Algorithm: each client is continued, in the order of their numbers, until all wait.  Then time
 * passes until a request completes, a client has thought, or a period ends.  So on a simulated
 * volume the result is the same on every host.
 *
 * A table is opened twice: to read the workload, which says whether it is changed, and to run.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <spindle/tablerun.h>
#include "base/clock.h"
#include "base/err.h"
#include "base/minmax.h"
#include "obs/hist.h"
#include "run/memory.h"
#include "table/clients/client.h"
#include "table/read/choice.h"

#define DEPTH 4096
#define WINDOW_BYTES (UINT64_C(4) << 20) /* maximum; scans read this much together */
#define POLL_NS UINT64_C(100000000)	 /* interval between checks of *stop, in real time */

struct run {
	const char *const *paths;
	unsigned ntables;
	const struct sp_table_run_opts *opts;
	struct sp_table_run_result *result;
	struct sp_run_opts run; /* options of the environment */
	char *volume;		/* simulated, of all tables */
	struct sp__env env;
	struct sp__client_table_name *names;
	struct sp__client_script script;
	struct sp__clients all;
	bool *changed; /* true for each table that the workload changes */
	struct sp__client *clients;
	struct sp__hist *hists; /* histogram of each line of all kinds */
	uint64_t begin_ns, measure_ns, end_ns;
	bool measuring;
	struct sp__io_counters before; /* measuring */
	struct sp_errinfo *err;
};

static int no_memory(const struct run *r)
{
	return sp__err(r->err, -ENOMEM, "run", NULL, -1);
}

/* Names a table by its file, without folder and extension. */
static int name_table(struct run *r, unsigned i)
{
	const char *slash = strrchr(r->paths[i], '/'), *name = slash ? slash + 1 : r->paths[i];
	const char *dot = strrchr(name, '.');

	r->names[i].name = dot && dot > name ? strndup(name, (size_t)(dot - name)) : strdup(name);
	if (!r->names[i].name)
		return no_memory(r);
	for (unsigned k = 0; k < i; k++)
		if (!strcmp(r->names[k].name, r->names[i].name))
			return sp__errf(r->err, SP_ESYNTAX, "run", r->paths[i], -1,
					"has the name of %s", r->paths[k]);
	return 0;
}

/*
 * Takes the simulated volume of a table, which is that of all.  The volume of a table along the
 * tracks of several drives has all of them.
 */
static int take_volume(struct run *r, const struct sp__tablefile *f, unsigned i)
{
	const char *volume = f->run.volume, *all = r->volume;

	if (i && !volume == !all && (!volume || !strcmp(volume, all)))
		return 0;
	if (i)
		return sp__errf(r->err, SP_EUNSUP, "run", f->path, -1,
				"lies on %s, and %s on %s: choose a volume for all",
				volume ? volume : "no simulated volume", r->paths[0],
				all ? all : "none");
	r->volume = volume ? strdup(volume) : NULL;
	r->run.volume = r->volume;
	if (f->cells.array)
		r->run.geometry = NULL; /* a geometry is of one drive */
	return volume && !r->volume ? no_memory(r) : 0;
}

/* Checks how a table that the workload changes can be changed. */
static int check_change(const struct run *r, const struct sp__client_step *s,
			const struct sp__tablefile *f)
{
	const bool no_data = f->superblock.no_data, journal = !r->opts->changed_bytes;

	if (s->kind <= SP__STEP_GET || (no_data && (!journal || s->kind == SP__STEP_UPDATE)) ||
	    (!no_data && journal))
		return 0;
	return sp__errf(r->err, SP_EUNSUP, "run", f->path, -1,
			no_data ? "insert and delete of a table without data need --journal=no"
				: "a table with data is changed through its journal");
}

static int check_script(struct run *r, const struct sp__client_table *tables)
{
	int rc = 0;

	for (size_t i = 0; i < r->script.n; i++)
		for (size_t k = 0; k < r->script.kinds[i].n; k++) {
			const struct sp__client_line *l = &r->script.kinds[i].lines[k];

			for (size_t j = 0; !rc && j < l->n; j++) {
				const struct sp__client_step *s = &l->steps[j];

				rc = check_change(r, s, &tables[s->table].file);
				r->changed[s->table] |= s->kind > SP__STEP_GET;
			}
		}
	return rc;
}

/* Opens the tables to read the workload, and closes them. */
static int read_script(struct run *r)
{
	const struct sp_run_opts plain = { .memory_bytes = r->run.memory_bytes,
					   .volume = r->run.volume };
	struct sp__client_table *tables = calloc(r->ntables, sizeof(*tables));
	unsigned n = 0;
	int rc = tables ? 0 : no_memory(r);

	for (; !rc && n < r->ntables; n++) {
		struct sp__tablefile *f = &tables[n].file;

		rc = sp__tablefile_open(f, r->paths[n], &plain, false, r->err);
		if (!rc)
			rc = name_table(r, n);
		if (!rc)
			rc = take_volume(r, f, n);
		r->names[n].schema = &f->schema;
		r->names[n].records = f->superblock.records;
	}
	if (!rc)
		rc = sp__client_script_read(&r->script, r->opts->workload, r->names, r->ntables,
					    r->err);
	if (!rc)
		rc = check_script(r, tables);
	while (n)
		(void)sp__tablefile_close(&tables[--n].file);
	free(tables);
	return rc;
}

static int open_tables(struct run *r)
{
	const bool journal = !r->opts->changed_bytes;
	int rc = 0;

	for (unsigned i = 0; !rc && i < r->ntables; i++) {
		struct sp__client_table *t = &r->all.tables[i];
		const bool write = journal && r->changed[i];

		t->number = i;
		rc = sp__tablefile_open_in(&t->file, r->paths[i], &r->run, &r->env, write, r->err);
		if (!rc && !write)
			rc = sp__tablefile_begin_reading(&t->file, r->err);
		if (!rc)
			rc = sp__columnjoin_set(&t->file, r->opts->dsm_join, r->err);
		t->file.env.err = r->err;
		t->file.io = (struct sp__io_counters){ 0 };
	}
	return rc;
}

static int open_clients(struct run *r)
{
	const uint64_t memory = sp__working_memory(&r->run, r->run.memory_bytes);
	struct sp__client *c;
	size_t lines = 0;

	for (size_t i = 0; i < r->script.n; i++)
		lines += r->script.kinds[i].n;
	r->hists = calloc(lines, sizeof(*r->hists));
	r->clients = c = calloc(r->script.clients, sizeof(*r->clients));
	if (!r->hists || !c)
		return no_memory(r);
	r->all.window_bytes =
		sp__min(memory / 2 / SP__CLIENT_AHEAD / r->script.clients, WINDOW_BYTES);
	for (size_t i = 0; i < r->script.n; i++)
		for (unsigned k = 0; k < r->script.kinds[i].clients; k++, c++)
			sp__client_open(c, &r->all, &r->script.kinds[i],
					r->run.seed + (uint64_t)(c - r->clients) * 2 + 1);
	return 0;
}

/* Lets the tables use the pool, with the queue of the clients. */
static int open_pool(struct run *r)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < r->ntables; i++) {
		struct sp__client_table *t = &r->all.tables[i];

		rc = sp__clotho_attach_file(&t->pool, &t->file, r->opts->pool, r->err);
		t->pool.user.requests = &r->all.requests;
	}
	if (!rc && !r->all.journal) {
		r->opts->pool->leaves = sp__clients_leave;
		r->opts->pool->leaves_arg = &r->all;
	}
	return rc;
}

/* Waits for all requests. */
static void drain(struct run *r)
{
	struct sp__queue *q = r->all.requests.queue;

	if (q && !sp__requests_flush(&r->all.requests))
		while (sp__queue_outstanding(q) && sp__queue_complete(q, 1, -1) >= 0)
			;
	if (r->opts->pool)
		r->opts->pool->leaves = NULL;
}

static int open_run(struct run *r)
{
	struct sp__queue_opts q = { .engine = r->run.engine,
				    .depth = r->opts->depth ? r->opts->depth : DEPTH };
	int rc = sp__env_open(&r->env, &r->run, r->err);

	if (!rc)
		rc = open_tables(r);
	q.trace = r->env.trace;
	q.device = r->env.device;
	if (!rc)
		rc = sp__requests_open(&r->all.requests, &q, r->err);
	r->all.requests.err = r->all.err = r->err;
	r->all.journal = !r->opts->changed_bytes;
	r->all.ntables = r->ntables;
	r->all.nclients = r->script.clients;
	if (!rc && r->opts->pool)
		rc = open_pool(r);
	if (!rc && !r->all.journal && sp__changed_open(&r->all.changed, r->opts->changed_bytes))
		rc = no_memory(r);
	return rc ? rc : open_clients(r);
}

/* Adds up the requests so far. */
static struct sp__io_counters count(const struct run *r)
{
	struct sp__io_counters io = *sp__queue_counters(r->all.requests.queue);
	const struct sp_run_stats *st = &r->all.stats.run;
	const struct sp__io_counters changes = { st->read_requests, st->read_bytes,
						 st->write_requests, st->write_bytes };

	sp__io_add(&io, &changes);
	for (unsigned i = 0; i < r->ntables; i++)
		sp__io_add(&io, &r->all.tables[i].file.io);
	return io;
}

static bool stopped(const struct run *r)
{
	return r->opts->stop && *r->opts->stop;
}

/* Returns the histogram of the line of a client's transaction. */
static struct sp__hist *hist_of(const struct run *r, const struct sp__client *c)
{
	struct sp__hist *h = r->hists;

	for (const struct sp__client_kind *k = r->script.kinds; k != c->kind; k++)
		h += k->n;
	return h + (c->line - c->kind->lines);
}

/* Counts a transaction that has ended, and lets the client think. */
static void end_transaction(const struct run *r, struct sp__client *c)
{
	const uint64_t now_ns = sp__env_now_ns(&r->env);

	if (r->measuring && now_ns <= r->end_ns) {
		sp__hist_add(hist_of(r, c), now_ns - c->begin_ns);
		c->transactions++;
	}
	c->line = NULL;
	c->wake_ns = now_ns + c->kind->think_ns;
}

/* Continues all clients that can continue.  Returns SP_READY if one has, 0, or an error. */
static int run_clients(struct run *r)
{
	uint64_t now_ns = sp__env_now_ns(&r->env);
	bool any = false;
	int rc = sp__requests_collect(&r->all.requests);

	r->all.progress = false;
	for (unsigned i = 0; !rc && i < r->script.clients; i++) {
		struct sp__client *c = &r->clients[i];

		if (!c->line && c->wake_ns > now_ns)
			continue;
		rc = sp__client_run(c);
		if (rc < 0)
			return rc;
		if (rc == SP_READY)
			end_transaction(r, c);
		any |= rc == SP_READY;
		rc = 0;
		now_ns = sp__env_now_ns(&r->env);
	}
	return rc ? rc : any || r->all.progress ? SP_READY : 0;
}

/* Waits for a request, the next client that has thought, or the moment. */
static int wait_until(struct run *r, uint64_t until_ns)
{
	const uint64_t now_ns = sp__env_now_ns(&r->env);
	int rc;

	for (unsigned i = 0; i < r->script.clients; i++)
		if (!r->clients[i].line)
			until_ns = sp__min(until_ns, r->clients[i].wake_ns);
	if (until_ns <= now_ns)
		return 0;
	if (r->env.device) {
		rc = sp__queue_complete(r->all.requests.queue, 0, 0);
		if (!rc)
			sp__volume_pass(r->env.device, until_ns);
		return rc < 0 ? sp__err(r->err, rc, "wait", NULL, -1) : 0;
	}
	until_ns = sp__min(until_ns, now_ns + POLL_NS);
	if (!sp__queue_outstanding(r->all.requests.queue)) {
		(void)sp__sleep_until(until_ns);
		return 0;
	}
	rc = sp__queue_complete(r->all.requests.queue, 1, (int64_t)(until_ns - now_ns));
	return rc < 0 ? sp__err(r->err, rc, "wait", NULL, -1) : 0;
}

static int loop(struct run *r)
{
	int rc = 0;

	r->begin_ns = sp__env_now_ns(&r->env);
	r->measure_ns = r->begin_ns + r->opts->ramp_ns;
	r->end_ns = r->measure_ns + r->opts->runtime_ns;
	while (!rc && !stopped(r)) {
		const uint64_t now_ns = sp__env_now_ns(&r->env);

		if (now_ns >= r->end_ns)
			return 0;
		if (!r->measuring && now_ns >= r->measure_ns) {
			r->measuring = true;
			r->before = count(r);
		}
		rc = run_clients(r);
		if (!rc)
			rc = wait_until(r, r->measuring ? r->end_ns : r->measure_ns);
		rc = rc == SP_READY ? 0 : rc;
	}
	return rc;
}

static struct sp_table_latencies latencies_of(const struct sp__hist *h, double seconds)
{
	if (!h->count)
		return (struct sp_table_latencies){ .mean_ns = NAN };
	return (struct sp_table_latencies){ .transactions = h->count,
					    .per_s = (double)h->count / seconds,
					    .mean_ns = (double)h->sum / (double)h->count,
					    .min_ns = h->min,
					    .p50_ns = sp__hist_quantile(h, 0.5),
					    .p90_ns = sp__hist_quantile(h, 0.9),
					    .p99_ns = sp__hist_quantile(h, 0.99),
					    .p999_ns = sp__hist_quantile(h, 0.999),
					    .max_ns = h->max };
}

/* Reports the lines of a kind of client.  Returns 0 or -ENOMEM. */
static int note_lines(const struct run *r, struct sp__client_kind *k, const struct sp__hist *hists,
		      struct sp_table_run_kind *to)
{
	const double seconds = r->result->measured_s;
	struct sp__hist *sum = calloc(1, sizeof(*sum));

	to->lines = calloc(k->n, sizeof(*to->lines));
	if (!sum || !to->lines) {
		free(sum);
		return -ENOMEM;
	}
	for (to->nlines = 0; to->nlines < k->n; to->nlines++) {
		struct sp__client_line *l = &k->lines[to->nlines];

		to->lines[to->nlines] =
			(struct sp_table_run_line){ l->text, l->weight,
						    latencies_of(&hists[to->nlines], seconds) };
		l->text = NULL;
		sp__hist_merge(sum, &hists[to->nlines]);
	}
	to->latencies = latencies_of(sum, seconds);
	free(sum);
	return 0;
}

/* Lists the clients of a kind that ended no transaction.  Returns 0 or -ENOMEM. */
static int note_starved(const struct sp__client *clients, struct sp_table_run_kind *to)
{
	to->starved = calloc(to->clients, sizeof(*to->starved));
	for (unsigned i = 0; to->starved && i < to->clients; i++)
		if (!clients[i].transactions)
			to->starved[to->nstarved++] = i;
	return to->starved ? 0 : -ENOMEM;
}

static int note_kinds(struct run *r)
{
	struct sp_table_run_result *to = r->result;
	const struct sp__client *clients = r->clients;
	const struct sp__hist *hists = r->hists;
	int rc;

	to->kinds = calloc(r->script.n, sizeof(*to->kinds));
	rc = to->kinds ? 0 : -ENOMEM;
	for (size_t i = 0; !rc && i < r->script.n; i++) {
		struct sp__client_kind *k = &r->script.kinds[i];
		struct sp_table_run_kind *kind = &to->kinds[to->nkinds++];

		kind->clients = k->clients;
		kind->think_ns = k->think_ns;
		rc = note_lines(r, k, hists, kind);
		if (!rc)
			rc = note_starved(clients, kind);
		hists += k->n;
		clients += k->clients;
	}
	return rc ? no_memory(r) : 0;
}

static int note(struct run *r)
{
	struct sp_table_run_result *to = r->result;
	const struct sp__io_counters io = count(r);
	const uint64_t now_ns = sp__min(sp__env_now_ns(&r->env), r->end_ns);

	to->stopped = stopped(r);
	to->measured_s = r->measuring ? (double)(now_ns - r->measure_ns) * 1e-9 : 0;
	if (r->measuring) {
		to->requests = io.read_requests - r->before.read_requests + io.write_requests -
			       r->before.write_requests;
		to->request_bytes = io.read_bytes - r->before.read_bytes + io.write_bytes -
				    r->before.write_bytes;
	}
	to->stats = r->all.stats;
	if (r->opts->pool)
		sp_pool_counters(r->opts->pool, &to->stats.pool);
	to->stats.run.read_requests = io.read_requests;
	to->stats.run.read_bytes = io.read_bytes;
	to->stats.run.write_requests = io.write_requests;
	to->stats.run.write_bytes = io.write_bytes;
	snprintf(to->stats.run.engine, sizeof(to->stats.run.engine), "%s",
		 sp__queue_engine(r->all.requests.queue));
	sp__env_note(&r->env, &to->stats.run, true);
	return note_kinds(r);
}

static int close_run(struct run *r)
{
	int rc = 0;

	drain(r);
	for (unsigned i = 0; r->clients && i < r->script.clients; i++)
		sp__client_close(&r->clients[i]);
	for (unsigned i = 0; r->all.tables && i < r->ntables; i++)
		sp__clotho_detach_file(&r->all.tables[i].pool);
	sp__requests_close(&r->all.requests);
	sp__changed_close(&r->all.changed);
	for (unsigned i = 0; r->all.tables && i < r->ntables; i++) {
		struct sp__tablefile *f = &r->all.tables[i].file;

		if (!f->path)
			continue;
		sp__tablefile_end_reading(f);
		(void)sp__tablefile_close(f);
	}
	if (r->env.opts)
		rc = sp__env_close(&r->env);
	for (unsigned i = 0; r->names && i < r->ntables; i++)
		free((char *)(uintptr_t)r->names[i].name);
	free(r->volume);
	sp__client_script_free(&r->script);
	free(r->names);
	free(r->all.tables);
	free(r->changed);
	free(r->clients);
	free(r->hists);
	return rc;
}

int sp_table_run(const char *const *tables, size_t ntables, const struct sp_table_run_opts *opts,
		 struct sp_table_run_result *result, struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct run r = { .paths = tables,
			 .ntables = (unsigned)ntables,
			 .opts = opts,
			 .result = result,
			 .run = opts->run,
			 .err = err ? err : &own };
	int rc, closed;

	*result = (struct sp_table_run_result){ 0 };
	r.names = calloc(ntables + 1, sizeof(*r.names));
	r.all.tables = calloc(ntables + 1, sizeof(*r.all.tables));
	r.changed = calloc(ntables + 1, sizeof(*r.changed));
	if (!r.names || !r.all.tables || !r.changed)
		rc = no_memory(&r);
	else if (!ntables || !opts->workload)
		rc = sp__errf(r.err, SP_ESYNTAX, "run", NULL, -1,
			      "a run needs a table and a workload");
	else
		rc = read_script(&r);
	if (!rc)
		rc = open_run(&r);
	if (!rc)
		rc = loop(&r);
	if (!rc)
		rc = note(&r);
	closed = close_run(&r);
	rc = rc ? rc : closed;
	if (rc)
		sp_table_run_free(result);
	return rc;
}

void sp_table_run_free(struct sp_table_run_result *result)
{
	for (size_t i = 0; i < result->nkinds; i++) {
		struct sp_table_run_kind *k = &result->kinds[i];

		for (size_t j = 0; j < k->nlines; j++)
			free((char *)(uintptr_t)k->lines[j].text);
		free(k->lines);
		free(k->starved);
	}
	free(result->kinds);
	*result = (struct sp_table_run_result){ 0 };
}
