/* SPDX-License-Identifier: MIT */
/*
 * Allocates the blocks of a simulated file system.
 *
 * Algorithm.  All pages below a high-water mark have been allocated at least once.  Freed ones are
 * in a heap with the lowest address on top, so that they are reused first, from the front.  An
 * allocation takes the lowest free page and those adjacent to it, up to the number of the policy:
 * from the heap, and from the high-water mark if the two meet.
 *
 * A file has areas and a map.  Areas hold all its pages under the policy none, and the initially
 * existing ones under the others.  The map is a list of chunks of entries, allocated when the first
 * page in them is placed.  A file has few areas, and most accesses are in the last one, so the
 * search begins there.
 *
 * Invariants: each page below the mark is in exactly one of: an area or the map of one file, the
 * window of one file, the heap.
 *
 * Rejected: a bitmap of the device (megabytes for a large drive of which a test uses little).
 */
#include <stdlib.h>
#include "base/array.h"
#include "sim/fsmap.h"

#define CHUNK 1024
#define FILE_PAGES_MAX (UINT64_C(1) << 34) /* bounds the array of chunks */

struct area {
	uint64_t first; /* page of the file */
	uint64_t device;
	uint64_t pages;
};

struct file {
	struct area *areas; /* by first, without gaps from page 0 on */
	size_t nareas;
	uint64_t covered;  /* pages that the areas hold or reserve */
	uint64_t used;	   /* pages in use among those covered, up to the highest page requested */
	uint64_t **chunks; /* entries: the device page plus 1, or 0 */
	size_t nchunks;
	uint64_t window, window_pages; /* pre-allocated, not used yet */
	unsigned next_pages;	       /* size of the next allocation of extent */
};

struct sp__fsmap {
	struct sp__fsmap_opts opts;
	struct file *files;
	size_t nfiles;
	uint64_t high;		/* pages from here on were never allocated */
	struct sp__heap unused; /* free pages below high, the lowest on top */
	size_t unused_cap;
};

static void file_release(struct file *f)
{
	for (size_t i = 0; i < f->nchunks; i++)
		free(f->chunks[i]);
	free(f->chunks);
	free(f->areas);
	*f = (struct file){ 0 };
}

static int add_area(struct file *f, uint64_t device, uint64_t pages)
{
	if (!SP__ARRAY_GROW_BY_ONE(f->areas, f->nareas))
		return -ENOMEM;
	f->areas[f->nareas++] = (struct area){ f->covered, device, pages };
	f->covered += pages;
	return 0;
}

static const struct area *area_of(const struct file *f, uint64_t page)
{
	size_t i = f->nareas - 1;

	while (f->areas[i].first > page)
		i--;
	return &f->areas[i];
}

/* Finds the device page of a page; false if the file does not have it. */
static bool find_page(const struct file *f, uint64_t page, uint64_t *device)
{
	size_t chunk = page / CHUNK;
	uint64_t entry;

	if (page < f->used) {
		const struct area *a = area_of(f, page);

		*device = a->device + (page - a->first);
		return true;
	}
	if (chunk >= f->nchunks || !f->chunks[chunk])
		return false;
	entry = f->chunks[chunk][page % CHUNK];
	*device = entry - 1;
	return entry != 0;
}

static int grow_chunks(struct file *f, size_t want)
{
	size_t had = f->nchunks;

	if (!SP__ARRAY_GROW(f->chunks, f->nchunks, want))
		return -ENOMEM;
	for (size_t i = had; i < f->nchunks; i++)
		f->chunks[i] = NULL;
	return 0;
}

/* Returns the entry of the map for a page, or NULL if there is no memory. */
static uint64_t *map_entry(struct file *f, uint64_t page)
{
	size_t chunk = page / CHUNK;

	if (chunk >= f->nchunks && grow_chunks(f, chunk + 1) < 0)
		return NULL;
	if (!f->chunks[chunk])
		f->chunks[chunk] = calloc(CHUNK, sizeof(uint64_t));
	return f->chunks[chunk] ? &f->chunks[chunk][page % CHUNK] : NULL;
}

