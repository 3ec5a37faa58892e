/* SPDX-License-Identifier: MIT */
/*
 * Scans and gets of which one allocation or read fails, each one at a time: they give an error, or
 * all records.
 */
#define TAP_THREADS
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>
#include "randomtable.h"
#include "table/read/scan.h"
#include "table/read/get.h"
#include "tap.h"

static _Atomic unsigned calls;
static unsigned fail_at; /* 0: none fails */

static bool fails(int code)
{
	if (!fail_at || ++calls != fail_at)
		return false;
	errno = code;
	return true;
}

#define WRAP_ALLOC(name, args, call)                                                               \
	void *__real_##name args;                                                                  \
	void *__wrap_##name args;                                                                  \
	void *__wrap_##name args                                                                   \
	{                                                                                          \
		return fails(ENOMEM) ? NULL : __real_##name call;                                  \
	}
WRAP_ALLOC(malloc, (size_t bytes), (bytes))
WRAP_ALLOC(calloc, (size_t n, size_t bytes), (n, bytes))
WRAP_ALLOC(realloc, (void *p, size_t bytes), (p, bytes))
WRAP_ALLOC(reallocarray, (void *p, size_t n, size_t bytes), (p, n, bytes))

void *__real_mmap(void *p, size_t bytes, int prot, int flags, int fd, off_t at);
void *__wrap_mmap(void *p, size_t bytes, int prot, int flags, int fd, off_t at);
void *__wrap_mmap(void *p, size_t bytes, int prot, int flags, int fd, off_t at)
{
	return fails(ENOMEM) ? MAP_FAILED : __real_mmap(p, bytes, prot, flags, fd, at);
}

ssize_t __real_pread(int fd, void *data, size_t bytes, off_t at);
ssize_t __wrap_pread(int fd, void *data, size_t bytes, off_t at);
ssize_t __wrap_pread(int fd, void *data, size_t bytes, off_t at)
{
	return fails(EIO) ? -1 : __real_pread(fd, data, bytes, at);
}

ssize_t __real_preadv(int fd, const struct iovec *parts, int n, off_t at);
ssize_t __wrap_preadv(int fd, const struct iovec *parts, int n, off_t at);
ssize_t __wrap_preadv(int fd, const struct iovec *parts, int n, off_t at)
{
	return fails(EIO) ? -1 : __real_preadv(fd, parts, n, at);
}

/* The output, in memory that no allocation can refuse. */
static char output_bytes[1 << 20];
static size_t output_n;

static int put(void *arg, const char *data, size_t bytes)
{
	(void)arg;
	if (bytes > sizeof(output_bytes) - output_n)
		abort();
	if (bytes)
		memcpy(output_bytes + output_n, data, bytes);
	output_n += bytes;
	return 0;
}

static uint64_t next_record, max_record;

static int next_number(void *arg, uint64_t *record)
{
	(void)arg;
	*record = next_record * 7 % (max_record + 1);
	return ++next_record > max_record ? SP_END : SP_READY;
}

static int absent(void *arg, uint64_t record)
{
	(void)arg;
	(void)record;
	return 0;
}

enum way { SCAN, SCATTERED, ADAPTIVE, GET, WAYS };

static int print(struct table *t, enum way way, const struct sp__table_output *output,
		 const bool *read, const struct sp__predicate *where, struct sp_errinfo *err)
{
	const struct sp__tablescan_opts scan = { .hi = UINT64_MAX,
						 .limit = UINT64_MAX,
						 .columns = read,
						 .where = where,
						 .output = output };
	const struct sp__tableget_opts get = {
		.next = next_number, .absent = absent, .columns = read, .output = output
	};
	struct sp_table_stats stats = { 0 };
	const struct sp__reading to = { put, NULL, &stats, err, NULL };

	output_n = 0;
	next_record = 0;
	max_record = t->records;
	switch (way) {
	case SCAN:
		return sp__tablescan(&t->file, &scan, &to);
	case SCATTERED:
		return sp__tablescan_scattered(&t->file, &scan, &to);
	case ADAPTIVE:
		return sp__tablescan_adaptive(&t->file, &scan, 1, &to);
	default:
		return sp__tableget(&t->file, &get, &to);
	}
}

/* Lets one call fail, each one at a time.  Returns the number of calls; 0: a result was wrong. */
static unsigned fail_each(struct table *t, enum way way, const struct sp__table_output *output,
			  const bool *read, const struct sp__predicate *where)
{
	static char want[sizeof(output_bytes)];
	size_t nwant;

	if (print(t, way, output, read, where, NULL) || !output_n)
		return 0;
	nwant = output_n;
	memcpy(want, output_bytes, nwant);
	for (fail_at = 1;; fail_at += TAP_STEP) {
		struct sp_errinfo err = SP_ERRINFO_INIT;
		unsigned at = fail_at;
		bool reached;
		int rc;

		calls = 0;
		rc = print(t, way, output, read, where, &err);
		reached = calls >= at;
		if (rc < 0 ? !err.code : output_n != nwant || memcmp(want, output_bytes, nwant)) {
			diag("way %d, call %u: %d, %zu bytes, not %zu", way, at, rc, output_n,
			     nwant);
			fail_at = 0;
			return 0;
		}
		if (!reached) {
			fail_at = 0;
			return at;
		}
	}
}

static bool random_table(unsigned seed)
{
	static const char *const ways[] = { "S-scan", "SI-scan", "adaptive scan", "get" };
	struct table t = { 0 };
	struct sp__table_output output;
	struct sp__predicate *where;
	bool read[COLUMNS_MAX] = { false };
	uint32_t n, *columns;
	bool good = true;

	rng.state = seed;
	make_schema(&t.schema, 1 + (uint32_t)below(COLUMNS_MAX));
	make_layout(&t);
	open_table(&t, 1 << 20);
	t.file.schema.style.separator = '|';
	put_records(&t, 500 + below(500), 50);
	n = t.file.schema.n;
	columns = malloc(n * sizeof(*columns));
	for (uint32_t i = 0; i < n; i++)
		read[columns[i] = i] = true;
	if (sp__tablefile_commit(&t.file, NULL) ||
	    sp__output_open(&output, &t.file.schema, SP_TABLE_TEXT, columns, n, NULL) ||
	    sp__predicate_parse(&where, "c1 is null or c1 is not null", &t.file.schema, NULL))
		abort();
	t.file.run.engine = "sync";
	for (unsigned way = 0; good && way < WAYS; way++) {
		unsigned failed = fail_each(&t, way, &output, read, way == GET ? NULL : where);

		good = failed > 0;
		if (good)
			diag("%s: %u calls failed, one at a time", ways[way], failed - 1);
	}
	sp__predicate_free(where);
	sp__output_close(&output);
	close_table(&t);
	return good;
}

int main(void)
{
	for (size_t i = 0; i < sizeof(texts); i++)
		texts[i] = (char)('a' + i % 23);
	for (unsigned seed = 1; seed <= 4; seed++)
		ok(random_table(seed), "each failure is an error, or has no effect (table %u)",
		   seed);
	return done();
}
