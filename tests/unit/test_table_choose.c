/* SPDX-License-Identifier: MIT */
/*
 * The choice of a layout: with --layout=auto the commands of a workload take at most 5 % more time
 * than on the best of the four layouts, for example workloads and random ones.  With
 * --placement=auto a table along the tracks of drives is one more candidate.  The commands are run,
 * on tables in the virtual time of a machine.
 *
 * An argument is the number of random workloads, instead of 20.
 */
#define TAP_SLOW
#define TAP_THREADS 0
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>
#include "base/rng.h"
#include "columns/schema_text.h"
#include "randomkeys.h"
#include "table/cost/workload.h"
#include "table/state.h"
#include "tap.h"

#define COLUMNS 15
#define RECORDS 60000
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RANDOM 4 /* workloads */
#else
#define RANDOM 8
#endif
#define RUNS 48 /* of a query of few random records, for a mean */
#define AUTO SP_TABLE_AUTO
#define TRACKS (AUTO + 1) /* csm along tracks */
#define DRIVES 2	  /* of that one: a file system of 16 TB has two of the largest */

static const char input[] = "choose.input.tmp", types[] = "choose.types.tmp";
static const char workload_path[] = "choose.workload.tmp", copy[] = "choose.copy.tmp";
static const char appended[] = "choose.append.tmp";
static const char *volume;
static bool placing; /* a table along tracks is a candidate */

static void check(int rc, const char *what, const struct sp_errinfo *err)
{
	if (!rc)
		return;
	diag("%s: %s %s", what, err->path, err->text);
	exit(1);
}

static const char *table_path(unsigned layout)
{
	static char path[32];

	snprintf(path, sizeof(path), "choose.%u.tmp", layout);
	return path;
}

/* Writes R: records of 15 f64 in [0, 1). */
static void write_input(void)
{
	struct sp__rng rng = { 3 };
	FILE *f = fopen(input, "w"), *t = fopen(types, "w");

	if (!f || !t)
		exit(1);
	for (unsigned i = 1; i <= COLUMNS; i++)
		fprintf(t, "a%u f64\n", i);
	for (unsigned i = 0; i < RECORDS * COLUMNS; i++) {
		double v = sp__rng_real(&rng);

		if (fwrite(&v, sizeof(v), 1, f) != 1)
			exit(1);
	}
	if (fclose(f) || fclose(t))
		exit(1);
}

/* Loads R; auto chooses for the workload.  Returns 0, or SP_EUNSUP: the volume has no tracks. */
static int load(unsigned layout)
{
	static const char *const inputs = input;
	struct sp_table_load_opts o = SP_TABLE_LOAD_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc;

	o.format = SP_TABLE_FIXED;
	o.record_bytes = COLUMNS * sizeof(double);
	o.schema = types;
	o.layout = layout == TRACKS ? SP_TABLE_CSM : (enum sp_table_layout)layout;
	o.workload = layout == AUTO ? workload_path : NULL;
	o.run.overwrite = true;
	o.run.volume = layout >= AUTO ? volume : NULL;
	o.run.memory_bytes = 64 << 20;
	if (placing && layout >= AUTO)
		o.placing = (struct sp_table_placing){ .how = layout == AUTO ? SP_PLACE_AUTO
									     : SP_PLACE_SEMISEQ,
						       .volumes = DRIVES };
	rc = sp_table_load(table_path(layout), &inputs, 1, &o, NULL, &err);
	check(rc == SP_EUNSUP ? 0 : rc, "load", &err);
	return rc;
}

/* Copies a table: commands change it. */
static void copy_table(unsigned layout)
{
	int from = open(table_path(layout), O_RDONLY);
	int to = open(copy, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	off_t bytes = lseek(from, 0, SEEK_END), at = 0, end;

	while ((at = lseek(from, at, SEEK_DATA)) >= 0) /* several drives make a sparse file */
		for (end = lseek(from, at, SEEK_HOLE); at < end;) {
			off_t part = at;

			if (lseek(to, at, SEEK_SET) < 0 ||
			    sendfile(to, from, &part, (size_t)(end - at)) <= 0)
				exit(1);
			at = part;
		}
	if (ftruncate(to, bytes) || close(from) || close(to))
		exit(1);
}

static struct sp_table *open_copy(bool write)
{
	struct sp_table_opts o = SP_TABLE_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table *t;

	o.run.volume = volume;
	o.run.memory_bytes = 64 << 20;
	o.write = write;
	check(sp_table_open(&t, copy, &o, &err), "open", &err);
	return t;
}

static int drop(void *arg, const char *data, size_t bytes)
{
	(void)arg, (void)data, (void)bytes;
	return 0;
}

/* Lists columns, each with this text behind it. */
static void list(const bool *columns, const char *text, char *to, size_t bytes)
{
	size_t at = 0;

	for (unsigned i = 0; i < COLUMNS; i++)
		if (columns[i])
			at += (size_t)snprintf(to + at, bytes - at, "%sa%u%s", at ? "," : "", i + 1,
					       text);
}

/* A predicate that needs the columns, and is true for this share of the records. */
static void print_where(const struct sp__table_query *q, char *to, size_t bytes)
{
	size_t at = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < COLUMNS; i++)
		n += q->where[i];
	for (unsigned i = 0; i < COLUMNS; i++)
		if (q->where[i])
			at += (size_t)snprintf(to + at, bytes - at, "%sa%u >= 0.4 and a%u < %.12f",
					       at ? " and " : "", i + 1, i + 1,
					       0.4 + 0.6 * pow(fmin(q->share, 1), 1.0 / n));
}

