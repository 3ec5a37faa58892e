/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/gen.h>
#include <spindle/outfile.h>
#include <spindle/size.h>
#include <spindle/version.h>
#include "args.h"
#include "msg.h"
#include "number.h"
#include "quote.h"
#include "signals.h"
#include "stdio_end.h"

#define BLOCK ((size_t)1 << 20)
#define RECORD_ROOM ((size_t)1 << 16)

const char *argp_program_version = "xgen (Spindle) " SP_VERSION;

static const char doc[] =
	"Writes deterministic data: the same options give the same bytes on every machine.\n"
	"\v"
	"KIND is lines, records, runs, or one of the tables lineitem, orders, partsupp, "
	"supplier, customer, part.\n"
	"SIZE may have a suffix of K, M, G, T (powers of 1024).\n"
	"\n"
	"Examples:\n"
	"  xgen records --bytes 1G > rec.asc\n"
	"  xgen lines -n 1000000 --order nearly --nearly 0.05\n"
	"  xgen runs -n 800000 --runs 15 --alpha 0.6\n"
	"  xgen lineitem --scale 0.1 --shuffle -o lineitem.tbl\n";

enum option_key {
	OPT_BYTES = 256,
	OPT_ORDER,
	OPT_THETA,
	OPT_DISTINCT,
	OPT_NEARLY,
	OPT_WORDS,
	OPT_BINARY,
	OPT_ALPHA,
	OPT_RUNS,
	OPT_SORTED,
	OPT_RECORD_SIZE,
	OPT_SCALE,
	OPT_SHUFFLE,
	OPT_SEED,
};

static const struct argp_option options[] = {
	{ 0, 0, 0, 0, "How much:", 1 },
	{ "records", 'n', "COUNT", 0, "Write COUNT records (tables: at most COUNT rows)", 0 },
	{ "bytes", OPT_BYTES, "SIZE", 0, "Stop after the record that reaches SIZE bytes", 0 },
	{ 0, 0, 0, 0, "Keys of lines and records:", 2 },
	{ "order", OPT_ORDER, "ORDER", 0, "uniform, zipf, few, sorted, reverse or nearly (uniform)",
	  0 },
	{ "theta", OPT_THETA, "T", 0, "Zipf: exponent, 0 to 8 (1)", 0 },
	{ "distinct", OPT_DISTINCT, "K", 0, "Zipf, few: different keys (100000, 16)", 0 },
	{ "nearly", OPT_NEARLY, "SHARE", 0, "Nearly: share of records out of place (0.01)", 0 },
	{ "words", OPT_WORDS, "N", 0, "Lines: N words in each; 1: words in mixed case", 0 },
	{ "binary", OPT_BINARY, 0, 0, "Records: binary instead of ASCII", 0 },
	{ 0, 0, 0, 0, "Runs:", 3 },
	{ "alpha", OPT_ALPHA, "A", 0, "Overlap of neighbouring runs, 0 to 1 (1)", 0 },
	{ "runs", OPT_RUNS, "N", 0, "Number of runs (15)", 0 },
	{ "sorted", OPT_SORTED, 0, 0, "Each run ascending instead of in random order", 0 },
	{ "record-size", OPT_RECORD_SIZE, "SIZE", 0, "Bytes of a record (64)", 0 },
	{ 0, 0, 0, 0, "Tables:", 4 },
	{ "scale", OPT_SCALE, "SF", 0, "Scale factor; 1 is 6 million lineitems (1)", 0 },
	{ "shuffle", OPT_SHUFFLE, 0, 0, "Rows in random order instead of that of the key", 0 },
	{ 0, 0, 0, 0, "General:", 5 },
	{ "seed", OPT_SEED, "N", 0, "Seed of the data (1)", 0 },
	{ "output", 'o', "FILE", 0, "Write to FILE, which appears when it is complete", 0 },
	{ 0 },
};

#define LINES (1u << SP_GEN_LINES)
#define RECORDS (1u << SP_GEN_RECORDS)
#define RUNS (1u << SP_GEN_RUNS)
#define ALL ((1u << (SP_GEN_PART + 1)) - 1)
#define TABLES (ALL & ~(LINES | RECORDS | RUNS))

