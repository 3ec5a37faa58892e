/* SPDX-License-Identifier: MIT */
/*
 * Appends of text: what a table gives back is the text that it was loaded from and then got, in
 * all layouts; wrong text leaves it as it was.  Updates by a file of keys and values.
 */
#define TAP_THREADS
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <spindle/table.h>
#include "base/rng.h"
#include "tap.h"

#define TEXT_MAX (1 << 20)

static const char path[] = "append.tmp", input[] = "append.txt", more[] = "append2.txt";
static char text[TEXT_MAX], all[2 * TEXT_MAX], output[2 * TEXT_MAX];
static size_t output_bytes;

static struct sp_run_opts run_opts(void)
{
	struct sp_run_opts run = SP_RUN_OPTS_INIT;

	run.memory_bytes = 4 << 20;
	run.parallel = 2;
	return run;
}

static void put_file(const char *name, const char *data)
{
	FILE *f = fopen(name, "w");

	if (!f || fwrite(data, 1, strlen(data), f) != strlen(data) || fclose(f))
		abort();
}

static int load(const char *data, const struct sp_table_load_opts *o, struct sp_errinfo *err)
{
	const char *const inputs[] = { input };

	unlink(path);
	put_file(input, data);
	return sp_table_load(path, inputs, 1, o, NULL, err);
}

/* Appends a text, in two files if there is a second one. */
static int append(const char *first, const char *second, struct sp_table_stats *stats,
		  struct sp_errinfo *err)
{
	const struct sp_table_opts o = { .run = run_opts(), .write = true };
	const char *const inputs[] = { input, more };
	struct sp_table *t = NULL;
	int rc = sp_table_open(&t, path, &o, err);

	put_file(input, first);
	if (second)
		put_file(more, second);
	if (!rc)
		rc = sp_table_append(t, inputs, second ? 2 : 1, stats, err);
	(void)sp_table_close(t);
	return rc;
}

static int keep(void *arg, const char *data, size_t bytes)
{
	(void)arg;
	memcpy(output + output_bytes, data, bytes);
	output_bytes += bytes;
	return 0;
}

/* True if a scan gives this text. */
static bool gives(const char *want)
{
	const struct sp_table_opts o = { .run = run_opts() };
	const struct sp_table_query q = SP_TABLE_QUERY_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table *t = NULL;

	output_bytes = 0;
	if (sp_table_open(&t, path, &o, &err) || sp_table_scan(t, &q, keep, NULL, NULL, &err))
		diag("%s", err.text);
	(void)sp_table_close(t);
	output[output_bytes] = '\0';
	if (!strcmp(output, want))
		return true;
	for (size_t i = 0; i <= output_bytes; i++)
		if (output[i] != want[i]) {
			diag("differs from byte %zu on: '%.60s', not '%.60s'", i, output + i,
			     want + i);
			break;
		}
	return false;
}

/* Writes n records to text, after a header if there is one. */
static void make_text(struct sp__rng *rng, unsigned from, unsigned n, const char *header)
{
	static const char *const words[] = { "red", "green", "blue", "black", "white" };
	char *to = text + sprintf(text, "%s", header);

	for (unsigned i = from; i < from + n; i++) {
		unsigned bytes = (unsigned)sp__rng_below(rng, 60);

		to += sprintf(to, "%u,%s,%d.%02d,2024-%02d-%02d,", i, words[i / 50 % 5],
			      (int)sp__rng_below(rng, 1000) - 500, (int)sp__rng_below(rng, 100),
			      1 + (int)sp__rng_below(rng, 12), 1 + (int)sp__rng_below(rng, 28));
		memset(to, 'a' + (int)(i % 26), bytes);
		to += bytes;
		*to++ = '\n';
	}
	*to = '\0';
}

/* Loads and appends records until there are some thousands. */
static bool grows(enum sp_table_layout layout, unsigned step, const char *header)
{
	struct sp_table_load_opts o = { .run = run_opts(), .layout = layout, .separator = ',' };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_stats st;
	struct sp__rng rng = { layout + step };
	unsigned n = 300;

	o.header = *header;
	o.types = *header ? "n:i32,w:dict8,d:dec(2),t:date,x:text"
			  : "c1:i32,c2:dict8,c3:dec(2),c4:date,c5:text";
	make_text(&rng, 0, n, header);
	strcpy(all, text);
	if (load(text, &o, &err)) {
		diag("load: %s", err.text);
		return false;
	}
	for (unsigned i = 0; i < 12; i++) {
		unsigned records = 1 + (unsigned)sp__rng_below(&rng, step);

		make_text(&rng, n, records, header);
		n += records;
		strcat(all, text + strlen(header));
		if (append(text, NULL, &st, &err) || st.records_written != records || !st.exact) {
			diag("append: %s", err.text);
			return false;
		}
	}
	return gives(all);
}

static void check_layouts(void)
{
	unsigned right = 0;

	for (enum sp_table_layout l = SP_TABLE_NSM; l <= SP_TABLE_CSM; l++) {
		right += grows(l, 4, "");
		right += grows(l, 700, "");
		right += grows(l, 100, "n,w,d,t,x\n");
	}
	ok(right == 12, "tables give the texts back that they were loaded from and got");
}

static bool refused(const char *first, const char *second, int code, const char *words)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc = append(first, second, NULL, &err);

	if (rc == code && strstr(err.text, words))
		return true;
	diag("%d: %s", rc, err.text);
	return false;
}

