/* SPDX-License-Identifier: MIT */
/*
 * Allocates units of a temporary file.  Free units are bits of a map.  All units below `lowest` are
 * in use, so the search for the lowest free unit goes upward from there, and each unit is passed
 * once until a lower one is freed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bits.h"
#include "spill/space.h"

void sp__space_release(struct sp__space *s)
{
	free(s->map);
	*s = (struct sp__space){ 0 };
}

static int is_free(const struct sp__space *s, uint64_t unit)
{
	return unit / 64 < s->map_words && sp__bits_has(s->map, unit);
}

static void seek_lowest(struct sp__space *s)
{
	uint64_t word = s->lowest / 64;

	while (!s->map[word])
		word++;
	if (word * 64 > s->lowest)
		s->lowest = word * 64;
	while (!is_free(s, s->lowest))
		s->lowest++;
}

uint32_t sp__space_extend(struct sp__space *s, uint32_t want, uint64_t *unit)
{
	*unit = s->end;
	s->end += want;
	s->used += want;
	return want;
}

uint32_t sp__space_take(struct sp__space *s, uint32_t want, uint64_t *unit)
{
	uint32_t got = 0;

	if (!s->nfree)
		return sp__space_extend(s, want, unit);
	seek_lowest(s);
	*unit = s->lowest;
	while (got < want && is_free(s, *unit + got))
		sp__bits_drop(s->map, *unit + got++);
	s->nfree -= got;
	s->lowest += got;
	s->recycled += got;
	s->used += got;
	return got;
}

int sp__space_give(struct sp__space *s, uint64_t unit)
{
	uint64_t need = unit / 64 + 1;

	s->used--;
	if (need > s->map_words) {
		uint64_t words = need + need / 2 + 64;

		if (!SP__ARRAY_RESIZE(s->map, words))
			return -ENOMEM;
		memset(s->map + s->map_words, 0, (words - s->map_words) * sizeof(*s->map));
		s->map_words = words;
	}
	sp__bits_add(s->map, unit);
	s->nfree++;
	if (unit < s->lowest)
		s->lowest = unit;
	return 0;
}

void sp__space_drop(struct sp__space *s, uint64_t units)
{
	s->used -= units;
}
