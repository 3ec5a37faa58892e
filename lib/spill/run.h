/* SPDX-License-Identifier: MIT */
/*
 * Defines a run in temporary space: sorted records as one stream of bytes, cut into pages.
 *
 * A page on disk is all payload.  Its description is here, in memory charged to the budget: its
 * location (extents), its checksum, and, if reading is planned by last keys, the key of the last
 * record that ends in it, truncated to LASTKEY_MAX bytes.  A page in which no record ends inherits
 * the key of the page before.  That is 8 bytes per page, and with keys 20 bytes and the key.  If
 * there are too many pages for memory, one checksum covers a group of them, and errors are detected
 * at the end of the group.
 *
 * Space is allocated in units: a page, or, under compression, the file system's block of 4096
 * bytes.  Pages occupy the run's units in order, compressed ones as many as they need.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/api.h>

#define SP__LASTKEY_MAX 127 /* maximum length in struct sp__lastkey */

struct sp__budget;

struct sp__extent {
	uint64_t unit;	/* first unit in the run's file */
	uint64_t first; /* number of its first unit within the run */
	uint32_t units;
};

/* A last key: bytes of the run's keys, and the number of records that end in its page. */
struct sp__lastkey {
	uint32_t offset;
	uint32_t bytes : 7;
	uint32_t tail : 25; /* bytes of a record that ends later; the whole page: none ends in it */
	uint32_t records;   /* number of records that end in the page */
};

/* The bytes of a run between two offsets. */
struct sp__run_span {
	uint64_t from, to;
};

struct sp__run {
	uint64_t bytes;
	uint64_t records;
	size_t largest;	     /* bytes of its largest record, if that is larger than a page; or 0 */
	uint64_t long_bytes; /* bytes of all records larger than a page */
	unsigned level;	     /* 0: initial; merges add one */
	uint64_t
		begin; /* offset in the input where its records begin; the writer's owner sets it */
	uint64_t units;
	uint64_t spare_unit; /* allocated ahead: first unit in the file, and their number */
	uint32_t spare_units;
	struct sp__extent *extents;
	size_t nextents, extents_cap;
	size_t npages;
	unsigned group_shift;	      /* pages in a group: 1 << group_shift */
	uint64_t *checksums;	      /* one for each group; see sp__run_note_page() */
	struct sp__lastkey *lastkeys; /* for each page, like packed; NULL: not kept */
	uint32_t *packed;	      /* compressed: bytes of each page as stored; else NULL */
	size_t checksums_cap, lastkeys_cap, packed_cap;
	char *keys;
	size_t keys_bytes, keys_cap;
	struct sp__budget *budget;
	uint64_t charged;
	uint32_t file;	 /* number of its file in the store; with a program, of its directory */
	int filter_fd;	 /* --compress-program: the whole run; else -1 */
	bool filter_raw; /* ... stored uncompressed */
};

int sp__run_new(struct sp__run **run, struct sp__budget *budget);
void sp__run_free(struct sp__run *run); /* accepts NULL; frees descriptors, not space */

/* Adds units to the run; 0 or -ENOMEM. */
int sp__run_add_units(struct sp__run *run, uint64_t unit, uint32_t units);
/* Adds a page; its checksum and packed length are filled in later. */
int sp__run_add_page(struct sp__run *run, bool packed);
/* Records the page's checksum; once for each page. */
void sp__run_note_page(struct sp__run *run, size_t page, uint64_t checksum);
/*
 * Verifies pages read in order. *sum is 0 before the first page, and kept by the caller.  False:
 * this page, or one before it in its group, differs from the page written.
 */
bool sp__run_verify_page(const struct sp__run *run, uint64_t *sum, size_t page, uint64_t checksum);
/* Free memory of runs that are not being written or read: */
/* spare capacity; */
void sp__run_trim(struct sp__run *run);
/* half of the checksums: two groups become one; */
void sp__run_coarsen(struct sp__run *run);
/* the last keys. */
void sp__run_drop_keys(struct sp__run *run);
/*
 * Adds the last key of the page added next (NULL: the key of the page before), its tail and
 * records.
 */
int sp__run_add_key(struct sp__run *run, const void *key, size_t bytes, size_t tail,
		    uint32_t records);

/* Returns the number of pages of page_bytes that the span touches. */
static inline size_t sp__run_span_pages(const struct sp__run_span *span, uint32_t page_bytes)
{
	return span->from == span->to
		       ? 0
		       : (size_t)((span->to - 1) / page_bytes - span->from / page_bytes + 1);
}

/* Returns the extent that holds a unit of the run. */
const struct sp__extent *sp__run_extent(const struct sp__run *run, uint64_t unit);

/*
 * The description of a run as bytes, for a run that outlives the process.  The format is valid for
 * this machine and this version of the library.
 */
/* Returns the image of a run that has been written; the caller frees it.  NULL: out of memory. */
char *sp__run_image(const struct sp__run *run, size_t *bytes);
/* Restores the run, in the file of that number.  Returns 0, -EINVAL: not an image, or -ENOMEM. */
SP_MUST_CHECK int sp__run_from_image(struct sp__run **run, struct sp__budget *budget, uint32_t file,
				     const char *image, size_t bytes);
