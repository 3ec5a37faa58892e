/* SPDX-License-Identifier: MIT */
/*
 * Loading tables: random texts come back byte for byte from all layouts, and make the same table
 * for any number of threads; texts that cannot be loaded, and each call of the system and each
 * allocation that fails (the Makefile wraps them), leave the old table.
 */
#define TAP_THREADS
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/table.h>
#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"
#include "tablewraps.h"
#include "tap.h"

#define COLUMNS_MAX 12

static struct sp__rng rng;
static const char table[] = "load.table", input[] = "load.in";

static uint64_t below(uint64_t n)
{
	return sp__rng_below(&rng, n);
}

static void put(struct sp__bytes *b, const char *text, size_t n)
{
	if (sp__bytes_append(b, text, n, NULL))
		abort();
}

static void write_input(const char *path, const char *text, size_t n)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(text, 1, n, f) != n || fclose(f))
		abort();
}

/* A form of an input, and of the columns in it. */
struct form {
	struct sp_table_load_opts opts;
	unsigned n; /* columns */
	unsigned kinds[COLUMNS_MAX];
	unsigned shift[COLUMNS_MAX]; /* of numbers */
	bool trailing, cr, all_quotes, no_newline;
	uint64_t records;
	size_t text_max;
};

static void random_field(struct form *f, unsigned kind, unsigned shift, struct sp__bytes *b)
{
	static const char *const words[] = { "red", "green, light", "blue \"x\"", "grey" };
	bool csv = f->opts.format == SP_TABLE_CSV;
	uint64_t v = sp__rng_next(&rng) >> shift;
	char text[4096], quoted[8192];
	size_t n = 0, m = 0;

	if (!below(15))
		return; /* NULL */
	switch (kind) {
	case 0:
		n = (size_t)snprintf(text, sizeof(text), "%lld", (long long)v / 2 - 1000);
		break;
	case 1:
		n = (size_t)snprintf(text, sizeof(text), "%s%llu.%02u", below(2) ? "-" : "",
				     (unsigned long long)(v >> 8), (unsigned)below(99) + 1);
		break;
	case 2:
		n = (size_t)snprintf(text, sizeof(text), "20%02u-%02u-%02u", (unsigned)below(100),
				     (unsigned)below(12) + 1, (unsigned)below(28) + 1);
		break;
	case 3:
		n = (size_t)snprintf(text, sizeof(text), "%s", words[below(csv ? 4 : 1)]);
		break;
	case 4:
		n = (size_t)snprintf(text, sizeof(text), "%.17g", (double)v / 3e7);
		break;
	default:
		n = below(f->text_max);
		for (size_t i = 0; i < n; i++)
			text[i] = "abcdefg hij0123\"\n,"[below(csv ? 18 : 15)];
	}
	if (!csv || (!f->all_quotes && n && !memchr(text, ',', n) && !memchr(text, '"', n) &&
		     !memchr(text, '\n', n))) {
		put(b, text, n);
		return;
	}
	quoted[m++] = '"';
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '"')
			quoted[m++] = '"';
		quoted[m++] = text[i];
	}
	quoted[m++] = '"';
	put(b, quoted, m);
}

static void end_record(const struct form *f, struct sp__bytes *b)
{
	char sep = f->opts.format == SP_TABLE_CSV ? ',' : '|';

	if (f->trailing)
		put(b, &sep, 1);
	put(b, "\r\n" + !f->cr, 1 + f->cr);
}

