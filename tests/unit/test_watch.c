/* SPDX-License-Identifier: MIT */
/*
 * Watching: recorded files of systems, planted trees that do not change or
 * change at known moments, and a ring whose operations never end.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <liburing.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/clock.h"
#include "observe/watch.h"
#include "observe/watch_trace.h"
#include "tap.h"

static char root[] = "/tmp/watch-XXXXXX";
static char sys[64], proc[64];
static struct sp_watch_opts opts;
static struct sp_watch *watch;
static struct sp_errinfo err;

static void plant(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *s = full + strlen(root) + 1; (s = strchr(s, '/')); *s++ = '/') {
		*s = '\0';
		mkdir(full, 0777);
	}
	f = fopen(full, "w");
	if (!f || fputs(text, f) < 0 || fclose(f)) {
		diag("%s: %s", full, strerror(errno));
		exit(1);
	}
}

static void reset(const char *target)
{
	opts = (struct sp_watch_opts){
		.target = target, .runtime_ns = 30000000, .sys = sys, .proc = proc
	};
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
}

static int try(void)
{
	sp_watch_free(watch);
	return sp_watch_run(&watch, &opts, &err);
}

static const struct sp_watch_result *run(void)
{
	if (try()) {
		diag("cannot watch %s: %s", opts.target, err.text);
		exit(1);
	}
	return sp_watch_result(watch);
}

/* Lines of several kernel versions. */
static void recorded(void)
{
	struct sp__diskstat s;
	uint64_t n;

	ok(sp__watch_parse_stat(
		   "10492661   669785 928497002 10530927  3099816   153273 1817938768  "
		   "9615765        7  1497732 20569719   451842       62 1796249560   "
		   "422841     1860      185\n",
		   &s) &&
		   s.outstanding == 7 && s.queue_ms == 20569719 &&
		   s.requests == 10492661 + 3099816 + 451842 + 1860 &&
		   s.latency_ms == 10530927 + 9615765 + 422841 + 185,
	   "stat with discards and flushes");
	ok(sp__watch_parse_stat("  100 0 800 50 20 0 160 30 3 60 80 5 0 40 2\n", &s) &&
		   s.outstanding == 3 && s.requests == 125 && s.latency_ms == 82,
	   "without flushes");
	ok(sp__watch_parse_stat("100 0 800 50 20 0 160 30 3 60 80", &s) && s.requests == 120 &&
		   s.queue_ms == 80,
	   "without both");
	ok(!sp__watch_parse_stat("100 0 800 50 20 0 160 30 3 60\n", &s) &&
		   !sp__watch_parse_stat("", &s) &&
		   !sp__watch_parse_stat("1 2 3 x 5 6 7 8 9 10 11", &s),
	   "and malformed lines are refused");
	ok(sp__watch_parse_inflight("       3       12\n", &n) && n == 15 &&
		   !sp__watch_parse_inflight("3\n", &n) && !sp__watch_parse_inflight("a b\n", &n),
	   "inflight counts reads and writes");
	ok(sp__watch_parse_fdinfo(
		   "pos:\t0\nflags:\t02000002\nSqMask:\t0x7f\nSqHead:\t1200\n"
		   "SqTail:\t1264\nCachedSqHead:\t1200\nCqMask:\t0xff\nCqHead:\t1000\n"
		   "CqTail:\t1136\nCachedCqTail:\t1136\n",
		   &n) &&
		   n == 64,
	   "a ring: what it took less what it completed");
	ok(sp__watch_parse_fdinfo("pos:\t0\nSqHead:\t5\nCqTail:\t4294967290\n", &n) && n == 11,
	   "though they count round");
	ok(sp__watch_parse_fdinfo("pos:\t0\nSqHead:\t5\nCqTail:\t9\n", &n) && n == 0,
	   "nothing if more was completed than taken");
	ok(!sp__watch_parse_fdinfo("pos:\t0\nflags:\t02\nino:\t1044\n", &n),
	   "a ring that is busy tells nothing");
}

