/* SPDX-License-Identifier: MIT */
/* Keeps the list of zones, and finds tracks by their number. */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/minmax.h"
#include "probe/tracks/tracks.h"

void sp__tracks_begin(struct sp__tracks *tr, struct sp__timing *tm)
{
	*tr = (struct sp__tracks){ .tm = tm, .blocks = tm->target->blocks };
}

void sp__tracks_free(struct sp__tracks *tr)
{
	for (size_t i = 0; i < tr->nzones; i++)
		sp__pzone_clear(&tr->zones[i]);
	free(tr->zones);
	free(tr->bad);
}

int sp__zones_add(struct sp__tracks *tr, struct sp__pzone *z)
{
	if (!SP__ARRAY_GROW(tr->zones, tr->capacity, tr->nzones + 1)) {
		sp__pzone_clear(z);
		return -ENOMEM;
	}
	tr->zones[tr->nzones++] = *z;
	return 0;
}

void sp__zones_drop(struct sp__tracks *tr, size_t first, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sp__pzone_clear(&tr->zones[first + i]);
	tr->nzones -= n;
	memmove(&tr->zones[first], &tr->zones[first + n],
		(tr->nzones - first) * sizeof(*tr->zones));
}

bool sp__tracks_at(const struct sp__tracks *tr, uint64_t number, uint64_t *lbn, uint32_t *blocks)
{
	for (size_t i = 0; i < tr->nzones; i++) {
		const struct sp__pzone *z = &tr->zones[i];

		if (i && !sp__pzone_follows(z, z - 1))
			return false;
		if (number < z->tracks) {
			*lbn = sp__pzone_start(z, number);
			*blocks = (uint32_t)(sp__pzone_start(z, number + 1) - *lbn);
			return *blocks == sp__pzone_length(z, number);
		}
		number -= z->tracks;
	}
	return false;
}

/*
 * The sum of a pattern is exact, single skews are not; if all seem equal, they can differ by less
 * than the tolerance.  So only whole patterns, or cylinders, are predicted.
 */
bool sp__skew_between(const struct sp__tracks *tr, uint32_t cylinder, uint64_t from, uint64_t to,
		      double *rev)
{
	uint32_t q = cylinder;
	const struct sp__pzone *z = tr->zones;
	double sum = 0;

	while (z < tr->zones + tr->nzones && from >= z->tracks && to >= z->tracks) {
		from -= z->tracks;
		to -= z->tracks;
		z++;
	}
	if (z == tr->zones + tr->nzones || from >= z->tracks || to >= z->tracks || !z->nskew)
		return false;
	q = z->nskew > 1 ? z->nskew : q;
	if (!q || sp__absdiff(from, to) % q)
		return false;
	for (uint32_t k = 0; k < z->nskew; k++)
		sum += z->skew[k];
	*rev = sum / z->nskew * ((double)to - (double)from);
	return true;
}
