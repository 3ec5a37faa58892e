/* SPDX-License-Identifier: MIT */
/*
 * Reads the memory of the machine and its limits from /proc and /sys.
 *
 * Control groups: every ancestor of the process's group can limit it, so the path is walked up to
 * the root of the hierarchy.  In a container the path in /proc/self/cgroup might not exist below
 * /sys/fs/cgroup; then the root itself is read.  Tests have their own files below another root
 * directory.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <spindle/size.h>
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

/* Returns the number of bytes that a file holds; it can hold "max". */
static uint64_t limit_file(const char *root, const char *dir, const char *group, const char *name)
{
	char path[8400], buf[64];
	int n = snprintf(path, sizeof(path), "%s%s%s/%s", root, dir, group, name);
	char *end;
	uint64_t v;

	if (n < 0 || (size_t)n >= sizeof(path) || !read_small(path, buf, sizeof(buf)))
		return UINT64_MAX;
	v = strtoull(buf, &end, 10);
	return end != buf && v < NO_LIMIT ? v : UINT64_MAX;
}

static uint64_t limit_upwards(const char *root, const char *dir, char *group, const char *name)
{
	uint64_t limit = UINT64_MAX;
	char *slash;

	for (;;) {
		limit = sp__min(limit, limit_file(root, dir, group, name));
		slash = strrchr(group, '/');
		if (!slash)
			return limit;
		*slash = '\0';
	}
}

/* Reads one line of /proc/self/cgroup: "ID:CONTROLLERS:PATH". */
static uint64_t limit_of_line(const char *root, char *line)
{
	char *controllers = strchr(line, ':'), *group;

	group = controllers ? strchr(++controllers, ':') : NULL;
	if (!group)
		return UINT64_MAX;
	*group++ = '\0';
	if (!*controllers)
		return limit_upwards(root, "/sys/fs/cgroup", group, "memory.max");
	if (!strcmp(controllers, "memory"))
		return limit_upwards(root, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
	return UINT64_MAX;
}

uint64_t sp__host_memory_group(const char *root)
{
	uint64_t limit = UINT64_MAX;
	char path[4200], buf[4096], *line, *save = NULL;
	int n = snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);

	if (n < 0 || (size_t)n >= sizeof(path) || !read_small(path, buf, sizeof(buf)))
		return limit;
	for (line = strtok_r(buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		limit = sp__min(limit, limit_of_line(root, line));
	return limit;
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

uint64_t sp__host_page_cache(void)
{
	return sp__min(available(), sp_memory_group());
}

/* By default writeback starts at 10 % of the available memory; 1/12 is below that. */
uint64_t sp__host_unwritten(void)
{
	return sp__host_page_cache() / 12;
}

uint64_t sp_memory_default(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	uint64_t bytes = CEILING;

	if (pages > 0 && page > 0)
		bytes = sp__min(bytes, (uint64_t)pages * (uint64_t)page / 8);
	bytes = sp__min(bytes, available() / 2);
	bytes = sp__min(bytes, sp_memory_group() / 2);
	bytes = sp__min(bytes, rlimit_of(RLIMIT_AS) / 2);
	return sp__min(bytes, rlimit_of(RLIMIT_DATA) / 2);
}
