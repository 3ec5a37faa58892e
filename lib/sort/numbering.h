/* SPDX-License-Identifier: MIT */
/*
 * Puts numbers before records: where they begin in the input, in 8 bytes that no record format
 * interprets, and in CSV a separator after that.
 *
 * Assumptions: numbers have 48 bits.
 */
#pragma once

#include <spindle/sort.h>
#include "flow/parts.h"

#define SP__NUMBER_BYTES 8u

struct sp__numbering {
	struct sp_recfmt format; /* of records without a number */
	size_t head;		 /* bytes of a number */
	char digit;		 /* bits that all digits of a number have */
};

void sp__numbering_init(struct sp__numbering *n, const struct sp_recfmt *format);
/* Writes a number with its separator. */
void sp__number(const struct sp__numbering *n, char *to, uint64_t number);

/*
 * Puts the records of all parts, with their numbers, into a sort, by its threads.  tell: called in
 * this thread as parts are begun.  *taken: bytes of records.  Returns as sp__sort_put_parts().
 */
SP_MUST_CHECK int sp__number_parts(const struct sp__numbering *n, struct sp_sort *sort,
				   struct sp__parts *parts, uint64_t input_bytes,
				   void (*tell)(void *arg, uint64_t bytes), void *arg,
				   uint64_t *taken, struct sp_errinfo *err);
