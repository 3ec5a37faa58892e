/* SPDX-License-Identifier: MIT */
/*
 * Computes the costs of a run from the mechanics of its device and from the simulated machine.
 *
 * Algorithm.  The time per byte is the mean over consecutive tracks of the geometry
 * (pass_tracks()).  The time between two locations is the mean over sampled pairs of locations
 * (sp__costs_jump()).  If the drive reorders requests, the mean is that of the minimum of several
 * pairs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"
#include "dev/drive.h"
#include "dev/flash.h"
#include "dev/geometry.h"
#include "dev/raid.h"
#include "run/costs.h"
#include "run/volume_spec.h"
#include "sim/machine.h"

#define LOOKED_AT 64 /* tracks, whose mean is used */
#define ALLOW_S 1e-7 /* rounding of angles */
/* Sampled pairs of locations: spread evenly over a run, up to DRIFTS / 2 chunks apart. */
#define SAMPLES 210
#define GOLDEN 0.6180339887498949
#define DRIFTS 5

/* Returns how much longer a write's hop takes than a read's, besides the overhead. */
static double settle_s(const struct sp__costs *c)
{
	double read, write;

	if (sp_geometry_hop(c->geometry, SP_GEOMETRY_READ, 1, &read) < 0 ||
	    sp_geometry_hop(c->geometry, SP_GEOMETRY_WRITE, 1, &write) < 0)
		return 0;
	return fmax((write - read) / 360 * c->rev_s - c->overhead_s[1] + c->overhead_s[0], 0);
}

/* Returns the time from a track to the next one: a head switch, or a seek of one cylinder. */
static double change_s(const struct sp__costs *c, uint64_t track)
{
	const struct sp_geometry *g = c->geometry;
	bool heads = g->layout && !strncmp(g->layout, "cylinder", 8) && g->surfaces &&
		     (track + 1) % g->surfaces;

	return g->nseeks ? sp__geometry_seek_ns(g, heads ? 0 : 1) * 1e-9 : 0;
}

/* Finds the next track with blocks: others are spare, or bad.  Returns false if there is none. */
static bool next_track(const struct sp_geometry *g, uint64_t number, struct sp_track *t)
{
	do {
		if (sp_geometry_track_number(g, ++number, t))
			return false;
	} while (!t->blocks);
	return true;
}

/*
 * Computes time and bytes of consecutive tracks.  The next track begins at an angle behind the
 * previous one; if the arm needs longer, a revolution is lost.
 */
static int pass_tracks(struct sp__costs *c, uint64_t block, uint32_t block_bytes)
{
	double pass[2] = { 0, 0 }, bytes = 0;
	struct sp_track t, next;
	unsigned n = 0;

	c->settle_s = settle_s(c);
	if (sp_geometry_track(c->geometry, block, &t) < 0)
		return -1;
	for (; n < LOOKED_AT && next_track(c->geometry, t.number, &next); n++) {
		double skew = fmod(next.angle_deg - t.angle_deg + 720, 360) / 360 * c->rev_s;

		for (unsigned op = 0; op < 2; op++) {
			double need = change_s(c, t.number) + (op ? c->settle_s : 0);

			pass[op] += c->rev_s + skew + (need > skew + ALLOW_S ? c->rev_s : 0);
		}
		bytes += (double)t.blocks * block_bytes;
		t = next;
	}
	if (!n)
		return -1;
	c->bytes_on_track = bytes / n;
	c->byte_s = pass[0] / bytes;
	c->write_byte_s = pass[1] / bytes;
	return 0;
}

/* Returns the time of a byte that also passes the bus. */
static double through(const struct sp__costs *c, bool write, double byte_s)
{
	return c->bus_apart[write] ? byte_s + c->bus_byte_s : fmax(byte_s, c->bus_byte_s);
}

/*
 * Each track holds whole pages; its unused rest is time for the arm.  If runs are placed side by
 * side (step > 1), a run continues in the next band where the head is when it arrives.  The need of
 * this hop is known for some zones, otherwise for the whole device.
 */
