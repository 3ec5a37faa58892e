/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/fiojob.h>
#include "tap.h"

static struct sp_fiojob *job;
static struct sp_bench_opts o;
static const struct sp_fiojob_line *lines;
static size_t nlines;

static void read_job(const char *text)
{
	sp_fiojob_free(job);
	if (sp_fiojob_parse(&job, text, strlen(text), NULL)) {
		diag("cannot read: %s", text);
		exit(1);
	}
	nlines = sp_fiojob_lines(job, &lines);
	for (size_t i = 0; i < nlines; i++)
		diag("line %u: %s: %s", lines[i].line, lines[i].text, lines[i].why);
	o = (struct sp_bench_opts){ 0 };
	sp_fiojob_apply(job, &o);
}

static const struct sp_bench_class *one(const char *lines_of_it)
{
	char text[512];

	snprintf(text, sizeof(text), "[j]\nsize=1g\n%s\n", lines_of_it);
	read_job(text);
	return &o.classes[0];
}

static void defaults(void)
{
	const struct sp_bench_class *c = one("");

	ok(nlines == 0 && o.nclasses == 1 && !strcmp(c->name, "j") && c->reads == 1 &&
		   c->bytes == 4096 && c->pattern == SP_BENCH_SEQUENTIAL && c->depth == 1 &&
		   c->prio == 0 && o.buffered && !strcmp(o.engine, "sync") && o.ntargets == 0,
	   "defaults are those of fio");
	ok(o.total_bytes == 1u << 30 && o.size_bytes == 1u << 30 && c->range_bytes == 1u << 30 &&
		   o.runtime_ns == 0,
	   "it ends after its size");
	one("time_based\nruntime=2");
	ok(o.total_bytes == 0 && o.runtime_ns == 2000000000, "or, with time_based, after its time");
	one("io_size=2g");
	ok(o.total_bytes == 2ull << 30, "or after another size");
}

static void rates(void)
{
	ok(one("rate_iops=1k")->rate == 1024 && one("rate_iops=1.5k")->rate == 1536 &&
		   one("rate_iops=500")->rate == 500,
	   "a rate can count in units of 1024, as in fio");
}

static void values(void)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} sizes[] = { { "512", 512 },	  { "4k", 4096 },    { "4K", 4096 },	  { "4kb", 4096 },
		      { "4kib", 4096 },	  { "1m", 1 << 20 }, { "1MiB", 1 << 20 }, { "8192b", 8192 },
		      { "1mi", 1 << 20 }, { "4Ki", 4096 } };
	static const struct {
		const char *text;
		uint64_t ns;
	} times[] = { { "3", 3000000000 },	{ "30s", 30000000000 }, { "500ms", 500000000 },
		      { "20us", 20000 },	{ "2m", 120000000000 }, { "1h", 3600000000000 },
		      { "1d", 86400000000000 }, { "10msec", 10000000 }, { "20usec", 20000 } };
	const struct sp_bench_class *c;
	char text[64];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		snprintf(text, sizeof(text), "bs=%s", sizes[i].text);
		c = one(text);
		ok(nlines == 0 && c->bytes == sizes[i].bytes, "%s is %llu bytes", text,
		   (unsigned long long)sizes[i].bytes);
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		snprintf(text, sizeof(text), "runtime = %s", times[i].text);
		one(text);
		ok(nlines == 0 && o.runtime_ns == times[i].ns, "%s is %llu ns", text,
		   (unsigned long long)times[i].ns);
	}
	c = one("rw=randrw\nrwmixwrite=30\nrandom_distribution=zipf:1.2\noffset=1m\nrandseed=9");
	ok(nlines == 0 && fabs(c->reads - 0.7) < 1e-9 && c->pattern == SP_BENCH_ZIPF &&
		   c->theta == 1.2 && c->offset_bytes == 1 << 20 && o.seed == 9 &&
		   o.size_bytes == (1u << 30) + (1 << 20),
	   "mixes, distributions, places and seeds");
	c = one("ioengine=io_uring\ndirect=1\niodepth=64\nfixedbufs\nregisterfiles=1\n"
		"iodepth_batch=4\niodepth_batch_complete_min=2\niodepth_batch_complete_max=8\n"
		"rate_iops=500");
	ok(nlines == 0 && !strcmp(o.engine, "io_uring") && !o.buffered && c->depth == 64 &&
		   o.fixed_buffers && o.register_files && o.batch_submit == 4 && o.batch_min == 2 &&
		   o.batch_max == 8 && c->rate == 500 && o.depth == 64,
	   "engines and how they are used");
	c = one("prioclass=1\nprio=3");
	ok(c->prio == SP_BENCH_PRIO(SP_BENCH_RT, 3), "a priority of class and level");
	c = one("prio=3");
	ok(c->prio == SP_BENCH_PRIO(SP_BENCH_BE, 3), "of a level alone");
	c = one("prioclass=3\nprio=3");
	ok(c->prio == SP_BENCH_PRIO(SP_BENCH_IDLE, 0), "idle has no levels");
}

