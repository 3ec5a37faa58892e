/* SPDX-License-Identifier: MIT */
/* Memory of a merge by ranges: only one of the threads keeps a large group. */
#define TAP_THREADS

#include <fcntl.h>
#include <spindle/join.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "tap.h"

#define KEYS 6
#define LINES 40000
#define LINE_BYTES 64
/* What a range may keep, with the batch that it has just read. */
#define KEPT_BYTES (512u << 10)

static char left[] = "/tmp/rangesXXXXXX", right[] = "/tmp/rangesXXXXXX";

/* Several lines with each key. */
static void make_file(char *path, unsigned lines)
{
	FILE *f = fdopen(mkstemp(path), "w");

	for (int i = 0; f && i < KEYS; i++)
		for (unsigned k = 0; k < lines; k++)
			fprintf(f, "%d %0*u\n", i, LINE_BYTES - 3, k);
	if (!f || fclose(f))
		abort();
}

static struct sp_join_stats merge(unsigned threads)
{
	struct sp_join_opts o = SP_JOIN_OPTS_INIT;
	struct sp_join_io io = { .inputs = { left, right },
				 .output_fd = open("/dev/null", O_WRONLY) };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_join_stats st;
	int rc;

	o.algorithm = SP_JOIN_MERGE;
	o.order = SP_JOIN_NOCHECK;
	o.run.memory_bytes = 8 << 20;
	o.run.parallel = threads;
	rc = sp_join_run(&o, &io, &st, &err);
	ok(!rc && st.output_records == (uint64_t)KEYS * LINES && st.algorithm == SP_JOIN_MERGE,
	   "%u threads merge (%d)", threads, rc);
	close(io.output_fd);
	return st;
}

int main(void)
{
	uint64_t alone, peak;

	make_file(left, LINES);
	make_file(right, 1);
	alone = merge(1).run.memory_charged_peak_bytes;
	for (unsigned n = 2; n <= 8; n *= 2) {
		peak = merge(n).run.memory_charged_peak_bytes;
		ok(alone > LINES * LINE_BYTES && peak <= alone + (n - 1) * KEPT_BYTES,
		   "%u threads keep little more than one (%llu, %llu)", n, (unsigned long long)peak,
		   (unsigned long long)alone);
	}
	unlink(left);
	unlink(right);
	return done();
}
