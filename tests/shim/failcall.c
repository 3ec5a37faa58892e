/* SPDX-License-Identifier: MIT */
/*
 * An LD_PRELOAD library that lets one call of the C library fail: for sweeps
 * that walk through every place where memory or the file system may refuse.
 *
 *	FAILCALL_COUNT=FILE LD_PRELOAD=.../failcall.so xsort ...
 *	FAILCALL_AT=17 FAILCALL_CALLS=malloc LD_PRELOAD=.../failcall.so xsort ...
 *
 * Environment:
 *	FAILCALL_CALLS	which calls are counted: words out of malloc calloc
 *			realloc aligned_alloc mmap open read write pread pwrite
 *			close rename unlink ftruncate fallocate fsync tmpfile
 *			link direct, or the groups "alloc" (the first five) and "io"
 *			(the others), with commas or spaces; default alloc.
 *			aligned_alloc stands for posix_memalign and memalign too,
 *			pread for preadv, write for writev and copy_file_range,
 *			open for openat, fopen is counted where it opens;
 *			tmpfile is an open with O_TMPFILE, which is counted as
 *			open if tmpfile is not among the words; link stands for
 *			linkat, unlink for unlinkat; direct is an open with
 *			O_DIRECT, counted as open if direct is not among the words.
 *	FAILCALL_AT	the number, from 1, of the counted call that fails.
 *	FAILCALL_TIMES	how many calls fail from there on (default 1; 0: all).
 *	FAILCALL_ERRNO	a name (ENOMEM ENOSPC EIO EINTR EAGAIN EACCES EMFILE
 *			EDQUOT EPIPE ENFILE EPERM EOPNOTSUPP EBUSY EXDEV) or
 *			number; default ENOMEM for memory, EIO for the rest.
 *	FAILCALL_SHORT	1: instead of failing, a read or write transfers only
 *			half of what was asked (at least one byte).
 *	FAILCALL_KILL	1: instead of failing, the call is not made and the process is
 *			killed, as by kill -9.
 *	FAILCALL_SIGNAL	a number: instead of failing, the call is made after the process
 *			has sent itself this signal.
 *	FAILCALL_CUT	a file: instead of failing, the call is made after this file
 *			has been cut to half its size.
 *	FAILCALL_GROW	a file: instead of failing, the call is made after the last line
 *			of this file, at most 4096 bytes, has been appended to it.
 *	FAILCALL_TOUCH	a file: instead of failing, the call is made after the time of
 *			this file has been set.
 *	FAILCALL_MIN	allocations of fewer bytes are not counted (default 0).
 *	FAILCALL_FD_MIN	reads, writes and closes of lower descriptors are not
 *			counted (default 0).
 *	FAILCALL_SPACE	1: of the calls that write, only those that need space are
 *			counted: a part of their range is a hole or beyond the end of
 *			the file.  With FAILCALL_TIMES=0 and ENOSPC the device is full.
 *	FAILCALL_COUNT	a file to which the number of counted calls is appended
 *			as one line when the process ends ("COUNT\n"); nothing
 *			fails unless FAILCALL_AT is set too.
 *	FAILCALL_HIT	a file that is created when a call has been made to fail.
 *
 * Only calls of this process count: the variables are removed from the
 * environment at the start, so children run free.  A sweep counts once, then
 * runs with FAILCALL_AT = 1, 2, ... and expects a clean error, no file left
 * behind, and no crash.  Not for sanitizer builds, which have allocators of
 * their own.
 *
 * The counter is atomic; with several threads the numbering may differ from
 * run to run, which a sweep over all numbers does not mind.
 *
 * Not seen: what the C library calls inside itself (the reads and writes of
 * stdio), and system calls made without it (io_uring).
 *
 * Calls made while the dynamic linker looks up the real functions come from a
 * small static arena, as dlsym() may allocate.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum call {
	C_MALLOC,
	C_CALLOC,
	C_REALLOC,
	C_ALIGNED,
	C_MMAP,
	C_OPEN,
	C_READ,
	C_WRITE,
	C_PREAD,
	C_PWRITE,
	C_CLOSE,
	C_RENAME,
	C_UNLINK,
	C_FTRUNCATE,
	C_FALLOCATE,
	C_FSYNC,
	C_TMPFILE,
	C_LINK,
	C_DIRECT,
	C_COUNT_
};

static const char *const names[C_COUNT_] = {
	"malloc",    "calloc", "realloc", "aligned_alloc", "mmap",   "open",   "read",
	"write",     "pread",  "pwrite",  "close",	   "rename", "unlink", "ftruncate",
	"fallocate", "fsync",  "tmpfile", "link",	   "direct",
};

static bool wanted[C_COUNT_];
static bool ready, halve, kills, needing_space;
static int sent_signal;
static atomic_ulong counted;
static unsigned long fail_at, fail_times = 1;
static size_t min_bytes;
static int min_fd, fail_errno;
static char count_path[4096], hit_path[4096], change_path[4096], change_how;
static __thread bool inside; /* in our own work: not counted */

