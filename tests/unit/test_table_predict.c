/* SPDX-License-Identifier: MIT */
/*
 * Predictions of explain against commands on a stored table, in the virtual time of the shipped
 * models without their caches: requests and bytes of scans and of given records are exact, those of
 * random records within 2 %, and the time is within 10 %.
 *
 * With an argument all layouts are run on all models, else each layout on a quarter of them, and
 * tables along tracks on one.
 */
#define TAP_SLOW
#define TAP_THREADS 0
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/rng.h"
#include "dev/model.h"
#include "randomkeys.h"
#include "table/cost/candidates.h"
#include "table/state.h"
#include "tap.h"

#define RECORDS 150000
#define FEW_RECORDS 4000   /* on a model without place for more, */
#define FEWER_RECORDS 1000 /* and along its tracks */
#define PART 16	  /* of the models, of which each layout is run on one part; they take long */
#define LIMIT 0.1 /* of errors of times, */
#define ROUGH 0.2 /* and of appends and updates of texts */
#define COLUMNS 9
#define APPENDED 500
#define GIVEN 70000 /* records: the prediction draws them once */

static const char path[] = "predict.tmp", input[] = "predict-input.tmp";
static const char model_path[] = "./predict-model.json";
static char volume[64], what[64]; /* of this model; model and layout */
static bool widened; /* requests are, to units of 4096 bytes: the file ends within one */

static void check(int rc, const char *name, const struct sp_errinfo *err)
{
	if (!rc)
		return;
	diag("%s: %s %s", name, err->path, err->text);
	exit(1);
}

static void write_input(uint64_t records)
{
	static const char *const words[] = { "north", "south", "east", "west" };
	struct sp__rng rng = { 9 };
	FILE *f = fopen(input, "w");

	if (!f)
		exit(1);
	for (uint64_t i = 0; i < records; i++)
		fprintf(f, "%llu,%.8f,%.8f,%u.%02u,%s,%u,%u,%.8f,%.*s %u\n", (unsigned long long)i,
			sp__rng_real(&rng), sp__rng_real(&rng),
			100 + (unsigned)sp__rng_below(&rng, 900),
			(unsigned)sp__rng_below(&rng, 100), words[sp__rng_below(&rng, 4)],
			1000000000 + (unsigned)sp__rng_below(&rng, 1000000000),
			100000 + (unsigned)(i * 7919 % 30000), sp__rng_real(&rng),
			(int)sp__rng_below(&rng, 50),
			"words and more words and again some words of a text", (unsigned)i);
	if (fclose(f))
		exit(1);
}

/* drives: the table is along their tracks; 0: it is contiguous. */
static void load(unsigned layout, unsigned drives, uint64_t records)
{
	static const char *const inputs = input;
	struct sp_table_load_opts o = SP_TABLE_LOAD_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;

	write_input(records);
	if (drives) {
		o.placing.how = SP_PLACE_SEMISEQ;
		o.placing.volumes = drives;
		o.run.volume = volume;
		o.page_records = records == FEWER_RECORDS ? 50 : 0; /* lanes for few tracks */
	}
	o.layout = (enum sp_table_layout)layout;
	o.format = SP_TABLE_CSV;
	o.types = "c2:f64,c3:f64,c8:f64";
	o.run.overwrite = true;
	check(sp_table_load(path, &inputs, 1, &o, NULL, &err), "load", &err);
}

/* Writes a file with a shipped model without its cache. */
static void without_cache(const struct sp__shipped *s)
{
	static const char key[] = "\"cache\": {";
	const char *at = strstr(s->text, key), *end = s->text + strlen(s->text);
	FILE *f = fopen(model_path, "w");

	if (!f)
		exit(1);
	fprintf(f, "%.*s%s%s", (int)((at ? at : end) - s->text), s->text,
		at ? "\"cache\": \"off\"" : "", at ? strchr(at, '}') + 1 : end);
	if (fclose(f))
		exit(1);
	snprintf(volume, sizeof(volume), "sim:%s", model_path);
}

static struct sp_table *open_table(bool write)
{
	struct sp_table_opts o = SP_TABLE_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table *t;

