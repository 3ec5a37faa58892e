/* SPDX-License-Identifier: MIT */
/*
 * Comparing layouts while each allocation fails, one at a time: the result is complete, or the
 * error is that memory is short.
 *
 *	SP_TEST_FULL=1	three times as many of the later allocations
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/table.h>
#include "tap.h"

static uint64_t until = UINT64_MAX; /* allocations before the one that fails */

static bool fails(void)
{
	return until-- == 0;
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_reallocarray(void *p, size_t n, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
	return fails() ? NULL : __real_reallocarray(p, n, size);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

static const char schema[] = "compare-memory.tmp";

/* Compares while allocation n fails.  Returns true if there were fewer. */
static bool compare(const char *volume, uint64_t n, bool *right)
{
	static const char *const queries[] = { "scan a,b where c 1%", "9 get 3 *", "update 2 b",
					       "append 5" };
	struct sp_table_compare_opts o = SP_TABLE_COMPARE_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_comparison c;
	bool over;
	int rc;

	o.run.volume = volume;
	o.run.memory_bytes = 64 << 20;
	o.run.parallel = 2;
	o.measure = volume;
	o.queries = queries;
	o.nqueries = 4;
	until = n;
	rc = sp_table_compare_schema(schema, 3000, &o, &c, &err);
	over = until != UINT64_MAX && until <= n;
	until = UINT64_MAX;
	*right = rc ? rc == -ENOMEM
		    : c.nqueries == 4 && isfinite(c.candidates[SP_TABLE_AUTO].sum.predicted_s);
	if (!*right)
		diag("allocation %llu: %d %s", (unsigned long long)n, rc, err.text);
	if (!rc)
		sp_table_comparison_free(&c);
	return over;
}

static void sweep(const char *volume)
{
	const char *full = getenv("SP_TEST_FULL");
	uint64_t n = 0, step = 1;
	bool right = true, over = false;

	for (; right && !over; n += step) {
		over = compare(volume, n, &right);
		/* What is repeated for each layout fails now and then. */
		step = n >= 60 ? (full && *full ? n / 2 : 2 * n) : volume ? 3 : 1;
	}
	ok(right && n > 400, "%s: %llu allocations", volume ? volume : "no volume",
	   (unsigned long long)n);
}

int main(void)
{
	FILE *f = fopen(schema, "w");

	if (!f || fputs("a i32\nb f64\nc text\nd date\n", f) < 0 || fclose(f))
		exit(1);
	sweep(NULL);
	sweep("sim:flash");
	unlink(schema);
	return done();
}