static void jobs(void)
{
	const struct sp_bench_class *c;

	read_job("[global]\ntime_based\nruntime=1\nioengine=libaio\nfilename=x\n[a]\niodepth=3\n"
		 "[global]\nbs=8k\n[b]\nnumjobs=2\n[c]\nfilename=y\niodepth=10\n"
		 "cmdprio_percentage=25\ncmdprio=2\nprioclass=2\nprio=5\n");
	c = o.classes;
	ok(nlines == 0 && o.nclasses == 5 && !strcmp(c[1].name, "b.0") &&
		   !strcmp(c[2].name, "b.1") && !strcmp(c[3].name, "c.high") &&
		   !strcmp(c[4].name, "c.low"),
	   "jobs are classes, and some are several");
	ok(c[0].bytes == 4096 && c[0].depth == 3 && c[1].bytes == 8192 && c[1].depth == 1,
	   "[global] holds for what comes after it");
	ok(o.ntargets == 2 && !strcmp(o.targets[1], "y") && c[0].target == 1 && c[4].target == 2,
	   "each has its file");
	ok(c[3].share == 0.25 && c[4].share == 0.75 && !c[3].depth && o.depth == 10 &&
		   c[3].prio == SP_BENCH_PRIO(SP_BENCH_RT, 2) &&
		   c[4].prio == SP_BENCH_PRIO(SP_BENCH_BE, 5),
	   "one with two priorities shares its depth between them");
	o = (struct sp_bench_opts){ .targets = (const char *[]){ "sim:linear" }, .ntargets = 1 };
	sp_fiojob_apply(job, &o);
	ok(o.ntargets == 1 && !o.engine && o.classes[4].target == 0,
	   "other targets replace the files");
}

/* Is that the only line that is not understood? */
static bool only(const char *text, unsigned line, const char *why)
{
	read_job(text);
	return nlines == 1 && lines[0].line == line && strstr(lines[0].why, why);
}

static void not_understood(void)
{
	ok(only("[j]\nsize=1m\nverify=md5\n", 3, "not known"), "a key that is not known");
	ok(only("bs=4k\n[j]\nsize=1m\n", 1, "before the first section"),
	   "a line without a section");
	ok(only("[j]\nsize=1m\nbs=4k,8k\n", 3, "not one size"), "two sizes");
	ok(only("[j]\nsize=10%\nruntime=1\n", 2, "size in bytes"), "a part of a size");
	ok(only("[j]\nsize=9999999999999999999999\nruntime=1", 2, "size"), "a number too large");
	ok(only("[j]\nsize=16777216t\nruntime=1", 2, "size"), "a size too large");
	ok(only("[j]\nsize=1m\nrw=trim\n", 3, "is not read"), "another operation");
	ok(only("[j]\nsize=1m\nfilename=a:b\n", 3, "is not one file"), "several files");
	ok(only("[j]\nsize=1m\nioengine=rados\n", 3, "is not io_uring"), "another engine");
	ok(only("[j]\nsize=1m\niodepth=0\n", 3, "not a number"), "a depth of nothing");
	ok(only("[j]\nsize=1m\nbs=${B}\n", 3, "variable"), "a variable");
	ok(only("[j]\nsize=1m\ndirect=2\n", 3, "is not 0 or 1"), "a flag that is none");
	ok(only("[j]\n", 1, "no end"), "a job without an end");
	ok(only("[a]\nsize=1m\n[b]\nruntime=1\ntime_based\n", 3, "its time differs"),
	   "jobs with different times");
	ok(only("[global]\ntime_based\nruntime=1\n[a]\n[b]\ndirect=1\n", 5, "direct differs"),
	   "jobs with different access");
	ok(only("[global]\ntime_based\nruntime=1\n[a]\n[b]\nfilename=x\n", 5, "some jobs"),
	   "a file for one job alone");
	ok(only("[a]\nsize=1m\nnumjobs=2", 1, "end together"), "jobs that end one by one");
	ok(only("[a]\nsize=1m\ncmdprio_percentage=5", 1, "asynchronous engine"),
	   "priorities of requests with an engine that has none");
	ok(only("[a]\nioengine=libaio\nsize=1m\ncmdprio_percentage=5\nrate_iops=3", 1, "rate_iops"),
	   "or with a rate");
}

static void refused(void)
{
	static char big[65536];

	ok(sp_fiojob_parse(&job, "# nothing\n", 10, NULL) == -ENODATA && !job,
	   "a text without a job is refused");
	memset(big, 0, sizeof(big));
	for (int i = 0; i < 17; i++)
		strcat(big, "[j]\n");
	ok(sp_fiojob_parse(&job, big, strlen(big), NULL) == -E2BIG && !job, "and too many jobs");
	ok(sp_fiojob_load(&job, "/nonexistent", NULL) == -ENOENT && !job, "and no file");
}

int main(void)
{
	defaults();
	values();
	rates();
	jobs();
	not_understood();
	refused();
	sp_fiojob_free(job);
	return done();
}