/* Moves all pages from areas to the map.  Returns 0, or -ENOMEM with nothing changed. */
static int unroll(struct file *f)
{
	uint64_t device;

	for (uint64_t page = 0; page < f->used; page += CHUNK)
		if (!map_entry(f, page))
			return -ENOMEM;
	for (uint64_t page = 0; page < f->used; page++)
		if (find_page(f, page, &device))
			*map_entry(f, page) = device + 1;
	f->used = 0;
	f->covered = 0;
	f->nareas = 0;
	return 0;
}

static void file_regions(const struct file *f, uint64_t *regions, uint64_t *pages)
{
	uint64_t before = UINT64_MAX;

	*regions = 0;
	*pages = f->used;
	for (size_t i = 0; i < f->nareas && f->areas[i].first < f->used; i++) {
		*regions += f->areas[i].device != before;
		before = f->areas[i].device + f->areas[i].pages;
	}
	for (size_t c = 0; c < f->nchunks; c++) {
		for (size_t i = 0; f->chunks[c] && i < CHUNK; i++) {
			uint64_t entry = f->chunks[c][i];

			if (!entry)
				continue;
			*regions += entry - 1 != before;
			before = entry;
			++*pages;
		}
	}
}

int sp__fsmap_new(struct sp__fsmap **fs, const struct sp__fsmap_opts *opts)
{
	struct sp__fsmap *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->opts = *opts;
	if (!f->opts.group_pages)
		f->opts.group_pages = SP__FS_GROUP_PAGES;
	if (!f->opts.extent_pages)
		f->opts.extent_pages = 2048;
	*fs = f;
	return 0;
}

void sp__fsmap_free(struct sp__fsmap *fs)
{
	if (!fs)
		return;
	for (size_t i = 0; i < fs->nfiles; i++)
		file_release(&fs->files[i]);
	free(fs->files);
	free(fs->unused.item);
	free(fs);
}

static bool lower(void *ctx, uint64_t a, uint64_t b)
{
	(void)ctx;
	return a < b;
}

static int heap_push(struct sp__fsmap *fs, uint64_t page)
{
	if (!SP__ARRAY_GROW(fs->unused.item, fs->unused_cap, fs->unused.n + 1))
		return -ENOMEM;
	sp__heap_push(&fs->unused, page, lower, NULL, NULL);
	return 0;
}

int sp__fsmap_create(struct sp__fsmap *fs, uint64_t pages)
{
	struct file file = { .next_pages = fs->opts.group_pages };
	int rc;

	if (pages > fs->opts.device_pages - fs->high)
		return -ENOSPC;
	if (!SP__ARRAY_GROW_BY_ONE(fs->files, fs->nfiles))
		return -ENOMEM;
	if (pages) {
		rc = add_area(&file, fs->high, pages);
		if (rc < 0)
			return rc;
		fs->high += pages;
		file.used = pages;
	}
	fs->files[fs->nfiles] = file;
	return (int)fs->nfiles++;
}

/* Under none: adds areas until they hold page. */
static int grow_areas(struct sp__fsmap *fs, struct file *f, uint64_t page)
{
	struct area *last = f->nareas ? &f->areas[f->nareas - 1] : NULL;
	uint64_t room = fs->opts.device_pages - fs->high, want;
	int rc = 0;

	if (page - f->covered >= room)
		return -ENOSPC;
	want = page - f->covered + 1;
	if (last && last->device + last->pages == fs->high) {
		last->pages += want;
		f->covered += want;
	} else {
		if (want < f->covered)
			want = f->covered < room ? f->covered : room;
		rc = add_area(f, fs->high, want);
	}
	if (rc == 0)
		fs->high += want;
	return rc;
}

static int locate_in_area(struct sp__fsmap *fs, struct file *f, uint64_t page, size_t n)
{
	uint64_t last = n ? page + n - 1 : page;
	int rc = 0;

	if (page >= fs->opts.device_pages)
		return -ENOSPC;
	if (last >= f->covered) {
		rc = grow_areas(fs, f, last);
		if (rc == -ENOSPC && page < f->covered) /* take the pages that there are */
			last = f->covered - 1;
		else if (rc == -ENOSPC && last != page)
			rc = grow_areas(fs, f, last = page);
		if (rc < 0 && last >= f->covered)
			return rc;
	}
	if (last >= f->used)
		f->used = last + 1;
	return 0;
}

