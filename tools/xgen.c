/* SPDX-License-Identifier: MIT */
/*
 * xgen: writes deterministic data.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/gen.h>
#include <spindle/outfile.h>
#include "args.h"
#include "msg.h"
#include "number.h"
#include "packedwarn.h"
#include "progress.h"
#include "signals.h"

#define BLOCK ((size_t)1 << 20)
#define RECORD_CAPACITY ((size_t)1 << 16)

static const char about[] =
	"Writes deterministic data: the same options give the same bytes on every\nmachine.";

static const char notes[] =
	"KIND is lines, records, runs, or one of the tables lineitem, orders, partsupp,\n"
	"supplier, customer, part, r, t1, t2, g1.\n"
	"SIZE may have a suffix of K, M, G, T (powers of 1024).\n"
	"\n"
	"Examples:\n"
	"  xgen records --bytes 1G > rec.asc\n"
	"  xgen lines -n 1000000 --order nearly --nearly 0.05\n"
	"  xgen runs -n 800000 --runs 15 --alpha 0.6\n"
	"  xgen lineitem --scale 0.1 --shuffle -o lineitem.tbl\n"
	"  xgen t1 --record-size 200 -o t1\n"
	"  xgen g1 -n 10000000 --groups 100 --missing 5 > G1_1e7_1e2_5_0.csv\n";

/* Options that apply to some kinds of data only; the others refuse them. */
enum special {
	ORDER,
	THETA,
	DISTINCT,
	NEARLY,
	WORDS,
	BINARY,
	ALPHA,
	RUNS,
	SORTED,
	RECORD_SIZE,
	SCALE,
	SHUFFLE,
	GROUPS,
	MISSING,
	SPECIALS
};

#define KIND(kind) (1u << SP_GEN_##kind)

static const unsigned int kinds[SPECIALS] = {
	[ORDER... NEARLY] = KIND(LINES) | KIND(RECORDS),
	[WORDS] = KIND(LINES),
	[BINARY] = KIND(RECORDS) | KIND(R),
	[ALPHA... SORTED] = KIND(RUNS),
	[RECORD_SIZE] = KIND(RUNS) | KIND(T1) | KIND(T2),
	[SCALE... SHUFFLE] = ~(KIND(LINES) | KIND(RECORDS) | KIND(RUNS) | KIND(R) | KIND(G1)),
	[GROUPS... MISSING] = KIND(G1),
};

struct config {
	struct sp_gen_opts gen;
	const char *output;
	enum progress_mode progress;
	bool records_given, bytes_given, special[SPECIALS];
};

#define ORDERED(order) (1u << SP_GEN_##order)

/* The distributions of keys that use an option, as bits; 0: all. */
static const unsigned int orders[SPECIALS] = {
	[THETA] = ORDERED(ZIPF),
	[DISTINCT] = ORDERED(ZIPF) | ORDERED(FEW),
	[NEARLY] = ORDERED(NEARLY),
};

#define TO(member) SETTING_TO(struct config, member)
#define SPECIAL(option) .given = offsetof(struct config, special) + (option)

