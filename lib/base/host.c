/* SPDX-License-Identifier: MIT */
/*
 * Reads the memory and the processors of the machine, and their limits, from /proc and /sys.
 *
 * Control groups: every ancestor of the process's group can limit it, so the path is walked up to
 * the root of the hierarchy.  In a container the path in /proc/self/cgroup might not exist below
 * /sys/fs/cgroup; then the root itself is read.  Tests have their own files below another root
 * directory.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <spindle/size.h>
#include "base/clock.h"
#include "base/host.h"
#include "base/minmax.h"

#define CEILING (1ull << 30)
/* Version 1 has no word for "no limit"; it stores a number of at least this size. */
#define NO_LIMIT (1ull << 62)

/* Reads a small file without stdio, which would allocate and call stat at every start. */
static bool read_small(const char *path, char *buf, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, buf, bytes - 1);
	close(fd);
	if (n <= 0)
		return false;
	buf[n] = '\0';
	return true;
}

static uint64_t available(void)
{
	char buf[512];
	const char *p;

	if (!read_small("/proc/meminfo", buf, sizeof(buf)))
		return UINT64_MAX;
	p = strstr(buf, "MemAvailable:");
	return p ? strtoull(p + strlen("MemAvailable:"), NULL, 10) * 1024 : UINT64_MAX;
}

/* Reads a file of a group; "" if it cannot be read. */
static void read_group(const char *root, const char *dir, const char *group, const char *name,
		       char buf[64])
{
	char path[8400];
	int n = snprintf(path, sizeof(path), "%s%s%s/%s", root, dir, group, name);

	if (n < 0 || (size_t)n >= sizeof(path) || !read_small(path, buf, 64))
		buf[0] = '\0';
}

/* Returns the number of bytes that a file holds; it can hold "max". */
static uint64_t memory_limit(const char *root, const char *dir, const char *group, const char *name)
{
	char buf[64], *end;
	uint64_t v;

	read_group(root, dir, group, name, buf);
	v = strtoull(buf, &end, 10);
	return end != buf && v < NO_LIMIT ? v : UINT64_MAX;
}

/* Returns how many processors a quota of time in each period is, rounded up. */
static uint64_t processors(const char *quota, const char *period)
{
	char *end;
	long long q = strtoll(quota, &end, 10), p = strtoll(period, NULL, 10);

	return end != quota && q > 0 && p > 0 ? (uint64_t)((q + p - 1) / p) : UINT64_MAX;
}

