/* SPDX-License-Identifier: MIT */
/*
 * The public functions that change a table: lists of columns and literals, keys of records, absent
 * ones, predicates, dictionaries that grow and become full, conversions, refusals with their
 * messages.
 */
#define TAP_THREADS
#include <string.h>
#include <unistd.h>
#include <spindle/table.h>
#include "tablemodel.h"
#include "tap.h"

static const char path[] = "update.tmp";
static const char *const types[] = { "i8", "dec32(2)", "char(3)", "text", "dict8", "date" };
#define N (sizeof(types) / sizeof(*types))

static void make(uint64_t records)
{
	struct model m = { .rng = { 3 }, .n = N, .text_max = 9 };
	struct sp_errinfo err = SP_ERRINFO_INIT;

	for (uint32_t c = 0; c < N; c++)
		if (sp__value_type_parse(&m.types[c], types[c], strlen(types[c])))
			abort();
	model_add(&m, records);
	for (uint64_t r = 0; r < records; r++)
		m.values[4][r][0] = 0; /* NULL: the dictionary is empty */
	if (model_create(&m, path, &err))
		abort();
	model_free(&m);
}

/* Keys with blanks between them. */
static int next_key(void *arg, const char **key, size_t *bytes)
{
	const char **text = arg;

	*text += strspn(*text, " ");
	*key = *text;
	*bytes = strcspn(*text, " ");
	*text += *bytes;
	return *bytes > 0;
}

static char absent[256], output[4096];

static int add_text(void *to, const char *data, size_t bytes)
{
	strncat(to, data, bytes);
	strcat(to, ";");
	return 0;
}

/* Changes the records of keys; set NULL: deletes them. */
static int change(const char *keys, const char *set, struct sp_table_stats *stats,
		  struct sp_errinfo *err)
{
	const struct sp_table_opts o = { .run = model_run(), .write = true };
	const struct sp_table_choice choice = {
		.keys = next_key, .keys_arg = &keys, .absent = add_text, .absent_arg = absent
	};
	struct sp_table *t = NULL;
	int rc = sp_table_open(&t, path, &o, err);

	*absent = '\0';
	if (!rc)
		rc = set ? sp_table_update(t, &choice, &set, 1, stats, err)
			 : sp_table_delete(t, &choice, stats, err);
	(void)sp_table_close(t);
	return rc;
}

/* Returns the records of keys as text. */
static const char *get(const char *keys)
{
	const struct sp_table_opts o = { .run = model_run() };
	const struct sp_table_get q = { .keys = next_key,
					.keys_arg = &keys,
					.format = SP_TABLE_CSV };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table *t = NULL;

	*output = '\0';
	if (sp_table_open(&t, path, &o, &err) || sp_table_get(t, &q, add_text, output, NULL, &err))
		diag("%s", err.text);
	(void)sp_table_close(t);
	for (char *p = output; (p = strchr(p, '\n'));)
		memmove(p, p + 1, strlen(p));
	return output;
}

static bool has(const char *keys, const char *want)
{
	if (!strcmp(get(keys), want))
		return true;
	diag("%s, not %s", output, want);
	return false;
}

/* True if the list is refused, with these words. */
static bool refused(const char *set, int code, const char *words)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc = change("1", set, NULL, &err);

	if (rc == code && strstr(err.text, words))
		return true;
	diag("%s: %d, %s", set, rc, err.text);
	return false;
}

static void check_set(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_stats st;
	unsigned right = 0;

	make(5000);
	ok(!change("4 4999 17 4 5000 70000000000 17",
		   "c0=7,c1=-1.5,\"c2\"='a''b',c3=x y,c4=one,"
		   "c5='2024-02-29'",
		   &st, &err) &&
		   st.keys == 7 && st.keys_found == 5 && st.records_matched == 3 &&
		   st.records_written == 3 && st.journal_cells > 5 &&
		   !strcmp(absent, "5000;70000000000;"),
	   "three records are changed, two keys are absent (%s)", err.text);
	for (unsigned i = 0; i < 3; i++)
		right += has(i == 0   ? "4"
			     : i == 1 ? "17"
				      : "4999",
			     "7,-1.50,a'b,x y,one,2024-02-29;");
	ok(right == 3, "they have the values");
	ok(!change("17", "c0=null,c1=NULL,c2=null,c3=null,c4=null,c5=null", &st, &err) &&
		   has("17", ",,,,,;"),
	   "they take NULL");
	ok(!change("17", "c3='null',c4='x,''y',c2=", &st, &err) &&
		   has("17", ",,\"\",null,\"x,'y\",;"),
	   "quoted literals are texts");
	ok(!change("4 4 2 9999", NULL, &st, &err) && st.records_written == 2 &&
		   !strcmp(absent, "9999;") && has("4 17", ",,\"\",null,\"x,'y\",;"),
	   "deleted records are absent");
	ok(!change("4 2", "c0=1", &st, &err) && !st.records_written && !strcmp(absent, "2;4;") &&
		   !change("2", NULL, &st, &err) && !st.records_written,
	   "and can be neither changed nor deleted");
}