/* Files of our own are written with bare system calls, which nothing counts. */
static void put_line(const char *path, const char *line)
{
	int fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
			 0666);

	if (fd < 0)
		return;
	if (syscall(SYS_write, fd, line, strlen(line)) < 0)
		abort();
	syscall(SYS_close, fd);
}

static int errno_of(const char *text)
{
	static const struct {
		const char *name;
		int number;
	} known[] = {
		{ "ENOMEM", ENOMEM }, { "ENOSPC", ENOSPC }, { "EIO", EIO },
		{ "EINTR", EINTR },   { "EAGAIN", EAGAIN }, { "EACCES", EACCES },
		{ "EMFILE", EMFILE }, { "EDQUOT", EDQUOT }, { "EPIPE", EPIPE },
		{ "ENFILE", ENFILE }, { "EPERM", EPERM },   { "EOPNOTSUPP", EOPNOTSUPP },
		{ "EBUSY", EBUSY },   { "EXDEV", EXDEV },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strcmp(text, known[i].name) == 0)
			return known[i].number;
	return atoi(text);
}

static void want(const char *list)
{
	char copy[512], *rest = NULL;

	snprintf(copy, sizeof(copy), "%s", list);
	for (char *w = strtok_r(copy, ", ", &rest); w; w = strtok_r(NULL, ", ", &rest))
		for (int c = 0; c < C_COUNT_; c++)
			if (strcmp(w, names[c]) == 0 || (c <= C_MMAP && strcmp(w, "alloc") == 0) ||
			    (c > C_MMAP && strcmp(w, "io") == 0))
				wanted[c] = true;
}

/* Takes a variable out of the environment. */
static const char *take(const char *name, char *copy, size_t size)
{
	const char *value = getenv(name);

	if (!value)
		return NULL;
	snprintf(copy, size, "%s", value);
	unsetenv(name);
	return copy;
}

static unsigned long take_number(const char *name, unsigned long otherwise)
{
	char text[64];

	return take(name, text, sizeof(text)) ? strtoul(text, NULL, 10) : otherwise;
}

__attribute__((constructor)) static void begin(void)
{
	char text[512];

	inside = true;
	want(take("FAILCALL_CALLS", text, sizeof(text)) ? text : "alloc");
	fail_errno = take("FAILCALL_ERRNO", text, sizeof(text)) ? errno_of(text) : 0;
	fail_at = take_number("FAILCALL_AT", 0);
	fail_times = take_number("FAILCALL_TIMES", 1);
	halve = take_number("FAILCALL_SHORT", 0) == 1;
	kills = take_number("FAILCALL_KILL", 0) == 1;
	sent_signal = (int)take_number("FAILCALL_SIGNAL", 0);
	needing_space = take_number("FAILCALL_SPACE", 0) == 1;
	min_bytes = take_number("FAILCALL_MIN", 0);
	min_fd = take_number("FAILCALL_FD_MIN", 0);
	take("FAILCALL_COUNT", count_path, sizeof(count_path));
	take("FAILCALL_HIT", hit_path, sizeof(hit_path));
	change_how = getenv("FAILCALL_CUT") ? 'c' : getenv("FAILCALL_GROW") ? 'g' : 't';
	take("FAILCALL_CUT", change_path, sizeof(change_path));
	take("FAILCALL_GROW", change_path, sizeof(change_path));
	take("FAILCALL_TOUCH", change_path, sizeof(change_path));
	unsetenv("LD_PRELOAD");
	inside = false;
	ready = true;
}

