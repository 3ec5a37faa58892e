/* SPDX-License-Identifier: MIT */
/*
 * Tables that are read and changed through a pool: each command gives the bytes that it gives
 * without one, for random tables, pools and sequences of commands.
 */
#define TAP_THREADS
#include <string.h>
#include <unistd.h>
#include <spindle/pool.h>
#include <spindle/table.h>
#include "base/mem.h"
#include "base/minmax.h"
#include "base/rng.h"
#include "tap.h"

static const char input[] = "poolfile-in.tmp";
static const char *const tables[] = { "poolfile-a.tmp", "poolfile-b.tmp" };

static struct sp__rng rng = { 48 };

static uint64_t below(uint64_t n)
{
	return sp__rng_below(&rng, n);
}

static void write_records(uint64_t n, bool header)
{
	FILE *f = fopen(input, "w");

	if (!f)
		abort();
	if (header)
		fputs("a,b,c,d,e\n", f);
	for (uint64_t i = 0; i < n; i++)
		fprintf(f, "%u,%u,%u,%.*s,%s\n", (unsigned)below(1000), (unsigned)below(1000000),
			(unsigned)below(100), (int)below(30), "texts of any number of bytes at all",
			below(2) ? "yes" : "no");
	if (fclose(f))
		abort();
}

static void fail(const struct sp_errinfo *err)
{
	diag("%s: %s", err->path, err->text);
	abort();
}

/* Loads both tables.  Returns the bytes of an A-page. */
static uint64_t load_as(uint64_t records, struct sp_table_load_opts o)
{
	struct sp_table_opts open = SP_TABLE_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	const char *const inputs[] = { input };
	struct sp_table_info info;
	struct sp_table *t;
	uint64_t cells = 0;

	write_records(records, true);
	o.run.overwrite = o.header = true;
	o.run.seed = 1;
	o.format = SP_TABLE_CSV;
	o.separator = ',';
	o.types = "a:i16,b:i32,c:i8,d:text,e:dict8";
	for (unsigned i = 0; i < 2; i++)
		if (sp_table_load(tables[i], inputs, 1, &o, NULL, &err))
			fail(&err);
	if (sp_table_open(&t, tables[0], &open, &err) || sp_table_info(t, false, &info, &err))
		fail(&err);
	for (size_t g = 0; g < info.ngroups; g++)
		cells += info.groups[g].cells;
	(void)sp_table_close(t);
	return cells * info.cell_bytes;
}

/* Loads them in a random layout. */
static uint64_t load(uint64_t records)
{
	static const char *const together[] = { "a,c" };
	struct sp_table_load_opts o = SP_TABLE_LOAD_OPTS_INIT;

	o.layout = (enum sp_table_layout)below(4);
	o.cell_bytes = 512u << below(5);
	o.page_records = o.layout >= SP_TABLE_DSM ? 1 + (uint32_t)below(2000) : 0;
	o.together = together;
	o.ntogether = o.layout >= SP_TABLE_DSM && below(2);
	return load_as(records, o);
}

static int append(void *arg, const char *data, size_t bytes)
{
	return sp__bytes_append(arg, data, bytes, NULL);
}

struct keys {
	uint64_t n, at;
	uint64_t numbers[64];
	char text[24];
};

static int next_key(void *arg, const char **key, size_t *bytes)
{
	struct keys *k = arg;

	if (k->at == k->n)
		return 0;
	*bytes = (size_t)snprintf(k->text, sizeof(k->text), "%llu",
				  (unsigned long long)k->numbers[k->at++]);
	*key = k->text;
	return 1;
}

/* A command, which is run on both tables. */
struct command {
	enum { SCAN, GET, UPDATE, DELETE, APPEND, COMMANDS } kind;
	struct sp_table_query query;
	struct keys keys;
	const char *set, *where;
	bool by_where;
};

