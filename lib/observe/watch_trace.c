/* SPDX-License-Identifier: MIT */
/*
 * Follows every request from block_io_start to block_io_done, as the statistics of a device do.
 *
 * Algorithm: a request that is merged into another one ends there (block_rq_merge).  A request that
 * grows at its front has another first sector from then on (block_bio_frontmerge).  Outstanding
 * requests are a multiset of (device, sector), see watch_trace.h.  Completions of requests whose
 * start was not seen are ignored.
 *
 * Each processor has its own ring buffer.  All of them are read, and the events sorted by time
 * (clock "mono").  Events later than the start of the reading are kept for the next time, because
 * another processor can still deliver an earlier one.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <spindle/api.h>
#include "base/array.h"
#include "base/err.h"
#include "base/rng.h"
#include "observe/sysdev.h"
#include "observe/watch_trace.h"

/*
 * Parses pages of the kernel's ring buffer, as tracefs documents them in events/header_page and
 * events/header_event: the time of the page, the bytes in use with flags in the high bits, then
 * events.  An event is a word with 5 bits of type and 27 bits of time since the previous event, and
 * its bytes.
 */

#define HEAD_BYTES 16
#define USED_MASK 0xfffff
#define LOST_FLAG (1u << 31)
#define TIME_BITS 27

enum { LONG = 0, SHORT_MAX = 28, PADDING, TIME_EXTEND, TIME_STAMP };

