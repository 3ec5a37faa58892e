/* SPDX-License-Identifier: MIT */
/*
 * Preflights of planted trees: devices of several kinds, as systems show them.
 */
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <spindle/preflight.h>
#include "io/engine.h"
#include "observe/sysdev.h"
#include "tap.h"

static char root[] = "/tmp/preflight-XXXXXX";
static struct sp_preflight p;
static struct sp_preflight_opts opts;
static struct sp_bench_class classes[2];

/* A file below the root, and the folders on the way. */
__attribute__((format(printf, 2, 3))) static void plant(const char *path, const char *fmt, ...)
{
	char full[512];
	va_list ap;
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *s = full + strlen(root) + 1; (s = strchr(s, '/')); *s++ = '/') {
		*s = '\0';
		mkdir(full, 0777);
	}
	f = fopen(full, "w");
	if (!f) {
		diag("%s: %s", full, strerror(errno));
		exit(1);
	}
	va_start(ap, fmt);
	vfprintf(f, fmt, ap);
	va_end(ap);
	fclose(f);
}

static void link_to(const char *path, const char *to)
{
	char full[512], target[512];

	plant("sys/dev/block/.keep", "%s", "");
	plant("sys/block/.keep", "%s", "");
	snprintf(full, sizeof(full), "%s/%s", root, path);
	snprintf(target, sizeof(target), "%s/%s", root, to);
	if (symlink(target, full) && errno != EEXIST)
		diag("symlink %s: %s", full, strerror(errno));
}

/* A whole device; tags 0: it has no queue of its own. */
static void device(const char *name, unsigned major, unsigned minor, const char *scheduler,
		   unsigned places, unsigned tags)
{
	char dir[128], path[256];

	snprintf(dir, sizeof(dir), "sys/devices/%s", name);
#define PLANT(file, ...) (snprintf(path, sizeof(path), "%s/" file, dir), plant(path, __VA_ARGS__))
	PLANT("dev", "%u:%u\n", major, minor);
	PLANT("queue/scheduler", "%s\n", scheduler);
	PLANT("queue/nr_requests", "%u\n", places);
	PLANT("slaves/.keep", "%s", "");
	if (tags)
		PLANT("mq/0/nr_tags", "%u\n", tags);
	snprintf(path, sizeof(path), "sys/dev/block/%u:%u", major, minor);
	link_to(path, dir);
	snprintf(path, sizeof(path), "sys/block/%s", name);
	link_to(path, dir);
}

static void reset(const char *target, unsigned outstanding)
{
	static char sys[64], proc[64];

	snprintf(sys, sizeof(sys), "%s/sys", root);
	snprintf(proc, sizeof(proc), "%s/proc", root);
	for (int i = 0; i < 2; i++)
		classes[i] = (struct sp_bench_class){ .name = i ? "low" : "high",
						      .reads = 1,
						      .prio = SP_BENCH_PRIO(SP_BENCH_BE + i, 0) };
	opts = (struct sp_preflight_opts){ .target = target,
					   .classes = classes,
					   .nclasses = 2,
					   .outstanding = outstanding,
					   .sys = sys,
					   .proc = proc };
}

static enum sp_preflight_verdict ask(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc = sp_preflight(&p, &opts, &err);

	if (rc) {
		diag("%s: %d %s", opts.target, rc, err.text);
		exit(1);
	}
	return p.verdict;
}

static enum sp_preflight_verdict of(const char *target, unsigned outstanding)
{
	reset(target, outstanding);
	return ask();
}

static bool said(const char *words)
{
	for (size_t i = 0; i < p.nremarks; i++)
		if (strstr(p.remarks[i].text, words) || strstr(p.remarks[i].advice, words))
			return true;
	for (size_t i = 0; i < p.nremarks; i++)
		diag("remark: %s -> %s", p.remarks[i].text, p.remarks[i].advice);
	return false;
}