static void check_refusals(void)
{
	struct sp_table_load_opts o = { .run = run_opts(),
					.layout = SP_TABLE_CSM,
					.format = SP_TABLE_CSV,
					.header = true,
					.types = "a:i8 not null,b:dict8,c:text" };
	const char *const self[] = { path };
	const struct sp_table_opts write = { .run = run_opts(), .write = true };
	const char *before = "a,b,c\n1,x,one\n2,y,two\n";
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table *t = NULL;

	ok(!load(before, &o, &err) && gives(before), "a table of two records (%s)", err.text);
	ok(refused("a,b,c\n3,z,three\n300,x,four\n", NULL, SP_EFORMAT, "line 3: column 'a'") &&
		   refused("a,b,c\n3,z\n", NULL, SP_EFORMAT, "too few") &&
		   refused("a,b,c\n,z,three\n", NULL, SP_EFORMAT, "not null") &&
		   refused("a,b\n3,z,three\n", NULL, SP_EFORMAT,
			   "header is not that of the table, 'a,b,c'") &&
		   refused("a,b,c\n3,z,three\n", "a,c,b\n4,z,four\n", SP_EFORMAT, "header"),
	   "wrong records and headers are refused");
	ok(!sp_table_open(&t, path, &write, &err) &&
		   sp_table_append(t, self, 1, NULL, &err) == SP_EUNSUP &&
		   strstr(err.text, "table itself"),
	   "so is the table itself");
	(void)sp_table_close(t);
	ok(gives(before), "the table is as before");
	ok(!append("a,b,c\n", NULL, NULL, &err) && !append("", NULL, NULL, &err) && gives(before),
	   "nothing can be appended");
	ok(!append("a,b,c\n3,z,\"th,ree\"\n", "a,b,c\n4,,four", NULL, &err) &&
		   gives("a,b,c\n1,x,one\n2,y,two\n3,z,\"th,ree\"\n4,,four"),
	   "two files, the last one without a final newline (%s)", err.text);
}

static int update_from(const char *by, const char *data, struct sp_table_stats *stats,
		       struct sp_errinfo *err)
{
	const struct sp_table_opts o = { .run = run_opts(), .write = true };
	struct sp_table *t = NULL;
	int rc = sp_table_open(&t, path, &o, err);

	put_file(input, data);
	output_bytes = 0;
	if (!rc)
		rc = sp_table_update_from(t, by, NULL, input, keep, NULL, stats, err);
	output[output_bytes] = '\0';
	(void)sp_table_close(t);
	return rc;
}

static bool not_taken(const char *by, const char *data, int code, const char *words)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc = update_from(by, data, NULL, &err);

	if (rc == code && strstr(err.text, words))
		return true;
	diag("%d: %s", rc, err.text);
	return false;
}

static void check_update_from(void)
{
	struct sp_table_load_opts o = { .run = run_opts(),
					.layout = SP_TABLE_CSM,
					.format = SP_TABLE_CSV,
					.header = true,
					.types = "a:i16,b:dict8,c:text,d:f64" };
	const char *before = "a,b,c,d\n1,x,one,0.5\n2,y,two,-0\n3,x,\"th,ree\",7\n2,y,two,8\n";
	const char *after =
		"a,b,c,d\n1,x,one,0.5\n2,new,\"t,\"\"wo\",-0\n3,,,7\n2,new,\"t,\"\"wo\",8\n";
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_stats st;

	ok(!load(before, &o, &err) &&
		   not_taken("a", "a,b\n1,x\n1,y\n", SP_EFORMAT,
			     "line 3: the key '1' is there twice") &&
		   not_taken("a", "a,b\n1,x\n01,y\n", SP_EFORMAT, "line 3: the key '01'") &&
		   not_taken("d", "b,d\nx,0\ny,-0.0\n", SP_EFORMAT, "line 3: the key") &&
		   not_taken("a", "a,b\n1\n", SP_EFORMAT, "line 2: too few") &&
		   not_taken("a", "a,b\n,x\n", SP_EFORMAT, "the key is NULL") &&
		   not_taken("a", "a,d\n7,x\n", SP_EFORMAT, "line 2: column d has type f64") &&
		   not_taken("a", "b,c\n7,x\n", SP_EFORMAT, "does not have the column") &&
		   not_taken("a", "a,a\n7,x\n", SP_EFORMAT, "line 2") &&
		   not_taken("a", "a\n7\n", SP_EFORMAT, "only the column of") &&
		   not_taken("a", "a,e\n7,x\n", SP_ESYNTAX, "no column 'e'") &&
		   not_taken("a", "", SP_EFORMAT, "header") && gives(before),
	   "files with an error change nothing");
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	ok(!update_from("a", "c,a,b\n\"t,\"\"wo\",2,new\nnone,99999,x\n,3,\nno,7,x\n", &st, &err) &&
		   !strcmp(output, "999997") && st.keys == 4 && st.keys_found == 2 &&
		   st.records_written == 3 && gives(after),
	   "each record gets the values of its key (%s)", err.text);
	ok(!update_from("d", "d,a\n0,\n8,9\n", NULL, &err) && gives("a,b,c,d\n1,x,one,0.5\n"
								    ",new,\"t,\"\"wo\",-0\n"
								    "3,,,7\n"
								    "9,new,\"t,\"\"wo\",8\n"),
	   "0 is the key of both zeros (%s)", err.text);
}

int main(void)
{
	check_layouts();
	check_refusals();
	check_update_from();
	unlink(path);
	unlink(input);
	unlink(more);
	return done();
}
