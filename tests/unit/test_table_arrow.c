/* SPDX-License-Identifier: MIT */
/*
 * Tables from record batches of Arrow: a batch of each type that tables take, sliced, with NULLs;
 * and types and values that are refused.
 */
#define TAP_THREADS
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/tablearrow.h>
#include "base/decimal.h"
#include "base/mem.h"
#include "table/arrow/abi.h"
#include "tap.h"

#define ROWS 4
#define COLUMNS_MAX 12

/* A stream of one batch, without memory of its own. */
struct source {
	struct ArrowSchema root, schemas[COLUMNS_MAX], words_schema, *children[COLUMNS_MAX];
	struct ArrowArray arrays[COLUMNS_MAX], words, *columns[COLUMNS_MAX];
	const void *buffers[COLUMNS_MAX][4], *words_buffers[3], *none[1];
	int64_t n;
	unsigned batches, released;
	int code; /* of get_next() */
};

static void release_schema(struct ArrowSchema *s)
{
	s->release = NULL;
}

static void release_array(struct ArrowArray *a)
{
	a->release = NULL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	const struct source *s = stream->private_data;

	*out = s->root;
	return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	struct source *s = stream->private_data;

	*out = (struct ArrowArray){ 0 };
	if (s->code || !s->batches)
		return s->code;
	s->batches--;
	*out = (struct ArrowArray){ .length = ROWS,
				    .n_buffers = 1,
				    .n_children = s->n,
				    .buffers = s->none,
				    .children = s->columns,
				    .release = release_array };
	return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	(void)stream;
	return "the source is dry";
}

static void release_stream(struct ArrowArrayStream *stream)
{
	((struct source *)stream->private_data)->released++;
	stream->release = NULL;
}

/* Adds a column; its values begin at `offset` of the buffers. */
static struct ArrowArray *add(struct source *s, const char *name, const char *format,
			      const void *valid, const void *values, const void *more,
			      int64_t offset)
{
	int64_t i = s->n++;

	s->buffers[i][0] = valid;
	s->buffers[i][1] = values;
	s->buffers[i][2] = more;
	s->schemas[i] = (struct ArrowSchema){ .format = format,
					      .name = name,
					      .flags = ARROW_FLAG_NULLABLE };
	s->children[i] = &s->schemas[i];
	s->arrays[i] = (struct ArrowArray){ .length = ROWS,
					    .null_count = valid ? -1 : 0,
					    .offset = offset,
					    .n_buffers = more ? 3 : 2,
					    .buffers = s->buffers[i] };
	s->columns[i] = &s->arrays[i];
	s->root = (struct ArrowSchema){ .format = "+s",
					.name = "",
					.n_children = s->n,
					.children = s->children,
					.release = release_schema };
	return &s->arrays[i];
}

static int append(void *arg, const char *data, size_t bytes)
{
	return sp__bytes_append(arg, data, bytes, NULL);
}

/* Loads a stream, and returns the table as CSV in `text`, or the error in err. */
static int load(struct source *s, struct sp__bytes *text, struct sp_errinfo *err)
{
	struct sp_table_load_opts o = SP_TABLE_LOAD_OPTS_INIT;
	struct sp_table_opts open = SP_TABLE_OPTS_INIT;
	struct sp_table_query q = SP_TABLE_QUERY_INIT;
	struct ArrowArrayStream stream = { get_schema, get_next, get_last_error, release_stream,
					   s };
	struct sp_table *t = NULL;
	int rc;

	o.run.memory_bytes = open.run.memory_bytes = 4 << 20;
	rc = sp_table_load_arrow("arrow.tmp", &stream, &o, NULL, err);
	if (!rc)
		rc = sp_table_open(&t, "arrow.tmp", &open, err);
	if (!rc)
		rc = sp_table_scan(t, &q, append, text, NULL, err);
	(void)sp_table_close(t);
	(void)unlink("arrow.tmp");
	return rc;
}

static bool loads(struct source *s, const char *want)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__bytes text = { 0 };
	int rc;
	bool same;

	s->batches = s->batches ? s->batches : 1;
	rc = load(s, &text, &err);
	same = !rc && text.bytes == strlen(want) && !memcmp(text.data, want, text.bytes) &&
	       s->released == 1;
	if (!same)
		diag("%s%.*s", rc ? err.text : "", (int)text.bytes, text.data);
	sp__bytes_release(&text, NULL);
	return same;
}

static bool refused(struct source *s, int code, const char *reason)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__bytes text = { 0 };
	int rc;
	bool good;

	s->batches = 1;
	rc = load(s, &text, &err);
	good = rc == code && strstr(err.text, reason) && s->released == 1 &&
	       access("arrow.tmp", F_OK) < 0;
	if (!good)
		diag("%d: %s", rc, err.text);
	sp__bytes_release(&text, NULL);
	return good;
}

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
	char view[ROWS][16] = { { 3, 0, 0, 0, 'x', 'y', 'z' } };
	int32_t at[4] = { sizeof(far) - 1, 0, 0, 0 };

	memcpy(at + 1, far, 4);
	memcpy(view[3], at, sizeof(at));
	add(&s, "text", "u", valid, ends, bytes, 0);
	add(&s, "wide", "Z", valid, wide_ends, bytes, 0);
	views = add(&s, "view", "vu", valid, view, far, 0);
	views->n_buffers = 3;
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

static bool refusals(void)
{
	static const int8_t least[] = { 1, -128, 0, 0 };
	static const sp__int128 cents[] = { 0, 100, 0, 0 };
	static const sp__int128 huge[] = { 0, 1, (sp__int128)1 << 64, 0 };
	static const int64_t odd[] = { 0, 1001, 0, 0 };
	static const int32_t ends[] = { 0, 1, 1, 1, 1 };
	struct source s = { 0 };
	bool good;

	add(&s, "x", "+l", NULL, least, NULL, 0);
	good = refused(&s, SP_EUNSUP, "column x has Arrow's type '+l'");
	s = (struct source){ 0 };
	add(&s, "x", "c", NULL, least, NULL, 0);
	good &= refused(&s, SP_EUNSUP, "column x, record 1");
	s = (struct source){ 0 };
	add(&s, "x", "d:2,1", NULL, cents, NULL, 0);
	good &= loads(&s, "x\n0.0\n10.0\n0.0\n0.0\n");
	s = (struct source){ 0 };
	add(&s, "x", "tsn:", NULL, odd, NULL, 0);
	good &= refused(&s, SP_EUNSUP, "column x, record 1");
	s = (struct source){ 0 };
	add(&s, "x", "d:30,2", NULL, huge, NULL, 0);
	good &= refused(&s, SP_EUNSUP, "column x, record 2");
	s = (struct source){ 0 };
	add(&s, "x", "u", NULL, ends, "\xFF", 0);
	good &= refused(&s, SP_EUNSUP, "column x, record 0");
	s = (struct source){ .code = EIO };
	add(&s, "x", "c", NULL, least, NULL, 0);
	good &= refused(&s, -EIO, "the source is dry");
	s = (struct source){ 0 };
	add(&s, "x", "C", NULL, least, NULL, 0);
	add(&s, "x", "C", NULL, least, NULL, 0);
	return good & refused(&s, SP_ESYNTAX, "two columns have the name 'x'");
}

int main(void)
{
	ok(numbers(), "numbers are taken, also from sliced arrays and with NULLs");
	ok(times_and_decimals(), "so are dates, times and decimals");
	ok(texts(), "so are texts by offsets, views and dictionaries");
	ok(refusals(), "other types, reserved values and failed streams leave no table");
	return done();
}
