/* SPDX-License-Identifier: MIT */
/*
 * The multiset of locations compared with an array of counts, while locations are added and removed
 * often enough for the table to be rebuilt and to grow.
 */
#include "base/rng.h"
#include "observe/watch_trace.h"
#include "tap.h"

#define DEVS 3u
#define SECTORS 4096u
#define STEPS 200000

static unsigned count[DEVS][SECTORS];
static uint64_t total;

/* One location is added or removed; "may_add" of 8 times it comes. Do the two say the same? */
static bool step(struct sp__locations *p, struct sp__rng *rng, unsigned may_add)
{
	unsigned dev = (unsigned)(sp__rng_next(rng) % DEVS);
	unsigned sector = (unsigned)(sp__rng_next(rng) % SECTORS);
	bool had = count[dev][sector] > 0;

	if (sp__rng_next(rng) % 8 < may_add) {
		count[dev][sector]++;
		total++;
		return sp__locations_add(p, dev, sector) == 0 && p->n == total;
	}
	count[dev][sector] -= had;
	total -= had;
	return sp__locations_take(p, dev, sector) == had && p->n == total;
}

static bool walk(struct sp__locations *p, struct sp__rng *rng, unsigned may_add)
{
	bool same = true;

	for (unsigned i = 0; i < STEPS && same; i++)
		same = step(p, rng, may_add);
	return same;
}

/* Takes out all that the array knows, and then one more of each. */
static bool empty(struct sp__locations *p)
{
	bool same = true;

	for (unsigned dev = 0; dev < DEVS; dev++)
		for (unsigned sector = 0; sector < SECTORS; sector++) {
			for (; count[dev][sector]; count[dev][sector]--)
				same &= sp__locations_take(p, dev, sector);
			same &= !sp__locations_take(p, dev, sector);
		}
	total = 0;
	return same && p->n == 0;
}

int main(void)
{
	struct sp__locations p, none = { 0 };
	struct sp__rng rng = { 7 };
	bool opened = sp__locations_open(&p) == 0;

	ok(opened && !sp__locations_take(&p, 1, 0), "a new set is empty");
	if (!opened)
		return done();
	ok(walk(&p, &rng, 5), "a set that grows counts as the array does");
	ok(walk(&p, &rng, 2), "one that shrinks does");
	ok(walk(&p, &rng, 4), "one that does neither does");
	ok(empty(&p), "all that was put in comes out, and no more");
	ok(sp__locations_add(&p, 0, UINT64_MAX) == 0 && !sp__locations_take(&p, 1, UINT64_MAX) &&
		   sp__locations_take(&p, 0, UINT64_MAX),
	   "sectors of other devices are others");
	ok(sp__locations_add(&p, 2, 5) == 0 && sp__locations_add(&p, 2, 5) == 0,
	   "a location counts twice");
	sp__locations_clear(&p);
	ok(p.n == 0 && !sp__locations_take(&p, 2, 5), "a cleared set is empty");
	sp__locations_close(&p);
	sp__locations_close(&none);
	return done();
}
