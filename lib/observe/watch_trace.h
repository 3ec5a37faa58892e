/* SPDX-License-Identifier: MIT */
/*
 * Follows requests by the kernel's trace events, in a tracefs instance of its own.
 */
#pragma once

#include <spindle/api.h>
#include <spindle/error.h>
#include "base/hashtable.h"

/*
 * A multiset of locations on devices with outstanding requests; several requests can have the same
 * location.
 *
 * A set is for one thread at a time.  Its memory grows with the number of locations, and does not
 * shrink until the set is closed.
 */

struct sp__location;

struct sp__locations {
	uint64_t n; /* with multiplicity */
	struct sp__location *list;
	uint32_t nlist;
	struct sp__hashtable table; /* numbers in the list, from 1 */
};
SP_MUST_CHECK int sp__locations_open(struct sp__locations *p); /* 0 or -ENOMEM */
void sp__locations_close(struct sp__locations *p);	       /* accepts one filled with zeros */
/* 0, or -ENOMEM: the set is unchanged. */
SP_MUST_CHECK int sp__locations_add(struct sp__locations *p, unsigned dev, uint64_t sector);
/* Removes one request.  False: the location has none. */
bool sp__locations_take(struct sp__locations *p, unsigned dev, uint64_t sector);
void sp__locations_clear(struct sp__locations *p);

/*
 * Calls fn for each event of a page of trace_pipe_raw, with its time and its bytes (aligned
 * to 4).  False: the page is malformed.  *lost: events before it were lost.
 */
typedef void sp__tracepage_fn(void *arg, uint64_t ns, const unsigned char *data, size_t bytes);
bool sp__tracepage_parse(const unsigned char *page, size_t bytes, bool *lost, sp__tracepage_fn *fn,
			 void *arg);

/* Find the offset of a field of this size, and the number of an event, in its file "format". */
bool sp__traceformat_field(const char *format, const char *name, unsigned bytes, unsigned *offset);
bool sp__traceformat_id(const char *format, unsigned *id);

struct sp__tracer;

/*
 * Traces one device (dev: major << 20 | minor) or, if process is a directory of /proc, the requests
 * that its threads start.  The tracefs is kernel/tracing in sys.  Returns 0; SP_EUNSUP: no tracefs,
 * or it lacks the events; -EPERM, -EACCES.
 */
SP_MUST_CHECK int sp__tracer_open(struct sp__tracer **t, const char *sys, unsigned dev,
				  const char *process, struct sp_errinfo *err);
void sp__tracer_close(struct sp__tracer *t); /* accepts NULL */

/*
 * Calls fn for each change until a time of the monotonic clock, in order.  Requests that started
 * before the tracer do not count.  Returns 0, -ENOENT (the process is gone), or another error.
 */
typedef void sp__tracer_fn(void *arg, uint64_t ns, uint64_t outstanding);
SP_MUST_CHECK int sp__tracer_read(struct sp__tracer *t, uint64_t until_ns, sp__tracer_fn *fn,
				  void *arg);
/* Returns the number of pages before which events were lost; later counts are inexact. */
uint64_t sp__tracer_lost(const struct sp__tracer *t);
