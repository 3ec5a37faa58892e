/* SPDX-License-Identifier: MIT */
/*
 * Converts classes of requests from and to text, and lists the names of access patterns.
 */
#include <string.h>
#include <spindle/bench.h>
#include <spindle/size.h>
#include "base/err.h"
#include "base/keyval.h"
#include "base/enum.h"

SP__ENUM_TABLE(sp_bench_rw, { "read", SP_BENCH_OP_READ }, { "write", SP_BENCH_OP_WRITE },
	       { "rw", SP_BENCH_OP_RW }, { "readwrite", SP_BENCH_OP_RW },
	       { "randread", SP_BENCH_OP_RANDOM | SP_BENCH_OP_READ },
	       { "randwrite", SP_BENCH_OP_RANDOM | SP_BENCH_OP_WRITE },
	       { "randrw", SP_BENCH_OP_RANDOM | SP_BENCH_OP_RW })

SP__ENUM_TABLE(sp_bench_pattern, { "sequential", SP_BENCH_SEQUENTIAL },
	       { "seq", SP_BENCH_SEQUENTIAL }, { "random", SP_BENCH_RANDOM },
	       { "rand", SP_BENCH_RANDOM }, { "strided", SP_BENCH_STRIDED },
	       { "stride", SP_BENCH_STRIDED }, { "zipf", SP_BENCH_ZIPF },
	       { "shuffled", SP_BENCH_SHUFFLED })

void sp_bench_class_rw(struct sp_bench_class *c, int rw)
{
	c->pattern = rw & SP_BENCH_OP_RANDOM ? SP_BENCH_RANDOM : SP_BENCH_SEQUENTIAL;
	c->reads = (rw & SP_BENCH_OP_RW) == SP_BENCH_OP_RW ? 0.5 : rw & SP_BENCH_OP_READ;
}

int sp_bench_class_pattern(struct sp_bench_class *c, const char *text)
{
	uint64_t n = 1100000000; /* default theta of zipf, in billionths */
	bool good;
	int pattern;

	if (!sp__word_take(&text, ":", sp_bench_pattern_values(), &pattern))
		return -EINVAL;
	if (pattern == SP_BENCH_STRIDED)
		good = *text && !sp_size_parse(text + 1, 1, &n);
	else
		good = !*text ||
		       (pattern == SP_BENCH_ZIPF &&
			sp__number_parse(text + 1, sp__unit_real, 10000000, 10000000000, &n));
	if (!good)
		return -EINVAL;
	c->pattern = (enum sp_bench_pattern)pattern;
	if (pattern == SP_BENCH_STRIDED)
		c->stride_bytes = n;
	else if (pattern == SP_BENCH_ZIPF)
		c->theta = (double)n / 1e9;
	return 0;
}

static bool set_prio(void *class, const char *value)
{
	return sp_bench_prio_parse(value, &((struct sp_bench_class *)class)->prio) == 0;
}

static bool set_op(void *class, const char *value)
{
	int rw;

	if (sp_bench_rw_parse(value, &rw))
		return false;
	sp_bench_class_rw(class, rw);
	return true;
}

static bool set_pattern(void *class, const char *value)
{
	return sp_bench_class_pattern(class, value) == 0;
}

#define AT(member) SP__KEY_AT(struct sp_bench_class, member)
#define PERCENTAGE "a percentage such as 30 or 30%", SP__KEY_REAL
static const struct sp__setting keys[] = {
	{ "share", PERCENTAGE, AT(share), 0, 1000000000, sp__unit_percent },
	{ "depth", "a whole number from 1 to 4096", SP__KEY_NUMBER, AT(depth), 1,
	  SP_BENCH_DEPTH_MAX },
	{ "rate", "a number up to 1000000000, such as 8 or 0.5", SP__KEY_REAL, AT(rate), 1000,
	  1000000000000000000, sp__unit_real },
	{ "prio", "rt or be (optionally with /0 to /7), idle or default", .set = set_prio },
	{ "op", "read, write, rw, randread, randwrite or randrw", .set = set_op },
	{ "size", "a size from 1 to 1G", SP__KEY_SIZE, AT(bytes), 1, 1 << 30 },
	{ "pattern", "seq, random, shuffled, stride:SIZE or zipf:THETA", .set = set_pattern },
	{ "rwmixread", PERCENTAGE, AT(reads), 0, 1000000000, sp__unit_percent },
	{ "target", "a number from 1 to 64", SP__KEY_NUMBER, AT(target), 1, SP_BENCH_TARGETS_MAX },
	{ "offset", "a size such as 64M", SP__KEY_SIZE, AT(offset_bytes) },
	{ "range", "a size such as 64M", SP__KEY_SIZE, AT(range_bytes) },
	{ NULL },
};

int sp_bench_class_parse(struct sp_bench_class *c, char *text, struct sp_errinfo *err)
{
	char *settings = strchr(text, ':');

	c->name = text;
	if (settings)
		*settings++ = '\0';
	if (!*text)
		return sp__errf(err, SP_ESYNTAX, "parse", "", -1,
				"'': a class is a name, a colon and KEY=VALUE,...");
	if (!settings || !*settings)
		return 0;
	return sp__keyval_parse(&(struct sp__keytext){ text, ",", keys, NULL }, c, settings, err);
}
