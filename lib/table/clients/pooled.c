/* SPDX-License-Identifier: MIT */
/* Lets the steps of clients use the frames of a pool (client.h). */
#include "base/err.h"
#include "base/minmax.h"
#include "table/clients/client.h"

int sp__client_begin_pooled(struct sp__client *c, struct sp__client_table *t, bool change)
{
	struct sp__clotho_user *u = &t->pool.user;
	const bool few = c->line->steps[c->step].kind != SP__STEP_SCAN;

	if (!t->file.pool || (!change && !c->nwindows))
		return 0;
	for (unsigned i = 0; i < c->nwindows; i++) {
		c->windows[i].max_frames =
			sp__max(sp__clotho_share(u) / c->all->nclients / c->nwindows, 1);
		c->windows[i].few = few;
		c->windows[i].passes =
			!few && sp__clotho_exceeds(u, &c->windows[0].set, c->ranges.end);
	}
	/* Gets have no part in the column groups of frames. */
	if (few && !change)
		return 0;
	c->set = change ? sp__clotho_all(&t->file.layout) : c->windows[0].set;
	c->begun = !sp__clotho_begin(u, &c->set);
	return c->begun ? 0 : -ENOMEM;
}

void sp__client_end_pooled(struct sp__client *c, struct sp__client_table *t)
{
	if (c->pin.frame)
		sp__clotho_unpin(&c->pin);
	if (c->begun)
		sp__clotho_end(&t->pool.user, &c->set);
	c->begun = false;
}

int sp__client_pin(struct sp__client *c, struct sp__client_table *t, uint64_t record)
{
	int rc = sp__clotho_pin_write(&t->pool.user, record / t->file.layout.page_records, &c->pin);

	if (rc < 0)
		return sp__err(c->all->err, rc, "read", t->file.path, -1);
	if (rc == SP_READY)
		return rc;
	/* SP_END: all frames are pinned, by clients that read. */
	rc = sp__requests_flush(&c->all->requests);
	return rc ? rc : SP_LATER;
}

/* Lets the changed cells of column group g of an A-page leave. */
static void leave_page(struct sp__clients *all, const struct sp__client_table *t, uint64_t page,
		       uint32_t g)
{
	const struct sp__table_layout *l = &t->file.layout;
	const uint64_t cell = sp__layout_cell(l, page, g, 0);

	for (uint32_t j = 0; j < l->groups[g].cells; j++)
		sp__changed_leave(&all->changed, t->number,
				  sp__map_cell(&t->file.map, SP__AREA_DATA, cell + j));
}

void sp__clients_leave(void *all, const struct sp__clotho_frame *f)
{
	struct sp__clients *a = all;
	const struct sp__client_table *t = a->tables;

	while (t->pool.user.table != f->table)
		if (++t == a->tables + a->ntables)
			return;
	for (uint64_t i = 0; i < f->pages; i++)
		for (uint32_t g = 0; f->entries[i].frame && g < t->file.layout.ngroups; g++)
			if (sp__groupset_has(&f->set, g))
				leave_page(a, t, f->first + i, g);
}
