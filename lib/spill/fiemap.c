/* SPDX-License-Identifier: MIT */
/*
 * Counts the contiguous regions of a file.  The kernel returns extents in file order, several dozen
 * per call; consecutive extents that are also adjacent on the device are one region.
 */
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include "spill/fiemap.h"

#define EXTENTS 64

/* Extents without a location on a device, or not yet with one. */
#define NOWHERE (FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_DATA_INLINE)

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