static uint32_t word(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t moment(uint64_t ns, uint32_t type, uint64_t delta, uint32_t next)
{
	uint64_t whole = ((uint64_t)next << TIME_BITS) + delta;

	if (type == TIME_EXTEND)
		return ns + whole;
	/* a stamp lacks the highest 5 bits */
	return type == TIME_STAMP ? whole | (ns & ~((1ull << 59) - 1)) : ns + delta;
}

bool sp__tracepage_parse(const unsigned char *page, size_t bytes, bool *lost, sp__tracepage_fn *fn,
			 void *arg)
{
	const unsigned char *p = page + HEAD_BYTES, *end;
	uint64_t ns;

	if (bytes < HEAD_BYTES)
		return false;
	memcpy(&ns, page, sizeof(ns));
	*lost = word(page + 8) & LOST_FLAG;
	if ((word(page + 8) & USED_MASK) > bytes - HEAD_BYTES)
		return false;
	end = p + (word(page + 8) & USED_MASK);
	while (end - p >= 4) {
		uint32_t type = word(p) & 31, delta = word(p) >> 5;
		uint32_t next = end - p >= 8 ? word(p + 4) : 0;
		uint64_t size = type && type <= SHORT_MAX ? 4 + 4ull * type : 8;

		if (type == PADDING && !delta)
			break;
		if (type == LONG || type == PADDING)
			size = 4 + ((uint64_t)next + 3) / 4 * 4;
		if (size > (uint64_t)(end - p) || (type == LONG && next < 4))
			return false;
		ns = moment(ns, type, delta, next);
		if (type == LONG)
			fn(arg, ns, p + 8, (size_t)size - 8);
		else if (type <= SHORT_MAX)
			fn(arg, ns, p + 4, (size_t)size - 4);
		p += size;
	}
	return true;
}

/* "field:sector_t sector;	offset:16;	size:8;	signed:0;" */
bool sp__traceformat_field(const char *format, const char *name, unsigned bytes, unsigned *offset)
{
	unsigned size;
	size_t n = strlen(name);
	const char *at = format;

	while ((at = strstr(at, "field:")) != NULL) {
		const char *end = strpbrk(at, ";\n");

		at += 6;
		if (!end || *end != ';')
			continue;
		if ((size_t)(end - at) > n && !strncmp(end - n, name, n) &&
		    isspace((unsigned char)end[-(long)n - 1]))
			return sscanf(end, "; offset:%u; size:%u;", offset, &size) == 2 &&
			       size == bytes;
	}
	return false;
}

bool sp__traceformat_id(const char *format, unsigned *id)
{
	const char *at = strstr(format, "\nID: ");

	return at && sscanf(at, "\nID: %u", id) == 1;
}

/*
 * Counts outstanding requests by location.  A location whose count is 0 again is removed when the
 * table is full.
 */

struct sp__location {
	uint64_t sector;
	unsigned dev, count;
};

int sp__locations_open(struct sp__locations *p)
{
	*p = (struct sp__locations){ 0 };
	return sp__hashtable_grow(&p->table);
}

void sp__locations_close(struct sp__locations *p)
{
	sp__hashtable_close(&p->table);
	free(p->list);
}

static uint64_t hash_of(unsigned dev, uint64_t sector)
{
	return sp__mix64(sector * 31 + dev);
}

static inline uint64_t *find(const struct sp__locations *p, unsigned dev, uint64_t sector)
{
	const uint64_t hash = hash_of(dev, sector);

	return SP__HASHTABLE_FIND(&p->table, hash, number,
				  p->list[number - 1].sector == sector &&
					  p->list[number - 1].dev == dev);
}

/* Makes space for one more location. */
static int make_space(struct sp__locations *p)
{
	uint32_t live = 0;

	if (!sp__hashtable_is_full(&p->table, p->nlist))
		return 0;
	for (uint32_t i = 0; i < p->nlist; i++)
		if (p->list[i].count)
			p->list[live++] = p->list[i];
	p->nlist = live;
	sp__hashtable_empty(&p->table);
	for (uint32_t i = 0; i < live; i++)
		sp__hashtable_put(&p->table, hash_of(p->list[i].dev, p->list[i].sector), i + 1);
	/* At most a quarter full, so that the next time is not soon. */
	return sp__hashtable_is_full(&p->table, 2 * (size_t)live) ? sp__hashtable_grow(&p->table)
								  : 0;
}

int sp__locations_add(struct sp__locations *p, unsigned dev, uint64_t sector)
{
	uint64_t *slot;

	if (make_space(p) || !SP__ARRAY_GROW_BY_ONE(p->list, p->nlist))
		return -ENOMEM;
	slot = find(p, dev, sector);
	if (!*slot) {
		p->list[p->nlist++] = (struct sp__location){ .sector = sector, .dev = dev };
		sp__hashtable_fill(slot, hash_of(dev, sector), p->nlist);
	}
	p->list[(uint32_t)*slot - 1].count++;
	p->n++;
	return 0;
}

bool sp__locations_take(struct sp__locations *p, unsigned dev, uint64_t sector)
{
	const uint64_t *slot = find(p, dev, sector);

	if (!*slot || !p->list[(uint32_t)*slot - 1].count)
		return false;
	p->list[(uint32_t)*slot - 1].count--;
	p->n--;
	return true;
}

void sp__locations_clear(struct sp__locations *p)
{
	sp__hashtable_empty(&p->table);
	p->nlist = 0;
	p->n = 0;
}

#define PAGE_BYTES 65536 /* the default is 4 KiB */
#define BUFFER_KB "4096"
#define THREADS_MAX 4096

enum kind { START, DONE, MERGE, FRONT, KINDS };

static const char *const event_names[KINDS] = { "block_io_start", "block_io_done", "block_rq_merge",
						"block_bio_frontmerge" };

struct event {
	uint64_t ns, sector;
	unsigned dev, sectors;
	int pid;
	enum kind kind;
};

struct sp__tracer {
	char dir[PATH_MAX]; /* our instance */
	const char *process, *sys;
	unsigned dev;
	unsigned part, part_of;	  /* the last partition seen, and its device */
	int threads[THREADS_MAX]; /* threads of the process */
	size_t nthreads;
	int *cpu;
	size_t ncpus;
	struct {
		unsigned id, dev, sector, sectors; /* its number; offsets in it */
	} kind[KINDS];
	struct event *events;
	size_t n, cap;
	struct sp__locations outstanding;
	uint64_t lost;
	bool no_memory;
	unsigned char page[PAGE_BYTES];
};

static int put(const char *dir, const char *name, const char *text)
{
	int fd = sp__sys_open(dir, name, O_WRONLY | O_TRUNC), rc = 0;

	if (fd < 0)
		return fd;
	if (write(fd, text, strlen(text)) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

static int open_event(struct sp__tracer *t, enum kind k)
{
	char name[64], text[8192];
	int rc = 0;

	snprintf(name, sizeof(name), "events/block/%s/format", event_names[k]);
	if (!sp__sys_text(t->dir, name, text, sizeof(text)))
		return -ENOENT;
	if (!sp__traceformat_id(text, &t->kind[k].id) ||
	    !sp__traceformat_field(text, "dev", 4, &t->kind[k].dev) ||
	    !sp__traceformat_field(text, "sector", 8, &t->kind[k].sector) ||
	    !sp__traceformat_field(text, "nr_sector", 4, &t->kind[k].sectors))
		return SP_EUNSUP;
	/* Merges name the partition, requests the whole device. */
	if (!t->process && k != FRONT) {
		snprintf(name, sizeof(name), "events/block/%s/filter", event_names[k]);
		snprintf(text, sizeof(text), "dev == %u", t->dev);
		rc = put(t->dir, name, text);
	}
	snprintf(name, sizeof(name), "events/block/%s/enable", event_names[k]);
	return rc ? rc : put(t->dir, name, "1");
}

static int open_cpus(struct sp__tracer *t)
{
	char name[64];
	int fd;

	for (unsigned i = 0;; i++) {
		snprintf(name, sizeof(name), "per_cpu/cpu%u/trace_pipe_raw", i);
		fd = sp__sys_open(t->dir, name, O_RDONLY | O_NONBLOCK);
		if (fd < 0)
			return fd == -ENOENT && i ? 0 : fd;
		if (!SP__ARRAY_RESIZE(t->cpu, t->ncpus + 1)) {
			close(fd);
			return -ENOMEM;
		}
		t->cpu[t->ncpus++] = fd;
	}
}

static void add_thread(void *arg, int number)
{
	struct sp__tracer *t = arg;

	if (t->nthreads < THREADS_MAX)
		t->threads[t->nthreads++] = number;
}

/* Adds the threads of the process; threads that have ended stay in the list. */
static int find_threads(struct sp__tracer *t)
{
	size_t before = t->nthreads;
	int rc;

	t->nthreads = 0;
	rc = sp__sys_each(t->process, "task", add_thread, t);
	if (rc)
		t->nthreads = before;
	return rc;
}

static int start(struct sp__tracer *t)
{
	int rc = put(t->dir, "trace_clock", "mono");

	rc = rc ? rc : put(t->dir, "buffer_size_kb", BUFFER_KB);
	for (int k = 0; rc == 0 && k < KINDS; k++)
		rc = open_event(t, (enum kind)k);
	if (rc == 0 && t->process)
		rc = find_threads(t);
	rc = rc ? rc : open_cpus(t);
	return rc ? rc : put(t->dir, "tracing_on", "1");
}

/* Removes instances of killed processes, which would continue to collect events. */
static void remove_left(const char *tracing)
{
	char pattern[PATH_MAX];
	glob_t g;

	snprintf(pattern, sizeof(pattern), "%.4000s/instances/spindle-*", tracing);
	if (glob(pattern, 0, NULL, &g))
		return;
	for (size_t i = 0; i < g.gl_pathc; i++) {
		int owner = atoi(strrchr(g.gl_pathv[i], '-') + 1);

		if (owner > 0 && kill(owner, 0) && errno == ESRCH)
			rmdir(g.gl_pathv[i]);
	}
	globfree(&g);
}

int sp__tracer_open(struct sp__tracer **out, const char *sys, unsigned dev, const char *process,
		    struct sp_errinfo *err)
{
	struct sp__tracer *t = calloc(1, sizeof(*t));
	char tracing[PATH_MAX];
	int rc;

	if (!t)
		return sp__err(err, -ENOMEM, "open", sys, -1);
	snprintf(tracing, sizeof(tracing), "%.4000s/kernel/tracing", sys);
	t->sys = sys;
	t->dev = dev;
	t->process = process;
	rc = sp__locations_open(&t->outstanding);
	if (rc == 0 && !sp__sys_exists(tracing, "events/block"))
		rc = sp__errf(err, SP_EUNSUP, "open", tracing, -1, "tracefs cannot be read");
	if (rc == 0 && snprintf(t->dir, sizeof(t->dir), "%s/instances/spindle-%d", tracing,
				(int)getpid()) >= PATH_MAX)
		rc = -ENAMETOOLONG;
	if (rc == 0)
		remove_left(tracing);
	/* A killed process can have had our process number. */
	if (rc == 0 && mkdir(t->dir, 0700) &&
	    (errno != EEXIST || rmdir(t->dir) || mkdir(t->dir, 0700)))
		rc = -errno;
	if (rc) {
		*t->dir = '\0';
	} else {
		rc = start(t);
		if (rc == -ENOENT)
			rc = sp__errf(err, SP_EUNSUP, "open", tracing, -1,
				      "the kernel lacks events such as block_io_start");
	}
	if (rc) {
		sp__tracer_close(t);
		return sp__err(err, rc, "open", tracing, -1);
	}
	*out = t;
	return 0;
}

void sp__tracer_close(struct sp__tracer *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->ncpus; i++)
		close(t->cpu[i]);
	if (*t->dir)
		rmdir(t->dir);
	free(t->cpu);
	free(t->events);
	sp__locations_close(&t->outstanding);
	free(t);
}

uint64_t sp__tracer_lost(const struct sp__tracer *t)
{
	return t->lost;
}

static void take_event(void *arg, uint64_t ns, const unsigned char *data, size_t bytes)
{
	struct sp__tracer *t = arg;
	struct event e = { .ns = ns };
	uint16_t id;
	int k = 0;

	if (bytes < 8)
		return;
	memcpy(&id, data, sizeof(id));
	while (k < KINDS && t->kind[k].id != id)
		k++;
	if (k == KINDS || t->kind[k].dev + 4 > bytes || t->kind[k].sector + 8 > bytes ||
	    t->kind[k].sectors + 4 > bytes)
		return;
	e.kind = (enum kind)k;
	memcpy(&e.pid, data + 4, 4);
	memcpy(&e.dev, data + t->kind[k].dev, 4);
	memcpy(&e.sector, data + t->kind[k].sector, 8);
	memcpy(&e.sectors, data + t->kind[k].sectors, 4);
	if (!SP__ARRAY_GROW(t->events, t->cap, t->n + 1)) {
		t->no_memory = true;
		return;
	}
	t->events[t->n++] = e;
}

static int read_cpu(struct sp__tracer *t, int fd)
{
	for (;;) {
		ssize_t n = read(fd, t->page, sizeof(t->page));
		bool lost = false;

		if (n <= 0)
			return n == 0 || errno == EAGAIN || errno == EINTR ? 0 : -errno;
		if (!sp__tracepage_parse(t->page, (size_t)n, &lost, take_event, t))
			return SP_EFORMAT;
		t->lost += lost;
	}
}

static int by_moment(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static bool ours(const struct sp__tracer *t, int pid)
{
	if (!t->process)
		return true;
	for (size_t i = 0; i < t->nthreads; i++)
		if (t->threads[i] == pid)
			return true;
	return false;
}

/* Returns the whole device of a partition. */
static unsigned whole(struct sp__tracer *t, unsigned dev)
{
	struct sp__sysdev d;

	if (dev == t->part)
		return t->part_of;
	t->part = t->part_of = dev;
	if (sp__sysdev_number(&d, t->sys, makedev(dev >> 20, dev & 0xfffff)) == 0 && d.major)
		t->part_of = d.major << 20 | d.minor;
	return t->part_of;
}

static void add(struct sp__tracer *t, unsigned dev, uint64_t sector)
{
	if (sp__locations_add(&t->outstanding, dev, sector))
		t->no_memory = true;
}

static void apply(struct sp__tracer *t, const struct event *e)
{
	if (e->kind == START && ours(t, e->pid))
		add(t, e->dev, e->sector);
	else if (e->kind == DONE || e->kind == MERGE)
		sp__locations_take(&t->outstanding, e->dev, e->sector);
	else if (e->kind == FRONT &&
		 sp__locations_take(&t->outstanding, whole(t, e->dev), e->sector + e->sectors))
		add(t, whole(t, e->dev), e->sector);
}

int sp__tracer_read(struct sp__tracer *t, uint64_t until_ns, sp__tracer_fn *fn, void *arg)
{
	int rc = 0, gone = t->process ? find_threads(t) : 0;
	uint64_t lost = t->lost;
	size_t done = 0;

	for (size_t i = 0; rc == 0 && i < t->ncpus; i++)
		rc = read_cpu(t, t->cpu[i]);
	if (rc)
		return rc;
	/* Lost events can have ended requests. */
	if (t->lost != lost)
		sp__locations_clear(&t->outstanding);
	if (t->n)
		qsort(t->events, t->n, sizeof(*t->events), by_moment);
	for (; done < t->n && t->events[done].ns <= until_ns; done++) {
		uint64_t before = t->outstanding.n;

		apply(t, &t->events[done]);
		if (t->outstanding.n != before)
			fn(arg, t->events[done].ns, t->outstanding.n);
	}
	if (done)
		memmove(t->events, t->events + done, (t->n - done) * sizeof(*t->events));
	t->n -= done;
	if (gone)
		return -ENOENT;
	return t->no_memory ? -ENOMEM : 0;
}
