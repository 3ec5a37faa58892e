/* SPDX-License-Identifier: MIT */
/*
 * The block-request trace: one line for each request as the tool issued it,
 * in the format of spindle-trace(5).  Written buffered by whoever completes
 * requests; lines of different threads never mix.
 */
#ifndef SP__OBS_TRACE_H
#define SP__OBS_TRACE_H

#include <stdint.h>
#include <spindle/api.h>
#include <spindle/error.h>

struct sp__trace;

SP_MUST_CHECK int sp__trace_open(struct sp__trace **t, const char *path,
				 struct sp_errinfo *err);
/* op is 'R' or 'W'; volume is a name; times in ns since opening the trace. */
void sp__trace_request(struct sp__trace *t, char op, const char *volume,
		       uint64_t offset, uint32_t bytes, unsigned prio,
		       uint64_t submit_ns, uint64_t done_ns, int result);
/* 0, or the first error that writing met. */
int sp__trace_close(struct sp__trace *t);

#endif
