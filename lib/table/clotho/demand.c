/* SPDX-License-Identifier: MIT */
/*
 * Counts demands (demand.h).
 */
#include <errno.h>
#include <stdlib.h>
#include "table/clotho/demand.h"

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