static void schedulers(void)
{
	device("sda", 8, 0, "[none] mq-deadline", 64, 32);
	ok(of("sda", 200) == SP_PREFLIGHT_NO && said("scheduler none ignores priorities") &&
		   said("echo mq-deadline > /sys/block/sda/queue/scheduler"),
	   "scheduler none: no, and what would change it");
	device("sdb", 8, 16, "none [kyber]", 64, 32);
	ok(of("sdb", 200) == SP_PREFLIGHT_NO && said("the kernel needs the scheduler mq-deadline"),
	   "kyber: no, and there is no other");
	device("sdc", 8, 32, "none mq-deadline [bfq]", 256, 32);
	ok(of("sdc", 200) == SP_PREFLIGHT_NO && said("uses the priority of the thread"),
	   "bfq: not for requests of one thread");
	opts.engine = "sync";
	opts.outstanding = 100;
	ok(ask() == SP_PREFLIGHT_YES, "except for those of several");
	device("sdd", 8, 48, "none [adios]", 256, 32);
	ok(of("sdd", 200) == SP_PREFLIGHT_UNKNOWN, "of a scheduler that is not known it says so");
	device("sde", 8, 64, "none [mq-deadline]", 256, 32);
	ok(of("sde", 200) == SP_PREFLIGHT_YES && p.best_share == 32.0 / 200 && p.nlayers == 1 &&
		   !strcmp(p.layers[0].scheduler, "mq-deadline") && p.layers[0].requests == 256 &&
		   p.layers[0].window == 32 && p.layers[0].queues == 1 && !p.nremarks,
	   "mq-deadline with room and a small window: yes, without remarks");
	reset("sde", 200);
	classes[0].prio = SP_BENCH_PRIO(SP_BENCH_BE, 0);
	classes[1].prio = SP_BENCH_PRIO(SP_BENCH_BE, 7);
	ok(ask() == SP_PREFLIGHT_NO && said("distinguishes classes, but not levels"),
	   "but not for levels");
	classes[0].prio = 0;
	classes[1].prio = SP_BENCH_PRIO(SP_BENCH_BE, 4);
	ok(ask() == SP_PREFLIGHT_NO && said("all requests have the same priority"),
	   "no priority is that of the middle");
}

static void windows(void)
{
	ok(of("sde", 32) == SP_PREFLIGHT_NO && said("nothing waits in the scheduler"),
	   "as many requests as the device takes: nothing waits");
	ok(of("sde", 40) == SP_PREFLIGHT_WEAK && said("little waits") && p.best_share == 0.8,
	   "a few more: weakly");
	ok(of("sde", 0) == SP_PREFLIGHT_YES && said("more than 32 requests must be outstanding"),
	   "without a number it says how many are needed");
	ok(of("sde", 300) == SP_PREFLIGHT_WEAK && said("256 request slots for 300 requests") &&
		   said("echo 1024 > /sys/block/sde/queue/nr_requests"),
	   "more than the scheduler has places: the rest waits in line");
	device("sdf", 8, 80, "none [mq-deadline]", 16, 32);
	ok(of("sdf", 200) == SP_PREFLIGHT_NO, "fewer places than the window: in vain");
	plant("sys/devices/sdf/device/queue_depth", "4\n");
	ok(of("sdf", 200) == SP_PREFLIGHT_WEAK && p.layers[0].window == 4,
	   "the device's own limit counts if it is smaller");
	device("sdg", 8, 96, "none [mq-deadline]", 256, 32);
	plant("sys/devices/sdg/stat", "0 0 0 0 0 0 0 0 100 0 0\n");
	ok(of("sdg", 20) == SP_PREFLIGHT_YES && p.layers[0].others == 100 &&
		   p.best_share == 32. / 120 && said("others have 100 requests"),
	   "outstanding requests of others count too");
	plant("sys/devices/sdg/stat", "0 0 0 0 0 0 0 0 2 0 0\n");
	ok(of("sdg", 20) == SP_PREFLIGHT_NO && said("and 22 are outstanding"), "and is reported");
	plant("sys/kernel/debug/block/sde/hctx0/tags",
	      "nr_tags=128\nnr_reserved_tags=0\nactive_queues=0\n\nbitmap_tags:\ndepth=16\nbusy="
	      "0\n");
	ok(of("sde", 200) == SP_PREFLIGHT_YES && p.layers[0].window == 16,
	   "the window in debugfs takes precedence");
}

