/* SPDX-License-Identifier: MIT */
/*
 * Places lanes along the tracks of one or several drives: MultiMap in two dimensions.
 *
 * Cells of consecutive pages in one lane lie along a track, cells of one page in consecutive lanes
 * on adjacent blocks: the head reaches the next one without rotational delay (semi-sequential
 * access).  A column is the pages whose cells of a lane fill one track.  `depth` lanes of a column
 * are a basic cube; cube (i, q) is on volume (i + q) mod volumes.  All lanes of as many columns as
 * there are volumes are on consecutive tracks, as many on each volume: a part can be of any length.
 *
 * A part is a mapping of its own, whose basic cubes have as many pages as a track of its zone has
 * cells, so one cube is one track wide.  Cubes of all lanes lie together.
 *
 * The depth is limited so that the hops of a cube take at most one revolution: then its cells are
 * read within one revolution from wherever the head arrives.  Hops are those of reads, or of
 * writes, which settle longer.
 *
 * Source: Shao 2008, section 4.4 (Atropos), figure 4.4; disk modulo: place/decluster.h.
 */
#include <math.h>
#include <stdlib.h>
#include <spindle/geometry.h>
#include "base/err.h"
#include "base/minmax.h"
#include "place/boxtime.h"
#include "place/lanemap_impl.h"
#include "place/mapping.h"
#include "place/zones.h"
#include "predict/drive.h"

#define SAMPLES 4  /* pages that are read to choose the depth */
#define DEPTH 64   /* requests outstanding then, on each volume */
#define GAIN 0.999 /* a deeper cube must be faster by more than this */

static void free_tracks(struct sp__lanemap *s)
{
	if (s->like)
		sp__multimap_free(&s->like->multimap);
	free(s->like);
}

/* Returns the tracks of so many columns, one for each volume, on each of them. */
static uint64_t band_tracks(const struct sp__lanemap *s)
{
	return sp__div_up(s->lanes, s->depth) * s->depth;
}

/* Returns the columns that a zone has space for, from a block on. */
static uint64_t columns_in(const struct sp__lanemap *s, const struct sp__cubezone *z,
			   uint64_t first_block)
{
	uint64_t skip = first_block ? sp__cubezone_tracks(z, first_block - 1) : 0;

	if (!z->slots || skip >= z->tracks)
		return 0;
	return (z->tracks - skip) / band_tracks(s) * s->volumes;
}

static int place(const struct sp__lanemap *s, struct sp__lanepart *p)
{
	const struct sp__multimap *mm = &s->like->multimap;
	/* A track that begins inside the cell before has its first cell after that one. */
	const uint64_t block = p->first_cell ? (p->first_cell - 1) * s->cell_blocks + 1 : 0;
	uint64_t columns = 0, size[2] = { 0, s->lanes };
	const struct sp__cubezone *z = mm->zones;
	int rc;

	for (; z < mm->zones + mm->nzones && !(columns = columns_in(s, z, block)); z++)
		;
	if (!columns)
		return -ENOSPC;
	p->mapping = calloc(1, sizeof(*p->mapping));
	if (!p->mapping)
		return -ENOMEM;
	p->unit_pages = (uint64_t)z->slots * s->volumes;
	columns = sp__min(columns, sp__div_up(p->pages, p->unit_pages) * s->volumes);
	p->pages = size[0] = columns * z->slots;
	p->mapping->first_block = sp__max(block, z->first_block);
	p->mapping->basic.k[0] = z->slots;
	p->mapping->basic.k[1] = s->depth;
	rc = sp__mapping_place(p->mapping, s->like, 2, size);
	if (rc) {
		sp__lanepart_free(p);
		return rc;
	}
	p->first_cell = sp__div_up(sp__mapping_begin(p->mapping), s->cell_blocks);
	p->cells = sp__div_up(sp__mapping_end(p->mapping), s->cell_blocks) - p->first_cell;
	return 0;
}

static void describe(const struct sp__lanemap *s, struct sp__lanemap_info *info)
{
	const struct sp__cubezone *z = &s->like->multimap.zones[0];

	info->stripe_pages = (uint64_t)z->slots * s->volumes;
	info->track_blocks = z->track_blocks;
	info->hop_blocks = z->hop_blocks;
}