/* The kinds that an option applies to; the others refuse it. */
static const struct {
	enum option_key key;
	const char *name;
	unsigned int kinds;
} uses[] = {
	{ OPT_ORDER, "order", LINES | RECORDS },
	{ OPT_THETA, "theta", LINES | RECORDS },
	{ OPT_DISTINCT, "distinct", LINES | RECORDS },
	{ OPT_NEARLY, "nearly", LINES | RECORDS },
	{ OPT_WORDS, "words", LINES },
	{ OPT_BINARY, "binary", RECORDS },
	{ OPT_ALPHA, "alpha", RUNS },
	{ OPT_RUNS, "runs", RUNS },
	{ OPT_SORTED, "sorted", RUNS },
	{ OPT_RECORD_SIZE, "record-size", RUNS },
	{ OPT_SCALE, "scale", TABLES },
	{ OPT_SHUFFLE, "shuffle", TABLES },
};
#define USES (sizeof(uses) / sizeof(uses[0]))

struct config {
	struct sp_gen_opts gen;
	const char *output;
	bool kind_given, empty;
	unsigned int used; /* one bit for each of uses[] */
};

static uint64_t parse_size(struct argp_state *state, const char *name, const char *text)
{
	uint64_t v = 0;
	int rc = sp_size_parse(text, 1, &v);

	if (rc == -ERANGE)
		argp_error(state, "--%s: too large: '%s'", name, text);
	else if (rc < 0)
		argp_error(state, "--%s: invalid size: '%s'; %s", name, text, SIZE_FORMS);
	return v;
}

static uint64_t parse_count(struct argp_state *state, const char *name, const char *text,
			    uint64_t most)
{
	char *end;
	uint64_t v;

	errno = 0;
	v = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end)
		argp_error(state, "--%s: invalid number: '%s'; %s", name, text, NUMBER_FORMS);
	else if (errno || v > most)
		argp_error(state, "--%s: too large: '%s'", name, text);
	return v;
}

static double parse_real(struct argp_state *state, const char *name, const char *text)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !isfinite(v))
		argp_error(state, "--%s: invalid number: '%s'; valid are such as 2 and 0.5", name,
			   text);
	return v;
}

static int parse_name(struct argp_state *state, const char *what, const struct sp_word *words,
		      const char *text)
{
	char list[128] = "";
	int value = 0;

	if (!sp_word_parse(words, text, &value))
		return value;
	for (const struct sp_word *w = words; w->word; w++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
			 w > words ? ", " : "", w->word);
	argp_error(state, "unknown %s: '%s'; known are %s", what, text, list);
	return 0;
}

static void note_use(struct config *c, int key)
{
	for (unsigned int i = 0; i < USES; i++)
		if ((int)uses[i].key == key)
			c->used |= 1u << i;
}

static void parse_argument(struct argp_state *state, struct config *c, const char *arg)
{
	if (c->kind_given)
		argp_error(state, "extra operand: '%s'", arg);
	c->kind_given = true;
	c->gen.kind = (enum sp_gen_kind)parse_name(state, "kind of data", sp_gen_kind_words(), arg);
}

static void check_uses(struct argp_state *state, const struct config *c)
{
	const struct sp_gen_opts *g = &c->gen;

	if (!c->kind_given)
		argp_error(state, "missing kind of data");
	for (unsigned int i = 0; i < USES; i++)
		if (c->used >> i & 1 && !(uses[i].kinds >> g->kind & 1))
			argp_error(state, "--%s does not apply to %s", uses[i].name,
				   sp_gen_kind_name(g->kind));
	if (g->kind <= SP_GEN_RUNS && !g->records && !g->bytes && !c->empty)
		argp_error(state, "%s: -n or --bytes is needed", sp_gen_kind_name(g->kind));
}

