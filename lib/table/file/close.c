/* SPDX-License-Identifier: MIT */
/*
 * Closes the file of a table, and removes a new one that was not published.
 */
#include <stdlib.h>
#include <unistd.h>
#include <spindle/outfile.h>
#include "table/file/commit.h"
#include "table/file/volumes.h"

/* Closes a file that is being created. */
static void discard(struct sp__tablefile *f)
{
	sp_outfile_close(f->out, NULL);
	if (f->creation.n && !f->published) {
		f->creation.err = NULL;
		(void)!sp__creation_end(&f->creation, -ECANCELED);
	}
	if (f->replaced >= 0)
		close(f->replaced);
}

int sp__tablefile_close(struct sp__tablefile *f)
{
	int rc = 0;

	if (!f->creating)
		sp__tablefile_cut(f);
	sp__queue_close(f->queue);
	sp__volume_close(f->volume);
	sp__tablevolumes_close(f);
	if (f->creating)
		discard(f);
	else if (f->fd >= 0)
		close(f->fd);
	free(f->directory.cells);
	free(f->tombstones.cells);
	free(f->entries);
	sp__map_free(&f->map);
	sp__table_schema_free(&f->schema);
	if (f->env.opts) {
		f->env.err = &f->env.own_err;
		rc = sp__env_close(&f->env);
	}
	sp__layout_free(&f->layout);
	sp__table_superblock_free(&f->superblock);
	free(f->array);
	free(f->path);
	*f = (struct sp__tablefile){ .fd = -1, .replaced = -1 };
	return rc;
}