__attribute__((destructor)) static void end(void)
{
	char line[32];

	ready = false;
	if (!*count_path)
		return;
	snprintf(line, sizeof(line), "%lu\n", atomic_load(&counted));
	put_line(count_path, line);
}

/* This exit runs no destructors. */
void _exit(int status)
{
	end();
	syscall(SYS_exit_group, status);
	__builtin_unreachable();
}

/* Appends the last line again. */
static bool grow(int fd, off_t size)
{
	char end[4096];
	long n = syscall(SYS_pread64, fd, end, sizeof(end), size < 4096 ? 0 : size - 4096);
	const char *before = n > 1 ? memrchr(end, '\n', (size_t)n - 1) : NULL;
	const char *line = before ? before + 1 : end;

	return n >= 0 && syscall(SYS_write, fd, line, end + n - line) >= 0;
}

static void change(const char *path, int how)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_APPEND | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) ||
	    (how == 'c' && syscall(SYS_ftruncate, fd, st.st_size / 2)) ||
	    (how == 'g' && !grow(fd, st.st_size)) || (how == 't' && futimens(fd, NULL)))
		abort();
	syscall(SYS_close, fd);
}

/* Counts a call; true: this one is to fail, and errno says how. */
static bool fails(enum call c)
{
	unsigned long n;

	if (!ready || inside || !wanted[c])
		return false;
	n = atomic_fetch_add(&counted, 1) + 1;
	if (fail_at == 0 || n < fail_at || (fail_times && n >= fail_at + fail_times))
		return false;
	if (*hit_path)
		put_line(hit_path, "failed\n");
	if (*change_path) {
		change(change_path, change_how);
		return false;
	}
	if (kills)
		kill(getpid(), SIGKILL);
	if (sent_signal) {
		kill(getpid(), sent_signal);
		return false;
	}
	errno = fail_errno ? fail_errno : c <= C_MMAP ? ENOMEM : EIO;
	return true;
}

static bool fails_alloc(enum call c, size_t bytes)
{
	return bytes >= min_bytes && fails(c);
}

static bool fails_fd(enum call c, int fd)
{
	return fd >= min_fd && fails(c);
}

/*
 * True if the system needs new space to write there.  The offset of the descriptor is restored:
 * write() uses it.
 */
static bool needs_space(int fd, off_t offset, size_t n)
{
	off_t at = lseek(fd, 0, SEEK_CUR), hole;
	int saved = errno;

	if (at < 0 || n == 0)
		return false;
	if (offset < 0)
		offset = at;
	hole = lseek(fd, offset, SEEK_HOLE); /* fails beyond the end */
	lseek(fd, at, SEEK_SET);
	errno = saved;
	return hole < 0 || hole < offset + (off_t)n;
}

/* For a call that puts n bytes into a file; offset: -1 for the offset of the descriptor. */
static bool fails_write(enum call c, int fd, off_t offset, size_t n)
{
	if (needing_space && ready && !inside && wanted[c] && !needs_space(fd, offset, n))
		return false;
	return fails_fd(c, fd);
}

static size_t iov_bytes(const struct iovec *v, int n)
{
	size_t bytes = 0;

	for (int i = 0; i < n; i++)
		bytes += v[i].iov_len;
	return bytes;
}

/* dlsym() may allocate, see arena_take(), though it is declared to call nothing of this file. */
static __thread volatile bool looking;

static void *look(const char *name)
{
	void *found;

	looking = true;
	found = dlsym(RTLD_NEXT, name);
	looking = false;
	if (!found)
		abort();
	return found;
}

