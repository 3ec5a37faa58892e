/* SPDX-License-Identifier: MIT */
/*
 * Adds parts, and finds cells in them.
 *
 * A part is a mapping of its own, whose basic cubes have as many pages as a track of its zone has
 * cells, so one cube is one track wide.  Cubes of all lanes lie together: the place of a page does
 * not depend on how many follow.
 *
 * The depth is limited so that the hops of a cube take at most one revolution: then its cells are
 * read within one revolution from wherever the head arrives.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <spindle/geometry.h>
#include "base/array.h"
#include "base/bisect.h"
#include "base/err.h"
#include "base/minmax.h"
#include "cube/choose/drive.h"
#include "cube/choose/prediction.h"
#include "cube/mapping/mapping.h"
#include "cube/mapping/zones.h"
#include "cube/semiseq.h"

#define PARTS_MAX 4096
#define LANES_MAX 65536
#define CELLS_MAX (UINT64_C(1) << 50) /* of all volumes */
#define SAMPLES 4		      /* pages that are read to choose the depth */
#define DEPTH 64		      /* requests outstanding then, on each volume */
#define GAIN 0.999		      /* a deeper cube must be faster by more than this */

static void free_mapping(struct sp__mapping *m)
{
	if (m)
		free(m->multimap.zones);
	free(m);
}

static void free_parts(struct sp__semiseq *s)
{
	while (s->n)
		free_mapping(s->parts[--s->n].mapping);
}

void sp__semiseq_free(struct sp__semiseq *s)
{
	free_parts(s);
	free(s->parts);
	if (s->like)
		sp__multimap_free(&s->like->multimap);
	free(s->like);
	*s = (struct sp__semiseq){ 0 };
}

/* Returns the tracks of so many columns, one for each volume, on each of them. */
static uint64_t band_tracks(const struct sp__semiseq *s)
{
	return sp__div_up(s->lanes, s->depth) * s->depth;
}

/* Returns the columns that a zone has space for, from a block on. */
static uint64_t columns_in(const struct sp__semiseq *s, const struct sp__cubezone *z,
			   uint64_t first_block)
{
	uint64_t skip = first_block ? sp__cubezone_tracks(z, first_block - 1) : 0;

	if (!z->slots || skip >= z->tracks)
		return 0;
	return (z->tracks - skip) / band_tracks(s) * s->volumes;
}

/* Adds a part for so many pages, in whole columns, as many on each volume. */
static int add_part(struct sp__semiseq *s, uint64_t pages, uint64_t first_cell)
{
	const struct sp__multimap *mm = &s->like->multimap;
	/* A track can begin within the cell before: it has no cell there. */
	uint64_t block = first_cell ? (first_cell - 1) * s->cell_blocks + 1 : 0;
	uint64_t columns = 0, size[2] = { 0, s->lanes };
	const struct sp__cubezone *z = mm->zones;
	struct sp__semipart p = { .first_page = sp__semiseq_pages(s) };
	int rc;

	for (; z < mm->zones + mm->nzones && !(columns = columns_in(s, z, block)); z++)
		;
	if (!columns || s->n == PARTS_MAX)
		return -ENOSPC;
	p.mapping = calloc(1, sizeof(*p.mapping));
	if (!p.mapping || !SP__ARRAY_GROW(s->parts, s->capacity, s->n + 1)) {
		free(p.mapping);
		return -ENOMEM;
	}
	columns = sp__min(columns, sp__div_up(pages, (uint64_t)z->slots * s->volumes) * s->volumes);
	p.pages = size[0] = columns * z->slots;
	p.mapping->first_block = sp__max(block, z->first_block);
	p.mapping->basic.k[0] = z->slots;
	p.mapping->basic.k[1] = s->depth;
	rc = sp__mapping_place(p.mapping, s->like, 2, size);
	if (rc) {
		free_mapping(p.mapping);
		return rc;
	}
	p.first_cell = sp__div_up(sp__mapping_begin(p.mapping), s->cell_blocks);
	p.cells = sp__div_up(sp__mapping_end(p.mapping), s->cell_blocks) - p.first_cell;
	s->parts[s->n++] = p;
	return 0;
}

