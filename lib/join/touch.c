/* SPDX-License-Identifier: MIT */
#include "base/minmax.h"
#include "join/touch.h"
#include "run/memory.h"

/* Of one step: a huge page. */
#define STEP_BYTES (2u << 20)
/* So much is worth a task. */
#define ENOUGH_BYTES (16u << 20)

static void touch(void *touching)
{
	struct sp__touching *t = touching;

	for (uint64_t at = 0; at < t->bytes && !t->stop; at += STEP_BYTES)
		sp__pages_touch(t->at + at, sp__min(t->bytes - at, STEP_BYTES));
}

void sp__touching_begin(struct sp__touching *t, const struct sp__stage *s)
{
	const struct sp__join *j = s->h->j;
	struct sp__table *table = &s->h->table;

	*t = (struct sp__touching){ .at = table->mem };
	t->bytes = sp__min(s->resident_bytes, sp__min(table->mem_bytes, table->limit_bytes));
	t->bytes -= t->bytes % table->page_bytes;
	/* Partitions that are read back come into the memory of those before them. */
	if (!s->depth && !j->env.device && t->bytes >= ENOUGH_BYTES &&
	    sp__threads(j->opts.run.parallel) > 1) {
		sp__task_start(&t->task, touch, t);
		table->touched = (uint32_t)(t->bytes / table->page_bytes);
	}
}

void sp__touching_end(struct sp__touching *t)
{
	t->stop = true;
	sp__task_join(&t->task);
}
