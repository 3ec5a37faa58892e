/* SPDX-License-Identifier: MIT */
/*
 * Charges joins of columns (columnjoin.h).
 *
 * Algorithm: a join compares two record numbers, and takes the time of a record.  It is made for
 * each value of each further column, or for each vector of them.
 *
 * Not modelled: lookups of the pages of columns, and the memory of the joins.
 */
#include "base/err.h"
#include "run/charge.h"
#include "table/read/columnjoin.h"

#define VECTOR_RECORDS 1024

int sp__columnjoin_set(struct sp__tablefile *f, enum sp_table_dsm_join join, struct sp_errinfo *err)
{
	f->dsm_join = join;
	if (!join)
		return 0;
	if (!f->env.device)
		return sp__errf(err, SP_EUNSUP, "open", f->path, -1,
				"joins of columns take virtual time, which a file does not have: "
				"choose --volume=sim:MODEL, or --dsm-join=none");
	if (f->layout.strip_max || f->layout.lanes || f->layout.ngroups != f->layout.ncolumns)
		return sp__errf(err, SP_EUNSUP, "open", f->path, -1,
				"only the layout dsm, with no columns together, joins columns: "
				"choose --dsm-join=none, or convert with --layout=dsm");
	return 0;
}

void sp__columnjoin_charge(const struct sp__tablefile *f, uint64_t records, uint32_t joins)
{
	if (!f->dsm_join)
		return;
	if (f->dsm_join == SP_TABLE_JOIN_VECTOR)
		records = (records + VECTOR_RECORDS - 1) / VECTOR_RECORDS;
	sp__charge_work(&f->env, records * joins, 1, 0);
}