static struct command choose(uint64_t records, bool changes)
{
	static const char *const columns[] = { NULL, "a", "b,e", "d", "c,d", "a,b,c" };
	static const char *const where[] = { NULL, "a < 20", "c = 7 and b > 500000",
					     "d ^= 'texts of'" };
	static const char *const sets[] = { "a=7", "b=null,c=3", "d='x'", "d='changed',a=1",
					    "e=maybe" };
	struct command c = { .kind = (int)below(changes ? COMMANDS : GET + 1),
			     .query = SP_TABLE_QUERY_INIT };

	c.query.columns = columns[below(6)];
	c.query.where = where[below(4)];
	c.query.access = c.query.where ? (enum sp_table_access)below(3) : SP_TABLE_ACCESS_AUTO;
	if (!below(3))
		c.query.lo = below(records);
	if (!below(3))
		c.query.hi = c.query.lo + below(records);
	if (!below(5))
		c.query.agg = "sum(a),count(d),max(b)";
	c.keys.n = below(64);
	for (uint64_t i = 0; i < c.keys.n; i++)
		c.keys.numbers[i] = below(records + 2);
	c.set = sets[below(5)];
	c.where = where[1 + below(3)];
	c.by_where = below(2);
	return c;
}

/* Runs a command. */
static int run(struct sp_table *t, const struct command *command, struct sp__bytes *out,
	       struct sp_table_stats *stats)
{
	struct command c = *command;
	const char *const inputs[] = { input };
	struct sp_table_get get = SP_TABLE_GET_INIT;
	const struct sp_table_choice choice = { .where = c.by_where ? c.where : NULL,
						.keys = c.by_where ? NULL : next_key,
						.keys_arg = &c.keys };

	switch (c.kind) {
	case SCAN:
		return sp_table_scan(t, &c.query, append, out, stats, NULL);
	case GET:
		get.columns = c.query.columns;
		get.keys = next_key;
		get.keys_arg = &c.keys;
		return sp_table_get(t, &get, append, out, stats, NULL);
	case UPDATE:
		return sp_table_update(t, &choice, &c.set, 1, stats, NULL);
	case DELETE:
		return sp_table_delete(t, &choice, stats, NULL);
	default:
		return sp_table_append(t, inputs, 1, stats, NULL);
	}
}

static struct sp_table *open_table(const char *path, struct sp_pool *pool, bool write)
{
	struct sp_table_opts o = SP_TABLE_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table *t;

	o.run.memory_bytes = 2 << 20;
	o.pool = pool;
	o.write = write;
	if (sp_table_open(&t, path, &o, &err))
		fail(&err);
	return t;
}

/* Runs a command on two tables.  Returns true if both give the same. */
static bool same(struct sp_table *a, struct sp_table *b, const struct command *c)
{
	struct sp__bytes out[2] = { 0 };
	struct sp_table_stats stats[2] = { 0 };
	const int rc[2] = { run(a, c, &out[0], &stats[0]), run(b, c, &out[1], &stats[1]) };
	const bool right = rc[0] == rc[1] && rc[0] <= 0 && out[0].bytes == out[1].bytes &&
			   (!out[0].bytes || !memcmp(out[0].data, out[1].data, out[0].bytes)) &&
			   stats[0].records_matched == stats[1].records_matched;

	if (!right)
		diag("command %d of %s where %s: %d, %d", c->kind, c->query.columns, c->query.where,
		     rc[0], rc[1]);
	for (unsigned i = 0; i < 2; i++)
		sp__bytes_release(&out[i], NULL);
	return right;
}

static struct sp_pool *open_pool(uint64_t page_bytes)
{
	struct sp_pool_opts o = SP_POOL_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_pool *pool;

	o.frame_bytes = page_bytes * (1 + below(4)) + below(3) * 1000;
	o.bytes = o.frame_bytes * (2 + below(12)) + 65536;
	o.manager = (enum sp_pool_manager)below(3);
	o.update_unit = (enum sp_pool_update_unit)below(2);
	if (sp_pool_open(&pool, &o, &err))
		fail(&err);
	return pool;
}

