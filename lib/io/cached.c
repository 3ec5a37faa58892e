/* SPDX-License-Identifier: MIT */
/*
 * Samples whether a file is in the page cache.
 *
 * Algorithm: samples are spread evenly from the first byte to the last.  cachestat (Linux 6.5)
 * counts pages and reads none.  Older kernels get a read of one byte per sample with RWF_NOWAIT,
 * which can make the kernel fetch a missing page.
 *
 * Rejected: mincore, which reports every page of a file without write permission as present.
 */
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include "base/host.h"
#include "base/minmax.h"
#include "io/cached.h"
#include "sim/machine.h"

#define SAMPLES 16
#define SAMPLE_BYTES 65536
#define PAGE_BYTES 4096

#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

struct range {
	uint64_t offset, bytes;
};

struct pages {
	uint64_t cached, dirty, writeback, evicted, recently_evicted;
};

/* Returns the number of cached pages, and in *of the number of pages; or an error. */
static long count_pages(int fd, uint64_t offset, uint64_t bytes, long *of)
{
	struct range r = { offset, bytes };
	struct pages p;

	if (syscall(SYS_cachestat, fd, &r, &p, 0))
		return -errno;
	*of = (long)((r.bytes + PAGE_BYTES - 1) / PAGE_BYTES);
	return (long)p.cached;
}

static long try_byte(int fd, uint64_t offset, long *of)
{
	char byte;
	struct iovec v = { &byte, 1 };

	*of = 1;
	return preadv2(fd, &v, 1, (off_t)offset, RWF_NOWAIT) == 1;
}

bool sp__file_cached(int fd, uint64_t begin, uint64_t end)
{
	uint64_t span = end > begin ? end - begin : 0;
	uint64_t step = span > SAMPLE_BYTES ? (span - SAMPLE_BYTES) / (SAMPLES - 1) : 0;
	long cached = 0, asked = 0;

	if (span == 0)
		return true;
	for (int i = 0; i < SAMPLES; i++) {
		uint64_t at = (begin + (uint64_t)i * step) / PAGE_BYTES * PAGE_BYTES;
		long of = 1, n = count_pages(fd, at, sp__min(end - at, SAMPLE_BYTES), &of);

		if (n < 0)
			n = try_byte(fd, at, &of);
		cached += n < of ? n : of;
		asked += of;
	}
	return 2 * cached > asked;
}

bool sp__file_turns(int fd, uint64_t begin, uint64_t end)
{
	struct stat st;

	return !fstat(fd, &st) && sp__host_turns(st.st_dev) && !sp__file_cached(fd, begin, end);
}

bool sp__volume_cached(const struct sp__volume *v, uint64_t offset, uint64_t bytes)
{
	long of = 1, n;

	if (v->machine)
		return sp__machine_cached(v->machine, v->sim_file, v->sim_begin + offset, bytes);
	n = count_pages(v->fd, offset, bytes, &of);
	if (n >= 0)
		return n >= of;
	return try_byte(v->fd, offset, &of) > 0 && try_byte(v->fd, offset + bytes - 1, &of) > 0;
}
