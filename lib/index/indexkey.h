/* SPDX-License-Identifier: MIT */
/*
 * The key of an index: from records, and from text that a user gives, to normalised bytes.
 * Texts are ordered by their bytes, whatever LC_COLLATE is.
 */
#pragma once

#include "rec/key.h"

struct sp__indexkey {
	struct sp_keyset *records, *texts; /* of records; of a text that is nothing but the key */
	struct sp_key key;
};

/*
 * spec: as xsort -k has it, for fixed-length records as --key has it; empty: the whole record.
 * separator: as in struct sp_keyset_opts.
 */
SP_MUST_CHECK int sp__indexkey_init(struct sp__indexkey *k, const char *spec,
				    const struct sp_recfmt *format, int separator,
				    struct sp_errinfo *err);
void sp__indexkey_free(struct sp__indexkey *k); /* accepts one all zero */

/* Of a record without terminator; replaces the contents of buf.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__indexkey_of_record(const struct sp__indexkey *k, const char *rec,
					 size_t bytes, struct sp__keybuf *buf);
/*
 * Of the text of a key: numbers in decimal; bytes of fixed-length records as they are or as 0x
 * and two digits for each.  -EINVAL: it is no such key.
 */
SP_MUST_CHECK int sp__indexkey_of_text(const struct sp__indexkey *k, const char *text, size_t bytes,
				       struct sp__keybuf *buf, struct sp_errinfo *err);
