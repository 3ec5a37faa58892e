/* SPDX-License-Identifier: MIT */
/*
 * Columns by name: the header of an input, read before its records, and options that name its
 * columns, written again with their numbers.
 *
 * A header can be read only once from a pipe.  Then the descriptor stays open, and what was read
 * is passed on with the input.
 */
#ifndef COLUMNS_H
#define COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/packed.h>

struct columns {
	const char *input; /* path; "-": standard input */
	bool csv;
	int separator; /* -1: runs of blanks */
	char eol;
	uint64_t header_records; /* the names are in the first of them */
	enum sp_packed decompress;
	/* Filled in by columns_read(): */
	char *taken; /* read from an input that is no regular file, as it was, or NULL */
	size_t taken_bytes;
	bool empty; /* there is no header */
	char **names;
	size_t n;
};

/* Does this begin as a name does, and no number? */
bool columns_is_name(const char *text);
/* Errors end the program, as in the functions below. */
void columns_read(struct columns *c);
/*
 * The number, from 1, of the column whose name the text begins with, in quotes or not; *rest is
 * what follows the name: the end, or one of the bytes of `ends`.
 */
size_t columns_find(const struct columns *c, const char *text, const char *ends, const char **rest);
/* The key NAME[:OPTS], as FIELD,FIELDOPTS; to be freed. */
char *columns_key(const struct columns *c, const char *text);
/* The program ends if there is a header, and it has no column of that number. */
void columns_check(const struct columns *c, size_t number);
void columns_close(struct columns *c);

#endif
