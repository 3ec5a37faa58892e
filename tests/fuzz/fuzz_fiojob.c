/* SPDX-License-Identifier: MIT */
/*
 * Job files of fio: what is refused has a reason; what is understood is a
 * measurement within its limits.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/fiojob.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
const char *const sp_fuzz_tokens[] = { "[global]\n",
				       "\n[a]\n",
				       "rw=randrw\n",
				       "bs=4k\n",
				       "size=1g\n",
				       "numjobs=",
				       "runtime=1d\n",
				       "time_based\n",
				       "iodepth=200\n",
				       "prioclass=1\n",
				       "prio=7\n",
				       "cmdprio_percentage=10\n",
				       "ioengine=libaio\n",
				       "filename=f\n",
				       "# x",
				       ";",
				       "random_distribution=zipf:1.2\n",
				       "=",
				       "rate_iops=5\n",
				       "offset=",
				       "kib",
				       "size=50%\n",
				       "directory=d\n",
				       "stonewall\n",
				       "name=n\n",
				       "invalidate=0\n",
				       "thread\n",
				       NULL };

static void require(bool cond)
{
	if (!cond)
		abort();
}

static void in_limits(const struct sp_bench_opts *o)
{
	unsigned sharing = 0;

	require(o->nclasses > 0 && o->nclasses <= SP_BENCH_CLASSES_MAX);
	require(o->ntargets <= SP_BENCH_TARGETS_MAX);
	require(o->depth > 0 && o->depth <= SP_BENCH_DEPTH_MAX);
	for (size_t i = 0; i < o->nclasses; i++) {
		const struct sp_bench_class *c = &o->classes[i];

		require(c->range_share >= 0 && c->range_share <= 1);
		require(c->name && c->bytes > 0 && c->bytes <= 1u << 30);
		require(c->reads >= 0 && c->reads <= 1 && c->rate >= 0);
		require(c->target <= o->ntargets && c->depth <= SP_BENCH_DEPTH_MAX);
		require(c->prio >> 13 <= SP_BENCH_IDLE && !(c->prio & 0x1ff8));
		sharing += !c->depth;
	}
	require(sharing == 0 || sharing == 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_bench_opts o = { 0 };
	const struct sp_fiojob_line *lines;
	struct sp_fiojob *job;
	char *text = malloc(bytes ? bytes : 1);
	size_t n;
	int rc;

	require(text != NULL);
	memcpy(text, data, bytes);
	rc = sp_fiojob_parse(&job, text, bytes, &err);
	require(rc == 0 || ((rc == -ENODATA || rc == -E2BIG) && !job && *err.text));
	if (rc == 0) {
		n = sp_fiojob_lines(job, &lines);
		for (size_t i = 0; i < n; i++)
			require(lines[i].line > 0 && *lines[i].reason &&
				(!i || lines[i].line >= lines[i - 1].line));
		require(sp_fiojob_runs(job) > 0 && strlen(sp_fiojob_ignored(job)) < 1024);
		for (size_t i = 0; i < sp_fiojob_runs(job); i++) {
			o = (struct sp_bench_opts){ 0 };
			sp_fiojob_apply(job, i, &o);
			in_limits(&o);
		}
	}
	sp_fiojob_free(job);
	free(text);
	return 0;
}
