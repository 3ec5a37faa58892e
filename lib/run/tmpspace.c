/* SPDX-License-Identifier: MIT */
/*
 * Computes the free space of the temporary directories.
 *
 * A file system counts once, even if several directories are on it.  A file in memory consumes
 * memory: its file system offers only the available memory that the run does not use.
 */
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <spindle/run.h>
#include "base/err.h"
#include "base/host.h"
#include "base/minmax.h"

static bool seen_before(const struct sp_run_opts *o, size_t n, dev_t dev)
{
	struct stat st;

	for (size_t i = 0; i < n; i++)
		if (stat(o->tmpdirs[i], &st) == 0 && st.st_dev == dev)
			return true;
	return false;
}

int sp_run_space(const struct sp_run_opts *opts, struct sp_run_space *space, struct sp_errinfo *err)
{
	uint64_t memory = sp__host_page_cache();

	*space = (struct sp_run_space){ 0 };
	for (size_t i = 0; i < opts->ntmpdirs; i++) {
		const char *dir = opts->tmpdirs[i];
		struct statfs fs;
		struct stat st;
		uint64_t bytes;

		if (stat(dir, &st) || statfs(dir, &fs))
			return sp__err(err, -errno, "stat", dir, -1);
		if (seen_before(opts, i, st.st_dev))
			continue;
		bytes = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
		space->free_bytes += bytes;
		if (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC)
			space->memory_bytes += bytes;
	}
	memory -= sp__min(memory, opts->memory_bytes);
	if (space->memory_bytes > memory) {
		space->free_bytes -= space->memory_bytes - memory;
		space->memory_bytes = memory;
	}
	return 0;
}