static void parts_and_stacks(void)
{
	struct sp__sysdev d;
	char sys[64];

	plant("sys/devices/sde/sde1/partition", "1\n");
	plant("sys/devices/sde/sde1/dev", "8:65\n");
	link_to("sys/dev/block/8:65", "sys/devices/sde/sde1");
	snprintf(sys, sizeof(sys), "%s/sys", root);
	ok(sp__sysdev_number(&d, sys, makedev(8, 65)) == 0 && d.partition &&
		   !strcmp(d.name, "sde") && d.major == 8 && d.minor == 64 &&
		   strstr(d.part_dir, "/sde1"),
	   "a part of a device is found, and the whole of it");

	device("dm-0", 253, 0, "none", 128, 0);
	plant("sys/devices/dm-0/dm/uuid", "LVM-abc\n");
	link_to("sys/devices/dm-0/slaves/sde1", "sys/devices/sde/sde1");
	link_to("sys/block/sde1", "sys/devices/sde/sde1");
	ok(of("dm-0", 200) == SP_PREFLIGHT_YES && p.nlayers == 2 && p.layers[1].level == 1 &&
		   !strcmp(p.layers[0].kind, "dm LVM") && !*p.layers[0].scheduler &&
		   !strcmp(p.layers[1].name, "sde"),
	   "a mapped device passes requests on to what lies below");
	plant("sys/devices/dm-0/dm/uuid", "CRYPT-LUKS2-abc\n");
	ok(of("dm-0", 200) == SP_PREFLIGHT_UNKNOWN && said("encryption can lose"),
	   "an encrypted one can lose priorities");

	device("md0", 9, 0, "none", 128, 0);
	plant("sys/devices/md0/md/level", "raid0\n");
	link_to("sys/devices/md0/slaves/sde", "sys/devices/sde");
	link_to("sys/devices/md0/slaves/sda", "sys/devices/sda");
	ok(of("md0", 200) == SP_PREFLIGHT_NO && p.nlayers == 3 &&
		   !strcmp(p.layers[0].kind, "md raid0"),
	   "where the way forks, all branches must do");

	device("loop0", 7, 0, "[none] mq-deadline", 128, 128);
	plant("sys/devices/loop0/loop/dio", "0\n");
	ok(of("loop0", 200) == SP_PREFLIGHT_NO && said("--direct-io=on"),
	   "a buffered loop device hides priorities");
	device("loop0", 7, 0, "none [mq-deadline]", 512, 16);
	ok(of("loop0", 200) == SP_PREFLIGHT_YES && p.best_share == 0.08,
	   "unless its own scheduler heeds them");
	device("zram0", 252, 0, "none", 128, 0);
	ok(of("zram0", 200) == SP_PREFLIGHT_NO && said("has no scheduler"),
	   "a device without a queue has nothing to wait in");
}

static void around(void)
{
	reset("sde", 200);
	opts.buffered = true;
	ok(ask() == SP_PREFLIGHT_NO && said("buffered reads have the priority of their thread"),
	   "buffered requests have no priority of their own");
	classes[1].reads = 0.5;
	opts.engine = "sync";
	ok(ask() == SP_PREFLIGHT_NO && said("buffered writes are done later"),
	   "writes least of all");
	reset("sde", 200);
	opts.engine = "null";
	ok(ask() == SP_PREFLIGHT_NO && said("sends no requests"), "the engine null does nothing");

	plant("proc/self/cgroup", "7:blkio:/jobs/a\n0::/user/me\n");
	plant("sys/fs/cgroup/blkio/jobs/blkio.throttle.read_iops_device", "8:0 10\n8:64 400\n");
	ok(of("sde", 200) == SP_PREFLIGHT_UNKNOWN && said("control group /jobs: its limit on sde"),
	   "a limit of an ancestor control group is reported");
	ok(of("sdf", 200) == SP_PREFLIGHT_WEAK && p.nremarks == 1, "only of that device");
	plant("sys/fs/cgroup/user/io.prio.class", "promote-to-rt\n");
	ok(of("sdf", 200) == SP_PREFLIGHT_UNKNOWN && said("/user: promote-to-rt"),
	   "and a policy that changes priorities");
	plant("proc/self/cgroup", "%s", "");

	reset("sde", 200);
	classes[0].prio = SP_BENCH_PRIO(SP_BENCH_RT, 0);
	classes[1].prio = 0;
	ask();
	ok(sp__ioprio_rt_allowed() ? !p.nremarks : said("be and idle are used instead"),
	   "whether class rt is allowed is reported");
	opts.nclasses = 0;
	ok(ask() == SP_PREFLIGHT_YES, "without classes rt against be is meant");
}

