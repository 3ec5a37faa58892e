/* SPDX-License-Identifier: MIT */
/*
 * Opens volumes: temporary files, block devices, borrowed descriptors and simulated files; reports
 * whether bytes of a file are in the page cache.
 *
 * Whether a file is cached is sampled, evenly from the first byte to the last.  cachestat (Linux
 * 6.5) counts pages and reads none.  Older kernels get a read of one byte per sample with
 * RWF_NOWAIT, which can make the kernel fetch a missing page.
 *
 * Rejected: mincore, which reports every page of a file without write permission as present.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/err.h"
#include "base/host.h"
#include "base/minmax.h"
#include "base/owndir.h"
#include "dev/model.h"
#include "io/volume.h"
#include "obs/trace.h"
#include "sim/machine.h"

/*
 * Page-sized units satisfy every device whose logical block is no larger, and cost nothing for
 * requests of many pages.  So smaller units are never used.
 */
#define ALIGN_BYTES 4096

/* Below this limit descriptors are kept for indispensable uses. */
#define FDS_ENOUGH 32
/* Space reserved in one step if the size is not known beforehand. */
#define RESERVE_BYTES ((uint64_t)256 << 20)

/* Returns the unit of direct requests; 0: the file system refuses them. */
static uint32_t direct_align(int fd)
{
#ifdef STATX_DIOALIGN
	struct statx sx;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &sx) == 0 &&
	    (sx.stx_mask & STATX_DIOALIGN)) {
		uint32_t align = sx.stx_dio_offset_align;

		if (align == 0)
			return 0;
		if (align < sx.stx_dio_mem_align)
			align = sx.stx_dio_mem_align;
		return align < ALIGN_BYTES ? ALIGN_BYTES : align;
	}
#else
	(void)fd;
#endif
	return ALIGN_BYTES;
}

static int inspect_device(struct sp__volume *v)
{
	int block = 0;

	if (ioctl(v->fd, BLKGETSIZE64, &v->size_bytes) || ioctl(v->fd, BLKSSZGET, &block))
		return -errno;
	v->block_bytes = (uint32_t)block;
	return 0;
}

static int inspect(struct sp__volume *v)
{
	struct stat st;
	int flags;

	if (fstat(v->fd, &st))
		return -errno;
	flags = fcntl(v->fd, F_GETFL);
	if (flags < 0)
		return -errno;
	v->regular = S_ISREG(st.st_mode);
	v->direct = flags & O_DIRECT;
	v->align_bytes = v->direct ? direct_align(v->fd) : ALIGN_BYTES;
	if (v->align_bytes == 0)
		return SP_EUNSUP;
	if (S_ISBLK(st.st_mode))
		return inspect_device(v);
	v->block_bytes = 1;
	v->size_bytes = (uint64_t)st.st_size;
	return v->regular ? 0 : SP_EUNSUP;
}

static int no_volume(int fd, bool owned, int rc, const char *name, struct sp_errinfo *err)
{
	if (owned)
		close(fd);
	return sp__err(err, rc, "open", name, -1);
}

int sp__volume_adopt(struct sp__volume **out, int fd, bool owned, const char *name,
		     struct sp_errinfo *err)
{
	struct sp__volume *v = calloc(1, sizeof(*v));
	int rc;

	if (!v)
		return no_volume(fd, owned, -ENOMEM, name, err);
	v->fd = fd;
	v->name = strdup(name);
	rc = v->name ? inspect(v) : -ENOMEM;
	if (rc) {
		sp__volume_close(v);
		return no_volume(fd, owned, rc, name, err);
	}
	v->owned = owned;
	*out = v;
	return 0;
}

int sp__volume_open_err(struct sp_errinfo *err, int code, const char *path)
{
	return sp__errf(err, code, "open", path, -1, "%s",
			code == -EBUSY ? "is in use: mounted, or part of another device" : "");
}

int sp__volume_block(struct sp__volume **v, const char *path, struct sp_errinfo *err)
{
	struct stat st;
	int fd;

	if (stat(path, &st) == 0 && !S_ISBLK(st.st_mode))
		return sp__err(err, -ENOTBLK, "open", path, -1);
	fd = open(path, O_RDWR | O_DIRECT | O_EXCL | O_CLOEXEC);
	if (fd < 0)
		return sp__volume_open_err(err, -errno, path);
	return sp__volume_adopt(v, fd, true, path, err);
}

