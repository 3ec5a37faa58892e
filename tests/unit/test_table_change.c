/* SPDX-License-Identifier: MIT */
/*
 * Changes of tables against a table in memory: random updates, deletes and appends of random tables
 * in random layouts; the bytes that they write; each call of the system and each allocation of a
 * change fails, one at a time.
 */
#define TAP_THREADS
#include <sys/stat.h>
#include <unistd.h>
#include "table/change/copy.h"
#include "table/change/update.h"
#include "tablemodel.h"
#include "tablewraps.h"
#include "tap.h"

#define RECORDS 3000 /* at most, of a new table */
#define RECORDS_MAX 6000

static const char path[] = "change.tmp";
static uint64_t chosen[RECORDS_MAX];

/* The new values of one record. */
struct row {
	uint8_t bytes[MODEL_COLUMNS * (MODEL_VALUE + sizeof(struct sp__new_text))];
	struct model_text texts[MODEL_COLUMNS];
};
static struct row rows[RECORDS_MAX];

/* Sets new values in the model and in row. */
static void set_values(struct model *m, const struct sp__update_column *columns, uint32_t n,
		       uint64_t r, struct row *row)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = columns[i].column;
		struct sp__new_text text;

		if (m->types[c].kind != 't') {
			model_value(m, c, m->values[c][r]);
			memcpy(row->bytes + columns[i].at, m->values[c][r], m->types[c].bytes);
			continue;
		}
		row->texts[i] = m->texts[c][r];
		if (model_below(m, 3) == 0)
			model_text(m, &row->texts[i]);
		else if (row->texts[i].bytes)
			row->texts[i].text[0] = 'B';
		m->texts[c][r] = row->texts[i];
		text = (struct sp__new_text){ row->texts[i].text, row->texts[i].bytes };
		memcpy(row->bytes + columns[i].at, &text, sizeof(text));
	}
}

/* Chooses columns; returns their number. */
static uint32_t choose_columns(struct model *m, struct sp__update_column *columns)
{
	uint32_t n = 0, at = 0;

	for (uint32_t c = 0; c < m->n; c++) {
		if (model_below(m, 3) && !(c == m->n - 1 && !n))
			continue;
		columns[n++] = (struct sp__update_column){ c, at };
		at += m->types[c].kind == 't' ? (uint32_t)sizeof(struct sp__new_text)
					      : m->types[c].bytes;
	}
	return n;
}

/* Chooses each record with a probability of 1 in `sparse`. */
static uint64_t choose_records(struct model *m)
{
	uint64_t n = 0, sparse = UINT64_C(1) << model_below(m, 9);

	for (uint64_t r = 0; r < m->records; r++)
		if (model_below(m, sparse) == 0)
			chosen[n++] = r;
	return n;
}

static int update(struct model *m, struct sp_errinfo *err)
{
	const struct sp_run_opts run = model_run();
	uint64_t n = choose_records(m);
	struct sp__update_column columns[MODEL_COLUMNS];
	uint32_t ncolumns = choose_columns(m, columns);
	struct sp__tableupdate u = { 0 };
	struct sp__tablefile f;
	int rc = sp__tablefile_open(&f, path, &run, true, err);

	if (!rc)
		rc = sp__tableupdate_open(&u, &f, columns, ncolumns, n, MODEL_TEXT, err);
	for (uint64_t i = 0; i < n; i++) {
		set_values(m, columns, ncolumns, chosen[i], &rows[i]);
		if (!rc)
			rc = sp__tableupdate_put(&u, chosen[i], rows[i].bytes);
	}
	if (!rc)
		rc = sp__tableupdate_finish(&u);
	sp__tableupdate_close(&u);
	(void)sp__tablefile_close(&f);
	return rc;
}

static int delete (struct model *m, struct sp_errinfo *err)
{
	const struct sp_run_opts run = model_run();
	uint64_t n = choose_records(m);
	struct sp__tabledelete d = { 0 };
	struct sp__tablefile f;
	int rc = sp__tablefile_open(&f, path, &run, true, err);

	if (!rc)
		rc = sp__tabledelete_open(&d, &f, err);
	for (uint64_t i = 0; i < n; i++) {
		m->deleted[chosen[i]] = true;
		if (!rc)
			rc = sp__tabledelete_put(&d, chosen[i]);
	}
	if (!rc)
		rc = sp__tabledelete_finish(&d);
	sp__tabledelete_close(&d);
	(void)sp__tablefile_close(&f);
	return rc;
}

