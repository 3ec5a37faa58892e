/* SPDX-License-Identifier: MIT */
/*
 * Scans and gets: random tables in random layouts, with little and much memory, one and several
 * threads, against a loop over their records.
 */
#define TAP_THREADS
#include <stdlib.h>
#include <unistd.h>
#include "randomtable.h"
#include "table/read/get.h"
#include "table/read/scan.h"
#include "tap.h"

#define MORE_BYTES (UINT64_C(4) << 20) /* memory that a scan may need in addition to the limit */

static int append(void *arg, const char *data, size_t bytes)
{
	return sp__bytes_append(arg, data, bytes, NULL);
}

static void add(struct sp__bytes *b, const char *data, size_t bytes)
{
	if (sp__bytes_append(b, data, bytes, NULL))
		abort();
}

/* A predicate that one column is at most a value. */
struct filter {
	struct sp__predicate *where; /* NULL: none */
	uint32_t column;
	uint8_t max[64];
};

/* Draws a column of numbers or dates and the value of a record, if the table has such a one. */
static void draw_filter(struct filter *f, const struct table *t)
{
	const struct sp__schema *s = &t->file.schema;
	const uint32_t column = (uint32_t)below(s->n);
	const struct sp__value_type *type = &s->columns[column].type;
	char text[128], value[64];
	size_t n;

	*f = (struct filter){ .column = column };
	value_of(type, below(t->records + 1), column, f->max);
	if (!strchr("iudD", type->kind) || sp__value_null(type, f->max))
		return;
	n = sp__value_write(type, f->max, value);
	snprintf(text, sizeof(text), type->kind == 'D' ? "%s <= '%.*s'" : "%s <= %.*s",
		 s->columns[column].name, (int)n, value);
	if (sp__predicate_parse(&f->where, text, s, NULL))
		abort();
}

static bool passes(const struct filter *f, const struct table *t, uint64_t record)
{
	const struct sp__value_type *type = &t->file.schema.columns[f->column].type;
	uint8_t v[64];

	if (!f->where)
		return true;
	value_of(type, record, f->column, v);
	return !sp__value_null(type, v) && sp__value_compare(type, v, f->max) <= 0;
}