static uint64_t run(const struct sp__lanemap *s, const struct sp__lanepart *p, uint64_t page,
		    uint32_t lane, uint64_t *cell)
{
	const uint64_t x[] = { page, lane };
	uint64_t block, n = sp__multimap_run(&p->mapping->multimap, x, &block);

	*cell = block / s->cell_blocks;
	return n;
}

static bool find(const struct sp__lanemap *s, const struct sp__lanepart *p, uint64_t cell,
		 uint64_t *page, uint32_t *lane)
{
	uint64_t x[2];

	if (!sp__mapping_cell(p->mapping, cell * s->cell_blocks, x))
		return false;
	*page = x[0];
	*lane = (uint32_t)x[1];
	return true;
}

/* Sets what follows from the other members. */
static void settle(struct sp__lanemap *s)
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

static bool possible(const struct sp__lanemap *s)
{
	return s->depth && s->depth <= s->lanes && s->like->multimap.nzones &&
	       sp__cubezones_possible(&s->like->multimap, SP__LANEMAP_CELLS_MAX);
}

static void code(struct sp__coder *c, struct sp__lanemap *s)
{
	bool rounds;

	if (c->reading)
		s->like = calloc(1, sizeof(*s->like));
	sp__coder_lack(c, !s->like);
	if (!s->like)
		return;
	sp__code_max(c, &s->depth, SP__LANEMAP_LANES_MAX);
	rounds = sp__multimap_rounds(&s->like->multimap);
	sp__code_flag(c, &rounds);
	sp__cubezones_code(c, &s->like->multimap, rounds);
	c->failed |= !c->failed && !possible(s);
	if (c->reading && !c->failed)
		settle(s);
}

/* Predicts the time of reading a page; infinite: there is no space for a stripe. */
static double page_ns(struct sp__lanemap *s, const struct sp__volume_drive *d, double *waste)
{
	const struct sp__predict_opts o = { .geometry = d->geometry,
					    .depth = DEPTH,
					    .fifo = d->facts.fifo,
					    .window = d->facts.window,
					    .host_ns = d->facts.host_ns };
	double ns = 0;

	if (sp__lanemap_extend(s, 1, 0))
		return INFINITY;
	*waste = sp__lanemap_waste(s);
	for (unsigned i = 0; i < SAMPLES; i++) {
		uint64_t page = s->parts[0].pages / SAMPLES * i;
		struct sp_cube_box box = { .lo = { page, 0 },
					   .hi = { page, s->lanes - 1 },
					   .stride = { 1, 1 } };
		struct sp__runs_prediction p;

		if (sp__predict_box(&o, s->parts[0].mapping, &box, &p))
			return INFINITY;
		ns += p.ns / SAMPLES;
	}
	return ns;
}

/* Returns the blocks of a hop and of a track in the first zone. */
static uint32_t hop_of(const struct sp__lanemap *s, uint32_t *track_blocks)
{
	const struct sp__cubezone *z = &s->like->multimap.zones[0];

	*track_blocks = z->track_blocks;
	return z->hop_blocks;
}

/* Sets the depth with which a page is read fastest, of those whose hops take a revolution. */
static void choose_depth(struct sp__lanemap *s, const struct sp__volume_drive *d)
{
	double min_ns = INFINITY, min_waste = 1;
	uint32_t track, best = 1, hop = hop_of(s, &track);

	for (s->depth = 1; s->depth <= s->lanes; s->depth++) {
		double waste = 1, ns;

		if (s->depth > 1 && (uint64_t)s->depth * hop > track)
			break;
		ns = page_ns(s, d, &waste);
		while (s->n)
			sp__lanepart_free(&s->parts[--s->n]);
		if (ns < min_ns * GAIN || (ns * GAIN < min_ns && waste < min_waste)) {
			best = s->depth;
			min_waste = waste;
			min_ns = ns;
		}
	}
	s->depth = best;
}

static int refuse(const struct sp__lanemap_opts *o, int code, struct sp_errinfo *err,
		  const char *text)
{
	return sp__errf(err, code, "create", o->path, -1, "%s", text);
}