#define REAL(name)                                                                                 \
	static __typeof__(&name) real;                                                             \
	if (!real)                                                                                 \
	*(void **)&real = look(#name)

static char arena[16384] __attribute__((aligned(16)));
static size_t arena_used;

static void *arena_take(size_t bytes)
{
	void *p = arena + arena_used;

	bytes = (bytes + 15) & ~(size_t)15;
	if (bytes > sizeof(arena) - arena_used)
		abort();
	arena_used += bytes;
	return p;
}

static bool in_arena(const void *p)
{
	return (const char *)p >= arena && (const char *)p < arena + sizeof(arena);
}

/* Memory. */

void *malloc(size_t size)
{
	if (looking)
		return arena_take(size);
	REAL(malloc);
	return fails_alloc(C_MALLOC, size) ? NULL : real(size);
}

void *calloc(size_t n, size_t size)
{
	if (looking)
		return arena_take(n * size); /* static storage is zero */
	REAL(calloc);
	return fails_alloc(C_CALLOC, n * size) ? NULL : real(n, size);
}

void *realloc(void *p, size_t size)
{
	REAL(realloc);
	return fails_alloc(C_REALLOC, size) ? NULL : real(p, size);
}

void free(void *p)
{
	/* dlsym() frees the text of an earlier error. */
	if (looking || in_arena(p))
		return;
	REAL(free);
	real(p);
}

void *aligned_alloc(size_t align, size_t size)
{
	REAL(aligned_alloc);
	return fails_alloc(C_ALIGNED, size) ? NULL : real(align, size);
}

void *memalign(size_t align, size_t size);
void *memalign(size_t align, size_t size)
{
	REAL(memalign);
	return fails_alloc(C_ALIGNED, size) ? NULL : real(align, size);
}

int posix_memalign(void **p, size_t align, size_t size)
{
	REAL(posix_memalign);
	return fails_alloc(C_ALIGNED, size) ? errno : real(p, align, size);
}

void *mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
	REAL(mmap);
	return fails_alloc(C_MMAP, size) ? MAP_FAILED : real(addr, size, prot, flags, fd, offset);
}

/* Files. */

static mode_t mode_of(int flags, va_list ap)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
}

static enum call open_call(int flags)
{
	if (flags & O_DIRECT && wanted[C_DIRECT])
		return C_DIRECT;
	return (flags & O_TMPFILE) == O_TMPFILE && wanted[C_TMPFILE] ? C_TMPFILE : C_OPEN;
}

#define OPEN(name, parameters, arguments, last)                                                    \
	int name parameters                                                                        \
	{                                                                                          \
		mode_t mode;                                                                       \
		va_list ap;                                                                        \
		REAL(name);                                                                        \
		va_start(ap, last);                                                                \
		mode = mode_of(last, ap);                                                          \
		va_end(ap);                                                                        \
		return fails(open_call(last)) ? -1 : real arguments;                               \
	}

OPEN(open, (const char *path, int flags, ...), (path, flags, mode), flags)
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode), flags)
OPEN(openat, (int at, const char *path, int flags, ...), (at, path, flags, mode), flags)
OPEN(openat64, (int at, const char *path, int flags, ...), (at, path, flags, mode), flags)

FILE *fopen(const char *restrict path, const char *restrict mode)
{
	REAL(fopen);
	return fails(C_OPEN) ? NULL : real(path, mode);
}

static size_t half(size_t n)
{
	return n > 1 ? n / 2 : n;
}

#define TRANSFER(call, name, data, failing, ...)                                                   \
	ssize_t name(int fd, data buf, size_t n __VA_OPT__(, off_t offset))                        \
	{                                                                                          \
		REAL(name);                                                                        \
		if (!(failing))                                                                    \
			return real(fd, buf, n __VA_OPT__(, ) __VA_ARGS__);                        \
		if (!halve)                                                                        \
			return -1;                                                                 \
		return real(fd, buf, half(n) __VA_OPT__(, ) __VA_ARGS__);                          \
	}

