/* SPDX-License-Identifier: MIT */
/*
 * Loads CSV: collects elements until their memory is full, and merges them into the cube.  The
 * result does not depend on the number of merges.
 *
 * A complete cube is first copied: elements are merged into a new fragment, which replaces all
 * others at the end.  If the volumes have no space for a copy, elements are merged into the cube
 * itself, and a roll-up is refused.
 *
 * A load into an incomplete cube finally writes the extents that no line has named, so the cube is
 * complete.  An interrupted load into the cube itself can be repeated with the same input, because
 * it sets the same elements; a roll-up would add values twice.
 */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "cube/input/csvlines.h"
#include "cube/elements/csv.h"
#include "cube/elements/elements.h"
#include "cube/elements/loading.h"
#include "cube/elements/merge.h"
#include "run/charge.h"

struct lines {
	struct sp__cubefile *file;
	const struct sp_cube_load_opts *opts;
	struct sp_cube_stats *stats;
	struct sp_errinfo *err;
	struct sp__csvlines csv;
	struct sp__point *points;
	uint8_t *values;
	size_t n, capacity;
	uint64_t charged;
	struct sp__pointmerge merge;
	bool begun; /* the cube is changed, or will not be */
};

static const unsigned natural_order[SP_CUBE_DIMS_MAX] = { 0, 1, 2,  3,	4,  5,	6,  7,
							  8, 9, 10, 11, 12, 13, 14, 15 };

/* Called before the first change; an invalid line before it leaves the cube unchanged. */
static int begin(struct lines *l)
{
	if (l->begun)
		return 0;
	l->begun = true;
	return sp__load_begin(l->file, l->merge.sum ? SP__LOADING_SUMS : SP__LOADING_POINTS,
			      natural_order, 0, l->err);
}

static int merge_batch(struct lines *l)
{
	size_t n = l->n;
	int rc = begin(l);

	if (rc)
		return rc;
	sp__charge_sorting(&l->file->env, n);
	sp__charge_work(&l->file->env, n, 0, n * l->file->superblock.shape.element_bytes);
	l->stats->elements += l->n;
	l->n = 0;
	return sp__pointmerge_points(&l->merge, l->points, n, l->values);
}

static void locate(const struct sp__cubefile *c, const uint64_t *x, void *to)
{
	struct sp__point point = { 0 };

	sp__point_locate(c, x, &point);
	memcpy(to, &point, sizeof(point));
}

/* Adds points to the collected ones, as many as fit.  Returns their number. */
static size_t collect(struct lines *l, const struct sp__csvpoints *p, size_t from)
{
	const size_t element = l->file->superblock.shape.element_bytes;
	size_t n = sp__min(p->n - from, l->capacity - l->n);

	memcpy(l->points + l->n, p->places + from * sizeof(*l->points), n * sizeof(*l->points));
	memcpy(l->values + l->n * element, p->values + from * element, n * element);
	for (size_t i = 0; i < n; i++, l->n++)
		l->points[l->n].index = l->n;
	return n;
}

static int load_lines(struct lines *l)
{
	struct sp__csvpoints p;
	int rc = 0;

	sp__cube_begin_phase(l->file, SP_CUBE_PHASE_CELLS, -1, l->csv.file_bytes);
	while (!rc && !(rc = sp__csvlines_next(&l->csv, &p)))
		for (size_t at = 0; !rc && at < p.n;) {
			at += collect(l, &p, at);
			if (l->n == l->capacity)
				rc = merge_batch(l);
		}
	return rc < 0 ? rc : l->n ? merge_batch(l) : 0;
}

static int check_opts(struct lines *l)
{
	const struct sp_cube_load_opts *o = l->opts;
	const struct sp__cube_superblock *h = &l->file->superblock;

	l->merge.sum = sp__load_rolled(o);
	for (unsigned i = h->shape.ndims; i < SP_CUBE_DIMS_MAX; i++)
		if (o->rollup[i])
			return sp__errf(l->err, SP_ESYNTAX, "load", l->file->path, -1,
					"there is no dimension %u to roll up", i);
	if (o->ordered || o->offset || o->big_endian || o->resume)
		return sp__errf(l->err, SP_ESYNTAX, "load", l->csv.name, -1,
				"order, offset, byte order and resuming do not apply to CSV");
	if (l->merge.sum && h->shape.type == SP_CUBE_BYTES)
		return sp__errf(l->err, SP_ESYNTAX, "load", l->file->path, -1,
				"opaque elements cannot be summed");
	for (uint32_t i = 0; l->merge.sum && i < h->shape.element_bytes; i++)
		if (h->fill[i])
			return sp__errf(l->err, SP_ESYNTAX, "load", l->file->path, -1,
					"a roll-up needs a cube whose fill is 0");
	l->merge.repeatable = !l->merge.sum;
	l->merge.again = h->loading == SP__LOADING_POINTS;
	/* Points alone complete nothing else. */
	return h->loading == SP__LOADING_POINTS && !l->merge.sum
		       ? 0
		       : sp__cube_check_finished(l->file, "load", l->err);
}