void sp__costs_place(struct sp__costs *c, uint32_t page_bytes, unsigned step)
{
	double pass[2] = { 0, 0 }, bytes = 0, hop;
	const struct sp__hops *hops;
	struct sp_geometry_info info;
	struct sp_track t, next;

	sp_geometry_info(c->geometry, &info);
	if (!c->tracks || sp_geometry_track(c->geometry, (uint64_t)c->begin / info.block_bytes, &t))
		return;
	step = (step + c->drives - 1) / c->drives;
	for (unsigned n = 0; n < LOOKED_AT; n++) {
		double all = (double)t.blocks * info.block_bytes;
		double used = floor(all / page_bytes) * page_bytes, on_s = used / all * c->rev_s;

		if (!next_track(c->geometry, t.number, &next))
			break;
		for (unsigned op = 0; op < 2; op++) {
			double skew =
				fmod(next.angle_deg - t.angle_deg + 720, 360) / 360 * c->rev_s;
			double gap = skew + c->rev_s - on_s;
			double need = change_s(c, t.number) + (op ? c->settle_s : 0);

			if (step == 1)
				pass[op] += on_s + gap + (need > gap + ALLOW_S ? c->rev_s : 0);
			else if (sp__geometry_hops(c->geometry, (enum sp_geometry_op)op, t.number,
						   t.number + step, &hops) == 0 &&
				 sp__hops_need(hops, step, &hop) == 0)
				pass[op] += on_s + hop / 360 * c->rev_s;
			else
				pass[op] += on_s + c->rev_s;
		}
		bytes += used;
		t = next;
	}
	if (!(bytes > 0))
		return;
	c->run_byte_s = through(c, false, pass[0] / bytes);
	c->run_write_byte_s = through(c, true, pass[1] / bytes);
}

static void from_geometry(struct sp__costs *c, uint64_t at)
{
	struct sp_geometry_info info;

	sp_geometry_info(c->geometry, &info);
	if (info.transfer_s_per_mib > 0) {
		c->byte_s = c->write_byte_s = info.transfer_s_per_mib / (1 << 20);
		c->seek_s = info.seek_s;
	}
	if (!info.tracks || !(info.period_ns > 0))
		return;
	c->rev_s = info.period_ns * 1e-9;
	c->overhead_s[0] = info.read_overhead_ns * 1e-9;
	c->overhead_s[1] = info.write_overhead_ns * 1e-9;
	c->tracks = pass_tracks(c, at / info.block_bytes, info.block_bytes) == 0;
	if (!c->tracks)
		c->rev_s = 0;
}

/* Channels are drives; facts about the whole device do not hold for a channel. */
static void from_flash(struct sp__costs *c, const struct sp__model *m, const struct sp__flash *f)
{
	c->geometry = NULL;
	c->drives = m->lanes;
	c->stripe_bytes = (double)f->stripe * m->block_bytes;
	c->row_bytes = (double)f->row * m->block_bytes;
	c->byte_s = c->write_byte_s = (double)f->ps_block * 1e-12 / m->block_bytes;
	c->seek_s = (double)f->read_ns * 1e-9;
	c->program_s = (double)f->program_ns * 1e-9;
	c->overhead_s[0] = c->overhead_s[1] = (double)m->overhead_ns[0] * 1e-9;
}

static void from_machine(struct sp__costs *c, const struct sp__machine_spec *spec,
			 const struct sp__model *m)
{
	unsigned stripe_drives;
	bool tracks;
	const struct sp__model *one = sp__raid_drive(m, &stripe_drives, &tracks);
	const struct sp__drive *d = sp__model_drive(one ? one : m);

	c->simulated = true;
	c->stripe_bytes = (double)spec->array.stripe_bytes;
	c->mirrors = spec->array.level == SP__RAID_10 ? 2 : 1;
	c->in = spec->files == SP__SIM_FILES_IN || spec->files == SP__SIM_FILES_BOTH;
	c->out = spec->files == SP__SIM_FILES_OUT || spec->files == SP__SIM_FILES_BOTH;
	c->compare_s = m->cpu_compare_ns * 1e-9;
	c->record_s = m->cpu_record_ns * 1e-9;
	c->copy_s = m->cpu_copy_ps * 1e-12;
	c->request_s = m->cpu_request_ns * 1e-9;
	c->merge_bytes = spec->merge ? (double)spec->merge_bytes : 0;
	c->window = spec->window ? spec->window : m->window;
	c->sorts = (spec->window_policy >= 0 ? spec->window_policy : (int)m->window_policy) ==
			   SP__WINDOW_SPTF &&
		   c->window > 1;
	c->ahead = d && d->cache.segments;
	c->behind_bytes = d ? (double)d->cache.write_blocks * m->block_bytes : 0;
	c->behind_sorts = d && d->cache.write_blocks && m->window_policy == SP__WINDOW_SPTF;
	c->misses = d && !c->ahead && d->bus_ps;
	if (sp__model_flash(m))
		from_flash(c, m, sp__model_flash(m));
	if (!d)
		return;
	c->bus_byte_s = (double)d->bus_ps * 1e-12 / m->block_bytes;
	for (unsigned op = 0; op < 2; op++)
		c->bus_apart[op] = d->bus_apart[op];
}