static void devices(void)
{
	const struct sp_watch_result *r;

	plant("sys/block/sda/stat", "0 0 0 0 0 0 0 0 5 0 0 0 0 0 0 0 0\n");
	plant("sys/block/sda/inflight", "1 2\n");
	plant("sys/block/sda/dev", "8:0\n");
	reset("sda");
	r = run();
	ok(r->source == SP_WATCH_STAT && r->depth_mean == 5 && r->depth_max == 5 &&
		   r->depth_p50 == 5 && r->depths == 6 && r->depth_ns[5] == r->elapsed_ns &&
		   r->elapsed_ns >= 30000000 && !strcmp(r->name, "sda"),
	   "a constant number is reported as constant");
	ok(r->samples >= 2 && r->samples + r->missed <= r->elapsed_ns / 1000000 + 2,
	   "a thousand times a second, or less often if it is late");
	ok(r->depth_mean_exact == 0 && r->requests == 0, "nothing has passed through it");
	opts.source = SP_WATCH_INFLIGHT;
	r = run();
	ok(r->depth_mean == 3 && isnan(r->depth_mean_exact), "inflight has no exact mean");
	opts.rate = 100;
	r = run();
	ok(r->samples <= 5, "the rate can be chosen");
}

static unsigned steps;

/* After the first interval twice as many are outstanding; after the second none is. */
static void change(void *arg, const struct sp_watch_interval *i)
{
	(void)arg;
	steps++;
	if (i->depth_last == 4)
		plant("sys/block/sdb/stat", "50 0 0 900 0 0 0 0 8 0 800\n");
	else
		plant("sys/block/sdb/stat", "");
}

static void changes(void)
{
	const struct sp_watch_result *r;

	plant("sys/block/sdb/stat", "0 0 0 0 0 0 0 0 4 0 0\n");
	plant("sys/block/sdb/dev", "8:16\n");
	reset("sdb");
	opts.runtime_ns = 0;
	opts.interval_ns = 20000000;
	opts.interval = change;
	r = run();
	ok(r->ended && !r->stopped && steps >= 2, "it ends when there is nothing more to see");
	ok(r->depth_max == 8 && r->depth_ns[4] >= 20000000 && r->depth_ns[8] > 0 &&
		   r->depth_ns[4] + r->depth_ns[8] == r->elapsed_ns,
	   "each number has its time");
	ok(fabs(r->depth_mean - (4. * (double)r->depth_ns[4] + 8. * (double)r->depth_ns[8]) /
					(double)r->elapsed_ns) < 1e-9 &&
		   fabs(r->depth_mean_exact - 800e6 / (double)r->elapsed_ns) < 1e-9,
	   "the mean is that of the samples, and the exact one what the system added up");
	ok(r->requests == 50 && r->latency_mean_ns == 18e6,
	   "completions and their latency are reported");
}

static void processes(void)
{
	const struct sp_watch_result *r;
	char path[128];

	plant("proc/4711/fdinfo/7", "pos:\t0\nSqHead:\t20\nCqTail:\t8\n");
	plant("proc/4711/fdinfo/9", "pos:\t0\nSqHead:\t3\nCqTail:\t0\n");
	plant("proc/4711/fd/0", "");
	for (int fd = 7; fd <= 9; fd += 2) {
		snprintf(path, sizeof(path), "%s/proc/4711/fd/%d", root, fd);
		ok(!symlink("anon_inode:[io_uring]", path), "ring %d is planted", fd);
	}
	reset("4711");
	r = run();
	ok(r->source == SP_WATCH_FDINFO && r->rings == 2 && r->depth_mean == 15 &&
		   isnan(r->depth_mean_exact),
	   "the rings of a process are added up");
	plant("proc/4712/fd/0", "");
	reset("4712");
	ok(try() == SP_EUNSUP && strstr(err.text, "has no io_uring"),
	   "one without rings is refused");
	reset("4713");
	ok(try() == -ESRCH, "and one that is not there");
	reset("4711");
	opts.source = SP_WATCH_STAT;
	ok(try() == SP_EUNSUP && strstr(err.text, "no source 'stat'"),
	   "and a source that it does not have");
	reset("sdz");
	ok(try() == -ENOENT, "as a device that is not there");
	reset("sda");
	opts.rate = -1;
	ok(try() == -EINVAL, "and a rate that is none");
	opts.rate = 1e-9;
	ok(try() == -EINVAL, "or of one in 30 years");
}

