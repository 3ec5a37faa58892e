/* SPDX-License-Identifier: MIT */
/*
 * The keys of a job and their values, by fio's rules: sizes count in powers of
 * 1024 whether "k", "kb" or "kib"; times are seconds without a unit.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "fiojob/fiojob.h"

const struct sp__fiovalues sp__fiojob_defaults = {
	.reads = 1,
	.mix = 0.5,
	.bytes = 4096,
	.iodepth = 1,
	.numjobs = 1,
	.engine = "sync",
	.seed = 1,
	.cmdprio_class = SP_BENCH_RT,
};

static const char *const not_number = "is not a number that can be used";

/* Parses digits; *rest: what follows them. */
static bool digits(const char *text, uint64_t *v, const char **rest)
{
	char *end;

	if (!text || !isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*v = strtoull(text, &end, 10);
	*rest = end;
	return !errno;
}

static bool number(const char *text, uint64_t min, uint64_t max, uint64_t *v)
{
	const char *rest;

	return digits(text, v, &rest) && !*rest && *v >= min && *v <= max;
}

static const char *small(const char *text, uint32_t min, uint32_t max, uint32_t *out)
{
	uint64_t v;

	if (!number(text, min, max, &v))
		return not_number;
	*out = (uint32_t)v;
	return NULL;
}

static bool size(const char *text, uint64_t *v)
{
	static const char units[] = "kmgtp";
	const char *rest, *unit;
	unsigned shift = 0;

	if (!digits(text, v, &rest))
		return false;
	unit = *rest ? strchr(units, tolower((unsigned char)*rest)) : NULL;
	if (unit) {
		shift = 10 * (unsigned)(unit - units + 1);
		rest++;
	}
	if (shift && !strcasecmp(rest, "ib"))
		rest += 2;
	else if (!strcasecmp(rest, "b"))
		rest++;
	if (*rest || *v > (uint64_t)INT64_MAX >> shift)
		return false;
	*v <<= shift;
	return true;
}

static const char *set_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "", 1000000000 },
		      { "s", 1000000000 },
		      { "ms", 1000000 },
		      { "us", 1000 },
		      { "m", 60 * 1000000000ull },
		      { "h", 3600 * 1000000000ull },
		      { "d", 86400 * 1000000000ull } };
	const char *rest;
	uint64_t v;

	if (!digits(text, &v, &rest))
		return not_number;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcasecmp(rest, units[i].name) && v <= INT64_MAX / units[i].ns) {
			*ns = v * units[i].ns;
			return NULL;
		}
	return not_number;
}

/* fio takes a bare word for 1. */
static const char *flag(const char *text, bool *out)
{
	uint64_t v = 1;

	if (text && !number(text, 0, 1, &v))
		return "is neither 0 nor 1";
	*out = v;
	return NULL;
}

static const char *share(const char *text, double *out)
{
	uint64_t v;

	if (!number(text, 0, 100, &v))
		return not_number;
	*out = (double)v / 100;
	return NULL;
}

static const char *set_rw(struct sp__fiovalues *v, const char *text)
{
	static const struct {
		const char *name;
		bool random;
		double reads;
	} words[] = { { "read", false, 1 },    { "write", false, 0 },
		      { "rw", false, 0.5 },    { "readwrite", false, 0.5 },
		      { "randread", true, 1 }, { "randwrite", true, 0 },
		      { "randrw", true, 0.5 } };

	for (size_t i = 0; text && i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i].name, text)) {
			v->random = words[i].random;
			v->reads = words[i].reads;
			return NULL;
		}
	return "is not read, write, rw, randread, randwrite or randrw";
}

static const char *set_bs(struct sp__fiovalues *v, const char *text)
{
	uint64_t bytes;

	if (!size(text, &bytes) || !bytes || bytes > 1u << 30)
		return "is not one size up to 1g";
	v->bytes = (uint32_t)bytes;
	return NULL;
}

static const char *set_bytes(uint64_t *out, const char *text)
{
	uint64_t v;

	if (!size(text, &v))
		return "is not a size in bytes";
	*out = v;
	return NULL;
}

static const char *set_size(struct sp__fiovalues *v, const char *text)
{
	return set_bytes(&v->size, text);
}

static const char *set_io_size(struct sp__fiovalues *v, const char *text)
{
	return set_bytes(&v->io_size, text);
}

static const char *set_offset(struct sp__fiovalues *v, const char *text)
{
	return set_bytes(&v->offset, text);
}

static const char *set_filename(struct sp__fiovalues *v, const char *text)
{
	if (!text || !*text)
		return "names no file";
	if (strchr(text, ':'))
		return "is more than one file";
	if (strchr(text, '\\'))
		return "has an escape";
	if (snprintf(v->filename, sizeof(v->filename), "%s", text) >= (int)sizeof(v->filename))
		return "is too long";
	return NULL;
}

static const char *set_engine(struct sp__fiovalues *v, const char *text)
{
	static const char *const engines[][2] = {
		{ "io_uring", "io_uring" }, { "libaio", "libaio" }, { "sync", "sync" },
		{ "psync", "sync" },	    { "pread", "sync" },    { "null", "null" }
	};

	for (size_t i = 0; text && i < sizeof(engines) / sizeof(engines[0]); i++)
		if (!strcmp(engines[i][0], text)) {
			v->engine = engines[i][1];
			return NULL;
		}
	return "is no engine here";
}

