/* SPDX-License-Identifier: MIT */
/*
 * Keys of CSV records.
 */
#ifndef SP__REC_CSV_H
#define SP__REC_CSV_H

#include "rec/key.h"

/*
 * The unquoted bytes of key k in a CSV record (without its '\n') replace the
 * contents of text.  Positions count in the unquoted record; a '\r' at the end
 * of the record is no part of it.  Returns 0 or -ENOMEM.
 */
int sp__csv_key(const struct sp_key *k, char sep, const char *rec, size_t bytes,
		struct sp__keybuf *text);
/* The same where it lies, if it is a whole field without quotes inside; else false. */
bool sp__csv_slice(const struct sp_key *k, char sep, const char *rec, size_t bytes,
		   const char **key, size_t *key_bytes);

#endif
