/* SPDX-License-Identifier: MIT */
/*
 * Joins in plans over records that are not plain lines with one text key, against joins of the
 * same files: records that end with a zero byte, CSV with quoted keys and newlines, keys that
 * compare as numbers, without case, or as a locale has it.
 */
#define TAP_THREADS

#include <unistd.h>
#include <spindle/flow.h>
#include <spindle/index.h>
#include <spindle/join.h>
#include "base/rng.h"
#include "flowplan.h"
#include "german.h"
#include "lines.h"
#include "tap.h"

#define ROWS 900
#define KEYS 300

static char dir[] = "/tmp/sp-flow.XXXXXX", path[2][32], output[32], index_path[32];

struct format {
	const char *name, *separator, *key; /* of the index; NULL: it cannot be one */
	char eol;
	bool csv, fold, collated;
	struct sp_key type;
};

static const struct format formats[] = {
	{ "zero bytes", " ", "1,1", '\0', false, false, false, { 0 } },
	{ "CSV", ",", "1,1", '\n', true, false, false, { 0 } },
	{ "numbers", " ", "1,1n", '\n', false, false, false, { .type = SP_KEY_NUMERIC } },
	{ "no case", " ", NULL, '\n', false, true, false, { 0 } },
	{ "a locale's order", " ", NULL, '\n', false, false, true, { 0 } },
};

static void put_key(FILE *f, const struct format *t, unsigned key, unsigned way)
{
	static const char *const letters[] = { "a", "A", "\xc3\xa4", "b" };

	if (t->csv && key % 3 == 0)
		fprintf(f, "\"%u\"\"\n,\"", key);
	else if (t->csv)
		fprintf(f, way % 2 ? "\"%u\"" : "%u", key);
	else if (t->type.type == SP_KEY_NUMERIC)
		fprintf(f, way % 2 ? "%u.000" : "0%u", key);
	else
		fprintf(f, "%s%u", letters[way % 4], key);
}

static void make_file(const char *name, const struct format *t, struct sp__rng *rng)
{
	FILE *f = fopen(name, "w");

	for (unsigned i = 0; f && i < ROWS; i++) {
		put_key(f, t, (unsigned)sp__rng_below(rng, KEYS), (unsigned)sp__rng_below(rng, 20));
		fprintf(f, "%s%u%c", t->separator, i, t->eol);
	}
	if (!f || fclose(f))
		abort();
}

static void make_index(const struct format *t)
{
	struct sp_index_build_opts o = SP_INDEX_BUILD_OPTS_INIT;

	o.run = run_opts();
	o.format = (struct sp_recfmt){ .kind = t->csv ? SP_REC_CSV : SP_REC_LINE,
				       .eol = t->eol,
				       .separator = ',' };
	o.separator = t->separator[0];
	o.key = t->key;
	if (sp_index_build(&o, path[1], index_path, NULL, &err)) {
		printf("# %s: %s\n", t->name, err.text);
		abort();
	}
}

static struct sp_join_opts join_opts(const struct format *t, enum sp_join_algorithm algorithm)
{
	static const bool collated = true;
	struct sp_join_opts o = SP_JOIN_OPTS_INIT;

	o.run = run_opts();
	o.eol = t->eol;
	o.separator = t->separator;
	o.separator_bytes = 1;
	o.csv = t->csv;
	o.ignore_case = t->fold;
	o.types = &t->type;
	o.collated = t->collated ? &collated : NULL;
	o.unpaired[0] = true;
	o.algorithm = algorithm;
	return o;
}

/* Reads a file, with final zero bytes as newlines. */
static char *lines_from(FILE *f)
{
	char *all = calloc(1, 8 << 20);
	size_t n = fread(all, 1, (8 << 20) - 1, f);

	if (!all || fclose(f))
		abort();
	for (size_t i = 0; i < n; i++)
		if (!all[i])
			all[i] = '\n';
	return all;
}

static char *want_of(const struct format *t)
{
	struct sp_join_opts o = join_opts(t, SP_JOIN_HYBRID);
	struct sp_join_io io = { .inputs = { path[0], path[1] }, .output = output };

	if (sp_join_run(&o, &io, NULL, &err))
		abort();
	return lines_from(fopen(output, "r"));
}

static struct sp_operator *scan(struct sp_flow *flow, const struct format *t, int i)
{
	static const char *inputs[2];
	struct sp_flow_scan o = { .inputs = &inputs[i],
				  .ninputs = 1,
				  .format = { .kind = t->csv ? SP_REC_CSV : SP_REC_LINE,
					      .eol = t->eol,
					      .separator = ',' },
				  .separator = t->separator,
				  .separator_bytes = 1 };
	struct sp_operator *op;

	inputs[i] = path[i];
	if (sp_flow_scan(&op, flow, &o)) {
		printf("# %s: %s\n", t->name, err.text);
		abort();
	}
	return op;
}

static char *got_of(const struct format *t, enum sp_join_algorithm algorithm, int *rc)
{
	struct sp_join_opts o = join_opts(t, algorithm);
	const bool through = algorithm == SP_JOIN_ASYNC_INL;
	struct sp_operator *left, *op;
	struct sp_flow *flow = open_flow();
	struct sp_batch b;
	FILE *f = tmpfile();

	if (!f)
		abort();
	o.index[1] = through ? index_path : NULL;
	left = scan(flow, t, 0);
	*rc = sp_join_operator(&op, left, through ? NULL : scan(flow, t, 1), &o);
	if (!*rc)
		while ((*rc = sp_flow_get(op, &b)) == SP_READY)
			fwrite(b.data, 1, b.bytes, f);
	sp_flow_close(flow);
	rewind(f);
	return lines_from(f);
}

static void check(const struct format *t, enum sp_join_algorithm algorithm)
{
	int rc;
	char *want = want_of(t), *got = got_of(t, algorithm, &rc);

	ok(rc == SP_END && strlen(want) > ROWS && lines_same(got, want),
	   "%s: %s in a plan gives what a join of files gives", t->name,
	   sp_join_algorithm_name((int)algorithm));
	if (rc)
		printf("# %d %s\n", rc, err.text);
	free(want);
	free(got);
}

int main(void)
{
	struct sp__rng rng = { 3 };
	bool german;

	setenv("LC_ALL", "C", 1);
	german = german_set();
	if (!mkdtemp(dir))
		abort();
	for (int i = 0; i < 2; i++)
		sprintf(path[i], "%s/%d", dir, i);
	sprintf(output, "%s/out", dir);
	sprintf(index_path, "%s/index", dir);
	for (const struct format *t = formats; t < formats + 5; t++) {
		if (t->collated && !german) {
			skip(t->name, "needs localedef and the source of de_DE");
			continue;
		}
		for (int i = 0; i < 2; i++)
			make_file(path[i], t, &rng);
		check(t, SP_JOIN_HYBRID);
		check(t, SP_JOIN_NESTED);
		if (t->key) {
			make_index(t);
			check(t, SP_JOIN_ASYNC_INL);
		}
	}
	for (int i = 0; i < 2; i++)
		unlink(path[i]);
	unlink(output);
	unlink(index_path);
	rmdir(dir);
	german_remove();
	return done();
}
