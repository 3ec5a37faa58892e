/* SPDX-License-Identifier: MIT */
/*
 * Computes the geometry of a device model exactly, of an array too; measures devices without
 * tracks.
 *
 * Algorithm.  Tracks come from the drive's track map, region by region.  The need of a hop of k
 * tracks is the worst case over the tracks where it can start.  Cylinder and head repeat with the
 * pattern of a region, so the tracks of one pattern at the start of each region represent all
 * inside it.  Regions of one shape are examined once.
 *
 * At a border of regions, the arm might have to move farther than inside (a serpentine that ends
 * where it began has the whole width of a zone to the next one).  If a hop across the border needs
 * more than its step of the curve and more than the aim, the later zone is marked apart, and no
 * adjacent block is found across the border: a missing block is better than a lost revolution.
 * (Where a surface ends and the next begins, a hop of one cylinder also switches heads; that is
 * more than the same hop elsewhere, but less than the aim.)
 *
 * W = (positioning + settling of a write + overhead + delay by the bus of the end of a read, or the
 * start of a write, of one block) / period, for each operation with separate seeks.  Needs of hops
 * of up to HOPS tracks are tabulated.  Cylinder and head of the surrounding tracks are computed
 * once, so a hop costs a subtraction and a look-up in the table of seeks.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "dev/drive.h"
#include "dev/drive_impl.h"
#include "dev/geometry.h"
#include "dev/mems.h"
#include "dev/raid.h"

/*
 * The geometry of an array of drives.  If its stripes are the tracks of the drives, the array has
 * tracks: n of them, one of each drive, follow one another at the same angle, like tracks of one
 * drive with n times the surfaces, and n - 1 of n boundaries take no time.  A hop of k tracks
 * advances k / n tracks, rounded up, of a drive, so an aim reaches n times as many tracks.  Tracks
 * n apart are neighbours on one drive.  For these, the aim holds in any case, otherwise only
 * because all platters rotate in step.
 *
 * With stripes of one size there are no tracks: a stripe begins anywhere on a track.
 *
 * Source: Shao 2008, sections 2.4 and 4.5.
 */

/* Returns the slips of a zone, on the tracks of all drives; the caller frees them. */
static uint64_t *all_slips(const struct sp__trackmap *map, unsigned n)
{
	uint64_t *slips = calloc(map->nslips * n + 1, sizeof(*slips)), *to = slips;
	struct sp__track t;

	for (size_t i = 0; slips && i < map->nslips; i++) {
		sp__trackmap_at(map, map->slips[i], &t);
		for (unsigned d = 0; d < n; d++)
			*to++ = t.first_sector * n + (uint64_t)d * t.sectors +
				(map->slips[i] - t.first_sector);
	}
	if (slips)
		qsort(slips, map->nslips * n, sizeof(*slips), sp__by_sector);
	return slips;
}

static int multiply_zone(struct sp_geometry *g, const struct sp__geozone *of, unsigned n,
			 struct sp_errinfo *err)
{
	const struct sp__region *r = &of->map->regions[0];
	struct sp__region all = { .tracks = r->tracks * n,
				  .start = r->start,
				  .skew_den = r->skew_den,
				  .npattern = r->npattern * n };
	struct sp__geozone zone = { .first_lbn = of->first_lbn * n,
				    .apart = of->apart,
				    .round = of->round * n };
	uint64_t *slips = all_slips(of->map, n);
	int rc = -ENOMEM;

	all.pattern = calloc(all.npattern, sizeof(*all.pattern));
	for (uint32_t i = 0; all.pattern && i < all.npattern; i++) {
		all.pattern[i] = r->pattern[i / n];
		if ((i + 1) % n)
			all.pattern[i].skew = 0;
	}
	if (slips && all.pattern)
		rc = sp__geometry_add_zone(g, zone, &all, slips, of->map->nslips * n, err);
	free(all.pattern);
	free(slips);
	return rc;
}

static int multiply_hops(struct sp__hops *h, const struct sp__hops *of, unsigned n)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < of->nsteps; i++)
		rc = sp__hops_add(h, of->steps[i].tracks * n, of->steps[i].w_deg);
	return rc;
}

static int multiply_tracks(struct sp_geometry *g, const struct sp_geometry *one, unsigned n,
			   struct sp_errinfo *err)
{
	int rc = sp__geometry_text(&g->layout, one->layout);

