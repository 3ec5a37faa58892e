/* SPDX-License-Identifier: MIT */
/*
 * Compresses an output: a part of the write stream (wstream.h), whose rules apply.
 *
 * The bytes are cut into frames of a fixed size, which queued tasks pack; a thread of its own
 * writes the packed frames in order.  So the output does not depend on the number of threads.
 */
#pragma once

#include "io/wstream.h"

struct sp__packing;

/* Packs and writes the bytes that are put. */
SP_MUST_CHECK int sp__packing_open(struct sp__packing **p, int fd, const char *name,
				   const struct sp__wstream_opts *opts, struct sp_errinfo *err);
SP_MUST_CHECK int sp__packing_put(struct sp__packing *p, const void *data, size_t bytes);
SP_MUST_CHECK int sp__packing_finish(struct sp__packing *p);
void sp__packing_close(struct sp__packing *p); /* accepts NULL */
/* Reports the counters of packed bytes that were written. */
void sp__packing_counters(struct sp__packing *p, struct sp__io_counters *c);
