/* SPDX-License-Identifier: MIT */
/*
 * Unpacks a compressed input: a part of the read stream (rstream.h), whose rules apply.
 *
 * A thread of its own reads.  Members whose ends it can find (pack/member.h) are unpacked by queued
 * tasks, several at a time; it unpacks the others itself.
 */
#pragma once

#include "io/rstream.h"

struct sp__unpacking;

/*
 * True if the stream is to be unpacked; false for a file that can be reread and has no magic
 * number.
 */
bool sp__unpacking_wanted(int fd, const struct sp__rstream_opts *opts);
SP_MUST_CHECK int sp__unpacking_open(struct sp__unpacking **p, int fd, const char *name,
				     const struct sp__rstream_opts *opts, struct sp_errinfo *err);
SP_MUST_CHECK int sp__unpacking_next(struct sp__unpacking *p, const char **data, size_t *bytes,
				     bool wait);
SP_MUST_CHECK int sp__unpacking_wait(struct sp__unpacking *p, int64_t timeout_ns);
void sp__unpacking_close(struct sp__unpacking *p); /* accepts NULL */
/* Reports the counters of packed bytes that were read. */
void sp__unpacking_counters(struct sp__unpacking *p, struct sp__io_counters *c);
