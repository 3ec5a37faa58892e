/* SPDX-License-Identifier: MIT */
/*
 * Writes outputs that appear when they are complete.
 *
 * States.  An output is UNNAMED (O_TMPFILE; linkat() of /proc/self/fd gives it a name when it is
 * committed), NAMED (a temporary name next to the old file, if the system lacks unnamed files or
 * /proc; handlers of signals remove it), or written in place.  Only rename() replaces a file, so an
 * unnamed file that replaces one has a temporary name between linkat() and rename().
 *
 * The new file gets the attributes of the old one when it is created, so writing in place is chosen
 * before anything is written.  If the system still refuses the name, the complete content is copied
 * into the old file.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <spindle/outfile.h>
#include "base/err.h"
#include "base/outfile_impl.h"
#include "base/whole.h"

#define COPY_BYTES 65536

/* True if the system reports one of these attributes of path (STATX_ATTR_...). */
static bool has_attribute(const char *path, uint64_t attributes)
{
	struct statx stx;

	return statx(AT_FDCWD, path, 0, STATX_BASIC_STATS, &stx) == 0 &&
	       stx.stx_attributes & stx.stx_attributes_mask & attributes;
}

/*
 * True if rename() cannot replace the regular file at path, which has the status `old`: on a mount
 * point, an append-only file, or in such a directory.
 */
static bool outold_stays(const char *path, const struct stat *old)
{
	char *dir = sp__outname_directory(path);
	uid_t user = geteuid();
	struct stat st;
	bool stays;

	stays = has_attribute(path, STATX_ATTR_MOUNT_ROOT | STATX_ATTR_APPEND) ||
		(dir && has_attribute(dir, STATX_ATTR_APPEND)) ||
		(dir && user && stat(dir, &st) == 0 && st.st_mode & S_ISVTX && st.st_uid != user &&
		 old->st_uid != user);
	free(dir);
	return stays;
}

/* Some attributes are not ours to set, or have disappeared. */
static bool attribute_optional(int error)
{
	return error == EPERM || error == EACCES || error == EOPNOTSUPP || error == ENODATA ||
	       error == EINVAL;
}

static int copy_xattr(const char *from, const char *name, int to)
{
	ssize_t len = getxattr(from, name, NULL, 0);
	char *value = malloc(len > 0 ? (size_t)len : 1);
	int rc;

	if (!value)
		return -ENOMEM;
	if (len >= 0)
		len = getxattr(from, name, value, (size_t)len);
	rc = len < 0 || fsetxattr(to, name, value, (size_t)len, 0) < 0 ? -errno : 0;
	free(value);
	return attribute_optional(-rc) ? 0 : rc;
}

static int copy_xattrs(const char *from, int to)
{
	ssize_t n = listxattr(from, NULL, 0);
	char *names;
	int rc = 0;

	if (n <= 0)
		return n < 0 && !attribute_optional(errno) ? -errno : 0;
	names = malloc((size_t)n);
	if (!names)
		return -ENOMEM;
	n = listxattr(from, names, (size_t)n);
	if (n < 0)
		rc = -errno;
	for (ssize_t i = 0; rc == 0 && i < n; i += (ssize_t)strlen(names + i) + 1)
		rc = copy_xattr(from, names + i, to);
	free(names);
	return rc;
}

/*
 * Gives fd the mode, owner and extended attributes of the old file at path.  Returns 0,
 * SP__OUTOLD_STAYS if that is not permitted, or -errno.
 */
static int outold_attributes(const char *path, const struct stat *old, int fd)
{
	struct stat now;

	if (fstat(fd, &now) < 0)
		return -errno;
	if (((old->st_uid != now.st_uid || old->st_gid != now.st_gid) &&
	     fchown(fd, old->st_uid, old->st_gid) < 0) ||
	    fchmod(fd, old->st_mode & 07777) < 0)
		return errno == EPERM || errno == EINVAL ? SP__OUTOLD_STAYS : -errno;
	return copy_xattrs(path, fd);
}

static int copy_all(int from, int to, uint64_t bytes)
{
	char buf[COPY_BYTES];

	for (uint64_t at = 0; at < bytes;) {
		ssize_t n = sp__read_whole(from, buf, sizeof(buf), at);
		int rc = n > 0 ? sp__write_whole(to, buf, (size_t)n, at) : n < 0 ? (int)n : -EIO;

		if (rc < 0)
			return rc;
		at += (uint64_t)n;
	}
	return 0;
}

