/* SPDX-License-Identifier: MIT */
/*
 * Tables from record batches of Arrow: a batch of each type that tables take, sliced, with NULLs;
 * and types and values that are refused.
 */
#define TAP_THREADS
#include <stdio.h>
#define SOURCE_TABLE "arrow.tmp"
#include "arrowsource.h"

static bool numbers(void)
{
	static const uint8_t valid[] = { 0x1B }; /* value 2 is NULL */
	static const int8_t i8[] = { 1, -127, 0, 127, 9 };
	static const uint64_t u64[] = { 0, 1, 2, UINT64_MAX - 1, 9 };
	static const double f64[] = { 0.1, -1e300, 0, 5, 9 };
	static const float f32[] = { 0.1f, 2, 3, 4, 9 };
	static const uint8_t bits[] = { 0x0A };
	struct source s = { 0 };

	add(&s, "i8", "c", valid, i8, NULL, 0);
	add(&s, "u64", "L", NULL, u64, NULL, 0);
	add(&s, "f64", "g", valid, f64, NULL, 0);
	add(&s, "f32", "f", NULL, f32, NULL, 0);
	add(&s, "b", "b", NULL, bits, NULL, 0);
	add(&s, "sliced", "c", valid, i8, NULL, 1);
	return loads(&s, "i8,u64,f64,f32,b,sliced\n"
			 "1,0,0.1,0.1,0,-127\n"
			 "-127,1,-1e+300,2,1,\n"
			 ",2,,3,0,127\n"
			 "127,18446744073709551614,5,4,1,9\n");
}

static bool times_and_decimals(void)
{
	static const int32_t days[] = { 0, -1, 19782, 1 };
	static const int64_t seconds[] = { 0, -1, 86400, 1 }, ms[] = { 0, -1, 1500, 1 };
	static const int64_t ns[] = { 0, -1000, 1500000000, 7000 };
	static const sp__int128 cents[] = { 0, -1, 1250, 99 }, large[] = { 1, 2, 3, -4000000000 };
	struct source s = { 0 };

	add(&s, "day", "tdD", NULL, days, NULL, 0);
	add(&s, "s", "tss:", NULL, seconds, NULL, 0);
	add(&s, "ms", "tsm:", NULL, ms, NULL, 0);
	add(&s, "cents", "d:4,2", NULL, cents, NULL, 0);
	add(&s, "large", "d:38,0", NULL, large, NULL, 0);
	add(&s, "ns", "tsn:", NULL, ns, NULL, 0);
	return loads(&s, "day,s,ms,cents,large,ns\n"
			 "1970-01-01,1970-01-01 00:00:00,1970-01-01 00:00:00.000,0.00,1,"
			 "1970-01-01 00:00:00.000000\n"
			 "1969-12-31,1969-12-31 23:59:59,1969-12-31 23:59:59.999,-0.01,2,"
			 "1969-12-31 23:59:59.999999\n"
			 "2024-02-29,1970-01-02 00:00:00,1970-01-01 00:00:01.500,12.50,3,"
			 "1970-01-01 00:00:01.500000\n"
			 "1970-01-02,1970-01-01 00:00:01,1970-01-01 00:00:00.001,0.99,-4000000000,"
			 "1970-01-01 00:00:00.000007\n");
}

static bool texts(void)
{
	static const uint8_t valid[] = { 0x0D }; /* value 1 is NULL */
	static const int32_t ends[] = { 0, 1, 1, 1, 6 };
	static const int64_t wide_ends[] = { 0, 1, 1, 1, 6 };
	static const char bytes[] = "ab,\"\xC3\xA4", far[] = "a text of more than twelve bytes";
	static const uint8_t codes[] = { 2, 0, 0, 1 };
	static const int32_t word_ends[] = { 0, 3, 6, 6 };
	struct source s = { 0 };
	struct ArrowArray *views, *coded;
	const int64_t sizes[] = { sizeof(far) };
	char view[ROWS][16] = { { 3, 0, 0, 0, 'x', 'y', 'z' } };
	int32_t at[4] = { sizeof(far) - 1, 0, 0, 0 };

	memcpy(at + 1, far, 4);
	memcpy(view[3], at, sizeof(at));
	add(&s, "text", "u", valid, ends, bytes, 0);
	add(&s, "wide", "Z", valid, wide_ends, bytes, 0);
	views = add(&s, "view", "vu", valid, view, far, 0);
	s.buffers[2][3] = sizes;
	views->n_buffers = 4;
	coded = add(&s, "word", "C", NULL, codes, NULL, 0);
	s.words_buffers[1] = word_ends;
	s.words_buffers[2] = "onetwo";
	s.words = (struct ArrowArray){ .length = 3, .n_buffers = 3, .buffers = s.words_buffers };
	s.words_schema = (struct ArrowSchema){ .format = "u", .name = "" };
	coded->dictionary = &s.words;
	s.schemas[3].dictionary = &s.words_schema;
	return loads(
		&s, "text,wide,view,word\n"
		    "a,a,xyz,\"\"\n"
		    ",,,one\n"
		    "\"\",\"\",\"\",one\n"
		    "\"b,\"\"\xC3\xA4\",\"b,\"\"\xC3\xA4\",a text of more than twelve bytes,two\n");
}