static int append(struct model *m, struct sp_errinfo *err)
{
	const struct sp_run_opts run = model_run();
	struct sp__tableappend a = { 0 };
	struct sp__tablefile f;
	uint64_t from = m->records, more = UINT64_C(4) << model_below(m, 8);
	int rc = sp__tablefile_open(&f, path, &run, true, err);

	model_add(m, model_below(m, sp__min(RECORDS_MAX - from, more) + 1));
	if (!rc)
		rc = sp__tableappend_open(&a, &f, 1 << 20, err);
	if (!rc)
		rc = model_put(m, &a.writer, from);
	if (!rc)
		rc = sp__tableappend_finish(&a);
	sp__tableappend_close(&a);
	(void)sp__tablefile_close(&f);
	return rc;
}

enum kind { UPDATE, DELETE, APPEND };
static const char *const kind_names[] = { "update", "delete", "append" };

static int change(struct model *m, enum kind kind, struct sp_errinfo *err)
{
	return kind == UPDATE ? update(m, err) : kind == DELETE ? delete (m, err) : append(m, err);
}

static bool right(const struct model *m, const char *what, int rc, struct sp_errinfo *err)
{
	const char *wrong = rc ? "an error" : model_wrong(m, path, err);

	if (wrong)
		diag("seed %llu, %s: %s (%d, %s)", (unsigned long long)m->rng.state, what, wrong,
		     rc, err->text);
	return !wrong;
}

/* Copies the table to one of a random layout, without deleted records. */
static int convert(struct model *m, struct sp_errinfo *err)
{
	const struct sp_run_opts run = model_run();
	struct sp_table_stats stats = { 0 };
	struct sp__schema s;
	struct sp__table_layout l;
	struct sp__tablefile f, to = { 0 };
	int rc = sp__tablefile_open(&f, path, &run, false, err);

	if (rc || sp__copy_schema(&f, &s, true))
		abort();
	model_layout(m, &s, &l);
	rc = sp__tablefile_create(&to, "change-converted.tmp", &run, &s, &l, NULL, NULL, err);
	if (!rc)
		rc = sp__copy_records(&f, &to, NULL, &stats, err);
	if (!rc)
		rc = sp__tablefile_commit(&to, err);
	if (!rc)
		rc = sp__tablefile_publish(&to, err);
	(void)sp__tablefile_close(&to);
	(void)sp__tablefile_close(&f);
	model_pack(m);
	return rc ? rc : rename("change-converted.tmp", path);
}

/* Changes a random table several times. */
static bool change_table(uint64_t seed)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct model m;
	bool same;

	model_make(&m, seed, sp__mix64(seed) % RECORDS);
	same = right(&m, "create", model_create(&m, path, &err), &err);
	for (unsigned i = 0; same && i < 6; i++) {
		enum kind kind = i % 3 == 2 ? DELETE : i % 3 ? APPEND : UPDATE;

		same = right(&m, kind_names[kind], change(&m, kind, &err), &err);
		if (i == 3 && same)
			same = right(&m, "convert", convert(&m, &err), &err);
	}
	model_free(&m);
	return same;
}

/* Copies the file of the table. */
static void copy_file(const char *from, const char *to)
{
	static char data[1 << 22];
	FILE *f = fopen(from, "r"), *t = fopen(to, "w");
	size_t n = f ? fread(data, 1, sizeof(data), f) : 0;

	if (!f || !t || fwrite(data, 1, n, t) != n || fclose(t) || fclose(f))
		abort();
}

static struct model model_copy(const struct model *m)
{
	struct model copy = *m;

	for (uint32_t c = 0; c < m->n; c++) {
		size_t bytes = m->records * MODEL_VALUE;

		copy.values[c] = malloc(bytes + 1);
		memcpy(copy.values[c], m->values[c], bytes);
		if (!m->texts[c])
			continue;
		copy.texts[c] = malloc(m->records * sizeof(struct model_text) + 1);
		memcpy(copy.texts[c], m->texts[c], m->records * sizeof(struct model_text));
	}
	copy.deleted = malloc(m->records + 1);
	memcpy(copy.deleted, m->deleted, m->records);
	return copy;
}