/* Makes an input.  Numbers of f64 that are printed with 17 digits can make the column a text. */
static void random_input(struct form *f, struct sp__bytes *b)
{
	char sep, name[16];

	f->opts = (struct sp_table_load_opts)SP_TABLE_LOAD_OPTS_INIT;
	f->opts.exact = true;
	f->opts.format = below(2) ? SP_TABLE_CSV : SP_TABLE_TEXT;
	sep = f->opts.format == SP_TABLE_CSV ? ',' : '|';
	f->opts.separator = sep;
	f->opts.header = below(2);
	f->opts.layout = (enum sp_table_layout)below(4);
	f->opts.cell_bytes = 1024u << below(6);
	f->n = 1 + (unsigned)below(COLUMNS_MAX);
	for (unsigned i = 0; i < f->n; i++) {
		f->kinds[i] = (unsigned)below(6);
		f->shift[i] = (unsigned)below(60) + 2;
	}
	f->trailing = f->opts.format == SP_TABLE_TEXT && below(3) == 0;
	f->cr = below(4) == 0;
	f->all_quotes = below(4) == 0;
	f->no_newline = below(4) == 0;
	f->records = below(5) ? below(3000) + 1 : below(3) + 1;
	f->text_max = below(4) ? 30 : 900;
	b->bytes = 0;
	for (unsigned i = 0; f->opts.header && i < f->n; i++) {
		int n = snprintf(
			name, sizeof(name),
			f->all_quotes && f->opts.format == SP_TABLE_CSV ? "\"n%u\"" : "n%u", i);

		if (i)
			put(b, &sep, 1);
		put(b, name, (size_t)n);
	}
	if (f->opts.header)
		end_record(f, b);
	for (uint64_t r = 0; r < f->records; r++) {
		for (unsigned i = 0; i < f->n; i++) {
			if (i)
				put(b, &sep, 1);
			random_field(f, f->kinds[i], f->shift[i], b);
		}
		end_record(f, b);
	}
	/* One empty field is an empty last line, not the lack of a newline. */
	if (f->no_newline && b->bytes > 2 && b->data[b->bytes - 2 - f->cr] != '\n')
		b->bytes -= 1 + f->cr;
}

static int collect(void *arg, const char *data, size_t bytes)
{
	put(arg, data, bytes);
	return 0;
}

static int scan(struct sp__bytes *out, struct sp_errinfo *err)
{
	const struct sp_table_query query = SP_TABLE_QUERY_INIT;
	struct sp_table_opts opts = { .run = SP_RUN_OPTS_INIT };
	struct sp_table *t = NULL;
	int rc;

	opts.run.memory_bytes = 16 << 20;
	out->bytes = 0;
	rc = sp_table_open(&t, table, &opts, err);
	if (!rc)
		rc = sp_table_scan(t, &query, collect, out, NULL, err);
	(void)sp_table_close(t);
	return rc;
}

/* Returns the hash of the table's file; 0: there is none. */
static uint64_t hash_of(const char *path)
{
	static char data[1 << 26];
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(data, 1, sizeof(data), f) : 0;

	if (f)
		fclose(f);
	return n ? sp__checksum(data, n) : 0;
}

static int load(struct form *f, unsigned parallel, uint64_t memory, struct sp_table_stats *stats,
		struct sp_errinfo *err)
{
	const char *in = input;

	f->opts.run.memory_bytes = memory;
	f->opts.run.parallel = parallel;
	f->opts.run.seed = 7;
	*err = (struct sp_errinfo)SP_ERRINFO_INIT;
	return sp_table_load(table, &in, 1, &f->opts, stats, err);
}

static void check_random(void)
{
	unsigned wrong = 0, different = 0, inexact = 0, refused = 0;
	struct sp__bytes text = { 0 }, out = { 0 };
	struct sp_errinfo err;

	for (unsigned i = 0; i < tap_times(60); i++) {
		uint64_t memory = below(2) ? 4 << 20 : 64 << 20, hash;
		struct sp_table_stats stats = { 0 };
		struct form f;

		random_input(&f, &text);
		write_input(input, text.data, text.bytes);
		if (load(&f, 1, memory, &stats, &err)) {
			/* A column of its own can be too wide for a small cell. */
			refused += err.code == SP_EUNSUP;
			wrong += err.code != SP_EUNSUP;
			if (err.code != SP_EUNSUP)
				diag("%u: %s", i, err.text);
			continue;
		}
		wrong += stats.records_written != f.records || scan(&out, &err);
		inexact += !stats.exact;
		if (out.bytes != text.bytes || memcmp(out.data, text.data, text.bytes) != 0) {
			wrong += stats.exact;
			diag("%u: exact %d, %zu bytes of %zu", i, stats.exact, out.bytes,
			     text.bytes);
		}
		hash = hash_of(table);
		for (unsigned threads = 2; threads < 8; threads += 3)
			different +=
				load(&f, threads, memory, &stats, &err) || hash_of(table) != hash;
	}
	ok(!wrong, "random texts come back byte for byte");
	ok(inexact < 10 && refused < 20, "%u of %d are not exact, %u do not fit a cell", inexact,
	   tap_times(60), refused);
	ok(!different, "2 and 5 threads make the same table as one");
	sp__bytes_release(&text, NULL);
	sp__bytes_release(&out, NULL);
}