static bool wider(void)
{
	static const uint8_t u8[] = { 1, 255, 0, 254 };
	static const int32_t days[] = { 0, 1, 3000000, 2 };
	static const int64_t odd[] = { 0, 1001, 0, 0 }, ms[] = { 0, 86400001, 86400000, 0 };
	static const int64_t ends[] = { 0, 2, 3, 4, 4 };
	static const uint64_t null_nan[] = { 0x7FF800004E554C4C, 0, 0, 0 };
	struct source s = { .batches = 2 };

	add(&s, "u8", "C", NULL, u8, NULL, 0);
	add(&s, "day", "tdD", NULL, days, NULL, 0);
	add(&s, "ns", "tsn:UTC", NULL, odd, NULL, 0);
	add(&s, "ms", "tdm", NULL, ms, NULL, 0);
	add(&s, "bytes", "Z", NULL, ends, "\xFF\1\xFEz", 0);
	add(&s, "f64", "g", NULL, null_nan, NULL, 0);
#define RECORDS                                                                                    \
	"1,0,0,0,\xFE\xFF\1,nan\n"                                                                 \
	"255,1,1001,86400001,\xFE\xFE,0\n"                                                         \
	"0,3000000,0,86400000,z,0\n"                                                               \
	"254,2,0,0,\"\",0\n"
	return loads(&s, "u8,day,ns,ms,bytes,f64\n" RECORDS RECORDS);
}

static bool other_formats(void)
{
	static const int64_t dm[] = { 0, 86400000, -86400000, 0 }, day[] = { 1, 2, 3, 4 };
	static const int32_t d32[] = { 100, -100, 0, 5 };
	static const uint16_t half[] = { 0x3C00, 0xC500, 0x7C00, 0x0001 };
	static const sp__int128 d256[] = { 1000, 0, -2000, -1, 0, 0, 1000, 0 };
	struct source s = { 0 };
	struct ArrowArray *none;

	add(&s, "dm", "tdm", NULL, dm, NULL, 0);
	add(&s, "tt", "ttm", NULL, d32, NULL, 0);
	add(&s, "span", "tDn", NULL, day, NULL, 0);
	add(&s, "d32", "d:5,2,32", NULL, d32, NULL, 0);
	add(&s, "tens", "d:5,-1,32", NULL, d32, NULL, 0);
	add(&s, "d256", "d:70,21,256", NULL, d256, NULL, 0);
	add(&s, "half", "e", NULL, half, NULL, 0);
	add(&s, "w", "w:2", NULL, "abcdefgh", NULL, 0);
	none = add(&s, "none", "n", NULL, NULL, NULL, 0);
	none->n_buffers = 1; /* as Polars makes it */
	none->null_count = ROWS;
	return loads(&s, "dm,tt,span,d32,tens,d256,half,w,none\n"
			 "1970-01-01,100,1,1.00,1000,0.000000000000000001,1,ab,\n"
			 "1970-01-02,-100,2,-1.00,-1000,-0.000000000000000002,-5,cd,\n"
			 "1969-12-31,0,3,0.00,0,0.000000000000000000,inf,ef,\n"
			 "1970-01-01,5,4,0.05,50,0.000000000000000001,5.9604645e-08,gh,\n");
}

/* Applies a change, or copies the table if there is none. */
static int changed(const char *set, struct sp_errinfo *err)
{
	struct sp_table_load_opts o = SP_TABLE_LOAD_OPTS_INIT;
	struct sp_table_opts open = SP_TABLE_OPTS_INIT;
	const struct sp_table_choice choice = { .where = "b = 1" };
	struct sp_table *t = NULL;
	int rc, closed;

	o.run.memory_bytes = open.run.memory_bytes = 4 << 20;
	o.run.overwrite = true;
	o.layout = SP_TABLE_NSM;
	open.write = set;
	rc = sp_table_open(&t, set ? "arrow-copy.tmp" : SOURCE_TABLE, &open, err);
	if (!rc)
		rc = set ? sp_table_update(t, &choice, &set, 1, NULL, err)
			 : sp_table_convert(t, "arrow-copy.tmp", &o, NULL, err);
	closed = sp_table_close(t);
	return rc ? rc : closed;
}

/* Reads all of the copy; formats: those of its columns. */
static int read_copy(char formats[64], char *reason)
{
	struct sp_table_opts open = SP_TABLE_OPTS_INIT;
	struct sp_table_query q = SP_TABLE_QUERY_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct ArrowArrayStream stream;
	struct ArrowArray batch = { 0 };
	struct ArrowSchema schema;
	int rc;

	open.run.memory_bytes = 4 << 20;
	if (sp_table_arrow("arrow-copy.tmp", &open, &q, &stream, &err))
		return -1;
	rc = stream.get_schema(&stream, &schema);
	formats[0] = '\0';
	for (int64_t i = 0; !rc && i < schema.n_children; i++) {
		strcat(formats, schema.children[i]->format);
		strcat(formats, " ");
	}
	if (!rc)
		schema.release(&schema);
	while (!rc && !(rc = stream.get_next(&stream, &batch)) && batch.release)
		batch.release(&batch);
	snprintf(reason, SP_ERRINFO_TEXT_MAX, "%s", rc ? stream.get_last_error(&stream) : "");
	stream.release(&stream);
	return rc;
}