TRANSFER(C_READ, read, void *, fails_fd(C_READ, fd))
TRANSFER(C_WRITE, write, const void *, fails_write(C_WRITE, fd, -1, n))
TRANSFER(C_PREAD, pread, void *, fails_fd(C_PREAD, fd), offset)
TRANSFER(C_PREAD, pread64, void *, fails_fd(C_PREAD, fd), offset)
TRANSFER(C_PWRITE, pwrite, const void *, fails_write(C_PWRITE, fd, offset, n), offset)
TRANSFER(C_PWRITE, pwrite64, const void *, fails_write(C_PWRITE, fd, offset, n), offset)

ssize_t preadv(int fd, const struct iovec *v, int n, off_t offset)
{
	REAL(preadv);
	if (!fails_fd(C_PREAD, fd))
		return real(fd, v, n, offset);
	return halve ? pread(fd, v->iov_base, half(v->iov_len), offset) : -1;
}

ssize_t pwritev(int fd, const struct iovec *v, int n, off_t offset)
{
	REAL(pwritev);
	if (!fails_write(C_PWRITE, fd, offset, iov_bytes(v, n)))
		return real(fd, v, n, offset);
	return halve ? pwrite(fd, v->iov_base, half(v->iov_len), offset) : -1;
}

ssize_t writev(int fd, const struct iovec *v, int n)
{
	REAL(writev);
	if (!fails_write(C_WRITE, fd, -1, iov_bytes(v, n)))
		return real(fd, v, n);
	return halve ? write(fd, v->iov_base, half(v->iov_len)) : -1;
}

ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t n, unsigned flags)
{
	REAL(copy_file_range);
	if (!fails_write(C_WRITE, out, to ? *to : -1, n))
		return real(in, from, out, to, n, flags);
	return halve ? real(in, from, out, to, half(n), flags) : -1;
}

/* The descriptor is closed all the same, as by a real failing close(). */
int close(int fd)
{
	bool bad = fails_fd(C_CLOSE, fd);
	int saved = errno;

	REAL(close);
	if (!bad)
		return real(fd);
	real(fd);
	errno = saved;
	return -1;
}

int rename(const char *from, const char *to)
{
	REAL(rename);
	return fails(C_RENAME) ? -1 : real(from, to);
}

int renameat(int a, const char *from, int b, const char *to)
{
	REAL(renameat);
	return fails(C_RENAME) ? -1 : real(a, from, b, to);
}

int renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
	REAL(renameat2);
	return fails(C_RENAME) ? -1 : real(a, from, b, to, flags);
}

int link(const char *from, const char *to)
{
	REAL(link);
	return fails(C_LINK) ? -1 : real(from, to);
}

int linkat(int a, const char *from, int b, const char *to, int flags)
{
	REAL(linkat);
	return fails(C_LINK) ? -1 : real(a, from, b, to, flags);
}

int unlink(const char *path)
{
	REAL(unlink);
	return fails(C_UNLINK) ? -1 : real(path);
}

int unlinkat(int at, const char *path, int flags)
{
	REAL(unlinkat);
	return fails(C_UNLINK) ? -1 : real(at, path, flags);
}

int ftruncate(int fd, off_t size)
{
	REAL(ftruncate);
	return fails_fd(C_FTRUNCATE, fd) ? -1 : real(fd, size);
}

int fallocate(int fd, int mode, off_t offset, off_t size)
{
	REAL(fallocate);
	return fails_write(C_FALLOCATE, fd, offset, (size_t)size) ? -1
								  : real(fd, mode, offset, size);
}

int posix_fallocate(int fd, off_t offset, off_t size)
{
	REAL(posix_fallocate);
	return fails_write(C_FALLOCATE, fd, offset, (size_t)size) ? errno : real(fd, offset, size);
}

int fsync(int fd)
{
	REAL(fsync);
	return fails_fd(C_FSYNC, fd) ? -1 : real(fd);
}

int fdatasync(int fd)
{
	REAL(fdatasync);
	return fails_fd(C_FSYNC, fd) ? -1 : real(fd);
}