/* Makes the change on a fresh copy; true if the table is as before or as after it. */
static bool fail_once(const struct model *before, const struct model *after, enum kind kind,
		      unsigned call, unsigned allocation)
{
	struct sp_errinfo err = SP_ERRINFO_INIT, ignored = SP_ERRINFO_INIT;
	struct model m = model_copy(before);
	const char *no_before, *no_after;
	int rc;

	copy_file("before.tmp", path);
	calls = allocations = 0;
	fail_at = (call + 1) / 2;
	stay_failed = call % 2;
	fail_allocation = allocation;
	rc = change(&m, kind, &err);
	fail_at = fail_allocation = 0;
	model_free(&m);
	no_after = model_wrong(after, path, &ignored);
	no_before = model_wrong(before, path, &ignored);
	if (rc ? err.code && (!no_before || !no_after) : !no_after)
		return true;
	diag("call %u, allocation %u: %d (%s); not before: %s; not after: %s; %s", call, allocation,
	     rc, err.text, no_before, no_after, ignored.text);
	return false;
}

/* Each call and each allocation of a change of a table fails, one at a time. */
static bool sweep(uint64_t seed, enum kind kind, unsigned *faults)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct model before, after;
	unsigned n, allocated, right = 0, all = 0;

	model_make(&before, seed, 200 + sp__mix64(seed) % 400);
	if (model_create(&before, "before.tmp", &err))
		abort();
	copy_file("before.tmp", path);
	after = model_copy(&before);
	calls = allocations = 0;
	if (change(&after, kind, &err))
		abort();
	n = calls;
	allocated = allocations;
	for (unsigned i = 1; i <= 2 * n; i++, all++)
		right += fail_once(&before, &after, kind, i, 0);
	for (unsigned i = 1; i <= allocated; i++, all++)
		right += fail_once(&before, &after, kind, 0, i);
	*faults += all;
	model_free(&before);
	model_free(&after);
	return right == all;
}

static int delete_one(struct model *m, uint64_t record, struct sp_errinfo *err)
{
	const struct sp_run_opts run = model_run();
	struct sp__tabledelete d = { 0 };
	struct sp__tablefile f;
	int rc = sp__tablefile_open(&f, path, &run, true, err);

	if (!rc)
		rc = sp__tabledelete_open(&d, &f, err);
	if (!rc)
		rc = sp__tabledelete_put(&d, record);
	if (!rc)
		rc = sp__tabledelete_finish(&d);
	m->deleted[record] = true;
	sp__tabledelete_close(&d);
	(void)sp__tablefile_close(&f);
	return rc;
}

/* The first record that is deleted has its bit in a cell that is not the first one. */
static void check_far_delete(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct model m = { .rng = { 7 }, .n = 1, .types[0] = { 'u', 0, 1 } };

	model_add(&m, 300000);
	ok(right(&m, "create", model_create(&m, path, &err), &err) &&
		   right(&m, "delete", delete_one(&m, 290000, &err), &err) &&
		   right(&m, "delete", delete_one(&m, 100000, &err), &err) &&
		   right(&m, "delete", delete_one(&m, 5, &err), &err),
	   "records are deleted from the last to the first");
	model_free(&m);
}

#define B 4096 /* bytes of a cell */

/* A table of a u32 and a u64 column in CSM, 1022 and 511 values in a cell. */
static void make_counted(struct model *m, uint64_t records)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	*m = (struct model){ .rng = { 7 }, .n = 2, .types = { { 'u', 0, 4 }, { 'u', 0, 8 } } };
	m->form = 4;
	model_add(m, records);
	/* All later values are within the bounds. */
	for (uint64_t r = 0; r < records; r += 1022)
		for (uint32_t c = 0; c < 2; c++) {
			memset(m->values[c][r], 0, MODEL_VALUE);
			memset(m->values[c][r + 1], 0xFF, MODEL_VALUE);
			m->values[c][r + 1][0] = 0xFE;
		}
	if (model_create(m, path, &err))
		abort();
}

