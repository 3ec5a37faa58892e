/* SPDX-License-Identifier: MIT */
/*
 * One line of a trace: pure text to numbers, no memory.
 */
#ifndef SP__TRACE_SEQUENCE_PARSE_H
#define SP__TRACE_SEQUENCE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sp__seqline {
	bool write;
	const char *name; /* escaped, inside the line, not ended */
	size_t name_len;
	uint64_t offset;
	uint32_t bytes;
	uint16_t prio;
	int64_t submit_ns, done_ns;
	int64_t result;
};

/*
 * A line without its newline.  1: a request; 0: a comment or nothing;
 * SP_EFORMAT with *reason (static, ours): what is wrong.
 */
int sp__sequence_line(const char *line, size_t len, struct sp__seqline *out, const char **reason);
/* The heading of another version than ours.  False for any other comment. */
bool sp__sequence_foreign(const char *line, size_t len);
/* Writes the name, unescaped and ended, to out (name_len + 1 bytes); its length. */
size_t sp__sequence_name(const char *name, size_t name_len, char *out);

#endif
