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
		diag("line %u: %s: %s", lines[i].line, lines[i].text, lines[i].reason);
	o = (struct sp_bench_opts){ 0 };
	sp_fiojob_apply(job, 0, &o);
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
	ok(c->total_bytes == SP_BENCH_ONE_PASS && o.size_bytes == 1u << 30 &&
		   c->range_bytes == 1u << 30 && o.runtime_ns == 0 && o.invalidate,
	   "it ends after its size");
	c = one("time_based\nruntime=2");
	ok(c->total_bytes == 0 && o.runtime_ns == 2000000000,
	   "or, with time_based, after its time");
	c = one("runtime=2");
	ok(c->total_bytes == SP_BENCH_ONE_PASS && o.runtime_ns == 2000000000,
	   "with a time alone, after one pass or that time");
	c = one("time_based");
	ok(c->total_bytes == SP_BENCH_ONE_PASS, "time_based without a time is one pass");
	ok(one("io_size=2g")->total_bytes == 2ull << 30, "or after another size");
	read_job("[j]\n");
	ok(nlines == 0 && o.classes[0].total_bytes == SP_BENCH_ONE_PASS && !o.size_bytes &&
		   !o.classes[0].range_bytes,
	   "a job without size and time is one pass over its file");
	c = one("size=50%");
	ok(nlines == 0 && c->range_share == 0.5 && !c->range_bytes && !o.size_bytes,
	   "a size can be a share of the file");
	c = one("size=50%\nsize=1m");
	ok(c->range_share == 0 && c->range_bytes == 1 << 20, "the last size counts");
}

static void rates(void)
{
	ok(one("rate_iops=1k")->rate == 1024 && one("rate_iops=2kib")->rate == 2000 &&
		   one("rate_iops=500")->rate == 500,
	   "a rate can count in units of 1024, as in fio");
}

