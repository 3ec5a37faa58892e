/* SPDX-License-Identifier: MIT */
/*
 * A run in temporary space: sorted records as one stream of bytes, cut into
 * pages.
 *
 * A page on disk is all payload; what is known about it is here, in memory
 * charged to the budget: where it lies (extents), its checksum, and the key
 * that the last record ending in it has (inherited from the page before, if
 * none ends there), cut to LASTKEY_MAX bytes.  Space is given out in units:
 * a page, or, under compression, the file system's block of 4096 bytes.
 */
#ifndef SP__SPILL_RUN_H
#define SP__SPILL_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SP__LASTKEY_MAX 128

struct sp__budget;

struct sp__extent {
	uint64_t unit;	/* first unit in the file */
	uint64_t first;	/* number of its first unit within the run */
	uint32_t units;
	uint32_t file;
};

struct sp__pageinfo {
	uint64_t checksum;
	uint32_t stored_bytes;	/* as written; == page bytes if not compressed */
	uint32_t unit;		/* within the run */
	uint32_t key_offset;	/* of the last key in keys */
	uint16_t key_bytes;
	bool key_cut;		/* the key went on */
};

struct sp__run {
	uint64_t bytes;
	uint64_t records;
	uint64_t age;		/* place in the input, for stability */
	unsigned level;		/* 0: initial; merges add one */
	uint64_t units;
	struct sp__extent *extents;
	size_t nextents, extents_cap;
	struct sp__pageinfo *pages;
	size_t npages, pages_cap;
	char *keys;
	size_t keys_bytes, keys_cap;
	struct sp__budget *budget;
	uint64_t charged;
	int filter_fd;		/* --compress-program: the whole run; else -1 */
};

int sp__run_new(struct sp__run **run, struct sp__budget *budget);
void sp__run_free(struct sp__run *run);	/* accepts NULL; descriptors alone, not space */

/* Grow by one; 0 or -ENOMEM. */
int sp__run_add_units(struct sp__run *run, uint32_t file, uint64_t unit, uint32_t units);
int sp__run_add_page(struct sp__run *run, const struct sp__pageinfo *page);
int sp__run_add_key(struct sp__run *run, struct sp__pageinfo *page, const void *key, size_t bytes);

/* The extent that holds a unit of the run. */
const struct sp__extent *sp__run_extent(const struct sp__run *run, uint64_t unit);

#endif
