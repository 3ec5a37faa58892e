/* SPDX-License-Identifier: MIT */
/*
 * Combines values of a job that depend on each other: filesize, loops, rates and groups.
 *
 * A combination that cannot be kept is reported, and the value is reset.
 */
#include "fiojob/state.h"

#define RATE_MAX 1e9

static bool mixed(const struct sp__fiovalues *v)
{
	return (v->rw & SP_BENCH_OP_RW) == SP_BENCH_OP_RW;
}

/* Converts a rate in bytes; returns why a rate cannot be kept, or NULL. */
static const char *settle_rate(struct sp__fiovalues *v)
{
	if (v->rate > 0 && v->byte_rate > 0)
		return "rate and rate_iops exclude each other";
	if ((v->rate > 0 || v->byte_rate > 0) && mixed(v))
		return "rate and rate_iops limit reads and writes apart in fio: a mix cannot have "
		       "them here";
	if (v->byte_rate / v->bytes > RATE_MAX)
		return "rate is more than 10^9 requests per second";
	if (v->byte_rate > 0)
		v->rate = v->byte_rate / v->bytes;
	return NULL;
}

/*
 * The file ends at filesize, and the range of the job with it.  Returns why that cannot be kept, or
 * NULL.
 */
static const char *settle_filesize(struct sp__fiovalues *v)
{
	if (!v->filesize || (v->size == v->filesize && !v->offset))
		return NULL;
	if (v->size || v->size_share > 0 || v->offset_percent)
		return "filesize with another size or an offset in percent is not supported";
	if (v->offset >= v->filesize)
		return "offset is not below filesize";
	v->size = v->filesize - v->offset;
	return NULL;
}

/* Returns why the passes cannot be repeated, or NULL. */
static const char *settle_loops(const struct sp__fiovalues *v)
{
	if (v->loops == 1 || (v->time_based && v->runtime_ns))
		return NULL;
	if (!v->direct && v->invalidate && v->engine != SP__FIO_NULL)
		return "loops needs direct=1 or invalidate=0: fio empties the page cache before "
		       "each loop";
	if (v->io_size)
		return "loops cannot be used with io_size";
	if (!v->size || v->size % v->bytes)
		return "loops needs a size in bytes that is a multiple of bs";
	if (v->rw == SP_BENCH_OP_RW)
		return "loops cannot be used with rw=rw";
	if (v->size > INT64_MAX / v->loops)
		return "loops and size are too large";
	return NULL;
}

/* Returns why the report or the end of the run would differ from those of fio, or NULL. */
static const char *settle_group(const struct sp__fiorun *run, const struct sp__fiovalues *v)
{
	if (run->njobs > 1 && v->new_group && v->group_reporting)
		return "new_group with group_reporting: a run has one total here, of all its jobs";
	if ((run->njobs > 1 || v->numjobs > 1) && (v->exitall || run->first.exitall))
		return "exitall is supported only for a job that runs alone";
	return NULL;
}

size_t sp__fiojob_settle(struct sp__fiovalues *v, const struct sp__fiorun *run,
			 const char *reasons[SP__FIOJOB_REASONS_MAX])
{
	const char *rate = settle_rate(v), *filesize = settle_filesize(v);
	const char *loops = settle_loops(v), *group = settle_group(run, v);
	size_t n = 0;

	if (rate)
		reasons[n++] = rate;
	if (filesize)
		reasons[n++] = filesize;
	if (loops)
		reasons[n++] = loops;
	if (group)
		reasons[n++] = group;
	if (rate)
		v->rate = 0;
	if (loops)
		v->loops = 1;
	return n;
}
