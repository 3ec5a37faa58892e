/* SPDX-License-Identifier: MIT */
/*
 * Cutting records off a batch of consecutive whole records, and their numbers as suffixes.
 *
 * If the order of the inputs is needed later, a record passes the stages of a hash join
 * with its number in the input, its tag, appended before the terminator: seven bytes of seven
 * bits, the highest first, the top bit of each set.  So they compare like the numbers,
 * and contain no terminator or quote.  Numbers end at 2^49, over 5 * 10^14 records.
 */
#ifndef SP__JOIN_RECORD_H
#define SP__JOIN_RECORD_H

#include "join/fields.h"
#include "rec/recfmt.h"

/*
 * The end of the record at "at" of a batch that extends to end, terminator included;
 * *bytes is its length without terminator.
 */
static inline const char *sp__record_next(const struct sp_recfmt *f, const char *at,
					  const char *end, size_t *bytes)
{
	const char *stop;

	if (__builtin_expect(f->kind == SP_REC_LINE, 1)) {
		stop = sp__find_byte(at, end, f->eol);
		*bytes = (size_t)(stop - at);
		return stop + 1;
	}
	stop = sp__rec_end(f, at, (size_t)(end - at));
	*bytes = (size_t)(stop - at) - sp__rec_term(f);
	return stop;
}

#define SP__TAG_BYTES 7

static inline void sp__tag_set(char tag[SP__TAG_BYTES], uint64_t n)
{
	for (size_t i = SP__TAG_BYTES; i-- > 0; n >>= 7)
		tag[i] = (char)(0x80 | (n & 0x7f));
}

static inline int sp__tag_compare(const char *a, const char *b)
{
	return memcmp(a, b, SP__TAG_BYTES);
}

#endif
