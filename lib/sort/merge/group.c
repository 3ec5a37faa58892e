/* SPDX-License-Identifier: MIT */
/* Writes the number of a group of equal keys before its record. */
#include <string.h>
#include "sort/merge/group.h"
#include "sort/records/counted.h"

/* Returns the byte after a number. */
static char separator(const struct sp_recfmt *f)
{
	return f->kind == SP_REC_CSV ? f->separator : ' ';
}

void sp__group_give(struct sp__group *g, const struct sp_recfmt *f, struct sp__balance *b,
		    const char **data, size_t *bytes)
{
	char *rec = g->held.data + SP__COUNT_SPACE, *p = rec;

	sp__tally_add(&b->given, rec, g->held.bytes - SP__COUNT_SPACE);
	b->counted += g->number;
	*--p = separator(f);
	for (; g->number; g->number /= 10)
		*--p = (char)('0' + g->number % 10);
	while (p > rec - sp__counted_bytes(f))
		*--p = ' ';
	*data = p;
	*bytes = g->held.bytes - (size_t)(p - g->held.data);
}

const char *sp__uncounted(const struct sp_recfmt *f, const char *rec)
{
	rec += strspn(rec, " ");
	return strchr(rec, separator(f)) + 1;
}
