/* SPDX-License-Identifier: MIT */
/*
 * Changes of tables against a table in memory: random updates and deletes of random tables in random
 * layouts; each call of the system and each allocation of a change fails, one at a time.
 */
#define TAP_THREADS
#include <sys/stat.h>
#include <unistd.h>
#include "table/change/delete.h"
#include "table/change/update.h"
#include "tablemodel.h"
#include "tablewraps.h"
#include "tap.h"

#define RECORDS 3000 /* at most */

static const char path[] = "change.tmp";
static uint64_t chosen[RECORDS];

/* The new values of one record. */
struct row {
	uint8_t bytes[MODEL_COLUMNS * (MODEL_VALUE + sizeof(struct sp__new_text))];
	struct model_text texts[MODEL_COLUMNS];
};
static struct row rows[RECORDS];

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

static bool right(const struct model *m, const char *what, int rc, struct sp_errinfo *err)
{
	const char *wrong = rc ? "an error" : model_wrong(m, path, err);

	if (wrong)
		diag("seed %llu, %s: %s (%d, %s)", (unsigned long long)m->rng.state, what, wrong,
		     rc, err->text);
	return !wrong;
}

/* Changes a random table several times. */
static bool change_table(uint64_t seed)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct model m;
	bool same;

	model_make(&m, seed, sp__mix64(seed) % RECORDS);
	same = right(&m, "create", model_create(&m, path, &err), &err);
	for (unsigned i = 0; same && i < 4; i++)
		same = i == 2 ? right(&m, "delete", delete (&m, &err), &err)
			      : right(&m, "update", update(&m, &err), &err);
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

static int change(struct model *m, unsigned kind, struct sp_errinfo *err)
{
	return kind ? delete (m, err) : update(m, err);
}

/* Makes the change on a fresh copy; true if the table is as before or as after it. */
static bool fail_once(const struct model *before, const struct model *after, unsigned kind,
		      unsigned call, unsigned allocation)
{
	struct sp_errinfo err = SP_ERRINFO_INIT, ignored = SP_ERRINFO_INIT;
	struct model m = model_copy(before);
	bool is_before, is_after;
	int rc;

	copy_file("before.tmp", path);
	calls = allocations = 0;
	fail_at = (call + 1) / 2;
	stay_failed = call % 2;
	fail_allocation = allocation;
	rc = change(&m, kind, &err);
	fail_at = fail_allocation = 0;
	model_free(&m);
	is_after = !model_wrong(after, path, &ignored);
	is_before = !model_wrong(before, path, &ignored);
	return (rc ? err.code != 0 && (is_before || is_after) : is_after) ||
	       (diag("%d: %s; %s", rc, err.text, ignored.text), false);
}

/* Each call and each allocation of a change of a table fails, one at a time. */
static bool sweep(uint64_t seed, unsigned kind, unsigned *faults)
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

int main(void)
{
	unsigned same = 0, swept = 0, faults = 0;

	for (uint64_t seed = 1; seed <= 150; seed++) {
		bool one = change_table(seed);

		if (!one)
			diag("table %llu", (unsigned long long)seed);
		same += one;
	}
	ok(same == 150, "random tables have the values of random updates and deletes");
	for (uint64_t seed = 1; seed <= 24; seed++) {
		bool right = sweep(seed, seed % 4 == 3, &faults);

		if (!right)
			diag("table %llu", (unsigned long long)seed);
		swept += right;
	}
	ok(swept == 24 && faults > 1000,
	   "each of %u faults of a change leaves the table as before or as after", faults);
	check_far_delete();
	unlink("before.tmp");
	unlink(path);
	return done();
}