/* Writes the first records of R, of which an append is made. */
static void copy_head(const char *path, uint64_t records)
{
	static double values[COLUMNS];
	FILE *from = fopen(input, "r"), *to = fopen(path, "w");

	if (!from || !to)
		exit(1);
	for (uint64_t i = 0; i < records; i++)
		if (fread(values, sizeof(values), 1, from) != 1 ||
		    fwrite(values, sizeof(values), 1, to) != 1)
			exit(1);
	if (fclose(from) || fclose(to))
		exit(1);
}

static double run_once(const struct sp__table_query *q, uint64_t seed)
{
	static const char *const inputs = appended;
	const bool change = q->kind == SP__QUERY_UPDATE || q->kind == SP__QUERY_APPEND;
	char columns[256], where[1024], set[512];
	const char *const sets[] = { set };
	struct random_keys numbers = { .rng = { seed }, .records = RECORDS, .left = q->records };
	struct sp_table_choice choice = { .keys = random_key, .keys_arg = &numbers };
	struct sp_table_query scan = SP_TABLE_QUERY_INIT;
	struct sp_table_get get = SP_TABLE_GET_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table *t = open_copy(change);
	uint64_t begin_ns = sp__env_now_ns(&t->file.env), end_ns;

	if (q->columns) {
		list(q->columns, "", columns, sizeof(columns));
		list(q->columns, "=0.25", set, sizeof(set));
	}
	switch (q->kind) {
	case SP__QUERY_SCAN:
		scan.columns = columns;
		if (q->where)
			print_where(q, where, sizeof(where));
		scan.where = q->where ? where : NULL;
		check(sp_table_scan(t, &scan, drop, NULL, NULL, &err), "scan", &err);
		break;
	case SP__QUERY_GET:
		get.columns = columns;
		get.keys = random_key;
		get.keys_arg = &numbers;
		check(sp_table_get(t, &get, drop, NULL, NULL, &err), "get", &err);
		break;
	case SP__QUERY_UPDATE:
		check(sp_table_update(t, &choice, sets, 1, NULL, &err), "update", &err);
		break;
	default:
		copy_head(inputs, q->records);
		check(sp_table_append(t, &inputs, 1, NULL, &err), "append", &err);
	}
	end_ns = sp__env_now_ns(&t->file.env);
	check(sp_table_close(t), "close", &err);
	return (double)(end_ns - begin_ns) * 1e-9;
}

/* Returns the time of a workload on a table. */
static double run(const struct sp__table_workload *w, unsigned layout)
{
	double sum = 0;

	copy_table(layout);
	for (size_t i = 0; i < w->n; i++) {
		const struct sp__table_query *q = &w->queries[i];
		bool random = q->kind == SP__QUERY_GET || q->kind == SP__QUERY_UPDATE;
		unsigned runs = random ? (unsigned)(RUNS / q->records) + 3 : 1;

		for (unsigned k = 0; k < runs; k++)
			sum += q->weight * run_once(q, sp__mix64(1000 * i + k)) / runs;
	}
	return sum;
}

/* Adds a query to a workload and its file. */
static void add(struct sp__table_workload *w, const struct sp__schema *s, const char *query)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	FILE *f = fopen(workload_path, w->n ? "a" : "w");

	if (!f || fprintf(f, "%s\n", query) < 0 || fclose(f))
		exit(1);
	check(sp__table_workload_add(w, query, s, &err), query, &err);
}

