/* SPDX-License-Identifier: MIT */
/*
 * The simulated block allocator: exact layouts, and random use against a model
 * that only knows the owner of each page.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "sim/fsmap.h"
#include "tap.h"

static struct sp__fsmap *make(enum sp__fs_policy policy, unsigned group, uint64_t pages)
{
	struct sp__fsmap_opts opts = {
		.policy = policy, .group_pages = group, .extent_pages = 16, .device_pages = pages
	};
	struct sp__fsmap *fs;

	if (sp__fsmap_new(&fs, &opts) < 0)
		abort();
	return fs;
}

static uint64_t at(struct sp__fsmap *fs, int file, uint64_t page)
{
	uint64_t device;
	size_t run;
	int rc = sp__fsmap_locate(fs, (unsigned)file, page, 1, &device, &run);

	return rc < 0 ? UINT64_MAX : device;
}

static void test_areas(void)
{
	struct sp__fsmap *fs = make(SP__FS_NONE, 0, 1000);
	int in = sp__fsmap_create(fs, 100), spill = sp__fsmap_create(fs, 0),
	    out = sp__fsmap_create(fs, 0);
	uint64_t regions, device;
	double mean;
	size_t run;

	ok(at(fs, in, 0) == 0 && at(fs, in, 99) == 99, "the input begins at the first page");
	ok(sp__fsmap_locate(fs, (unsigned)spill, 0, 50, &device, &run) == 0 && device == 100 &&
		   run == 50,
	   "the spill area follows, with all requested pages in one call");
	ok(at(fs, spill, 299) == 399,
	   "a page at a distance in the file has that distance on the device");
	ok(at(fs, out, 0) == 400 && at(fs, out, 9) == 409, "the output follows the spill area");
	ok(at(fs, spill, 300) == 410 && at(fs, spill, 301) == 411,
	   "a spill area that grows later continues after the output");
	ok(at(fs, out, 10) == 710,
	   "an area that continues elsewhere takes as much as the file has");
	sp__fsmap_regions(fs, (unsigned)spill, &regions, &mean);
	ok(regions == 2 && mean == 151, "a file of two areas has two regions");
	sp__fsmap_punch(fs, (unsigned)spill, 0);
	ok(at(fs, spill, 0) == 100, "a page that is punched keeps its place");
	ok(sp__fsmap_contiguous(fs, (unsigned)spill, 298, 10) == 2,
	   "contiguous pages end where an area ends");
	ok(sp__fsmap_contiguous(fs, (unsigned)spill, 302, 10) == 0,
	   "reserved pages do not count as contiguous");
	ok(at(fs, spill, 998) == UINT64_MAX, "a device that is full says so");
	ok(at(fs, spill, 5000) == UINT64_MAX, "so does one that is too small at all");
	ok(sp__fsmap_create(fs, 1000) == -ENOSPC, "a file that does not fit is refused");
	sp__fsmap_free(fs);
}

static void test_groups(void)
{
	struct sp__fsmap *fs = make(SP__FS_GROUP, 2, 12);
	int r = sp__fsmap_create(fs, 0), s = sp__fsmap_create(fs, 0);
	uint64_t regions;
	double mean;

	/* The example of the paper's section 2.2.2: R gets A, B and D; S gets C. */
	ok(at(fs, r, 0) == 0 && at(fs, r, 1) == 1 && at(fs, s, 0) == 2 && at(fs, r, 2) == 4,
	   "files written alternately interleave in groups");
	sp__fsmap_regions(fs, (unsigned)r, &regions, &mean);
	ok(regions == 2 && mean == 1.5, "the regions of a file are counted");
	sp__fsmap_punch(fs, (unsigned)r, 1);
	sp__fsmap_punch(fs, (unsigned)r, 0);
	ok(at(fs, s, 1) == 3 && at(fs, s, 2) == 0 && at(fs, s, 3) == 1,
	   "places given back serve again, the lowest first");
	ok(at(fs, r, 3) == 5 && at(fs, r, 0) == 6, "a punched page gets a new place");
	sp__fsmap_punch(fs, (unsigned)s, 1);
	sp__fsmap_punch(fs, (unsigned)s, 0);
	sp__fsmap_punch(fs, (unsigned)s, 0);
	ok(at(fs, s, 5) == 2 && at(fs, s, 6) == 3 && at(fs, s, 7) == 8,
	   "a page punched twice is free once");
	ok(at(fs, s, 8) == 9 && at(fs, s, 9) == 10 && at(fs, s, 10) == 11 && at(fs, s, 11) == 7 &&
		   at(fs, s, 12) == UINT64_MAX,
	   "pages pre-allocated by another file are used when no others are free");
	sp__fsmap_free(fs);
}