	g->surfaces = one->surfaces * n;
	g->period_num = one->period_num;
	g->period_den = one->period_den;
	memcpy(g->overhead_ns, one->overhead_ns, sizeof(g->overhead_ns));
	for (size_t i = 0; !rc && i < SP__CURVES; i++)
		rc = multiply_hops(&g->curves[i], &one->curves[i], n);
	for (size_t i = 0; !rc && i < one->nseeks; i++)
		rc = sp__geometry_add_seek(g, one->seeks[i].distance, one->seeks[i].ns);
	for (size_t i = 0; !rc && i < one->nzones; i++)
		rc = multiply_zone(g, &one->zones[i], n, err);
	return rc;
}

/*
 * Changes the geometry of a drive to that of an array of such drives; tracks: they are its stripes.
 * The seek is that of a drive, the rate that of stripe_drives drives.
 */
static int geometry_array(struct sp_geometry *g, const struct sp__model *drive,
			  unsigned stripe_drives, bool tracks, struct sp_errinfo *err)
{
	struct sp_geometry *one;
	int rc = sp__geometry_of(&one, drive, err);

	if (rc)
		return rc;
	g->transfer_s_per_mib = one->transfer_s_per_mib / stripe_drives;
	g->seek_s = one->seek_s;
	g->stripe_drives = stripe_drives;
	g->drive = one;
	return tracks ? multiply_tracks(g, one, stripe_drives, err) : 0;
}

/*
 * The planner's t and s of a device without tracks are measured on its model.  A request of one MiB
 * at one location is followed by a longer one at another.  Both begin with the same positioning, so
 * their difference is the transfer of the further MiB, and the rest of the first one is s.  The
 * longer one has two MiB, but up to 64 on MEMS storage, where a MiB takes more time if the sled has
 * to move to another cylinder in it.
 */
#define MB (1u << 20)

/* Returns the virtual time to read this many bytes at lbn, with the device idle since now. */
static uint64_t serve(struct sp__device *dev, uint64_t *lanes, uint64_t lbn, uint32_t bytes,
		      uint64_t now)
{
	const struct sp__device_ops *ops = dev->model->ops;
	uint32_t left = bytes / dev->model->block_bytes;
	uint64_t start = now + dev->model->overhead_ns[0], end = start;

	for (unsigned i = 0; i < dev->model->lanes; i++)
		lanes[i] = start;
	while (left) {
		struct sp__subreq subreqs[SP__DEV_SUBREQS_MAX];
		uint32_t blocks = left;
		unsigned n = ops->split(dev->model, dev->state, start, false, lbn, &blocks, subreqs,
					SP__DEV_SUBREQS_MAX);

		for (unsigned i = 0; i < n; i++) {
			uint64_t *lane = &lanes[subreqs[i].lane];
			struct sp__service s;

			ops->serve(dev->model, dev->state, *lane, &subreqs[i], &s);
			*lane = s.done_ns;
			end = s.done_ns > end ? s.done_ns : end;
		}
		lbn += blocks;
		left -= blocks;
	}
	return end - now;
}

/* Fills in transfer_s_per_mib and seek_s by measuring the model's device.  Returns 0 or -ENOMEM. */
static int geometry_measure(struct sp_geometry *g, const struct sp__model *m)
{
	struct sp__device dev;
	uint64_t in_quarter = m->blocks / (4 * MB / m->block_bytes), *lanes, one, all, each;
	uint32_t n = sp__model_mems(m) ? (uint32_t)sp__min(64, in_quarter) : 2;
	int rc;

	if (m->blocks < UINT64_C(8) * MB / m->block_bytes)
		return 0; /* too small for the requests: t and s stay unknown */
	rc = sp__device_open(&dev, m);
	if (rc)
		return rc;
	lanes = calloc(m->lanes, sizeof(*lanes));
	if (lanes) {
		one = serve(&dev, lanes, m->blocks / 4, MB, 0);
		all = serve(&dev, lanes, m->blocks / 2, n * MB, one);
		if (all > one) {
			each = (all - one) / (n - 1);
			g->transfer_s_per_mib = (double)each * 1e-9;
			g->seek_s = one > each ? (double)(one - each) * 1e-9 : 0;
		}
	}
	free(lanes);
	sp__device_close(&dev);
	return lanes ? 0 : -ENOMEM;
}

#define HOPS 2048

struct at {
	uint32_t cyl, head;
};