/* The options of one kind of data alone. */
static error_t parse_special(int key, char *arg, struct argp_state *state)
{
	struct config *c = state->input;
	struct sp_gen_opts *g = &c->gen;

	switch (key) {
	case OPT_ORDER:
		g->order = (enum sp_gen_order)parse_name(state, "order", sp_gen_order_words(), arg);
		break;
	case OPT_THETA:
		g->theta = parse_real(state, "theta", arg);
		break;
	case OPT_DISTINCT:
		g->distinct = parse_count(state, "distinct", arg, UINT64_MAX);
		break;
	case OPT_NEARLY:
		g->nearly = parse_real(state, "nearly", arg);
		break;
	case OPT_WORDS:
		g->words = (uint32_t)parse_count(state, "words", arg, UINT32_MAX);
		break;
	case OPT_BINARY:
		g->binary = true;
		break;
	case OPT_ALPHA:
		g->alpha = parse_real(state, "alpha", arg);
		break;
	case OPT_RUNS:
		g->runs = parse_count(state, "runs", arg, UINT64_MAX);
		break;
	case OPT_SORTED:
		g->sorted_runs = true;
		break;
	case OPT_RECORD_SIZE:
		g->record_bytes = parse_size(state, "record-size", arg);
		break;
	case OPT_SCALE:
		g->scale = parse_real(state, "scale", arg);
		break;
	case OPT_SHUFFLE:
		g->shuffle = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	note_use(c, key);
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct config *c = state->input;

	switch (key) {
	case 'n':
		c->gen.records = parse_count(state, "records", arg, UINT64_MAX);
		c->empty |= c->gen.records == 0;
		return 0;
	case OPT_BYTES:
		c->gen.bytes = parse_size(state, "bytes", arg);
		c->empty |= c->gen.bytes == 0;
		return 0;
	case OPT_SEED:
		c->gen.seed = parse_count(state, "seed", arg, UINT64_MAX);
		return 0;
	case 'o':
		c->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		parse_argument(state, c, arg);
		return 0;
	case ARGP_KEY_END:
		check_uses(state, c);
		return 0;
	default:
		return parse_special(key, arg, state);
	}
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

/* Writes whole blocks; the rest moves to the front. */
static int pump(struct sp_gen *gen, int fd, char *buf)
{
	size_t held = 0;
	long n;
	int rc = 0;

	while (rc == 0 && (n = sp_gen_fill(gen, buf + held, BLOCK + RECORD_ROOM - held)) > 0) {
		held += (size_t)n;
		if (held < BLOCK)
			continue;
		rc = write_all(fd, buf, BLOCK);
		held -= BLOCK;
		memmove(buf, buf + BLOCK, held);
	}
	return rc < 0 ? rc : write_all(fd, buf, held);
}

/* Closing standard output shows errors of delayed writes. */
static int finish(struct sp_outfile *out, struct sp_errinfo *err)
{
	if (out)
		return sp_outfile_commit(out, err);
	return close(STDOUT_FILENO) < 0 ? -errno : 0;
}

static void generate(const char *output, struct sp_gen *gen)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_outfile *out = NULL;
	int rc = output ? sp_outfile_open(&out, output, 0, &err) : 0, fd = STDOUT_FILENO;
	char *buf;

	if (!rc && out)
		rc = fd = sp_outfile_begin(out, &err);
	if (rc < 0)
		die("%s: %s", quote_file(output), sp_strerror(rc));
	buf = must_alloc(NULL, 1, BLOCK + RECORD_ROOM);
	rc = gen ? pump(gen, fd, buf) : 0;
	free(buf);
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
	static const struct argp argp = { options, parse, "KIND", doc, 0, 0, 0 };
	struct config c = { .gen = SP_GEN_OPTS_INIT };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_gen *gen = NULL;
	int rc;

	msg_init(argv);
	stdio_guard();
	signals_catch();
	args_parse(&argp, argc, argv, &c);
	rc = c.empty ? 0 : sp_gen_new(&gen, &c.gen, &err);
	if (rc < 0)
		die("%s: %s", sp_gen_kind_name(c.gen.kind),
		    err.text[0] ? err.text : sp_strerror(rc));
	generate(c.output, gen);
	sp_gen_free(gen);
	return 0;
}
