/* SPDX-License-Identifier: MIT */
/*
 * Changes of tables and crashes: whenever a program that updates, deletes or appends is killed, or
 * the power fails, a scan gives the records before the change or those after it, and a check finds
 * no damage but a superblock that was being written.
 */
#define TAP_THREADS
#include <stdio.h>
#include <spindle/table.h>
#include "crashstates.h"
#include "tap.h"

#define OUT_BYTES (1 << 20)

static const char path[] = "table-crash.tmp", input[] = "input-crash.tmp";

struct out {
	size_t bytes;
	char data[OUT_BYTES];
};

static struct out before, after, now;

static int put(void *arg, const char *data, size_t bytes)
{
	struct out *o = arg;

	if (bytes > OUT_BYTES - o->bytes)
		return -ENOSPC;
	memcpy(o->data + o->bytes, data, bytes);
	o->bytes += bytes;
	return 0;
}

static void write_input(unsigned from, unsigned n)
{
	FILE *f = fopen(input, "w");

	if (!f)
		abort();
	for (unsigned i = from; i < from + n; i++)
		fprintf(f, "%u|%u.%02u|text %u %.*s\n", i, i / 3, i % 100, i, (int)(i * 7 % 60),
			"of several lengths, so that a longer one does not fit there any more");
	if (fclose(f))
		abort();
}

static struct sp_run_opts options(void)
{
	struct sp_run_opts run = SP_RUN_OPTS_INIT;

	run.memory_bytes = 4 << 20;
	run.parallel = 1;
	run.engine = "sync";
	run.direct = 0;
	run.seed = 11;
	return run;
}

static void load(enum sp_table_layout layout, uint32_t page_records)
{
	struct sp_table_load_opts o = SP_TABLE_LOAD_OPTS_INIT;
	const char *const inputs[] = { input };
	struct sp_errinfo err = SP_ERRINFO_INIT;

	o.run = options();
	o.layout = layout;
	o.cell_bytes = 512;
	o.page_records = page_records;
	o.separator = '|';
	write_input(0, 300);
	if (sp_table_load(path, inputs, 1, &o, NULL, &err)) {
		diag("%s", err.text);
		abort();
	}
}

/* Changes the table; returns 0 or an error. */
typedef int change_fn(struct sp_table *t, struct sp_errinfo *err);

static int update(struct sp_table *t, struct sp_errinfo *err)
{
	static const char *const set[] = {
		"c3='a text that is longer than most of the others were'", "c2=null"
	};
	const struct sp_table_choice choice = { .where = "c1 >= 40 and c1 < 75" };

	return sp_table_update(t, &choice, set, 2, NULL, err);
}

static int erase(struct sp_table *t, struct sp_errinfo *err)
{
	const struct sp_table_choice choice = { .where = "c1 < 20 or c1 > 280" };

	return sp_table_delete(t, &choice, NULL, err);
}

static int append(struct sp_table *t, struct sp_errinfo *err)
{
	const char *const inputs[] = { input };

	return sp_table_append(t, inputs, 1, NULL, err);
}

static int change(change_fn *fn)
{
	struct sp_table_opts o = { .run = options(), .write = true };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table *t;
	int rc = sp_table_open(&t, path, &o, &err);

	if (!rc) {
		rc = fn(t, &err);
		(void)sp_table_close(t);
	}
	if (rc)
		diag("%s", err.text);
	return rc;
}

static int count(void *arg, const struct sp_table_damage *d)
{
	*(unsigned *)arg += !strstr(d->text, "superblock");
	return 0;
}

/* Scans the table into o, and checks it.  Returns 0 or an error. */
static int scan(struct out *o)
{
	struct sp_table_opts opts = { .run = options() };
	struct sp_table_query q = SP_TABLE_QUERY_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_check_result r;
	struct sp_table *t;
	unsigned damaged = 0;
	int rc = sp_table_open(&t, path, &opts, &err);

	o->bytes = 0;
	if (!rc) {
		rc = sp_table_scan(t, &q, put, o, NULL, &err);
		if (!rc)
			rc = sp_table_check(t, count, &damaged, &r, &err);
		(void)sp_table_close(t);
	}
	if (rc || damaged)
		diag("%s (%u)", err.text, damaged);
	return rc ? rc : damaged ? SP_ECORRUPT : 0;
}

static bool same(const struct out *a, const struct out *b)
{
	return a->bytes == b->bytes && !memcmp(a->data, b->data, a->bytes);
}

static void check(const char *name, change_fn *fn, enum sp_table_layout layout,
		  uint32_t page_records)
{
	struct sp__rng rng = { 346 };
	struct crash c;
	unsigned right = 0, tried = 0, news = 0, step;
	bool ready;

	load(layout, page_records);
	ready = !scan(&before);
	if (fn == append)
		write_input(300, 45);
	crash_begin(&c, path);
	ready = ready && !change(fn);
	recording = false;
	ready = ready && !scan(&after) && !same(&before, &after);
	step = nevents / 100 + 1;
	for (unsigned point = 0; point <= nevents; point += step)
		for (unsigned i = 0; i < 4; i++, tried++) {
			crash_make(&c, path, point, i ? &rng : NULL);
			if (scan(&now))
				continue;
			news += same(&now, &after);
			right += same(&now, &before) || same(&now, &after);
		}
	ok(ready && right == tried && news && news < tried,
	   "%s, %s: %u states after a crash are as before or as after (%u, %u)", name,
	   sp_table_layout_name(layout), tried, right, news);
	crash_end(&c);
}

int main(void)
{
	static const enum sp_table_layout layouts[] = { SP_TABLE_NSM, SP_TABLE_DSM, SP_TABLE_CSM };

	for (unsigned i = 0; i < 3; i++) {
		uint32_t page_records = i ? 40 : 0;

		check("update", update, layouts[i], page_records);
		check("delete", erase, layouts[i], page_records);
		check("append", append, layouts[i], page_records);
	}
	unlink(path);
	unlink(input);
	return done();
}