uint64_t sp__volume_capacity(const struct sp__volume *v)
{
	const struct sp__model *model = v->machine ? sp__machine_model(v->machine) : NULL;

	if (model)
		return model->blocks * model->block_bytes;
	return v->regular ? UINT64_MAX : v->size_bytes;
}

int sp__volume_err(struct sp_errinfo *err, const struct sp__volume *v, int code, const char *op,
		   long long offset)
{
	return sp__errf(err, code, op, v->name, offset, "%s",
			v->machine && code == -ENOSPC ? "No space left on the simulated device"
						      : "");
}

int sp__volume_device(struct sp__volume **device, const char *spec, struct sp_errinfo *err)
{
	struct sp__volume *v = calloc(1, sizeof(*v));
	struct sp__machine_spec parsed;
	const struct sp__model *model;
	int rc;

	if (!v)
		return sp__err(err, -ENOMEM, "sim", "", -1);
	rc = sp__machine_spec_parse(&parsed, spec, err);
	if (!rc)
		rc = sp__machine_open(&v->machine, &parsed, err);
	if (rc) {
		free(v);
		return rc;
	}
	model = sp__machine_model(v->machine);
	v->fd = -1;
	v->owned = true;
	v->align_bytes = parsed.page_bytes;
	v->block_bytes = model->block_bytes;
	v->size_bytes = model->blocks * model->block_bytes;
	*device = v;
	return 0;
}

int sp__volume_add_file(const struct sp__volume *device, enum sp__sim_area area, uint64_t bytes)
{
	return sp__machine_file(device->machine, area, bytes);
}

void sp__volume_place(struct sp__volume *v, const struct sp__volume *device, unsigned file)
{
	v->machine = device->machine;
	v->sim_file = file;
}

int sp__volume_cover(struct sp__volume *v, const struct sp__volume *device, struct sp_errinfo *err)
{
	int rc = sp__machine_cover(device->machine);

	sp__volume_place(v, device, rc < 0 ? 0 : (unsigned)rc);
	return rc < 0 ? sp__volume_err(err, v, rc, "create", -1) : 0;
}

int sp__volume_simulate(struct sp__volume *v, const struct sp__volume *device,
			enum sp__sim_area area, uint64_t bytes, struct sp_errinfo *err)
{
	int rc = sp__volume_add_file(device, area, bytes);

	sp__volume_place(v, device, rc < 0 ? 0 : (unsigned)rc);
	return rc < 0 ? sp__volume_err(err, v, rc, "create", -1) : 0;
}

int sp__volume_hollow(struct sp__volume **v, const struct sp__volume *device,
		      enum sp__sim_area area, uint64_t bytes, struct sp_errinfo *err)
{
	struct sp__volume *new = calloc(1, sizeof(*new));
	int rc;

	if (!new)
		return sp__err(err, -ENOMEM, "open", NULL, -1);
	*new = (struct sp__volume){ .fd = -1,
				    .hollow = true,
				    .align_bytes = ALIGN_BYTES,
				    .block_bytes = 1,
				    .name = strdup("dry run") };
	rc = new->name ? sp__volume_simulate(new, device, area, bytes, err)
		       : sp__err(err, -ENOMEM, "open", NULL, -1);
	if (rc < 0)
		sp__volume_close(new);
	else
		*v = new;
	return rc;
}

int sp__volume_begin_lbn(const struct sp__volume *v, uint64_t *lbn)
{
	*lbn = 0;
	return v->machine ? sp__machine_locate(v->machine, v->sim_file, v->sim_begin, lbn) : 0;
}

void sp__volume_discard(const struct sp__volume *v)
{
	if (v->machine)
		sp__machine_punch(v->machine, v->sim_file, 0, UINT64_MAX);
}

uint64_t sp__volume_now_ns(const struct sp__volume *v)
{
	return v && v->machine ? sp__machine_now_ns(v->machine) : sp__now_ns();
}

static uint64_t trace_ns(const void *device)
{
	return sp__volume_now_ns(device);
}

