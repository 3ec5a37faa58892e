/* SPDX-License-Identifier: MIT */
/*
 * Scanning tables: random tables in random layouts, with little and much memory, one and several
 * threads, against a loop over their records.
 */
#define TAP_THREADS
#include <stdlib.h>
#include <unistd.h>
#include "randomtable.h"
#include "table/read/scan.h"
#include "tap.h"

static int append(void *arg, const char *data, size_t bytes)
{
	return sp__bytes_append(arg, data, bytes, NULL);
}

static void add(struct sp__bytes *b, const char *data, size_t bytes)
{
	if (sp__bytes_append(b, data, bytes, NULL))
		abort();
}

/* What a scan must print. */
static void naive(const struct table *t, const uint32_t *columns, uint32_t n, uint64_t lo,
		  uint64_t hi, uint32_t text_max, struct sp__bytes *b)
{
	for (uint64_t r = lo; r <= hi && r < t->records; r++) {
		for (uint32_t k = 0; k < n; k++) {
			const struct sp__value_type *type =
				&t->file.schema.columns[columns[k]].type;
			struct sp__text_ref ref;
			char text[100];
			uint8_t v[64];

			value_of(type, r, columns[k], v);
			ref = text_of(r, columns[k], text_max);
			if (k)
				add(b, "\t", 1);
			if (type->kind == 't') {
				if (ref.bytes != SP__TEXT_REF_NULL)
					add(b, texts + ref.at, ref.bytes);
			} else if (type->kind != 'w' && !sp__value_null(type, v)) {
				add(b, text, sp__value_write(type, v, text));
			}
		}
		add(b, "\n", 1);
	}
}

static bool scan_equals(struct table *t, uint64_t lo, uint64_t hi, uint32_t text_max)
{
	const uint32_t all = t->file.schema.n;
	uint32_t n = 1 + (uint32_t)below(all), *columns = malloc(n * sizeof(*columns));
	struct sp__bytes want = { 0 }, got = { 0 };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__table_output output;
	struct sp_table_stats stats = { 0 };
	bool read[COLUMNS_MAX] = { false };
	bool same;
	int rc;

	for (uint32_t k = 0; k < n; k++)
		read[columns[k] = (uint32_t)below(all)] = true;
	naive(t, columns, n, lo, hi, text_max, &want);
	rc = sp__output_open(&output, &t->file.schema, SP_TABLE_TEXT, columns, n, &err);
	if (!rc) {
		const struct sp__tablescan_opts o = {
			.lo = lo, .hi = hi, .limit = UINT64_MAX, .columns = read, .output = &output
		};

		rc = sp__tablescan(&t->file, &o, append, &got, &stats, &err);
	}
	same = !rc && got.bytes == want.bytes && !memcmp(got.data, want.data, got.bytes);
	if (!same)
		diag("%s; %zu bytes, not %zu; %llu records, %u columns, cells of %u",
		     rc ? err.text : "", got.bytes, want.bytes, (unsigned long long)t->records, n,
		     t->file.layout.cell_bytes);
	sp__output_close(&output);
	sp__bytes_release(&want, NULL);
	sp__bytes_release(&got, NULL);
	return same;
}

/* Makes tables and scans each several times. */
static bool random_tables(unsigned tables, uint64_t memory, unsigned threads, uint32_t text_max)
{
	bool good = true;

	for (unsigned i = 0; good && i < tables; i++) {
		struct table t = { 0 };

		make_schema(&t.schema, 1 + (uint32_t)below(COLUMNS_MAX));
		make_layout(&t);
		open_table(&t, 1 << 20);
		t.file.schema.style.separator = '\t';
		put_records(&t, below(4000), text_max);
		good = !sp__tablefile_commit(&t.file, NULL);
		t.file.run.memory_bytes = memory;
		t.file.run.parallel = threads;
		for (unsigned k = 0; good && k < 4; k++) {
			uint64_t lo = k ? below(t.records + 2) : 0;

			good = scan_equals(&t, lo, k ? lo + below(t.records + 1) : UINT64_MAX,
					   text_max);
		}
		close_table(&t);
	}
	return good;
}

int main(void)
{
	rng.state = 1;
	for (size_t i = 0; i < sizeof(texts); i++)
		texts[i] = (char)('a' + i % 23);
	ok(random_tables(40, 64 << 20, 1, 30), "scans give all values, with one thread");
	ok(random_tables(40, 64 << 20, 3, 300), "so they do with three");
	ok(random_tables(30, 512 << 10, 2, 2000), "and with little memory and long texts");
	return done();
}