/* A ring with n reads from a pipe without data. */
static void known_depth(unsigned n)
{
	const char *name = "a ring with a known number of operations is seen so";
	const struct sp_watch_result *r;
	struct io_uring ring;
	char pid[16], bytes[64];
	int ends[2];

	if (io_uring_queue_init(64, &ring, 0) < 0) {
		skip(name, "no io_uring here");
		return;
	}
	if (pipe(ends))
		exit(1);
	for (unsigned i = 0; i < n; i++)
		io_uring_prep_read(io_uring_get_sqe(&ring), ends[0], bytes + i, 1, 0);
	if (io_uring_submit(&ring) != (int)n)
		exit(1);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	reset(pid);
	opts.sys = opts.proc = NULL;
	if (try())
		skip(name, "the system does not show rings");
	else
		ok((r = sp_watch_result(watch))->depth_mean == n && r->depth_max == n, "%s", name);
	close(ends[1]);
	io_uring_queue_exit(&ring);
	close(ends[0]);
}

/* A ring buffer's page, word by word. */
static unsigned char page[512];
static size_t page_bytes;

static void put_word(uint32_t v)
{
	memcpy(page + page_bytes, &v, 4);
	page_bytes += 4;
}

static void put_event(unsigned type, uint32_t delta)
{
	put_word(delta << 5 | type);
}

static void begin_page(uint64_t ns)
{
	memset(page, 0, sizeof(page));
	memcpy(page, &ns, 8);
	page_bytes = 16;
}

static bool end_page(uint32_t flags, bool *lost, sp__tracepage_fn *fn, void *arg)
{
	uint32_t used = (uint32_t)(page_bytes - 16) | flags;

	memcpy(page + 8, &used, 4);
	return sp__tracepage_parse(page, page_bytes, lost, fn, arg);
}

struct seen {
	size_t n;
	uint64_t ns[8];
	uint32_t first[8];
	size_t bytes[8];
};

static void see(void *arg, uint64_t ns, const unsigned char *data, size_t bytes)
{
	struct seen *s = arg;

	s->ns[s->n] = ns;
	memcpy(&s->first[s->n], data, 4);
	s->bytes[s->n++] = bytes;
}

static void pages(void)
{
	struct seen s = { 0 };
	bool lost = true, good;

	begin_page(1000);
	put_event(2, 5); /* two words */
	put_word(11);
	put_word(12);
	put_event(30, 3); /* a long time */
	put_word(1);
	put_event(0, 7); /* its length follows it */
	put_word(4 + 10);
	put_word(21);
	put_word(22);
	put_word(23);
	put_event(29, 1); /* thrown away */
	put_word(8);
	put_word(0);
	put_event(1, 0);
	put_word(31);
	put_event(31, 9); /* a stamp */
	put_word(2);
	put_event(1, 1);
	put_word(41);
	put_event(29, 0); /* the end */
	put_word(99);
	good = end_page(0, &lost, see, &s);
	ok(good && !lost && s.n == 4, "events of a page are found between what is none");
	ok(s.ns[0] == 1005 && s.ns[1] == 1005 + (1u << 27) + 3 + 7 && s.ns[2] == s.ns[1] + 1 &&
		   s.ns[3] == (2u << 27) + 10,
	   "each with its moment");
	ok(s.first[0] == 11 && s.bytes[0] == 8 && s.first[1] == 21 && s.bytes[1] == 12 &&
		   s.first[2] == 31 && s.first[3] == 41,
	   "and its bytes");
	begin_page(0);
	ok(end_page(1u << 31, &lost, see, &s) && lost && s.n == 4, "a page after a gap says so");
	put_event(5, 0);
	put_word(0);
	ok(!end_page(0, &lost, see, &s), "an event longer than its page is refused");
	begin_page(0);
	put_event(0, 0);
	put_word(2);
	ok(!end_page(0, &lost, see, &s), "or one shorter than its length");
	page[8] = 0xff;
	ok(!sp__tracepage_parse(page, 24, &lost, see, &s) &&
		   !sp__tracepage_parse(page, 15, &lost, see, &s),
	   "or a page that is not all there");
}

