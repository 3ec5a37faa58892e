/* SPDX-License-Identifier: MIT */
/*
 * Tables as streams of record batches of Arrow: loaded from such a stream they print the same text,
 * for all types, layouts and queries; and errors, and streams that are released early.
 */
#define TAP_THREADS
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>
#include <spindle/tablearrow.h>
#include "base/mem.h"
#include "base/rng.h"
#include "columns/arrow_formats.h"
#include "tap.h"

#define RECORDS 30000
#define TYPES                                                                                      \
	"a:i8,b:i16,c:i32,d:i64,e:u8,f:u16,g:u32,h:u64,x:f32,y:f64,p:dec8(1),q:dec64(4),r:date,"   \
	"s:time(0),t:time(3),u:time(6),v:char(5),w:text,z:dict8"

static const char input[] = "arrow-in.tmp", table[] = "arrow-from.tmp", copy[] = "arrow-to.tmp";

static _Atomic unsigned calls;
static unsigned fail_at; /* 0: none fails */

static bool call_fails(int code)
{
	if (!fail_at || ++calls != fail_at)
		return false;
	errno = code;
	return true;
}

#define WRAP(type, failed, code, name, args, call)                                                 \
	type __real_##name args;                                                                   \
	type __wrap_##name args;                                                                   \
	type __wrap_##name args                                                                    \
	{                                                                                          \
		return call_fails(code) ? failed : __real_##name call;                             \
	}
WRAP(void *, NULL, ENOMEM, malloc, (size_t bytes), (bytes))
WRAP(void *, NULL, ENOMEM, calloc, (size_t n, size_t bytes), (n, bytes))
WRAP(void *, NULL, ENOMEM, realloc, (void *p, size_t bytes), (p, bytes))
WRAP(void *, NULL, ENOMEM, reallocarray, (void *p, size_t n, size_t bytes), (p, n, bytes))
WRAP(char *, NULL, ENOMEM, strdup, (const char *text), (text))
WRAP(void *, MAP_FAILED, ENOMEM, mmap,
     (void *p, size_t bytes, int prot, int flags, int fd, off_t at),
     (p, bytes, prot, flags, fd, at))
WRAP(ssize_t, -1, EIO, pread, (int fd, void *data, size_t bytes, off_t at), (fd, data, bytes, at))
WRAP(ssize_t, -1, EIO, preadv, (int fd, const struct iovec *parts, int n, off_t at),
     (fd, parts, n, at))

static void print_record(FILE *f, struct sp__rng *rng, unsigned i)
{
	/* Each field is empty, which is NULL, in one record of eight. */
#define FIELD(...)                                                                                 \
	do {                                                                                       \
		if (sp__rng_below(rng, 8))                                                         \
			fprintf(f, __VA_ARGS__);                                                   \
		putc(',', f);                                                                      \
	} while (0)
	const int n = (int)sp__rng_below(rng, 200) - 100;

	fprintf(f, "%d,%d,%d,%lld,", n, n * 300, n * 20000000, n * 90000000000000000LL);
	FIELD("%u", (unsigned)(n + 100));
	FIELD("%u", (unsigned)(n + 100) * 300);
	FIELD("%u", (unsigned)(n + 100) * 20000000);
	FIELD("%llu", (unsigned long long)(n + 100) * 90000000000000000ULL);
	FIELD("%d.5", n);
	FIELD("%d.25", n);
	FIELD("%d.%u", n / 10, i % 10);
	FIELD("%d.%04u", n * 1000, i % 10000);
	FIELD("%04u-02-%02u", 1800 + i % 400, 1 + i % 28);
	FIELD("19%02u-03-04 05:06:%02u", i % 100, i % 60);
	FIELD("1969-12-31 23:59:59.%03u", i % 1000);
	FIELD("20%02u-03-04 05:06:07.%06u", i % 100, i);
	FIELD("%.*s", 1 + n % 3 * (n % 3), "caf\xc3\xa9");
	if (sp__rng_below(rng, 8))
		fprintf(f, "\"%.*s\"", (int)sp__rng_below(rng, 30),
			"text, of any length, and more");
	fprintf(f, ",word %u\n", i % 7);
#undef FIELD
}

static void make(enum sp_table_layout layout, unsigned records)
{
	struct sp_table_load_opts o = SP_TABLE_LOAD_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	const char *const inputs[] = { input };
	struct sp__rng rng = { 35 };
	FILE *f = fopen(input, "w");

	if (!f)
		exit(1);
	fputs("a,b,c,d,e,f,g,h,x,y,p,q,r,s,t,u,v,w,z\n", f);
	for (unsigned i = 0; i < records; i++)
		print_record(f, &rng, i);
	if (fclose(f))
		exit(1);
	o.run.memory_bytes = 4 << 20;
	o.run.overwrite = true;
	o.layout = layout;
	o.types = TYPES;
	o.format = SP_TABLE_CSV;
	o.header = true;
	if (sp_table_load(table, inputs, 1, &o, NULL, &err)) {
		diag("%s: %s", err.path, err.text);
		exit(1);
	}
	unlink(input);
}

