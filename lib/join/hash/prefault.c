/* SPDX-License-Identifier: MIT */
/* Touches the table's memory in a task (prefault.h). */
#include "base/minmax.h"
#include "join/hash/prefault.h"
#include "run/memory.h"

/* Bytes of one step: a huge page. */
#define STEP_BYTES (2u << 20)
/* Minimum bytes that justify a task. */
#define ENOUGH_BYTES (16u << 20)

static void run(void *prefault)
{
	struct sp__prefault *t = prefault;

	for (uint64_t at = 0; at < t->bytes && !t->stop; at += STEP_BYTES)
		sp__pages_touch(t->at + at, sp__min(t->bytes - at, STEP_BYTES));
}

void sp__prefault_begin(struct sp__prefault *t, const struct sp__stage *s)
{
	const struct sp__hash *h = s->h;
	struct sp__table *table = &s->h->table;

	*t = (struct sp__prefault){ .at = table->mem };
	t->bytes = sp__min(s->resident_bytes, sp__min(table->mem_bytes, table->limit_bytes));
	t->bytes -= t->bytes % table->page_bytes;
	/* Partitions that are read back reuse the memory of earlier ones. */
	if (!s->depth && !h->env->device && t->bytes >= ENOUGH_BYTES &&
	    sp__threads(h->opts->run.parallel) > 1) {
		sp__task_start(&t->task, run, t);
		table->touched = (uint32_t)(t->bytes / table->page_bytes);
	}
}

void sp__prefault_end(struct sp__prefault *t)
{
	t->stop = true;
	sp__task_join(&t->task);
}
