/* SPDX-License-Identifier: MIT */
/*
 * Reads the keys of a query: operands of the command line, or the lines of a file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "args.h"

struct keys {
	const struct operands *operands;
	unsigned next;	  /* operand */
	const char *name; /* name of the file; NULL: operands */
	FILE *file;
	unsigned long long file_bytes; /* its size when it was opened */
	/* Set by the caller when the keys are open. */
	bool mark; /* a byte order mark can precede the first key */
	bool cr;   /* a carriage return at the end is not part of a key */
	int end;   /* byte that ends a key in the file */
	char *line;
	size_t room;
};

/*
 * Opens the keys: the operands from number `first` on, or, unless name is NULL, the file of that
 * name, - for standard input.  Failure ends the program.
 */
void keys_open(struct keys *k, const struct operands *operands, unsigned first, const char *name);
/* Supplies the next key, valid until the next call.  Returns 1, or 0 after the last one. */
int keys_next(void *keys, const char **key, size_t *bytes);
void keys_close(struct keys *k);
