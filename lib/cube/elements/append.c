/* SPDX-License-Identifier: MIT */
/*
 * Appends a fragment: plans it, fills it, waits until it is on the device, and then replaces the
 * superblock by one that names it.
 *
 * Invariant: the superblock in memory is the new one while cells are written, and the old one while
 * elements are read that share tiles with the new ones.
 */
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include "base/err.h"
#include "cube/elements/elements.h"
#include "cube/elements/loading.h"
#include "cube/file/space.h"

static int refuse(const struct sp__loading *l, int code, const char *text)
{
	return sp__errf(l->err, code, "append", l->file->path, -1, "%s", text);
}

static void keep_cell(void *arg, const uint64_t *x, uint8_t *cell)
{
	struct sp__loading *l = arg;
	const struct sp__cube_superblock *h = &l->file->superblock;

	if (sp__extents_absent(&l->extents, x))
		sp__tile_fill(&h->shape, cell, h->fill);
	else
		sp__extents_add(&l->extents, x, cell);
	sp__tiles_from_cell(&l->kept, x, cell);
}

static int keep(struct sp__loading *l, const struct sp_cube_box *box)
{
	struct sp_cube_box cells = sp__cube_cells(&l->file->superblock.shape, box);
	uint64_t x[SP_CUBE_DIMS_MAX];
	int rc;

	sp__growth_exchange(&l->growth, l->file);
	sp__extents_whole(l->file, &cells);
	sp__tiles_init(&l->kept, &l->file->superblock.shape, box, NULL);
	rc = sp__extents_open(&l->extents, l->file, &cells, l->err);
	if (!rc)
		rc = sp__extents_read(&l->extents, l->err);
	if (!rc)
		rc = sp__transfers_box(&l->transfers, SP__OP_READ, &cells, keep_cell, l, l->err);
	if (!rc && sp__extents_damaged(&l->extents, x))
		rc = refuse(l, SP_ECORRUPT, "a checksum differs: run check");
	sp__extents_close(&l->extents);
	sp__growth_exchange(&l->growth, l->file);
	return rc;
}

static int check_call(const struct sp__loading *l, const char *input,
		      const struct sp_cube_load_opts *opts)
{
	if (l->file->superblock.points)
		return refuse(l, SP_EUNSUP, "points cannot be appended: load or put them");
	if (l->dim >= l->file->superblock.shape.ndims)
		return sp__errf(l->err, SP_ESYNTAX, "append", l->file->path, -1,
				"there is no dimension %u: dimensions are 0 to %u", l->dim,
				l->file->superblock.shape.ndims - 1);
	if (opts->format == SP_CUBE_CSV || opts->resume || sp__load_rolled(opts))
		return refuse(
			l, SP_ESYNTAX,
			"an appended input must be raw or .npy, without resuming or rolling up");
	if (!input &&
	    (opts->format != SP_CUBE_RAW || opts->ordered || opts->offset || opts->big_endian))
		return refuse(l, SP_ESYNTAX,
			      "format, order, offset and byte order are those of an input, and "
			      "there is none");
	if (l->file->superblock.no_data && input)
		return refuse(l, SP_EUNSUP,
			      "the cube was made without data: give a count and no input");
	return sp__cube_check_finished(l->file, "append", l->err);
}

static int fill_fragment(struct sp__loading *l)
{
	int rc = sp__loading_open(l);

	if (!rc)
		rc = sp__loading_slabs(l, 0);
	sp__loading_close(l);
	if (!rc && l->input.name)
		rc = sp__loadinput_end(&l->input);
	if (!rc && l->change)
		rc = l->change(l->arg);
	return rc ? rc : sp__cube_sync(l->file, l->err);
}

static void set_loaded(struct sp__loading *l, uint64_t layers)
{
	const struct sp__cube_superblock *h = &l->file->superblock;

	sp__cube_set_progress(l->file, h->complete, h->loading, h->load_order, layers);
}

/* Writes the superblock that names the new fragment, which is on the device. */
static int write_superblock(struct sp__loading *l)
{
	const struct sp__cube_superblock *h = &l->file->superblock;
	int rc;

	sp__growth_exchange(&l->growth, l->file);
	rc = sp__cube_begin_change(l->file, l->err);
	sp__growth_exchange(&l->growth, l->file);
	if (rc)
		return rc;
	if (h->complete)
		set_loaded(l, h->shape.dims[h->load_order[h->shape.ndims - 1]]);
	return sp__cube_end_change(l->file, l->err);
}

