/* SPDX-License-Identifier: MIT */
/*
 * Counts outstanding requests by location, in a hash table with open addressing.
 *
 * Invariants: the table is at most half full.  A location whose count is 0 again keeps its slot
 * until the table is rebuilt, so locations that were probed after it are found.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "observe/locations.h"

#define SLOTS_FIRST 1024

struct sp__location_slot {
	uint64_t sector;
	unsigned dev, count; /* count 0: free, or removed */
	bool used;
};

int sp__locations_open(struct sp__locations *p)
{
	*p = (struct sp__locations){ .nslots = SLOTS_FIRST };
	p->slots = calloc(p->nslots, sizeof(*p->slots));
	return p->slots ? 0 : -ENOMEM;
}

void sp__locations_close(struct sp__locations *p)
{
	free(p->slots);
}

static struct sp__location_slot *find(const struct sp__locations *p, unsigned dev, uint64_t sector)
{
	size_t i = sp__mix64(sector * 31 + dev) & (p->nslots - 1);

	while (p->slots[i].used && (p->slots[i].sector != sector || p->slots[i].dev != dev))
		i = (i + 1) & (p->nslots - 1);
	return &p->slots[i];
}

/* Drops removed locations; afterwards the table is at most a quarter full. */
static bool rebuild(struct sp__locations *p)
{
	struct sp__location_slot *old = p->slots;
	size_t n = p->nslots, live = 0;

	for (size_t i = 0; i < n; i++)
		live += old[i].count > 0;
	while (p->nslots < 4 * (live + 256))
		p->nslots *= 2;
	p->slots = calloc(p->nslots, sizeof(*p->slots));
	if (!p->slots) {
		p->slots = old;
		p->nslots = n;
		return false;
	}
	p->nused = live;
	for (size_t i = 0; i < n; i++)
		if (old[i].count)
			*find(p, old[i].dev, old[i].sector) = old[i];
	free(old);
	return true;
}

int sp__locations_add(struct sp__locations *p, unsigned dev, uint64_t sector)
{
	struct sp__location_slot *s;

	if (p->nused * 2 >= p->nslots && !rebuild(p))
		return -ENOMEM;
	s = find(p, dev, sector);
	p->nused += !s->used;
	*s = (struct sp__location_slot){
		.sector = sector, .dev = dev, .count = s->count + 1, .used = true
	};
	p->n++;
	return 0;
}

bool sp__locations_take(struct sp__locations *p, unsigned dev, uint64_t sector)
{
	struct sp__location_slot *s = find(p, dev, sector);

	if (!s->used || !s->count)
		return false;
	s->count--;
	p->n--;
	return true;
}

void sp__locations_clear(struct sp__locations *p)
{
	memset(p->slots, 0, p->nslots * sizeof(*p->slots));
	p->nused = 0;
	p->n = 0;
}
