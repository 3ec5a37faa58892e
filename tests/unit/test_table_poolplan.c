/* SPDX-License-Identifier: MIT */
/*
 * Readers of one plan that share a pool, and wait for each other's requests: each gives the records
 * of a scan, on files and in virtual time, and queries that share columns share frames.
 */
#define TAP_THREADS
#include <string.h>
#include <unistd.h>
#include <spindle/flow.h>
#include "base/mem.h"
#include "base/rng.h"
#include "flow/operator.h"
#include "table/pull.h"
#include "tap.h"

#define READERS 6
#define RECORDS 60000

static const char input[] = "poolplan-in.tmp", table[] = "poolplan.tmp";

static void make(void)
{
	struct sp_table_load_opts o = SP_TABLE_LOAD_OPTS_INIT;
	const char *const inputs[] = { input };
	FILE *f = fopen(input, "w");

	if (!f)
		abort();
	for (unsigned i = 0; i < RECORDS; i++)
		fprintf(f, "%u\t%u\t%u\t%.*s\n", i, i * 7, i * 13, (int)(i % 9), "some text");
	if (fclose(f))
		abort();
	o.run.overwrite = true;
	o.cell_bytes = 512;
	o.page_records = 504;
	if (sp_table_load(table, inputs, 1, &o, NULL, NULL))
		abort();
}

static int append(void *arg, const char *data, size_t bytes)
{
	return sp__bytes_append(arg, data, bytes, NULL);
}

/* A scan that is taken step by step. */
struct reader {
	struct sp__tablepull pull;
	struct sp__clotho_file pool;
	struct sp__table_output output;
	struct sp__bytes got, want;
	uint64_t later;
	bool ended;
};

static struct sp_table_query query_of(unsigned i)
{
	static const char *const all[READERS] = { "c1,c2", "c2,c3", "c3", "c4", "c1,c4", NULL };
	struct sp_table_query q = SP_TABLE_QUERY_INIT;

	q.columns = all[i];
	q.lo = i * 100;
	return q;
}

static void open_reader(struct reader *r, unsigned i, struct sp_flow *flow, struct sp_pool *pool)
{
	const struct sp_table_query q = query_of(i);
	struct sp_run_opts run = flow->run;
	struct sp_errinfo *err = flow->env.err;
	int rc;

	*r = (struct reader){ .later = 0 };
	rc = sp__tablepull_open(&r->pull, table, &run, &flow->env, &q, err);
	if (!rc && pool)
		rc = sp__clotho_attach_file(&r->pool, &r->pull.file, pool, err);
	if (!rc)
		rc = sp__output_open(&r->output, &r->pull.file.schema, q.format, r->pull.columns,
				     r->pull.n, err);
	r->pull.columns = NULL;
	r->pull.opts.output = &r->output;
	if (!rc)
		rc = sp__rowscan_open(&r->pull.scan, &r->pull.file, &r->pull.opts, &r->pull.stats,
				      err);
	r->pull.scan.ring.waits = &flow->waits;
	if (rc)
		abort();
}

static void close_reader(struct reader *r)
{
	sp__rowscan_close(&r->pull.scan);
	r->pull.scan.ring.file = NULL;
	sp__clotho_detach_file(&r->pool);
	sp__tablepull_close(&r->pull);
	sp__output_close(&r->output);
	sp__bytes_release(&r->got, NULL);
	sp__bytes_release(&r->want, NULL);
}

/* Takes a window of a reader.  Returns SP_LATER if it has to wait. */
static int step(struct reader *r)
{
	struct sp__window_slot *s;
	const int rc = sp__rowscan_next(&r->pull.scan, &s);

	if (rc < 0)
		abort();
	if (rc == SP_READY)
		(void)append(&r->got, s->out.data, s->out.bytes);
	r->ended |= rc == SP_END;
	r->later += rc == SP_LATER;
	return rc;
}

/*
 * Reads all readers to their ends, some more often than others.  Another one, whose frames they
 * need, begins and is closed again and again.
 */
static void read_all(struct reader *readers, struct sp_flow *flow, struct sp_pool *pool)
{
	struct sp__rng rng = { 49 };
	unsigned open = READERS, idle = 0;
	struct reader other = { 0 };

	while (open) {
		struct reader *r = &readers[sp__rng_below(&rng, READERS)];

		if (!other.pull.scan.ring.file) {
			open_reader(&other, 0, flow, pool);
			(void)step(&other);
		} else if (!sp__rng_below(&rng, 8)) {
			close_reader(&other);
		}
		if (r->ended)
			continue;
		idle = step(r) == SP_LATER ? idle + 1 : 0;
		open -= r->ended;
		if (idle > 4 * READERS && sp_flow_wait(flow))
			abort();
	}
	if (other.pull.scan.ring.file)
		close_reader(&other);
}

static uint64_t run(const char *volume, struct sp_pool_opts *o, struct sp_pool_counters *c)
{
	struct sp_run_opts opts = SP_RUN_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct reader *readers = calloc(READERS, sizeof(*readers));
	struct sp_pool *pool = NULL;
	struct sp_flow *flow;
	uint64_t later = 0, right = 0;

	opts.memory_bytes = 4 << 20;
	opts.volume = volume;
	if (!readers || sp_flow_open(&flow, &opts, &err) || (o && sp_pool_open(&pool, o, &err)))
		abort();
	for (unsigned i = 0; i < READERS; i++)
		open_reader(&readers[i], i, flow, pool);
	read_all(readers, flow, pool);
	for (unsigned i = 0; i < READERS; i++) {
		struct reader *r = &readers[i];
		const struct sp_table_query q = query_of(i);
		struct sp_table_opts to = SP_TABLE_OPTS_INIT;
		struct sp_table *t;

		if (sp_table_open(&t, table, &to, NULL) ||
		    sp_table_scan(t, &q, append, &r->want, NULL, NULL))
			abort();
		(void)sp_table_close(t);
		right += r->got.bytes == r->want.bytes &&
			 !memcmp(r->got.data, r->want.data, r->got.bytes);
		later += r->later;
	}
	if (pool)
		sp_pool_counters(pool, c);
	for (unsigned i = 0; i < READERS; i++)
		close_reader(&readers[i]);
	(void)sp_flow_close(flow);
	sp_pool_close(pool);
	free(readers);
	ok(right == READERS, "%s, %s: %llu of %u readers give the records of a scan",
	   volume ? volume : "a file", o ? sp_pool_manager_name(o->manager) : "no pool",
	   (unsigned long long)right, READERS);
	return later;
}

int main(void)
{
	static const char *const volumes[] = { NULL, "sim:cheetah36es-like" };
	uint64_t later = 0;

	make();
	for (unsigned v = 0; v < 2; v++) {
		struct sp_pool_counters c[3];

		later += run(volumes[v], NULL, NULL);
		for (unsigned m = 0; m < 3; m++) {
			struct sp_pool_opts o = SP_POOL_OPTS_INIT;

			o.manager = (enum sp_pool_manager)m;
			o.bytes = 256 << 10;
			o.frame_bytes = 16 << 10;
			later += run(volumes[v], &o, &c[m]);
			diag("%llu frames, %llu lookups, %llu hits, %llu refused",
			     (unsigned long long)c[m].frames, (unsigned long long)c[m].lookups,
			     (unsigned long long)c[m].hits, (unsigned long long)c[m].refused);
		}
		ok(c[0].hits && c[1].hits && c[2].hits, "they find frames of each other");
	}
	ok(later, "readers have waited %llu times", (unsigned long long)later);
	unlink(input);
	unlink(table);
	return done();
}
