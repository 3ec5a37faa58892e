/* SPDX-License-Identifier: MIT */
/*
 * An LD_PRELOAD library that records how a program changes files and when it syncs them, for
 * tests/fault/powerfail.py, which makes the states that a power failure can leave.
 *
 *	POWERFAIL_LOG=FILE LD_PRELOAD=.../powerfail.so mmap-cube put c 1,2,3 4 --engine=sync
 *
 * Only this process is recorded: the variables are removed from the environment at the start.
 * Calls are recorded after they succeeded, in their order; a lock makes the order of threads that
 * of the log.  A file is named by the number of its inode, a name by the inode of its folder.
 *
 * A record is 6 numbers of 8 bytes in the byte order of the host, {operation, inode, offset,
 * bytes, bytes of the first text, bytes of the second text}, then the texts, one of which can be
 * the data of a write:
 *	W  write: inode, offset, data; D  the same, durable (O_SYNC, O_DSYNC)
 *	T  new size: inode, size in offset;  E  size if the file is shorter
 *	Z  zeros: inode, offset, bytes
 *	S  sync of a file or folder;  A  sync of everything
 *	C  new file: inode, folder in offset, name; bytes is 1 for a folder;  N  without a name
 *	L  link: inode, folder in offset, name;  U  unlink: folder in offset, name
 *	R  rename: folder in offset, name; new folder in bytes, new name
 *	X  a call that changes a file and that this library does not record: its name
 *
 * Not recorded: the writes of stdio, io_uring, shared mappings.  The reader of the log compares
 * the recorded state with the files, and so notices such a change.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char log_path[4096];
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("POWERFAIL_LOG");

	if (path)
		snprintf(log_path, sizeof(log_path), "%s", path);
	unsetenv("POWERFAIL_LOG");
	unsetenv("LD_PRELOAD");
}

#define REAL(name)                                                                                 \
	static __typeof__(&name) real;                                                             \
	if (!real)                                                                                 \
		*(void **)&real = dlsym(RTLD_NEXT, #name);                                         \
	if (!real)                                                                                 \
	abort()

/* Appends a record by bare system calls, which nothing records. */
static void record(char op, uint64_t inode, uint64_t offset, uint64_t bytes, struct iovec a,
		   struct iovec b)
{
	uint64_t head[6] = { (uint64_t)op, inode, offset, bytes, a.iov_len, b.iov_len };
	struct iovec all[3] = { { head, sizeof(head) }, a, b };
	size_t total = sizeof(head) + a.iov_len + b.iov_len;
	int fd = (int)syscall(SYS_openat, AT_FDCWD, log_path,
			      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

	if (fd < 0 || syscall(SYS_writev, fd, all, 3) != (long)total)
		abort();
	syscall(SYS_close, fd);
}

static const struct iovec none = { 0 };

static struct iovec text(const char *s)
{
	return (struct iovec){ (void *)(uintptr_t)s, strlen(s) };
}

static void lock(void)
{
	pthread_mutex_lock(&order);
}

static void unlock(void)
{
	int saved = errno;

	pthread_mutex_unlock(&order);
	errno = saved;
}

/* Returns the inode of a regular file or a folder, or 0. */
static uint64_t inode_of(int fd)
{
	struct stat st;
	int saved = errno;
	bool file =
		*log_path && fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));

	errno = saved;
	return file ? st.st_ino : 0;
}

static uint64_t inode_at(int at, const char *path, int flags)
{
	struct stat st;
	int saved = errno;
	bool found = *log_path && fstatat(at, path, &st, flags) == 0;

	errno = saved;
	return found ? st.st_ino : 0;
}

/* A name in a folder. */
struct name {
	uint64_t folder; /* its inode */
	char text[256];
};

static struct name name_at(int at, const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[4096];
	struct name n;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path + 1) : 1,
		 slash ? path : ".");
	snprintf(n.text, sizeof(n.text), "%s", slash ? slash + 1 : path);
	n.folder = inode_at(at, folder, 0);
	return n;
}