/*
 * Replaces the content of `to` by the content of `from`.  Sets *lost once the old content is gone.
 * Returns 0 or -errno.  If the device lacks space, the old content stays.
 */
static int outold_copy(int from, int to, bool *lost)
{
	struct stat result, old;
	int rc;

	if (fstat(from, &result) < 0 || fstat(to, &old) < 0)
		return -errno;
	/* A full device is detected before the old content is touched. */
	if (result.st_size > old.st_size && fallocate(to, 0, 0, result.st_size) < 0 &&
	    errno != EOPNOTSUPP && errno != ENOSYS) {
		rc = -errno;
		(void)!ftruncate(to, old.st_size);
		return rc;
	}
	*lost = old.st_size > 0;
	rc = copy_all(from, to, (uint64_t)result.st_size);
	return rc == 0 && ftruncate(to, result.st_size) < 0 ? -errno : rc;
}

struct sp_outfile {
	const char *name; /* name as given, for messages */
	char *path;	  /* path of the result; NULL: written in place */
	int fd;
	FILE *stream;
	const struct sp__owndir *staging; /* directory of the file until then; NULL: none */
	const char *staged;		  /* its name in staging */
	struct sp_errinfo *err;		  /* receives the error of opening */
	bool unnamed, replaces;
	struct sp__outname *temp; /* NULL: no temporary name */
	bool truncate;		  /* by begin() */
	bool lost, committed;	  /* old content lost; new content complete */
};

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static void link_path(char buf[32], int fd)
{
	snprintf(buf, 32, "/proc/self/fd/%d", fd);
}

/* True if linkat() can give this unnamed file a name. */
static bool linkable(int fd)
{
	struct stat open, found;
	char from[32];

	link_path(from, fd);
	return fstat(fd, &open) == 0 && stat(from, &found) == 0 && same_file(&open, &found);
}

/* Creates the new file without a name.  Returns 0 if the system has no unnamed files here. */
static int make_unnamed(struct sp_outfile *o, mode_t mode)
{
	char *dir = sp__outname_directory(o->path);

	if (!dir)
		return -ENOMEM;
	o->fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
	free(dir);
	if (o->fd < 0)
		return errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL ? 0 : -errno;
	o->unnamed = linkable(o->fd);
	if (!o->unnamed)
		close(o->fd);
	return o->unnamed;
}

static int create(const char *name, void *arg)
{
	return open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, *(mode_t *)arg);
}

static int make_file(struct sp_outfile *o, mode_t mode)
{
	int rc;

	if (o->staging) {
		o->fd = sp__owndir_file(o->staging, o->staged, O_RDWR | O_CREAT, mode, o->err);
		return o->fd < 0 ? o->fd : 0;
	}
	rc = make_unnamed(o, mode);
	if (rc)
		return rc < 0 ? rc : 0;
	rc = sp__outname_take(&o->temp, o->path);
	if (rc == 0)
		rc = o->fd = sp__outname_make(o->temp, create, &mode);
	if (rc < 0)
		sp__outname_forget(&o->temp);
	return rc < 0 ? rc : 0;
}

/* Removes the new file, if it has a name. */
static void drop_temp(struct sp_outfile *o)
{
	if (o->temp)
		unlink(o->temp->name);
	sp__outname_forget(&o->temp);
}

static int close_file(struct sp_outfile *o)
{
	int rc = 0;

	if (o->stream)
		rc = fclose(o->stream);
	else if (o->fd >= 0)
		rc = close(o->fd);
	o->stream = NULL;
	o->fd = -1;
	return rc < 0 ? -errno : 0;
}

