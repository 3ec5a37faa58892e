/* SPDX-License-Identifier: MIT */
/*
 * Makes normalised keys of an index from records, and from text that a user gives.
 *
 * Texts are ordered by their bytes, whatever LC_COLLATE is.
 */
#pragma once

#include "rec/key.h"

struct sp__indexkey {
	struct sp_keyset *records, *texts; /* for records; for a text that is only the key */
	struct sp_key key;
};

/*
 * spec: as for xsort -k, or --key for fixed-length records; empty: the whole record.  separator: as
 * in struct sp_keyset_opts.
 */
SP_MUST_CHECK int sp__indexkey_init(struct sp__indexkey *k, const char *spec,
				    const struct sp_recfmt *format, int separator,
				    struct sp_errinfo *err);
void sp__indexkey_free(struct sp__indexkey *k); /* accepts a struct that is all zero */

/* Makes the key of a record without terminator, in buf.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__indexkey_of_record(const struct sp__indexkey *k, const char *rec,
					 size_t bytes, struct sp__keybuf *buf);
/*
 * Makes a key from its text: numbers in decimal; bytes of fixed-length records as they are, or as
 * 0x and two digits per byte.  -EINVAL: the text is not a key of this type.
 */
SP_MUST_CHECK int sp__indexkey_of_text(const struct sp__indexkey *k, const char *text, size_t bytes,
				       struct sp__keybuf *buf, struct sp_errinfo *err);
