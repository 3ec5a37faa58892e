/* SPDX-License-Identifier: MIT */
/*
 * The block-request trace: one line for each request as the tool issued it,
 * in the format of spindle-trace(5).  Written buffered by the threads that
 * complete requests, in the order of completion; lines never mix.
 */
#ifndef SP__OBS_TRACE_H
#define SP__OBS_TRACE_H

#include <stdint.h>
#include <spindle/api.h>
#include <spindle/error.h>

struct sp__trace;

/*
 * path is borrowed until it is closed.  A regular file appears when the trace is closed
 * (spindle/outfile.h).
 */
SP_MUST_CHECK int sp__trace_open(struct sp__trace **t, const char *path, struct sp_errinfo *err);
/* From now on times are those of a virtual clock that began at 0. */
typedef uint64_t sp__trace_clock_fn(const void *clock);
void sp__trace_virtual(struct sp__trace *t, sp__trace_clock_fn *now_ns, const void *clock);
/* The time of the trace's clock; requests to real volumes take no time of a virtual one. */
uint64_t sp__trace_now_ns(const struct sp__trace *t);
/*
 * op is 'R' or 'W'; volume is a name, any bytes; times are those of
 * sp__trace_now_ns() and are written relative to the opening of the trace; result is
 * the bytes moved or -errno.  A failure to write is reported by closing.
 */
void sp__trace_request(struct sp__trace *t, char op, const char *volume, uint64_t offset,
		       uint32_t bytes, unsigned prio, uint64_t submit_ns, uint64_t done_ns,
		       int result);
/* 0, or the first error that writing met, also in err.  Accepts NULL. */
int sp__trace_close(struct sp__trace *t, struct sp_errinfo *err);

#endif
