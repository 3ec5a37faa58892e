/* SPDX-License-Identifier: MIT */
/*
 * Opens targets and protects their data.
 *
 * Assumptions: a block device or an existing file is written to only with overwrite.  The block
 * device is then opened exclusively; the kernel refuses that if the device is mounted or part of
 * another one.  A file is created only if it does not exist.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/mem.h"
#include "base/minmax.h"
#include "base/outfile_impl.h"
#include "base/whole.h"
#include "bench/state.h"

#define CHUNK_BYTES ((size_t)1 << 20)
#define NULL_BYTES ((uint64_t)1 << 30)
#define PAGE_BYTES 4096

static bool used_by(const struct sp__benchclass *c, size_t file)
{
	return !c->spec.target || c->spec.target == file + 1;
}

static bool written(const struct sp_bench *b, size_t file)
{
	if (b->replay)
		return b->replay->writes[file];
	for (size_t i = 0; i < b->nclasses; i++)
		if (used_by(b->classes[i], file) && b->classes[i]->spec.reads < 1)
			return true;
	return false;
}

/* Fills the whole file with random bytes and drops it from the page cache. */
static int write_all(int fd, uint64_t bytes, struct sp__rng *rng, const volatile sig_atomic_t *stop)
{
	uint64_t *data = sp__pages_alloc(CHUNK_BYTES, false), at = 0;
	int rc = data ? 0 : -ENOMEM;

	while (rc == 0 && at < bytes) {
		size_t n = bytes - at < CHUNK_BYTES ? (size_t)(bytes - at) : CHUNK_BYTES;

		for (size_t i = 0; i < CHUNK_BYTES / sizeof(*data); i++)
			data[i] = sp__rng_next(rng);
		rc = stop && *stop ? -EINTR : sp__write_whole(fd, data, n, at);
		at += n;
	}
	sp__pages_free(data, CHUNK_BYTES);
	if (rc == 0 && (fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED)))
		rc = -errno;
	return rc;
}

/* Returns the end of the last range of the file; 0: a class uses the whole file. */
static uint64_t ranges_end(const struct sp_bench *b, size_t file)
{
	uint64_t end = 0;

	for (size_t i = 0; i < b->nclasses; i++) {
		const struct sp_bench_class *c = &b->classes[i]->spec;

		if (!used_by(b->classes[i], file))
			continue;
		if (!c->range_bytes || c->offset_percent)
			return 0;
		if (c->range_bytes > INT64_MAX || c->offset_bytes > INT64_MAX)
			return UINT64_MAX;
		end = sp__max(end, c->offset_bytes + c->range_bytes);
	}
	return end;
}

