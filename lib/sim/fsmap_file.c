/* SPDX-License-Identifier: MIT */
/*
 * Areas are searched from the last one down, since there are few and most accesses are in the last.
 * The map consists of chunks that are allocated when the first page in them is placed.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/array.h"
#include "sim/fsmap_file.h"

void sp__fsfile_release(struct sp__fsfile *f)
{
	for (size_t i = 0; i < f->nchunks; i++)
		free(f->chunks[i]);
	free(f->chunks);
	free(f->areas);
	*f = (struct sp__fsfile){ 0 };
}

int sp__fsfile_add_area(struct sp__fsfile *f, uint64_t device, uint64_t pages)
{
	if (!SP__ARRAY_ROOM_NEXT(f->areas, f->nareas))
		return -ENOMEM;
	f->areas[f->nareas++] = (struct sp__fsarea){ f->covered, device, pages };
	f->covered += pages;
	return 0;
}

/* There are few areas, and what is asked for is mostly in the last. */
static const struct sp__fsarea *area_of(const struct sp__fsfile *f, uint64_t page)
{
	size_t i = f->nareas - 1;

	while (f->areas[i].first > page)
		i--;
	return &f->areas[i];
}

bool sp__fsfile_find(const struct sp__fsfile *f, uint64_t page, uint64_t *device)
{
	size_t chunk = page / SP__FSFILE_CHUNK;
	uint64_t entry;

	if (page < f->used) {
		const struct sp__fsarea *a = area_of(f, page);

		*device = a->device + (page - a->first);
		return true;
	}
	if (chunk >= f->nchunks || !f->chunks[chunk])
		return false;
	entry = f->chunks[chunk][page % SP__FSFILE_CHUNK];
	*device = entry - 1;
	return entry != 0;
}

static int grow_chunks(struct sp__fsfile *f, size_t want)
{
	size_t had = f->nchunks;

	if (!SP__ARRAY_ROOM(f->chunks, f->nchunks, want))
		return -ENOMEM;
	for (size_t i = had; i < f->nchunks; i++)
		f->chunks[i] = NULL;
	return 0;
}

uint64_t *sp__fsfile_entry(struct sp__fsfile *f, uint64_t page)
{
	size_t chunk = page / SP__FSFILE_CHUNK;

	if (chunk >= f->nchunks && grow_chunks(f, chunk + 1) < 0)
		return NULL;
	if (!f->chunks[chunk])
		f->chunks[chunk] = calloc(SP__FSFILE_CHUNK, sizeof(uint64_t));
	return f->chunks[chunk] ? &f->chunks[chunk][page % SP__FSFILE_CHUNK] : NULL;
}

int sp__fsfile_unroll(struct sp__fsfile *f)
{
	uint64_t device;

	for (uint64_t page = 0; page < f->used; page += SP__FSFILE_CHUNK)
		if (!sp__fsfile_entry(f, page))
			return -ENOMEM;
	for (uint64_t page = 0; page < f->used; page++)
		if (sp__fsfile_find(f, page, &device))
			*sp__fsfile_entry(f, page) = device + 1;
	f->used = 0;
	f->covered = 0;
	f->nareas = 0;
	return 0;
}

void sp__fsfile_regions(const struct sp__fsfile *f, uint64_t *regions, uint64_t *pages)
{
	uint64_t before = UINT64_MAX;

	*regions = 0;
	*pages = f->used;
	for (size_t i = 0; i < f->nareas && f->areas[i].first < f->used; i++) {
		*regions += f->areas[i].device != before;
		before = f->areas[i].device + f->areas[i].pages;
	}
	for (size_t c = 0; c < f->nchunks; c++) {
		for (size_t i = 0; f->chunks[c] && i < SP__FSFILE_CHUNK; i++) {
			uint64_t entry = f->chunks[c][i];

			if (!entry)
				continue;
			*regions += entry - 1 != before;
			before = entry;
			++*pages;
		}
	}
}