/* Frees the unused pre-allocated windows of all files. */
static int reclaim_windows(struct sp__fsmap *fs)
{
	for (size_t i = 0; i < fs->nfiles; i++) {
		struct file *f = &fs->files[i];

		while (f->window_pages) {
			if (heap_push(fs, f->window + f->window_pages - 1) < 0)
				return -ENOMEM;
			f->window_pages--;
		}
	}
	return fs->unused.n ? 0 : -ENOSPC;
}

static int refill_window(struct sp__fsmap *fs, struct file *f)
{
	uint64_t want = f->next_pages;
	int rc;

	if (!fs->unused.n && fs->high == fs->opts.device_pages) {
		rc = reclaim_windows(fs);
		if (rc < 0)
			return rc;
	}
	f->window = fs->unused.n ? sp__heap_take(&fs->unused, 0, lower, NULL, NULL) : fs->high++;
	f->window_pages = 1;
	while (f->window_pages < want && fs->unused.n &&
	       fs->unused.item[0] == f->window + f->window_pages) {
		sp__heap_take(&fs->unused, 0, lower, NULL, NULL);
		f->window_pages++;
	}
	while (f->window_pages < want && f->window + f->window_pages == fs->high &&
	       fs->high < fs->opts.device_pages) {
		fs->high++;
		f->window_pages++;
	}
	if (fs->opts.policy == SP__FS_EXTENT)
		f->next_pages = 2 * want < fs->opts.extent_pages ? (unsigned)(2 * want)
								 : fs->opts.extent_pages;
	return 0;
}

static int allocate(struct sp__fsmap *fs, struct file *f, uint64_t page)
{
	uint64_t *entry;
	int rc;

	if (page >= FILE_PAGES_MAX)
		return -ENOSPC;
	entry = map_entry(f, page);
	if (!entry)
		return -ENOMEM;
	if (!f->window_pages) {
		rc = refill_window(fs, f);
		if (rc < 0)
			return rc;
	}
	*entry = ++f->window;
	f->window_pages--;
	return 0;
}

int sp__fsmap_locate(struct sp__fsmap *fs, unsigned file, uint64_t page, size_t n,
		     uint64_t *device_page, size_t *run)
{
	struct file *f = &fs->files[file];
	int rc = 0;

	if (fs->opts.policy == SP__FS_NONE)
		rc = locate_in_area(fs, f, page, n);
	else if (!find_page(f, page, device_page))
		rc = allocate(fs, f, page);
	if (rc < 0)
		return rc;
	find_page(f, page, device_page);
	*run = sp__fsmap_contiguous(fs, file, page, n ? n : 1);
	return 0;
}

size_t sp__fsmap_contiguous(const struct sp__fsmap *fs, unsigned file, uint64_t page, size_t n)
{
	const struct file *f = &fs->files[file];
	uint64_t first, at;
	size_t run = 1;

	if (!n || !find_page(f, page, &first))
		return 0;
	if (f->nareas == 1 && page < f->used)
		run = f->used - page < n ? f->used - page : n;
	while (run < n && find_page(f, page + run, &at) && at == first + run)
		run++;
	return run;
}

bool sp__fsmap_find(const struct sp__fsmap *fs, unsigned file, uint64_t page, uint64_t *device_page)
{
	return find_page(&fs->files[file], page, device_page);
}

void sp__fsmap_punch(struct sp__fsmap *fs, unsigned file, uint64_t page)
{
	struct file *f = &fs->files[file];
	uint64_t device;

	if (fs->opts.policy == SP__FS_NONE || !find_page(f, page, &device))
		return;
	/* Without memory to record the hole, the page just stays the file's. */
	if (page < f->used && unroll(f) < 0)
		return;
	if (heap_push(fs, device) == 0)
		*map_entry(f, page) = 0;
}

void sp__fsmap_regions(const struct sp__fsmap *fs, unsigned file, uint64_t *regions, double *mean)
{
	uint64_t pages;

	file_regions(&fs->files[file], regions, &pages);
	*mean = *regions ? (double)pages / (double)*regions : 0;
}
