/* SPDX-License-Identifier: MIT */
/*
 * Plans a cube from sizes and a geometry, before any file is touched.
 *
 * Layout of the file: two slots for the superblock, the table of checksums, the cells.  With
 * tracks, the cells of MultiMap begin on the first whole track after the table.  The blocks of the
 * file are those of the device from its start.
 */
#include <stdlib.h>
#include <string.h>
#include <spindle/geometry.h>
#include "base/enum.h"
#include "base/err.h"
#include "base/minmax.h"
#include "cube/choose/plan.h"
#include "cube/file/extents.h"
#include "cube/file/putlog.h"
#include "dev/geometry.h"
#include "run/volume_spec.h"

#define CELL_BYTES 4096
#define VOLUME_BYTES (UINT64_C(1) << 56) /* address space of each of several volumes */
#define WASTE_MAX 50			 /* percent */

SP__ENUM_TABLE(sp_cube_mapping, { "auto", SP_CUBE_AUTO }, { "multimap", SP_CUBE_MULTIMAP },
	       { "naive", SP_CUBE_NAIVE }, { "zorder", SP_CUBE_ZORDER },
	       { "hilbert", SP_CUBE_HILBERT }, { "gray", SP_CUBE_GRAY })

int sp__cubeplan_refuse(const struct sp__cube_plan *p, int code, const char *text)
{
	return sp__errf(p->err, code, "create", p->path, -1, "%s", text);
}

/* Grows tiles of one element, dimension by dimension, until they fill a cell. */
static void choose_tile(const struct sp_cube_shape *s, uint64_t block_bytes, uint32_t *tile)
{
	uint64_t bytes = s->element_bytes;
	bool grown = true;

	for (unsigned i = 0; i < s->ndims; i++)
		tile[i] = 1;
	while (bytes % block_bytes || (grown && 2 * bytes <= CELL_BYTES)) {
		grown = false;
		for (unsigned i = 0; i < s->ndims; i++)
			if ((bytes % block_bytes || 2 * bytes <= CELL_BYTES) &&
			    tile[i] < s->dims[i]) {
				tile[i] *= 2;
				bytes *= 2;
				grown = true;
			}
		if (!grown && bytes % block_bytes) { /* the dataset is smaller than a block */
			tile[0] *= 2;
			bytes *= 2;
		}
	}
}

/* Checks the shape of a grid or of points. */
static int check_shape(struct sp__cube_plan *p)
{
	struct sp_cube_shape *s = &p->superblock.shape;
	uint32_t type_bytes = sp_cube_type_bytes(s->type);

	if (!s->ndims || s->ndims > SP_CUBE_DIMS_MAX)
		return sp__cubeplan_refuse(p, SP_ESYNTAX, "a cube has 1 to 16 dimensions");
	if (type_bytes)
		s->element_bytes = type_bytes;
	if (!s->element_bytes || s->element_bytes > SP_CUBE_ELEMENT_MAX)
		return sp__cubeplan_refuse(p, SP_ESYNTAX, "an element has 1 to 65536 bytes");
	for (unsigned i = 0; i < s->ndims; i++)
		if (!s->dims[i])
			return sp__cubeplan_refuse(p, SP_ESYNTAX, "a dimension has no elements");
	return 0;
}

static int check_grid(struct sp__cube_plan *p)
{
	struct sp_cube_shape *s = &p->superblock.shape;
	uint64_t bytes, cells = 1;
	bool tiled = false;

	for (unsigned i = 0; i < s->ndims; i++) {
		tiled |= s->tile[i];
		if (__builtin_mul_overflow(cells, s->dims[i], &cells) ||
		    cells > (UINT64_C(1) << 62) / s->element_bytes)
			return sp__cubeplan_refuse(p, SP_ESYNTAX, "the dataset exceeds 2^62 bytes");
	}
	for (unsigned i = s->ndims; i < SP_CUBE_DIMS_MAX; i++)
		if (s->tile[i] || p->opts->basic[i])
			return sp__cubeplan_refuse(
				p, SP_ESYNTAX,
				"the tile or the basic cube has more dimensions than the "
				"dataset");
	if (!tiled)
		choose_tile(s, p->superblock.block_bytes, s->tile);
	bytes = s->element_bytes;
	for (unsigned i = 0; i < s->ndims; i++) {
		if (!s->tile[i])
			return sp__cubeplan_refuse(p, SP_ESYNTAX,
						   "the tile needs a size for each dimension");
		if (s->tile[i] > UINT32_C(1) << 24 || (bytes *= s->tile[i]) > SP__CELL_MAX)
			return sp__cubeplan_refuse(p, SP_ESYNTAX, "a tile exceeds 256 MiB");
	}
	if (bytes % p->superblock.block_bytes)
		return sp__errf(p->err, SP_ESYNTAX, "create", p->path, -1,
				"a tile of %llu bytes is not a multiple of the block size %u",
				(unsigned long long)bytes, p->superblock.block_bytes);
	p->superblock.cell_blocks = (uint32_t)(bytes / p->superblock.block_bytes);
	p->superblock.extent_cells = sp__extent_cells(bytes);
	return 0;
}

