/* SPDX-License-Identifier: MIT */
/*
 * Measures the regions of files, and allocates space in one temporary file, in units.  Free units
 * are reused lowest address first; the file grows only when there are none.
 */
#pragma once

#include <stdint.h>

/* The fragmentation of a file on its device (FS_IOC_FIEMAP). */
struct sp__regions {
	uint64_t count;	   /* maximal contiguous regions; 0: unknown or empty */
	double mean_bytes; /* 0 if count is 0 */
};

/*
 * Measures a file and never fails: if the file system does not support it, the values are unknown.
 * sync: flushes delayed allocation first.
 */
void sp__fiemap_regions(int fd, int sync, struct sp__regions *regions);

struct sp__space {
	uint64_t end;	   /* size of the file in units */
	uint64_t used;	   /* units in use */
	uint64_t recycled; /* units allocated a second time */
	uint64_t nfree;
	uint64_t lowest; /* no free unit below */
	uint64_t *map;	 /* bit set: free */
	uint64_t map_words;
};

void sp__space_release(struct sp__space *s);
/*
 * Allocates up to want contiguous units; *unit is the first.  Returns their number (> 0).  Uses
 * free units before it grows the file.
 */
uint32_t sp__space_take(struct sp__space *s, uint32_t want, uint64_t *unit);
/* Allocates all units, contiguous, at the end of the file, even if others are free. */
uint32_t sp__space_extend(struct sp__space *s, uint32_t want, uint64_t *unit);
/* Marks a unit free for reuse; 0 or -ENOMEM (then only this unit is lost). */
int sp__space_give(struct sp__space *s, uint64_t unit);
/* Drops units that are no longer used and will not be reused. */
void sp__space_drop(struct sp__space *s, uint64_t units);