int sp__semiseq_extend(struct sp__semiseq *s, uint64_t pages, uint64_t first_cell)
{
	return add_part(s, pages, first_cell);
}

int sp__semiseq_shorten(struct sp__semiseq *s, uint64_t pages)
{
	struct sp__semipart p;

	while (s->n && s->parts[s->n - 1].first_page >= pages)
		free_mapping(s->parts[--s->n].mapping);
	if (!s->n)
		return 0;
	p = s->parts[s->n - 1];
	if (p.first_page + p.pages - pages < p.mapping->basic.k[0] * s->volumes)
		return 0;
	free_mapping(s->parts[--s->n].mapping);
	return add_part(s, pages - p.first_page, p.first_cell);
}

char *sp__semiseq_array(const struct sp__semiseq *s, const char *volume)
{
	char *text;

	return asprintf(&text, "%s,array=linear:%u", volume, s->volumes) < 0 ? NULL : text;
}

uint64_t sp__semiseq_pages(const struct sp__semiseq *s)
{
	return s->n ? s->parts[s->n - 1].first_page + s->parts[s->n - 1].pages : 0;
}

uint64_t sp__semiseq_stripe(const struct sp__semiseq *s)
{
	return (uint64_t)s->like->multimap.zones[0].slots * s->volumes;
}

uint32_t sp__semiseq_hop(const struct sp__semiseq *s, uint32_t *track_blocks)
{
	const struct sp__cubezone *z = &s->like->multimap.zones[0];

	*track_blocks = z->track_blocks;
	return z->hop_blocks;
}

uint64_t sp__semiseq_run(const struct sp__semiseq *s, uint64_t page, uint32_t lane, uint64_t pages,
			 uint64_t *cell)
{
	const struct sp__semipart *p =
		&s->parts[SP__BISECT(s->n, i, s->parts[i].first_page <= page) - 1];
	const uint64_t x[] = { page - p->first_page, lane };
	uint64_t block, n = sp__multimap_run(&p->mapping->multimap, x, &block);

	*cell = block / s->cell_blocks;
	return sp__min(n, pages);
}

bool sp__semiseq_find(const struct sp__semiseq *s, uint64_t cell, uint64_t *page, uint32_t *lane)
{
	const uint64_t at = cell % s->volume_cells;
	size_t n = SP__BISECT(s->n, i, s->parts[i].first_cell <= at);
	uint64_t x[2];

	if (!n || !sp__mapping_cell(s->parts[n - 1].mapping, cell * s->cell_blocks, x))
		return false;
	*page = s->parts[n - 1].first_page + x[0];
	*lane = (uint32_t)x[1];
	return true;
}

double sp__semiseq_waste(const struct sp__semiseq *s)
{
	double cells = 0;

	for (size_t i = 0; i < s->n; i++)
		cells += (double)s->parts[i].cells * s->volumes;
	return cells > 0 ? 1 - (double)sp__semiseq_pages(s) * s->lanes / cells : 0;
}

/* Sets what follows from the other members. */
static void settle(struct sp__semiseq *s)
{
	struct sp__mapping *m = s->like;

	m->kind = SP_CUBE_MULTIMAP;
	m->order[1] = 1;
	m->cell_blocks = m->multimap.cell_blocks = s->cell_blocks;
	m->multimap.aligned = true;
	m->multimap.reach = sp__max(m->multimap.reach, 1); /* hops of one track */
	m->basic = (struct sp__basicgrid){ .volumes = s->volumes,
					   .method = SP_CUBE_DISK_MODULO,
					   .volume_blocks = s->volume_cells * s->cell_blocks,
					   .together = true };
	sp__multimap_set_slots(&m->multimap);
}

static bool possible(const struct sp__semiseq *s)
{
	return s->volumes && s->depth && s->depth <= s->lanes && s->cell_blocks && s->block_bytes &&
	       s->volume_cells && s->volume_cells <= CELLS_MAX / s->volumes &&
	       s->volume_cells <= CELLS_MAX / s->cell_blocks / s->volumes &&
	       s->like->multimap.nzones && sp__cubezones_possible(&s->like->multimap, CELLS_MAX);
}

