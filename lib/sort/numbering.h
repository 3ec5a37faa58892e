/* SPDX-License-Identifier: MIT */
/*
 * Puts numbers before records: where they begin in the input, in 8 bytes that no record format
 * interprets, and in CSV a separator after that.
 *
 * Assumptions: numbers have 48 bits.
 */
#pragma once

#include <spindle/rec.h>
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

/* Reports the bytes read so far, in the thread that opened the parts. */
typedef void sp__tell_fn(void *arg, uint64_t bytes);

/* Threads that number the records of parts, for sp__sort_put_parts(). */
struct sp__numberers {
	const struct sp__numbering *numbering;
	struct sp__parts *parts;
	sp__tell_fn *tell; /* called as parts are begun */
	void *arg;
	unsigned n;			/* this and the following: by sp__numberers_open() */
	struct sp__numberer *numberers; /* owned */
};

/* The other members must be set.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__numberers_open(struct sp__numberers *all, unsigned threads);
void sp__numberers_close(struct sp__numberers *all);
/* Is a function sp__sort_encode_fn (sort.h) of the numberers. */
int sp__number_batch(void *numberers, unsigned worker, struct sp__part *part, struct sp_batch *from,
		     struct sp_batch *records);
