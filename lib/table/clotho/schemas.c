/* SPDX-License-Identifier: MIT */
/*
 * Keeps the page schemas of a table, and counts the demands of queries.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "table/clotho/schemas.h"

int sp__demands_open(struct sp__clotho_demands *d, uint64_t frames)
{
	for (d->n = SP__DEMANDS_MAX / 2; d->n < frames * SP__DEMANDS_MAX / 2;)
		d->n *= 2;
	d->list = calloc(d->n, sizeof(*d->list));
	return d->list ? 0 : -ENOMEM;
}

void sp__demands_close(struct sp__clotho_demands *d)
{
	free(d->list);
	d->list = NULL;
}

bool sp__demands_add(struct sp__clotho_demands *d, uint64_t key, uint64_t bytes, uint64_t wanted,
		     uint64_t used, uint64_t now)
{
	struct sp__clotho_demand *at = &d->list[key & (d->n - 1)];

	if (at->since < used)
		at->bytes = 0;
	if (at->key != key && at->bytes > bytes) {
		at->bytes -= bytes;
		return false;
	}
	if (at->key != key || !at->bytes)
		*at = (struct sp__clotho_demand){ .key = key, .since = now };
	at->bytes += bytes;
	if (at->bytes < wanted)
		return false;
	at->bytes = 0;
	return true;
}

/* Adds a query's set to page schemas, which have space for it.  Returns true if they change. */
static bool merge(struct sp__groupsets *pages, const struct sp__groupset *query)
{
	struct sp__groupset merged = *query;
	size_t kept = 0;

	for (size_t i = 0; i < pages->n; i++)
		if (sp__groupset_contains(&pages->list[i], query))
			return false;
	for (size_t i = 0; i < pages->n; i++)
		if (sp__groupset_meets(&pages->list[i], query))
			sp__groupset_join(&merged, &pages->list[i]);
		else
			pages->list[kept++] = pages->list[i];
	pages->list[kept] = merged;
	pages->n = kept + 1;
	return true;
}

void sp__schemas_free(struct sp__schemas *s)
{
	free(s->queries.list);
	free(s->pages.list);
	*s = (struct sp__schemas){ 0 };
}

int sp__schemas_begin(struct sp__schemas *s, const struct sp__groupset *query)
{
	/* Page schemas are at most as many as queries. */
	if (!SP__ARRAY_GROW(s->queries.list, s->queries.capacity, s->queries.n + 1) ||
	    !SP__ARRAY_GROW(s->pages.list, s->pages.capacity, s->queries.n + 1))
		return -ENOMEM;
	s->queries.list[s->queries.n++] = *query;
	s->changes += merge(&s->pages, query);
	return 0;
}

void sp__schemas_end(struct sp__schemas *s, const struct sp__groupset *query)
{
	const struct sp__groupset before = *sp__schemas_find(s, query);
	struct sp__groupset *all = s->queries.list;
	size_t i = 0;

	while (memcmp(&all[i], query, sizeof(*query)))
		i++;
	memmove(&all[i], &all[i + 1], (--s->queries.n - i) * sizeof(*all));
	s->pages.n = 0;
	for (i = 0; i < s->queries.n; i++)
		(void)merge(&s->pages, &all[i]);
	s->changes += !sp__schemas_find(s, &before);
}

const struct sp__groupset *sp__schemas_find(const struct sp__schemas *s,
					    const struct sp__groupset *set)
{
	for (size_t i = 0; i < s->pages.n; i++)
		if (sp__groupset_contains(&s->pages.list[i], set))
			return &s->pages.list[i];
	return NULL;
}