struct wrong_input {
	const char *text, *types, *message; /* a part of it */
	enum sp_table_format format;
	bool header;
	uint32_t record_bytes;
};

/* Returns true if the load ends with this message, and the old table is left. */
static bool refuses(const struct wrong_input *w, uint64_t hash)
{
	struct form f = { .opts = SP_TABLE_LOAD_OPTS_INIT };
	struct sp_errinfo err;
	int rc;

	f.opts.separator = ',';
	f.opts.format = w->format;
	f.opts.types = w->types;
	f.opts.header = w->header;
	f.opts.record_bytes = w->record_bytes;
	write_input(input, w->text, strlen(w->text));
	rc = load(&f, 2, 4 << 20, NULL, &err);
	if (rc < 0 && strstr(err.text, w->message) && hash_of(table) == hash)
		return true;
	diag("%d: %s", rc, err.text);
	return false;
}

static void check_wrong(void)
{
	static const struct wrong_input inputs[] = {
		{ "1,2\n3\n", NULL, "line 2: 1 field, too few", SP_TABLE_TEXT, false, 0 },
		{ "a,b\n1,2\n3,4,5\n", NULL, "line 3: more than 2 fields", SP_TABLE_CSV, true, 0 },
		{ "a\n1\n300\n", "a:i8",
		  "line 3: column 'a': '300' is out of the range of i8; type i16 would do",
		  SP_TABLE_TEXT, true, 0 },
		{ "-128\n", "c1:i8", "stands for NULL in i8; type i16 would do", SP_TABLE_TEXT,
		  false, 0 },
		{ "1\n\n", "c1:i8 not null", "line 2: column 'c1' is not null", SP_TABLE_TEXT,
		  false, 0 },
		{ "x,\"a\nb", NULL, "line 1: a quoted field is not closed", SP_TABLE_CSV, false,
		  0 },
		{ "a,b,a\n1,2,3\n", NULL, "two columns have the name 'a'", SP_TABLE_CSV, true, 0 },
		{ "a,b\n1,2\n", "bb:i8", "there is no column 'bb': 'b' is the nearest name",
		  SP_TABLE_CSV, true, 0 },
		{ "", NULL, "is empty", SP_TABLE_TEXT, false, 0 },
		{ "12345", "a:i16", "the types have 2 bytes, a record has 4", SP_TABLE_FIXED, false,
		  4 },
		{ "12345", "a:i32", "not a multiple of the record size 4", SP_TABLE_FIXED, false,
		  4 },
		{ "1\n\xFFz\n", "c1:text", "line 2: column 'c1': a text begins with the byte 0xFF",
		  SP_TABLE_TEXT, false, 0 },
	};
	struct form f = { .opts = SP_TABLE_LOAD_OPTS_INIT };
	struct sp_errinfo err;
	unsigned wrong = 0;
	uint64_t hash;

	write_input(input, "1\n2\n", 4);
	if (load(&f, 1, 4 << 20, NULL, &err))
		abort();
	hash = hash_of(table);
	for (size_t i = 0; i < sizeof(inputs) / sizeof(*inputs); i++)
		wrong += !refuses(&inputs[i], hash);
	ok(!wrong, "wrong inputs are refused with line and reason, and leave the old table");
}

