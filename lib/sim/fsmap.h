/* SPDX-License-Identifier: MIT */
/*
 * A simulated file system's block allocator: where the pages of growing files
 * are placed on the device.
 *
 * Pages are of one size.  Three policies: none (each file has a contiguous
 * area of its own, allotted in the order inputs, spill, output, one after the
 * other, growing without bound), group:N (each file that needs a page
 * pre-allocates up to N free pages that are adjacent, from the lowest free one
 * on, as ext2 does, so that files written in turn interleave in groups of N),
 * extent (like group, but each further allocation of a file doubles, up to a
 * limit).
 *
 * Under none the area of a file begins where the last one ends when its first
 * page is asked for.  A file that grows when another has begun after it continues
 * in a further area, as large as all it has.
 *
 * One thread.  Memory: 8 bytes for each page of a growing file under group and
 * extent, and for each free page below the highest one ever used.
 *
 * Source: Wang & Cherniack 2006, sections 2.3 and 4.4 (tables 9 and 10).
 */
#ifndef SP__SIM_FSMAP_H
#define SP__SIM_FSMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/api.h>
#include <spindle/error.h>

#define SP__FS_GROUP_PAGES 8

enum sp__fs_policy { SP__FS_NONE, SP__FS_GROUP, SP__FS_EXTENT };

struct sp__fsmap_opts {
	enum sp__fs_policy policy;
	unsigned group_pages;  /* of group, and the first of extent; 0: SP__FS_GROUP_PAGES */
	unsigned extent_pages; /* most in one allocation of extent; 0: 2048 */
	uint64_t device_pages;
};

struct sp__fsmap;

SP_MUST_CHECK int sp__fsmap_new(struct sp__fsmap **fs, const struct sp__fsmap_opts *opts);
void sp__fsmap_free(struct sp__fsmap *fs); /* accepts NULL */

/*
 * Adds a file.  pages > 0: it exists already, with this many contiguous pages.  Returns
 * its number, or -ENOSPC, -ENOMEM.
 */
SP_MUST_CHECK int sp__fsmap_create(struct sp__fsmap *fs, uint64_t pages);
/*
 * The device page of page `page` of a file, allocated if need be; -ENOSPC,
 * -ENOMEM.  *run: how many pages from there on are contiguous (allocated
 * ones, at most n are looked at; at least 1).  Under none all n are allocated
 * if the device has room for them.
 */
SP_MUST_CHECK int sp__fsmap_locate(struct sp__fsmap *fs, unsigned file, uint64_t page, size_t n,
				   uint64_t *device_page, size_t *run);
/* How many pages of a file from `page` on it has and lie contiguously; at most n are looked at. */
size_t sp__fsmap_contiguous(const struct sp__fsmap *fs, unsigned file, uint64_t page, size_t n);
/* The device page of a page that the file has; false if it has not. */
bool sp__fsmap_find(const struct sp__fsmap *fs, unsigned file, uint64_t page,
		    uint64_t *device_page);
/*
 * A page of a file is not used any more; its place serves again.  (Under none
 * the place stays the file's.)
 */
void sp__fsmap_punch(struct sp__fsmap *fs, unsigned file, uint64_t page);

/* Contiguous regions of the pages that a file has now, and their mean length in pages. */
void sp__fsmap_regions(const struct sp__fsmap *fs, unsigned file, uint64_t *regions, double *mean);

#endif