static void values(void)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} sizes[] = { { "512", 512 },	  { "4k", 4096 },    { "4K", 4096 },	  { "4kb", 4096 },
		      { "4kib", 4000 },	  { "1m", 1 << 20 }, { "1MiB", 1000000 }, { "8192b", 8192 },
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
	read_job("[global]\nkb_base=1000\n[j]\nbs=1k\noffset=1kib\nrate_iops=2k\nsize=1m\n[k]\n"
		 "kb_base=1024\nbs=1k\noffset=1kib\nsize=1m\n");
	c = o.classes;
	ok(nlines == 0 && c[0].bytes == 1000 && c[0].offset_bytes == 1024 && c[0].rate == 2000 &&
		   c[0].range_bytes == 1000000 && c[1].bytes == 1024 && c[1].offset_bytes == 1000 &&
		   c[1].range_bytes == 1 << 20,
	   "kb_base is that of each section");
	ok(one("rw=randread")->pattern == SP_BENCH_SHUFFLED &&
		   one("rw=randread\nnorandommap")->pattern == SP_BENCH_RANDOM,
	   "random offsets come once per pass, except with norandommap");
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

static void variables(void)
{
	static char big[1100];
	const struct sp_bench_class *c;

	setenv("B", "16", 1);
	setenv("F", "x#y;z", 1);
	c = one("bs=${B}k\nfilename=${F}/${B}${B}");
	ok(nlines == 0 && c->bytes == 16384 && !strcmp(o.targets[0], "x#y;z/1616"),
	   "variables of the environment are replaced in values");
	memset(big, 'x', sizeof(big) - 1);
	setenv("F", big, 1);
	one("filename=${F}");
	ok(nlines == 1 && strstr(lines[0].reason, "longer than 1023"), "a value too long");
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
	sp_fiojob_apply(job, 0, &o);
	ok(o.ntargets == 1 && !o.create && !o.engine && o.classes[4].target == 0,
	   "other targets replace the files");
}

static void files(void)
{
	read_job("[j]\ndirectory=d\nsize=1m\nnumjobs=32\n");
	ok(nlines == 0 && o.nclasses == 32 && o.ntargets == 32 &&
		   !strcmp(o.targets[31], "d/j.31.0") && o.classes[31].target == 32 &&
		   o.create == SP_BENCH_CREATE_MISSING,
	   "each clone has a file of its own in a directory");
	read_job("[j]\ndirectory=d\nfilename=x\nsize=1m\nnumjobs=32\n");
	ok(nlines == 0 && o.nclasses == 32 && o.ntargets == 1 && !strcmp(o.targets[0], "d/x"),
	   "or all of them the file that is named");
	read_job("[global]\nname=g\n[j]\nfilename=x\nname=k\n[l]\nfilename=y\n");
	ok(nlines == 0 && !strcmp(o.classes[0].name, "k") && !strcmp(o.classes[1].name, "l"),
	   "a job can have another name than its section");
	read_job("[j]\ninvalidate=0\nbuffered=0\n");
	ok(nlines == 0 && !o.invalidate && !o.buffered, "the page cache");
	read_job("[j]\nfilename=x\nioengine=null\n");
	ok(o.create == SP_BENCH_CREATE_NO, "the null engine creates no file");
}

static void runs(void)
{
	read_job("[a]\nfilename=x\nstonewall\n[b]\nstonewall\nfilename=y\nnumjobs=2\ndirect=1\n"
		 "runtime=3\n[c]\ndirect=1\nruntime=3\nfilename=x\n[d]\nwait_for_previous\n");
	ok(nlines == 0 && sp_fiojob_runs(job) == 3 && o.nclasses == 1 && o.buffered,
	   "a job with stonewall begins a run; jobs of different runs can differ");
	o = (struct sp_bench_opts){ 0 };
	sp_fiojob_apply(job, 1, &o);
	ok(o.nclasses == 3 && o.ntargets == 2 && !o.buffered && o.runtime_ns == 3000000000 &&
		   !strcmp(o.classes[1].name, "b.1") && !strcmp(o.classes[2].name, "c"),
	   "jobs without stonewall join the last run");
	read_job("[globals]\nbs=8k\n[a]\nsize=1m\n");
	ok(o.nclasses == 1 && o.classes[0].bytes == 8192, "[globals] is [global], as in fio");
	read_job("[global]\nstonewall\n[a]\n[b]\nstonewall=0\n");
	ok(sp_fiojob_runs(job) == 1 && o.nclasses == 2, "it can be switched off again");
}

static void ignored(void)
{
	read_job("[global]\nrandrepeat=1\n[a]\nrandrepeat=${X}\nthread=1\nrandrepeat=0\n");
	ok(nlines == 0 && !strcmp(sp_fiojob_ignored(job), "randrepeat, thread"),
	   "keys that change nothing are noted once");
	read_job("[a]\nverify=0\nfsync=0\nloops=1\nnrfiles=1\n");
	ok(nlines == 0 && !*sp_fiojob_ignored(job), "keys that are off are not noted");
}

/* Is that the only line that is not understood? */
static bool only(const char *text, unsigned line, const char *reason)
{
	read_job(text);
	return nlines == 1 && lines[0].line == line && strstr(lines[0].reason, reason);
}

static void not_understood(void)
{
	ok(only("[j]\nsize=1m\nhipri\n", 3, "not supported"), "a key that is not supported");
	ok(only("bs=4k\n[j]\nsize=1m\n", 1, "before the first section"),
	   "a line without a section");
	ok(only("[j]\nsize=1m\nbs=4k,8k\n", 3, "not one size"), "two sizes");
	ok(only("[j]\nsize=101%\n", 2, "a percentage") && only("[j]\nsize=0%\n", 2, "a percentage"),
	   "more than all of a file, or nothing of it");
	ok(only("[j]\nsize=9999999999999999999999\nruntime=1", 2, "size"), "a number too large");
	ok(only("[j]\nsize=16777216t\nruntime=1", 2, "size"), "a size too large");
	ok(only("[j]\nsize=1m\nrw=trim\n", 3, "is not read"), "another operation");
	ok(only("[j]\nsize=1m\nfilename=a:b\n", 3, "is not one file"), "several files");
	ok(only("[j]\nsize=1m\nioengine=rados\n", 3, "is not io_uring"), "another engine");
	ok(only("[j]\nsize=1m\niodepth=0\n", 3, "not a number"), "a depth of nothing");
	unsetenv("B");
	setenv("D", "$jobname", 1);
	setenv("N", "", 1);
	ok(only("[j]\nsize=1m\nbs=${B}\n", 3, "the variable B is not set") &&
		   only("[j]\nfilename=$jobname\n", 2, "not of the form") &&
		   only("[j]\nfilename=${B\n", 2, "not of the form") &&
		   only("[j]\nfilename=${}\n", 2, "not of the form") &&
		   only("[j]\nfilename=x${D}\n", 2, "contains $") &&
		   only("[j]\nfilename=${N}\n", 2, "is not one file"),
	   "variables without a value");
	ok(only("[j]\nsize=1m\ndirect=2\n", 3, "is not 0 or 1"), "a flag that is none");
	ok(only("[j]\nverify=md5\n", 2, "not supported") &&
		   only("[j]\nfsync=8\n", 2, "not supported") && only("[j]\nnrfiles=2\n", 2, "1"),
	   "keys that change what is measured");
	ok(only("[j]\nexit_what=all\n", 2, "not supported"), "others of this kind");
	ok(only("[j]\nwrite_lat_log=x\n", 2, "asks for output") &&
		   only("[j]\nlog_avg_msec=5\n", 2, "asks for output") &&
		   only("[j]\npercentile_list=5\n", 2, "asks for output"),
	   "keys that ask for output");
	ok(only("[j]\nsize=1.5g\n", 2, "without decimals") &&
		   only("[j]\nsize=33.3%\n", 2, "without decimals") &&
		   only("[j]\nsize=1m\nbs=1.5k\n", 3, "without decimals") &&
		   only("[j]\nsize=1m\nrate_iops=1.5k\n", 3, "without decimals") &&
		   only("[j]\nsize=1m\nruntime=1.5s\n", 3, "without decimals"),
	   "decimals, which fio ignores");
	ok(only("[j]\nsize=1m\nkb_base=1000\n", 3, "before the first size"),
	   "a base after a size that depends on it");
	ok(only("[j]\nkb_base=512\n", 2, "1000 or 1024"), "another base");
	ok(only("[a]\ngroup_reporting\nsize=1m\n[b]\n", 4, "group_reporting differs"),
	   "a group of some jobs");
	ok(only("[global]\nsize=1m\n[a]\n[b]\nrandseed=3\n", 4, "randseed"),
	   "jobs with different seeds");
	ok(only("[a]\nsize=1m\n[b]\nruntime=1\n", 3, "its time differs"),
	   "jobs with different times");
	ok(only("[global]\ntime_based\nruntime=1\n[a]\n[b]\ndirect=1\n", 5, "direct differs"),
	   "jobs with different access");
	ok(only("[global]\ntime_based\nruntime=1\n[a]\n[b]\nfilename=x\n", 5, "some jobs"),
	   "a file for one job alone");
	ok(only("[a]\nsize=1m\ncmdprio_percentage=5", 1, "asynchronous engine"),
	   "priorities of requests with an engine that has none");
	ok(only("[a]\nioengine=libaio\nsize=1m\ncmdprio_percentage=5\nrate_iops=3", 1, "rate_iops"),
	   "or with a rate");
	ok(only("[a]\nrw=randrw\nrate_iops=100\n", 1, "reads and writes apart") &&
		   only("[a]\nrate_iops=100\nrw=rw\n", 1, "reads and writes apart"),
	   "a rate of a mix");
}

static void settled(void)
{
	const struct sp_bench_class *c = one("rate=400k\nbs=8k");

	ok(nlines == 0 && c->rate == 50, "a rate in bytes is one of requests");
	ok(only("[j]\nrate=1m\nrate_iops=5\n", 1, "exclude each other") &&
		   only("[j]\nrate=1m\nrw=randrw\n", 1, "reads and writes apart") &&
		   only("[j]\nrate=1p\nbs=512\n", 1, "10^9") &&
		   only("[j]\nrate=1m,2m\n", 2, "one number"),
	   "other rates");
	read_job("[j]\nfilesize=64k\noffset=16k\n");
	ok(nlines == 0 && o.size_bytes == 65536 && o.classes[0].range_bytes == 49152 &&
		   o.classes[0].offset_bytes == 16384,
	   "filesize is the end of the file and of the range");
	ok(only("[j]\nfilesize=64k\nsize=32k\n", 1, "another size") &&
		   only("[j]\nfilesize=64k\nsize=50%\n", 1, "another size") &&
		   only("[j]\nfilesize=64k\noffset=64k\n", 1, "below filesize") &&
		   only("[j]\nfilesize=4k-8k\n", 2, "one size"),
	   "other file sizes");
	c = one("offset=33%");
	ok(nlines == 0 && c->offset_percent == 33 && !c->offset_bytes && !o.size_bytes &&
		   one("offset=33%\noffset=4k")->offset_percent == 0 && o.size_bytes,
	   "an offset can be a percentage, which needs a file");
	ok(only("[j]\noffset=100%\n", 2, "up to 99%") &&
		   only("[j]\noffset=1.5%\n", 2, "decimals") &&
		   only("[j]\noffset=5%\nfilesize=1m\n", 1, "offset in percent"),
	   "other percentages");
	c = one("loops=3\ndirect=1");
	ok(nlines == 0 && c->total_bytes == 3ull << 30, "loops repeat the pass");
	ok(one("loops=3\ninvalidate=0")->total_bytes == 3ull << 30 && nlines == 0 &&
		   one("loops=3\ntime_based\nruntime=1")->total_bytes == 0 && nlines == 0,
	   "loops with a page cache that stays, or with a time");
	ok(only("[j]\nsize=1m\nloops=2\n", 1, "page cache") &&
		   only("[j]\ndirect=1\nsize=1m\nio_size=2m\nloops=2\n", 1, "io_size") &&
		   only("[j]\ndirect=1\nsize=50%\nloops=2\n", 1, "multiple of bs") &&
		   only("[j]\ndirect=1\nsize=6k\nloops=2\n", 1, "multiple of bs") &&
		   only("[j]\ndirect=1\nrw=rw\nsize=1m\nloops=2\n", 1, "rw=rw") &&
		   only("[j]\ndirect=1\nsize=8000t\nloops=2000\n", 1, "too large"),
	   "other loops");
	read_job("[global]\ngroup_reporting\n[a]\nnew_group\n[b]\nstonewall\nnew_group\n");
	ok(nlines == 0, "a group is a run");
	read_job("[a]\n[b]\nnew_group\n");
	ok(nlines == 0, "groups without their totals");
	ok(only("[global]\ngroup_reporting\n[a]\n[b]\nnew_group\n", 4, "one total"),
	   "two groups of a run");
	ok(only("[a]\nexitall\nnumjobs=2\n", 1, "alone") && only("[a]\nexitall\n[b]\n", 3, "alone"),
	   "an end of other jobs");
	read_job("[a]\nexitall\n[b]\nstonewall\n");
	ok(nlines == 0, "exitall of a job that runs alone");
	one("filename=x\nallow_file_create=0");
	ok(nlines == 0 && o.create == SP_BENCH_CREATE_NO, "no file is created");
	ok(only("[a]\nfilename=x\n[b]\nfilename=x\nallow_file_create=0\n", 3, "differs"),
	   "for one job alone");
	one("rate_iops=5\nrate_process=poisson");
	ok(nlines == 0 && o.poisson, "random intervals");
	ok(only("[a]\nrate_iops=5\n[b]\nrate_process=poisson\n", 3, "differs"), "of one job alone");
	c = one("bsrange=8k-8k\ntimeout=3\nio_submit_mode=inline\nrandom_generator=tausworthe64");
	ok(nlines == 0 && c->bytes == 8192 && o.runtime_ns == 3000000000, "other names");
	ok(only("[a]\nbsrange=4k-8k\n", 2, "twice") && only("[a]\nbsrange=4k\n", 2, "twice") &&
		   only("[a]\nbsrange=4k-4k,4k-4k\n", 2, "twice") &&
		   only("[a]\nio_submit_mode=offload\n", 2, "inline") &&
		   only("[a]\nrandom_generator=lfsr\n", 2, "tausworthe") &&
		   only("[a]\nrate_process=x\n", 2, "linear or poisson"),
	   "other values");
}

static void refused(void)
{
	static char big[65536];

	ok(sp_fiojob_parse(&job, "# nothing\n", 10, NULL) == -ENODATA && !job,
	   "a text without a job is refused");
	memset(big, 0, sizeof(big));
	for (int i = 0; i < SP_BENCH_CLASSES_MAX + 1; i++)
		strcat(big, "[j]\n");
	ok(sp_fiojob_parse(&job, big, strlen(big), NULL) == -E2BIG && !job, "and too many jobs");
	strcpy(big, "[global]\nstonewall\n");
	for (int i = 0; i < 65; i++)
		strcat(big, "[j]\n");
	ok(sp_fiojob_parse(&job, big, strlen(big), NULL) == -E2BIG && !job, "or runs");
	strcpy(big, "[a]\ndirectory=d\nnumjobs=64\nioengine=libaio\n[b]\n");
	ok(sp_fiojob_parse(&job, big, strlen(big), NULL) == -E2BIG && !job, "or files");
	ok(sp_fiojob_load(&job, "/nonexistent", NULL) == -ENOENT && !job, "and no file");
}

int main(void)
{
	defaults();
	values();
	rates();
	settled();
	variables();
	jobs();
	files();
	runs();
	ignored();
	not_understood();
	refused();
	sp_fiojob_free(job);
	return done();
}
