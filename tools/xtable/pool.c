/* SPDX-License-Identifier: MIT */
/*
 * Opens the buffer pool of a command.
 */
#include "xtable.h"

#define FRAME_BYTES (UINT64_C(4) << 20) /* at most, by default */
#define FRAMES 16			/* enough to read some ahead while others are used */
#define FRAMES_MIN 3			/* with their entries, by default */

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Returns the bytes of an A-page of a table. */
static uint64_t page_bytes(const struct config *c, const char *table)
{
	struct sp_table_opts o = { .run = c->run };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_info info;
	struct sp_table *t;
	uint64_t cells = 0;
	int rc;

	o.run.trace_path = o.run.trace_tasks_path = NULL;
	rc = sp_table_open(&t, table, &o, &err);
	if (!rc)
		rc = sp_table_info(t, false, &info, &err);
	if (rc)
		die_of(rc, &err);
	for (size_t i = 0; i < info.ngroups; i++)
		cells += info.groups[i].cells;
	cells *= info.cell_bytes;
	(void)sp_table_close(t);
	return cells;
}

/* Adds the memory of its entries to a frame. */
static uint64_t with_entries(uint64_t frame_bytes)
{
	return frame_bytes + frame_bytes / 16;
}

/*
 * Chooses the bytes of a frame.  One that has no space for two A-pages would get all columns, so it
 * has space for two if the pool then has enough frames.
 */
static uint64_t choose_frame(const struct config *c, uint64_t pool_bytes, unsigned tables)
{
	uint64_t bytes = pool_bytes / FRAMES < FRAME_BYTES ? pool_bytes / FRAMES : FRAME_BYTES;
	uint64_t page = 0;

	for (unsigned i = 0; i < tables; i++)
		page = max(page, page_bytes(c, c->operands.text[i]));
	if (FRAMES_MIN * with_entries(2 * page) <= pool_bytes)
		page *= 2;
	return max(bytes, page);
}

void open_pool(struct config *c, unsigned tables)
{
	const uint64_t memory = c->run.memory_bytes;
	struct sp_pool_opts *o = &c->pool_opts;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc;

	if (!c->pool_given)
		return;
	if (!o->frame_bytes)
		o->frame_bytes = choose_frame(c, o->bytes ? o->bytes : memory / 4, tables);
	if (!o->bytes)
		o->bytes = max(memory / 4, FRAMES_MIN * with_entries(o->frame_bytes));
	if (o->bytes > memory / 4 * 3)
		die("the pool of %llu bytes exceeds three quarters of the memory (-S), %llu bytes: "
		    "increase -S, or decrease --pool-size or --frame",
		    (unsigned long long)o->bytes, (unsigned long long)memory);
	rc = sp_pool_open(&c->pool, o, &err);
	if (rc)
		die_of(rc, &err);
	c->run.memory_bytes -= o->bytes;
}
