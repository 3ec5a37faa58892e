/* SPDX-License-Identifier: MIT */
#include "flow/iter.h"

void sp__waits_add(struct sp__waits *w, sp__wait_fn *block, void *operator)
{
	if (w->n < SP__WAITS_MAX) {
		w->wait[w->n].block = block;
		w->wait[w->n++].operator= operator;
	}
}

int sp__waits_block(struct sp__waits *w)
{
	int rc = w->n ? w->wait[0].block(w->wait[0].operator) : SP_ESTATE;

	w->n = 0;
	return rc;
}

int sp__iter_next(struct sp__iter *it, struct sp__waits *w, struct sp_batch *batch)
{
	int rc;

	while ((rc = it->next(it->operator, batch)) == SP_LATER) {
		rc = sp__waits_block(w);
		if (rc < 0)
			return rc;
	}
	return rc;
}