static void check_refusals(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	const struct sp_table_opts o = { .run = model_run() };
	const struct sp_table_choice choice = { .keys = next_key };
	const char *before, *set = "c0=1";
	struct sp_table *t = NULL;
	char kept[4096];

	make(100);
	before = strcpy(kept, get("1 2 3"));
	ok(refused("c0=300", SP_ESYNTAX, "has type i8: '300' is out of its range: the type i16") &&
		   refused("c0=x", SP_ESYNTAX, "'x' is not such a value") &&
		   refused("c0=-128", SP_ESYNTAX, "'-128' is reserved for NULL") &&
		   refused("c1=1.234", SP_ESYNTAX, "has type dec32(2)") &&
		   refused("c2=abcd", SP_ESYNTAX, "char(4)") &&
		   refused("c5=2023-02-29", SP_ESYNTAX, "is not such a value"),
	   "values that do not fit are refused, with the type that would do");
	ok(refused("c9=1", SP_ESYNTAX, "the table has no column 'c9'; the nearest name") &&
		   refused("c0", SP_ESYNTAX, "COLUMN=VALUE") &&
		   refused("", SP_ESYNTAX, "COLUMN=VALUE") &&
		   refused("c0=1,", SP_ESYNTAX, "COLUMN=VALUE") &&
		   refused("c0=1,c0=2", SP_ESYNTAX, "set twice") &&
		   refused("c3='a", SP_ESYNTAX, "not closed") &&
		   refused("\"c3=a", SP_ESYNTAX, "not closed") &&
		   refused("c3='a'b", SP_ESYNTAX, "a comma is missing"),
	   "so are malformed lists");
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	ok(change("1 x", "c0=1", NULL, &err) == SP_ESYNTAX &&
		   strstr(err.text, "'x' is not a record"),
	   "and keys that are not numbers");
	ok(!strcmp(before, get("1 2 3")), "nothing has changed");
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	ok(!sp_table_open(&t, path, &o, &err) &&
		   sp_table_update(t, &choice, &set, 1, NULL, &err) == SP_ESTATE &&
		   sp_table_delete(t, &choice, NULL, NULL) == SP_ESTATE,
	   "a table open for reading is not changed");
	(void)sp_table_close(t);
}

static void check_dictionary(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	unsigned right = 0;
	char set[32];

	make(300);
	for (unsigned i = 0; i < 255; i++) {
		char key[8];

		snprintf(set, sizeof(set), "c4=word%u", i);
		snprintf(key, sizeof(key), "%u", i);
		right += !change(key, set, NULL, &err);
	}
	ok(right == 255 && strstr(get("0 254"), "word0,") && strstr(output, "word254,"),
	   "a dictionary takes 255 words");
	ok(refused("c4=word255", -ENOSPC, "dictionary of column c4 is full: convert") &&
		   !change("1", "c4=word7", NULL, &err) && strstr(get("1"), "word7,"),
	   "and no other one");
}

/* Changes the records for which a predicate is true; set NULL: deletes them. */
static int change_where(const char *where, const char *set, struct sp_table_stats *stats,
			struct sp_errinfo *err)
{
	const struct sp_table_opts o = { .run = model_run(), .write = true };
	const struct sp_table_choice choice = { .where = where };
	struct sp_table *t = NULL;
	int rc = sp_table_open(&t, path, &o, err);

	if (!rc)
		rc = set ? sp_table_update(t, &choice, &set, 1, stats, err)
			 : sp_table_delete(t, &choice, stats, err);
	(void)sp_table_close(t);
	return rc;
}

/* True if the i8 value of a record is not NULL and within these. */
static bool is_within(const struct model *m, uint64_t r, int lo, int hi)
{
	int8_t v = (int8_t)m->values[0][r][0];

	return !m->deleted[r] && v != INT8_MIN && v >= lo && v <= hi;
}

