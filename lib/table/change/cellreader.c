/* SPDX-License-Identifier: MIT */
/*
 * Keeps one window of consecutive cells in memory.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "table/change/cellreader.h"

static uint64_t memory(const struct sp__cellreader *r)
{
	return (uint64_t)r->max * r->file->layout.cell_bytes;
}

int sp__cellreader_open(struct sp__cellreader *r, struct sp__tablefile *file,
			struct sp_errinfo *err)
{
	const uint32_t cell_bytes = file->layout.cell_bytes;

	*r = (struct sp__cellreader){ .file = file };
	r->max = sp__cellreader_max(cell_bytes);
	r->data = malloc((size_t)r->max * cell_bytes);
	if (!r->data)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	sp__budget_charge(&file->env.budget, memory(r));
	return 0;
}

void sp__cellreader_close(struct sp__cellreader *r)
{
	if (r->data)
		sp__budget_credit(&r->file->env.budget, memory(r));
	free(r->data);
	*r = (struct sp__cellreader){ 0 };
}

int sp__cellreader_get(struct sp__cellreader *r, uint64_t cell, uint64_t end, const uint8_t **data,
		       struct sp_errinfo *err)
{
	int rc;

	if (cell < r->first || cell - r->first >= r->cells) {
		r->first = cell;
		r->cells = 0;
		rc = sp__tablefile_read(r->file, cell, sp__min(end - cell, r->max), r->data, err);
		if (rc)
			return rc;
		r->cells = sp__min(end - cell, r->max);
	}
	*data = r->data + (cell - r->first) * r->file->layout.cell_bytes;
	return 0;
}