static int set_order(struct sp__cube_plan *p)
{
	const struct sp_cube_shape *s = &p->superblock.shape;
	struct sp__mapping *m = &p->superblock.mapping;
	bool chosen = false;

	for (unsigned i = 0; i < s->ndims; i++) {
		m->order[i] = p->opts->ordered ? p->opts->order[i] : i;
		m->basic.k[i] = p->opts->basic[i];
		chosen |= m->basic.k[i];
		p->superblock.load_order[i] = i;
	}
	if (!sp__is_order(m->order, s->ndims))
		return sp__cubeplan_refuse(p, SP_ESYNTAX,
					   "the order of dimensions must name each of them once");
	for (unsigned i = 0; chosen && i < s->ndims; i++) {
		if (!m->basic.k[i])
			return sp__cubeplan_refuse(
				p, SP_ESYNTAX, "the basic cube needs a size for each dimension");
		if (m->basic.k[i] > (s->dims[m->order[i]] - 1) / s->tile[m->order[i]] + 1)
			return sp__cubeplan_refuse(
				p, SP_ESYNTAX, "the sizes of the basic cube exceed the dataset");
	}
	return 0;
}

static int set_volumes(struct sp__cube_plan *p)
{
	const struct sp_cube_create_opts *o = p->opts;
	struct sp__basicgrid *b = &p->superblock.mapping.basic;

	b->volumes = (unsigned)sp__max(o->volumes, 1);
	b->method = o->decluster;
	b->volume_blocks = VOLUME_BYTES / p->superblock.block_bytes;
	for (unsigned i = 1; o->volume_names && i < b->volumes; i++) {
		p->superblock.volumes[i] = strdup(o->volume_names[i - 1]);
		if (!p->superblock.volumes[i])
			return sp__err(p->err, -ENOMEM, "create", p->path, -1);
	}
	return 0;
}

static int find_geometry(struct sp__cube_plan *p)
{
	struct sp_geometry_info info;
	int rc = sp__volume_drive_find(&p->drive, &p->opts->run, p->opts->volumes, p->path, p->err);

	p->superblock.block_bytes = 512;
	if (!rc && p->drive.geometry) {
		sp_geometry_info(p->drive.geometry, &info);
		p->superblock.block_bytes = info.block_bytes;
	}
	p->superblock.mapping.multimap.host_ns = p->drive.facts.host_ns;
	if (!rc && !sp__cube_block_possible(p->superblock.block_bytes))
		rc = sp__cubeplan_refuse(p, SP_EUNSUP,
					 "the block size of the geometry is not a power of two");
	return rc;
}

static int copy_texts(struct sp__cube_plan *p)
{
	struct sp__cube_superblock *h = &p->superblock;
	const struct sp_cube_create_opts *o = p->opts;
	struct sp_geometry_info info;
	bool copied = true;

	h->fill = calloc(1, h->shape.element_bytes);
	h->attributes = calloc(o->nattributes + 1, sizeof(*h->attributes));
	if (!h->fill || !h->attributes)
		return -ENOMEM;
	if (o->fill)
		memcpy(h->fill, o->fill, h->shape.element_bytes);
	for (; copied && h->nattributes < o->nattributes; h->nattributes++) {
		struct sp_cube_attribute *a = &h->attributes[h->nattributes];

		a->key = strdup(o->attributes[h->nattributes].key);
		a->value = strdup(o->attributes[h->nattributes].value);
		copied = a->key && a->value;
	}
	if (o->run.volume)
		copied &= (h->volume = strdup(o->run.volume)) != NULL;
	if (p->drive.geometry) {
		sp_geometry_info(p->drive.geometry, &info);
		copied &= !info.device || (h->device = strdup(info.device)) != NULL;
	}
	return copied ? 0 : -ENOMEM;
}

