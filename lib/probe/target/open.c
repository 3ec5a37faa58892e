/* SPDX-License-Identifier: MIT */
/* Opens the device of a probe, and finds the whole blocks that it may overwrite. */
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/minmax.h"
#include "io/queue.h"
#include "probe/target/target.h"

/*
 * Implements a target on a block device or a regular file.
 *
 * Single requests are O_DIRECT reads of one block, one at a time, timed around the system call.
 * Batches go through a queue of `io`.
 *
 * Waiting sleeps until shortly before the moment, then polls the clock: timers of the kernel are
 * late by tens of microseconds.
 *
 * A device whose size changes during the probe is not the same device any more.  Its size is read
 * from time to time, and after each short read.
 */

#define BUFFER_BYTES (1u << 20)
#define DEPTH_MAX 128
#define SPIN_NS 120000
#define LOOK_EVERY 512 /* requests */
#define BLOCK_FILE 4096
#define BLOCK_SECTOR 512

struct file {
	struct sp__target target;
	struct sp__volume *volume;
	struct sp__queue *queue;
	void *buffer; /* BUFFER_BYTES for single requests */
	void *pool;   /* for batches; NULL: not yet */
	unsigned requests;
};

static struct file *file_of(struct sp__target *t)
{
	return (struct file *)t;
}

static int check_size(struct file *f)
{
	off_t size = lseek(f->volume->fd, 0, SEEK_END);

	if (size < 0)
		return -errno;
	return (uint64_t)size == f->volume->size_bytes ? 0 : -ESTALE;
}

static int file_transfer(struct sp__target *t, uint64_t lbn, bool write, struct sp__shot *s)
{
	struct file *f = file_of(t);
	size_t bytes = t->block_bytes;
	off_t at = (off_t)(lbn * bytes);
	ssize_t n;
	int rc = ++f->requests % LOOK_EVERY ? 0 : check_size(f);

	if (write && (lbn < t->write_first || lbn >= t->write_first + t->write_blocks))
		return -EPERM;
	if (rc)
		return rc;
	do {
		s->issue_ns = sp__now_ns();
		n = write ? pwrite(f->volume->fd, f->buffer, bytes, at)
			  : pread(f->volume->fd, f->buffer, bytes, at);
		s->done_ns = sp__now_ns();
	} while (n < 0 && errno == EINTR);
	if (n == (ssize_t)bytes)
		return 0;
	rc = n < 0 ? -errno : -EIO;
	if (check_size(f) == -ESTALE)
		return -ESTALE;
	/* A probe does not distinguish errors of the medium. */
	return rc == -EILSEQ || rc == -ENODATA || rc == -EREMOTEIO || rc == -ETIMEDOUT ? -EIO : rc;
}

/* Opens the queue and allocates its memory, for the first batch. */
static int open_queue(struct file *f)
{
	size_t bytes = (size_t)DEPTH_MAX * BUFFER_BYTES;
	struct sp__queue_opts opts = { .depth = DEPTH_MAX };
	int rc;

	if (f->pool)
		return 0;
	f->pool = sp__pages_alloc(bytes, false);
	if (!f->pool)
		return -ENOMEM;
	rc = sp__queue_open(&f->queue, &opts, NULL);
	if (rc) {
		sp__pages_free(f->pool, bytes);
		f->pool = NULL;
	}
	return rc;
}

static int file_stream(struct sp__target *t, const uint64_t *lbns, size_t n, uint32_t blocks,
		       unsigned depth, struct sp__shot *shots, uint64_t *elapsed_ns)
{
	struct file *f = file_of(t);
	struct sp__request slot[DEPTH_MAX], *reqs[DEPTH_MAX], *done[DEPTH_MAX];
	uint32_t bytes = blocks * t->block_bytes;
	size_t issued = 0, reaped = 0, k = 0;
	uint64_t begin;
	int rc = bytes > BUFFER_BYTES ? -EINVAL : open_queue(f), got;

	if (rc)
		return rc;
	depth = depth > DEPTH_MAX ? DEPTH_MAX : depth;
	for (; k < depth && k < n; k++)
		reqs[k] = &slot[k];
	begin = sp__now_ns();
	while (reaped < n && !rc) {
		for (size_t i = 0; i < k; i++) {
			size_t which = (size_t)(reqs[i] - slot);

			*reqs[i] = (struct sp__request){
				.op = SP__OP_READ,
				.volume = f->volume,
				.offset = lbns[issued + i] * t->block_bytes,
				.data = (char *)f->pool + which * BUFFER_BYTES,
				.bytes = bytes,
				.tag = issued + i,
			};
		}
		rc = k ? sp__queue_submit(f->queue, reqs, k) : 0;
		issued += rc ? 0 : k;
		got = rc ? rc : sp__queue_reap(f->queue, done, DEPTH_MAX, 1, -1);
		if (got < 0)
			return got;
		k = 0;
		for (int i = 0; i < got; i++) {
			if (done[i]->result < 0)
				rc = done[i]->result;
			reaped++;
			shots[done[i]->tag] =
				(struct sp__shot){ done[i]->submit_ns, done[i]->done_ns };
			if (issued + k < n)
				reqs[k++] = done[i];
		}
	}
	*elapsed_ns = sp__now_ns() - begin;
	while (sp__queue_outstanding(f->queue) &&
	       sp__queue_reap(f->queue, done, DEPTH_MAX, 1, -1) > 0)
		;
	return rc;
}

