/* SPDX-License-Identifier: MIT */
/*
 * Allocates device blocks for the pages of growing files, as a file system does.
 *
 * Pages have one size.  There are three policies.
 * - none: each file has its own contiguous area, in the order inputs, spill, output, one after the
 *   other, growing without bound.
 * - group:N: each file that needs a page pre-allocates up to N adjacent free pages, from the lowest
 *   free one on, as ext2 does.  So files that are written alternately interleave in groups of N.
 * - extent: like group, but each further allocation of a file doubles, up to a limit.
 *
 * Under none, the area of a file begins at the end of the last one, when its first page is
 * requested.  A file that grows after another one has begun behind it continues in a further area,
 * as large as all its areas together.
 *
 * Thread rule: one thread.  Memory: 8 bytes per page of a growing file under group and extent, and
 * per free page below the highest page ever used.
 *
 * Source: Wang & Cherniack 2006, sections 2.3 and 4.4 (tables 9 and 10).
 */
#pragma once

#include <spindle/error.h>

#define SP__FS_GROUP_PAGES 8

enum sp__fs_policy { SP__FS_NONE, SP__FS_GROUP, SP__FS_EXTENT };

struct sp__fsmap_opts {
	enum sp__fs_policy policy;
	unsigned group_pages; /* pages of a group, and of the first extent; 0: SP__FS_GROUP_PAGES */
	unsigned extent_pages; /* maximum of one allocation of extent; 0: 2048 */
	uint64_t device_pages;
};

struct sp__fsmap;

SP_MUST_CHECK int sp__fsmap_new(struct sp__fsmap **fs, const struct sp__fsmap_opts *opts);
void sp__fsmap_free(struct sp__fsmap *fs); /* accepts NULL */

/*
 * Adds a file. pages > 0: it exists already, with this many contiguous pages.  Returns its number,
 * -ENOSPC or -ENOMEM.
 */
SP_MUST_CHECK int sp__fsmap_create(struct sp__fsmap *fs, uint64_t pages);
/*
 * Finds the device page of page `page` of a file, and allocates it if needed. *run: number of pages
 * from there on that are contiguous: allocated ones, at most n are examined, at least 1.  Under
 * none, all n are allocated if the device has space for them.  Returns 0, -ENOSPC or -ENOMEM.
 */
SP_MUST_CHECK int sp__fsmap_locate(struct sp__fsmap *fs, unsigned file, uint64_t page, size_t n,
				   uint64_t *device_page, size_t *run);
/* Returns how many pages of a file from `page` on exist and are contiguous; examines at most n. */
size_t sp__fsmap_contiguous(const struct sp__fsmap *fs, unsigned file, uint64_t page, size_t n);
/* Finds the device page of a page; false if the file does not have it. */
bool sp__fsmap_find(const struct sp__fsmap *fs, unsigned file, uint64_t page,
		    uint64_t *device_page);
/* Releases a page of a file; its device page is reused.  Under none it stays with the file. */
void sp__fsmap_punch(struct sp__fsmap *fs, unsigned file, uint64_t page);

/*
 * Counts the contiguous regions of the pages that a file has now, and their mean length in pages.
 */
void sp__fsmap_regions(const struct sp__fsmap *fs, unsigned file, uint64_t *regions, double *mean);
