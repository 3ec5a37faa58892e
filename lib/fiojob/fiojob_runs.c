/* SPDX-License-Identifier: MIT */
/*
 * Converts jobs into classes of a run.
 *
 * A job with numjobs=N is N classes; one with cmdprio_percentage is two that share its iodepth,
 * which only one job of a run can have.  A job with stonewall begins a new run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "fiojob/state.h"

/* True if the job ends after its size rather than with the run. */
static bool ends(const struct sp__fiovalues *v)
{
	return !v->time_based || !v->runtime_ns;
}

/* Returns why two jobs cannot run concurrently here, or NULL. */
static const char *differs(const struct sp__fiovalues *a, const struct sp__fiovalues *b)
{
	if (a->engine != b->engine)
		return "ioengine differs from that of the first job";
	if (a->direct != b->direct)
		return "direct differs from that of the first job";
	if (a->invalidate != b->invalidate)
		return "invalidate differs from that of the first job";
	if (a->runtime_ns != b->runtime_ns || a->ramp_ns != b->ramp_ns)
		return "its time differs from that of the first job";
	if (a->fixed_buffers != b->fixed_buffers || a->register_files != b->register_files)
		return "its registered buffers or files differ from those of the first job";
	if (a->batch_submit != b->batch_submit || a->batch_min != b->batch_min ||
	    a->batch_max != b->batch_max)
		return "its batches differ from those of the first job";
	if (a->group_reporting != b->group_reporting)
		return "group_reporting differs from that of the first job";
	if (a->seed != b->seed)
		return "randseed differs from that of the first job";
	if ((!*a->filename && !*a->directory) != (!*b->filename && !*b->directory))
		return "only some jobs have a filename";
	return NULL;
}

/* Composes the path of a file as fio does; number: index of the clone of the job. */
static void compose(char path[SP__FIOJOB_PATH_BYTES], const struct sp__fiovalues *v,
		    unsigned number)
{
	int n = *v->directory ? snprintf(path, SP__FIOJOB_PATH_BYTES, "%s/", v->directory) : 0;

	if (*v->filename)
		snprintf(path + n, SP__FIOJOB_PATH_BYTES - (size_t)n, "%s", v->filename);
	else
		snprintf(path + n, SP__FIOJOB_PATH_BYTES - (size_t)n, "%s.%u.0", v->name, number);
}

/* Returns the number of the file, from 1; 0: no file, -1: too many files. */
static int target(struct sp__fiorun *r, const struct sp__fiovalues *v, unsigned number)
{
	char path[SP__FIOJOB_PATH_BYTES];
	size_t i = 0;

	if (!*v->filename && !*v->directory)
		return 0;
	compose(path, v, number);
	while (i < r->ntargets && strcmp(r->files[i], path) != 0)
		i++;
	if (i == SP_BENCH_TARGETS_MAX)
		return -1;
	if (i == r->ntargets) {
		strcpy(r->files[i], path);
		r->targets[i] = r->files[i];
		r->ntargets++;
	}
	return (int)i + 1;
}

static uint16_t priority(uint32_t class, uint32_t level)
{
	return class == SP_BENCH_NONE ? 0
				      : SP_BENCH_PRIO(class, class == SP_BENCH_IDLE ? 0 : level);
}

static uint64_t total_bytes(const struct sp__fiovalues *v)
{
	if (!ends(v))
		return 0;
	return v->io_size ? v->io_size : SP_BENCH_ONE_PASS;
}

static struct sp_bench_class *add_class(struct sp__fiorun *r, const struct sp__fiovalues *v,
					unsigned number, const char *suffix)
{
	struct sp_bench_class *c;
	char *name;
	int file = target(r, v, number);

	if (file < 0 || r->nclasses == SP_BENCH_CLASSES_MAX)
		return NULL;
	name = r->names[r->nclasses];
	snprintf(name, sizeof(r->names[0]), "%s%s", v->name, suffix);
	c = &r->classes[r->nclasses++];
	*c = (struct sp_bench_class){
		.name = name,
		.prio = priority(v->prioclass, v->prio),
		.bytes = v->bytes,
		.theta = v->theta,
		.target = (unsigned)file,
		.offset_bytes = v->offset,
		.range_bytes = v->size,
		.range_share = v->size_share,
		.total_bytes = total_bytes(v),
		.fio_passes = true,
	};
	sp_bench_class_rw(c, v->rw);
	if (c->reads > 0 && c->reads < 1)
		c->reads = v->mix;
	if (c->pattern == SP_BENCH_RANDOM && v->theta > 0)
		c->pattern = SP_BENCH_ZIPF;
	else if (c->pattern == SP_BENCH_RANDOM && !v->norandommap)
		c->pattern = SP_BENCH_SHUFFLED;
	return c;
}

