/* SPDX-License-Identifier: MIT */
/*
 * Converts the description of a run to bytes and back.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "spill/runimage.h"

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