	o.run.volume = volume;
	o.run.parallel = 2;
	o.run.memory_bytes = 64 << 20;
	o.write = write;
	check(sp_table_open(&t, path, &o, &err), "open", &err);
	return t;
}

/* Predicts a query on the stored table.  geometry: of a drive, followed instead; or NULL. */
static struct sp__table_cost predict(const char *text, const struct sp_geometry *geometry)
{
	static double means[COLUMNS];
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table *t = open_table(false);
	struct sp__tablefile *f = &t->file;
	struct sp__cost_table stored = { .file = f,
					 .schema = &f->schema,
					 .layout = f->layout,
					 .map = f->map,
					 .records = f->superblock.records,
					 .text_bytes = means,
					 .text = true };
	struct sp__table_workload w = { 0 };
	struct sp_run_opts run = f->run;
	struct sp__platform p;
	struct sp__cost_opts o = { .platform = &p };
	struct sp__table_cost cost;

	check(sp__table_mean_texts(f, means, &err), "texts", &err);
	run.volume = f->cells.drive;
	run.geometry = geometry;
	check(f->map.lanemap ? sp__platform_open_drives(&p, &run, f->map.lanemap->volumes, &err)
			     : sp__platform_open(&p, &run, &err),
	      volume, &err);
	check(sp__table_workload_add(&w, text, &f->schema, &err), text, &err);
	check(sp__table_query_cost(&stored, w.queries, &o, &cost, &err), text, &err);
	sp__table_workload_free(&w);
	sp__platform_close(&p);
	(void)sp_table_close(t);
	return cost;
}

static int drop(void *arg, const char *data, size_t bytes)
{
	(void)arg, (void)data, (void)bytes;
	return 0;
}

static struct sp_table_stats scan(const char *columns, const char *where)
{
	struct sp_table_query q = SP_TABLE_QUERY_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table *t = open_table(false);
	struct sp_table_stats s;

	q.columns = columns;
	q.where = where;
	check(sp_table_scan(t, &q, drop, NULL, &s, &err), "scan", &err);
	(void)sp_table_close(t);
	return s;
}

/* Gets random records, or changes column 6 of them. */
static struct sp_table_stats touch(struct sp_table *t, unsigned n, const char *columns, bool change,
				   uint64_t seed)
{
	static const char *const set[] = { "c6=1500000000", "c2=0.5",
					   "c9='a text of another length'" };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct random_keys numbers = { .rng = { seed },
				       .records = t->file.superblock.records,
				       .left = n };
	struct sp_table_choice choice = { .keys = random_key, .keys_arg = &numbers };
	struct sp_table_get get = SP_TABLE_GET_INIT;
	const uint64_t begin_ns = sp__env_now_ns(&t->file.env);
	struct sp_table_stats s;

	get.columns = columns;
	get.keys = random_key;
	get.keys_arg = &numbers;
	if (change)
		check(sp_table_update(t, &choice, set + (columns[1] == '9' ? 2 : 0),
				      columns[1] == '2' ? 2 : 1, &s, &err),
		      "update", &err);
	else
		check(sp_table_get(t, &get, drop, NULL, &s, &err), "get", &err);
	s.run.elapsed_s = (double)(sp__env_now_ns(&t->file.env) - begin_ns) * 1e-9;
	return s;
}

struct measured {
	double requests, bytes, seconds;
};

static struct measured sum(struct measured m, const struct sp_table_stats *s, double weight)
{
	m.requests += weight * (double)(s->run.read_requests + s->run.write_requests);
	m.bytes += weight * (double)(s->run.read_bytes + s->run.write_bytes);
	m.seconds += weight * s->run.elapsed_s;
	return m;
}

static double error(double predicted, double is)
{
	return is > 0 ? predicted / is - 1 : predicted > 0 ? INFINITY : 0;
}

/*
 * limit: the maximum error of the time; counts: of requests and bytes; negative: they are not
 * compared.
 */
