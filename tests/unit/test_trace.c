/* SPDX-License-Identifier: MIT */
#define TAP_THREADS

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "obs/trace.h"
#include "tap.h"

#define THREADS 3
#define LINES 3000

static char path[4096];

static void *write_lines(void *arg)
{
	struct sp__trace *t = arg;

	for (int i = 0; i < LINES; i++) {
		uint64_t now_ns = sp__now_ns();

		sp__trace_request(t, 'W', "a volume", 4096ull * (unsigned)i, 4096, 3, now_ns,
				  now_ns + 5, 4096);
	}
	return NULL;
}

static void check_threads(void)
{
	struct sp__trace *t;
	pthread_t threads[THREADS];
	char line[300];
	int good = 0, all = 0;
	FILE *f;

	if (sp__trace_open(&t, path, NULL))
		return;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, write_lines, t);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ok(sp__trace_close(t, NULL) == 0, "the trace closes");
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		unsigned long long offset, submit, end;
		char nl;

		all++;
		good += sscanf(line, "W a%%20volume %llu 4096 3 %llu %llu 4096%c", &offset, &submit,
			       &end, &nl) == 4 &&
			nl == '\n' && end >= submit;
	}
	if (f)
		fclose(f);
	ok(good == THREADS * LINES, "lines of several threads never mix");
	ok(all == good + 2, "two header lines precede them");
}

static void check_line(void)
{
	struct sp__trace *t;
	char text[600] = "", *line;
	const char *name;
	uint64_t now_ns;
	size_t n = 0;
	FILE *f;

	if (sp__trace_open(&t, path, NULL))
		return;
	now_ns = sp__now_ns();
	sp__trace_request(t, 'R', "50%\n\xc3\xa4", 123456789012345ull, 4294967295u, 16387, now_ns,
			  now_ns + 1000, -EIO);
	sp__trace_request(t, 'R', "", 0, 0, 0, now_ns, now_ns, 0);
	ok(sp__trace_close(t, NULL) == 0, "a short trace is written");
	f = fopen(path, "r");
	if (f) {
		n = fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
	}
	text[n] = '\0';
	ok(strncmp(text,
		   "# spindle-trace/1\n# op volume offset bytes prio submit_ns done_ns "
		   "result\n",
		   73) == 0,
	   "the heading names format and columns");
	line = strstr(text, "R ");
	name = "R 50%25%0A\xc3\xa4 123456789012345 4294967295 16387 ";
	ok(line && strncmp(line, name, strlen(name)) == 0 && strstr(line, " -5\n"),
	   "a name stays one word, a failure is a negative result");
	ok(strstr(text, "\nR - 0 0 0 "), "a volume without name is a dash");
}

static void check_errors(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__trace *t;

	ok(sp__trace_open(&t, "/nosuch/dir/file", &err) == -ENOENT && err.code == -ENOENT &&
		   strcmp(err.path, "/nosuch/dir/file") == 0,
	   "a trace that cannot be created is an error");
	if (access("/dev/full", W_OK)) {
		skip("a full disk is reported at the end", "there is no /dev/full");
	} else if (sp__trace_open(&t, "/dev/full", NULL) == 0) {
		write_lines(t);
		ok(sp__trace_close(t, NULL) == -ENOSPC, "a full disk is reported at the end");
	}
	ok(sp__trace_close(NULL, NULL) == 0, "no trace closes too");
}

/* Whatever was in the memory before. */
static void check_clock(void)
{
	uint64_t before_ns = sp__now_ns(), now_ns = 0;
	const size_t bytes = 100000;
	char *dirt = malloc(bytes);
	struct sp__trace *t;

	if (dirt)
		memset(dirt, 0xbe, bytes);
	__asm__ volatile("" : : "g"(dirt) : "memory"); /* it is written */
	free(dirt);
	if (sp__trace_open(&t, path, NULL) == 0) {
		now_ns = sp__trace_now_ns(t);
		(void)!sp__trace_close(t, NULL);
	}
	ok(now_ns >= before_ns && now_ns <= sp__now_ns(), "a trace uses the real clock by default");
}

int main(void)
{
	const char *dir = getenv("TMPDIR");
	int fd;

	snprintf(path, sizeof(path), "%s/traceXXXXXX", dir && *dir ? dir : "/tmp");
	fd = mkstemp(path);
	if (fd < 0)
		return 1;
	close(fd);
	check_clock();
	check_threads();
	check_line();
	check_errors();
	unlink(path);
	return done();
}