static const char *set_distribution(struct sp__fiovalues *v, const char *text)
{
	char *end;
	double theta;

	if (text && !strcmp(text, "random")) {
		v->theta = 0;
		return NULL;
	}
	if (!text || strncmp(text, "zipf:", 5) != 0)
		return "is neither random nor zipf:THETA";
	theta = strtod(text + 5, &end);
	if (end == text + 5 || *end || !(theta > 0 && theta <= 10))
		return "has no theta above 0 and up to 10";
	v->theta = theta;
	return NULL;
}

static const char *set_iodepth(struct sp__fiovalues *v, const char *text)
{
	return small(text, 1, SP_BENCH_DEPTH_MAX, &v->iodepth);
}

static const char *set_numjobs(struct sp__fiovalues *v, const char *text)
{
	return small(text, 1, SP_BENCH_CLASSES_MAX, &v->numjobs);
}

static const char *set_direct(struct sp__fiovalues *v, const char *text)
{
	return flag(text, &v->direct);
}

static const char *set_runtime(struct sp__fiovalues *v, const char *text)
{
	return set_time(text, &v->runtime_ns);
}

static const char *set_ramp(struct sp__fiovalues *v, const char *text)
{
	return set_time(text, &v->ramp_ns);
}

static const char *set_time_based(struct sp__fiovalues *v, const char *text)
{
	return flag(text, &v->time_based);
}

static const char *set_mix(struct sp__fiovalues *v, const char *text)
{
	return share(text, &v->mix);
}

static const char *set_mix_write(struct sp__fiovalues *v, const char *text)
{
	const char *why = share(text, &v->mix);

	v->mix = why ? v->mix : 1 - v->mix;
	return why;
}

static const char *set_seed(struct sp__fiovalues *v, const char *text)
{
	return number(text, 0, UINT64_MAX, &v->seed) ? NULL : not_number;
}

static const char *set_rate(struct sp__fiovalues *v, const char *text)
{
	uint64_t rate;

	if (!number(text, 0, 1000000000, &rate))
		return not_number;
	v->rate = (double)rate;
	return NULL;
}

static const char *set_prioclass(struct sp__fiovalues *v, const char *text)
{
	return small(text, 0, SP_BENCH_IDLE, &v->prioclass);
}

static const char *set_prio(struct sp__fiovalues *v, const char *text)
{
	const char *why = small(text, 0, 7, &v->prio);

	/* A level alone is one of best effort. */
	if (!why && !v->prioclass)
		v->prioclass = SP_BENCH_BE;
	return why;
}

static const char *set_cmdprio_share(struct sp__fiovalues *v, const char *text)
{
	return share(text, &v->cmdprio_share);
}

static const char *set_cmdprio_class(struct sp__fiovalues *v, const char *text)
{
	return small(text, 1, SP_BENCH_IDLE, &v->cmdprio_class);
}

static const char *set_cmdprio(struct sp__fiovalues *v, const char *text)
{
	return small(text, 0, 7, &v->cmdprio);
}

/* 0: all that there are. */
static const char *set_batch_submit(struct sp__fiovalues *v, const char *text)
{
	const char *why = small(text, 0, SP_BENCH_DEPTH_MAX, &v->batch_submit);

	if (!why && !v->batch_submit)
		v->batch_submit = SP_BENCH_DEPTH_MAX;
	return why;
}

static const char *set_batch_min(struct sp__fiovalues *v, const char *text)
{
	return small(text, 0, SP_BENCH_DEPTH_MAX, &v->batch_min);
}

static const char *set_batch_max(struct sp__fiovalues *v, const char *text)
{
	return small(text, 0, SP_BENCH_DEPTH_MAX, &v->batch_max);
}

static const char *set_fixed(struct sp__fiovalues *v, const char *text)
{
	return flag(text, &v->fixed_buffers);
}

static const char *set_files(struct sp__fiovalues *v, const char *text)
{
	return flag(text, &v->register_files);
}

const struct sp__fiokey *sp__fiojob_key(const char *name)
{
	static const struct sp__fiokey keys[] = {
		{ "rw", set_rw },
		{ "readwrite", set_rw },
		{ "bs", set_bs },
		{ "blocksize", set_bs },
		{ "size", set_size },
		{ "io_size", set_io_size },
		{ "offset", set_offset },
		{ "filename", set_filename },
		{ "iodepth", set_iodepth },
		{ "numjobs", set_numjobs },
		{ "ioengine", set_engine },
		{ "direct", set_direct },
		{ "runtime", set_runtime },
		{ "time_based", set_time_based },
		{ "ramp_time", set_ramp },
		{ "rwmixread", set_mix },
		{ "rwmixwrite", set_mix_write },
		{ "random_distribution", set_distribution },
		{ "randseed", set_seed },
		{ "rate_iops", set_rate },
		{ "prioclass", set_prioclass },
		{ "prio", set_prio },
		{ "cmdprio_percentage", set_cmdprio_share },
		{ "cmdprio_class", set_cmdprio_class },
		{ "cmdprio", set_cmdprio },
		{ "iodepth_batch", set_batch_submit },
		{ "iodepth_batch_submit", set_batch_submit },
		{ "iodepth_batch_complete", set_batch_min },
		{ "iodepth_batch_complete_min", set_batch_min },
		{ "iodepth_batch_complete_max", set_batch_max },
		{ "fixedbufs", set_fixed },
		{ "registerfiles", set_files },
		{ "group_reporting", NULL },
		{ "thread", NULL },
		{ "description", NULL },
		{ "norandommap", NULL },
		{ "randrepeat", NULL },
		{ "refill_buffers", NULL },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}