static void judge(const char *query, const struct measured *is, double counts, double limit)
{
	struct sp__table_cost p = predict(query, NULL);
	double requests = error(p.requests, is->requests), bytes = error(p.bytes, is->bytes);
	double time = error(p.seconds, is->seconds);

	if (counts >= 0)
		ok(fabs(requests) <= counts + 1e-9 && fabs(bytes) <= counts + 1e-9,
		   "%s, %s: %.1f requests of %.0f bytes, predicted %.1f (%+.1f %%) of %.0f "
		   "(%+.1f %%)",
		   what, query, is->requests, is->bytes, p.requests, 100 * requests, p.bytes,
		   100 * bytes);
	ok(fabs(time) <= limit, "%s, %s: in %.6f s, predicted %.6f (%+.1f %%)", what, query,
	   is->seconds, p.seconds, 100 * time);
}

static void judge_scan(const char *columns, const char *where, const char *query)
{
	struct sp_table_stats s = scan(columns, where);
	struct measured is = sum((struct measured){ 0 }, &s, 1);

	judge(query, &is,
	      where					   ? -1
	      : widened && (!columns || columns[1] == '9') ? 2 * 4096 / is.bytes
							   : 0,
	      LIMIT);
}

/* Sets of n random records, each by a command. */
static void judge_records(unsigned n, const char *columns, bool change, unsigned sets)
{
	struct measured mean = { 0 };
	char query[64];

	snprintf(query, sizeof(query), "%s %u %s", change ? "update" : "get", n, columns);
	for (unsigned i = 1; i <= sets; i++) {
		struct sp_table *t = open_table(change);
		struct sp_table_stats s =
			touch(t, n, columns[0] == '*' ? NULL : columns, change, sp__mix64(i));

		mean = sum(mean, &s, 1.0 / sets);
		(void)sp_table_close(t);
	}
	judge(query, &mean, change ? -1 : 0.02, change && columns[1] == '9' ? ROUGH : LIMIT);
}

/* The records that the prediction draws. */
static void judge_given(const char *columns)
{
	struct sp_table *t = open_table(false);
	struct sp_table_stats s = touch(t, GIVEN, columns, false, 0);
	struct measured is = sum((struct measured){ 0 }, &s, 1);
	char query[64];

	(void)sp_table_close(t);
	snprintf(query, sizeof(query), "get %u %s", GIVEN, columns);
	judge(query, &is, 0, LIMIT);
}

/* Appends records.  The prediction is made before. */
static void judge_append(void)
{
	static const char *const inputs = input;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__table_cost p;
	struct sp_table_stats s;
	struct sp_table *t;
	char query[64];

	snprintf(query, sizeof(query), "append %d", APPENDED);
	write_input(APPENDED);
	p = predict(query, NULL);
	t = open_table(true);
	check(sp_table_append(t, &inputs, 1, &s, &err), "append", &err);
	(void)sp_table_close(t);
	ok(fabs(error(p.seconds, s.run.elapsed_s)) <= ROUGH,
	   "%s, %s: in %.6f s, predicted %.6f (%+.1f %%)", what, query, s.run.elapsed_s, p.seconds,
	   100 * error(p.seconds, s.run.elapsed_s));
}

/* singles: commands for one record; few: the table is small, so commands take little time. */
static void on_model(unsigned singles, bool few)
{
	const unsigned sets = few ? 400 : 80;

	judge_scan("c6", NULL, "scan c6");
	judge_scan("c2,c5,c8", NULL, "scan c2,c5,c8");
	judge_scan("c9", NULL, "scan c9");
	judge_scan(NULL, NULL, "scan *");
	judge_scan("c2,c3", "c6 < 1100000000", "scan c2,c3 where c6 10%");
	judge_scan("c2,c3,c4", "c7 = 125000", "scan c2,c3,c4 where c7 3.3e-5");
	judge_scan("c2,c3,c4", "c6 = 1400000000", "scan c2,c3,c4 where c6 1e-9");
	judge_records(1, "*", false, singles);
	judge_records(1, "c3", false, singles);
	judge_records(300, "*", false, sets);
	judge_records(300, "c2,c6", false, sets);
	judge_records(300, "c9", false, sets);
	judge_given("c2,c6,c7");
	judge_records(1, "c6", true, singles / 2);
	judge_records(300, "c6", true, 5);
	judge_records(300, "c2,c6", true, 5);
	if (few)
		return;
	judge_records(20, "c9", true, 15);
	judge_append();
}