static void add(struct sp_pool_counters *to, const struct sp_pool *pool)
{
	struct sp_pool_counters c;

	sp_pool_counters(pool, &c);
	to->hits += c.hits;
	to->misses += c.misses;
	to->refused += c.refused;
	to->invalidated += c.invalidated;
	to->held_bytes += c.held_bytes;
}

/* One table with a pool, one without, both changed by the same commands. */
static bool session(struct sp_pool_counters *counters)
{
	uint64_t records = 1 + below(1 + below(20000));
	struct sp_pool *pool = open_pool(load(records));
	struct sp_table *a = open_table(tables[0], pool, true);
	struct sp_table *b = open_table(tables[1], NULL, true);
	bool right = true;

	for (unsigned i = 0; right && i < 24; i++) {
		struct command c = choose(records, true);
		const uint64_t more = below(300);

		if (c.kind == APPEND)
			write_records(more, true);
		right = same(a, b, &c);
		records += c.kind == APPEND ? more : 0;
	}
	add(counters, pool);
	(void)sp_table_close(a);
	(void)sp_table_close(b);
	sp_pool_close(pool);
	return right;
}

/* Two tables that are open twice, all with one pool. */
static bool shared(struct sp_pool_counters *counters)
{
	const uint64_t records = 1 + below(20000), page_bytes = load(records);
	struct sp_pool *pool = open_pool(page_bytes);
	struct sp_table *open[4], *plain = open_table(tables[0], NULL, false);
	bool right = true;

	for (unsigned i = 0; i < 4; i++)
		open[i] = open_table(tables[i % 2], pool, false);
	for (unsigned i = 0; right && i < 24; i++) {
		const struct command c = choose(records, false);

		right = same(open[below(4)], plain, &c);
		if (i == 12) {
			(void)sp_table_close(open[0]);
			open[0] = open_table(tables[0], pool, false);
		}
	}
	add(counters, pool);
	for (unsigned i = 0; i < 4; i++)
		(void)sp_table_close(open[i]);
	(void)sp_table_close(plain);
	sp_pool_close(pool);
	return right;
}

/* A table that another user has changed in between is read again. */
static void check_reopened(void)
{
	const uint64_t page_bytes = load(5000);
	struct sp_pool *pool = open_pool(page_bytes);
	struct sp_table *a = open_table(tables[0], pool, false), *b;
	struct sp_table *old = open_table(tables[0], pool, false);
	const char *const set = "a=7";
	struct sp_table_choice all = { .where = "a >= 0" };
	struct command c = { .query = SP_TABLE_QUERY_INIT };
	bool right;

	c.query.agg = "min(a),max(a)";
	b = open_table(tables[1], NULL, true);
	right = same(a, b, &c);
	(void)sp_table_close(a);
	a = open_table(tables[0], NULL, true);
	if (sp_table_update(a, &all, &set, 1, NULL, NULL) ||
	    sp_table_update(b, &all, &set, 1, NULL, NULL))
		abort();
	(void)sp_table_close(a);
	a = open_table(tables[0], pool, false);
	ok(right && same(a, b, &c), "a table that was changed without the pool is read again");
	ok(run(old, &c, NULL, NULL) == SP_ESTATE, "one that was open meanwhile is refused");
	(void)sp_table_close(old);
	(void)sp_table_close(a);
	(void)sp_table_close(b);
	sp_pool_close(pool);
}

