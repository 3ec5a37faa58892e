/* SPDX-License-Identifier: MIT */
/*
 * Makes lines of the elements of an array of JSON that is read as a stream: "[ {...}, {...} ]".
 *
 * Only the array's own brackets and commas are looked at.  An element keeps its bytes, except that
 * line ends in it, which are blanks, become blanks.  Whether it is JSON is for the reader of the
 * lines to check; where an element is missing, the line is empty, so that it refuses it.
 *
 * Thread rule: one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed at the beginning of an input. */
struct sp__json_array {
	enum { SP__ARRAY_BEFORE, SP__ARRAY_FIRST, SP__ARRAY_ELEMENT, SP__ARRAY_AFTER } state;
	uint64_t depth; /* of the objects and arrays that are open in the element */
	bool text;	/* inside quotes */
	bool escaped;	/* behind a backslash */
};

/*
 * Writes lines of the next bytes to `to`, which has room for as many; *n: the bytes written.
 * Returns NULL, or what is expected instead of the byte at *at.
 */
const char *sp__json_array_feed(struct sp__json_array *a, const char *from, size_t bytes, char *to,
				size_t *n, size_t *at);
/* Returns NULL at the end of the input, or what is expected there. */
const char *sp__json_array_end(const struct sp__json_array *a);
