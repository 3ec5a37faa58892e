/* SPDX-License-Identifier: MIT */
/*
 * Describes one run: its extents, and for each page the checksum, the last key and, under
 * compression, the stored length.
 *
 * Memory: the description is charged to the budget, so it must be able to shrink.  Checksums of 2^k
 * neighbouring pages become one weighted sum; a group is verified when its last page has been read.
 * Last keys are dropped altogether, and arrays are trimmed when the run is complete.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/array.h"
#include "base/bisect.h"
#include "base/mem.h"
#include "spill/run.h"

/* The image of a run, valid for this machine and this version of the library. */
struct head {
	uint64_t bytes, records, units, extents, pages, checksums, lastkeys, packed, keys_bytes;
	uint32_t level, group_shift;
};

/* An array of the run and its location in the image. */
struct array {
	void *member; /* the run's pointer to the array */
	size_t *cap;
	size_t n, each;
};

#define ARRAYS 5

static void list(struct sp__run *run, const struct head *h, struct array a[ARRAYS])
{
	a[0] = (struct array){ &run->extents, &run->extents_cap, h->extents,
			       sizeof(*run->extents) };
	a[1] = (struct array){ &run->checksums, &run->checksums_cap, h->checksums,
			       sizeof(*run->checksums) };
	a[2] = (struct array){ &run->lastkeys, &run->lastkeys_cap, h->lastkeys,
			       sizeof(*run->lastkeys) };
	a[3] = (struct array){ &run->packed, &run->packed_cap, h->packed, sizeof(*run->packed) };
	a[4] = (struct array){ &run->keys, &run->keys_cap, h->keys_bytes, 1 };
}

static size_t image_bytes(const struct array a[ARRAYS])
{
	size_t bytes = sizeof(struct head);

	for (unsigned i = 0; i < ARRAYS; i++)
		bytes += a[i].n * a[i].each;
	return bytes;
}

char *sp__run_image(const struct sp__run *run, size_t *bytes)
{
	const struct head h = {
		.bytes = run->bytes,
		.records = run->records,
		.units = run->units,
		.extents = run->nextents,
		.pages = run->npages,
		.checksums = run->npages ? ((run->npages - 1) >> run->group_shift) + 1 : 0,
		.lastkeys = run->lastkeys ? run->npages : 0,
		.packed = run->packed ? run->npages : 0,
		.keys_bytes = run->lastkeys ? run->keys_bytes : 0,
		.level = run->level,
		.group_shift = run->group_shift,
	};
	struct sp__run copy = *run;
	struct array a[ARRAYS];
	char *image, *to;

	list(&copy, &h, a);
	*bytes = image_bytes(a);
	image = malloc(*bytes);
	if (!image)
		return NULL;
	memcpy(image, &h, sizeof(h));
	to = image + sizeof(h);
	for (unsigned i = 0; i < ARRAYS; i++) {
		const void *from;

		memcpy(&from, a[i].member, sizeof(from));
		if (a[i].n)
			memcpy(to, from, a[i].n * a[i].each);
		to += a[i].n * a[i].each;
	}
	return image;
}

static int take_array(struct sp__run *run, const struct array *a, const char *from)
{
	size_t bytes = a->n * a->each;
	void *copy = bytes ? malloc(bytes) : NULL;

	memcpy(a->member, &copy, sizeof(copy));
	if (!copy)
		return bytes ? -ENOMEM : 0;
	memcpy(copy, from, bytes);
	*a->cap = a->n;
	sp__budget_charge(run->budget, bytes);
	run->charged += bytes;
	return 0;
}

static int take_arrays(struct sp__run *run, const struct array a[ARRAYS], const char *image)
{
	const char *from = image + sizeof(struct head);
	int rc = 0;

	for (unsigned i = 0; !rc && i < ARRAYS; i++) {
		rc = take_array(run, &a[i], from);
		from += a[i].n * a[i].each;
	}
	return rc;
}

int sp__run_from_image(struct sp__run **run, struct sp__budget *budget, uint32_t file,
		       const char *image, size_t bytes)
{
	struct array a[ARRAYS];
	struct head h;
	int rc;

	if (bytes < sizeof(h))
		return -EINVAL;
	memcpy(&h, image, sizeof(h));
	rc = sp__run_new(run, budget);
	if (rc < 0)
		return rc;
	(*run)->bytes = h.bytes;
	(*run)->records = h.records;
	(*run)->units = h.units;
	(*run)->nextents = h.extents;
	(*run)->npages = h.pages;
	(*run)->keys_bytes = h.keys_bytes;
	(*run)->level = h.level;
	(*run)->group_shift = h.group_shift;
	(*run)->file = file;
	list(*run, &h, a);
	rc = image_bytes(a) == bytes ? take_arrays(*run, a, image) : -EINVAL;
	if (rc < 0)
		sp__run_free(*run);
	return rc;
}

int sp__run_new(struct sp__run **run, struct sp__budget *budget)
{
	*run = calloc(1, sizeof(**run));
	if (!*run)
		return -ENOMEM;
	(*run)->budget = budget;
	(*run)->filter_fd = -1;
	return 0;
}

void sp__run_free(struct sp__run *run)
{
	if (!run)
		return;
	if (run->filter_fd >= 0)
		close(run->filter_fd);
	sp__budget_credit(run->budget, run->charged);
	free(run->extents);
	free(run->checksums);
	free(run->lastkeys);
	free(run->packed);
	free(run->keys);
	free(run);
}

