/* SPDX-License-Identifier: MIT */
/*
 * Reads the sources of samples.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>
#include <spindle/watch.h>
#include "observe/sysdev.h"

/*
 * A series of moments to wait for, one period apart.
 *
 * A sleep sets the processor's timer, which on a virtual machine costs more than a sample.
 * Therefore several periodic timers alternate: when one is armed again, others expire before it,
 * and the interrupt of one sets the processor's timer for the next.
 */

#define SP__MOMENTS_AHEAD 16

struct sp__moments {
	int fds[SP__MOMENTS_AHEAD]; /* timerfds; moment i uses number i % nfds */
	unsigned nfds;		    /* 0: clock_nanosleep() for each moment */
	uint64_t begin_ns, period_ns;
	uint64_t next; /* index of the next moment */
};
/* Sets up a series; moment 1 is one period (at least 1 ns) after begin_ns.  Never fails. */
void sp__moments_open(struct sp__moments *m, uint64_t begin_ns, uint64_t period_ns);
/*
 * Waits for the next moment; after a signal, that moment stays the next.  Skips moments whose
 * period is over at now_ns.  Returns their number.
 */
uint64_t sp__moments_wait(struct sp__moments *m, uint64_t now_ns);
void sp__moments_close(struct sp__moments *m);

#define SP__WATCH_RINGS_MAX 256

/* A line of /sys/block/NAME/stat. */
struct sp__diskstat {
	uint64_t requests;    /* reads, writes, discards and flushes completed */
	uint64_t latency_ms;  /* their sum */
	uint64_t outstanding; /* now */
	uint64_t queue_ms;    /* time in the queue, weighted by requests */
};

/* Parse the text of such files.  False: malformed. */
bool sp__watch_parse_stat(const char *text, struct sp__diskstat *s);
bool sp__watch_parse_inflight(const char *text, uint64_t *outstanding);
bool sp__watch_parse_fdinfo(const char *text, uint64_t *outstanding);

struct sp__tracer;

struct sp__watched {
	enum sp_watch_source source;
	char name[64];
	/* A device: its file in /sys. */
	int fd;
	struct sp__tracer *tracer; /* traces a device or a process; NULL: neither */
	struct sp__diskstat stat;  /* at the last sample */
	/* A process: its rings, and its directory in /proc. */
	char dir[PATH_MAX];
	size_t nrings;
	struct sp__ring {
		int number, fd;
	} rings[SP__WATCH_RINGS_MAX];
};

/* Finds and opens the target.  Returns 0 or an error of sp_watch_run(). */
SP_MUST_CHECK int sp__watched_open(struct sp__watched *w, const struct sp_watch_opts *opts,
				   struct sp_errinfo *err);
void sp__watched_close(struct sp__watched *w);
/* Returns 1 and sets *outstanding; 0: it cannot be read this time; -ENOENT: the target is gone. */
SP_MUST_CHECK int sp__watched_sample(struct sp__watched *w, uint64_t *outstanding);
/* Adds rings that were opened since the last call.  False: the process is gone. */
bool sp__watched_refresh(struct sp__watched *w);