/*
 * True if a row takes less time than a hop.  Then MultiMap gains nothing: several rows fit on one
 * track, and following the tracks only costs space.
 */
static bool rows_are_short(const struct sp__mapping *m)
{
	return m->grid.size[0] * m->cell_blocks < m->multimap.zones[0].hop_blocks;
}

/* True if MultiMap leaves more space unused than AUTO accepts. */
static bool wastes(const struct sp__cube_plan *p)
{
	double max = p->opts->waste_max_percent;

	return 100 * sp__mapping_waste(&p->superblock.mapping) > (max > 0 ? max : WASTE_MAX);
}

static int unplaceable(const struct sp__cube_plan *p, int rc)
{
	return rc == -ERANGE ? sp__cubeplan_refuse(p, rc, "the cells exceed 2^62 bytes")
			     : sp__err(p->err, rc, "create", p->path, -1);
}

double sp__cubeplan_closer_deg(const struct sp__cube_plan *p)
{
	return p->drive.geometry && p->superblock.shape.ndims == 2 && !p->opts->points
		       ? sp__multimap_closer_deg(p->drive.geometry)
		       : 0;
}

int sp__cubeplan_zones(struct sp__cube_plan *p, uint64_t first_block)
{
	struct sp__multimap *m = &p->superblock.mapping.multimap;
	double extra_deg = p->opts->conservatism_deg; /* below 0: of a track */
	enum sp__hopaim aim = extra_deg < 0 ? SP__AIM_TRACK : SP__AIM_PLATEAU;
	int rc = SP_EUNSUP;

	if (aim == SP__AIM_TRACK)
		extra_deg += sp__cubeplan_closer_deg(p);
	sp__multimap_free(m);
	if (p->drive.geometry)
		rc = sp__multimap_zones(m, p->drive.geometry, first_block, aim, extra_deg);
	if (rc != SP_EUNSUP)
		return rc ? sp__err(p->err, rc, "create", p->path, -1) : 0;
	sp__multimap_free(m);
	return p->fallback ? rc
			   : sp__cubeplan_refuse(
				     p, rc,
				     "the volume has no known tracks or hops: MultiMap needs a "
				     "geometry with both");
}

static int place_multimap(struct sp__cube_plan *p, uint64_t first_block)
{
	struct sp__mapping *m = &p->superblock.mapping;
	int rc = sp__cubeplan_zones(p, first_block);

	if (rc)
		return rc;
	rc = sp__cube_superblock_place(&p->superblock);
	if (p->fallback && (rc == -ENOSPC || (!rc && (rows_are_short(m) || wastes(p)))))
		return SP_EUNSUP;
	if (rc == -ENOSPC)
		return sp__cubeplan_refuse(
			p, rc, "the tracks of the volume cannot hold the cube under MultiMap");
	if (rc == SP_EUNSUP)
		return sp__cubeplan_refuse(p, rc,
					   "the sizes of the basic cube exceed the reach of a hop");
	return rc ? unplaceable(p, rc) : 0;
}

static int place_cells(struct sp__cube_plan *p, enum sp_cube_mapping kind, uint64_t first_block)
{
	struct sp__mapping *m = &p->superblock.mapping;
	int rc;

	m->kind = kind;
	m->first_block = sp__cube_superblock_begin(&p->superblock, first_block);
	if (m->kind == SP_CUBE_MULTIMAP) {
		rc = place_multimap(p, first_block);
		if (rc != SP_EUNSUP || !p->fallback)
			return rc;
		sp__multimap_free(&m->multimap);
		m->kind = SP_CUBE_NAIVE;
		memcpy(m->basic.k, p->opts->basic, sizeof(m->basic.k));
	}
	rc = sp__cube_superblock_place(&p->superblock);
	if (rc == SP_EUNSUP)
		return sp__cubeplan_refuse(
			p, rc,
			"a curve over more than 4 dimensions needs sizes in cells that are "
			"powers of two");
	return rc ? unplaceable(p, rc) : 0;
}

