/* SPDX-License-Identifier: MIT */
/*
 * Unpacks a compressed input as a stream: a thread of its own reads and unpacks, up to three chunks
 * ahead of the caller.  Part of the read stream (rstream.h), whose rules apply.
 */
#pragma once

#include "io/rstream.h"

struct sp__unpacking;

/*
 * True if the stream is to be unpacked; false for a file that can be reread and has no magic
 * number.
 */
bool sp__unpacking_wanted(int fd, const struct sp__rstream_opts *opts);
SP_MUST_CHECK int sp__unpacking_open(struct sp__unpacking **u, int fd, const char *name,
				     const struct sp__rstream_opts *opts, struct sp_errinfo *err);
void sp__unpacking_close(struct sp__unpacking *u);
SP_MUST_CHECK int sp__unpacking_next(struct sp__unpacking *u, const char **data, size_t *bytes,
				     bool wait);
SP_MUST_CHECK int sp__unpacking_wait(struct sp__unpacking *u, int64_t timeout_ns);
/* Reports the counters of bytes read. */
void sp__unpacking_counters(struct sp__unpacking *u, struct sp__io_counters *c);