/* Returns the descriptor of standard output or standard error if it is that file, else -1. */
static int standard_descriptor(const struct stat *st)
{
	struct stat open;

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (fstat(fd, &open) == 0 && same_file(&open, st) &&
		    (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY)
			return fd;
	return -1;
}

/* Opens a regular file that stays the same file. */
static int open_in_place(struct sp_outfile *o, const struct stat *st)
{
	int standard = standard_descriptor(st);

	free(o->path);
	o->path = NULL;
	if (standard >= 0)
		o->fd = fcntl(standard, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	else
		o->fd = open(o->name, O_WRONLY | O_CLOEXEC);
	o->truncate = standard < 0;
	return o->fd < 0 ? -errno : 0;
}

static int replace(struct sp_outfile *o, const struct stat *st)
{
	struct stat link, found;
	int rc;

	o->replaces = true;
	o->path = lstat(o->name, &link) == 0 && S_ISLNK(link.st_mode) ? realpath(o->name, NULL)
								      : strdup(o->name);
	if (!o->path)
		return errno == ENOMEM ? -ENOMEM : SP__OUTOLD_STAYS;
	/* A link of /proc can lead to a file that has lost its name. */
	if (stat(o->path, &found) < 0 || !same_file(&found, st))
		return SP__OUTOLD_STAYS;
	if (outold_stays(o->path, st))
		return SP__OUTOLD_STAYS;
	rc = make_file(o, 0600);
	if (rc == -EACCES || rc == -EPERM || rc == -EROFS)
		return SP__OUTOLD_STAYS;
	if (rc == 0)
		rc = outold_attributes(o->path, st, o->fd);
	if (rc)
		close_file(o);
	if (rc)
		drop_temp(o);
	return rc;
}

static int open_old(struct sp_outfile *o, const struct stat *st, int flags)
{
	int rc = SP__OUTOLD_STAYS;

	if (S_ISDIR(st->st_mode))
		return -EISDIR;
	if (faccessat(AT_FDCWD, o->name, W_OK, AT_EACCESS) < 0)
		return -errno;
	if (o->staging && !S_ISREG(st->st_mode))
		return SP_EUNSUP;
	if (!S_ISREG(st->st_mode)) {
		o->fd = open(o->name, O_WRONLY | O_NOCTTY | O_CLOEXEC);
		return o->fd < 0 ? -errno : 0;
	}
	if (st->st_nlink == 1 && !(flags & SP_OUTFILE_LIVE) && standard_descriptor(st) < 0)
		rc = replace(o, st);
	if (rc == SP__OUTOLD_STAYS && o->staging)
		return SP_EUNSUP;
	return rc == SP__OUTOLD_STAYS ? open_in_place(o, st) : rc;
}

static int open_any(struct sp_outfile *o, int flags)
{
	struct stat st;
	int rc;

	if (stat(o->name, &st) == 0)
		return open_old(o, &st, flags);
	if (errno != ENOENT || !*o->name)
		return -errno;
	rc = sp__outname_resolve(o->name, &o->path);
	if (rc < 0)
		return rc;
	if (!(flags & SP_OUTFILE_LIVE))
		return make_file(o, 0666);
	o->fd = open(o->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	rc = o->fd < 0 ? -errno : 0;
	free(o->path);
	o->path = NULL;
	return rc;
}

int sp__outfile_staged(struct sp_outfile **out, const char *path, const struct sp__owndir *staging,
		       const char *staged, int flags, struct sp_errinfo *err)
{
	struct sp_outfile *o = calloc(1, sizeof(*o));
	int rc;

	*out = NULL;
	if (!o)
		return sp__err(err, -ENOMEM, "open", path, -1);
	o->name = path;
	o->staging = staging;
	o->staged = staged;
	o->err = err;
	o->fd = -1;
	rc = open_any(o, flags);
	if (rc < 0) {
		free(o->path);
		free(o);
		return sp__errf(err, rc, "open", path, -1, "%s",
				rc == SP_EUNSUP ? "can only be written in place, after the work: "
						  "name another output"
						: "");
	}
	*out = o;
	return 0;
}

int sp_outfile_open(struct sp_outfile **out, const char *path, int flags, struct sp_errinfo *err)
{
	return sp__outfile_staged(out, path, NULL, NULL, flags, err);
}

bool sp_outfile_in_place(const struct sp_outfile *o)
{
	return !o->path;
}

int sp_outfile_begin(struct sp_outfile *o, struct sp_errinfo *err)
{
	struct stat st;

	if (!o->truncate)
		return o->fd;
	o->truncate = false;
	if (fstat(o->fd, &st) < 0 || ftruncate(o->fd, 0) < 0)
		return sp__err(err, -errno, "open", o->name, -1);
	o->lost = st.st_size > 0;
	return o->fd;
}

int sp_outfile_stream(struct sp_outfile *o, FILE **f, struct sp_errinfo *err)
{
	int fd = sp_outfile_begin(o, err);

	if (fd < 0)
		return fd;
	if (!o->stream)
		o->stream = fdopen(fd, "w");
	*f = o->stream;
	return o->stream ? 0 : sp__err(err, -errno, "open", o->name, -1);
}

static int link_to(const char *name, void *arg)
{
	char from[32];

	link_path(from, ((const struct sp_outfile *)arg)->fd);
	return linkat(AT_FDCWD, from, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

static int link_and_rename(struct sp_outfile *o)
{
	int rc = sp__outname_make(o->temp, link_to, o);

	if (rc == 0 && rename(o->temp->name, o->path) < 0) {
		rc = -errno;
		unlink(o->temp->name);
	}
	return rc;
}

/*
 * A process killed between link and rename leaves a file behind.  So a child outside the process
 * group does both, and ends without running anything else.  If the limit of processes is reached,
 * this process does both.
 */
static int replace_old(struct sp_outfile *o)
{
	pid_t pid;
	int rc = sp__outname_take(&o->temp, o->path), status;

	if (rc < 0)
		return rc;
	pid = vfork();
	if (pid == 0) {
		setpgid(0, 0);
		syscall(SYS_exit_group, -link_and_rename(o));
	}
	if (pid < 0)
		rc = link_and_rename(o);
	else if (waitpid(pid, &status, 0) == pid)
		rc = WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
	sp__outname_forget(&o->temp);
	return rc;
}

static int name_unnamed(struct sp_outfile *o)
{
	if (!o->replaces && link_to(o->path, o) == 0)
		return 0;
	if (!o->replaces && errno != EEXIST)
		return -errno;
	return replace_old(o);
}

/* Returns the error of close() while the old file can still be kept. */
static int check_close(int fd)
{
	int again = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	return again >= 0 && close(again) < 0 ? -errno : 0;
}

static int give_name(struct sp_outfile *o, const char **op)
{
	int rc = check_close(o->fd);

	*op = "close";
	if (rc < 0)
		return rc;
	*op = "rename";
	if (o->unnamed)
		rc = name_unnamed(o);
	else if (renameat(o->staging ? o->staging->fd : AT_FDCWD,
			  o->staging ? o->staged : o->temp->name, AT_FDCWD, o->path) < 0)
		rc = -errno;
	if (rc == 0)
		sp__outname_forget(&o->temp);
	return rc;
}

/* True if the system refuses another file under this name, although its content can change. */
static bool name_refused(int rc)
{
	return rc == -EBUSY || rc == -EXDEV || rc == -EPERM || rc == -EACCES || rc == -ENOSYS ||
	       rc == -EOPNOTSUPP;
}

/* Copies the complete file into the one that has the name. */
static int copy_to_name(struct sp_outfile *o, const char **op)
{
	int fd = open(o->path, O_WRONLY | O_CLOEXEC | (o->replaces ? 0 : O_CREAT | O_EXCL), 0666);
	int rc = fd < 0 ? -errno : outold_copy(o->fd, fd, &o->lost);

	*op = fd < 0 ? "open" : "write";
	if (fd >= 0 && close(fd) < 0 && !rc)
		rc = -errno;
	if (fd >= 0 && rc < 0 && !o->replaces)
		unlink(o->path);
	return rc;
}

static int complete(struct sp_outfile *o, const char **op)
{
	sigset_t all, before;
	int rc;

	*op = "write";
	errno = 0;
	if (o->stream && (fflush(o->stream) || ferror(o->stream)))
		return errno ? -errno : -EIO;
	*op = "close";
	if (!o->path)
		return close_file(o);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = give_name(o, op);
	if (name_refused(rc) && !o->staging)
		rc = copy_to_name(o, op);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

int sp_outfile_commit(struct sp_outfile *o, struct sp_errinfo *err)
{
	const char *op;
	int rc = o ? complete(o, &op) : 0;

	if (rc < 0)
		return sp__err(err, rc, op, o->name, -1);
	if (o)
		o->committed = true;
	return 0;
}

static void tell_loss(const struct sp_outfile *o, struct sp_errinfo *err)
{
	char reason[sizeof(err->text)];
	bool same = !strcmp(err->path, o->name);

	snprintf(reason, sizeof(reason), "%s", err->text[0] ? err->text : sp_strerror(err->code));
	snprintf(err->text, sizeof(err->text), "%.120s; the old content%s%.100s is gone", reason,
		 same ? "" : " of ", same ? "" : o->name);
}

void sp_outfile_close(struct sp_outfile *o, struct sp_errinfo *err)
{
	if (!o)
		return;
	(void)close_file(o);
	drop_temp(o);
	if (o->lost && !o->committed && err && err->code < 0)
		tell_loss(o, err);
	free(o->path);
	free(o);
}