int sp__costs(struct sp__costs *c, const struct sp_run_opts *o, uint64_t at, struct sp_errinfo *err)
{
	const char *text = sp__volume_spec_machine_spec(o);
	struct sp__machine_spec spec;
	struct sp__model *m;
	int rc;

	*c = (struct sp__costs){ .geometry = o->geometry, .drives = 1, .mirrors = 1 };
	if (text) {
		rc = sp__machine_spec_parse(&spec, text, err);
		if (!rc)
			rc = sp__machine_spec_model(&m, &spec, err);
		if (rc)
			return rc;
		from_machine(c, &spec, m);
		sp__model_free(m);
	}
	if (c->geometry && c->geometry->drive) {
		c->drives = c->geometry->stripe_drives;
		c->geometry = c->geometry->drive;
	}
	c->begin = c->in ? (double)at / c->drives : 0;
	if (c->geometry)
		from_geometry(c, (uint64_t)c->begin);
	if (!(c->stripe_bytes > 0))
		c->stripe_bytes = c->bytes_on_track;
	if (!(c->stripe_bytes > 0))
		c->drives = 1;
	c->byte_s = through(c, false, c->byte_s);
	c->write_byte_s = through(c, true, c->write_byte_s);
	c->run_byte_s = c->byte_s;
	c->run_write_byte_s = c->write_byte_s;
	return 0;
}

/* Returns the bytes of a chunk on one channel. */
static double part_of(const struct sp__costs *c, double chunk_bytes)
{
	return chunk_bytes / fmin(ceil(chunk_bytes / c->stripe_bytes), c->drives);
}

static double program_s(const struct sp__costs *c, double chunk_bytes)
{
	double part = part_of(c, chunk_bytes);

	return (1 + fmax(part - c->stripe_bytes, 0) / c->row_bytes) * c->program_s / part;
}

void sp__costs_chunks(struct sp__costs *c, double chunk_bytes, double run_chunk_bytes)
{
	if (!(c->row_bytes > 0))
		return;
	c->byte_s += c->seek_s / part_of(c, chunk_bytes);
	c->run_write_byte_s = c->write_byte_s + program_s(c, run_chunk_bytes);
	c->write_byte_s += program_s(c, chunk_bytes);
}

double sp__costs_arms(const struct sp__costs *c, double bytes, double request_bytes, double pieces)
{
	double n = (double)c->drives * c->mirrors;

	if (n <= 1)
		return 1;
	return n * (1 - pow(1 - sp__costs_spread(c, bytes, request_bytes) / n, pieces));
}

double sp__costs_spread(const struct sp__costs *c, double bytes, double request_bytes)
{
	double more = fmax(bytes - fmin(request_bytes, c->stripe_bytes), 0);

	return c->drives > 1 ? fmin(c->drives, 1 + more / c->stripe_bytes) : 1;
}

bool sp__costs_interrupted(const struct sp__costs *c, double outstanding_bytes,
			   double request_bytes)
{
	return c->drives > 1 && outstanding_bytes - request_bytes < c->drives * c->stripe_bytes;
}

