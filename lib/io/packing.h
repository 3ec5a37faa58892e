/* SPDX-License-Identifier: MIT */
/*
 * Compresses an output or unpacks a compressed input, in a thread of its own.  Packing is part of
 * the write stream (wstream.h), unpacking of the read stream (rstream.h), whose rules apply.  The
 * thread is at most three chunks behind, or ahead of, the caller.
 */
#pragma once

#include "io/rstream.h"
#include "io/wstream.h"

struct sp__packing;

/* Packs and writes the bytes that are put. */
SP_MUST_CHECK int sp__packing_open(struct sp__packing **p, int fd, const char *name,
				   const struct sp__wstream_opts *opts, struct sp_errinfo *err);
SP_MUST_CHECK int sp__packing_put(struct sp__packing *p, const void *data, size_t bytes);
SP_MUST_CHECK int sp__packing_finish(struct sp__packing *p);

/*
 * Reads and unpacks a stream.  wanted() is true if the stream is to be unpacked; false for a file
 * that can be reread and has no magic number.
 */
bool sp__unpacking_wanted(int fd, const struct sp__rstream_opts *opts);
SP_MUST_CHECK int sp__unpacking_open(struct sp__packing **p, int fd, const char *name,
				     const struct sp__rstream_opts *opts, struct sp_errinfo *err);
SP_MUST_CHECK int sp__unpacking_next(struct sp__packing *p, const char **data, size_t *bytes,
				     bool wait);
SP_MUST_CHECK int sp__unpacking_wait(struct sp__packing *p, int64_t timeout_ns);

/* Both directions. */
void sp__packing_close(struct sp__packing *p);
/* Reports the counters of packed bytes that were written or read. */
void sp__packing_counters(struct sp__packing *p, struct sp__io_counters *c);