static uint64_t memory_of_first(const char *root, const char *group)
{
	return memory_limit(root, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
}

static uint64_t memory_of_second(const char *root, const char *group)
{
	return memory_limit(root, "/sys/fs/cgroup", group, "memory.max");
}

static uint64_t processors_of_first(const char *root, const char *group)
{
	char quota[64], period[64];

	read_group(root, "/sys/fs/cgroup/cpu", group, "cpu.cfs_quota_us", quota);
	read_group(root, "/sys/fs/cgroup/cpu", group, "cpu.cfs_period_us", period);
	return processors(quota, period);
}

static uint64_t processors_of_second(const char *root, const char *group)
{
	char buf[64], *space;

	read_group(root, "/sys/fs/cgroup", group, "cpu.max", buf);
	space = strchr(buf, ' ');
	return space ? processors(buf, space) : UINT64_MAX;
}

/* A resource that both versions of control groups limit. */
struct limited {
	const char *controller; /* its name in version 1 */
	uint64_t (*first)(const char *root, const char *group);
	uint64_t (*second)(const char *root, const char *group);
};

static uint64_t limit_upwards(const char *root, char *group,
			      uint64_t (*limit_of)(const char *root, const char *group))
{
	uint64_t limit = UINT64_MAX;
	char *slash;

	for (;;) {
		limit = sp__min(limit, limit_of(root, group));
		slash = strrchr(group, '/');
		if (!slash)
			return limit;
		*slash = '\0';
	}
}

/* True if a list of names, separated by commas, has this name. */
static bool has_name(const char *list, const char *name)
{
	const size_t bytes = strlen(name);

	for (; *list; list += strcspn(list, ","), list += *list == ',')
		if (strcspn(list, ",") == bytes && !strncmp(list, name, bytes))
			return true;
	return false;
}

/* Reads one line of /proc/self/cgroup: "ID:CONTROLLERS:PATH". */
static uint64_t limit_of_line(const char *root, char *line, const struct limited *what)
{
	char *controllers = strchr(line, ':'), *group;

	group = controllers ? strchr(++controllers, ':') : NULL;
	if (!group)
		return UINT64_MAX;
	*group++ = '\0';
	if (!*controllers)
		return limit_upwards(root, group, what->second);
	return has_name(controllers, what->controller) ? limit_upwards(root, group, what->first)
						       : UINT64_MAX;
}

static uint64_t group_limit(const char *root, const struct limited *what)
{
	uint64_t limit = UINT64_MAX;
	char path[4200], buf[4096], *line, *save = NULL;
	int n = snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);

	if (n < 0 || (size_t)n >= sizeof(path) || !read_small(path, buf, sizeof(buf)))
		return limit;
	for (line = strtok_r(buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		limit = sp__min(limit, limit_of_line(root, line, what));
	return limit;
}

uint64_t sp__host_memory_group(const char *root)
{
	return group_limit(root, &(struct limited){ "memory", memory_of_first, memory_of_second });
}

static uint64_t processors_group(const char *root)
{
	const struct limited what = { "cpu", processors_of_first, processors_of_second };
	/* Those of the process: seconds of the clock and one, then 32 bits for the number. */
	static _Atomic uint64_t known;
	const uint64_t second = (sp__now_ns() / 1000000000u + 1) << 32;
	uint64_t n = atomic_load_explicit(&known, memory_order_relaxed);

	if (*root)
		return group_limit(root, &what);
	if (n < second) {
		n = second | sp__min(group_limit(root, &what), (uint64_t)UINT32_MAX);
		atomic_store_explicit(&known, n, memory_order_relaxed);
	}
	return (uint32_t)n;
}

unsigned sp__host_processors(const char *root)
{
	cpu_set_t set;
	long n;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		n = CPU_COUNT(&set);
	else
		n = sysconf(_SC_NPROCESSORS_ONLN);
	if (n > 1)
		n = (long)sp__min((uint64_t)n, processors_group(root));
	return n < 1 ? 1 : (unsigned)n;
}

static uint64_t rlimit_of(int resource)
{
	struct rlimit r;

	if (getrlimit(resource, &r) || r.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return r.rlim_cur;
}

uint64_t sp_memory_group(void)
{
	return sp__host_memory_group("");
}

bool sp__host_turns(dev_t dev)
{
	char path[96], buf[8];

	/* A partition has no queue of its own. */
	for (int up = 0; up < 2; up++) {
		snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%squeue/rotational", major(dev),
			 minor(dev), up ? "../" : "");
		if (read_small(path, buf, sizeof(buf)))
			return buf[0] == '1';
	}
	return false;
}

uint64_t sp__host_page_cache(void)
{
	return sp__min(available(), sp_memory_group());
}

/* By default writeback starts at 10 % of the available memory; 1/12 is below that. */
uint64_t sp__host_unwritten(void)
{
	return sp__host_page_cache() / 12;
}

uint64_t sp_memory_default_small(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	uint64_t bytes = CEILING;

	if (pages > 0 && page > 0)
		bytes = sp__min(bytes, (uint64_t)pages * (uint64_t)page / 8);
	bytes = sp__min(bytes, rlimit_of(RLIMIT_AS) / 2);
	return sp__min(bytes, rlimit_of(RLIMIT_DATA) / 2);
}

uint64_t sp_memory_default(void)
{
	uint64_t bytes = sp__min(sp_memory_default_small(), available() / 2);

	return sp__min(bytes, sp_memory_group() / 2);
}
