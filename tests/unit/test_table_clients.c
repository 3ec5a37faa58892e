/* SPDX-License-Identifier: MIT */
/*
 * The workload of clients: what each line means, and the reason why one is refused; the records
 * that are drawn; changed cells against a naive list.
 */
#include <string.h>
#include "columns/vector.h"
#include "table/clients/change.h"
#include "table/clients/script.h"
#include "tap.h"

#define RECORDS 1000

static struct sp__schema schema;
static struct sp__client_table_name tables[2];

static void make_tables(void)
{
	static const char *const names[] = { "a1", "a.2", "text" };
	static const struct sp__value_type text = { 't', 0, 4 };

	for (unsigned i = 0; i < 3; i++)
		if (sp__schema_add(&schema, names[i], strlen(names[i]),
				   i < 2 ? &sp__value_types[SP__VALUE_I32] : &text))
			exit(1);
	for (unsigned i = 0; i < 2; i++)
		tables[i] = (struct sp__client_table_name){ .name = i ? "u" : "t",
							    .schema = &schema,
							    .records = RECORDS };
}

/* Reads one step, of two tables or of one. */
static const struct sp__client_step *read_step(struct sp__client_script *s, unsigned ntables,
					       const char *line)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	*s = (struct sp__client_script){ 0 };
	if (!sp__client_script_add(s, line, tables, ntables, &err))
		return s->kinds[0].lines[0].steps;
	diag("%s", err.text);
	return NULL;
}

static void takes(unsigned ntables, const char *line, const struct sp__client_step *want,
		  const char *columns)
{
	struct sp__client_script s;
	const struct sp__client_step *got = read_step(&s, ntables, line);

	ok(got && got->kind == want->kind && got->table == want->table &&
		   got->records == want->records && got->index_reads == want->index_reads &&
		   got->rows.kind == want->rows.kind && got->rows.n == want->rows.n &&
		   (!columns ? !got->columns
			     : got->columns && got->columns[0] == (columns[0] == '1') &&
				       got->columns[1] == (columns[1] == '1')),
	   "'%s' is understood", line);
	sp__client_script_free(&s);
}

static void refuses(unsigned ntables, const char *line, const char *reason)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__client_script s = { 0 };
	int rc = sp__client_script_add(&s, line, tables, ntables, &err);

	ok(rc == SP_ESYNTAX && strstr(err.text, reason), "'%s' is refused: %s", line, reason);
	if (!strstr(err.text, reason))
		diag("%s", err.text);
	sp__client_script_free(&s);
}

#define STEP(...) (&(struct sp__client_step){ __VA_ARGS__ })

static void lines(void)
{
	takes(1, "scan a1", STEP(.kind = SP__STEP_SCAN), "10");
	takes(1, "2.5 get 7 a1,\"a.2\"", STEP(.kind = SP__STEP_GET, .records = 7), "11");
	takes(2, "get 7 u.a1 nurand 255",
	      STEP(.kind = SP__STEP_GET, .table = 1, .records = 7,
		   .rows = { SP__ROWS_NURAND, 255 }),
	      "10");
	takes(2, "index 2 update 1 t.\"a.2\" last 1000",
	      STEP(.kind = SP__STEP_UPDATE, .records = 1, .index_reads = 2,
		   .rows = { SP__ROWS_LAST, 1000 }),
	      "01");
	takes(2, "delete 3 u zipf 1.1",
	      STEP(.kind = SP__STEP_DELETE, .table = 1, .records = 3, .rows = { SP__ROWS_ZIPF, 0 }),
	      NULL);
	refuses(1, "scan *", "column 'text' is a text");
	refuses(2, "insert 1 t", "column 'text' is a text");
	refuses(1, "delete 1", "there is no table ''");
	refuses(1, "scan t.a2", "no column 'a2'");
	refuses(1, "scan a1;", "'': a step must be");
	refuses(1, "scan a1; ; scan a1", "'': a step must be");
	refuses(1, "get 1 a1 last 1001", "has 1000 records, not 1001");
	refuses(1, "get 1 a1 zipf 11", "exponent");
	refuses(1, "index get 1 a1", "index needs");
	refuses(1, "client 0", "client needs");
	refuses(1, "client 3 think", "think needs");
	refuses(1, "client 3 think 1h", "think needs");
}

static void kinds(void)
{
	static const char *const text[] = { "scan a1", "client 3 think 2.5ms", "3 get 1 a1",
					    "get 1 a1 ; update 1 a1 same" };
	struct sp__client_script s = { 0 };
	int rc = 0;

	for (unsigned i = 0; !rc && i < 4; i++)
		rc = sp__client_script_add(&s, text[i], tables, 1, NULL);
	ok(!rc && s.n == 2 && s.clients == 4 && s.kinds[0].clients == 1 && s.kinds[1].n == 2 &&
		   s.kinds[1].think_ns == 2500000 && s.kinds[1].weights > 3.9 &&
		   s.kinds[1].lines[1].n == 2,
	   "lines belong to the clients before them");
	sp__client_script_free(&s);
}

