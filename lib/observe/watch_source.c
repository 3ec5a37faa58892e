/* SPDX-License-Identifier: MIT */
/*
 * Reads counters of outstanding requests.  Files of /sys and /proc stay open; a sample is one
 * pread() from offset 0.
 */
#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "observe/watch.h"
#include "observe/watch_trace.h"

#define FIELDS_MAX 17

/*
 * Parses blank-separated numbers up to the end of the line.  Returns their number; 0: other text.
 */
static size_t numbers(const char *text, uint64_t *out, size_t max)
{
	size_t n = 0;

	for (;;) {
		uint64_t v = 0;

		while (*text == ' ')
			text++;
		if (!isdigit((unsigned char)*text) || n == max)
			return *text && *text != '\n' && n < max ? 0 : n;
		for (; isdigit((unsigned char)*text); text++)
			v = v * 10 + (uint64_t)(*text - '0');
		out[n++] = v;
	}
}

bool sp__watch_parse_stat(const char *text, struct sp__diskstat *s)
{
	uint64_t f[FIELDS_MAX] = { 0 };

	/* Linux 2.6 has 11 fields; 15 include discards, 17 flushes. */
	if (numbers(text, f, FIELDS_MAX) < 11)
		return false;
	s->requests = f[0] + f[4] + f[11] + f[15];
	s->latency_ms = f[3] + f[7] + f[14] + f[16];
	s->outstanding = f[8];
	s->queue_ms = f[10];
	return true;
}

bool sp__watch_parse_inflight(const char *text, uint64_t *outstanding)
{
	uint64_t f[2];

	if (numbers(text, f, 2) != 2)
		return false;
	*outstanding = f[0] + f[1];
	return true;
}

static bool ring_field(const char *text, const char *name, uint32_t *value)
{
	const char *at = strstr(text, name);

	return at && sscanf(at + strlen(name), "%" SCNu32, value) == 1;
}

bool sp__watch_parse_fdinfo(const char *text, uint64_t *outstanding)
{
	uint32_t taken, done;

	if (!ring_field(text, "\nSqHead:", &taken) || !ring_field(text, "\nCqTail:", &done))
		return false;
	/* Both wrap at 32 bits; operations with several completions make CqTail run ahead. */
	*outstanding = (int32_t)(taken - done) > 0 ? taken - done : 0;
	return true;
}

static const char *sys_root(const struct sp_watch_opts *o)
{
	return o->sys ? o->sys : "/sys";
}

static int open_device(struct sp__watched *w, const struct sp_watch_opts *o,
		       const struct sp__sysdev *d, struct sp_errinfo *err)
{
	const char *slash = strrchr(d->part_dir, '/');
	char path[PATH_MAX];

	if (o->source == SP_WATCH_TRACE) {
		w->source = SP_WATCH_TRACE;
		snprintf(w->name, sizeof(w->name), "%s", d->name);
		return sp__tracer_open(&w->tracer, sys_root(o), d->major << 20 | d->minor, NULL,
				       err);
	}
	w->source = o->source == SP_WATCH_INFLIGHT ? SP_WATCH_INFLIGHT : SP_WATCH_STAT;
	snprintf(w->name, sizeof(w->name), "%.63s", slash ? slash + 1 : d->part_dir);
	if (snprintf(path, sizeof(path), "%s/%s", d->part_dir,
		     w->source == SP_WATCH_STAT ? "stat" : "inflight") >= PATH_MAX)
		return sp__err(err, -ENAMETOOLONG, "open", o->target, -1);
	w->fd = open(path, O_RDONLY | O_CLOEXEC);
	return w->fd < 0 ? sp__err(err, -errno, "open", path, -1) : 0;
}

static bool is_ring(const char *dir, int number)
{
	char path[PATH_MAX], to[64];
	ssize_t n;

	if (snprintf(path, sizeof(path), "%s/fd/%d", dir, number) >= PATH_MAX)
		return false;
	n = readlink(path, to, sizeof(to) - 1);
	if (n < 0)
		return false;
	to[n] = '\0';
	return !strcmp(to, "anon_inode:[io_uring]");
}

/* Adds a descriptor if it is a new ring. */
static void add_ring(void *arg, int number)
{
	struct sp__watched *w = arg;
	char name[32];
	int fd;

	if (w->nrings == SP__WATCH_RINGS_MAX || !is_ring(w->dir, number))
		return;
	for (size_t i = 0; i < w->nrings; i++)
		if (w->rings[i].number == number)
			return;
	snprintf(name, sizeof(name), "fdinfo/%d", number);
	fd = sp__sys_open(w->dir, name, O_RDONLY);
	if (fd >= 0)
		w->rings[w->nrings++] = (struct sp__ring){ number, fd };
}