static const struct setting settings[] = {
	{ .doc = "Size:" },
	{ "records", "COUNT", "write COUNT records; of tables except r, g1, at most",
	  TO(gen.records), .number = { 0, UINT64_MAX },
	  .given = offsetof(struct config, records_given), .letter = 'n' },
	{ "bytes", "SIZE", "stop after the record that reaches SIZE bytes", TO(gen.bytes),
	  .whole = size_option, .given = offsetof(struct config, bytes_given) },
	{ .doc = "Keys of lines and records:" },
	{ "order", "ORDER", "uniform, zipf, few, sorted, reverse or nearly (uniform)",
	  TO(gen.order), .values = sp_gen_order_values, SPECIAL(ORDER) },
	{ "theta", "T", "zipf: exponent, 0 to 8 (1)", TO(gen.theta), .real = { 0, 8 },
	  SPECIAL(THETA) },
	{ "distinct", "K", "number of different keys (zipf: 100000, few: 16)", TO(gen.distinct),
	  .number = { 0, UINT64_MAX }, SPECIAL(DISTINCT) },
	{ "nearly", "SHARE", "nearly: share of records out of order (0.01)", TO(gen.nearly),
	  .real = { 0, 1 }, SPECIAL(NEARLY) },
	{ "words", "N", "lines: words per line (random); 1: one word in mixed case", TO(gen.words),
	  .number = { 0, UINT32_MAX }, SPECIAL(WORDS) },
	{ "binary", NULL, "records, r: binary instead of text", TO(gen.binary), SPECIAL(BINARY) },
	{ .doc = "Runs:" },
	{ "alpha", "A", "overlap of neighbouring runs, 0 to 1 (1)", TO(gen.alpha), .real = { 0, 1 },
	  SPECIAL(ALPHA) },
	{ "runs", "N", "number of runs (15)", TO(gen.runs), .number = { 0, UINT64_MAX },
	  SPECIAL(RUNS) },
	{ "sorted", NULL, "each run ascending instead of in random order", TO(gen.sorted_runs),
	  SPECIAL(SORTED) },
	{ .doc = "Runs, t1, t2:" },
	{ "record-size", "SIZE", "bytes of a record (runs: 64; t1, t2: 100)", TO(gen.record_bytes),
	  .whole = record_size_option, SPECIAL(RECORD_SIZE) },
	{ .doc = "Tables but r and g1:" },
	{ "scale", "SF", "scale factor; 1: 6 million lineitems, 150000 t2 (1)", TO(gen.scale),
	  .real = { 0, 100000 }, SPECIAL(SCALE) },
	{ "shuffle", NULL, "rows in random order instead of key order", TO(gen.shuffle),
	  SPECIAL(SHUFFLE) },
	{ .doc = "g1:" },
	{ "groups", "K", "values of id1, id2, id4, id5; of id3, id6: COUNT / K (100)",
	  TO(gen.groups), .number = { 0, UINT64_MAX }, SPECIAL(GROUPS) },
	{ "missing", "PERCENT", "missing values in each column, 0 to 99 (0)", TO(gen.missing),
	  .number = { 0, UINT32_MAX }, SPECIAL(MISSING) },
	{ .doc = "All kinds:" },
	{ "seed", "N", "seed of the data (1)", TO(gen.seed), .number = { 0, UINT64_MAX } },
	OUTPUT_SETTING(struct config, output, 0),
	PROGRESS_SETTING(struct config, progress, 0),
	SETTING_ANSWERS,
	{ 0 },
};

static bool empty(const struct config *c)
{
	return (c->records_given && !c->gen.records) || (c->bytes_given && !c->gen.bytes);
}

static void check(const struct config *c)
{
	const struct sp_gen_opts *g = &c->gen;

	for (const struct setting *s = settings; !SETTING_ENDS(s); s++) {
		size_t i = s->given - offsetof(struct config, special);

		if (i < SPECIALS && c->special[i] && !(kinds[i] >> g->kind & 1))
			die_usage("--%s does not apply to %s", s->name, sp_gen_kind_name(g->kind));
		if (i < SPECIALS && c->special[i] && orders[i] && !(orders[i] >> g->order & 1))
			die_usage("--%s does not apply to --order=%s", s->name,
				  sp_gen_order_name(g->order));
	}
	if (g->kind <= SP_GEN_RUNS && !g->records && !g->bytes && !empty(c))
		die_usage("%s: -n or --bytes is needed", sp_gen_kind_name(g->kind));
}

static void take_operands(struct config *c, const struct operands *operands)
{
	if (!operands->n)
		die_usage("missing kind of data");
	if (operands->n > 1)
		die_usage("extra operand: %s", quote(operands->text[1]));
	c->gen.kind =
		(enum sp_gen_kind)choice_option("KIND", operands->text[0], sp_gen_kind_values());
	if (strcmp(operands->text[0], sp_gen_kind_name(c->gen.kind)) != 0)
		die_usage("the name of a kind of data cannot be abbreviated: %s",
			  quote(sp_gen_kind_name(c->gen.kind)));
}

