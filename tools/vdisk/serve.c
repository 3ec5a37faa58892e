/* SPDX-License-Identifier: MIT */
/*
 * Serves the file system: a folder with two files, the disk and its status.
 *
 * The disk file acts like a device: its size does not change, truncating it has no effect, and
 * writing beyond its end is ENOSPC.  The kernel can cache it, as it does for devices, except with
 * O_DIRECT.  Bytes move when a request arrives, so only the answer remains to be sent when it is
 * due.
 */
#define FUSE_USE_VERSION 35
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "vdisk.h"

#define INO_DISK 2
#define INO_STATUS 3
#define FOREVER 86400.0
#define BACKGROUND 256 /* maximum requests of the kernel outstanding */

static char complaint[256]; /* error of libfuse, in its wording */

static void keep_complaint(enum fuse_log_level level, const char *fmt, va_list ap)
{
	(void)level;
	vsnprintf(complaint, sizeof(complaint), fmt, ap);
	complaint[strcspn(complaint, "\n")] = '\0';
}

static bool attributes(const struct server *s, fuse_ino_t ino, struct stat *st)
{
	*st = (struct stat){
		.st_ino = ino, .st_nlink = 1, .st_uid = geteuid(), .st_gid = getegid()
	};
	if (ino == FUSE_ROOT_ID) {
		st->st_mode = S_IFDIR | 0755;
		st->st_nlink = 2;
	} else if (ino == INO_DISK) {
		st->st_mode = S_IFREG | 0600;
		st->st_size = (off_t)s->bytes;
	} else if (ino == INO_STATUS) {
		st->st_mode = S_IFREG | 0444;
	} else {
		return false;
	}
	return true;
}

static void do_init(void *user, struct fuse_conn_info *conn)
{
	(void)user;
	/* splicing would cost more calls than it saves; truncating has no effect */
	conn->want &= ~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE |
				  FUSE_CAP_SPLICE_MOVE | FUSE_CAP_ATOMIC_O_TRUNC);
	conn->max_background = BACKGROUND;
	conn->congestion_threshold = BACKGROUND;
}

static void do_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e = { .attr_timeout = FOREVER, .entry_timeout = FOREVER };

	if (parent == FUSE_ROOT_ID && !strcmp(name, DISK_NAME))
		e.ino = INO_DISK;
	else if (parent == FUSE_ROOT_ID && !strcmp(name, STATUS_NAME))
		e.ino = INO_STATUS;
	if (e.ino && attributes(fuse_req_userdata(req), e.ino, &e.attr))
		fuse_reply_entry(req, &e);
	else
		fuse_reply_err(req, ENOENT);
}

static void do_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st;

	(void)fi;
	if (attributes(fuse_req_userdata(req), ino, &st))
		fuse_reply_attr(req, &st, FOREVER);
	else
		fuse_reply_err(req, ENOENT);
}

/* Ignores O_TRUNC and times; other attributes cannot be set. */
static void do_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int set,
		       struct fuse_file_info *fi)
{
	const int nothing = FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_CTIME |
			    FUSE_SET_ATTR_ATIME_NOW | FUSE_SET_ATTR_MTIME_NOW;
	const struct server *s = fuse_req_userdata(req);

	if (ino == INO_DISK && set & FUSE_SET_ATTR_SIZE && attr->st_size != 0 &&
	    attr->st_size != (off_t)s->bytes)
		fuse_reply_err(req, EINVAL);
	else if (ino != INO_DISK || set & ~(nothing | FUSE_SET_ATTR_SIZE))
		fuse_reply_err(req, EPERM);
	else
		do_getattr(req, ino, fi);
}

static void do_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		       struct fuse_file_info *fi)
{
	static const struct {
		const char *name;
		fuse_ino_t ino;
	} entries[] = { { ".", FUSE_ROOT_ID },
			{ "..", FUSE_ROOT_ID },
			{ DISK_NAME, INO_DISK },
			{ STATUS_NAME, INO_STATUS } };
	char buf[512];
	size_t n = 0, room = size < sizeof(buf) ? size : sizeof(buf), len;
	struct stat st;

	(void)fi;
	if (ino != FUSE_ROOT_ID) {
		fuse_reply_err(req, ENOTDIR);
		return;
	}
	for (off_t i = off; i < 4; i++) {
		attributes(fuse_req_userdata(req), entries[i].ino, &st);
		len = fuse_add_direntry(req, buf + n, room - n, entries[i].name, &st, i + 1);
		if (len > room - n)
			break;
		n += len;
	}
	fuse_reply_buf(req, buf, n);
}