static void formats(void)
{
	static const char format[] =
		"name: block_io_start\nID: 2101\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
		"\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
		"\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n"
		"\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n"
		"\tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n";
	unsigned offset;
	unsigned id;

	ok(sp__traceformat_id(format, &id) && id == 2101, "an event has its number");
	ok(sp__traceformat_field(format, "sector", 8, &offset) && offset == 16 &&
		   sp__traceformat_field(format, "nr_sector", 4, &offset) && offset == 24 &&
		   !sp__traceformat_field(format, "nr_sector", 8, &offset),
	   "and its fields, by their whole names");
	ok(!sp__traceformat_field(format, "bytes", 4, &offset) && !sp__traceformat_id("ID: x", &id),
	   "or not");
}

/* Requests of our own, if the system may be traced. */
static void traced(void)
{
	const char *name = "a process that asks for nothing has nothing outstanding";
	const struct sp_watch_result *r;
	char pid[16];

	plant("proc/4711/task/4711/x", "");
	reset("4711");
	opts.source = SP_WATCH_TRACE;
	ok(try() == SP_EUNSUP && strstr(err.text, "tracefs cannot be read"),
	   "a system without a trace says so");
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	reset(pid);
	opts.sys = opts.proc = NULL;
	opts.source = SP_WATCH_TRACE;
	if (try()) {
		skip(name, "no trace can be had here");
		return;
	}
	r = sp_watch_result(watch);
	ok(r->depth_max == 0 && r->depth_ns[0] == r->elapsed_ns && r->elapsed_ns >= 30000000, "%s",
	   name);
}

/* Never early, each once or counted as missed, even without a timer. */
static void moments(const char *name)
{
	uint64_t begin_ns = sp__now_ns(), now_ns = begin_ns, moment = 0, early = 0, left_out = 0;
	struct sp__moments m;

	sp__moments_open(&m, begin_ns, 1000000);
	for (unsigned i = 0; i < 3 * SP__MOMENTS_AHEAD + 5; i++) {
		uint64_t skipped;

		if (i == SP__MOMENTS_AHEAD / 2 || i == 2 * SP__MOMENTS_AHEAD) {
			usleep(40000);
			now_ns = sp__now_ns();
		}
		skipped = sp__moments_wait(&m, now_ns);
		moment += skipped + 1;
		left_out += skipped;
		now_ns = sp__now_ns();
		early += now_ns < begin_ns + moment * 1000000;
	}
	sp__moments_close(&m);
	ok(!early && left_out >= 70 && moment == 3 * SP__MOMENTS_AHEAD + 5 + left_out, "%s", name);
}

static void moments_without_timers(void)
{
	struct rlimit was, none;

	getrlimit(RLIMIT_NOFILE, &was);
	none = (struct rlimit){ 3, was.rlim_max };
	setrlimit(RLIMIT_NOFILE, &none);
	moments("moments that are slept for");
	setrlimit(RLIMIT_NOFILE, &was);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
	(void)st, (void)type, (void)f;
	return remove(path);
}

int main(void)
{
	if (!mkdtemp(root))
		return 1;
	snprintf(sys, sizeof(sys), "%s/sys", root);
	snprintf(proc, sizeof(proc), "%s/proc", root);
	recorded();
	devices();
	changes();
	processes();
	known_depth(37);
	pages();
	formats();
	traced();
	moments("moments that are set ahead");
	moments_without_timers();
	sp_watch_free(watch);
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return done();
}
