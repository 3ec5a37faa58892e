/* SPDX-License-Identifier: MIT */
/*
 * The steps of a probe in order, and what happens when one of them is told to
 * stop: what is known by then is made into a partial geometry.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "probe/state.h"

#define BLOCKS_MIN 64

struct sp_probe {
	struct sp_probe_result result;
	struct sp_geometry *geometry;
};

int sp__probe_stopped(const struct sp__probe *p)
{
	return p->opts->stop && *p->opts->stop ? -EINTR : 0;
}

void sp__probe_progress(struct sp__probe *p, enum sp_probe_step step, double done)
{
	if (p->opts->progress)
		p->opts->progress(p->opts->progress_arg, step, done);
}

const char *sp_probe_verdict_name(enum sp_probe_verdict verdict)
{
	static const char *const names[] = {
		[SP_PROBE_INCONCLUSIVE] = "inconclusive",
		[SP_PROBE_ROTATING] = "rotating",
		[SP_PROBE_NOT_ROTATING] = "not-rotating",
		[SP_PROBE_LAYERED] = "layered",
	};

	return names[verdict];
}

const char *sp_probe_step_name(enum sp_probe_step step)
{
	static const char *const names[] = {
		[SP_PROBE_ROTATION] = "rotation", [SP_PROBE_PERIOD] = "period",
		[SP_PROBE_ZONES] = "zones",	  [SP_PROBE_SKEWS] = "skews",
		[SP_PROBE_SEEKS] = "seeks",	  [SP_PROBE_CHECKS] = "checks",
		[SP_PROBE_DEPTHS] = "depths",
	};

	return names[step];
}

int sp__probe_open(struct sp__probe *p, const struct sp_probe_opts *opts, struct sp_probe_result *r,
		   struct sp_errinfo *err)
{
	const char *name = opts->device;
	int rc;

	*p = (struct sp__probe){ .opts = opts, .r = r, .err = err };
	p->rng.state = sp__mix64(opts->seed + 77);
	if (strncmp(name, "sim:", 4) == 0)
		rc = sp__target_sim(&p->t, name + 4, err);
	else
		rc = sp__target_file(&p->t, name, opts->overwrite_bytes > 0, err);
	if (rc)
		return rc;
	if (p->t->blocks < BLOCKS_MIN)
		return sp__errf(err, SP_EFORMAT, "open", name, -1,
				"too small to be probed: %llu blocks of %u bytes",
				(unsigned long long)p->t->blocks, p->t->block_bytes);
	r->simulated = p->t->simulated;
	r->blocks = p->t->blocks;
	r->block_bytes = p->t->block_bytes;
	strncpy(r->device, p->t->name, sizeof(r->device) - 1);
	if (!p->t->simulated && opts->overwrite_bytes) {
		p->t->write_first = opts->overwrite_offset / p->t->block_bytes +
				    (opts->overwrite_offset % p->t->block_bytes != 0);
		p->t->write_blocks =
			(opts->overwrite_offset + opts->overwrite_bytes) / p->t->block_bytes -
			p->t->write_first;
		if (p->t->write_first >= p->t->blocks ||
		    p->t->write_blocks > p->t->blocks - p->t->write_first)
			return sp__errf(err, -EINVAL, "open", name, -1,
					"the range to overwrite is not inside the device");
	}
	return 0;
}

void sp__probe_close(struct sp__probe *p)
{
	for (size_t i = 0; i < p->nzones; i++)
		sp__pzone_clear(&p->zones[i]);
	free(p->zones);
	sp__target_close(p->t);
}

/* Where zones are to be looked for when an earlier probe knew some. */
static uint64_t first_unknown(const struct sp__probe *p)
{
	const struct sp__pzone *z;

	if (!p->nzones)
		return 0;
	z = &p->zones[p->nzones - 1];
	return z->first_lbn + z->blocks;
}

/* Something turns, but no track of it can be seen. */
static bool no_tracks(const struct sp__probe *p)
{
	uint64_t known = 0;

	for (size_t i = 0; i < p->nzones; i++)
		if (p->zones[i].tracks >= 4)
			known += p->zones[i].blocks;
	return !known;
}

static int find_tracks(struct sp__probe *p)
{
	int rc = 0;

	if (p->opts->resume)
		rc = sp__made_resume(p, p->opts->resume);
	if (!rc)
		rc = p->opts->quick && !p->nzones ? sp__zones_sample(p)
						  : sp__zones_find(p, first_unknown(p));
	if (rc == -ENODATA)
		rc = 0;
	if (!rc)
		rc = sp__zones_mend(p);
	if (!rc && no_tracks(p)) {
		p->r->verdict = SP_PROBE_LAYERED;
		return 0;
	}
	if (!rc)
		rc = sp__skews_find(p);
	if (!rc)
		rc = sp__layout_find(p);
	return rc ? rc : sp__seeks_find(p);
}

static int finish(struct sp__probe *p, struct sp_geometry **g)
{
	int rc = sp__made_geometry(p, g);

	if (!rc && p->r->verdict == SP_PROBE_ROTATING && !p->r->stopped) {
		rc = sp__checks(p, *g);
		if (rc == -EINTR) {
			p->r->stopped = true;
			rc = 0;
		}
		/* The miss rate belongs into it. */
		if (!rc) {
			sp_geometry_free(*g);
			*g = NULL;
			rc = sp__made_geometry(p, g);
		}
	}
	return rc ? rc : sp__made_result(p, *g);
}

static int run(struct sp__probe *p, struct sp_geometry **g)
{
	uint64_t begin = p->t->ops->now(p->t);
	int rc = sp__rotation_find(p);

	if (!rc && p->r->verdict == SP_PROBE_ROTATING)
		rc = find_tracks(p);
	if (!rc && p->r->verdict != SP_PROBE_ROTATING)
		rc = sp__depths_find(p);
	if (rc == -EINTR) {
		p->r->stopped = true;
		rc = 0;
	}
	if (!rc)
		rc = finish(p, g);
	p->r->device_s = (double)(p->t->ops->now(p->t) - begin) / 1e9;
	return rc;
}

int sp_probe_run(struct sp_probe **out, const struct sp_probe_opts *opts, struct sp_errinfo *err)
{
	struct sp_probe *probe = calloc(1, sizeof(*probe));
	struct sp__probe p;
	int rc;

	*out = NULL;
	if (!probe)
		return sp__err(err, -ENOMEM, "probe", opts->device, -1);
	rc = sp__probe_open(&p, opts, &probe->result, err);
	if (!rc)
		rc = run(&p, &probe->geometry);
	sp__probe_close(&p);
	if (rc) {
		sp_probe_free(probe);
		return sp__err(err, rc, "probe", opts->device, -1);
	}
	*out = probe;
	return 0;
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
	free(probe->result.rates);
	sp_geometry_free(probe->geometry);
	free(probe);
}