/* The status of a moment, while a program has it open. */
struct opened {
	struct opened *next;
	char *text;
};

static struct opened *open_status(struct server *s)
{
	struct opened *o = malloc(sizeof(*o));

	if (!o)
		return NULL;
	*o = (struct opened){ s->opened, status_text(s) };
	if (!o->text) {
		free(o);
		return NULL;
	}
	s->opened = o;
	return o;
}

static void close_status(struct server *s, struct opened *o)
{
	struct opened **at = &s->opened;

	while (*at != o)
		at = &(*at)->next;
	*at = o->next;
	free(o->text);
	free(o);
}

static void do_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct server *s = fuse_req_userdata(req);

	if (ino == INO_STATUS) {
		struct opened *status = open_status(s);

		if (!status) {
			fuse_reply_err(req, ENOMEM);
			return;
		}
		fi->fh = (uintptr_t)status;
		fi->direct_io = 1;
	} else if (ino == INO_DISK) {
		s->opens++;
	} else {
		fuse_reply_err(req, EISDIR);
		return;
	}
	/* -ENOENT: the open was interrupted, and no release will follow */
	if (fuse_reply_open(req, fi) < 0) {
		if (ino == INO_STATUS)
			close_status(s, (struct opened *)(uintptr_t)fi->fh);
		else
			s->opens--;
	}
}

static void do_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct server *s = fuse_req_userdata(req);

	fuse_reply_err(req, 0);
	if (ino == INO_STATUS)
		close_status(s, (struct opened *)(uintptr_t)fi->fh);
	else if (--s->opens == 0)
		pthread_kill(s->main, SIGNAL_CHANGE);
}

static void submit(struct server *s, const struct job *job, off_t off, uint64_t arrived_ns)
{
	int rc = pace_submit(&s->pace, job, (uint64_t)off, arrived_ns);

	if (rc < 0) {
		fuse_reply_err(job->req, -rc);
		free(job->data);
	}
}

static void read_disk(struct server *s, fuse_req_t req, size_t size, off_t off)
{
	struct job job = { .req = req, .op = SP_VDRIVE_READ };
	uint64_t arrived = clock_now_ns();
	int rc;

	job.bytes = (uint64_t)off >= s->bytes	      ? 0
		    : size < s->bytes - (uint64_t)off ? size
						      : s->bytes - (uint64_t)off;
	if (!job.bytes) {
		fuse_reply_buf(req, NULL, 0);
		return;
	}
	job.data = malloc(job.bytes);
	rc = job.data ? backing_read(s->backing, job.data, job.bytes, (uint64_t)off) : -ENOMEM;
	if (rc == 0) {
		submit(s, &job, off, arrived);
		return;
	}
	free(job.data);
	fuse_reply_err(req, -rc);
}

static void do_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		    struct fuse_file_info *fi)
{
	struct server *s = fuse_req_userdata(req);
	const char *text;
	size_t len;

	if (ino == INO_DISK) {
		read_disk(s, req, size, off);
		return;
	}
	text = ((const struct opened *)(uintptr_t)fi->fh)->text;
	len = strlen(text);
	if ((size_t)off >= len)
		fuse_reply_buf(req, NULL, 0);
	else
		fuse_reply_buf(req, text + off,
			       size < len - (size_t)off ? size : len - (size_t)off);
}

static void do_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t off,
		     struct fuse_file_info *fi)
{
	struct server *s = fuse_req_userdata(req);
	struct job job = { .req = req, .op = SP_VDRIVE_WRITE, .bytes = size };
	uint64_t arrived = clock_now_ns();
	int rc = 0;