/* The lines of the workload are in its file. */
static void judge(const struct sp__table_workload *w, const char *on, const char *what)
{
	double best = INFINITY, chosen;
	unsigned of = 0;

	volume = on;
	for (unsigned i = 0; i <= TRACKS; i++) {
		double seconds;

		if (i == AUTO || (i == TRACKS && (!placing || load(i))))
			continue;
		seconds = run(w, i);
		if (seconds < best)
			of = i;
		best = fmin(best, seconds);
	}
	ok(!load(AUTO), "a layout is chosen for %s", what);
	chosen = run(w, AUTO);
	ok(chosen <= 1.05 * best, "%s, %s: %.5f s, on the best layout, %s, %.5f s (%+.1f %%)", what,
	   volume, chosen, of == TRACKS ? "csm semiseq" : sp_table_layout_name((int)of), best,
	   100 * (chosen / best - 1));
}

static void examples(const struct sp__schema *s, const char *on)
{
	static const char *const queries[][4] = {
		{ "scan a1,a2", NULL },
		{ "get 1000 *", NULL },
		{ "scan a1,a2", "1000 get 1 *", NULL },
		{ "10 scan a3,a4 where a1 0.1", "get 500 a3,a4,a5", "update 200 a5", NULL },
		{ "scan a1", "2000 get 1 a8,a9,a10", "append 1000", NULL },
	};

	for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
		struct sp__table_workload w = { 0 };

		for (unsigned k = 0; queries[i][k]; k++)
			add(&w, s, queries[i][k]);
		judge(&w, on, queries[i][0]);
		sp__table_workload_free(&w);
	}
}

/* Writes a list of random columns. */
static void random_columns(struct sp__rng *rng, char *to, size_t bytes)
{
	uint64_t n = sp__rng_below(rng, 4) ? 1 + sp__rng_below(rng, 5) : COLUMNS;
	size_t at = 0;

	if (n == COLUMNS) {
		snprintf(to, bytes, "*");
		return;
	}
	for (uint64_t i = 0; i < n; i++)
		at += (size_t)snprintf(to + at, bytes - at, "%sa%u", i ? "," : "",
				       1 + (unsigned)sp__rng_below(rng, COLUMNS));
}

static void random_query(struct sp__rng *rng, char *to, size_t bytes)
{
	char columns[64], where[64];
	double weight = pow(10, 3 * sp__rng_real(rng));

	random_columns(rng, columns, sizeof(columns));
	random_columns(rng, where, sizeof(where));
	switch (sp__rng_below(rng, 5)) {
	case 0:
		snprintf(to, bytes, "scan %s", columns);
		break;
	case 1:
		snprintf(to, bytes, "scan %s where %s %g", columns, where,
			 pow(10, -6 * sp__rng_real(rng)));
		break;
	case 2:
		snprintf(to, bytes, "%g update %u %s", weight,
			 1 + (unsigned)sp__rng_below(rng, 500), columns);
		break;
	case 3:
		snprintf(to, bytes, "append %u", 1 + (unsigned)sp__rng_below(rng, 5000));
		break;
	default:
		snprintf(to, bytes, "%g get %u %s", weight, 1 + (unsigned)sp__rng_below(rng, 500),
			 columns);
	}
}

static void random_workload(const struct sp__schema *s, unsigned seed)
{
	static const char *const volumes[] = { "sim:flash", "sim:cheetah36es-like",
					       "sim:nearline6t-like", "sim:ultrastar36lzx-like" };
	struct sp__rng rng = { seed };
	struct sp__table_workload w = { 0 };
	uint64_t n = 1 + sp__rng_below(&rng, 5);
	char query[256], what[32];

	for (uint64_t i = 0; i < n; i++) {
		random_query(&rng, query, sizeof(query));
		add(&w, s, query);
	}
	snprintf(what, sizeof(what), "random workload %u", seed);
	placing = seed / 4 % 2;
	judge(&w, volumes[seed % 4], what);
	sp__table_workload_free(&w);
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : RANDOM;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__schema s = { 0 };

	write_input();
	check(sp__schema_file_read(&s, types, &err), types, &err);
	for (unsigned i = 0; i < AUTO; i++)
		ok(!load(i), "R is loaded as %s", sp_table_layout_name((int)i));
	examples(&s, "sim:flash");
	placing = true;
	examples(&s, "sim:cheetah36es-like");
	for (unsigned i = 1; i <= n; i++)
		random_workload(&s, i);
	sp__schema_free(&s);
	for (unsigned i = 0; i <= TRACKS; i++)
		unlink(table_path(i));
	unlink(input);
	unlink(types);
	unlink(copy);
	unlink(workload_path);
	unlink(appended);
	return done();
}
