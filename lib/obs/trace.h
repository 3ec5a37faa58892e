/* SPDX-License-Identifier: MIT */
/*
 * Writes the block-request trace: one line per request as the tool issued it, in the format of
 * spindle-trace(5).
 *
 * The threads that complete requests write into a shared buffer, in the order of completion.  Lines
 * never mix.
 */
#pragma once

#include <spindle/error.h>

struct sp__trace;

/*
 * Opens a trace. path is borrowed until it is closed.  A regular file appears when the trace is
 * closed (spindle/outfile.h).  Returns 0 or an error.
 */
SP_MUST_CHECK int sp__trace_open(struct sp__trace **t, const char *path, struct sp_errinfo *err);
/* Switches the trace to the times of a virtual clock that began at 0. */
typedef uint64_t sp__trace_clock_fn(const void *clock);
void sp__trace_virtual(struct sp__trace *t, sp__trace_clock_fn *now_ns, const void *clock);
/* Returns the time of the trace's clock.  Requests to real volumes take no virtual time. */
uint64_t sp__trace_now_ns(const struct sp__trace *t);
/*
 * Writes a line. op is 'R' or 'W'. volume is a name of any bytes.  Times are those of
 * sp__trace_now_ns(), and are written relative to the opening of the trace. result is the number of
 * bytes moved or -errno.  Closing reports a failure to write.
 */
void sp__trace_request(struct sp__trace *t, char op, const char *volume, uint64_t offset,
		       uint32_t bytes, unsigned prio, uint64_t submit_ns, uint64_t done_ns,
		       int result);
/* Closes a trace; t may be NULL.  Returns 0, or the first error of writing, also in err. */
int sp__trace_close(struct sp__trace *t, struct sp_errinfo *err);
