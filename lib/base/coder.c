/* SPDX-License-Identifier: MIT */
/*
 * Writes or reads one member of a format at a time.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/coder.h"

#define GROW_BYTES 4096

void sp__coder_lack(struct sp__coder *c, bool refused)
{
	c->no_memory |= refused;
	c->failed |= refused;
}

static void grow(struct sp__coder *c, size_t bytes)
{
	size_t capacity = 2 * (c->bytes + bytes) + GROW_BYTES;

	if (bytes <= c->bytes - c->at)
		return;
	sp__coder_lack(c, !SP__ARRAY_RESIZE(c->data, capacity));
	if (!c->failed)
		c->bytes = capacity;
}

void sp__code_bytes(struct sp__coder *c, void *value, size_t bytes)
{
	if (c->failed)
		return;
	if (c->reading)
		c->failed = bytes > c->bytes - c->at;
	else
		grow(c, bytes);
	if (c->failed)
		return;
	if (c->reading)
		memcpy(value, c->from + c->at, bytes);
	else
		memcpy(c->data + c->at, value, bytes);
	c->at += bytes;
}

/* A number of at most 8 bytes. */
static void number(struct sp__coder *c, uint64_t *v, unsigned bytes)
{
	uint8_t le[8];

	for (unsigned i = 0; i < bytes; i++)
		le[i] = (uint8_t)(*v >> 8 * i);
	sp__code_bytes(c, le, bytes);
	if (!c->reading || c->failed)
		return;
	*v = 0;
	for (unsigned i = bytes; i-- > 0;)
		*v = *v << 8 | le[i];
}

void sp__code_u64(struct sp__coder *c, uint64_t *v)
{
	number(c, v, 8);
}

void sp__code_u32(struct sp__coder *c, uint32_t *v)
{
	uint64_t wide = *v;

	number(c, &wide, 4);
	*v = (uint32_t)wide;
}

void sp__code_max(struct sp__coder *c, uint32_t *v, uint32_t max)
{
	uint64_t wide = *v;

	number(c, &wide, 8);
	c->failed |= wide > max;
	if (c->reading && !c->failed)
		*v = (uint32_t)wide;
}

void sp__code_flag(struct sp__coder *c, bool *v)
{
	uint32_t word = *v;

	sp__code_max(c, &word, 1);
	*v = word;
}

void sp__code_length(struct sp__coder *c, size_t *n, void *array, size_t element, size_t min_bytes)
{
	uint64_t wide = *n;

	number(c, &wide, 8);
	if (!c->reading || c->failed)
		return;
	c->failed = wide > (c->bytes - c->at) / min_bytes;
	if (c->failed)
		return;
	*n = (size_t)wide;
	*(void **)array = calloc(wide ? wide : 1, element);
	sp__coder_lack(c, !*(void **)array);
	if (c->failed)
		*n = 0;
}

void sp__code_text(struct sp__coder *c, char **s)
{
	size_t n = *s ? strlen(*s) + 1 : 0;

	sp__code_length(c, &n, s, 1, 1);
	if (c->failed)
		return;
	if (n)
		sp__code_bytes(c, *s, n);
	if (c->reading && n && memchr(*s, '\0', n) != *s + n - 1)
		c->failed = true;
	if (c->reading && !n) {
		free(*s);
		*s = NULL;
	}
}

int sp__coder_end(const struct sp__coder *c)
{
	if (c->no_memory)
		return -ENOMEM;
	return c->failed || (c->reading && c->at != c->bytes) ? SP_ECORRUPT : 0;
}
