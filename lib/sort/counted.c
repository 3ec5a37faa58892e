/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include "sort/balance.h"
#include "sort/counted.h"

#define ROOM 32 /* for any number */

int sp__group_hold(struct sp__group *g, const char *rec, size_t bytes, uint64_t number,
		   struct sp__budget *budget)
{
	static const char room[ROOM];

	g->number = number;
	if (sp__bytes_set(&g->held, room, sizeof(room), budget) < 0 ||
	    sp__bytes_append(&g->held, rec, bytes, budget) < 0)
		return -ENOMEM;
	return 0;
}

void sp__group_give(struct sp__group *g, struct sp__balance *b, const char **data, size_t *bytes)
{
	char *rec = g->held.data + ROOM, *p = rec;

	sp__tally_add(&b->given, rec, g->held.bytes - ROOM);
	b->counted += g->number;
	*--p = ' ';
	for (; g->number; g->number /= 10)
		*--p = (char)('0' + g->number % 10);
	while (p > rec - SP__COUNTED_BYTES)
		*--p = ' ';
	*data = p;
	*bytes = g->held.bytes - (size_t)(p - g->held.data);
}
