/* SPDX-License-Identifier: MIT */
/*
 * Packs bytes into one member of a format.
 *
 * Thread rule: an encoder belongs to one thread at a time.
 */
#pragma once

#include "pack/unpack.h"

struct sp__encoder;

/*
 * Makes an encoder. memory_bytes: maximum memory; with little memory the result is larger. name: of
 * the file, for err.  Returns 0, SP_EUNSUP (the format is missing, or can only be read) or -ENOMEM.
 */
SP_MUST_CHECK int sp__encoder_new(struct sp__encoder **p, enum sp_packed format, const char *name,
				  uint64_t memory_bytes, struct sp_errinfo *err);
void sp__encoder_free(struct sp__encoder *p); /* accepts NULL */

/*
 * Packs until the input or the output space is exhausted; with end, also the end of the member.
 * Returns 1: more output follows, call again with more space; 0: all is packed; or an error.
 */
SP_MUST_CHECK int sp__encoder_run(struct sp__encoder *p, struct sp__packspan *span, bool end);