static void files(void)
{
	char path[64], text[128];
	struct stat st;
	struct sp__mount m;

	plant("file", "x");
	snprintf(path, sizeof(path), "%s/file", root);
	if (stat(path, &st))
		exit(1);
	snprintf(text, sizeof(text), "sys/dev/block/%u:%u", major(st.st_dev), minor(st.st_dev));
	if (major(st.st_dev)) {
		link_to(text, "sys/devices/sde");
		ok(of(path, 200) == SP_PREFLIGHT_YES && p.file, "a file lies on a device");
	} else {
		skip("a file lies on a device", "the folder for temporary files lies on none");
	}
	ok(sp__mountinfo_find("22 27 0:21 / /proc rw - proc proc rw\n"
			      "27 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw\n"
			      "30 1 0:30 /home /home rw - btrfs /dev/sdb1 rw\n",
			      0, makedev(254, 0), &m) &&
		   !strcmp(m.type, "ext4") && !strcmp(m.source, "/dev/vda"),
	   "a mount is found by its device");
	ok(sp__mountinfo_find("x\n30 1 0:30 /home /home rw - btrfs /dev/sdb1 rw", 30, 0, &m) &&
		   m.major == 0 && m.minor == 30 && !strcmp(m.source, "/dev/sdb1"),
	   "and by its number, between lines that are none");
	ok(!sp__mountinfo_find("30 1 0:30 /home /home rw - btrfs /dev/sdb1 rw", 31, 0, &m),
	   "or not");
	reset("sdz", 200);
	ok(sp_preflight(&p, &opts, NULL) == -ENOENT, "a device that is not there is an error");
	opts.target = root;
	ok(sp_preflight(&p, &opts, NULL) == SP_EUNSUP, "and so is a folder");
	snprintf(path, sizeof(path), "%s/later", root);
	opts.target = path;
	opts.created = true;
	ok(sp_preflight(&p, &opts, NULL) == 0 && p.file, "unless a file is to be made in it");
}

static void simulated(void)
{
	ok(of("sim:linear", 10) == SP_PREFLIGHT_NO && said("noop does not distinguish"),
	   "a simulated device has its scheduler too");
	ok(of("sim:linear,sched=strict", 10) == SP_PREFLIGHT_YES, "one that heeds classes");
	ok(of("sim:linear,sched=strict,window=10", 10) == SP_PREFLIGHT_NO, "and a window");
	reset("sim:linear,sched=deadline-prio", 10);
	classes[1].prio = SP_BENCH_PRIO(SP_BENCH_BE, 7);
	ok(ask() == SP_PREFLIGHT_YES, "or levels");
	opts.target = "sim:linear,sched=promote";
	ok(ask() == SP_PREFLIGHT_YES, "or promotes");
	opts.target = "sim:linear,sched=promote:queues=1";
	ok(ask() == SP_PREFLIGHT_NO, "unless all have one level");
	opts.target = "sim:nosuch";
	ok(sp_preflight(&p, &opts, NULL) < 0, "or is an error");
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
	schedulers();
	windows();
	parts_and_stacks();
	around();
	files();
	simulated();
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return done();
}
