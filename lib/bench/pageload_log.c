/* SPDX-License-Identifier: MIT */
/*
 * Writes the log of an update.
 *
 * Algorithm: changed pages add records.  They are written in order, one write at a time, one second
 * after the first record or when they fill the largest write.  The query does not wait for them.
 */
#include "base/minmax.h"
#include "bench/pageload.h"

#define INTERVAL_NS 1000000000

void sp__pagelog_changed(struct sp__pageload *l, uint64_t now_ns)
{
	if (!l->log.write_ns)
		l->log.write_ns = now_ns + INTERVAL_NS;
	l->log.bytes += l->opts.log_bytes;
}

void sp__pagelog_run(struct sp__pageload *l, uint64_t now_ns)
{
	struct sp__pagelog *g = &l->log;

	g->due = g->bytes >= SP__PAGELOG_MAX_BYTES || (g->bytes && g->write_ns <= now_ns);
	if (g->bytes && !g->due)
		sp__pageload_due(l, g->write_ns);
}

bool sp__pagelog_next(struct sp__pageload *l, struct sp__pagereq *r)
{
	const uint32_t all = SP__PAGELOG_BYTES / SP__PAGELOG_BLOCK_BYTES;
	struct sp__pagelog *g = &l->log;
	uint64_t bytes = sp__min(g->bytes, SP__PAGELOG_MAX_BYTES);

	if (!g->due || l->taken[SP__PAGE_LOG])
		return false;
	*r = (struct sp__pagereq){ .n = (uint32_t)((bytes + SP__PAGELOG_BLOCK_BYTES - 1) /
						   SP__PAGELOG_BLOCK_BYTES) };
	if (g->block + r->n > all)
		g->block = 0;
	r->page = g->block;
	g->block += r->n;
	g->bytes -= bytes;
	g->due = false;
	if (!g->bytes)
		g->write_ns = 0;
	return true;
}
