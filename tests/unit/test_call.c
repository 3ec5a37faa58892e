/* SPDX-License-Identifier: MIT */
#define TAP_THREADS
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/call.h>
#include <spindle/columns.h>
#include <spindle/join.h>
#include <spindle/packed.h>
#include "tap.h"

#define WORDS_MAX 16

static struct sp_errinfo err;
static const char *left_text = "1 a\n2 b\n", *right_text = "x 2\ny 3\n";

/* The words of a text, between blanks; '' is an empty one. */
static size_t words_of(const char *text, char *copy, const char **words)
{
	size_t n = 0;
	char *p = strcpy(copy, text);

	for (char *word; (word = strsep(&p, " ")) && n < WORDS_MAX;)
		if (*word)
			words[n++] = strcmp(word, "''") != 0 ? word : "";
	return n;
}

static void join_is_refused(const char *text, const char *reason)
{
	const char *words[WORDS_MAX];
	struct sp_call_join *call;
	char copy[128];
	size_t n = words_of(text, copy, words);
	int rc;

	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	rc = sp_call_join(&call, words, n, &err);
	ok(rc == -EINVAL && !call && !strcmp(err.text, reason), "%s: %s", text, reason);
	if (strcmp(err.text, reason) != 0)
		diag("said: %s", err.text);
}

/* Options that only a join has. */
static void a_third_file_is_refused(void)
{
	struct sp_join_column column = { .file = 3 };
	struct sp_join_io io = { .inputs = { "/dev/null", "/dev/null" }, .output = "/dev/null" };
	struct sp_key field = SP_KEY_INIT;
	struct sp_join_opts o = SP_JOIN_OPTS_INIT;
	struct sp_join_stats stats;
	size_t key = 0;
	int rc;

	field.type = SP_KEY_BYTES;
	field.length = 8;
	o.algorithm = SP_JOIN_HYBRID;
	o.fixed_bytes[0] = o.fixed_bytes[1] = 8;
	o.fields = &field;
	o.keys[0] = o.keys[1] = &key;
	o.nkeys = 1;
	o.columns = &column;
	o.ncolumns = 1;
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	rc = sp_join_run(&o, &io, &stats, &err);
	ok(rc == -EINVAL && !strcmp(err.text, "binary records need exactly two files"),
	   "a column of a third file of binary records is refused: %s", err.text);
}

static char *file(char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	fputs(text, f);
	fclose(f);
	return path;
}

static void files_are_joined(const char *options, const char *want)
{
	static char left[] = "/tmp/sp-call-left-XXXXXX", right[] = "/tmp/sp-call-right-XXXXXX";
	const char *words[WORDS_MAX];
	char copy[128], got[256] = "", out[64], *report = NULL;
	struct sp_call_join *call;
	size_t n = words_of(options, copy, words);
	int rc;
	FILE *f;

	if (strstr(left, "XXXXXX"))
		close(mkstemp(left)), close(mkstemp(right));
	snprintf(out, sizeof(out), "%s.out", left);
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	rc = sp_call_join(&call, words, n, &err);
	if (!rc)
		rc = sp_call_join_files(call, file(left, left_text), file(right, right_text), NULL,
					out, &report, &err);
	f = fopen(out, "r");
	if (f && fread(got, 1, sizeof(got) - 1, f))
		fclose(f);
	ok(!rc && !strcmp(got, want) && report && strstr(report, "spindle.join/1"), "%s", options);
	if (rc || strcmp(got, want) != 0)
		diag("%d %s: %s", rc, err.text, got);
	sp_call_report_free(report);
	sp_call_join_free(call);
	unlink(out);
	unlink(left);
	unlink(right);
}

