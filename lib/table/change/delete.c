/* SPDX-License-Identifier: MIT */
/*
 * Sets bits of tombstones in ascending order.  The area keeps a cell in memory; a bit is set there
 * immediately, since a caller that reads the bits of a later record exchanges the cell.
 */
#include "run/charge.h"
#include "table/change/delete.h"
#include "table/file/redo.h"
#include "table/file/tombstones.h"

int sp__tabledelete_open(struct sp__tabledelete *d, struct sp__tablefile *file,
			 struct sp_errinfo *err)
{
	*d = (struct sp__tabledelete){ .file = file, .err = err };
	return sp__redo_begin(file, file->tombstones.written, err);
}

void sp__tabledelete_close(struct sp__tabledelete *d)
{
	if (d->file && d->file->redo.open)
		sp__redo_abandon(d->file);
	*d = (struct sp__tabledelete){ 0 };
}

int sp__tabledelete_put(struct sp__tabledelete *d, uint64_t record)
{
	const uint64_t first = record / 8 * 8;
	const uint8_t bit = (uint8_t)(1u << (record % 8));
	uint8_t bits;
	int rc = sp__tombstones_read(d->file, first, 8, &bits, d->err);

	if (rc || bits & bit)
		return rc;
	bits |= bit;
	d->records++;
	return sp__tombstones_write(d->file, first, 8, &bits, d->err);
}

int sp__tabledelete_finish(struct sp__tabledelete *d)
{
	sp__charge_work(&d->file->env, d->records, 0, 0);
	d->file->superblock.deleted += d->records;
	return sp__tablefile_commit(d->file, d->err);
}