void sp__semiseq_code(struct sp__coder *c, struct sp__semiseq *s)
{
	bool rounds;

	if (c->reading)
		s->like = calloc(1, sizeof(*s->like));
	sp__coder_lack(c, !s->like);
	if (!s->like)
		return;
	sp__code_max(c, &s->volumes, SP__SEMISEQ_VOLUMES_MAX);
	sp__code_max(c, &s->depth, LANES_MAX);
	sp__code_max(c, &s->lanes, LANES_MAX);
	sp__code_max(c, &s->cell_blocks, 65536);
	sp__code_max(c, &s->block_bytes, 65536);
	sp__code_u64(c, &s->volume_cells);
	rounds = sp__multimap_rounds(&s->like->multimap);
	sp__code_flag(c, &rounds);
	sp__cubezones_code(c, &s->like->multimap, rounds);
	c->failed |= !c->failed && !possible(s);
	if (c->reading && !c->failed)
		settle(s);
}

/* Adds a part that was read.  Returns false if it cannot be where it says. */
static bool take_part(struct sp__semiseq *s, uint64_t pages, uint64_t first_cell, int *rc)
{
	const struct sp__semipart *before = s->n ? &s->parts[s->n - 1] : NULL, *p;

	if (first_cell > s->volume_cells ||
	    (before && first_cell < before->first_cell + before->cells))
		return false;
	*rc = add_part(s, pages, first_cell);
	p = *rc ? NULL : &s->parts[s->n - 1];
	return p && p->pages == pages && p->first_cell == first_cell &&
	       p->cells <= s->volume_cells - first_cell;
}

void sp__semiseq_code_parts(struct sp__coder *c, struct sp__semiseq *s)
{
	uint32_t n = (uint32_t)s->n;

	sp__code_max(c, &n, PARTS_MAX);
	for (uint32_t i = 0; !c->failed && i < n; i++) {
		uint64_t pages = c->reading ? 0 : s->parts[i].pages;
		uint64_t first = c->reading ? 0 : s->parts[i].first_cell;
		int rc = 0;

		sp__code_u64(c, &pages);
		sp__code_u64(c, &first);
		if (!c->reading || c->failed)
			continue;
		c->failed |= !take_part(s, pages, first, &rc);
		sp__coder_lack(c, rc == -ENOMEM);
	}
}

/* Predicts the time of reading a page; infinite: there is no space for a stripe. */
static double page_ns(struct sp__semiseq *s, const struct sp__cubedrive *d, double *waste)
{
	const struct sp__predict_opts o = { .geometry = d->geometry,
					    .depth = DEPTH,
					    .fifo = d->fifo,
					    .window = d->window,
					    .host_ns = d->host_ns };
	double ns = 0;

	if (sp__semiseq_extend(s, 1, 0))
		return INFINITY;
	*waste = sp__semiseq_waste(s);
	for (unsigned i = 0; i < SAMPLES; i++) {
		uint64_t page = s->parts[0].pages / SAMPLES * i;
		struct sp_cube_box box = { .lo = { page, 0 },
					   .hi = { page, s->lanes - 1 },
					   .stride = { 1, 1 } };
		struct sp__cube_prediction p;

		if (sp__predict_box(&o, s->parts[0].mapping, &box, &p))
			return INFINITY;
		ns += p.ns / SAMPLES;
	}
	return ns;
}

/* Sets the depth with which a page is read fastest, of those whose hops take a revolution. */
static void choose_depth(struct sp__semiseq *s, const struct sp__cubedrive *d)
{
	double min_ns = INFINITY, min_waste = 1;
	uint32_t track, best = 1, hop = sp__semiseq_hop(s, &track);

	for (s->depth = 1; s->depth <= s->lanes; s->depth++) {
		double waste = 1, ns;

		if (s->depth > 1 && (uint64_t)s->depth * hop > track)
			break;
		ns = page_ns(s, d, &waste);
		free_parts(s);
		if (ns < min_ns * GAIN || (ns * GAIN < min_ns && waste < min_waste)) {
			best = s->depth;
			min_waste = waste;
			min_ns = ns;
		}
	}
	s->depth = best;
}