/*
 * Makes an array of the run, with capacity array_cap, hold n elements.  Charged without refusal:
 * the planner reserves memory for descriptors.
 */
#define ROOM(run, array, n) room(run, &(run)->array, &(run)->array##_cap, n, sizeof(*(run)->array))
/* Releases capacity beyond n elements. */
#define TRIM(run, array, n) trim(run, &(run)->array, &(run)->array##_cap, n, sizeof(*(run)->array))

static int room(struct sp__run *run, void *array, size_t *cap, size_t n, size_t element_bytes)
{
	size_t want = *cap ? *cap : 16;

	if (n <= *cap)
		return 0;
	while (want < n)
		want += want / 2 + 1;
	if (!sp__array_resize(array, want, element_bytes))
		return -ENOMEM;
	sp__budget_charge(run->budget, (want - *cap) * element_bytes);
	run->charged += (want - *cap) * element_bytes;
	*cap = want;
	return 0;
}

static void give_back(struct sp__run *run, uint64_t bytes)
{
	sp__budget_credit(run->budget, bytes);
	run->charged -= bytes;
}

static void trim(struct sp__run *run, void *array, size_t *cap, size_t n, size_t element_bytes)
{
	if (!n || n >= *cap || !sp__array_resize(array, n, element_bytes))
		return;
	give_back(run, (*cap - n) * element_bytes);
	*cap = n;
}

static size_t groups(const struct sp__run *run)
{
	return run->npages ? ((run->npages - 1) >> run->group_shift) + 1 : 0;
}

void sp__run_trim(struct sp__run *run)
{
	TRIM(run, extents, run->nextents);
	TRIM(run, checksums, groups(run));
	TRIM(run, lastkeys, run->npages);
	TRIM(run, packed, run->npages);
	TRIM(run, keys, run->keys_bytes);
}

int sp__run_add_units(struct sp__run *run, uint64_t unit, uint32_t units)
{
	struct sp__extent *last = run->nextents ? &run->extents[run->nextents - 1] : NULL;
	uint64_t first = run->units;

	if (last && last->unit + last->units == unit && last->units <= UINT32_MAX - units) {
		last->units += units;
	} else {
		if (ROOM(run, extents, run->nextents + 1) < 0)
			return -ENOMEM;
		run->extents[run->nextents++] = (struct sp__extent){ unit, first, units };
	}
	run->units += units;
	return 0;
}

int sp__run_add_page(struct sp__run *run, bool packed)
{
	size_t group = run->npages >> run->group_shift;

	if (ROOM(run, checksums, group + 1) < 0 ||
	    (packed && ROOM(run, packed, run->npages + 1) < 0))
		return -ENOMEM;
	if (group << run->group_shift == run->npages)
		run->checksums[group] = 0;
	run->npages++;
	return 0;
}

/* Weighs a checksum by its page.  Odd factors lose no bits, and swapped pages are detected. */
static uint64_t weigh(size_t page, uint64_t checksum)
{
	return checksum * (2 * (uint64_t)page + 1);
}

void sp__run_note_page(struct sp__run *run, size_t page, uint64_t checksum)
{
	run->checksums[page >> run->group_shift] += weigh(page, checksum);
}

bool sp__run_verify_page(const struct sp__run *run, uint64_t *sum, size_t page, uint64_t checksum)
{
	size_t group = page >> run->group_shift;
	bool same;

	*sum += weigh(page, checksum);
	if (page + 1 < run->npages && (page + 1) >> run->group_shift == group)
		return true;
	same = *sum == run->checksums[group];
	*sum = 0;
	return same;
}

void sp__run_coarsen(struct sp__run *run)
{
	size_t before = groups(run);

	for (size_t i = 0; 2 * i < before; i++)
		run->checksums[i] = run->checksums[2 * i] +
				    (2 * i + 1 < before ? run->checksums[2 * i + 1] : 0);
	run->group_shift++;
	TRIM(run, checksums, groups(run));
}

void sp__run_drop_keys(struct sp__run *run)
{
	give_back(run, run->lastkeys_cap * sizeof(*run->lastkeys) + run->keys_cap);
	free(run->lastkeys);
	free(run->keys);
	run->lastkeys = NULL;
	run->keys = NULL;
	run->lastkeys_cap = run->keys_cap = run->keys_bytes = 0;
}

int sp__run_add_key(struct sp__run *run, const void *key, size_t bytes, size_t tail,
		    uint32_t records)
{
	struct sp__lastkey *k;
	size_t n = run->npages, kept = bytes < SP__LASTKEY_MAX ? bytes : SP__LASTKEY_MAX;

	if (ROOM(run, lastkeys, n + 1) < 0)
		return -ENOMEM;
	k = &run->lastkeys[n];
	if (!key) {
		*k = n ? k[-1] : (struct sp__lastkey){ 0 };
		k->tail = (uint32_t)tail;
		k->records = records;
		return 0;
	}
	if (ROOM(run, keys, run->keys_bytes + kept) < 0)
		return -ENOMEM;
	if (kept)
		memcpy(run->keys + run->keys_bytes, key, kept);
	*k = (struct sp__lastkey){ .offset = (uint32_t)run->keys_bytes,
				   .bytes = (uint32_t)kept,
				   .tail = (uint32_t)tail,
				   .records = records };
	run->keys_bytes += kept;
	return 0;
}

const struct sp__extent *sp__run_extent(const struct sp__run *run, uint64_t unit)
{
	return &run->extents[SP__BISECT(run->nextents, i, run->extents[i].first <= unit) - 1];
}
