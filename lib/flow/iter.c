/* SPDX-License-Identifier: MIT */
#include "flow/iter.h"

void sp__waits_add(struct sp__waits *w, sp__wait_fn *block, void *operator)
{
	if (!w->block)
		*w = (struct sp__waits){ block, operator};
}

int sp__waits_block(struct sp__waits *w)
{
	int rc = w->block ? w->block(w->operator) : SP_ESTATE;

	*w = (struct sp__waits){ 0 };
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