struct curve {
	const struct sp__drive *d;
	uint64_t *seek_ns;	 /* by distance in cylinders, below cylinders */
	bool *apart;		 /* regions into which a hop can need more than inside */
	struct at *at;		 /* the tracks examined */
	uint64_t first;		 /* number of the first of them */
	uint64_t need[HOPS + 1]; /* need of a hop of exactly this many tracks */
	uint64_t most[HOPS + 1]; /* maximum need of hops of at most this many tracks */
	uint64_t within[HOPS + 1], max_within[HOPS + 1]; /* inside a round of bands */
	uint64_t farthest_within;
	uint64_t farthest; /* longest hop inside a region; at most HOPS */
	uint64_t plateau;  /* need that the aim allows for */
};

static uint64_t hop_ns(const struct curve *c, const struct at *from, const struct at *to)
{
	uint32_t distance = to->cyl > from->cyl ? to->cyl - from->cyl : from->cyl - to->cyl;
	uint64_t ns = c->seek_ns[distance];

	return from->head != to->head && ns < c->d->head_switch_ns ? c->d->head_switch_ns : ns;
}

static int look_at(struct curve *c, uint64_t first, uint64_t n)
{
	struct sp__track t;

	if (!SP__ARRAY_RESIZE(c->at, n))
		return -ENOMEM;
	c->first = first;
	for (uint64_t i = 0; i < n; i++) {
		sp__trackmap_track(c->d->map, first + i, &t);
		sp__drive_where(c->d, &t, &c->at[i].cyl, &c->at[i].head);
	}
	return 0;
}

/*
 * Returns the tracks of a round of bands, after which the arm moves to the next round; 0: no
 * rounds.
 */
static uint64_t rounds(const struct sp__drive *d, size_t region)
{
	const struct sp__span *s = &d->spans[region];

	return d->layout == SP__LAYOUT_HYBRID_SERPENTINE ? (uint64_t)s->band * s->heads : 0;
}

/*
 * Computes hops inside a region, from each track of its first pattern; by cylinders if these
 * continue regularly.
 */
static int inside(struct curve *c, size_t region)
{
	const struct sp__region *r = &c->d->map->regions[region];
	const struct sp__span *s = &c->d->spans[region];
	uint64_t period = s->band ? (uint64_t)s->band * s->heads : 2 * (uint64_t)s->heads;
	uint64_t starts = sp__min(s->heads == 1 && s->band == s->cyls ? 1 : period, r->tracks);
	bool goes_on = c->d->layout == SP__LAYOUT_CYLINDER;
	uint64_t n =
		sp__min(starts + HOPS, goes_on ? c->d->map->tracks - r->first_track : r->tracks);

	if (look_at(c, r->first_track, n))
		return -ENOMEM;
	for (uint64_t i = 0; i < starts; i++) {
		uint64_t last = sp__min(HOPS, n - 1 - i);

		for (uint64_t k = 1; k <= last; k++) {
			uint64_t ns = hop_ns(c, &c->at[i], &c->at[i + k]);

			c->need[k] = sp__max(c->need[k], ns);
			if (!rounds(c->d, region) || i + k >= period)
				continue;
			c->within[k] = sp__max(c->within[k], ns);
			c->farthest_within = sp__max(c->farthest_within, k);
		}
		c->farthest = last > c->farthest ? last : c->farthest;
	}
	return 0;
}

static bool same_shape(const struct sp__drive *d, size_t a, size_t b)
{
	const struct sp__span *x = &d->spans[a], *y = &d->spans[b];

	return x->heads == y->heads &&
	       (x->band == y->band || (x->heads == 1 && x->band > HOPS && y->band > HOPS)) &&
	       sp__min(d->map->regions[a].tracks, 2 * HOPS) ==
		       sp__min(d->map->regions[b].tracks, 2 * HOPS);
}

static int all_inside(struct curve *c)
{
	size_t n = c->d->layout == SP__LAYOUT_CYLINDER ? 1 : c->d->map->nregions;

	for (size_t i = 0; i < n; i++) {
		size_t j = 0;

		while (j < i && !same_shape(c->d, i, j))
			j++;
		if (j == i && inside(c, i))
			return -ENOMEM;
	}
	for (unsigned k = 1; k <= HOPS; k++) {
		c->most[k] = sp__max(c->need[k], c->most[k - 1]);
		c->max_within[k] = sp__max(c->within[k], c->max_within[k - 1]);
	}
	return 0;
}

