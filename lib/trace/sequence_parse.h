/* SPDX-License-Identifier: MIT */
/*
 * Parses one line of a trace from text to numbers, without allocation.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sp__seqline {
	bool write;
	const char *name; /* escaped, inside the line, not terminated */
	size_t name_len;
	uint64_t offset;
	uint32_t bytes;
	uint16_t prio;
	int64_t submit_ns, done_ns;
	int64_t result;
};

/*
 * Parses a line without its newline.  Returns 1: a request; 0: a comment or an empty line;
 * SP_EFORMAT with *reason (static).
 */
int sp__sequence_line(const char *line, size_t len, struct sp__seqline *out, const char **reason);
/* True for the heading of another version of the format; false for any other comment. */
bool sp__sequence_foreign(const char *line, size_t len);
/* Writes the name, unescaped and terminated, to out (name_len + 1 bytes).  Returns its length. */
size_t sp__sequence_name(const char *name, size_t name_len, char *out);