static int append(void *arg, const char *data, size_t bytes)
{
	return sp__bytes_append(arg, data, bytes, NULL);
}

static int scan(const char *path, const struct sp_table_query *q, struct sp__bytes *text)
{
	struct sp_table_opts open = SP_TABLE_OPTS_INIT;
	struct sp_table *t = NULL;
	int rc;

	open.run.memory_bytes = 4 << 20;
	text->bytes = 0;
	rc = sp_table_open(&t, path, &open, NULL);
	if (!rc)
		rc = sp_table_scan(t, q, append, text, NULL, NULL);
	(void)sp_table_close(t);
	return rc;
}

static int open_stream(const struct sp_table_query *q, unsigned threads,
		       struct ArrowArrayStream *stream, struct sp_errinfo *err)
{
	struct sp_table_opts open = SP_TABLE_OPTS_INIT;

	open.run.memory_bytes = 4 << 20;
	open.run.parallel = threads;
	open.run.engine = "sync";
	return sp_table_arrow(table, &open, q, stream, err);
}

/* A table loaded from the stream of a query prints what the query prints. */
static void same(const char *columns, const char *where, uint64_t lo, uint64_t hi, uint64_t limit,
		 unsigned threads)
{
	struct sp_table_load_opts o = SP_TABLE_LOAD_OPTS_INIT;
	struct sp_table_query q = SP_TABLE_QUERY_INIT, all = SP_TABLE_QUERY_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__bytes want = { 0 }, got = { 0 };
	struct ArrowArrayStream stream;
	int rc;

	q.columns = columns;
	q.where = where;
	q.lo = lo;
	q.hi = hi;
	q.limit = limit;
	o.run.overwrite = true;
	all.format = q.format = SP_TABLE_CSV;
	rc = open_stream(&q, threads, &stream, &err);
	if (!rc)
		rc = sp_table_load_arrow(copy, &stream, &o, NULL, &err);
	if (!rc)
		rc = scan(table, &q, &want);
	if (!rc)
		rc = scan(copy, &all, &got);
	ok(!rc && want.bytes == got.bytes && !memcmp(want.data, got.data, got.bytes),
	   "%s of %s, %llu to %llu, at most %llu, %u threads: %s",
	   columns ? columns : "all columns", where ? where : "all", (unsigned long long)lo,
	   (unsigned long long)hi, (unsigned long long)limit, threads,
	   rc ? err.text : "the same text");
	sp__bytes_release(&want, NULL);
	sp__bytes_release(&got, NULL);
	unlink(copy);
}

/* A batch lives on after its stream. */
static void released_early(void)
{
	struct sp_table_query q = SP_TABLE_QUERY_INIT;
	struct ArrowArrayStream stream;
	struct ArrowArray a;
	int32_t first;

	q.columns = "c,w";
	if (!ok(!open_stream(&q, 3, &stream, NULL) && !stream.get_next(&stream, &a) && a.release,
		"a batch comes"))
		return;
	stream.release(&stream);
	ok(!stream.release, "the stream is released");
	memcpy(&first, a.children[0]->buffers[1], sizeof(first));
	ok(first % 20000000 == 0 && a.length > 0 && a.length < RECORDS && a.n_children == 2 &&
		   a.children[1]->length == a.length,
	   "a batch of %lld records outlives it", (long long)a.length);
	a.release(&a);
	ok(!a.release, "and is released by itself");
}

static void nothing(void)
{
	struct sp_table_query q = SP_TABLE_QUERY_INIT;
	struct ArrowArrayStream stream;
	struct ArrowSchema s;
	struct ArrowArray a;

	make(SP_TABLE_CSM, 0);
	if (!ok(!open_stream(&q, 1, &stream, NULL) && !stream.get_schema(&stream, &s),
		"a table without records has a schema"))
		return;
	ok(s.n_children == 19 && !strcmp(s.children[10]->name, "p") &&
		   !strcmp(s.children[10]->format, "d:3,1") &&
		   s.children[10]->flags == ARROW_FLAG_NULLABLE &&
		   !strcmp(s.children[13]->format, "tss:") && !strcmp(s.children[18]->format, "U"),
	   "of all columns");
	s.release(&s);
	ok(!stream.get_next(&stream, &a) && !a.release && !stream.get_next(&stream, &a),
	   "and no batches");
	stream.release(&stream);
}

static void refused(const struct sp_table_query *q, int code, const char *reason)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct ArrowArrayStream stream;
	int rc = open_stream(q, 1, &stream, &err);

	ok(rc == code && strstr(err.text, reason), "refused: %s", err.text);
}