/* Decides whether a hop from before a region into it or beyond needs more than inside. */
static int crosses_badly(struct curve *c, size_t region, bool *badly)
{
	uint64_t edge = c->d->map->regions[region].first_track;
	uint64_t before = sp__min(HOPS, edge), after = sp__min(HOPS, c->d->map->tracks - edge);

	*badly = false;
	if (c->d->layout == SP__LAYOUT_CYLINDER)
		return 0; /* cylinders continue as inside */
	if (look_at(c, edge - before, before + after))
		return -ENOMEM;
	for (uint64_t i = 0; i < before && !*badly; i++) {
		uint64_t last = sp__min(HOPS, before + after - 1 - i);

		for (uint64_t k = before - i; k <= last && !*badly; k++)
			*badly = hop_ns(c, &c->at[i], &c->at[i + k]) >
				 (c->most[k] > c->plateau ? c->most[k] : c->plateau);
	}
	return 0;
}

/* Adds the angles of hops of up to `farthest` tracks, which take these times plus more_ns. */
static int put_steps(struct sp__hops *h, const uint64_t *most, uint64_t farthest, double more_ns,
		     double period_ns)
{
	for (uint64_t k = 1; k <= farthest; k++)
		if (sp__hops_add(h, k, ((double)most[k] + more_ns) / period_ns * 360))
			return -ENOMEM;
	return 0;
}

static int put_curve(struct sp_geometry *g, const struct curve *c, enum sp_geometry_op op)
{
	const struct sp__drive *d = c->d;
	double more = g->overhead_ns[op];
	int rc;

	more += op == SP_GEOMETRY_WRITE
			? (double)d->write_settle_ns + (double)sp__drive_head_ns(d, 1)
			: (double)sp__drive_tail_ns(d, 1);
	rc = put_steps(&g->hops[op], c->most, c->farthest, more, g->period_ns);
	return rc ? rc
		  : put_steps(&g->within[op], c->max_within, c->farthest_within, more,
			      g->period_ns);
}

static int mark_apart(struct curve *c, const struct sp__hops *h, double period_ns)
{
	double aim = h->nsteps ? sp__hops_knee(h, period_ns) : 0;
	int rc = 0;

	c->plateau = 0;
	for (size_t i = 0; i < h->nsteps; i++)
		if (h->steps[i].w_deg <= aim)
			c->plateau = c->most[h->steps[i].tracks];
	for (size_t i = 1; i < c->d->map->nregions && !rc; i++)
		if (!c->apart[i])
			rc = crosses_badly(c, i, &c->apart[i]);
	return rc;
}

/* Adds the hops of an operation with separate seeks. */
static int put_hops(struct sp_geometry *g, struct curve *c, enum sp_geometry_op op)
{
	int rc;

	for (uint32_t i = 0; i < c->d->cylinders; i++)
		c->seek_ns[i] = sp__drive_seek_ns(c->d, i, op == SP_GEOMETRY_WRITE);
	memset(c->need, 0, sizeof(c->need));
	memset(c->within, 0, sizeof(c->within));
	rc = all_inside(c);
	if (!rc)
		rc = put_curve(g, c, op);
	return rc ? rc : mark_apart(c, &g->hops[op], g->period_ns);
}

/* Adds a region, with its slips counted from its first sector. */
static int add_region(struct sp_geometry *g, const struct sp__drive *d, size_t region, bool apart,
		      struct sp_errinfo *err)
{
	const struct sp__trackmap *map = d->map;
	const struct sp__region *r = &map->regions[region];
	uint64_t first = r->first_sector, *slips = NULL, end = map->sectors;
	size_t from = 0, n = 0;
	int rc;

	if (region + 1 < map->nregions)
		end = r[1].first_sector;
	while (from < map->nslips && map->slips[from] < first)
		from++;
	while (from + n < map->nslips && map->slips[from + n] < end)
		n++;
	if (n) {
		slips = calloc(n, sizeof(*slips));
		if (!slips)
			return -ENOMEM;
		for (size_t i = 0; i < n; i++)
			slips[i] = map->slips[from + i] - first;
	}
	rc = sp__geometry_add_zone(g,
				   (struct sp__geozone){ .first_lbn = sp__trackmap_lbn(map, first),
							 .apart = apart,
							 .round = rounds(d, region) },
				   r, slips, n, err);
	free(slips);
	return rc;
}

