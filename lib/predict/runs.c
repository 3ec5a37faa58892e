/* SPDX-License-Identifier: MIT */
/*
 * Predicts the runs of a query on one volume.
 *
 * Algorithm.  Runs become requests, and heads.h follows the head from one to the next.
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
#include "predict/runs.h"

#define CLIFF_BLOCKS 2

bool sp__predictable(const struct sp__predict_opts *o)
{
	return o->geometry && (o->geometry->nzones || o->geometry->transfer_s_per_mib > 0);
}

static void issue(struct sp__predictor *p, uint64_t first, uint64_t blocks)
{
	struct sp__headpass pass;

	sp__headpass_make(p->o->geometry, false, first, blocks, &pass);
	p->requests++;
	p->seeks += !p->read || first != p->next_block;
	p->read += blocks;
	p->next_block = first + blocks;
	for (unsigned i = 0; i < p->nhosts; i++) {
		sp__heads_make_room(&p->hosts[i], &p->drives[i]);
		p->hosts[i].host_ns += p->o->host_ns;
		sp__heads_issue(&p->hosts[i], &p->drives[i], &pass);
	}
}

static void issue_all(struct sp__predictor *p)
{
	uint64_t max = p->o->request_blocks ? p->o->request_blocks : UINT64_MAX;

	while (p->blocks) {
		uint64_t n = sp__min(p->blocks, max);

		issue(p, p->first, n);
		p->first += n;
		p->blocks -= n;
	}
}

bool sp__predictor_run(struct sp__predictor *p, uint64_t first, uint64_t blocks)
{
	uint64_t end = p->first + p->blocks;

	if (p->blocks && first >= end && first - end <= p->o->gap_blocks) {
		p->blocks = first + blocks - p->first;
	} else {
		issue_all(p);
		p->first = first;
		p->blocks = blocks;
	}
	return p->o->runs_max && ++p->runs == p->o->runs_max;
}

void sp__predictor_begin(struct sp__predictor *p, const struct sp__predict_opts *o, uint64_t first,
			 uint64_t end)
{
	static const double late[] = { 0, CLIFF_BLOCKS, -CLIFF_BLOCKS };
	bool tracks = o->geometry->nzones > 0;
	double mean_ns = tracks ? sp__headpath_mean_ns(o->geometry, first, end - first) : 0;

	*p = (struct sp__predictor){ .o = o };
	p->nhosts = !tracks ? 0 : o->cliffs ? 3 : 1;
	for (unsigned i = 0; i < p->nhosts; i++) {
		p->drives[i] = (struct sp__headpath){ .g = o->geometry,
						      .fifo = o->fifo,
						      .window = o->window,
						      .late_blocks = late[i],
						      .mean_ns = mean_ns };
		p->hosts[i] = (struct sp__heads){ .drives = &p->drives[i],
						  .n = 1,
						  .depth = (unsigned)sp__max(o->depth, 1) };
	}
}

void sp__predictor_drain(struct sp__predictor *p)
{
	issue_all(p);
	for (unsigned i = 0; i < p->nhosts; i++)
		sp__heads_drain(&p->hosts[i]);
}

/* Without tracks: overhead per request, a mean seek per seek, transfer per block. */
static double ns_without_tracks(const struct sp__predictor *p)
{
	const struct sp_geometry *g = p->o->geometry;
	double each = g->overhead_ns[SP_GEOMETRY_READ] + p->o->host_ns;

	return (double)p->requests * each + (double)p->seeks * g->seek_s * 1e9 +
	       sp__headpath_transfer_ns(g, p->read);
}

static double drive_ns(const struct sp__predictor *p, unsigned drive, double scale)
{
	const struct sp__headpath *h = &p->drives[drive];

	return h->start_ns + (h->now_ns - h->start_ns) * scale;
}

void sp__predictor_end(struct sp__predictor *p, double scale, struct sp__runs_prediction *out)
{
	double ns[3];

	sp__predictor_drain(p);
	ns[0] = p->nhosts ? drive_ns(p, 0, scale) : ns_without_tracks(p) * scale;
	ns[1] = p->nhosts > 1 ? drive_ns(p, 1, scale) : ns[0];
	ns[2] = p->nhosts > 2 ? drive_ns(p, 2, scale) : ns[0];
	out->ns = fmax(out->ns, ns[0]);
	out->late_ns = fmax(out->late_ns, ns[1]);
	out->early_ns = fmax(out->early_ns, ns[2]);
	out->requests += (double)p->requests * scale;
	out->seeks += (double)p->seeks * scale;
	out->blocks += (double)p->read * scale;
}