/* What a scan must print. */
static void naive(const struct table *t, const uint32_t *columns, uint32_t n, uint64_t lo,
		  uint64_t hi, const struct filter *filter, uint64_t limit, uint32_t text_max,
		  struct sp__bytes *b)
{
	for (uint64_t r = lo; limit && r <= hi && r < t->records; r++) {
		if (filter && !passes(filter, t, r))
			continue;
		limit--;
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

/* Random numbers, and how many are left. */
struct numbers {
	uint64_t list[600];
	uint32_t n, next, absent;
};

static int next_number(void *arg, uint64_t *record)
{
	struct numbers *n = arg;

	if (n->next == n->n)
		return SP_END;
	*record = n->list[n->next++];
	return SP_READY;
}

static int note_absent(void *arg, uint64_t record)
{
	struct numbers *n = arg;

	(void)record;
	n->absent++;
	return 0;
}

/* Prints columns by a scan or by gets. */
static int print(struct table *t, const struct sp__table_output *output, const bool *read,
		 uint64_t lo, uint64_t hi, const struct sp__predicate *where, uint64_t limit,
		 struct numbers *n, struct sp__bytes *got, struct sp_errinfo *err)
{
	const struct sp__tablescan_opts scan = { .lo = lo,
						 .hi = hi,
						 .limit = limit,
						 .columns = read,
						 .where = where,
						 .output = output };
	const struct sp__tableget_opts get = { .next = next_number,
					       .absent = note_absent,
					       .arg = n,
					       .columns = read,
					       .output = output };
	struct sp_table_stats stats = { 0 };
	const struct sp__reading to = { append, got, &stats, err, NULL };

	if (n)
		return sp__tableget(&t->file, &get, &to);
	if (where && below(3) == 0)
		return sp__tablescan_scattered(&t->file, &scan, &to);
	if (where && below(2))
		return sp__tablescan_adaptive(&t->file, &scan, 0.5, &to);
	return sp__tablescan(&t->file, &scan, &to);
}

/* Draws numbers of records, few of which do not exist, and prints what a get must print. */
static uint32_t draw_numbers(const struct table *t, struct numbers *n, const uint32_t *columns,
			     uint32_t ncolumns, uint32_t text_max, struct sp__bytes *want)
{
	uint32_t absent = 0;

	*n = (struct numbers){ .n = (uint32_t)below(600) };
	for (uint32_t i = 0; i < n->n; i++) {
		n->list[i] = below(t->records + t->records / 20 + 1);
		naive(t, columns, ncolumns, n->list[i], n->list[i], NULL, 1, text_max, want);
		absent += n->list[i] >= t->records;
	}
	return absent;
}

/* get: by numbers, else records lo to hi. */
static bool prints(struct table *t, bool get, uint64_t lo, uint64_t hi, uint32_t text_max)
{
	const uint32_t all = t->file.schema.n;
	uint32_t n = 1 + (uint32_t)below(all), *columns = malloc(n * sizeof(*columns));
	struct sp__bytes want = { 0 }, got = { 0 };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__table_output output;
	struct numbers numbers = { 0 };
	uint32_t absent = 0;
	bool read[COLUMNS_MAX] = { false };
	struct filter filter = { 0 };
	uint64_t limit = below(2) ? UINT64_MAX : below(300);
	bool same;
	int rc;

	if (!get)
		draw_filter(&filter, t);
	if (filter.where)
		sp__predicate_columns(filter.where, read);
	for (uint32_t k = 0; k < n; k++)
		read[columns[k] = (uint32_t)below(all)] = true;
	if (get)
		absent = draw_numbers(t, &numbers, columns, n, text_max, &want);
	else
		naive(t, columns, n, lo, hi, &filter, limit, text_max, &want);
	rc = sp__output_open(&output, &t->file.schema, SP_TABLE_TEXT, columns, n, &err);
	if (!rc)
		rc = print(t, &output, read, lo, hi, filter.where, limit, get ? &numbers : NULL,
			   &got, &err);
	same = !rc && got.bytes == want.bytes &&
	       (!got.bytes || !memcmp(got.data, want.data, got.bytes)) && numbers.absent == absent;
	if (!same)
		diag("%s; %zu bytes, not %zu; %llu records, %u columns, cells of %u",
		     rc ? err.text : "", got.bytes, want.bytes, (unsigned long long)t->records, n,
		     t->file.layout.cell_bytes);
	sp__output_close(&output);
	sp__predicate_free(filter.where);
	sp__bytes_release(&want, NULL);
	sp__bytes_release(&got, NULL);
	return same;
}

/* Moves the texts of a column in the first directory row to the end of the file. */
static bool move_texts(struct sp__tablefile *f, uint32_t column)
{
	const uint32_t bytes = f->layout.cell_bytes;
	uint8_t row[COLUMNS_MAX * SP__ENTRY_BYTES], cell[SP__TABLE_CELL_MAX];
	uint8_t *entry = sp__directory_entry(f, row, column);
	struct sp__text_place p;
	uint64_t old;

	if (sp__directory_read_rows(f, 0, 1, row, NULL))
		return false;
	p = sp__directory_text(entry);
	old = p.first;
	if (!p.cells)
		return true;
	if (sp__map_take(&f->map, p.cells, &p.first) ||
	    sp__map_add(&f->map, SP__AREA_TEXT, p.first, p.cells))
		return false;
	for (uint32_t i = 0; i < p.cells; i++) {
		if (sp__tablefile_read(f, old + i, 1, cell, NULL))
			return false;
		sp__cell_seal(cell, bytes, 0, SP__CELL_TEXT, f->superblock.id, p.first + i);
		if (sp__tablefile_write(f, p.first + i, 1, cell, NULL))
			return false;
	}
	sp__directory_set_text(entry, &p);
	return !sp__directory_write_rows(f, 0, 1, row, NULL);
}

static bool move_all_texts(struct table *t)
{
	bool good = true;

	for (uint32_t i = 0; t->records && i < t->file.schema.n; i++)
		if (t->file.schema.columns[i].type.kind == 't')
			good &= move_texts(&t->file, i);
	return good;
}

/*
 * Makes tables, and scans and gets each several times.  In some of them texts have moved, as after
 * an update.
 */
static bool random_tables(unsigned tables, uint64_t memory, unsigned threads, uint32_t text_max)
{
	bool good = true;

	for (unsigned i = 0; good && i < tables; i++) {
		struct table t = { 0 };
		uint64_t used;

		make_schema(&t.schema, 1 + (uint32_t)below(COLUMNS_MAX));
		make_layout(&t);
		open_table(&t, 1 << 20);
		t.file.schema.style.separator = '\t';
		put_records(&t, below(4000), text_max);
		good = (i % 2 || move_all_texts(&t)) && !sp__tablefile_commit(&t.file, NULL);
		used = t.file.env.budget.used_bytes;
		t.file.env.budget.peak_bytes = used;
		t.file.run.memory_bytes = memory;
		t.file.run.parallel = threads;
		for (unsigned k = 0; good && k < 4; k++) {
			uint64_t lo = k ? below(t.records + 2) : 0;

			good = prints(&t, false, lo, k ? lo + below(t.records + 1) : UINT64_MAX,
				      text_max) &&
			       prints(&t, true, 0, 0, text_max);
		}
		used = t.file.env.budget.peak_bytes - used;
		if (used > memory + MORE_BYTES)
			diag("%llu bytes of memory", (unsigned long long)used);
		good &= used <= memory + MORE_BYTES;
		close_table(&t);
	}
	return good;
}

int main(void)
{
	rng.state = 1;
	for (size_t i = 0; i < sizeof(texts); i++)
		texts[i] = (char)('a' + i % 23);
	ok(random_tables(40, 64 << 20, 1, 30), "scans and gets give all values, with one thread");
	ok(random_tables(40, 64 << 20, 3, 300), "so they do with three");
	ok(random_tables(30, 512 << 10, 2, 2000),
	   "and with little memory and long texts, within the memory");
	return done();
}
