/* SPDX-License-Identifier: MIT */
/*
 * Cutting records off a batch of consecutive whole records.
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

#endif