/* Checks the options against the drive, and sets sizes. */
static int set_sizes(struct sp__lanemap *s, const struct sp__lanemap_opts *o,
		     const struct sp__volume_drive *d, struct sp_errinfo *err)
{
	struct sp_geometry_info info = { 0 };
	int rc;

	if (d->geometry)
		sp_geometry_info(d->geometry, &info);
	if (!info.tracks)
		return refuse(o, SP_EUNSUP, err,
			      "semiseq follows the tracks of a drive, and the volume has no known "
			      "tracks: name a simulated drive or a geometry with tracks, or choose "
			      "placement contiguous");
	if (o->volumes > SP__LANEMAP_VOLUMES_MAX)
		return refuse(o, SP_ESYNTAX, err, "a table has 1 to 64 volumes");
	rc = sp__lanemap_set_sizes(s, o, info.blocks, info.block_bytes, err);
	s->depth = o->depth;
	if (!rc && s->volumes > 1 && info.blocks % s->cell_blocks)
		return sp__errf(err, SP_EUNSUP, "create", o->path, -1,
				"a drive of %llu blocks is not a whole number of cells of %u "
				"bytes: choose smaller cells",
				(unsigned long long)info.blocks, o->cell_bytes);
	return rc;
}

static int set_depth(struct sp__lanemap *s, const struct sp__lanemap_opts *o,
		     const struct sp__volume_drive *d, struct sp_errinfo *err)
{
	uint32_t track, hop = hop_of(s, &track);

	if (!o->depth) {
		choose_depth(s, d);
		return 0;
	}
	if (s->depth > s->lanes)
		return sp__errf(err, SP_ESYNTAX, "create", o->path, -1,
				"%u rows of depth: an A-page has %u cells", s->depth, s->lanes);
	if (s->depth > 1 && (uint64_t)s->depth * hop > track)
		return sp__errf(err, SP_EUNSUP, "create", o->path, -1,
				"%u rows of depth take %llu blocks of hops, more than a track of "
				"%u: the maximum is %u",
				s->depth, (unsigned long long)s->depth * hop, track,
				(unsigned)sp__max(track / hop, 1));
	return 0;
}

/*
 * Finds by how much a hop of one track must be longer for writes, which settle longer, with the
 * host's time between two requests.  Returns 0, or an error of sp_geometry_hop().
 */
static int more_of_writes(const struct sp__volume_drive *d, double *deg)
{
	const struct sp_geometry *g = d->geometry;
	struct sp_geometry_info info;
	double read, write;
	int rc = sp_geometry_hop(g, SP_GEOMETRY_READ, 1, &read);

	if (!rc)
		rc = sp_geometry_hop(g, SP_GEOMETRY_WRITE, 1, &write);
	if (rc)
		return rc;
	sp_geometry_info(g, &info);
	*deg = fmax(write - read, 0) + 360 * d->facts.host_ns / info.period_ns;
	return 0;
}

/* Finds the zones and hops of the drive. */
static int set_zones(struct sp__lanemap *s, const struct sp__lanemap_opts *o,
		     const struct sp__volume_drive *d, struct sp_errinfo *err)
{
	double extra_deg = 0;
	int rc = o->aim_writes ? more_of_writes(d, &extra_deg) : 0;

	if (rc)
		return refuse(o, SP_EUNSUP, err,
			      "the geometry has no hops of writes: choose the aim of reads");
	s->like->multimap.host_ns = d->facts.host_ns;
	rc = sp__multimap_zones(&s->like->multimap, d->geometry, 0, SP__AIM_TRACK, extra_deg);
	if (rc == SP_EUNSUP)
		return refuse(o, rc, err,
			      "semiseq needs the times of hops, which the geometry does not have: "
			      "probe the drive again");
	return rc ? sp__err(err, rc, "create", o->path, -1) : 0;
}

static int plan(struct sp__lanemap *s, const struct sp__lanemap_opts *o, struct sp_errinfo *err)
{
	struct sp__volume_drive d;
	int rc = sp__volume_drive_find(&d, o->run, o->volumes, o->path, err);

	if (!rc)
		rc = set_sizes(s, o, &d, err);
	if (!rc && !(s->like = calloc(1, sizeof(*s->like))))
		rc = sp__err(err, -ENOMEM, "create", o->path, -1);
	if (!rc)
		rc = set_zones(s, o, &d, err);
	if (!rc) {
		settle(s);
		rc = set_depth(s, o, &d, err);
	}
	sp__volume_drive_free(&d);
	return rc;
}

const struct sp__lanemap_kind sp__lanes_on_tracks = {
	.placement = SP_PLACE_SEMISEQ,
	.plan = plan,
	.free = free_tracks,
	.code = code,
	.describe = describe,
	.place = place,
	.run = run,
	.find = find,
};