static bool has_place(const char *model)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__model *m;
	bool has;

	check(sp__model_load(&m, model, &err), model, &err);
	has = m->blocks * m->block_bytes > UINT64_C(100) << 20;
	sp__model_free(m);
	return has;
}

/* Runs a layout on the models that are chosen, those with place or those without. */
static void on_models(unsigned layout, bool all, bool place)
{
	unsigned i = 0;

	load(layout, 0, place ? RECORDS : FEW_RECORDS);
	for (const struct sp__shipped *s = sp__shipped_models; s->name; s++, i++) {
		if (has_place(s->name) != place || (!all && i % PART != layout))
			continue;
		without_cache(s);
		snprintf(what, sizeof(what), "%s, %s", s->name, sp_table_layout_name((int)layout));
		on_model(all ? 300 : 150, !place);
	}
}

/* The same requests, on the heads of a geometry. */
static void judge_heads(const char *query)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__table_cost p = predict(query, NULL), by_heads;
	struct sp_geometry *g;

	check(sp_run_geometry(&g, volume, &err), volume, &err);
	by_heads = predict(query, g);
	sp_geometry_free(g);
	ok(fabs(error(by_heads.requests, p.requests)) < 1e-9 &&
		   fabs(error(by_heads.bytes, p.bytes)) < 1e-9 &&
		   fabs(error(by_heads.seconds, p.seconds)) <= ROUGH,
	   "%s, %s: by heads in %.6f s, on the machine in %.6f (%+.1f %%)", what, query,
	   by_heads.seconds, p.seconds, 100 * error(by_heads.seconds, p.seconds));
}

/* Runs a table along the tracks of drives like that of the volume. */
static void along_tracks(unsigned drives, uint64_t records, unsigned singles)
{
	load(SP_TABLE_CSM, drives, records);
	judge_scan("c6", NULL, "scan c6");
	judge_scan("c2,c5,c8", NULL, "scan c2,c5,c8");
	judge_scan("c9", NULL, "scan c9");
	judge_scan(NULL, NULL, "scan *");
	judge_scan("c2,c3", "c6 < 1100000000", "scan c2,c3 where c6 10%");
	judge_records(1, "*", false, singles);
	judge_records(1, "c3", false, singles);
	judge_records(100, "*", false, singles);
	judge_records(100, "c2,c6", false, records < RECORDS ? 400 : singles / 2);
	judge_given("c2,c6,c7");
	judge_heads("scan *");
	judge_heads("get 1 *");
	judge_heads("get 100 *");
	judge_heads("update 100 c2,c6");
	judge_records(1, "c6", true, singles / 2);
	judge_records(100, "c2,c6", true, 5);
	if (records < RECORDS)
		return;
	judge_records(20, "c9", true, 15);
	judge_append();
}

/* Runs them on one drive and on several: the first model, or all of them. */
static void on_tracks(bool all)
{
	static const char *const models[] = { "cheetah36es-like",
					      "atlas10k3-like",
					      "barracuda4-like",
					      "ide300-like",
					      "nearline6t-like",
					      "serpentine",
					      "tiny",
					      "ultrastar36lzx-like" };

	for (unsigned i = 0; i < (all ? sizeof(models) / sizeof(*models) : 1); i++) {
		const uint64_t records = has_place(models[i]) ? RECORDS : FEWER_RECORDS;
		/* No file system of 16 TB has four of the largest. */
		const unsigned several = strcmp(models[i], "nearline6t-like") ? 4 : 2;

		for (const struct sp__shipped *s = sp__shipped_models; s->name; s++)
			if (!strcmp(s->name, models[i]))
				without_cache(s);
		snprintf(what, sizeof(what), "%s, 1 drive", models[i]);
		along_tracks(1, records, all ? 300 : 100);
		snprintf(what, sizeof(what), "%s, %u drives", models[i], several);
		along_tracks(several, records, all ? 300 : 100);
	}
}

int main(int argc, char **argv)
{
	(void)argv;
	for (unsigned layout = SP_TABLE_NSM; layout <= SP_TABLE_CSM; layout++) {
		on_models(layout, argc > 1, true);
		on_models(layout, argc > 1, false);
	}
	widened = true;
	on_tracks(argc > 1);
	unlink(path);
	unlink(input);
	unlink(model_path);
	return done();
}
