/* SPDX-License-Identifier: MIT */
/*
 * Reads the sources of samples.
 */
#pragma once

#include <sys/types.h>
#include <spindle/watch.h>
#include "observe/sysdev.h"

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
	struct sp__tracer *tracer; /* of a device or a process, or NULL */
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