/* Places the log of puts at the end of the second slot for the superblock, or behind it. */
static void place_log(struct sp__cube_superblock *h, uint64_t superblock_bytes)
{
	uint64_t slot = h->slots.slot_bytes, end = 2 * slot;

	h->log_offset = superblock_bytes + h->log_bytes <= slot ? end - h->log_bytes : end;
}

/* Computes the size of the superblock, the length of the table, and the start of the cells. */
static int lay_out(struct sp__cube_plan *p)
{
	struct sp__cube_superblock *h = &p->superblock;
	struct sp__fragment *all = sp__fragments_add(&h->fragments);
	uint8_t *data = NULL;
	size_t bytes;
	int rc;

	h->log_bytes =
		sp__putlog_bytes((uint64_t)h->cell_blocks * h->block_bytes * h->extent_cells);
	/* Later starts of cells do not add zones to the superblock. */
	rc = place_cells(p, p->mapping, 0);
	if (rc)
		return rc;
	if (all)
		data = sp__cube_superblock_encode(h, &bytes);
	free(data);
	if (!data)
		return sp__err(p->err, -ENOMEM, "create", p->path, -1);
	bytes += (SP__FRAGMENTS_MAX - 1) * SP__FRAGMENT_BYTES(h->shape.ndims);
	if (!sp__superblocks_set_size(&h->slots, bytes))
		return sp__cubeplan_refuse(p, SP_ESYNTAX, "the attributes are more than 64 MiB");
	place_log(h, bytes);
	all->table_block = sp__cube_superblock_front(h);
	sp__cube_superblock_cells(h, all->placed);
	rc = place_cells(p, h->mapping.kind == SP_CUBE_NAIVE ? SP_CUBE_NAIVE : p->mapping,
			 sp__extents_table_end(h, all));
	if (rc)
		return rc;
	all->mapping.first_block = sp__mapping_begin(&h->mapping);
	memcpy(all->mapping.basic.k, h->mapping.basic.k, sizeof(h->mapping.basic.k));
	return 0;
}

int sp__cube_plan(struct sp__cube_plan *p, const struct sp_cube_create_opts *opts, const char *path,
		  struct sp_errinfo *err)
{
	int rc;

	*p = (struct sp__cube_plan){ .opts = opts, .path = path, .err = err };
	p->fallback = sp__cube_mapping_open(opts);
	p->mapping = p->fallback ? SP_CUBE_MULTIMAP : opts->mapping;
	p->superblock.shape = opts->shape;
	p->superblock.no_data = opts->no_data;
	p->superblock.loading = opts->awaits_load ? SP__LOADING_ALL : SP__LOADING_NONE;
	rc = opts->volumes > SP_CUBE_VOLUMES_MAX
		     ? sp__cubeplan_refuse(p, SP_ESYNTAX, "a cube has 1 to 64 volumes")
		     : sp__volume_spec_check(&opts->run, err);
	if (!rc && opts->run.volume && !sp__volume_spec_simulated(&opts->run))
		rc = sp__cubeplan_refuse(p, SP_ESYNTAX,
					 "the volume of a cube must be simulated or its own file");
	if (!rc)
		rc = find_geometry(p);
	if (!rc)
		rc = check_shape(p);
	if (!rc)
		rc = opts->points ? sp__pointplan_check(p) : check_grid(p);
	if (!rc)
		rc = set_order(p);
	if (!rc)
		rc = set_volumes(p);
	if (!rc && opts->awaits_load && (opts->points || opts->no_data))
		rc = sp__cubeplan_refuse(p, SP_ESYNTAX, "only a grid with data awaits a load");
	if (!rc && opts->nattributes > SP__CUBE_ATTRIBUTES_MAX)
		rc = sp__cubeplan_refuse(p, SP_ESYNTAX, "too many attributes");
	if (!rc && copy_texts(p))
		rc = sp__err(err, -ENOMEM, "create", path, -1);
	if (!rc && opts->no_data && !sp__volume_spec_simulated(&opts->run))
		rc = sp__cubeplan_refuse(p, SP_ESYNTAX,
					 "a cube without data needs a simulated volume");
	return rc ? rc : opts->points ? sp__pointplan_lay_out(p) : lay_out(p);
}

void sp__cube_plan_free(struct sp__cube_plan *p)
{
	sp__cube_superblock_free(&p->superblock);
	sp__volume_drive_free(&p->drive);
}