static int refuse(const struct sp__semiseq_opts *o, int code, struct sp_errinfo *err,
		  const char *text)
{
	return sp__errf(err, code, "create", o->path, -1, "%s", text);
}

/* Checks the options against the drive, and sets sizes. */
static int set_sizes(struct sp__semiseq *s, const struct sp__semiseq_opts *o,
		     const struct sp__cubedrive *d, struct sp_errinfo *err)
{
	struct sp_geometry_info info = { 0 };

	if (d->geometry)
		sp_geometry_info(d->geometry, &info);
	if (!info.tracks)
		return refuse(o, SP_EUNSUP, err,
			      "semiseq follows the tracks of a drive, and the volume has no known "
			      "tracks: name a simulated drive or a geometry with tracks, or choose "
			      "placement contiguous");
	if (o->volumes > SP__SEMISEQ_VOLUMES_MAX)
		return refuse(o, SP_ESYNTAX, err, "a table has 1 to 64 volumes");
	if (o->cell_bytes % info.block_bytes)
		return sp__errf(err, SP_ESYNTAX, "create", o->path, -1,
				"a cell of %u bytes is not a multiple of the block size %u",
				o->cell_bytes, info.block_bytes);
	s->volumes = sp__max(o->volumes, 1);
	s->lanes = o->lanes;
	s->depth = o->depth;
	s->block_bytes = info.block_bytes;
	s->cell_blocks = o->cell_bytes / info.block_bytes;
	s->volume_cells = info.blocks / s->cell_blocks;
	s->skip_cells = o->skip_bytes / o->cell_bytes;
	if (s->volumes > 1 && info.blocks % s->cell_blocks)
		return sp__errf(err, SP_EUNSUP, "create", o->path, -1,
				"a drive of %llu blocks is not a whole number of cells of %u "
				"bytes: choose smaller cells",
				(unsigned long long)info.blocks, o->cell_bytes);
	return 0;
}

static int set_depth(struct sp__semiseq *s, const struct sp__semiseq_opts *o,
		     const struct sp__cubedrive *d, struct sp_errinfo *err)
{
	uint32_t track, hop = sp__semiseq_hop(s, &track);

	if (!o->depth) {
		choose_depth(s, d);
		return 0;
	}
	if (s->depth > s->lanes)
		return sp__errf(err, SP_ESYNTAX, "create", o->path, -1,
				"%u rows of depth: a page has %u lanes", s->depth, s->lanes);
	if (s->depth > 1 && (uint64_t)s->depth * hop > track)
		return sp__errf(err, SP_EUNSUP, "create", o->path, -1,
				"%u rows of depth take %llu blocks of hops, more than a track of "
				"%u: at most %u are possible",
				s->depth, (unsigned long long)s->depth * hop, track,
				(unsigned)sp__max(track / hop, 1));
	return 0;
}

int sp__semiseq_plan(struct sp__semiseq *s, const struct sp__semiseq_opts *o,
		     struct sp_errinfo *err)
{
	struct sp__cubedrive d;
	int rc = sp__cubedrive_find(&d, o->run, o->volumes, o->path, err);

	*s = (struct sp__semiseq){ 0 };
	if (!rc)
		rc = set_sizes(s, o, &d, err);
	if (!rc && !(s->like = calloc(1, sizeof(*s->like))))
		rc = sp__err(err, -ENOMEM, "create", o->path, -1);
	if (!rc) {
		s->like->multimap.host_ns = d.host_ns;
		rc = sp__multimap_zones(&s->like->multimap, d.geometry, 0, SP__AIM_TRACK,
					o->extra_deg);
		if (rc == SP_EUNSUP)
			rc = refuse(o, rc, err,
				    "semiseq needs the times of hops, which the geometry does not "
				    "have: probe the drive once more");
		else if (rc)
			rc = sp__err(err, rc, "create", o->path, -1);
	}
	if (!rc) {
		settle(s);
		rc = set_depth(s, o, &d, err);
	}
	sp__cubedrive_free(&d);
	return rc;
}
