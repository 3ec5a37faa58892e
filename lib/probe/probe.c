/* SPDX-License-Identifier: MIT */
/*
 * Runs the steps of a probe in order.  If a step is stopped, the results so far become a partial
 * geometry.
 */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "probe/state.h"

struct sp_probe {
	struct sp_probe_result result;
	struct sp_geometry *geometry;
};

/* Finds zones from the end of those that an earlier probe found. */
static uint64_t first_unknown(const struct sp__probe *p)
{
	return p->tracks.nzones ? sp__pzone_end(&p->tracks.zones[p->tracks.nzones - 1]) : 0;
}

/* The device rotates, but its tracks cannot be seen. */
static bool no_tracks(const struct sp__probe *p)
{
	uint64_t known = 0;

	for (size_t i = 0; i < p->tracks.nzones; i++)
		if (p->tracks.zones[i].tracks >= 4)
			known += p->tracks.zones[i].blocks;
	return !known;
}

static int find_tracks(struct sp__probe *p)
{
	const struct sp_probe_opts *opts = p->tm.opts;
	int rc = 0;

	if (opts->resume)
		rc = sp__tracks_resume(&p->tracks, opts->resume, p->err);
	if (!rc)
		rc = opts->quick && !p->tracks.nzones
			     ? sp__zones_sample(&p->tracks)
			     : sp__zones_find(&p->tracks, first_unknown(p));
	if (rc == -ENODATA)
		rc = 0;
	if (!rc)
		rc = sp__zones_join(&p->tracks);
	if (!rc)
		rc = sp__tracks_recheck(&p->tracks);
	if (!rc && no_tracks(p))
		return sp__line_find(&p->rotation);
	if (!rc)
		rc = sp__skews_find(&p->tracks);
	sp__hopper_begin(&p->hops, &p->tm, &p->tracks, &p->layout.order);
	if (!rc)
		rc = sp__layout_find(&p->layout);
	if (!rc)
		rc = sp__seeks_find(&p->seeks);
	if (p->seeks.late)
		p->layout.order = (struct sp__trackorder){ .kind = SP__ORDER_UNKNOWN };
	return rc ? rc : sp__rounds_check(&p->checks);
}

static int check(struct sp__probe *p, const struct sp_geometry *g)
{
	int rc;

	if (!p->tracks.nzones)
		return 0;
	sp__timing_progress(&p->tm, SP_PROBE_CHECKS, 0);
	rc = sp__layout_check(&p->checks);
	return rc ? rc : sp__reach_check(&p->checks, g);
}

static int finish(struct sp__probe *p, struct sp_geometry **g)
{
	int rc;

	sp__made_unknown(p);
	rc = sp__made_geometry(p, g);
	if (!rc && p->rotation.verdict == SP_PROBE_ROTATING && !p->r->stopped) {
		rc = check(p, *g);
		if (rc == -EINTR) {
			p->r->stopped = true;
			rc = 0;
		}
		/* The result includes the miss rate. */
		if (!rc) {
			sp_geometry_free(*g);
			*g = NULL;
			sp__made_unknown(p);
			rc = sp__made_geometry(p, g);
		}
	}
	return rc ? rc : sp__made_result(p, *g);
}

/* Passes each inner room those below it. */
static void begin(struct sp__probe *p, struct sp__target *t, const struct sp_probe_opts *opts)
{
	p->r->simulated = t->simulated;
	p->r->blocks = t->blocks;
	p->r->block_bytes = t->block_bytes;
	strncpy(p->r->device, t->name, sizeof(p->r->device) - 1);
	sp__timing_begin(&p->tm, t, opts);
	p->rotation.tm = p->depths.tm = &p->tm;
	p->depths.load = &p->r->load;
	sp__tracks_begin(&p->tracks, &p->tm);
	p->layout.tm = &p->tm;
	p->layout.hops = &p->hops;
	p->layout.tracks = &p->tracks;
	p->seeks.tm = &p->tm;
	p->seeks.hops = &p->hops;
	p->seeks.tracks = &p->tracks;
	p->seeks.order = &p->layout.order;
	p->checks.tm = &p->tm;
	p->checks.found = &p->r->checks;
	p->checks.hops = &p->hops;
	p->checks.tracks = &p->tracks;
	p->checks.order = &p->layout.order;
	p->checks.seeks = &p->seeks;
}

static int run(struct sp__probe *p, struct sp_geometry **g)
{
	uint64_t begin = p->tm.target->ops->now(p->tm.target);
	int rc = sp__rotation_find(&p->rotation);

	if (!rc && p->rotation.verdict == SP_PROBE_ROTATING)
		rc = sp__arms_find(&p->rotation);
	if (!rc && p->rotation.verdict == SP_PROBE_ROTATING)
		rc = find_tracks(p);
	if (!rc && p->rotation.verdict != SP_PROBE_ROTATING)
		rc = sp__depths_find(&p->depths, p->rotation.evidence.other_ns);
	if (rc == -EINTR) {
		p->r->stopped = true;
		rc = 0;
	}
	if (!rc)
		rc = finish(p, g);
	p->r->device_s = (double)(p->tm.target->ops->now(p->tm.target) - begin) / 1e9;
	return rc;
}

int sp__probe_on(struct sp_probe **out, struct sp__target *t, const struct sp_probe_opts *opts,
		 struct sp_errinfo *err)
{
	struct sp_probe *probe = calloc(1, sizeof(*probe));
	int rc = probe ? 0 : -ENOMEM;

	*out = NULL;
	if (!rc) {
		struct sp__probe p = { .r = &probe->result, .err = err };

		begin(&p, t, opts);
		rc = run(&p, &probe->geometry);
		sp__tracks_free(&p.tracks);
		free(p.seeks.seeks);
	}
	sp__target_close(t);
	if (rc) {
		sp_probe_free(probe);
		return sp__err(err, rc, "probe", opts->device, -1);
	}
	*out = probe;
	return 0;
}

int sp_probe_run(struct sp_probe **out, const struct sp_probe_opts *opts, struct sp_errinfo *err)
{
	struct sp__target *t;
	int rc = sp__target_open(&t, opts, err);

	*out = NULL;
	return rc ? rc : sp__probe_on(out, t, opts, err);
}

const struct sp_probe_result *sp_probe_result(const struct sp_probe *probe)
{
	return &probe->result;
}

const struct sp_geometry *sp_probe_geometry(const struct sp_probe *probe)
{
	return probe->geometry;
}

void sp_probe_free(struct sp_probe *probe)
{
	if (!probe)
		return;
	free(probe->result.zones);
	free(probe->result.bad);
	free(probe->result.skews_deg);
	free(probe->result.seeks);
	free(probe->result.load.rates);
	sp_geometry_free(probe->geometry);
	free(probe);
}
