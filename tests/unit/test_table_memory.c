/* SPDX-License-Identifier: MIT */
/*
 * Memory of tables: whatever is done to a table of 300 columns, or of long texts, the process has
 * at most its memory and 16 MB.  Each step is a process.
 */
#define TAP_THREADS
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <spindle/table.h>
#include "tap.h"

#define MEMORY (UINT64_C(4) << 20)
#define ALLOWANCE (UINT64_C(16) << 20)

static const char path[] = "table-memory.tmp", input[] = "input-memory.tmp";
static enum sp_table_layout layout;

/* About 24 MB: numbers in 300 columns, or a number and a text. */
static void write_input(bool wide)
{
	static const char text[] = "a text that takes as many bytes as there are records before it";
	FILE *f = fopen(input, "w");

	if (!f)
		abort();
	for (unsigned i = 0; wide && i < 12000; i++)
		for (unsigned c = 0; c < 300; c++)
			fprintf(f, "%u%c", i * 7919 + c * 104729, c == 299 ? '\n' : '|');
	for (unsigned i = 0; !wide && i < 12000; i++) {
		fprintf(f, "%u|", i);
		for (unsigned k = 0; k < 32; k++)
			fputs(text, f);
		fprintf(f, "%u\n", i);
	}
	if (fclose(f))
		abort();
}

static struct sp_run_opts options(void)
{
	struct sp_run_opts run = SP_RUN_OPTS_INIT;

	run.memory_bytes = MEMORY;
	run.parallel = 2;
	return run;
}

static int load(void)
{
	struct sp_table_load_opts o = SP_TABLE_LOAD_OPTS_INIT;
	const char *const inputs[] = { input };

	o.run = options();
	o.layout = layout;
	o.separator = '|';
	return sp_table_load(path, inputs, 1, &o, NULL, NULL);
}

static int put(void *arg, const char *data, size_t bytes)
{
	(void)data;
	*(uint64_t *)arg += bytes;
	return 0;
}

static int damage(void *arg, const struct sp_table_damage *d)
{
	(void)arg, (void)d;
	return SP_ECORRUPT;
}

static struct sp_table *open_table(bool write)
{
	struct sp_table_opts o = { .run = options(), .write = write };
	struct sp_table *t = NULL;

	return sp_table_open(&t, path, &o, NULL) ? NULL : t;
}

static int scan(void)
{
	struct sp_table_query q = SP_TABLE_QUERY_INIT;
	struct sp_table *t = open_table(false);
	uint64_t bytes = 0;
	int rc = t ? sp_table_scan(t, &q, put, &bytes, NULL, NULL) : -1;

	(void)sp_table_close(t);
	return rc ? rc : bytes < (16 << 20);
}

/* Gives the numbers of the records in descending order. */
static int descend(void *arg, const char **key, size_t *bytes)
{
	static char digits[16];
	unsigned *left = arg;

	if (!*left)
		return 0;
	*bytes = (size_t)snprintf(digits, sizeof(digits), "%u", --*left);
	*key = digits;
	return 1;
}

static int get(void)
{
	unsigned left = 12000;
	struct sp_table_get g = SP_TABLE_GET_INIT;
	struct sp_table *t = open_table(false);
	uint64_t bytes = 0;
	int rc;

	g.keys = descend;
	g.keys_arg = &left;
	rc = t ? sp_table_get(t, &g, put, &bytes, NULL, NULL) : -1;

	(void)sp_table_close(t);
	return rc ? rc : bytes < (16 << 20);
}

static int scan_in_steps(void)
{
	struct sp_table_query q = SP_TABLE_QUERY_INIT;
	struct sp_table *t = open_table(false);
	uint64_t bytes = 0;
	int rc;

	q.where = "c1 > 17";
	q.access = SP_TABLE_SI_SCAN;
	rc = t ? sp_table_scan(t, &q, put, &bytes, NULL, NULL) : -1;
	(void)sp_table_close(t);
	return rc ? rc : bytes < (16 << 20);
}

static int check(void)
{
	struct sp_table *t = open_table(false);
	struct sp_table_check_result r;
	struct sp_table_info info;
	int rc = t ? sp_table_info(t, true, &info, NULL) : -1;

	if (!rc)
		rc = sp_table_check(t, damage, NULL, &r, NULL);
	(void)sp_table_close(t);
	return rc;
}

static int update(void)
{
	static const char *const set[] = { "c1=5" };
	const struct sp_table_choice choice = { .where = "c1 > 17" };
	struct sp_table *t = open_table(true);
	int rc = t ? sp_table_update(t, &choice, set, 1, NULL, NULL) : -1;

	(void)sp_table_close(t);
	return rc;
}

static int append(void)
{
	const char *const inputs[] = { input };
	struct sp_table *t = open_table(true);
	int rc = t ? sp_table_append(t, inputs, 1, NULL, NULL) : -1;

	(void)sp_table_close(t);
	return rc;
}

/* Runs a step in a process; its peak of resident memory must be within the limit. */
static void step(const char *table, const char *name, int (*fn)(void))
{
	struct rusage used;
	int status;
	pid_t child;
	uint64_t peak;

	fflush(stdout);
	child = fork();
	if (child == 0)
		_exit(fn() != 0);
	if (child < 0 || wait4(child, &status, 0, &used) != child)
		abort();
	peak = (uint64_t)used.ru_maxrss << 10;
	ok(status == 0 && peak <= MEMORY + ALLOWANCE, "%s, %s: %s takes %.1f MB", table,
	   sp_table_layout_name(layout), name, (double)peak / 1e6);
}

int main(void)
{
	static const enum sp_table_layout layouts[] = { SP_TABLE_NSM, SP_TABLE_CSM };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip("peak of resident memory", "the sanitizer has memory of its own");
	return done();
#endif
	for (unsigned wide = 0; wide < 2; wide++) {
		const char *table = wide ? "300 columns" : "long texts";

		write_input(wide);
		for (unsigned i = 0; i < 2; i++) {
			layout = layouts[i];
			step(table, "load", load);
			step(table, "scan", scan);
			step(table, "scan in two steps", scan_in_steps);
			step(table, "get", get);
			step(table, "check", check);
			step(table, "update", update);
			step(table, "append", append);
		}
	}
	unlink(path);
	unlink(input);
	return done();
}