static int put_seeks(struct sp_geometry *g, const struct sp__drive *d)
{
	uint64_t third = sp__drive_seek_ns(d, d->cylinders / 3, false);

	g->seek_s = ((double)third + g->period_ns / 2) * 1e-9;
	if (d->surfaces > 1 && sp__geometry_add_seek(g, 0, (double)d->head_switch_ns))
		return -ENOMEM;
	for (size_t i = 0; i < d->seek[0].n; i++) {
		const struct sp__seekpoint *p = &d->seek[0].points[i];

		if (sp__geometry_add_seek(g, p->cylinders, (double)p->ns))
			return -ENOMEM;
	}
	return 0;
}

static int put_mechanics(struct sp_geometry *g, const struct sp__drive *d, struct curve *c,
			 struct sp_errinfo *err)
{
	int rc = 0;

	c->d = d;
	c->seek_ns = calloc(d->cylinders, sizeof(*c->seek_ns));
	c->apart = calloc(d->map->nregions, sizeof(*c->apart));
	if (!c->seek_ns || !c->apart)
		return -ENOMEM;
	rc = put_hops(g, c, SP_GEOMETRY_READ);
	if (!rc)
		rc = d->seek[1].n ? put_hops(g, c, SP_GEOMETRY_WRITE)
				  : put_curve(g, c, SP_GEOMETRY_WRITE);
	for (size_t i = 0; i < d->map->nregions && !rc; i++)
		rc = add_region(g, d, i, c->apart[i], err);
	return rc ? rc : put_seeks(g, d);
}

static int put_drive(struct sp_geometry *g, const struct sp__model *m, const struct sp__drive *d,
		     struct sp_errinfo *err)
{
	struct curve *c = calloc(1, sizeof(*c));
	int rc = -ENOMEM;

	g->surfaces = d->surfaces;
	/* The overhead of a miss that follows a miss of the same kind. */
	for (int op = 0; op < 2; op++)
		g->overhead_ns[op] =
			(double)(m->overhead_ns[op] + d->overheads.begin_ns[op][0][op] +
				 d->overheads.end_ns[op]);
	g->period_num = d->period_den; /* the drive stores a rate */
	g->period_den = d->period_num;
	g->period_ns = (double)g->period_num / (double)g->period_den;
	if (c && !sp__geometry_text(&g->layout, sp__layout_names[d->layout]))
		rc = put_mechanics(g, d, c, err);
	if (c) {
		free(c->seek_ns);
		free(c->apart);
		free(c->at);
	}
	free(c);
	return rc;
}

static int put_model(struct sp_geometry *g, const struct sp__model *m, struct sp_errinfo *err)
{
	const struct sp__drive *d = sp__model_drive(m);
	unsigned stripe_drives;
	bool tracks = d;
	const struct sp__model *drive = sp__raid_drive(m, &stripe_drives, &tracks);
	int rc;

	g->blocks = m->blocks;
	g->block_bytes = m->block_bytes;
	rc = sp__geometry_text(&g->device, m->name);
	if (!rc)
		rc = sp__geometry_text(&g->source, "model");
	if (!rc)
		rc = sp__geometry_text(&g->verdict, tracks ? "rotating" : "not-rotating");
	if (rc)
		return rc;
	if (drive)
		rc = geometry_array(g, drive, stripe_drives, tracks, err);
	else
		rc = d ? put_drive(g, m, d, err) : geometry_measure(g, m);
	return rc ? rc : sp__geometry_seal(g, err);
}

int sp__geometry_of(struct sp_geometry **g, const struct sp__model *m, struct sp_errinfo *err)
{
	int rc;

	*g = sp__geometry_alloc();
	rc = *g ? put_model(*g, m, err) : -ENOMEM;
	if (!rc)
		return 0;
	sp_geometry_free(*g);
	*g = NULL;
	return rc == -ENOMEM ? sp__err(err, rc, "malloc", m->name, -1) : rc;
}

int sp_geometry_model(struct sp_geometry **g, const char *model, struct sp_errinfo *err)
{
	struct sp__model *m;
	int rc;

	*g = NULL;
	rc = sp__model_load(&m, model, err);
	if (rc)
		return rc;
	rc = sp__geometry_of(g, m, err);
	sp__model_free(m);
	return rc;
}