/* Returns the size of a file to create or of a target without a file; 0: unspecified. */
static uint64_t size_wanted(const struct sp_bench *b, size_t file)
{
	uint64_t bytes = b->opts.size_bytes;

	if (bytes)
		return bytes;
	if (!b->replay)
		return ranges_end(b, file);
	return (b->replay->need[file] + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

static bool exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 || errno != ENOENT;
}

static int create(struct sp_bench *b, size_t file, struct sp_errinfo *err)
{
	struct sp__rng rng = { sp__mix64(b->opts.seed + 77) };
	struct sp__benchfile *f = &b->files[file];
	uint64_t bytes = size_wanted(b, file);
	int fd, rc = 0;

	if (b->opts.create == SP_BENCH_CREATE_MISSING && exists(f->path))
		return 0;
	if (!bytes)
		return sp__errf(err, -ENOENT, "create", f->path, -1,
				"%s, and no size to create it with", sp_strerror(-ENOENT));
	fd = sp__outname_create(&f->name, f->path, O_RDWR, 0600);
	if (fd < 0)
		return sp__err(err, fd, "create", f->path, -1);
	if (bytes > INT64_MAX)
		rc = -EFBIG;
	else if (b->opts.create == SP_BENCH_CREATE_WRITTEN ||
		 b->opts.create == SP_BENCH_CREATE_MISSING)
		rc = write_all(fd, bytes, &rng, b->opts.stop);
	else if (b->opts.create == SP_BENCH_CREATE_RESERVED)
		rc = -posix_fallocate(fd, 0, (off_t)bytes);
	else if (ftruncate(fd, (off_t)bytes))
		rc = -errno;
	close(fd);
	if (rc)
		unlink(f->path);
	if (rc || !b->opts.remove)
		sp__outname_forget(&f->name);
	if (rc)
		return sp__errf(err, rc, "create", f->path, -1, "%s",
				rc == -EINTR ? "stopped while it was created" : "");
	f->created = true;
	return 0;
}

/* Returns the alignment of offsets and sizes of requests. */
static uint32_t alignment(const struct sp__volume *v, bool buffered)
{
#ifdef STATX_DIOALIGN
	struct statx sx;

	if (!buffered && v->regular && statx(v->fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &sx) == 0 &&
	    (sx.stx_mask & STATX_DIOALIGN) && sx.stx_dio_offset_align)
		return sx.stx_dio_offset_align;
#endif
	if (buffered)
		return 1;
	return v->regular ? 512 : v->block_bytes;
}

/* Checks that the target may be written to. */
static int permit(const struct sp_bench *b, const struct sp__benchfile *f, bool block,
		  struct sp_errinfo *err)
{
	if (f->created)
		return 0;
	if (!b->opts.overwrite)
		return sp__errf(err, -EPERM, "open", f->path, -1,
				"would be written to; its data would be lost%s",
				block ? " (--overwrite allows that)"
				      : " (--overwrite allows that, --create makes a new file)");
	if (block && f->path[0] != '/')
		return sp__errf(err, -EPERM, "open", f->path, -1,
				"a device to overwrite must be named by its whole path");
	return 0;
}

static int open_path(struct sp_bench *b, struct sp__benchfile *f, bool write,
		     struct sp_errinfo *err)
{
	int flags = (write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK;
	struct stat st;
	bool block;
	int fd, rc = 0;

	if (stat(f->path, &st))
		return sp__err(err, -errno, "open", f->path, -1);
	block = S_ISBLK(st.st_mode);
	if (!block && !S_ISREG(st.st_mode))
		return sp__errf(err, SP_EUNSUP, "open", f->path, -1,
				"is neither a regular file nor a block device");
	if (write)
		rc = permit(b, f, block, err);
	if (rc)
		return rc;
	flags |= b->opts.buffered ? 0 : O_DIRECT;
	fd = open(f->path, flags | (block && write ? O_EXCL : 0));
	if (fd < 0 && errno == EINVAL && !b->opts.buffered)
		return sp__errf(err, SP_EUNSUP, "open", f->path, -1,
				"its file system cannot bypass the page cache (try --direct=0)");
	if (fd < 0)
		return sp__volume_open_err(err, -errno, f->path);
	if (b->opts.invalidate)
		rc = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	if (rc) {
		close(fd);
		return sp__err(err, -rc, "invalidate", f->path, -1);
	}
	rc = sp__volume_adopt(&f->volume, fd, true, f->path, err);
	if (!rc)
		f->align_bytes = alignment(f->volume, b->opts.buffered);
	return rc;
}

/* Returns the bytes of one pass over a range; room: from its begin to the end of the target. */
static uint64_t pass_bytes(const struct sp_bench_class *c, uint64_t bytes, uint64_t room)
{
	uint64_t whole = bytes - bytes % c->bytes;

	return c->fio_passes && c->pattern == SP_BENCH_SEQUENTIAL && whole < bytes &&
			       room - whole >= c->bytes
		       ? whole + c->bytes
		       : whole;
}

/* Returns the offset of the range of a class within a used part of this size. */
static uint64_t range_begin(const struct sp_bench_class *c, uint64_t bytes)
{
	unsigned percent = c->offset_percent;
	uint64_t begin = bytes / 100 * percent + bytes % 100 * percent / 100;

	return percent ? (begin + c->bytes - 1) / c->bytes * c->bytes : c->offset_bytes;
}

/* Sets the range of a class within the used part. */
static int set_range(const struct sp__benchfile *f, struct sp__benchclass *c, size_t file,
		     struct sp_errinfo *err)
{
	uint64_t begin = range_begin(&c->spec, f->bytes), bytes = c->spec.range_bytes, pass;

	if (begin < f->bytes && c->spec.range_share > 0)
		bytes = sp__min((uint64_t)((double)f->bytes * c->spec.range_share),
				f->bytes - begin);
	else if (!bytes && begin < f->bytes)
		bytes = f->bytes - begin;
	if (begin % f->align_bytes)
		return sp__errf(err, -EINVAL, "open", f->path, -1,
				"direct requests begin at multiples of %u bytes; the offset of "
				"class %s is %llu",
				f->align_bytes, c->spec.name, (unsigned long long)begin);
	if (begin > f->bytes || bytes > f->bytes - begin || c->spec.bytes > bytes)
		return sp__errf(err, -EINVAL, "open", f->path, -1,
				"is too small for requests of %u bytes of class %s", c->spec.bytes,
				c->spec.name);
	if (c->spec.bytes % f->align_bytes)
		return sp__errf(
			err, -EINVAL, "open", f->path, -1,
			"direct requests must be multiples of %u bytes; those of class %s have %u",
			f->align_bytes, c->spec.name, c->spec.bytes);
	if (c->spec.fio_passes && c->spec.range_share > 0 && c->spec.range_share < 1)
		bytes -= bytes % c->spec.bytes; /* rounded down, as fio does with a percentage */
	pass = pass_bytes(&c->spec, bytes, f->volume->size_bytes - f->begin - begin);
	sp__walk_init(&c->walks[file], &c->spec, f->begin + begin, pass);
	c->range_bytes += bytes;
	c->pass_bytes += pass;
	return 0;
}

/* Determines the used part of the target. */
static int set_part(struct sp_bench *b, size_t file, struct sp_errinfo *err)
{
	struct sp__benchfile *f = &b->files[file];
	uint64_t size = f->volume->size_bytes, begin = b->opts.offset_bytes;
	int rc = 0;

	f->begin = begin;
	f->bytes = b->opts.size_bytes;
	if (!f->bytes && begin < size)
		f->bytes = size - begin;
	if (begin > size || f->bytes > size - begin || !f->bytes)
		return sp__errf(err, -EINVAL, "open", f->path, -1,
				"is too small: it has %llu bytes", (unsigned long long)size);
	if (begin % f->align_bytes)
		return sp__errf(err, -EINVAL, "open", f->path, -1,
				"the offset must be a multiple of %u bytes", f->align_bytes);
	if (b->replay && b->replay->need[file] > f->bytes)
		return sp__errf(err, -EINVAL, "open", f->path, -1,
				"is too small: the trace needs %llu bytes of it",
				(unsigned long long)b->replay->need[file]);
	for (size_t i = 0; rc == 0 && !b->replay && i < b->nclasses; i++)
		if (used_by(b->classes[i], file))
			rc = set_range(f, b->classes[i], file, err);
	return rc;
}

/* Opens a volume without a file. */
static int unreal(struct sp__benchfile *f, uint64_t bytes, struct sp_errinfo *err)
{
	struct sp__volume *v = calloc(1, sizeof(*v));

	if (v)
		v->name = strdup(f->path);
	if (!v || !v->name) {
		free(v);
		return sp__err(err, -ENOMEM, "open", f->path, -1);
	}
	v->fd = -1;
	v->size_bytes = bytes;
	f->volume = v;
	f->align_bytes = 1;
	return 0;
}

static int open_sim(struct sp_bench *b, struct sp__benchfile *f, struct sp_errinfo *err)
{
	uint64_t bytes, size;
	int rc = sp__volume_device(&b->device, f->path + 4, err);

	if (rc)
		return rc;
	bytes = b->device->size_bytes / b->device->align_bytes * b->device->align_bytes;
	size = size_wanted(b, 0);
	if (b->opts.offset_bytes < bytes && size && size < bytes - b->opts.offset_bytes)
		bytes = b->opts.offset_bytes + size;
	rc = unreal(f, bytes, err);
	return rc ? rc : sp__volume_simulate(f->volume, b->device, SP__SIM_INPUT, bytes, err);
}

/* True if fio ends a pass over the range; otherwise it issues total_bytes in one. */
static bool has_passes(const struct sp_bench_class *c)
{
	return c->pattern == SP_BENCH_SHUFFLED ||
	       (c->pattern == SP_BENCH_SEQUENTIAL && (c->reads <= 0 || c->reads >= 1));
}

/* Returns the bytes after which the class ends. */
static uint64_t end_bytes(const struct sp__benchclass *c)
{
	uint64_t bytes = c->spec.total_bytes, unit = c->spec.bytes;

	if (bytes == SP_BENCH_ONE_PASS)
		bytes = c->spec.fio_passes ? c->range_bytes : c->pass_bytes;
	if (c->spec.fio_passes && has_passes(&c->spec) && bytes > unit &&
	    (bytes - bytes % unit) % c->pass_bytes == 0)
		bytes -= bytes % unit;
	return bytes;
}

int sp__bench_open_targets(struct sp_bench *b, struct sp_errinfo *err)
{
	bool null = b->opts.engine && !strcmp(b->opts.engine, "null");
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < b->opts.ntargets; i++) {
		struct sp__benchfile *f = &b->files[b->nfiles++];

		f->path = b->opts.targets[i];
		if (strncmp(f->path, "sim:", 4) == 0) {
			rc = open_sim(b, f, err);
		} else if (null) {
			uint64_t size = size_wanted(b, i);

			rc = unreal(f, b->opts.offset_bytes + (size ? size : NULL_BYTES), err);
		} else {
			rc = b->opts.create ? create(b, i, err) : 0;
			rc = rc ? rc : open_path(b, f, written(b, i), err);
		}
		rc = rc ? rc : set_part(b, i, err);
	}
	for (size_t i = 0; rc == 0 && i < b->nclasses; i++)
		b->classes[i]->spec.total_bytes = end_bytes(b->classes[i]);
	return rc;
}

void sp__bench_close_targets(struct sp_bench *b)
{
	for (size_t i = 0; i < b->nfiles; i++) {
		struct sp__benchfile *f = &b->files[i];

		sp__volume_close(f->volume);
		if (f->created && b->opts.remove)
			unlink(f->path);
		sp__outname_forget(&f->name);
	}
	b->nfiles = 0;
	sp__volume_close(b->device);
	b->device = NULL;
}
