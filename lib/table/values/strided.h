/* SPDX-License-Identifier: MIT */
/* Copies values that lie at equal distances. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A copy of a constant length needs no call. */
#define SP__STRIDED_LOOP(length)                                                                   \
	for (uint32_t i = 0; i < n; i++, to += to_stride, from += from_stride)                     \
	memcpy(to, from, length)

/* Copies n values of this many bytes; the strides are the distances of their first bytes. */
static inline void sp__strided_copy(uint8_t *to, size_t to_stride, const uint8_t *from,
				    size_t from_stride, uint32_t bytes, uint32_t n)
{
	if (to_stride == bytes && from_stride == bytes)
		memcpy(to, from, (size_t)n * bytes);
	else if (bytes == 8)
		SP__STRIDED_LOOP(8);
	else if (bytes == 4)
		SP__STRIDED_LOOP(4);
	else if (bytes == 2)
		SP__STRIDED_LOOP(2);
	else if (bytes == 1)
		SP__STRIDED_LOOP(1);
	else
		SP__STRIDED_LOOP(bytes);
}