/* Carries out the growth; after an error all is as before. */
static int grow(struct sp__loading *l)
{
	const struct sp__cube_superblock *h = &l->file->superblock;
	uint64_t loaded = h->loaded;
	struct sp__cubespace space;
	int rc = sp__cube_extend(l->file, sp__fragment_end(l->growth.fragment), "append", &space,
				 l->err);

	sp__growth_exchange(&l->growth, l->file);
	if (!rc && !h->no_data)
		rc = fill_fragment(l);
	if (rc)
		sp__cube_shorten(l->file, &space);
	else
		rc = write_superblock(l);
	if (rc) {
		sp__growth_exchange(&l->growth, l->file);
		set_loaded(l, loaded);
	}
	return rc;
}

/*
 * Releases the space of older fragments, when neither superblock names them.
 */
static int release(struct sp__loading *l)
{
	int rc = sp__cube_superblock_write(&l->file->superblock, l->file->cells.first.fd,
					   l->file->path, l->err);

	for (size_t i = 0; !rc && i < l->growth.fragments.n; i++) {
		const struct sp__fragment *p = l->growth.fragments.list[i];

		sp__cube_release(l->file, p->table_block, sp__fragment_end(p));
	}
	return rc;
}

/* True if the volumes have space for the planned fragment. */
static bool has_space(const struct sp__loading *l)
{
	const struct sp__cubefile *c = l->file;
	const struct sp__fragment *p = l->growth.fragment;
	uint64_t end = sp__fragment_end(p) * c->superblock.block_bytes;
	uint64_t bytes = end - p->table_block * c->superblock.block_bytes;

	for (unsigned i = 0; i < c->cells.n; i++) {
		const struct sp__volume *v = c->cells.volumes[i].volume;
		uint64_t max = sp__cube_volume_bytes(c, v);
		struct statvfs fs;
		struct rlimit limit;

		if (max && max < end)
			return false;
		if (!v->regular)
			continue;
		if (!fstatvfs(v->fd, &fs) && fs.f_bavail < bytes / fs.f_frsize + 1)
			return false;
		if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < end)
			return false;
	}
	return true;
}

int sp__loading_aside(struct sp__loading *l)
{
	const struct sp__cube_superblock *h = &l->file->superblock;
	unsigned order[SP_CUBE_DIMS_MAX];
	int rc = sp__growth_replace(&l->growth, h);

	memcpy(order, h->load_order, sizeof(order));
	if (rc || !has_space(l)) {
		sp__growth_free(&l->growth);
		l->growth = (struct sp__growth){ 0 };
		return rc == -ENOMEM ? sp__err(l->err, rc, "load", l->file->path, -1) : 1;
	}
	sp__cube_set_progress(l->file, h->complete, h->loading, l->order, h->loaded);
	l->keep = keep;
	rc = grow(l);
	if (rc)
		sp__cube_set_progress(l->file, h->complete, h->loading, order, h->loaded);
	else
		rc = release(l);
	sp__growth_free(&l->growth);
	return rc;
}

int sp__elements_append(struct sp__cubefile *file, unsigned dim, uint64_t count, const char *input,
			const struct sp_cube_load_opts *opts, struct sp_cube_stats *stats,
			struct sp_errinfo *err)
{
	struct sp__loading l = {
		.file = file, .stats = stats, .err = err, .dim = dim, .keep = keep, .input.fd = -1
	};
	const struct sp__cube_superblock *h = &file->superblock;
	uint64_t counts[SP_CUBE_DIMS_MAX];
	int rc = check_call(&l, input, opts);

	if (!rc)
		rc = sp__put_settle(file, err);
	if (rc)
		return rc;
	memcpy(counts, h->shape.dims, sizeof(counts));
	counts[dim] = count;
	if (input)
		rc = sp__loadinput_open(&l.input, file, input, opts, counts, err);
	for (unsigned i = 0; i < h->shape.ndims; i++)
		l.order[i] = input ? l.input.order[i] : i;
	l.first = h->shape.dims[dim];
	if (!rc)
		rc = sp__growth_plan(&l.growth, h, dim, input ? l.input.count[dim] : count,
				     file->path, err);
	if (!rc)
		rc = grow(&l);
	sp__growth_free(&l.growth);
	sp__loadinput_close(&l.input);
	return rc;
}