/* Changes and deletes by predicates, against a loop over the records. */
static bool where_table(unsigned seed)
{
	struct model m = { .rng = { seed }, .n = N, .text_max = 20 };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	const char *wrong = NULL;

	for (uint32_t c = 0; c < N; c++)
		if (sp__value_type_parse(&m.types[c], types[c], strlen(types[c])))
			abort();
	model_add(&m, 500 + model_below(&m, 20000));
	if (model_create(&m, path, &err))
		abort();
	for (unsigned i = 0; !wrong && i < 6; i++) {
		int lo = (int)model_below(&m, 200) - 100, hi = lo + (int)model_below(&m, 40);
		uint64_t n = 0, price = model_below(&m, 1000);
		char where[80], set[80];
		struct sp_table_stats st;
		int rc;

		snprintf(where, sizeof(where), "c0 >= %d and %d >= c0", lo, hi);
		snprintf(set, sizeof(set), "c1=%llu.%02llu,c3='seen %u',c0=%d",
			 (unsigned long long)price / 100, (unsigned long long)price % 100, i,
			 lo + 1);
		for (uint64_t r = 0; r < m.records; r++) {
			if (!is_within(&m, r, lo, hi))
				continue;
			n++;
			if (i == 3) {
				m.deleted[r] = true;
				continue;
			}
			memset(m.values[1][r], 0, 4);
			memcpy(m.values[1][r], &price, 4);
			m.values[0][r][0] = (uint8_t)(lo + 1);
			m.texts[3][r].bytes = (uint16_t)sprintf(m.texts[3][r].text, "seen %u", i);
		}
		rc = change_where(where, i == 3 ? NULL : set, &st, &err);
		wrong = rc			  ? "an error"
			: st.records_matched != n ? "another number of records"
						  : model_wrong(&m, path, &err);
	}
	if (wrong)
		diag("seed %u: %s (%s)", seed, wrong, err.text);
	model_free(&m);
	return !wrong;
}

/* Changes the records with these keys of a column; set NULL: deletes them. */
static int change_by(const char *by, const char *keys, const char *set,
		     struct sp_table_stats *stats, struct sp_errinfo *err)
{
	const struct sp_table_opts o = { .run = model_run(), .write = true };
	const struct sp_table_choice choice = { .by = by,
						.keys = next_key,
						.keys_arg = &keys,
						.absent = add_text,
						.absent_arg = absent };
	struct sp_table *t = NULL;
	int rc = sp_table_open(&t, path, &o, err);

	*absent = '\0';
	if (!rc)
		rc = set ? sp_table_update(t, &choice, &set, 1, stats, err)
			 : sp_table_delete(t, &choice, stats, err);
	(void)sp_table_close(t);
	return rc;
}

/* Changes records by keys of a column of text and of an i8, against a loop over the records. */
static bool by_table(unsigned seed)
{
	struct model m = { .rng = { seed }, .n = N, .text_max = 4 };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	const char *wrong = NULL;

	for (uint32_t c = 0; c < N; c++)
		if (sp__value_type_parse(&m.types[c], types[c], strlen(types[c])))
			abort();
	model_add(&m, 500 + model_below(&m, 20000));
	if (model_create(&m, path, &err))
		abort();
	for (unsigned i = 0; !wrong && i < 6; i++) {
		const struct model_text *chosen = &m.texts[3][model_below(&m, m.records)];
		struct model_text key = *chosen;
		int number = (int)model_below(&m, 255) - 127;
		uint64_t n = 0;
		char keys[2 * MODEL_TEXT + 40];
		struct sp_table_stats st;
		int rc;

		if (!key.bytes || sp__text_null(key.text, key.bytes))
			continue;
		if (i % 2)
			snprintf(keys, sizeof(keys), "no %.*s %.*s", key.bytes, key.text, key.bytes,
				 key.text);
		else
			snprintf(keys, sizeof(keys), "%d 1000 %d", number, number);
		for (uint64_t r = 0; r < m.records; r++) {
			bool text = m.texts[3][r].bytes == key.bytes &&
				    !memcmp(m.texts[3][r].text, key.text, key.bytes);

			if (m.deleted[r] || (i % 2 ? !text : (int8_t)m.values[0][r][0] != number))
				continue;
			n++;
			if (i == 3)
				m.deleted[r] = true;
			else
				memcpy(m.values[1][r], (const uint8_t[4]){ 77 }, 4);
		}
		rc = change_by(i % 2 ? "c3" : "c0", keys, i == 3 ? NULL : "c1=0.77", &st, &err);
		wrong = rc					   ? "an error"
			: st.records_matched != n		   ? "another number of records"
			: st.keys != 2 || st.keys_found != (n > 0) ? "other keys are found"
			: strncmp(absent,
				  i % 2 ? "no;"
				  : n	? "1000;"
					: "",
				  3) != 0
				? "other keys are absent"
				: model_wrong(&m, path, &err);
	}
	if (wrong)
		diag("seed %u: %s (%s)", seed, wrong, err.text);
	model_free(&m);
	return !wrong;
}