static void named(char op, uint64_t inode, struct name n, bool folder)
{
	if (inode && n.folder)
		record(op, inode, n.folder, folder, text(n.text), none);
}

static void wrote(int fd, uint64_t inode, const void *data, ssize_t n, off_t at)
{
	int flags = fcntl(fd, F_GETFL);

	if (n > 0)
		record(flags & O_DSYNC ? 'D' : 'W', inode, (uint64_t)at, 0,
		       (struct iovec){ (void *)(uintptr_t)data, (size_t)n }, none);
}

/* Files. */

static int opened(int fd, bool existed, int at, const char *path, int flags)
{
	uint64_t inode = fd < 0 ? 0 : inode_of(fd);

	if (!inode)
		return fd;
	if ((flags & O_TMPFILE) == O_TMPFILE)
		record('N', inode, 0, 0, none, none);
	else if (flags & O_CREAT && !existed)
		named('C', inode, name_at(at, path), false);
	else if (flags & O_TRUNC)
		record('T', inode, 0, 0, none, none);
	return fd;
}

#define OPEN(name, at, parameters, arguments)                                                      \
	int name parameters                                                                        \
	{                                                                                          \
		mode_t mode = 0;                                                                   \
		bool existed;                                                                      \
		va_list ap;                                                                        \
		int fd;                                                                            \
		REAL(name);                                                                        \
		va_start(ap, flags);                                                               \
		if (flags & (O_CREAT | O_TMPFILE))                                                 \
			mode = va_arg(ap, mode_t);                                                 \
		va_end(ap);                                                                        \
		lock();                                                                            \
		existed = flags & O_CREAT && inode_at(at, path, 0);                                \
		fd = opened(real arguments, existed, at, path, flags);                             \
		unlock();                                                                          \
		return fd;                                                                         \
	}

OPEN(open, AT_FDCWD, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, AT_FDCWD, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, dir, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
OPEN(openat64, dir, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))

ssize_t write(int fd, const void *data, size_t bytes)
{
	uint64_t inode = inode_of(fd);
	ssize_t n;
	REAL(write);

	if (!inode)
		return real(fd, data, bytes);
	lock();
	n = real(fd, data, bytes);
	wrote(fd, inode, data, n, lseek(fd, 0, SEEK_CUR) - (n > 0 ? n : 0));
	unlock();
	return n;
}

#define PWRITE(name)                                                                               \
	ssize_t name(int fd, const void *data, size_t bytes, off_t at)                             \
	{                                                                                          \
		uint64_t inode = inode_of(fd);                                                     \
		ssize_t n;                                                                         \
		REAL(name);                                                                        \
		if (!inode)                                                                        \
			return real(fd, data, bytes, at);                                          \
		lock();                                                                            \
		n = real(fd, data, bytes, at);                                                     \
		wrote(fd, inode, data, n, at);                                                     \
		unlock();                                                                          \
		return n;                                                                          \
	}

PWRITE(pwrite)
PWRITE(pwrite64)

/* Returns the vector's bytes as one buffer, so that they are one record. */
static char *joined(const struct iovec *v, int n, size_t *bytes)
{
	char *all;

	*bytes = 0;
	for (int i = 0; i < n; i++)
		*bytes += v[i].iov_len;
	all = malloc(*bytes + 1);
	if (!all)
		abort();
	*bytes = 0;
	for (int i = 0; i < n; i++) {
		memcpy(all + *bytes, v[i].iov_base, v[i].iov_len);
		*bytes += v[i].iov_len;
	}
	return all;
}

ssize_t pwritev(int fd, const struct iovec *v, int n, off_t at)
{
	size_t bytes;
	char *all = joined(v, n, &bytes);
	ssize_t done = pwrite(fd, all, bytes, at);

	free(all);
	return done;
}