static void file_is_grouped(const char *options, const char *want, const char *reason)
{
	char in[] = "/tmp/sp-call-XXXXXX", out[64], copy[128], got[256] = "", *report = NULL;
	const char *words[WORDS_MAX], *input = in;
	struct sp_call_group *call;
	size_t n = words_of(options, copy, words);
	int rc;
	FILE *f;

	close(mkstemp(in));
	snprintf(out, sizeof(out), "%s.out", in);
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	rc = sp_call_group(&call, words, n, &err);
	if (!rc)
		rc = sp_call_group_files(call, (file(in, "id,n\n7,x\n3,y\n7,z\n1,w\n"), &input), 1,
					 out, &report, &err);
	f = fopen(out, "r");
	if (f && fread(got, 1, sizeof(got) - 1, f))
		fclose(f);
	ok(want ? !rc && !strcmp(got, want) && strstr(report, "spindle.group/1")
		: rc < 0 && !strcmp(err.text, reason),
	   "%s: %s", options, want ? "grouped" : reason);
	if (rc && (want || strcmp(err.text, reason) != 0))
		diag("%d %s", rc, err.text);
	sp_call_report_free(report);
	sp_call_group_free(call);
	unlink(out);
	unlink(in);
}

/* want NULL: the error of the call, or of its run, is `reason`. */
static void file_is_sorted(const char *options, bool merge, const char *want, const char *reason)
{
	char in[] = "/tmp/sp-call-XXXXXX", out[64], copy[128], got[256] = "";
	const char *words[WORDS_MAX], *input = in;
	struct sp_call *call;
	size_t n = words_of(options, copy, words);
	int rc;
	FILE *f;

	close(mkstemp(in));
	snprintf(out, sizeof(out), "%s.out", in);
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	rc = sp_call_sort(&call, words, n, &err);
	if (!rc)
		rc = sp_call_sort_files(call, (file(in, "id,n\n7,x\n3,y\n7,z\n1,w\n"), &input), 1,
					merge, out, NULL, &err);
	f = fopen(out, "r");
	if (f && fread(got, 1, sizeof(got) - 1, f))
		fclose(f);
	ok(want ? !rc && !strcmp(got, want) : rc < 0 && !strcmp(err.text, reason), "%s: %s",
	   options, want ? "sorted" : reason);
	if (rc && (want || strcmp(err.text, reason) != 0))
		diag("%d %s", rc, err.text);
	sp_call_free(call);
	unlink(out);
	unlink(in);
}

/* The functions that do not keep the order of the input do not get the options. */
static void order_is_kept_in_files_only(void)
{
	static const char *const keep[] = { "-u", "--keep-order" };
	const char *input = "/dev/null";
	struct sp_splitters *cuts = NULL;
	struct sp_call *call;

	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	ok(!sp_call_sort(&call, keep, 2, &err) && !sp_call_sort_opts(call),
	   "a call that keeps the order has no options for buffers");
	ok(sp_call_sample(&cuts, call, &input, 1, 2, &err) == SP_EUNSUP &&
		   !strcmp(err.text, "the order of the input cannot be kept with parts"),
	   "and no splitters: %s", err.text);
	sp_call_free(call);
}

/* The bytes of a result of 4 MB of text, compressed with a level. */
static long compressed(const char *level)
{
	char in[] = "/tmp/sp-call-XXXXXX", out[64], option[64];
	const char *words[] = { option }, *input = in;
	struct sp_call *call = NULL;
	struct stat st = { 0 };
	FILE *f = fdopen(mkstemp(in), "w");
	int rc;

	for (unsigned i = 0; f && i < 100000; i++)
		fprintf(f, "group %u of these lines, and member %u of it\n", i * 2654435761u % 5003,
			i * 40503u % 977);
	fclose(f);
	snprintf(out, sizeof(out), "%s.out", in);
	snprintf(option, sizeof(option), "--compress-output=%s", level);
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	rc = sp_call_sort(&call, words, 1, &err);
	if (!rc)
		rc = sp_call_sort_files(call, &input, 1, false, out, NULL, &err);
	if (rc || stat(out, &st))
		diag("%s: %s", level, err.text);
	sp_call_free(call);
	unlink(in);
	unlink(out);
	return rc ? 0 : (long)st.st_size;
}

