/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "spill/space.h"
#include "tap.h"

#define UNITS 4000

static void lowest_first(void)
{
	struct sp__space s = { 0 };
	uint64_t unit;

	ok(sp__space_take(&s, 10, &unit) == 10 && unit == 0, "an empty file grows from its begin");
	ok(sp__space_take(&s, 3, &unit) == 3 && unit == 10, "in one extent");
	(void)!sp__space_give(&s, 7);
	(void)!sp__space_give(&s, 2);
	(void)!sp__space_give(&s, 3);
	ok(sp__space_take(&s, 5, &unit) == 2 && unit == 2, "free units come lowest first, adjacent "
							   "ones together");
	ok(sp__space_take(&s, 1, &unit) == 1 && unit == 7, "then the next");
	ok(sp__space_take(&s, 2, &unit) == 2 && unit == 13, "then the file grows again");
	ok(s.recycled == 3 && s.end == 15 && s.used == 15, "all of it is counted");
	sp__space_drop(&s, 4);
	ok(s.used == 11 && s.nfree == 0, "dropped units are not free");
	sp__space_release(&s);
}

/* Against a plain list of owners. */
static void model(void)
{
	static bool taken[UNITS];
	struct sp__space s = { 0 };
	struct sp__rng rng = { 3 };
	uint64_t used = 0, end = 0, unit;
	bool good = true;

	for (int step = 0; step < 20000 && good; step++) {
		if (sp__rng_below(&rng, 2) && end < UNITS - 50) {
			uint32_t want = 1 + (uint32_t)sp__rng_below(&rng, 20), got;
			uint64_t lowest = 0;

			got = sp__space_take(&s, want, &unit);
			while (lowest < end && taken[lowest])
				lowest++;
			good = unit == lowest && got > 0 && got <= want;
			for (uint32_t i = 0; i < got && good; i++) {
				good = !taken[unit + i] && (lowest == end || unit + i < end);
				taken[unit + i] = true;
			}
			if (unit + got > end)
				end = unit + got;
			used += got;
		} else if (used) {
			do
				unit = sp__rng_below(&rng, end);
			while (!taken[unit]);
			taken[unit] = false;
			good = sp__space_give(&s, unit) == 0;
			used--;
		}
		good = good && s.used == used && s.end == end;
	}
	ok(good, "20000 random steps: no unit has two owners, the lowest free one is next");
	sp__space_release(&s);
}

int main(void)
{
	lowest_first();
	model();
	return done();
}