static void check_by(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT, other = SP_ERRINFO_INIT;
	unsigned right = 0;

	for (unsigned seed = 1; seed <= tap_times(20); seed++)
		right += by_table(seed);
	ok(right == tap_times(20), "keys of columns choose the records that change");
	make(10);
	ok(change_by("c0", "1 x", "c0=1", NULL, &err) == SP_ESYNTAX &&
		   strstr(err.text, "'x' is not a value of column c0") &&
		   change_by("c9", "1", "c0=1", NULL, &other) == SP_ESYNTAX &&
		   strstr(other.text, "c9"),
	   "wrong keys and columns are refused");
}

static void check_where(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_stats st;
	unsigned right = 0;

	for (unsigned seed = 1; seed <= tap_times(20); seed++)
		right += where_table(seed);
	ok(right == tap_times(20), "predicates choose the records that change");
	make(100);
	ok(change_where("c9 = 1", "c0=1", NULL, &err) == SP_ESYNTAX && strstr(err.text, "c9") &&
		   change_where("", NULL, NULL, &err) == SP_ESYNTAX &&
		   change_where(NULL, NULL, NULL, &err) == SP_ESYNTAX,
	   "wrong predicates and none are refused");
	ok(!change_where("c0 is null or c0 is not null", NULL, &st, &err) &&
		   st.records_written == 100 &&
		   !change_where("c0 is null or c0 is not null", "c0=1", &st, &err) &&
		   !st.records_written,
	   "all records can be deleted, and then none changes");
}

/* Records whose bits are in several cells, some of which the table has already. */
static void check_far(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_stats st;

	make(100000);
	ok(!change("3 70000", NULL, &st, &err) &&
		   !change("5 100 200 40000 40100 99999", NULL, &st, &err) &&
		   st.records_written == 6 &&
		   !change("3 5 100 200 40000 40100 70000 99999", NULL, &st, &err) &&
		   !st.records_written && !change("4 101 99998", NULL, &st, &err) &&
		   st.records_written == 3,
	   "records are deleted all over a table (%s)", err.text);
	ok(!change_where("c0 >= 0", NULL, &st, &err) && st.records_written > 40000 &&
		   !change_where("c0 >= 0", NULL, &st, &err) && !st.records_written,
	   "and by a predicate (%s)", err.text);
}

/* Converts the table to another file, which then has its name. */
static int convert(enum sp_table_layout layout, struct sp_table_stats *stats,
		   struct sp_errinfo *err)
{
	const struct sp_table_opts o = { .run = model_run() };
	const struct sp_table_load_opts lo = { .run = model_run(), .layout = layout };
	struct sp_table *t = NULL;
	int rc = sp_table_open(&t, path, &o, err);

	if (!rc)
		rc = sp_table_convert(t, "update-converted.tmp", &lo, stats, err);
	(void)sp_table_close(t);
	return rc ? rc : rename("update-converted.tmp", path);
}

static void check_convert(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_stats st;
	char before[4096];
	unsigned right = 0;

	make(3000);
	if (change("2999", "c3='the last',c4=word", NULL, &err))
		abort();
	strcpy(before, get("0 1 2 9 2999"));
	for (enum sp_table_layout l = SP_TABLE_NSM; l <= SP_TABLE_CSM; l++)
		right += !convert(l, &st, &err) && st.records_written == 3000 && st.exact &&
			 !strcmp(before, get("0 1 2 9 2999"));
	ok(right == 4, "a converted table has the records in each layout (%s)", err.text);
	strcpy(before, get("0 2 9 2999"));
	ok(!change("1 3 8", NULL, NULL, &err) && !convert(SP_TABLE_CSM, &st, &err) &&
		   st.records_written == 2997 && !st.exact && !strcmp(before, get("0 1 6 2996")),
	   "deleted records stay behind");
}

static void check_wider(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	char set[32], key[8];
	unsigned right = 0;

	make(300);
	for (unsigned i = 0; i < 255; i++) {
		snprintf(set, sizeof(set), "c4=word%u", i);
		snprintf(key, sizeof(key), "%u", i);
		right += !change(key, set, NULL, &err);
	}
	ok(right == 255 && refused("c4=more", -ENOSPC, "is full") &&
		   !convert(SP_TABLE_CSM, NULL, &err) && !change("7", "c4=more", NULL, &err) &&
		   strstr(get("7 9 254"), "more,") && strstr(output, "word9,") &&
		   strstr(output, "word254,"),
	   "a full dictionary is wider after a conversion (%s)", err.text);
}

int main(void)
{
	check_set();
	check_refusals();
	check_dictionary();
	check_where();
	check_by();
	check_far();
	check_convert();
	check_wider();
	unlink(path);
	return done();
}
