/* SPDX-License-Identifier: MIT */
/*
 * Opens and closes tables, and locks them for commands.  Names the values of public enums.
 */
#include <stdlib.h>
#include <spindle/pool.h>
#include <spindle/rec.h>
#include <spindle/table.h>
#include "base/enum.h"
#include "base/err.h"
#include "table/file/commit.h"
#include "table/read/choice.h"
#include "table/state.h"

SP__ENUM_TABLE(sp_table_layout, { "nsm", SP_TABLE_NSM }, { "pax", SP_TABLE_PAX },
	       { "dsm", SP_TABLE_DSM }, { "csm", SP_TABLE_CSM }, { "auto", SP_TABLE_AUTO })
/* A schema has these numbers, too. */
_Static_assert((int)SP_TABLE_TEXT == SP_REC_LINE && (int)SP_TABLE_CSV == SP_REC_CSV &&
		       (int)SP_TABLE_FIXED == SP_REC_FIXED,
	       "formats of tables and of records have the same numbers");
SP__ENUM_TABLE(sp_table_format, { "text", SP_TABLE_TEXT }, { "csv", SP_TABLE_CSV },
	       { "fixed", SP_TABLE_FIXED }, { "json", SP_TABLE_JSON })
SP__ENUM_TABLE(sp_table_access, { "auto", SP_TABLE_ACCESS_AUTO }, { "s-scan", SP_TABLE_S_SCAN },
	       { "si-scan", SP_TABLE_SI_SCAN }, { "index", SP_TABLE_BY_INDEX })
SP__ENUM_TABLE(sp_table_dsm_join, { "none", SP_TABLE_JOIN_NONE }, { "tuple", SP_TABLE_JOIN_TUPLE },
	       { "vector", SP_TABLE_JOIN_VECTOR })
SP__ENUM_TABLE(sp_pool_manager, { "F", SP_POOL_FULL }, { "S", SP_POOL_QUERY },
	       { "D", SP_POOL_DYNAMIC })
SP__ENUM_TABLE(sp_pool_update_unit, { "cells", SP_POOL_CELLS }, { "page", SP_POOL_PAGE })

int sp_table_open(struct sp_table **table, const char *path, const struct sp_table_opts *opts,
		  struct sp_errinfo *err)
{
	struct sp_table *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return sp__err(err, -ENOMEM, "open", path, -1);
	rc = sp__tablefile_open(&t->file, path, &opts->run, opts->write, err);
	t->file.depth = opts->depth;
	t->file.progress = opts->progress;
	t->file.progress_arg = opts->progress_arg;
	if (!rc && opts->pool)
		rc = sp__clotho_attach_file(&t->pool, &t->file, opts->pool, err);
	if (!rc)
		rc = sp__columnjoin_set(&t->file, opts->dsm_join, err);
	if (rc)
		(void)sp_table_close(t);
	else
		*table = t;
	return rc;
}

int sp_table_close(struct sp_table *t)
{
	int rc;

	if (!t)
		return 0;
	sp__table_forget(t);
	free(t->lost);
	sp__clotho_detach_file(&t->pool);
	rc = sp__tablefile_close(&t->file);
	free(t);
	return rc;
}

int sp__table_begin_reading(struct sp_table *t, bool values, struct sp_errinfo *err)
{
	if (values && sp__tablefile_blank(&t->file, err))
		return SP_EUNSUP;
	t->file.env.err = err;
	t->file.io = (struct sp__io_counters){ 0 };
	return sp__tablefile_begin_reading(&t->file, err);
}

void sp__table_end_reading(struct sp_table *t)
{
	sp__tablefile_end_reading(&t->file);
	t->file.env.err = &t->file.env.own_err;
}

int sp__table_begin_change(struct sp_table *t, bool values, struct sp_table_stats *stats,
			   struct sp_errinfo *err)
{
	struct sp__tablefile *f = &t->file;

	if (!f->cells.write || f->unfinished)
		return sp__errf(err, SP_ESTATE, "change", f->path, -1,
				f->cells.write ? "an error has ended its use: open it again"
					       : "is open for reading only");
	if (values && sp__tablefile_blank(f, err))
		return SP_EUNSUP;
	*stats = (struct sp_table_stats){ 0 };
	f->io = (struct sp__io_counters){ 0 };
	f->cells_read = f->cells_written = 0;
	f->env.err = err;
	return 0;
}

void sp__table_note_change(const struct sp__tablefile *f, struct sp_table_stats *stats)
{
	if (f->pool)
		sp__clotho_note(f->pool, stats);
	stats->cells_written = f->cells_written;
	stats->journal_cells = f->redo.cells;
	stats->journal_bytes = f->redo.at;
}

int sp__table_end_change(struct sp_table *t, int rc)
{
	if (rc)
		sp__tablefile_cut(&t->file);
	else if (t->file.pool)
		sp__clotho_commit(&t->pool);
	return rc;
}
