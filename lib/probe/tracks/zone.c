/* SPDX-License-Identifier: MIT */
/* Computes where tracks of a zone begin, from its pattern of lengths and its odd tracks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "probe/tracks/zone.h"

static uint64_t pattern_blocks(const struct sp__pzone *z, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += z->lens[i];
	return sum;
}

uint64_t sp__pzone_round(const struct sp__pzone *z)
{
	return pattern_blocks(z, z->nlens);
}

uint64_t sp__pzone_start(const struct sp__pzone *z, uint64_t track)
{
	uint64_t lbn = z->first_lbn + track / z->nlens * pattern_blocks(z, z->nlens) +
		       pattern_blocks(z, (uint32_t)(track % z->nlens));

	for (size_t i = 0; i < z->nodd && z->odd[i].track < track; i++)
		lbn -= z->odd[i].missing;
	return lbn;
}

uint32_t sp__pzone_length(const struct sp__pzone *z, uint64_t track)
{
	return z->lens[track % z->nlens];
}

void sp__pzone_clear(struct sp__pzone *z)
{
	free(z->lens);
	free(z->odd);
	free(z->skew);
	*z = (struct sp__pzone){ 0 };
}

double sp__pzone_usual_skew(const struct sp__pzone *z)
{
	uint32_t votes = 0;
	double usual = 0;

	for (uint32_t i = 0; i < z->nskew && votes <= z->nskew / 2; i++) {
		uint32_t same = 0;

		for (uint32_t k = 0; k < z->nskew; k++)
			same += sp__skew_alike(z->skew[i], z->skew[k]);
		if (same > votes) {
			votes = same;
			usual = z->skew[i];
		}
	}
	return usual;
}

int sp__pzone_add_odd(struct sp__pzone *z, size_t at, uint64_t track, uint32_t missing)
{
	struct sp__oddtrack *odd;

	if (!SP__ARRAY_RESIZE(z->odd, z->nodd + 1))
		return -ENOMEM;
	odd = z->odd;
	memmove(&odd[at + 1], &odd[at], (z->nodd - at) * sizeof(*odd));
	odd[at] = (struct sp__oddtrack){ track, missing };
	z->nodd++;
	return 0;
}
