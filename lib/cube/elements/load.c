/* SPDX-License-Identifier: MIT */
/*
 * A load of all elements.  The head counts the layers that are complete, so that an interrupted
 * load can go on.
 *
 * The elements of a complete cube are kept until the new ones are complete: these go to a fragment
 * of their own.  If the volumes have no space for it, the elements are written over the old ones;
 * then an input is first known to have the right length, and a pipe is copied to a file for that.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "base/err.h"
#include "base/whole.h"
#include "cube/elements/csv.h"
#include "cube/elements/elements.h"
#include "cube/elements/loading.h"

/* Writes down how many layers of the input's slowest dimension are complete. */
static int note_layers(struct sp__loading *l, uint64_t layers, bool end)
{
	struct sp__cube_superblock *h = &l->file->superblock;
	int rc;

	l->noted = 0;
	h->loaded = layers;
	h->complete = end;
	h->marking &= !end;
	h->loading = end ? SP__LOADING_NONE : SP__LOADING_ALL;
	memcpy(h->load_order, l->order, sizeof(h->load_order));
	rc = sp__cube_sync(l->file, l->err);
	return rc ? rc : sp__cube_superblock_write(h, l->file->fd, l->file->path, l->err);
}

static int note_progress(struct sp__loading *l, uint64_t layer)
{
	return l->noted < l->file->progress_bytes ? 0 : note_layers(l, layer, false);
}

/* The layer at which to go on, or 0. */
static int find_first(struct sp__loading *l, bool resume, uint64_t *first)
{
	const struct sp__cube_superblock *h = &l->file->superblock;
	unsigned slowest = l->order[h->shape.ndims - 1];

	*first = resume ? h->loaded : 0;
	if (*first < h->shape.dims[slowest])
		*first -= *first % sp__cube_superblock_unit(h, slowest);
	if (*first && memcmp(h->load_order, l->order, h->shape.ndims * sizeof(*l->order)))
		return sp__errf(l->err, SP_ESYNTAX, "load", l->file->path, -1,
				"the order differs from that of the load to go on with");
	return l->input.seekable ? 0
				 : sp__loadinput_skip(&l->input, *first * l->input.pitch[slowest]);
}

/*
 * What was there is incomplete from now on, and was never written if all is loaded again.  An
 * input whose first elements cannot be read has changed nothing.
 */
static int begin(struct sp__loading *l)
{
	struct sp__cube_superblock *h = &l->file->superblock;
	int rc;

	h->complete = false;
	h->loading = SP__LOADING_ALL;
	h->loaded = l->layer;
	memcpy(h->load_order, l->order, sizeof(h->load_order));
	rc = sp__cube_superblock_write(h, l->file->fd, l->file->path, l->err);
	if (!rc)
		rc = sp__cube_begin_change(l->file, l->err);
	for (size_t i = 0; !rc && !l->layer && i < h->fragments.n; i++) {
		const struct sp__fragment *p = h->fragments.list[i];

		rc = sp__write_zeros(l->file->fd, p->table_block * h->block_bytes,
				     sp__extents_table_end(h, p) * h->block_bytes, l->file->path,
				     l->err);
	}
	return rc;
}

static int check_opts(const struct sp__loading *l, const struct sp_cube_load_opts *opts,
		      const char *name)
{
	for (unsigned i = 0; i < SP_CUBE_DIMS_MAX; i++)
		if (opts->rollup[i])
			return sp__errf(l->err, SP_ESYNTAX, "load", name, -1,
					"only the coordinates of CSV are rolled up");
	return l->file->superblock.no_data ? sp__errf(l->err, SP_EUNSUP, "load", l->file->path, -1,
						      "the cube was made without data")
					   : 0;
}

/* Writes the elements to their locations. */
static int load_in_place(struct sp__loading *l, bool resume)
{
	const struct sp__cube_superblock *h = &l->file->superblock;
	uint64_t first;
	int rc;

	l->begin = begin;
	l->progress = note_progress;
	rc = sp__loading_open(l);
	if (!rc)
		rc = find_first(l, resume, &first);
	if (!rc)
		rc = sp__loading_slabs(l, first);
	sp__loading_close(l);
	if (!rc)
		rc = sp__loadinput_end(&l->input);
	return rc ? rc : note_layers(l, h->shape.dims[l->order[h->shape.ndims - 1]], true);
}

/* A complete cube has nothing to go on with: there, too, resume loads all. */
static int run_load(struct sp__loading *l, const char *name, const struct sp_cube_load_opts *opts)
{
	struct sp__cube_superblock *h = &l->file->superblock;
	int rc = check_opts(l, opts, name);

	if (!rc)
		rc = sp__put_settle(l->file, l->err);
	if (!rc)
		rc = sp__loadinput_open(&l->input, l->file, name, opts, h->shape.dims, l->err);
	memcpy(l->order, l->input.order, sizeof(l->order));
	l->whole = h->complete;
	if (!rc)
		rc = h->complete ? sp__loading_aside(l) : 1;
	if (rc > 0)
		rc = load_in_place(l, opts->resume && !h->complete);
	sp__loadinput_close(&l->input);
	return rc;
}

int sp__elements_load(struct sp__cubefile *file, const char *input,
		      const struct sp_cube_load_opts *opts, struct sp_cube_stats *stats,
		      struct sp_errinfo *err)
{
	struct sp__loading l = { .file = file, .stats = stats, .err = err, .input.fd = -1 };
	int rc;

	*stats = (struct sp_cube_stats){ 0 };
	sp__cube_hollow(file, false);
	rc = opts->format == SP_CUBE_CSV ? sp__csv_load(file, input, opts, stats, err)
					 : run_load(&l, input, opts);
	sp__env_note(&file->env, &stats->run, false);
	return rc;
}