/* Returns the bytes that an update of every `step`-th record of the u32 column writes. */
static uint64_t update_bytes(struct model *m, uint64_t step)
{
	const struct sp__update_column column = { 0, 0 };
	const struct sp_run_opts run = model_run();
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__tableupdate u;
	struct sp__tablefile f;

	if (sp__tablefile_open(&f, path, &run, true, &err))
		abort();
	written = 0;
	if (sp__tableupdate_open(&u, &f, &column, 1, m->records, 0, &err))
		abort();
	for (uint64_t r = 0; r < m->records; r += step) {
		m->values[0][r][0] ^= 1;
		if (r % 1022 < 2)
			m->values[0][r][0] ^= 1;
		if (sp__tableupdate_put(&u, r, m->values[0][r]))
			abort();
	}
	if (sp__tableupdate_finish(&u))
		abort();
	sp__tableupdate_close(&u);
	(void)sp__tablefile_close(&f);
	return written;
}

/* Returns the bytes that an append of n records writes. */
static uint64_t append_bytes(struct model *m, uint64_t n)
{
	const struct sp_run_opts run = model_run();
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__tableappend a;
	struct sp__tablefile f;
	uint64_t from = m->records;

	if (sp__tablefile_open(&f, path, &run, true, &err))
		abort();
	model_add(m, n);
	written = 0;
	if (sp__tableappend_open(&a, &f, 1 << 20, &err) || model_put(m, &a.writer, from) ||
	    sp__tableappend_finish(&a))
		abort();
	sp__tableappend_close(&a);
	(void)sp__tablefile_close(&f);
	return written;
}

/* A journal of so many cells, the same cells in place, and three superblocks. */
static uint64_t journalled(uint64_t cells)
{
	return cells * (2 * B + 32) + 40 + 3 * UINT64_C(4096);
}

static void check_bytes(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	uint64_t bytes, before;
	struct model m;

	make_counted(&m, 100000);
	bytes = update_bytes(&m, 5000);
	ok(bytes == journalled(20) && right(&m, "update", 0, &err),
	   "an update of 20 cells writes them twice, and three superblocks (%llu bytes)",
	   (unsigned long long)bytes);
	bytes = update_bytes(&m, 1);
	ok(bytes == journalled(98) && right(&m, "update", 0, &err),
	   "an update of all values writes each cell of the column twice (%llu bytes)",
	   (unsigned long long)bytes);
	/*
	 * 100,000 = 24 * 4088 + 1888: cells 2 of 4 and 4 of 8 of the last A-page are partly full.
	 */
	bytes = append_bytes(&m, 10);
	ok(bytes == journalled(3) && right(&m, "append", 0, &err),
	   "an append into two cells writes them and the directory's twice (%llu bytes)",
	   (unsigned long long)bytes);
	before = bytes;
	model_free(&m);
	make_counted(&m, 1888 + 4 * 4088);
	bytes = append_bytes(&m, 10);
	ok(bytes == before && right(&m, "append", 0, &err),
	   "as many bytes as to a table of a fifth of its size");
	bytes = append_bytes(&m, 2 * 4088);
	/* Records 18,250 to 26,425, A-pages 4 to 6: cells that are partly full, 8 and 16 more. */
	ok(bytes == journalled(3) + (8 + 16) * (uint64_t)B && right(&m, "append", 0, &err),
	   "two more A-pages write their 24 cells once (%llu bytes)", (unsigned long long)bytes);
	model_free(&m);
}

int main(void)
{
	unsigned same = 0, swept = 0, faults = 0;

	for (uint64_t seed = 1; seed <= tap_times(150); seed++) {
		bool one = change_table(seed);

		if (!one)
			diag("table %llu", (unsigned long long)seed);
		same += one;
	}
	ok(same == tap_times(150), "random tables have the values of random changes");
	for (uint64_t seed = 1; seed <= tap_times(24); seed++) {
		bool right = sweep(seed, (enum kind)(seed % 3), &faults);

		if (!right)
			diag("table %llu", (unsigned long long)seed);
		swept += right;
	}
	ok(swept == tap_times(24) && faults > tap_times(1000),
	   "each of %u faults of a change leaves the table as before or as after", faults);
	check_far_delete();
	check_bytes();
	unlink("before.tmp");
	unlink(path);
	return done();
}