ssize_t writev(int fd, const struct iovec *v, int n)
{
	size_t bytes;
	char *all = joined(v, n, &bytes);
	ssize_t done = write(fd, all, bytes);

	free(all);
	return done;
}

static int resized(int rc, char op, uint64_t inode, uint64_t offset, uint64_t bytes)
{
	if (rc == 0 && inode)
		record(op, inode, offset, bytes, none, none);
	unlock();
	return rc;
}

int ftruncate(int fd, off_t size)
{
	REAL(ftruncate);
	lock();
	return resized(real(fd, size), 'T', inode_of(fd), (uint64_t)size, 0);
}

int truncate(const char *path, off_t size)
{
	REAL(truncate);
	lock();
	return resized(real(path, size), 'T', inode_at(AT_FDCWD, path, 0), (uint64_t)size, 0);
}

int fallocate(int fd, int mode, off_t offset, off_t bytes)
{
	uint64_t inode = inode_of(fd);
	REAL(fallocate);

	lock();
	if (mode & ~(FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE))
		record('X', 0, 0, 0, text("fallocate"), none);
	if (mode & FALLOC_FL_PUNCH_HOLE)
		return resized(real(fd, mode, offset, bytes), 'Z', inode, (uint64_t)offset,
			       (uint64_t)bytes);
	return resized(real(fd, mode, offset, bytes), 'E', mode ? 0 : inode,
		       (uint64_t)(offset + bytes), 0);
}

ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t n, unsigned flags)
{
	REAL(copy_file_range);
	if (inode_of(out))
		record('X', 0, 0, 0, text("copy_file_range"), none);
	return real(in, from, out, to, n, flags);
}

/* Names. */

int mkdir(const char *path, mode_t mode)
{
	int rc;
	REAL(mkdir);

	lock();
	rc = real(path, mode);
	if (rc == 0)
		named('C', inode_at(AT_FDCWD, path, 0), name_at(AT_FDCWD, path), true);
	unlock();
	return rc;
}

int linkat(int a, const char *from, int b, const char *to, int flags)
{
	int rc;
	REAL(linkat);

	lock();
	rc = real(a, from, b, to, flags);
	if (rc == 0)
		named('L', inode_at(b, to, AT_SYMLINK_NOFOLLOW), name_at(b, to), false);
	unlock();
	return rc;
}

int link(const char *from, const char *to)
{
	return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlinkat(int at, const char *path, int flags)
{
	struct name n;
	int rc;
	REAL(unlinkat);

	lock();
	n = name_at(at, path);
	rc = real(at, path, flags);
	if (rc == 0)
		named('U', 1, n, flags & AT_REMOVEDIR);
	unlock();
	return rc;
}

int unlink(const char *path)
{
	return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path)
{
	return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int renameat(int a, const char *from, int b, const char *to)
{
	struct name old, new;
	int rc;
	REAL(renameat);

	lock();
	old = name_at(a, from);
	new = name_at(b, to);
	rc = real(a, from, b, to);
	if (rc == 0 && *log_path)
		record('R', 0, old.folder, new.folder, text(old.text), text(new.text));
	unlock();
	return rc;
}

int rename(const char *from, const char *to)
{
	return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

/* Syncs. */

static int synced(int rc, uint64_t inode)
{
	if (rc == 0 && inode)
		record('S', inode, 0, 0, none, none);
	unlock();
	return rc;
}

int fsync(int fd)
{
	REAL(fsync);
	lock();
	return synced(real(fd), inode_of(fd));
}

int fdatasync(int fd)
{
	REAL(fdatasync);
	lock();
	return synced(real(fd), inode_of(fd));
}

int syncfs(int fd)
{
	REAL(syncfs);
	lock();
	if (*log_path)
		record('A', 0, 0, 0, none, none);
	return synced(real(fd), 0);
}

void sync(void)
{
	REAL(sync);
	lock();
	real();
	if (*log_path)
		record('A', 0, 0, 0, none, none);
	unlock();
}