static void refusals(void)
{
	struct sp_table_query q = SP_TABLE_QUERY_INIT;

	q.columns = "nothing";
	refused(&q, SP_ESYNTAX, "nearest");
	q.columns = NULL;
	q.where = "a <";
	refused(&q, SP_ESYNTAX, "");
	q.where = NULL;
	q.agg = "count()";
	refused(&q, SP_EUNSUP, "aggregates");
	q.agg = NULL;
	q.access = SP_TABLE_BY_INDEX;
	refused(&q, SP_EUNSUP, "S-scan");
	unlink(table);
	q.access = SP_TABLE_ACCESS_AUTO;
	refused(&q, -ENOENT, "");
}

/* Replaces bytes of the table's file once. */
static void damage(const char *old, const char *new)
{
	FILE *f = fopen(table, "r+");
	char *data, *at;
	long bytes;

	if (!f || fseek(f, 0, SEEK_END))
		exit(1);
	bytes = ftell(f);
	data = malloc((size_t)bytes);
	rewind(f);
	if (!data || fread(data, 1, (size_t)bytes, f) != (size_t)bytes)
		exit(1);
	at = memmem(data, (size_t)bytes, old, strlen(old));
	if (!at || fseek(f, at - data, SEEK_SET) || fputs(new, f) < 0 || fclose(f))
		exit(1);
	free(data);
}

/* Reads to the error, which stays. */
static void fails(const char *reason)
{
	struct sp_table_query q = SP_TABLE_QUERY_INIT;
	struct ArrowArrayStream stream;
	struct ArrowArray a;
	int rc;

	if (open_stream(&q, 2, &stream, NULL))
		exit(1);
	while ((rc = stream.get_next(&stream, &a)) == 0 && a.release)
		a.release(&a);
	ok(rc > 0 && strstr(stream.get_last_error(&stream), reason) &&
		   stream.get_next(&stream, &a) == rc,
	   "an error ends the stream: %s", rc ? stream.get_last_error(&stream) : "it has none");
	stream.release(&stream);
}

static void errors(void)
{
	struct sp_table_load_opts o = SP_TABLE_LOAD_OPTS_INIT;
	const char *const inputs[] = { input };
	FILE *f;

	make(SP_TABLE_CSM, RECORDS);
	damage("text, of", "Text, of");
	fails("damaged");
	f = fopen(input, "w");
	if (!f || fputs("good\nbad \xe4\n", f) < 0 || fclose(f))
		exit(1);
	o.run.overwrite = true;
	o.types = "name:text";
	if (sp_table_load(table, inputs, 1, &o, NULL, NULL))
		exit(1);
	unlink(input);
	fails("column name of record 1 is not UTF-8");
}

/* Returns the records of a stream, or -1 after an error, which has a text. */
static int64_t count(void)
{
	struct sp_table_query q = SP_TABLE_QUERY_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct ArrowArray a;
	int64_t n = 0;
	int rc;

	if (open_stream(&q, 1, &stream, &err))
		return err.code ? -1 : -2;
	rc = stream.get_schema(&stream, &schema);
	if (!rc)
		schema.release(&schema);
	while (!rc && (rc = stream.get_next(&stream, &a)) == 0 && a.release) {
		n += a.length;
		a.release(&a);
	}
	if (rc)
		n = stream.get_last_error(&stream) ? -1 : -2;
	stream.release(&stream);
	return n;
}

/* Lets one call fail, each one at a time. */
static void each_failure(void)
{
	unsigned errors = 0;
	bool good = true;

	make(SP_TABLE_PAX, 2000);
	for (fail_at = 1; good; fail_at += TAP_STEP) {
		int64_t n;

		calls = 0;
		n = count();
		errors += n == -1;
		good = n == -1 || n == 2000;
		if (calls < fail_at)
			break;
	}
	ok(good && errors > tap_times(20), "%u of %u failures end the stream, none shortens it",
	   errors, fail_at - 1);
	fail_at = 0;
}

int main(void)
{
	for (int layout = SP_TABLE_NSM; layout <= SP_TABLE_CSM; layout++) {
		make(layout, RECORDS);
		same(NULL, NULL, 0, UINT64_MAX, UINT64_MAX, 1);
		same(NULL, "c > 5 and w is not null", 0, UINT64_MAX, UINT64_MAX, 3);
		same("w,a,z", NULL, 12345, 23456, UINT64_MAX, 8);
		same("q,u", "x < 0 or y > 90", 17, UINT64_MAX, 1234, 2);
		same("v", "a > 127", 0, UINT64_MAX, UINT64_MAX, 2);
	}
	released_early();
	each_failure();
	nothing();
	refusals();
	errors();
	unlink(table);
	return done();
}