static bool kept_formats(void)
{
	static const uint8_t bits[] = { 0x0A };
	static const int64_t ends[] = { 0, 1, 2, 3, 4 }, ns[] = { 1, 1000, 0, 5 };
	struct sp_table_load_opts o = SP_TABLE_LOAD_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct source s = { .batches = 1 };
	struct ArrowArrayStream stream = { get_schema, get_next, get_last_error, release_stream,
					   &s };
	char formats[64], reason[SP_ERRINFO_TEXT_MAX];
	bool good;

	add(&s, "b", "b", NULL, bits, NULL, 0);
	add(&s, "z", "Z", NULL, ends, "a\xFE\xFFz", 0);
	add(&s, "us", "tsu:UTC", NULL, ns, NULL, 0);
	add(&s, "ns", "tsn:UTC", NULL, ns, NULL, 0);
	add(&s, "span", "tDs", NULL, ns, NULL, 0);
	o.run.memory_bytes = 4 << 20;
	good = !sp_table_load_arrow(SOURCE_TABLE, &stream, &o, NULL, &err) &&
	       !changed(NULL, &err) && !read_copy(formats, reason) &&
	       !strcmp(formats, "b Z tsu:UTC tsn:UTC tDs ") && !changed("b=2", &err) &&
	       read_copy(formats, reason) &&
	       strstr(reason, "column b of record 1 has a value that Arrow's type bool ('b')");
	if (!good)
		diag("%s, %s, %s", err.text, formats, reason);
	unlink(SOURCE_TABLE);
	unlink("arrow-copy.tmp");
	return good;
}

static bool refusals(void)
{
	static const int8_t least[] = { 1, -128, 0, 0 };
	static const uint64_t greatest[] = { 0, UINT64_MAX, 0, 0 };
	static const sp__int128 cents[] = { 0, 100, 0, 0 };
	static const sp__int128 huge[] = { 0, 1, (sp__int128)1 << 64, 0 };
	static const int32_t ends[] = { 0, 1, 1, 1, 1 };
	struct source s = { 0 };
	bool good;

	add(&s, "x", "+l", NULL, least, NULL, 0);
	good = refused(&s, SP_EUNSUP, "column x has Arrow's type list ('+l')");
	s = (struct source){ 0 };
	add(&s, "x", "L", NULL, greatest, NULL, 0);
	good &= refused(&s, SP_EUNSUP, "column x, record 1");
	s = (struct source){ 0 };
	add(&s, "x", "d:2,1", NULL, cents, NULL, 0);
	good &= loads(&s, "x\n0.0\n10.0\n0.0\n0.0\n");
	s = (struct source){ 0 };
	add(&s, "x", "d:30,2", NULL, huge, NULL, 0);
	good &= refused(&s, SP_EUNSUP, "column x, record 2");
	s = (struct source){ 0 };
	add(&s, "x", "u", NULL, ends, "\xFF", 0);
	good &= refused(&s, SP_EFORMAT, "column x, record 0: the text is not UTF-8");
	s = (struct source){ .code = EIO };
	add(&s, "x", "c", NULL, least, NULL, 0);
	good &= refused(&s, -EIO, "the source is dry");
	s = (struct source){ 0 };
	add(&s, "x", "C", NULL, least, NULL, 0);
	add(&s, "x", "C", NULL, least, NULL, 0);
	return good & refused(&s, SP_ESYNTAX, "two columns have the name 'x'");
}

static unsigned freed;

static void *pointer(void *capsule, const char *name)
{
	return strcmp(name, "arrow_array_stream") ? NULL : capsule;
}

static void free_memory(void *memory)
{
	(void)memory;
	freed++;
}

static bool capsules(void)
{
	struct source s = { 0 };
	struct ArrowArrayStream stream = { get_schema, get_next, get_last_error, release_stream,
					   &s };

	sp_table_capsule_functions(pointer, free_memory);
	sp_table_capsule_free(&stream);
	if (s.released != 1 || freed != 1)
		return false;
	sp_table_capsule_free(&stream); /* its consumer has released it */
	return s.released == 1 && freed == 2;
}

int main(void)
{
	ok(numbers(), "numbers are taken, also from sliced arrays and with NULLs");
	ok(times_and_decimals(), "so are dates, times and decimals");
	ok(texts(), "so are texts by offsets, views and dictionaries");
	ok(other_formats(), "so are other decimals, dates and durations, and columns of NULL");
	ok(wider(), "values that a type does not have are loaded by a wider one");
	ok(kept_formats(),
	   "copies keep formats of Arrow, and a value that one does not have is an error");
	ok(refusals(), "other types, reserved values and failed streams leave no table");
	ok(capsules(), "a capsule releases its stream, unless its consumer has done so");
	return done();
}