static void test_existing(void)
{
	struct sp__fsmap *fs = make(SP__FS_GROUP, 4, 64);
	int in = sp__fsmap_create(fs, 10), f = sp__fsmap_create(fs, 0);

	ok(at(fs, in, 9) == 9 && at(fs, f, 0) == 10, "groups begin after existing data");
	ok(at(fs, in, 10) == 14, "a file that exists can grow");
	sp__fsmap_punch(fs, (unsigned)in, 3);
	sp__fsmap_punch(fs, (unsigned)in, 4);
	ok(at(fs, f, 1) == 11 && at(fs, f, 2) == 12 && at(fs, f, 3) == 13 && at(fs, f, 4) == 3 &&
		   at(fs, f, 5) == 4 && at(fs, f, 6) == 18,
	   "pages of a file that existed serve again, a group of as many as are adjacent");
	ok(at(fs, in, 2) == 2 && at(fs, in, 5) == 5 && at(fs, in, 10) == 14,
	   "the others stay where they are");
	sp__fsmap_free(fs);
}

static void test_extents(void)
{
	struct sp__fsmap *fs = make(SP__FS_EXTENT, 2, 1000);
	int a = sp__fsmap_create(fs, 0), b = sp__fsmap_create(fs, 0);
	uint64_t regions;
	double mean;

	for (uint64_t p = 0; p < 62; p++) {
		at(fs, a, p);
		at(fs, b, p);
	}
	/* 2, 4, 8, 16, 16, 16 pages */
	sp__fsmap_regions(fs, (unsigned)a, &regions, &mean);
	ok(regions == 6, "allocations of a file double up to the limit");
	ok(at(fs, a, 30) == 60 && at(fs, a, 45) == 75, "an extent is contiguous");
	sp__fsmap_free(fs);
}

#define FILES 5
#define PAGES 60
#define DEVICE 160

struct shadow {
	uint64_t where[FILES][PAGES]; /* device page + 1 */
	int owner[DEVICE];	      /* file + 1 */
	unsigned used;
};

static bool touch(struct sp__fsmap *fs, struct shadow *s, unsigned file, uint64_t page)
{
	uint64_t device, *was = &s->where[file][page];
	size_t run;
	int rc = sp__fsmap_locate(fs, file, page, PAGES - page, &device, &run);

	if (rc < 0)
		return rc == -ENOSPC && !*was && s->used == DEVICE;
	if (device >= DEVICE || (*was && *was != device + 1))
		return false;
	if (!*was) {
		if (s->owner[device])
			return false;
		s->owner[device] = (int)file + 1;
		s->used++;
		*was = device + 1;
	}
	for (size_t i = 0; i < run; i++)
		if (s->where[file][page + i] != device + i + 1)
			return false;
	return page + run == PAGES || s->where[file][page + run] != device + run + 1;
}

static bool punch(struct sp__fsmap *fs, struct shadow *s, unsigned file, uint64_t page)
{
	uint64_t *was = &s->where[file][page], device;

	sp__fsmap_punch(fs, file, page);
	if (*was) {
		s->owner[*was - 1] = 0;
		s->used--;
		*was = 0;
	}
	return !sp__fsmap_find(fs, file, page, &device);
}

static bool regions_agree(const struct sp__fsmap *fs, const struct shadow *s, unsigned file)
{
	uint64_t before = 0, regions = 0, pages = 0, reported;
	double mean;

	for (uint64_t p = 0; p < PAGES; p++) {
		if (!s->where[file][p])
			continue;
		regions += s->where[file][p] != before + 1 || !before;
		before = s->where[file][p];
		pages++;
	}
	sp__fsmap_regions(fs, file, &reported, &mean);
	return reported == regions && (!regions || mean == (double)pages / (double)regions);
}

static bool random_use(enum sp__fs_policy policy, uint64_t seed)
{
	struct sp__rng rng = { seed };
	struct sp__fsmap *fs = make(policy, 1 + (unsigned)sp__rng_below(&rng, 9), DEVICE);
	struct shadow s = { 0 };
	bool good = true;

	for (unsigned f = 0; f < FILES; f++)
		good &= sp__fsmap_create(fs, f ? 0 : 12) == (int)f;
	for (uint64_t p = 12; p-- > 0;)
		good &= touch(fs, &s, 0, p);
	for (int i = 0; i < 3000 && good; i++) {
		unsigned f = (unsigned)sp__rng_below(&rng, FILES);
		uint64_t p = sp__rng_below(&rng, PAGES);

		good = sp__rng_below(&rng, 5) < 3 ? touch(fs, &s, f, p) : punch(fs, &s, f, p);
		good = good && regions_agree(fs, &s, f);
	}
	sp__fsmap_free(fs);
	return good;
}

int main(void)
{
	bool good = true;

	test_areas();
	test_groups();
	test_existing();
	test_extents();
	for (uint64_t seed = 1; seed <= 20; seed++)
		good &= random_use(SP__FS_GROUP, seed);
	ok(good, "groups: no page has two owners, none moves, runs and regions are right");
	good = true;
	for (uint64_t seed = 1; seed <= 20; seed++)
		good &= random_use(SP__FS_EXTENT, seed);
	ok(good, "extents: the same");
	return done();
}