/* After a change of A-pages a get finds the new values in frames; after one of cells it reads. */
static void check_kept(enum sp_table_layout layout, enum sp_placement placement)
{
	struct sp_table_load_opts lo = SP_TABLE_LOAD_OPTS_INIT;
	struct sp_pool_opts o = SP_POOL_OPTS_INIT;
	struct sp_table_choice some = { .where = "a < 50" };
	struct command c = { .query = SP_TABLE_QUERY_INIT };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	const char *const set = "b=7,d='other'";
	struct sp_pool_counters before, after;

	lo.layout = layout;
	lo.placing.how = placement;
	lo.run.volume = placement ? "sim:cheetah36es-like" : NULL;
	(void)load_as(20000, lo);
	for (int unit = SP_POOL_CELLS; unit <= SP_POOL_PAGE; unit++) {
		struct sp_pool *pool;
		struct sp_table *a, *b;
		bool right;

		o.update_unit = (enum sp_pool_update_unit)unit;
		o.frame_bytes = 1 << 20;
		if (sp_pool_open(&pool, &o, &err))
			fail(&err);
		a = open_table(tables[0], pool, true);
		b = open_table(tables[1], NULL, true);
		right = same(a, b, &c);
		if (sp_table_update(a, &some, &set, 1, NULL, NULL) ||
		    sp_table_update(b, &some, &set, 1, NULL, NULL))
			abort();
		sp_pool_counters(pool, &before);
		right &= same(a, b, &c);
		sp_pool_counters(pool, &after);
		ok(right && (unit == SP_POOL_PAGE) == (after.misses == before.misses),
		   "layout %d%s, unit %d: a scan after a change has %llu misses more", (int)layout,
		   placement ? " along tracks" : "", unit,
		   (unsigned long long)(after.misses - before.misses));
		(void)sp_table_close(a);
		(void)sp_table_close(b);
		sp_pool_close(pool);
	}
}

/* Cells that are new in the last A-page, which is in a frame, are read. */
static void check_append(void)
{
	struct sp_table_load_opts o = SP_TABLE_LOAD_OPTS_INIT;
	struct command scan = { .query = SP_TABLE_QUERY_INIT }, append = { .kind = APPEND };
	struct sp_pool *pool;
	struct sp_table *a, *b;
	bool right;

	o.cell_bytes = 512;
	o.page_records = 1008; /* 4 cells of 252 values */
	pool = open_pool(load_as(252, o));
	a = open_table(tables[0], pool, true);
	b = open_table(tables[1], NULL, true);
	scan.query.columns = "a";
	right = same(a, b, &scan);
	write_records(100, true);
	right = right && same(a, b, &append) && same(a, b, &scan);
	ok(right, "records that were appended to an A-page in a frame are read");
	(void)sp_table_close(a);
	(void)sp_table_close(b);
	sp_pool_close(pool);
}

int main(void)
{
	struct sp_pool_counters changed = { 0 }, read = { 0 };
	unsigned right = 0;

	for (unsigned i = 0; i < tap_times(24); i++)
		right += session(&changed);
	ok(right == tap_times(24), "tables with a pool give what they give without one (%u)",
	   right);
	ok(changed.hits && changed.misses > changed.refused && changed.refused &&
		   changed.invalidated,
	   "%llu hits, %llu misses, %llu without a frame, %llu A-pages removed by changes",
	   (unsigned long long)changed.hits, (unsigned long long)changed.misses,
	   (unsigned long long)changed.refused, (unsigned long long)changed.invalidated);
	right = 0;
	for (unsigned i = 0; i < tap_times(15); i++)
		right += shared(&read);
	ok(right == tap_times(15), "pools of two tables, each open twice (%u)", right);
	ok(read.hits && !read.invalidated, "%llu hits, %llu misses", (unsigned long long)read.hits,
	   (unsigned long long)read.misses);
	check_reopened();
	check_append();
	check_kept(SP_TABLE_NSM, SP_PLACE_CONTIGUOUS);
	check_kept(SP_TABLE_DSM, SP_PLACE_CONTIGUOUS);
	check_kept(SP_TABLE_CSM, SP_PLACE_CONTIGUOUS);
	check_kept(SP_TABLE_CSM, SP_PLACE_SEMISEQ);
	unlink(input);
	unlink(tables[0]);
	unlink(tables[1]);
	return done();
}
