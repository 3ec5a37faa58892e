/* SPDX-License-Identifier: MIT */
/*
 * Allocates units of a temporary file, and counts the contiguous regions of a file.  Free units are
 * bits of a map.  All units below `lowest` are in use, so the search for the lowest free unit goes
 * upward from there, and each unit is passed once until a lower one is freed.
 */
#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include "base/array.h"
#include "spill/space.h"

#define EXTENTS 64

/* Extents without a location on a device, or not yet with one. */
#define NOWHERE (FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_DATA_INLINE)

/*
 * The kernel returns extents in file order, several dozen per call; consecutive extents that are
 * also adjacent on the device are one region.
 */
void sp__fiemap_regions(int fd, int sync, struct sp__regions *regions)
{
	union {
		struct fiemap map;
		char room[sizeof(struct fiemap) + EXTENTS * sizeof(struct fiemap_extent)];
	} u;
	uint64_t from = 0, count = 0, bytes = 0, physical_end = 0;
	bool last = false;

	*regions = (struct sp__regions){ 0 };
	while (!last) {
		memset(&u, 0, sizeof(u));
		u.map.fm_start = from;
		u.map.fm_length = FIEMAP_MAX_OFFSET - from;
		u.map.fm_flags = sync && from == 0 ? FIEMAP_FLAG_SYNC : 0;
		u.map.fm_extent_count = EXTENTS;
		if (ioctl(fd, FS_IOC_FIEMAP, &u.map) < 0)
			return;
		if (!u.map.fm_mapped_extents)
			break;
		for (unsigned i = 0; i < u.map.fm_mapped_extents; i++) {
			const struct fiemap_extent *e = &u.map.fm_extents[i];

			if (e->fe_flags & NOWHERE)
				return;
			count += !count || e->fe_physical != physical_end;
			bytes += e->fe_length;
			physical_end = e->fe_physical + e->fe_length;
			from = e->fe_logical + e->fe_length;
			last |= (e->fe_flags & FIEMAP_EXTENT_LAST) != 0;
		}
	}
	regions->count = count;
	regions->mean_bytes = count ? (double)bytes / (double)count : 0;
}

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
