/* SPDX-License-Identifier: MIT */
/*
 * One file of a simulated file system: which device pages it has.  Shared by
 * the parts of fsmap alone.
 *
 * Pages that lie in areas (all of them under none; those that existed before
 * under the other policies) come first, then those in the map: chunks of
 * entries, each the device page plus one, 0 where there is none.
 */
#ifndef SP__SIM_FSMAP_FILE_H
#define SP__SIM_FSMAP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/api.h>

#define SP__FSFILE_CHUNK 1024
#define SP__FSFILE_PAGES_MAX (UINT64_C(1) << 34) /* bounds the array of chunks */

struct sp__fsarea {
	uint64_t first; /* page of the file */
	uint64_t device;
	uint64_t pages;
};

struct sp__fsfile {
	struct sp__fsarea *areas; /* by first, without gaps from page 0 on */
	size_t nareas;
	uint64_t covered; /* pages that the areas hold, or are reserved to hold */
	uint64_t used;	  /* of them, from page 0 up to the highest asked for */
	uint64_t **chunks;
	size_t nchunks;
	uint64_t window, window_pages; /* pre-allocated, not used yet */
	unsigned next_pages;	       /* next allocation of extent */
};

void sp__fsfile_release(struct sp__fsfile *f);
/* Appends an area after the last; 0 or -ENOMEM. */
SP_MUST_CHECK int sp__fsfile_add_area(struct sp__fsfile *f, uint64_t device, uint64_t pages);
/* Where a page is; false if the file has none such. */
bool sp__fsfile_find(const struct sp__fsfile *f, uint64_t page, uint64_t *device);
/* The entry of the map for a page; NULL if there is no memory for it. */
uint64_t *sp__fsfile_entry(struct sp__fsfile *f, uint64_t page);
/* Has all pages in the map, none in areas; 0 or -ENOMEM, and nothing is changed. */
SP_MUST_CHECK int sp__fsfile_unroll(struct sp__fsfile *f);
void sp__fsfile_regions(const struct sp__fsfile *f, uint64_t *regions, uint64_t *pages);

#endif