/* Types are inferred from the first 16 MB; a later value changes them. */
static void check_later(void)
{
	struct sp__bytes text = { 0 }, out = { 0 };
	struct form f = { .opts = SP_TABLE_LOAD_OPTS_INIT };
	struct sp_table_stats stats = { 0 };
	struct sp_errinfo err;
	int rc;

	while (text.bytes < (17 << 20))
		put(&text, "12,abcdefghijklmnopqrstuvwxyz\n", 30);
	put(&text, "70000,x\n", 8);
	f.opts.separator = ',';
	write_input(input, text.data, text.bytes);
	rc = load(&f, 2, 4 << 20, &stats, &err);
	ok(!rc && stats.exact && !scan(&out, &err) && out.bytes == text.bytes &&
		   !memcmp(out.data, text.data, text.bytes),
	   "a value that does not fit the inferred type: the file is loaded once more");
	sp__bytes_release(&text, NULL);
	sp__bytes_release(&out, NULL);
}

/* Makes the input of the tests that let calls fail. */
static void fault_input(struct form *f)
{
	struct sp__bytes text = { 0 };
	char line[200];

	*f = (struct form){ .opts = SP_TABLE_LOAD_OPTS_INIT };
	f->opts.separator = ',';
	f->opts.run.engine = "sync";
	f->opts.header = true;
	put(&text, "a,b,c,d\n", 8);
	for (unsigned i = 0; i < 3000; i++)
		put(&text, line,
		    (size_t)snprintf(line, sizeof(line), "%u,%u.5,word%u,text %u%0100u\n", i, i,
				     i % 5, i, i * 7));
	write_input(input, text.data, text.bytes);
	sp__bytes_release(&text, NULL);
}

/* Each write and each allocation of a load fails, one at a time. */
static void check_faults(bool allocation)
{
	static const char *const together[] = { "b,c" };
	unsigned n = 0, wrong = 0;
	struct sp_errinfo err;
	uint64_t hash;
	struct form f;
	int rc;

	fault_input(&f);
	f.opts.together = together;
	f.opts.ntogether = 1;
	if (load(&f, 1, 4 << 20, NULL, &err))
		abort();
	hash = hash_of(table);
	f.opts.cell_bytes = 8192; /* another table */
	for (rc = -1; rc; n++) {
		calls = allocations = 0;
		*(allocation ? &fail_allocation : &fail_at) = n + 1;
		rc = load(&f, 1, 4 << 20, NULL, &err);
		fail_allocation = fail_at = 0;
		if (rc && (rc > 0 || hash_of(table) != hash)) {
			wrong++;
			diag("%u: %d", n, rc);
		}
		if (rc == 0 && (allocation ? allocations : calls) > n)
			rc = -1; /* it did without */
		if (rc == -1)
			hash = hash_of(table);
	}
	ok(n > 10 && !wrong, "each of %u %s fails: the old table is left", n,
	   allocation ? "allocations" : "writes");
}

/* True if a text is loaded, and comes back. */
static bool returns(const char *text, enum sp_table_format format, bool header)
{
	struct form f = { .opts = SP_TABLE_LOAD_OPTS_INIT };
	struct sp__bytes out = { 0 };
	struct sp_table_stats stats;
	struct sp_errinfo err;
	bool same;

	f.opts.separator = ',';
	f.opts.format = format;
	f.opts.header = header;
	write_input(input, text, strlen(text));
	same = !load(&f, 1, 4 << 20, &stats, &err) && stats.exact && !scan(&out, &err) &&
	       out.bytes == strlen(text) && !memcmp(out.data, text, out.bytes);
	if (!same)
		diag("%s: exact %d, %.*s", err.text, stats.exact, (int)out.bytes, out.data);
	sp__bytes_release(&out, NULL);
	return same;
}

