/* SPDX-License-Identifier: MIT */
/*
 * The block allocator of a simulated file system.
 *
 * All pages below a high-water mark have been allocated at least once; freed ones are in a heap
 * with the lowest address on top, so that recycled pages are reused first, from the front.  An
 * allocation takes the lowest free page and those adjacent to it, as many as the policy wants:
 * from the heap, and from the high-water mark where the two meet.
 *
 * Invariant: each page below the mark is in exactly one of: an area or the map of one file, the
 * window of one file, the heap.
 *
 * Rejected: a bitmap of the device (megabytes for a large drive of which a test uses little).
 */
#include <errno.h>
#include <stdlib.h>
#include "base/array.h"
#include "base/heap.h"
#include "sim/fsmap.h"
#include "sim/fsmap_file.h"

struct sp__fsmap {
	struct sp__fsmap_opts opts;
	struct sp__fsfile *files;
	size_t nfiles;
	uint64_t high;		/* pages from here on were never given out */
	struct sp__heap unused; /* free pages below high, the lowest on top */
	size_t unused_cap;
};

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
		sp__fsfile_release(&fs->files[i]);
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
	if (!SP__ARRAY_ROOM(fs->unused.item, fs->unused_cap, fs->unused.n + 1))
		return -ENOMEM;
	sp__heap_push(&fs->unused, page, lower, NULL, NULL);
	return 0;
}

int sp__fsmap_create(struct sp__fsmap *fs, uint64_t pages)
{
	struct sp__fsfile file = { .next_pages = fs->opts.group_pages };
	int rc;

	if (pages > fs->opts.device_pages - fs->high)
		return -ENOSPC;
	if (!SP__ARRAY_ROOM_NEXT(fs->files, fs->nfiles))
		return -ENOMEM;
	if (pages) {
		rc = sp__fsfile_add_area(&file, fs->high, pages);
		if (rc < 0)
			return rc;
		fs->high += pages;
		file.used = pages;
	}
	fs->files[fs->nfiles] = file;
	return (int)fs->nfiles++;
}

/* Under none: areas that hold page. */
static int grow_areas(struct sp__fsmap *fs, struct sp__fsfile *f, uint64_t page)
{
	struct sp__fsarea *last = f->nareas ? &f->areas[f->nareas - 1] : NULL;
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
		rc = sp__fsfile_add_area(f, fs->high, want);
	}
	if (rc == 0)
		fs->high += want;
	return rc;
}

static int locate_in_area(struct sp__fsmap *fs, struct sp__fsfile *f, uint64_t page, size_t n)
{
	uint64_t last = n ? page + n - 1 : page;
	int rc = 0;

	if (page >= fs->opts.device_pages)
		return -ENOSPC;
	if (last >= f->covered) {
		rc = grow_areas(fs, f, last);
		if (rc == -ENOSPC && page < f->covered) /* as many as there are */
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

/* What files hold back and have not used serves those in need. */
static int reclaim_windows(struct sp__fsmap *fs)
{
	for (size_t i = 0; i < fs->nfiles; i++) {
		struct sp__fsfile *f = &fs->files[i];

		while (f->window_pages) {
			if (heap_push(fs, f->window + f->window_pages - 1) < 0)
				return -ENOMEM;
			f->window_pages--;
		}
	}
	return fs->unused.n ? 0 : -ENOSPC;
}

static int refill_window(struct sp__fsmap *fs, struct sp__fsfile *f)
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

static int allocate(struct sp__fsmap *fs, struct sp__fsfile *f, uint64_t page)
{
	uint64_t *entry;
	int rc;

	if (page >= SP__FSFILE_PAGES_MAX)
		return -ENOSPC;
	entry = sp__fsfile_entry(f, page);
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
	struct sp__fsfile *f = &fs->files[file];
	int rc = 0;

	if (fs->opts.policy == SP__FS_NONE)
		rc = locate_in_area(fs, f, page, n);
	else if (!sp__fsfile_find(f, page, device_page))
		rc = allocate(fs, f, page);
	if (rc < 0)
		return rc;
	sp__fsfile_find(f, page, device_page);
	*run = sp__fsmap_contiguous(fs, file, page, n ? n : 1);
	return 0;
}

size_t sp__fsmap_contiguous(const struct sp__fsmap *fs, unsigned file, uint64_t page, size_t n)
{
	const struct sp__fsfile *f = &fs->files[file];
	uint64_t first, at;
	size_t run = 1;

	if (!n || !sp__fsfile_find(f, page, &first))
		return 0;
	if (f->nareas == 1 && page < f->used)
		run = f->used - page < n ? f->used - page : n;
	while (run < n && sp__fsfile_find(f, page + run, &at) && at == first + run)
		run++;
	return run;
}

bool sp__fsmap_find(const struct sp__fsmap *fs, unsigned file, uint64_t page, uint64_t *device_page)
{
	return sp__fsfile_find(&fs->files[file], page, device_page);
}

void sp__fsmap_punch(struct sp__fsmap *fs, unsigned file, uint64_t page)
{
	struct sp__fsfile *f = &fs->files[file];
	uint64_t device;

	if (fs->opts.policy == SP__FS_NONE || !sp__fsfile_find(f, page, &device))
		return;
	/* Without memory to remember it by, the page just stays the file's. */
	if (page < f->used && sp__fsfile_unroll(f) < 0)
		return;
	if (heap_push(fs, device) == 0)
		*sp__fsfile_entry(f, page) = 0;
}

void sp__fsmap_regions(const struct sp__fsmap *fs, unsigned file, uint64_t *regions, double *mean)
{
	uint64_t pages;

	sp__fsfile_regions(&fs->files[file], regions, &pages);
	*mean = *regions ? (double)pages / (double)*regions : 0;
}
