/* SPDX-License-Identifier: MIT */
/*
 * Compresses an output: a thread of its own packs and writes the bytes that are put, up to three
 * chunks behind the caller.  Part of the write stream (wstream.h), whose rules apply.
 */
#pragma once

#include "io/wstream.h"

struct sp__packing;

SP_MUST_CHECK int sp__packing_open(struct sp__packing **p, int fd, const char *name,
				   const struct sp__wstream_opts *opts, struct sp_errinfo *err);
SP_MUST_CHECK int sp__packing_put(struct sp__packing *p, const void *data, size_t bytes);
SP_MUST_CHECK int sp__packing_finish(struct sp__packing *p);
void sp__packing_close(struct sp__packing *p);
/* Reports the counters of written bytes. */
void sp__packing_counters(struct sp__packing *p, struct sp__io_counters *c);