static void check_styles(void)
{
	ok(returns("a,b\n1,x\n", SP_TABLE_TEXT, true), "a header");
	ok(returns("a,b\n", SP_TABLE_CSV, true), "a header without records");
	ok(returns("1,2,\n3,,\n", SP_TABLE_TEXT, false), "a trailing separator");
	ok(returns("a,b,\n3,,\n", SP_TABLE_TEXT, true), "a trailing separator after a header");
	ok(returns("\"7\",1.5,\"x\"\n\"8\",2.5,\"y\"\n", SP_TABLE_CSV, false),
	   "quotes around texts, which can look like numbers");
	ok(returns("\"a\",\"b\"\n\"7\",\"1.5\"\n", SP_TABLE_CSV, true), "quotes around all fields");
	ok(returns("1,a\r\n2,\r\n3,b", SP_TABLE_CSV, false), "CR LF, but not at the end");
	ok(returns("\n\n\n", SP_TABLE_TEXT, false), "empty lines");
	ok(returns("x", SP_TABLE_TEXT, false), "one byte");
	ok(returns(",\n,\n", SP_TABLE_CSV, false), "empty fields");
}

/* Loads several inputs. */
static void check_inputs(void)
{
	static const char *const same[] = { "load.1", "load.2" }, *const other[] = { "load.1",
										     "load.3" };
	struct form f = { .opts = SP_TABLE_LOAD_OPTS_INIT };
	struct sp__bytes out = { 0 };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_stats stats;

	write_input("load.1", "a,b\n1,2\n", 8);
	write_input("load.2", "a,b\n3,4\n", 8);
	write_input("load.3", "a,c\n3,4\n", 8);
	f.opts.format = SP_TABLE_CSV;
	f.opts.header = true;
	ok(!sp_table_load(table, same, 2, &f.opts, &stats, &err) && stats.records_written == 2 &&
		   !stats.exact && !scan(&out, &err) && out.bytes == 12 &&
		   !memcmp(out.data, "a,b\n1,2\n3,4\n", 12),
	   "two inputs with one header");
	write_input("load.1", "", 0);
	write_input("load.2", "3,4\n", 4);
	f.opts.header = false;
	ok(!sp_table_load(table, same, 2, &f.opts, &stats, &err) && stats.records_written == 1 &&
		   stats.exact && !scan(&out, &err) && out.bytes == 4,
	   "an empty input before one with records");
	write_input("load.1", "a,b\n1,2\n", 8);
	f.opts.header = true;
	ok(sp_table_load(table, other, 2, &f.opts, &stats, &err) == SP_EFORMAT &&
		   strstr(err.text, "header differs"),
	   "two inputs with different headers are refused");
	sp__bytes_release(&out, NULL);
	unlink("load.1");
	unlink("load.2");
	unlink("load.3");
}

static void check_schema(void)
{
	static const char *const in = input;
	struct sp_table_load_opts o = SP_TABLE_LOAD_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__bytes out = { 0 };
	char line[64];
	FILE *f = fopen(input, "w");

	o.run.memory_bytes = 4 << 20;
	o.format = SP_TABLE_CSV;
	o.header = true;
	if (!f)
		abort();
	fputs("a,b,c d\n", f);
	for (unsigned i = 0; i < 1000; i++)
		fprintf(f, "%u,%u.25,\"x%u\n\"\n", i, i * 1000, i);
	fclose(f);
	ok(!sp_table_schema_text(&in, 1, &o, collect, &out, &err) && out.bytes == 28 &&
		   !memcmp(out.data, "a i16\nb dec32(2)\n\"c d\" text\n", 28),
	   "the narrowest types of all records");
	f = fopen(input, "a");
	if (!f)
		abort();
	fputs("1,2\n", f);
	fclose(f);
	snprintf(line, sizeof(line), "line %u: 2 fields, too few", 2002);
	ok(sp_table_schema_text(&in, 1, &o, collect, &out, &err) == SP_EFORMAT &&
		   !strcmp(err.text, line),
	   "a record with too few fields ends the search for types");
	sp__bytes_release(&out, NULL);
}

int main(void)
{
	rng.state = 34;
	check_random();
	check_styles();
	check_inputs();
	check_wrong();
	check_later();
	check_schema();
	check_faults(false);
	check_faults(true);
	unlink(table);
	unlink(input);
	return done();
}