static int file_pair(struct sp__target *t, const uint64_t lbns[2], struct sp__shot s[2])
{
	uint64_t elapsed_ns;

	return file_stream(t, lbns, 2, 1, 2, s, &elapsed_ns);
}

static uint64_t file_now(struct sp__target *t)
{
	(void)t;
	return sp__now_ns();
}

static void file_wait(struct sp__target *t, uint64_t until_ns)
{
	uint64_t now = sp__now_ns();

	(void)t;
	if (until_ns > now + SPIN_NS)
		(void)sp__sleep_until(until_ns - SPIN_NS);
	while (sp__now_ns() < until_ns)
		;
}

static void file_close(struct sp__target *t)
{
	struct file *f = file_of(t);

	if (f->queue)
		sp__queue_close(f->queue);
	if (f->pool)
		sp__pages_free(f->pool, (size_t)DEPTH_MAX * BUFFER_BYTES);
	if (f->buffer)
		sp__pages_free(f->buffer, BUFFER_BYTES);
	sp__volume_close(f->volume);
}

static const struct sp__target_ops file_ops = {
	.transfer = file_transfer,
	.pair = file_pair,
	.stream = file_stream,
	.now = file_now,
	.wait = file_wait,
	.close = file_close,
};

/*
 * What the LBNs of a file count: pages.  A file of FUSE may be a drive (vdisk(1)), whose
 * tracks hold any number of sectors; if these can be read one by one, they count.
 */
static uint32_t file_block(const struct file *f)
{
	struct statfs fs;
	uint32_t bytes = (uint32_t)sp__max(f->volume->align_bytes, BLOCK_FILE);

	if (!fstatfs(f->volume->fd, &fs) && fs.f_type == FUSE_SUPER_MAGIC &&
	    pread(f->volume->fd, f->buffer, BLOCK_SECTOR, BLOCK_SECTOR) == BLOCK_SECTOR)
		bytes = BLOCK_SECTOR;
	return bytes;
}

static int open_file(struct file *f, const char *path, bool writable, struct sp_errinfo *err)
{
	int flags = (writable ? O_RDWR : O_RDONLY) | O_DIRECT | O_CLOEXEC;
	struct stat st;
	int fd, rc;

	if (stat(path, &st))
		return sp__err(err, -errno, "open", path, -1);
	if (S_ISDIR(st.st_mode))
		return sp__err(err, -EISDIR, "open", path, -1);
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return sp__errf(err, SP_EUNSUP, "open", path, -1,
				"is neither a block device nor a regular file");
	/* The kernel refuses a device that is mounted. */
	fd = open(path, flags | (writable && S_ISBLK(st.st_mode) ? O_EXCL : 0));
	if (fd < 0 && errno == EINVAL)
		return sp__errf(err, SP_EUNSUP, "open", path, -1,
				"its file system cannot read past the page cache");
	if (fd < 0)
		return sp__volume_open_err(err, -errno, path);
	rc = sp__volume_adopt(&f->volume, fd, true, path, err);
	if (rc)
		return rc;
	f->target.name = strdup(path);
	f->buffer = sp__pages_alloc(BUFFER_BYTES, false);
	if (!f->target.name || !f->buffer)
		return sp__err(err, -ENOMEM, "open", path, -1);
	f->target.block_bytes = f->volume->regular ? file_block(f) : f->volume->block_bytes;
	f->target.blocks = f->volume->size_bytes / f->target.block_bytes;
	return 0;
}

int sp__target_file(struct sp__target **t, const char *path, bool writable, struct sp_errinfo *err)
{
	struct file *f = calloc(1, sizeof(*f));
	int rc;

	*t = NULL;
	if (!f)
		return sp__err(err, -ENOMEM, "open", path, -1);
	f->target.ops = &file_ops;
	rc = open_file(f, path, writable, err);
	if (rc) {
		sp__target_close(&f->target);
		return rc;
	}
	*t = &f->target;
	return 0;
}

#define BLOCKS_MIN 64

/* Returns the whole blocks of the range that may be overwritten. */
static int set_range(struct sp__target *t, const struct sp_probe_opts *opts, struct sp_errinfo *err)
{
	uint64_t end = (opts->overwrite_offset + opts->overwrite_bytes) / t->block_bytes;

	if (t->simulated || !opts->overwrite_bytes)
		return 0;
	t->write_first = opts->overwrite_offset / t->block_bytes +
			 (opts->overwrite_offset % t->block_bytes != 0);
	if (opts->overwrite_offset + opts->overwrite_bytes < opts->overwrite_offset ||
	    end > t->blocks || end <= t->write_first)
		return sp__errf(err, -EINVAL, "open", opts->device, -1,
				"the range to overwrite is not inside the device");
	t->write_blocks = end - t->write_first;
	return 0;
}

int sp__target_open(struct sp__target **t, const struct sp_probe_opts *opts, struct sp_errinfo *err)
{
	int rc = strncmp(opts->device, "sim:", 4) == 0
			 ? sp__target_sim(t, opts->device + 4, err)
			 : sp__target_file(t, opts->device, opts->overwrite_bytes > 0, err);

	if (rc)
		return rc;
	if ((*t)->blocks < BLOCKS_MIN)
		rc = sp__errf(err, SP_EFORMAT, "open", opts->device, -1,
			      "too small to be probed: %llu blocks of %u bytes",
			      (unsigned long long)(*t)->blocks, (*t)->block_bytes);
	else
		rc = set_range(*t, opts, err);
	if (rc) {
		sp__target_close(*t);
		*t = NULL;
	}
	return rc;
}