static int open_process(struct sp__watched *w, const struct sp_watch_opts *o,
			struct sp_errinfo *err)
{
	int rc;

	w->source = SP_WATCH_FDINFO;
	snprintf(w->name, sizeof(w->name), "%.63s", o->target);
	if (snprintf(w->dir, sizeof(w->dir), "%s/%s", o->proc ? o->proc : "/proc", o->target) >=
	    PATH_MAX)
		return sp__err(err, -ENAMETOOLONG, "open", o->target, -1);
	if (access(w->dir, F_OK))
		return sp__errf(err, -ESRCH, "open", o->target, -1, "the process does not exist");
	if (o->source == SP_WATCH_TRACE) {
		w->source = SP_WATCH_TRACE;
		return sp__tracer_open(&w->tracer, sys_root(o), 0, w->dir, err);
	}
	rc = sp__sys_each(w->dir, "fd", add_ring, w);
	if (rc)
		return sp__err(err, rc, "open", o->target, -1);
	if (!w->nrings)
		return sp__errf(err, SP_EUNSUP, "open", o->target, -1,
				"has no io_uring that can be read; watch the device that it uses, "
				"or use --source=trace");
	return 0;
}

static int find_device(struct sp__sysdev *d, const struct sp_watch_opts *o, struct sp_errinfo *err)
{
	const char *sys = sys_root(o);
	struct stat st;
	int rc;

	if (stat(o->target, &st)) {
		rc = sp__sysdev_name(d, sys, o->target);
		return rc ? sp__err(err, rc, "open", o->target, -1) : 0;
	}
	if (!S_ISBLK(st.st_mode))
		return sp__errf(err, SP_EUNSUP, "open", o->target, -1,
				"is neither a block device nor the number of a process");
	rc = sp__sysdev_number(d, sys, st.st_rdev);
	return rc ? sp__err(err, rc, "open", o->target, -1) : 0;
}

int sp__watched_open(struct sp__watched *w, const struct sp_watch_opts *o, struct sp_errinfo *err)
{
	bool process = *o->target && strspn(o->target, "0123456789") == strlen(o->target);
	struct sp__sysdev d;
	int rc;

	*w = (struct sp__watched){ .fd = -1 };
	if (o->source != SP_WATCH_AUTO && o->source != SP_WATCH_TRACE &&
	    (o->source == SP_WATCH_FDINFO) != process)
		return sp__errf(err, SP_EUNSUP, "open", o->target, -1, "has no source '%s'",
				sp_watch_source_name(o->source));
	if (process)
		return open_process(w, o, err);
	rc = find_device(&d, o, err);
	return rc ? rc : open_device(w, o, &d, err);
}

void sp__watched_close(struct sp__watched *w)
{
	if (w->fd >= 0)
		close(w->fd);
	sp__tracer_close(w->tracer);
	for (size_t i = 0; i < w->nrings; i++)
		close(w->rings[i].fd);
}

static ssize_t read_again(int fd, char *text, size_t bytes)
{
	ssize_t n = pread(fd, text, bytes - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return n;
}

static int sample_device(struct sp__watched *w, uint64_t *outstanding)
{
	char text[512];
	bool good;

	if (read_again(w->fd, text, sizeof(text)) <= 0)
		return -ENOENT;
	if (w->source == SP_WATCH_INFLIGHT)
		return sp__watch_parse_inflight(text, outstanding);
	good = sp__watch_parse_stat(text, &w->stat);
	*outstanding = w->stat.outstanding;
	return good;
}

/* Removes closed rings.  A ring whose lock is held cannot be read this time. */
static int sample_rings(struct sp__watched *w, uint64_t *outstanding)
{
	char text[1024];
	uint64_t n;
	int rc = 1;

	*outstanding = 0;
	for (size_t i = 0; i < w->nrings; i++) {
		if (read_again(w->rings[i].fd, text, sizeof(text)) <= 0) {
			close(w->rings[i].fd);
			w->rings[i--] = w->rings[--w->nrings];
		} else if (sp__watch_parse_fdinfo(text, &n)) {
			*outstanding += n;
		} else {
			rc = 0;
		}
	}
	return rc;
}

int sp__watched_sample(struct sp__watched *w, uint64_t *outstanding)
{
	return w->source == SP_WATCH_FDINFO ? sample_rings(w, outstanding)
					    : sample_device(w, outstanding);
}

bool sp__watched_refresh(struct sp__watched *w)
{
	return w->source != SP_WATCH_FDINFO || sp__sys_each(w->dir, "fd", add_ring, w) == 0;
}
