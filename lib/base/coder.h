/* SPDX-License-Identifier: MIT */
/*
 * Writes the members of a struct as bytes, and reads them back.
 *
 * A format has one function that names its members in their order, each by a call below.  With a
 * coder that writes, the function makes bytes of the members; with one that reads, it fills them
 * in.  So writing and reading cannot disagree.
 *
 *	static void members(struct sp__coder *c, struct point *p)
 *	{
 *		sp__code_u64(c, &p->x);
 *		sp__code_flag(c, &p->known);
 *		sp__code_text(c, &p->name);
 *	}
 *
 * Numbers are little-endian, and nothing is padded.  What is read is checked as it comes: lengths
 * before memory is taken for them, numbers against their maxima.  After a failure all further
 * calls do nothing, so only loops need to test c->failed; sp__coder_end() returns the error.  The
 * format itself sets c->failed if a member contradicts another one.
 *
 * A member that is read must be zero before: text and arrays are allocated, and the caller frees
 * them, after a failure, too.
 *
 * Thread rule: one thread at a time.
 */
#pragma once

#include <spindle/error.h>

/*
 * Zero to write; the caller frees data.  If data and bytes are set, and large enough for all
 * members, a writer fills these bytes and allocates nothing.
 */
struct sp__coder {
	bool reading, failed, no_memory;
	const uint8_t *from; /* when reading; borrowed */
	uint8_t *data;	     /* when writing */
	size_t at;	     /* the offset of the next member */
	size_t bytes;	     /* bytes of `from`; when writing, the capacity of data */
};

/* Returns a coder that reads these bytes. */
static inline struct sp__coder sp__coder_reader(const uint8_t *data, size_t bytes)
{
	return (struct sp__coder){ .reading = true, .from = data, .bytes = bytes };
}

/* Codes bytes unchanged. */
void sp__code_bytes(struct sp__coder *c, void *value, size_t bytes);
/* Code a number as 8 bytes, and as 4. */
void sp__code_u64(struct sp__coder *c, uint64_t *v);
void sp__code_u32(struct sp__coder *c, uint32_t *v);
/* Codes a number as 8 bytes; fails if it exceeds max. */
void sp__code_max(struct sp__coder *c, uint32_t *v, uint32_t max);
/* Codes 0 or 1 as 8 bytes. */
void sp__code_flag(struct sp__coder *c, bool *v);
/*
 * Codes the number of elements of an array as 8 bytes.  Reading allocates the array, zeroed, at
 * *(void **)array; element: sizeof; min_bytes: the fewest bytes that an element takes here, > 0.
 * The caller codes the elements.
 */
void sp__code_length(struct sp__coder *c, size_t *n, void *array, size_t element, size_t min_bytes);
/* Codes a text with its final 0, after its length; NULL has length 0. */
void sp__code_text(struct sp__coder *c, char **s);

/* Fails with -ENOMEM if `refused`; for members that the format itself allocates. */
void sp__coder_lack(struct sp__coder *c, bool refused);
/*
 * Returns 0; -ENOMEM; or SP_ECORRUPT if a member was invalid, or a reader has not read all bytes.
 */
SP_MUST_CHECK int sp__coder_end(const struct sp__coder *c);
