/* SPDX-License-Identifier: MIT */
/*
 * Predicts queries by following the head over the tracks.
 *
 * Algorithm.  The walk of a mapping gives the runs of a query in the order in which they are
 * issued.  Runs become requests, and run/headpath.h follows the head from one to the next.
 *
 * Several volumes are drives that work concurrently: each is predicted alone, and the query takes
 * as long as the slowest.
 *
 * Memory: three queues of at most 64 passes, on the stack.
 *
 * The first positioning is a mean: a seek within the cube and half a revolution.
 */
#include <math.h>
#include "base/minmax.h"
#include "cube/choose/prediction.h"
#include "cube/mapping/walk.h"
#include "run/headpath.h"

#define CLIFF_BLOCKS 2

struct predictor {
	const struct sp__predict_opts *o;
	const struct sp_geometry *g;
	const struct sp__mapping *m;
	unsigned ndrives;
	uint64_t first, blocks; /* the request that is being built */
	uint64_t runs, cells, requests, seeks, read, next_block;
	struct sp__headpath drives[3];
};

static void issue(struct predictor *p, uint64_t first, uint64_t blocks)
{
	struct sp__headpass pass;

	sp__headpass_make(p->g, false, first, blocks, &pass);
	p->requests++;
	p->seeks += !p->read || first != p->next_block;
	p->read += blocks;
	p->next_block = first + blocks;
	for (unsigned i = 0; i < p->ndrives; i++)
		sp__headpath_issue(&p->drives[i], &pass);
}

static void issue_all(struct predictor *p)
{
	uint64_t max = p->o->request_blocks ? p->o->request_blocks : UINT64_MAX;

	while (p->blocks) {
		uint64_t n = sp__min(p->blocks, max);

		issue(p, p->first, n);
		p->first += n;
		p->blocks -= n;
	}
}

static int see_run(void *arg, uint64_t first, uint64_t cells)
{
	struct predictor *p = arg;
	uint64_t blocks = cells * p->m->cell_blocks, end = p->first + p->blocks;

	(void)sp__basicgrid_volume(&p->m->basic, &first);
	if (p->blocks && first >= end && first - end <= p->o->gap_blocks) {
		p->blocks = first + blocks - p->first;
	} else {
		issue_all(p);
		p->first = first;
		p->blocks = blocks;
	}
	p->cells += cells;
	return p->o->runs_max && ++p->runs == p->o->runs_max;
}

static void begin(struct predictor *p, const struct sp__predict_opts *o,
		  const struct sp__mapping *m)
{
	static const double late[] = { 0, CLIFF_BLOCKS, -CLIFF_BLOCKS };
	bool tracks = o->geometry->nzones > 0;
	uint64_t first =
		m->kind == SP_CUBE_MULTIMAP ? m->multimap.zones[0].first_block : m->first_block;
	double mean_ns =
		tracks ? sp__headpath_mean_ns(o->geometry, first, sp__mapping_end(m) - first) : 0;

	p->o = o;
	p->g = o->geometry;
	p->m = m;
	p->ndrives = !tracks ? 0 : o->cliffs ? 3 : 1;
	for (unsigned i = 0; i < p->ndrives; i++) {
		struct sp__headpath *h = &p->drives[i];

		h->g = p->g;
		h->depth = (unsigned)sp__min(sp__max(o->depth, 1), SP__HEADPATH_DEPTH_MAX);
		h->fifo = o->fifo;
		h->window = o->window;
		h->host_ns = o->host_ns;
		h->late_blocks = late[i];
		h->mean_ns = mean_ns;
	}
}

/*
 * Makes a box with fewer rows and the same mean time per row.  Rows of MultiMap take different
 * times in different cubes, so the box keeps all cubes and has fewer coordinates along the outer
 * dimensions.  Dimension 1 stays, because its rows follow each other by hops.
 */
static void thin(const struct sp__mapping *m, struct sp_cube_box *box, uint64_t rows_max)
{
	uint64_t rows = sp__box_cells(box, m->grid.n) / sp__box_count(box, m->order[0]);

	if (!rows_max || m->kind != SP_CUBE_MULTIMAP)
		return;
	for (unsigned i = m->grid.n; i-- > 2 && rows > rows_max;) {
		unsigned d = m->order[i];
		uint64_t count = sp__box_count(box, d);

		box->stride[d] *= sp__min(count, sp__div_up(rows, rows_max));
		rows = rows / count * sp__box_count(box, d);
	}
}

/* Without tracks: overhead per request, a mean seek per seek, transfer per block. */
static double ns_without_tracks(const struct predictor *p)
{
	double each = p->g->overhead_ns[SP_GEOMETRY_READ] + p->o->host_ns;

	return (double)p->requests * each + (double)p->seeks * p->g->seek_s * 1e9 +
	       sp__headpath_transfer_ns(p->g, p->read);
}

static double finish(struct predictor *p, unsigned drive, double scale)
{
	struct sp__headpath *h = &p->drives[drive];

	sp__headpath_drain(h);
	return h->start_ns + (h->now_ns - h->start_ns) * scale;
}

/* Predicts the part of the query on one volume. */
static void predict_volume(const struct sp__predict_opts *o, const struct sp__mapping *m,
			   const struct sp_cube_box *box, unsigned volume,
			   struct sp__cube_prediction *out)
{
	struct sp_cube_box part = *box;
	struct predictor p = { 0 };
	struct sp__cubewalk walk;
	double scale, ns[3];

	begin(&p, o, m);
	thin(m, &part, o->runs_max);
	sp__cubewalk_begin(&walk, m, &part, volume);
	(void)sp__cubewalk_runs(&walk, see_run, &p);
	issue_all(&p);
	if (!p.cells)
		return;
	scale = (double)sp__cubewalk_cells(m, box, volume) / (double)p.cells;
	ns[0] = p.ndrives ? finish(&p, 0, scale) : ns_without_tracks(&p) * scale;
	ns[1] = p.ndrives > 1 ? finish(&p, 1, scale) : ns[0];
	ns[2] = p.ndrives > 2 ? finish(&p, 2, scale) : ns[0];
	out->ns = fmax(out->ns, ns[0]);
	out->late_ns = fmax(out->late_ns, ns[1]);
	out->early_ns = fmax(out->early_ns, ns[2]);
	out->requests += (double)p.requests * scale;
	out->seeks += (double)p.seeks * scale;
	out->blocks += (double)p.read * scale;
}

int sp__predict_box(const struct sp__predict_opts *o, const struct sp__mapping *m,
		    const struct sp_cube_box *box, struct sp__cube_prediction *out)
{
	if (!o->geometry || (!o->geometry->nzones && !(o->geometry->transfer_s_per_mib > 0)))
		return -ENODATA;
	*out = (struct sp__cube_prediction){ 0 };
	for (unsigned v = 0; v < m->basic.volumes; v++)
		predict_volume(o, m, box, v, out);
	return 0;
}