/*
 * Half of the memory of a slab is for elements and lines, including the memory of sorting; the
 * other half is for extents.
 */
static int open_points(struct lines *l)
{
	uint64_t bytes = sp__cube_slab_bytes(l->file) / 2, rest = bytes;
	uint32_t element = l->file->superblock.shape.element_bytes;

	rest -= sp__min(l->csv.charged, rest);
	l->capacity = sp__max(rest / (SP__POINTMERGE_POINT_BYTES + element), 1);
	l->points = malloc(l->capacity * sizeof(*l->points));
	l->values = malloc(l->capacity * element);
	if (!l->points || !l->values)
		return sp__err(l->err, -ENOMEM, "malloc", NULL, -1);
	l->charged = l->capacity * (SP__POINTMERGE_POINT_BYTES + element);
	sp__budget_charge(&l->file->env.budget, l->charged);
	return sp__pointmerge_open(&l->merge, l->capacity, bytes, l->stats);
}

/* Called after an error of open_points(), too. */
static void close_points(struct lines *l)
{
	sp__pointmerge_close(&l->merge);
	free(l->points);
	free(l->values);
	sp__budget_credit(&l->file->env.budget, l->charged);
}

/* Reads all lines of the input of a complete cube before the first of them changes it. */
static int check_lines(struct lines *l)
{
	struct sp__csvpoints p;
	int rc = sp__csvlines_keep(&l->csv);

	sp__cube_begin_phase(l->file, SP_CUBE_PHASE_INPUT, -1, l->csv.file_bytes);
	while (!rc)
		rc = sp__csvlines_next(&l->csv, &p);
	return rc < 0 ? rc : sp__csvlines_rewind(&l->csv);
}

/* Merges the lines into the copy of the cube. */
static int change_copy(void *arg)
{
	struct lines *l = arg;
	int rc;

	l->begun = true;
	l->merge.repeatable = false;
	rc = open_points(l);
	if (!rc)
		rc = load_lines(l);
	close_points(l);
	return rc;
}

/* Returns 1 if the volumes do not have the space; then nothing was done. */
static int load_aside(struct lines *l)
{
	struct sp__loading copy = { .file = l->file,
				    .stats = l->stats,
				    .err = l->err,
				    .input.fd = -1,
				    .change = change_copy,
				    .arg = l };
	int rc;

	memcpy(copy.order, natural_order, sizeof(copy.order));
	rc = sp__loading_aside(&copy);
	if (rc <= 0 || !l->merge.sum)
		return rc;
	return sp__errf(l->err, -ENOSPC, "load", l->file->path, -1,
			"a roll-up into a complete cube needs space for a copy of it, which the "
			"volumes do not have");
}

static int load_in_place(struct lines *l)
{
	const struct sp_cube_shape *s = &l->file->superblock.shape;
	int rc = open_points(l);

	if (!rc)
		rc = load_lines(l);
	if (!rc)
		rc = begin(l);
	if (!rc)
		rc = sp__pointmerge_absent(&l->merge);
	close_points(l);
	return rc ? rc
		  : sp__load_note(l->file, SP__LOADING_NONE, natural_order, s->dims[s->ndims - 1],
				  l->err);
}

static int run_lines(struct lines *l)
{
	bool complete = l->file->superblock.complete;
	int rc = check_opts(l);

	if (!rc)
		rc = sp__put_settle(l->file, l->err);
	if (!rc)
		rc = sp__csvlines_open(&l->csv);
	if (!rc && complete)
		rc = check_lines(l);
	if (!rc)
		rc = complete ? load_aside(l) : 1;
	return rc > 0 ? load_in_place(l) : rc;
}

int sp__csv_load(struct sp__cubefile *file, const char *input, const struct sp_cube_load_opts *opts,
		 struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	struct lines l = { .file = file,
			   .opts = opts,
			   .stats = stats,
			   .err = err,
			   .csv = { .file = file,
				    .rollup = opts->rollup,
				    .name = input,
				    .err = err,
				    .place = locate,
				    .place_bytes = sizeof(struct sp__point),
				    .fd = -1 },
			   .merge = { .file = file, .err = err } };
	int rc = run_lines(&l);

	stats->blank_lines = l.csv.blank;
	stats->header_lines = l.csv.header;
	sp__csvlines_close(&l.csv);
	return rc;
}