/* True if the draws of a line are ascending, different, and in [lo, hi). */
static bool in_range(const char *line, uint64_t lo, uint64_t hi)
{
	static uint64_t rows[SP__STEP_RECORDS_MAX];
	struct sp__rng rng = { 5 };
	struct sp__client_script s;
	const struct sp__client_step *step = read_step(&s, 1, line);
	bool good = step;

	for (unsigned i = 0; good && i < 200; i++) {
		size_t n = sp__client_rows_draw(step, RECORDS, &rng, rows);

		good = n >= 1 && n <= step->records && rows[0] >= lo && rows[n - 1] < hi;
		for (size_t k = 1; k < n; k++)
			good &= rows[k - 1] < rows[k];
	}
	sp__client_script_free(&s);
	return good;
}

/* Returns the mean of single draws. */
static double mean(const char *line)
{
	struct sp__rng rng = { 5 };
	struct sp__client_script s;
	const struct sp__client_step *step = read_step(&s, 1, line);
	double sum = 0;
	uint64_t row;

	for (unsigned i = 0; step && i < 20000; i++) {
		(void)sp__client_rows_draw(step, RECORDS, &rng, &row);
		sum += (double)row;
	}
	sp__client_script_free(&s);
	return sum / 20000;
}

static void records(void)
{
	ok(in_range("get 20 a1", 0, RECORDS), "uniform records are in the table");
	ok(in_range("get 20 a1 last 30", RECORDS - 30, RECORDS), "the last ones are the last");
	ok(in_range("get 20 a1 nurand 255", 0, RECORDS), "NURand stays in the table");
	ok(in_range("get 20 a1 zipf 1", 0, RECORDS), "Zipf stays in the table");
	ok(in_range("get 5000 a1", 0, RECORDS), "more draws than records give each once");
	ok(mean("get 1 a1") > 490 && mean("get 1 a1") < 510, "uniform records have their mean");
	ok(mean("get 1 a1 last 100") > 948 && mean("get 1 a1 last 100") < 951,
	   "the last records have their mean");
}

/* Compares with a list in the order of the last change. */
static void changed_cells(void)
{
	enum { MAX = 7, CELLS = 20, STEPS = 5000 };
	struct sp__changed c;
	struct sp__rng rng = { 9 };
	uint64_t list[MAX + 1];
	bool good = !sp__changed_open(&c, MAX * 512);
	unsigned n = 0, left = 0;

	for (unsigned i = 0; good && i < STEPS; i++) {
		const uint64_t cell = sp__rng_below(&rng, CELLS);
		struct sp__changed_cell *e;
		unsigned k = 0;

		good = !sp__changed_put(&c, (unsigned)(cell % 2), cell / 2, 512);
		while (k < n && list[k] != cell)
			k++;
		memmove(list + k, list + k + 1, (n - k) * sizeof(*list) * (k < n));
		n -= k < n;
		list[n++] = cell;
		e = sp__changed_take(&c);
		good &= !e == (n <= MAX);
		if (!e)
			continue;
		good &= e->cell * 2 + e->table == list[0] && e->bytes == 512;
		memmove(list, list + 1, --n * sizeof(*list));
		free(e);
		left++;
	}
	ok(good && left > STEPS / 4, "the cell that was changed least recently leaves: %u left",
	   left);
	sp__changed_close(&c);
}

static void values(void)
{
	static const char *const types[] = { "i8",   "u8",   "i16",	"u16",
					     "i32",  "u32",  "i64",	"u64",
					     "f32",  "f64",  "dec8(1)", "dec64(4)",
					     "date", "time", "char(3)", "char(40)" };
	unsigned nulls = 0, n = 0;

	for (unsigned i = 0; i < sizeof(types) / sizeof(*types); i++) {
		struct sp__column c = { 0 };
		uint8_t value[64];

		if (sp__value_type_parse(&c.type, types[i], strlen(types[i])))
			exit(1);
		for (uint64_t k = 0; k < 70000; k++, n++) {
			sp__client_value(&c, k * (k % 7 ? 1 : UINT64_C(0x123456789abcdef)), value);
			nulls += sp__type_is_text(&c.type) ? value[0] == 0xff || !value[0]
							   : sp__value_null(&c.type, value);
		}
	}
	ok(!nulls, "no value of %u is null", n);
}

int main(void)
{
	make_tables();
	lines();
	kinds();
	records();
	changed_cells();
	values();
	sp__schema_free(&schema);
	return done();
}