static int write_all(int fd, const char *buf, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(fd, buf, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		buf += n;
		bytes -= (size_t)n;
	}
	return 0;
}

/* Writes whole blocks and moves the rest to the front.  p: NULL, or shows progress. */
static int pump(const struct config *c, struct sp_gen *gen, int fd, char *buf, struct progress *p)
{
	size_t held = 0;
	uint64_t done = 0;
	long n;
	int rc = 0;

	while (rc == 0 && (n = sp_gen_fill(gen, buf + held, BLOCK + RECORD_CAPACITY - held)) > 0) {
		held += (size_t)n;
		if (held < BLOCK)
			continue;
		rc = write_all(fd, buf, BLOCK);
		held -= BLOCK;
		memmove(buf, buf + BLOCK, held);
		done += BLOCK;
		if (p)
			progress_update(p, 0, done, c->gen.bytes);
	}
	progress_wipe();
	return rc < 0 ? rc : write_all(fd, buf, held);
}

/* Closes the output; closing standard output reports errors of delayed writes. */
static int finish(struct sp_outfile *out, struct sp_errinfo *err)
{
	if (out)
		return sp_outfile_commit(out, err);
	return close(STDOUT_FILENO) < 0 ? -errno : 0;
}

static int write_data(const struct config *c, struct sp_gen *gen, int fd)
{
	static const char *const phases[] = { "writing" };
	static const double weights[] = { 1 };
	struct progress p = { phases, weights, 1, .result_phase = -1 };
	bool apart = progress_apart(c->output);
	bool shown = (apart || c->progress == PROGRESS_ALWAYS) && progress_wanted(c->progress, 1);
	char *buf = must_alloc(NULL, 1, BLOCK + RECORD_CAPACITY);
	int rc;

	progress_begin(&p);
	rc = pump(c, gen, fd, buf, shown ? &p : NULL);
	free(buf);
	return rc;
}

static void generate(const struct config *c, struct sp_gen *gen)
{
	const char *output = c->output;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_outfile *out = NULL;
	int rc = output ? sp_outfile_open(&out, output, 0, &err) : 0, fd = STDOUT_FILENO;

	if (!rc && out)
		rc = fd = sp_outfile_begin(out, &err);
	if (rc < 0)
		die("%s: %s", quote_file(output), sp_strerror(rc));
	rc = gen ? write_data(c, gen, fd) : 0;
	if (rc == 0)
		rc = finish(out, &err);
	if (rc < 0 && !err.code) {
		err.code = rc;
		snprintf(err.path, sizeof(err.path), "%s", output ? output : "");
	}
	sp_outfile_close(out, &err);
	if (rc < 0)
		die("write error: %s", err.text[0] ? err.text : sp_strerror(rc));
}

int main(int argc, char **argv)
{
	static const struct args args = {
		.settings = settings,
		.operands = "KIND",
		.about = about,
		.notes = notes,
		.operand_words = sp_gen_kind_values,
	};
	struct operands operands;
	struct config c = { .gen = SP_GEN_OPTS_INIT };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_gen *gen = NULL;
	int rc;

	msg_init(argv);
	stdio_guard();
	signals_catch();
	args_read(&args, argc, argv, &c, &operands);
	take_operands(&c, &operands);
	check(&c);
	packedwarn_output(c.output, "a pipe to a program such as gzip compresses it");
	rc = empty(&c) ? 0 : sp_gen_new(&gen, &c.gen, &err);
	if (rc < 0)
		die("%s: %s", sp_gen_kind_name(c.gen.kind),
		    err.text[0] ? err.text : sp_strerror(rc));
	generate(&c, gen);
	sp_gen_free(gen);
	return 0;
}