static bool add_shared(struct sp__fiorun *r, const struct sp__fiovalues *v)
{
	struct sp_bench_class *c = add_class(r, v, 0, ".high");

	if (!c)
		return false;
	c->share = v->cmdprio_share;
	c->prio = priority(v->cmdprio_class, v->cmdprio);
	c = add_class(r, v, 0, ".low");
	if (!c)
		return false;
	c->share = 1 - v->cmdprio_share;
	r->shared = true;
	r->depth = v->iodepth;
	return true;
}

static bool add_own(struct sp__fiorun *r, const struct sp__fiovalues *v, unsigned number)
{
	struct sp_bench_class *c;
	char suffix[16] = "";

	if (v->numjobs > 1)
		snprintf(suffix, sizeof(suffix), ".%u", number);
	c = add_class(r, v, number, suffix);
	if (!c)
		return false;
	c->depth = v->engine != SP__FIO_SYNC ? v->iodepth : 1;
	c->rate = v->rate;
	return true;
}

/* Returns why cmdprio_percentage cannot be used, or NULL. */
static const char *cannot_share(const struct sp__fiorun *r, const struct sp__fiovalues *v)
{
	if (!(v->cmdprio_share > 0))
		return NULL;
	if (r->shared || v->numjobs > 1)
		return "only one job can have a cmdprio_percentage here";
	if (v->rate > 0)
		return "cmdprio_percentage cannot be used with rate_iops";
	if (v->engine == SP__FIO_SYNC)
		return "cmdprio_percentage needs an asynchronous engine";
	return NULL;
}

/* Adds the classes of the job. */
static bool add_job(struct sp__fiorun *r, const struct sp__fiovalues *v)
{
	r->sized &= v->size > 0;
	if (v->offset + v->size > r->end_bytes)
		r->end_bytes = v->offset + v->size;
	for (unsigned i = 0; i < v->numjobs; i++) {
		if (!(v->cmdprio_share > 0 ? add_shared(r, v) : add_own(r, v, i)))
			return false;
		if (!r->shared && v->iodepth > r->depth)
			r->depth = v->iodepth;
	}
	return true;
}

/* Returns the run of the next job; NULL: too many runs, or out of memory. */
static struct sp__fiorun *run_of(struct sp_fiojob *j)
{
	struct sp__fiorun *r;

	if (j->nruns && !j->job.stonewall)
		return j->runs[j->nruns - 1];
	if (j->nruns == SP__FIOJOB_RUNS_MAX)
		return NULL;
	r = calloc(1, sizeof(*r));
	if (r) {
		r->sized = true;
		r->first = j->job;
		j->runs[j->nruns++] = r;
	}
	return r;
}

int sp__fiojob_end_job(struct sp_fiojob *j, struct sp_errinfo *err)
{
	struct sp__fiovalues *v = &j->job;
	struct sp__fiorun *r;
	const char *reason;

	if (!j->in_job)
		return 0;
	j->in_job = false;
	r = run_of(j);
	if (!r && j->nruns < SP__FIOJOB_RUNS_MAX)
		return sp__err(err, -ENOMEM, "read", "", -1);
	if (!r)
		return sp__errf(err, -E2BIG, "read", "", -1, "more than %d jobs with stonewall",
				SP__FIOJOB_RUNS_MAX);
	r->njobs++;
	reason = differs(&r->first, v);
	if (reason)
		sp__fiojob_complain(j, j->job_line, v->name, "%s", reason);
	reason = cannot_share(r, v);
	if (reason) {
		sp__fiojob_complain(j, j->job_line, v->name, "%s", reason);
		v->cmdprio_share = 0;
	}
	if (!add_job(r, v))
		return sp__errf(err, -E2BIG, "read", "", -1,
				"more than %d jobs, or %d files, at the same time",
				SP_BENCH_CLASSES_MAX, SP_BENCH_TARGETS_MAX);
	return 0;
}