double sp__costs_stream_s(const struct sp__costs *c, bool write, double byte_s,
			  double outstanding_bytes, double request_bytes)
{
	double stripe_s = c->stripe_bytes * byte_s, n = c->drives, round_s;
	bool kept = write ? c->behind_bytes > 0 : c->ahead;

	if (c->drives <= 1)
		return byte_s;
	round_s = n * stripe_s / sp__costs_spread(c, outstanding_bytes, request_bytes);
	if (c->tracks && !kept && sp__costs_interrupted(c, outstanding_bytes, request_bytes))
		round_s = stripe_s +
			  c->rev_s * fmax(n / fmax(outstanding_bytes / c->stripe_bytes, 1) - 1, 1);
	return round_s / (n * c->stripe_bytes);
}

double sp__costs_hop(const struct sp__costs *c, double bytes, bool write)
{
	const struct sp_geometry *g = c->geometry;
	double tracks, distance;

	if (!c->tracks)
		return write && c->row_bytes > 0 ? 0 : c->seek_s;
	tracks = bytes / c->drives / c->bytes_on_track;
	distance = g->seek_in_tracks || !g->surfaces ? tracks : tracks / g->surfaces;
	return sp__geometry_seek_ns(g, distance) * 1e-9 + (write ? c->settle_s : 0) + c->rev_s / 2;
}

struct location {
	uint64_t track;
	double angle; /* in revolutions */
};

static bool location_of(const struct sp__costs *c, double byte, struct location *p)
{
	struct sp_track t;
	uint64_t block = (uint64_t)((c->begin + byte / c->drives) / c->geometry->block_bytes);

	if (sp_geometry_track(c->geometry, block, &t) < 0)
		return false;
	p->track = t.number;
	p->angle = t.angle_deg / 360 + (double)(block - t.first) / t.blocks;
	return true;
}

/* Returns the time from one location to another, with the rotation to its angle. */
static double position_s(const struct sp__costs *c, const struct location *from,
			 const struct location *to, bool write)
{
	const struct sp_geometry *g = c->geometry;
	uint64_t tracks = sp__absdiff(from->track, to->track);
	bool cylinders = !g->seek_in_tracks && g->surfaces;
	uint64_t surfaces = g->surfaces ? g->surfaces : 1;
	uint64_t a = from->track / surfaces, b = to->track / surfaces;
	uint64_t distance = cylinders ? sp__absdiff(a, b) : tracks;
	double go = write ? c->settle_s : 0, revolutions;

	if (tracks)
		go += sp__geometry_seek_ns(g, (double)distance) * 1e-9;
	revolutions = to->angle - from->angle - go / c->rev_s;
	return go + (revolutions - floor(revolutions)) * c->rev_s;
}

static int ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Returns the expected minimum of n values, each drawn independently from s. */
static double min_of(double *s, unsigned count, double n)
{
	double sum = 0;

	qsort(s, count, sizeof(*s), ascending);
	for (unsigned i = 0; i < count; i++)
		sum += s[i] * (pow(1 - (double)i / count, n) - pow(1 - (double)(i + 1) / count, n));
	return sum;
}

double sp__costs_jump(const struct sp__costs *c, const struct sp__sites *p, bool write,
		      double among)
{
	double s[SAMPLES];
	unsigned n = 0, runs = p->runs < 2 ? 2 : p->runs;

	for (unsigned k = 0; c->tracks && k < SAMPLES; k++) {
		unsigned i = k % runs, j = (i + 1 + k / runs % (runs - 1)) % runs;
		double at = fmod(k * GOLDEN, 1) * p->run_bytes;
		double drift = ((int)(k % DRIFTS) - DRIFTS / 2) * p->piece_bytes;
		struct location from, to;

		if (location_of(c, i * p->run_bytes + at + p->piece_bytes, &from) &&
		    location_of(c, fmax(j * p->run_bytes + at + drift, 0), &to))
			s[n++] = position_s(c, &from, &to, write);
	}
	if (!n)
		return sp__costs_hop(c, p->run_bytes * p->runs / 3, write);
	if (write && c->behind_bytes > 0)
		return min_of(s, n, c->behind_sorts ? among : 1);
	return min_of(s, n, c->sorts ? fmin(among, c->window) : 1);
}
