/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/call.h>
#include "tap.h"

#define WORDS_MAX 16

static struct sp_errinfo err;

/* The words of a text, between blanks. */
static size_t words_of(const char *text, char *copy, const char **words)
{
	size_t n = 0;
	char *p = strcpy(copy, text);

	for (char *word; (word = strsep(&p, " ")) && n < WORDS_MAX;)
		if (*word)
			words[n++] = word;
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
		rc = sp_call_join_files(call, file(left, "1 a\n2 b\n"), file(right, "x 2\ny 3\n"),
					NULL, out, &report, &err);
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

int main(void)
{
	files_are_joined("-1 1 -2 2", "2 b x\n");
	files_are_joined("-1 1n -2 2 -a 1 -e - -o 0,1.2,2.1", "1 a -\n2 b x\n");
	files_are_joined("-2 2 --type=anti", "1 a\n");
	files_are_joined("--record-size=4 --bkey=0:1,2:1 -o 1.2:1,2.0:2", "bx ");
	join_is_refused("-1 0", "invalid field number: '0'");
	join_is_refused("-1 1x", "invalid field number: '1x'");
	join_is_refused("-j 1,2 -1 1", "the key of a file is given twice: '1'");
	join_is_refused("-1 1n -2 1g", "fields of the keys have different types");
	join_is_refused("-1 1,2", "keys have different numbers of fields");
	join_is_refused("-o 1.1,3.1", "invalid field specifier: '3.1'");
	join_is_refused("-o 1.0", "invalid field number: '1.0'");
	join_is_refused("--csv -z", "invalid separator, or -z, for --csv");
	join_is_refused("--record-size=4,8", "records of different sizes need --bkey");
	join_is_refused("--record-size=4 -e x",
			"binary records are filled with a byte from 0 to 255, not 'x'");
	join_is_refused("--type=semi -a1", "options '--type=semi' and '-a' are incompatible");
	join_is_refused("-S", "option requires an argument: '-S'");
	return done();
}
