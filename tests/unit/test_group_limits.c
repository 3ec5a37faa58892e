/* SPDX-License-Identifier: MIT */
/*
 * The limits of the control group, read from files that the test has made.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/host.h"
#include "tap.h"

static char root[] = "/tmp/sp-group.XXXXXX";

/* Writes a file below the root, and the directories on its way. */
static void put(const char *path, const char *text)
{
	char full[256];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *p = full + sizeof(root); (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		mkdir(full, 0777);
	}
	f = fopen(full, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		ok(false, "%s is written", full);
}

static void limit(uint64_t want, const char *name)
{
	uint64_t got = sp__host_memory_group(root);

	ok(got == want, "%s (%llu)", name, (unsigned long long)got);
}

static void check_second(void)
{
	put("/proc/self/cgroup", "0::/a/b/c\n");
	put("/sys/fs/cgroup/a/b/c/memory.max", "max\n");
	limit(UINT64_MAX, "version 2: \"max\" is not a limit");
	put("/sys/fs/cgroup/a/b/c/memory.max", "300000\n");
	limit(300000, "version 2: the group's own limit");
	put("/sys/fs/cgroup/a/memory.max", "200000\n");
	limit(200000, "version 2: the lower limit of a group above");
	put("/sys/fs/cgroup/memory.max", "100000\n");
	put("/proc/self/cgroup", "0::/not/seen/here\n");
	limit(100000, "version 2: in a container, the limit of the root that it sees");
}

static void check_first(void)
{
	put("/proc/self/cgroup", "8:pids:/p\n4:cpu,memory:/x\n3:memory:/job/1\n0::/none\n");
	put("/sys/fs/cgroup/memory.max", "max\n");
	put("/sys/fs/cgroup/memory/job/1/memory.limit_in_bytes", "9223372036854771712\n");
	limit(UINT64_MAX, "version 1: a number as large as there can be is not a limit");
	put("/sys/fs/cgroup/memory/job/1/memory.limit_in_bytes", "700000\n");
	limit(700000, "version 1: the group's own limit");
	put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "600000\n");
	limit(600000, "version 1: the lower limit of a group above");
}

/* At most the processors of the affinity, of which the machine has at least one. */
static void check_processors(void)
{
	const unsigned all = sp__host_processors("/nowhere");

	put("/proc/self/cgroup", "0::/cpu/c\n");
	put("/sys/fs/cgroup/cpu/c/cpu.max", "max 100000\n");
	ok(sp__host_processors(root) == all, "version 2: \"max\" is no quota of processors");
	put("/sys/fs/cgroup/cpu/cpu.max", "50000 100000\n");
	ok(sp__host_processors(root) == 1, "version 2: half a processor is one");
	put("/sys/fs/cgroup/cpu/cpu.max", "150000 100000\n");
	ok(sp__host_processors(root) == (all < 2 ? all : 2), "version 2: 1.5 processors are two");
	put("/proc/self/cgroup", "8:pids:/p\n4:cpu,cpuacct:/q\n3:cpuset:/x\n");
	put("/sys/fs/cgroup/cpu/q/cpu.cfs_quota_us", "-1\n");
	put("/sys/fs/cgroup/cpu/q/cpu.cfs_period_us", "100000\n");
	ok(sp__host_processors(root) == all, "version 1: -1 is no quota");
	put("/sys/fs/cgroup/cpu/q/cpu.cfs_quota_us", "100000\n");
	ok(sp__host_processors(root) == 1, "version 1: a quota of one processor");
}

int main(void)
{
	char command[300];

	if (!mkdtemp(root))
		return 1;
	limit(UINT64_MAX, "without /proc there is no limit");
	check_second();
	check_first();
	check_processors();
	put("/proc/self/cgroup", "nothing of this form");
	limit(UINT64_MAX, "of lines that are not understood comes no limit");
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	ok(system(command) == 0, "the files are removed");
	return done();
}