	(void)fi;
	if (ino != INO_DISK)
		rc = -EBADF;
	else if ((uint64_t)off >= s->bytes)
		rc = -ENOSPC;
	if (rc == 0) {
		if (size > s->bytes - (uint64_t)off)
			job.bytes = s->bytes - (uint64_t)off;
		rc = backing_write(s->backing, buf, job.bytes, (uint64_t)off);
	}
	if (rc < 0)
		fuse_reply_err(req, -rc);
	else
		submit(s, &job, off, arrived);
}

static void do_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	struct job job = { .req = req, .op = SP_VDRIVE_FLUSH };

	(void)datasync;
	(void)fi;
	if (ino == INO_DISK)
		submit(fuse_req_userdata(req), &job, 0, clock_now_ns());
	else
		fuse_reply_err(req, 0);
}

/* Discards a range, as a loop device requests; takes no time. */
static void do_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t off, off_t len,
			 struct fuse_file_info *fi)
{
	const int punch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
	struct server *s = fuse_req_userdata(req);
	int rc = 0;

	(void)fi;
	if (ino != INO_DISK)
		rc = EBADF;
	else if ((uint64_t)off > s->bytes || (uint64_t)len > s->bytes - (uint64_t)off)
		rc = ENOSPC;
	else if (mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE))
		rc = fallocate(s->backing, punch, off, len) < 0 ? errno : 0;
	else if (mode & ~FALLOC_FL_KEEP_SIZE)
		rc = EOPNOTSUPP;
	fuse_reply_err(req, rc);
}

static const struct fuse_lowlevel_ops operations = {
	.init = do_init,
	.lookup = do_lookup,
	.getattr = do_getattr,
	.setattr = do_setattr,
	.readdir = do_readdir,
	.open = do_open,
	.release = do_release,
	.read = do_read,
	.write = do_write,
	.fsync = do_fsync,
	.fallocate = do_fallocate,
};

static void *reader(void *arg)
{
	struct server *s = arg;
	struct pollfd fds[2] = { { .fd = fuse_session_fd(s->session), .events = POLLIN },
				 { .fd = s->stop_fd, .events = POLLIN } };
	struct fuse_buf buf = { 0 };
	int rc;

	while (!fuse_session_exited(s->session)) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[1].revents)
			break;
		rc = fuse_session_receive_buf(s->session, &buf);
		if (rc > 0)
			fuse_session_process_buf(s->session, &buf);
		else if (rc != -EINTR && rc != -EAGAIN)
			break;
	}
	free(buf.mem);
	if (!fds[1].revents) {
		s->over = true;
		pthread_kill(s->main, SIGNAL_CHANGE);
	}
	return NULL;
}

static void refuse_mount(const char *path)
{
	if (complaint[0])
		die("%s: %s", quote_file(path), complaint);
	die("%s: cannot be mounted", quote_file(path));
}

void serve_start(struct server *s)
{
	char *argv[] = { (char *)(uintptr_t) "vdisk", (char *)(uintptr_t) "-o",
			 (char *)(uintptr_t) "fsname=vdisk,subtype=vdisk,default_permissions",
			 NULL };
	struct fuse_args args = FUSE_ARGS_INIT(3, argv);
	int rc;

	fuse_set_log_func(keep_complaint);
	s->main = pthread_self();
	s->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (s->stop_fd < 0)
		die_sys(errno, "eventfd");
	s->session = fuse_session_new(&args, &operations, sizeof(operations), s);
	s->folder = open(s->options->mount, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!s->session || fuse_session_mount(s->session, s->options->mount) < 0)
		refuse_mount(s->options->mount);
	fuse_opt_free_args(&args);
	rc = pthread_create(&s->thread, NULL, reader, s);
	if (rc) {
		fuse_session_unmount(s->session);
		die_sys(rc, "cannot start a thread");
	}
}

int serve_stop(struct server *s)
{
	eventfd_write(s->stop_fd, 1);
	pthread_join(s->thread, NULL);
	while (s->opened) /* its release has not come */
		close_status(s, s->opened);
	pace_stop(&s->pace);
	fuse_session_unmount(s->session);
	fuse_session_destroy(s->session);
	close(s->stop_fd);
	close(s->backing);
	return unmount_moved(s->folder);
}
