/* SPDX-License-Identifier: MIT */
/*
 * Parses pages of the kernel's ring buffer, as tracefs documents them in events/header_page and
 * events/header_event: the time of the page, the bytes in use with flags in the high bits, then
 * events.  An event is a word with 5 bits of type and 27 bits of time since the previous event, and
 * its bytes.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "observe/watch_trace.h"

#define HEAD_BYTES 16
#define USED_MASK 0xfffff
#define LOST_FLAG (1u << 31)
#define TIME_BITS 27

enum { LONG = 0, SHORT_MAX = 28, PADDING, TIME_EXTEND, TIME_STAMP };

static uint32_t word(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t moment(uint64_t ns, uint32_t type, uint64_t delta, uint32_t next)
{
	uint64_t whole = ((uint64_t)next << TIME_BITS) + delta;

	if (type == TIME_EXTEND)
		return ns + whole;
	/* a stamp lacks the highest 5 bits */
	return type == TIME_STAMP ? whole | (ns & ~((1ull << 59) - 1)) : ns + delta;
}

bool sp__tracepage_parse(const unsigned char *page, size_t bytes, bool *lost, sp__tracepage_fn *fn,
			 void *arg)
{
	const unsigned char *p = page + HEAD_BYTES, *end;
	uint64_t ns;

	if (bytes < HEAD_BYTES)
		return false;
	memcpy(&ns, page, sizeof(ns));
	*lost = word(page + 8) & LOST_FLAG;
	if ((word(page + 8) & USED_MASK) > bytes - HEAD_BYTES)
		return false;
	end = p + (word(page + 8) & USED_MASK);
	while (end - p >= 4) {
		uint32_t type = word(p) & 31, delta = word(p) >> 5;
		uint32_t next = end - p >= 8 ? word(p + 4) : 0;
		uint64_t size = type && type <= SHORT_MAX ? 4 + 4ull * type : 8;

		if (type == PADDING && !delta)
			break;
		if (type == LONG || type == PADDING)
			size = 4 + ((uint64_t)next + 3) / 4 * 4;
		if (size > (uint64_t)(end - p) || (type == LONG && next < 4))
			return false;
		ns = moment(ns, type, delta, next);
		if (type == LONG)
			fn(arg, ns, p + 8, (size_t)size - 8);
		else if (type <= SHORT_MAX)
			fn(arg, ns, p + 4, (size_t)size - 4);
		p += size;
	}
	return true;
}

/* "field:sector_t sector;	offset:16;	size:8;	signed:0;" */
bool sp__traceformat_field(const char *format, const char *name, unsigned bytes, unsigned *offset)
{
	unsigned size;
	size_t n = strlen(name);
	const char *at = format;

	while ((at = strstr(at, "field:")) != NULL) {
		const char *end = strpbrk(at, ";\n");

		at += 6;
		if (!end || *end != ';')
			continue;
		if ((size_t)(end - at) > n && !strncmp(end - n, name, n) &&
		    isspace((unsigned char)end[-(long)n - 1]))
			return sscanf(end, "; offset:%u; size:%u;", offset, &size) == 2 &&
			       size == bytes;
	}
	return false;
}

bool sp__traceformat_id(const char *format, unsigned *id)
{
	const char *at = strstr(format, "\nID: ");

	return at && sscanf(at, "\nID: %u", id) == 1;
}