void sp__volume_trace(const struct sp__volume *device, struct sp__trace *trace)
{
	if (device && trace)
		sp__trace_virtual(trace, trace_ns, device);
}

/* Creates a file that has a name only for an instant, in which no signal can end the process. */
static int create_unlinked(const char *dir, int flags)
{
	sigset_t all, before;
	char *path;
	int fd;

	if (asprintf(&path, "%s/spindleXXXXXX", dir) < 0)
		return -ENOMEM;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	fd = mkostemp(path, flags);
	if (fd < 0)
		fd = -errno;
	/* A file system that refuses direct I/O does so after creating the file. */
	if (fd >= 0 || fd == -EINVAL)
		unlink(path);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	free(path);
	return fd;
}

static int open_unnamed(const char *dir, int flags)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC | flags, 0600);

	if (fd >= 0)
		return fd;
	if (errno == EOPNOTSUPP || errno == EISDIR)
		return create_unlinked(dir, O_CLOEXEC | flags);
	return -errno;
}

int sp__volume_temp(struct sp__volume **v, const char *dir, enum sp__direct direct,
		    struct sp_errinfo *err)
{
	int fd = -EINVAL, rc = SP_EUNSUP;

	if (direct != SP__DIRECT_NEVER)
		fd = open_unnamed(dir, O_DIRECT);
	if (fd >= 0) {
		rc = sp__volume_adopt(v, fd, true, dir, NULL);
		if (rc == 0)
			return 0;
	} else if (fd != -EINVAL) {
		return sp__err(err, fd, "create", dir, -1);
	}
	if (direct == SP__DIRECT_ALWAYS)
		return sp__errf(err, rc, "create", dir, -1, "no direct I/O on this file system");
	fd = open_unnamed(dir, 0);
	if (fd < 0)
		return sp__err(err, fd, "create", dir, -1);
	return sp__volume_adopt(v, fd, true, dir, err);
}

int sp__volume_named(struct sp__volume **v, const struct sp__owndir *dir, const char *name,
		     enum sp__direct direct, struct sp_errinfo *err)
{
	char path[PATH_MAX];
	int fd = -1;

	snprintf(path, sizeof(path), "%s/%s", dir->path, name);
	if (direct != SP__DIRECT_NEVER)
		fd = sp__owndir_file(dir, name, O_RDWR | O_CREAT | O_DIRECT, 0600, NULL);
	if (fd < 0)
		fd = sp__owndir_file(dir, name, O_RDWR | O_CREAT, 0600, err);
	if (fd < 0)
		return sp__err(err, fd, "open", path, -1);
	return sp__volume_adopt(v, fd, true, path, err);
}

int sp__volume_reopen_direct(struct sp__volume **v, int fd, bool write, const char *name)
{
	char path[32];
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, (write ? O_WRONLY : O_RDONLY) | O_DIRECT | O_CLOEXEC | O_NONBLOCK);
	if (again < 0)
		return errno == EMFILE || errno == ENFILE ? -errno : SP_EUNSUP;
	return sp__volume_adopt(v, again, true, name, NULL);
}

/*
 * Reserves in limited steps: if space is short, a failing step can leave all free space reserved,
 * and others need it too.
 */
void sp__file_reserve(int fd, struct sp__reserved *r, uint64_t end)
{
	uint64_t to = sp__max(end, sp__min(r->to + RESERVE_BYTES, r->expected_end));

	if (r->refused || end <= r->to)
		return;
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)r->to, (off_t)(to - r->to)))
		r->refused = true;
	r->to = to;
}

bool sp__fds_scarce(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < FDS_ENOUGH;
}

unsigned sp__fds_free(unsigned enough)
{
	struct rlimit limit;
	unsigned found = 0;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return enough;
	for (int fd = 0; found < enough && (rlim_t)fd < limit.rlim_cur; fd++)
		found += fcntl(fd, F_GETFD) < 0;
	return found;
}

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

void sp__volume_close(struct sp__volume *v)
{
	if (!v)
		return;
	if (v->owned && v->fd >= 0)
		close(v->fd);
	else if (v->owned)
		sp__machine_close(v->machine);
	free(v->name);
	free(v->trace_name);
	free(v);
}
