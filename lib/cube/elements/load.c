/* SPDX-License-Identifier: MIT */
/*
 * Loads all elements.
 *
 * The superblock counts complete layers, so an interrupted load can continue.
 *
 * A complete cube is loaded into a fragment of its own, and keeps its elements until the fragment
 * is complete.  If the volumes have no space for it, elements are overwritten; then the length of
 * the input is checked first, and a pipe is copied to a file for that.
 */
#include <string.h>
#include "base/err.h"
#include "base/whole.h"
#include "cube/elements/csv.h"
#include "cube/elements/elements.h"
#include "cube/elements/loading.h"

/* Writes what a load has done.  The last state, of a complete cube, ends the change. */
static int write_state(struct sp__cubefile *c, enum sp__cube_loading loading, const unsigned *order,
		       uint64_t layers, struct sp_errinfo *err)
{
	const bool complete = loading == SP__LOADING_NONE;

	sp__cube_set_progress(c, complete, loading, order, layers);
	return complete
		       ? sp__cube_end_change(c, err)
		       : sp__cube_superblock_write(&c->superblock, c->cells.first.fd, c->path, err);
}

int sp__load_begin(struct sp__cubefile *c, enum sp__cube_loading loading, const unsigned *order,
		   uint64_t layers, struct sp_errinfo *err)
{
	int rc = write_state(c, loading, order, layers, err);

	return rc ? rc : sp__cube_begin_change(c, err);
}

int sp__load_note(struct sp__cubefile *c, enum sp__cube_loading loading, const unsigned *order,
		  uint64_t layers, struct sp_errinfo *err)
{
	int rc = sp__cube_sync(c, err);

	return rc ? rc : write_state(c, loading, order, layers, err);
}

static int note_progress(struct sp__loading *l, uint64_t layer)
{
	if (l->noted < l->file->progress_bytes)
		return 0;
	l->noted = 0;
	return sp__load_note(l->file, SP__LOADING_ALL, l->order, layer, l->err);
}

/* Finds the layer at which to continue, or 0. */
static int find_first(struct sp__loading *l, bool resume, uint64_t *first)
{
	const struct sp__cube_superblock *h = &l->file->superblock;
	unsigned slowest = l->order[h->shape.ndims - 1];

	*first = resume ? h->loaded : 0;
	if (*first < h->shape.dims[slowest])
		*first -= *first % sp__cube_superblock_unit(h, slowest);
	if (*first && memcmp(h->load_order, l->order, h->shape.ndims * sizeof(*l->order)))
		return sp__errf(l->err, SP_ESYNTAX, "load", l->file->path, -1,
				"the order differs from that of the interrupted load");
	return l->input.seekable ? 0
				 : sp__loadinput_skip(&l->input, *first * l->input.pitch[slowest]);
}

/*
 * Marks the cube incomplete, and, if all is loaded again, its elements never written.  Called after
 * the first elements of the input are read, so an unreadable input changes nothing.
 */
static int begin(struct sp__loading *l)
{
	const struct sp__cube_superblock *h = &l->file->superblock;
	int rc = sp__load_begin(l->file, SP__LOADING_ALL, l->order, l->layer, l->err);

	for (size_t i = 0; !rc && !l->layer && i < h->fragments.n; i++) {
		const struct sp__fragment *p = h->fragments.list[i];

		rc = sp__write_zeros(l->file->cells.first.fd, p->table_block * h->block_bytes,
				     sp__extents_table_end(h, p) * h->block_bytes, l->file->path,
				     l->err);
	}
	return rc;
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
	return rc ? rc
		  : sp__load_note(l->file, SP__LOADING_NONE, l->order,
				  h->shape.dims[l->order[h->shape.ndims - 1]], l->err);
}

/* A complete cube has no load to continue: with resume, all is loaded. */
static int run_load(struct sp__loading *l, const char *name, const struct sp_cube_load_opts *opts)
{
	const struct sp__cube_superblock *h = &l->file->superblock;
	int rc;

	if (sp__load_rolled(opts))
		return sp__errf(l->err, SP_ESYNTAX, "load", name, -1,
				"only the coordinates of CSV are rolled up");
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

	if (file->superblock.no_data)
		return sp__errf(err, SP_EUNSUP, "load", file->path, -1,
				"the cube was made without data");
	return opts->format == SP_CUBE_CSV ? sp__csv_load(file, input, opts, stats, err)
					   : run_load(&l, input, opts);
}
