/* SPDX-License-Identifier: MIT */
/*
 * Packing bytes into one member of a format.
 *
 * Thread rule: an encoder belongs to one thread at a time.
 */
#ifndef SP__PACK_PACK_H
#define SP__PACK_PACK_H

#include <stdbool.h>
#include "pack/unpack.h"

struct sp__encoder;

/*
 * memory_bytes: the most that it may take; with little it packs less well.  name: of the file,
 * for err.  0, SP_EUNSUP (the format is missing, or is only read) or -ENOMEM.
 */
SP_MUST_CHECK int sp__encoder_new(struct sp__encoder **p, enum sp_packed format, const char *name,
				  uint64_t memory_bytes, struct sp_errinfo *err);
void sp__encoder_free(struct sp__encoder *p); /* accepts NULL */

/*
 * Packs until there is no input left or no room; with end, also the end of the member.  1: there
 * is more to come: call it again with more room; 0: all is packed; or an error.
 */
SP_MUST_CHECK int sp__encoder_run(struct sp__encoder *p, struct sp__packspan *span, bool end);

#endif