static void levels_are_taken(void)
{
	long fast, small;

	if (sp_packed_missing(SP_PACKED_ZSTD)) {
		diag("not part of this build: zstd");
		return;
	}
	fast = compressed("zstd:1");
	small = compressed("zstd:9");
	ok(small && small < fast, "zstd:9 makes %ld bytes, and zstd:1 %ld", small, fast);
	ok(compressed("zstd:99") == 0 && strstr(err.text, "zstd:99"), "zstd:99: %s", err.text);
}

/* The arguments of a call after its columns are replaced by numbers. */
static void names_have_numbers(const char *options, const char *want)
{
	char left[] = "/tmp/sp-call-left-XXXXXX", right[] = "/tmp/sp-call-right-XXXXXX";
	const char *words[WORDS_MAX];
	char copy[128], got[256] = "";
	struct sp_call_join *call, *made = NULL;
	size_t n = words_of(options, copy, words);
	int rc;

	close(mkstemp(left)), close(mkstemp(right));
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	rc = sp_call_join(&call, words, n, &err);
	if (!rc)
		rc = sp_call_join_numbered(&made, call, file(left, "id,n\n1,2\n"),
					   file(right, "\"of,me\",id\n1,2\n"), &err);
	for (const char *const *w = made ? sp_call_join_args(made) : NULL; w && *w; w++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s ", **w ? *w : "''");
	if (rc)
		snprintf(got, sizeof(got), "%s", err.text);
	ok(!strcmp(got, want) && (rc || !sp_call_join_named(made)), "%s: %s", options, want);
	if (strcmp(got, want) != 0)
		diag("said: %s", got);
	sp_call_join_free(made);
	sp_call_join_free(call);
	unlink(left);
	unlink(right);
}

static void keys_have_numbers(const char *options, const char *want)
{
	char path[] = "/tmp/sp-call-XXXXXX", copy[128], got[256] = "";
	const char *words[WORDS_MAX];
	struct sp_call_info info;
	struct sp_call *call, *made = NULL;
	size_t n = words_of(options, copy, words);
	bool waits = false;
	int rc;

	close(mkstemp(path));
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	rc = sp_call_sort(&call, words, n, &err);
	if (!rc) {
		waits = !sp_call_sort_opts(call);
		rc = sp_call_numbered(&made, call, file(path, "id|n\n1|2\n"), &err);
	}
	for (const char *const *w = made ? sp_call_args(made) : NULL; w && *w; w++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s ", *w);
	if (made)
		sp_call_info(made, &info);
	if (rc)
		snprintf(got, sizeof(got), "%s", err.text);
	ok(!strcmp(got, want) && (rc || (waits && !info.named && sp_call_sort_opts(made))),
	   "%s: %s", options, want);
	if (strcmp(got, want) != 0)
		diag("said: %s", got);
	sp_call_free(made);
	sp_call_free(call);
	unlink(path);
}

/* A pipe that nothing writes to: opening it would wait. */
static void pipes_are_refused(void)
{
	static const char *const key[] = { "--header", "-k", "id" };
	static const char *const keys[] = { "--header", "-1", "id", "-2", "id" };
	static const char reason[] = "columns have names in regular files only";
	char folder[] = "/tmp/sp-call-XXXXXX", path[64];
	struct sp_call *call, *numbered;
	struct sp_call_join *join, *made;
	int rc;

	snprintf(path, sizeof(path), "%s/pipe", mkdtemp(folder));
	rc = mkfifo(path, 0600);
	rc |= sp_call_sort(&call, key, 3, NULL) | sp_call_join(&join, keys, 5, NULL);
	ok(!rc, "there are calls with names, and a pipe");
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	rc = sp_call_numbered(&numbered, call, path, &err);
	ok(rc == SP_EUNSUP && !strcmp(err.text, reason) && !strcmp(err.path, path),
	   "a sort has names in regular files only");
	for (int i = 0; i < 3; i++) {
		const char *input = i == 0 ? path : i == 1 ? "/dev/null" : "-";

		err = (struct sp_errinfo)SP_ERRINFO_INIT;
		rc = sp_call_join_numbered(&made, join, input, input, &err);
		ok(rc == SP_EUNSUP && !strcmp(err.text, reason) && !strcmp(err.path, input),
		   "a join has names in regular files only: %s", input);
	}
	sp_call_free(call);
	sp_call_join_free(join);
	unlink(path);
	rmdir(folder);
}

/* The descriptor of a pipe is closed, unless what was read of it is taken. */
static void pipes_are_closed(bool take)
{
	int ends[2], next;
	char path[32];
	struct sp_columns c = { .separator = -1, .eol = '\n', .header_records = 1 };

	ok(!pipe(ends) && write(ends[1], "a b\n", 4) == 4, "there is a pipe with a header");
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
	c.input = path;
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	ok(!sp_columns_read(&c, &err) && c.n == 2 && c.taken_bytes == 4 && c.taken_fd > ends[1],
	   "its header is read");
	if (take) {
		free(c.taken);
		c.taken = NULL;
	}
	sp_columns_close(&c);
	next = fcntl(c.taken_fd, F_GETFD);
	ok((next >= 0) == take, "it is %s", take ? "the program's" : "closed");
	if (take)
		close(c.taken_fd);
	close(ends[0]), close(ends[1]);
}

int main(void)
{
	pipes_are_refused();
	pipes_are_closed(false);
	pipes_are_closed(true);
	names_have_numbers("--csv --header -1 id -2 id:n -a1 -o 0,2.\"of,me\",1.2",
			   "--csv --header -a1 -11 -22n -o0,2.1,1.2 ");
	names_have_numbers("--header -e '' -a 1 -t '' -1 1 -2 2 -o 1.\"id,n\"",
			   "--header -e '' -a1 -t '' -11 -22 -o1.1 ");
	names_have_numbers("--record-size=8 -o 1.0:4", "--record-size=8 -o 1.0:4 ");
	keys_have_numbers("-t| --header -k n:nr -k 1,1 -u",
			  "--field-separator=| --header --key=2,2nr --key=1,1 --unique ");
	keys_have_numbers("-t| --header -k m", "the header has no column 'm'; the nearest is 'n'");
	keys_have_numbers("-t| --header -k n:2",
			  "stray character in field spec: invalid field specification 'n:2'");
	names_have_numbers("--csv --header -1 id -2 id:2", "invalid field number: 'id:2'");
	names_have_numbers("--csv --header -1 id: -2 id", "--csv --header -11 -22 ");
	keys_have_numbers("-t| --header -k n -k 3", "the header has 2 columns, not 3");
	keys_have_numbers("-t| -k n", "to name columns, add --header: 'n'");
	join_is_refused("--header -1 id -2 id -o 0,1.v,2.0:4", "invalid field number: '0:4'");
	join_is_refused("--header -1 id -o 3.v", "there is no file 3: 3.v");
	join_is_refused("-1 id", "invalid field number: 'id'");
	files_are_joined("-1 1 -2 2", "2 b x\n");
	files_are_joined("-1 1n -2 2 -a 1 -e - -o 0,1.2,2.1", "1 a -\n2 b x\n");
	files_are_joined("-2 2 --type=anti", "1 a\n");
	files_are_joined("--record-size=4 --bkey=0:1,2:1 -o 1.2:1,2.0:2", "bx ");
	left_text = right_text = "id n m\n1 a b\n";
	files_are_joined("--header --suffixes=,_b", "id n m n_b m_b\n1 a b a b\n");
	files_are_joined("--header --suffixes", "id n_1 m_1 n_2 m_2\n1 a b a b\n");
	file_is_sorted("--csv --header -k id:n", false, "id,n\n1,w\n3,y\n7,x\n7,z\n", NULL);
	file_is_sorted("--csv --header -k id -u --keep-order", false, "id,n\n7,x\n3,y\n1,w\n",
		       NULL);
	file_is_sorted("--csv --header -k 1,1 -u --keep-order", true, NULL,
		       "the order of the input cannot be kept for a merge");
	file_is_sorted("--keep-order", false, NULL, "--keep-order needs --unique");
	file_is_sorted("-u --count --keep-order", false, NULL,
		       "options '--count' and '--keep-order' are incompatible");
	file_is_sorted("--csv --header -k id:n --where=id>1", false, "id,n\n3,y\n7,x\n7,z\n", NULL);
	file_is_sorted("--csv --header --where=n='y'orid=1", false, NULL,
		       "'and', 'or' or the end of --where is expected instead of 'orid=1'");
	file_is_sorted("--record-size=2 --where=id>1", false, NULL,
		       "options '--where' and '--record-size' are incompatible");
	file_is_sorted("-u --parts=2", false, NULL, "not an option that applies here: '--parts=2'");
	file_is_grouped("--csv --header -k id:n -a last(n)", "id,last(n)\n1,w\n3,y\n7,z\n", NULL);
	file_is_grouped("-t, -k 1 --largest=1 -k 2r --limit=3", "1,w\n3,y\n7,z\n", NULL);
	file_is_grouped("--csv -k 1 --format=jso --limit=1", "{\"1\":\"1\",\"count()\":1}\n", NULL);
	file_is_grouped("--csv --header -k i", NULL,
			"no column has the name 'i'; the nearest one is 'id'");
	file_is_grouped("--csv --header -k 3", NULL, "the header has only 2 columns '3'");
	file_is_grouped("-a max(1) -a min(1)", NULL,
			"the option is given twice, with another argument: 'min(1)'");
	file_is_grouped("--seed=1", NULL, "not an option that applies here: '--seed=1'");
	file_is_grouped("-t, -u", NULL, "not an option that applies here: '-u'");
	order_is_kept_in_files_only();
	levels_are_taken();
	names_have_numbers("--csv --header -1 id -2 id --suffixes=,_b",
			   "--csv --header --suffixes=,_b -11 -22 ");
	join_is_refused("--suffixes", "--suffixes needs --header");
	join_is_refused("--header --suffixes=a",
			"--suffixes needs two texts separated by a comma, not 'a'");
	join_is_refused("-1 0", "invalid field number: '0'");
	join_is_refused("-1 1x", "invalid field number: '1x'");
	join_is_refused("-j 1,2 -1 1", "incompatible join fields 1,2, 1");
	join_is_refused("-1 1n -2 1g", "fields of the keys have different types: 1n, 1g");
	join_is_refused("-1 1,2", "keys have different numbers of fields: 2, 1");
	join_is_refused("-o 1.1,9.1", "invalid file number in field spec: '9.1'");
	join_is_refused("--header -o 0,1.1,5.1", "invalid file number in field spec: '5.1'");
	join_is_refused("--record-size=8 -o 1.0:4,3.4:2",
			"invalid file number in field spec: '3.4:2'");
	a_third_file_is_refused();
	join_is_refused("-o 1.0", "invalid field number: '0'");
	join_is_refused("--csv -z", "options '--csv' and '-z' are incompatible");
	join_is_refused("--record-size=4,8", "records of different sizes need --bkey");
	join_is_refused("--record-size=4 -e x",
			"binary records are filled with a byte from 0 to 255 'x'");
	join_is_refused("--type=semi -a1", "options '--type=semi' and '-a' are incompatible");
	join_is_refused("-S", "option requires an argument: '-S'");
	return done();
}
