/* SPDX-License-Identifier: MIT */
/*
 * The rotating drive against a naive one: small drives of every layout, with
 * and without heads of unequal length, slips, spares and remapped blocks, are laid out sector by
 * sector with floating point angles, and requests are served block by block.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "dev/device.h"
#include "dev/drive.h"
#include "dev/drive_impl.h"
#include "tap.h"

#define SURFACES 3
#define CYLS 17
#define BLOCKS_MAX 2000
#define T 5985037.406483790 /* 10025 rpm */
#define SWITCH 613111.0
#define SETTLE 400000.0

static const double seek_ms[][2] = { { 1, 0.71 }, { 2, 0.64 }, { 5, 1.13 }, { 9, 1.81 } };
/* Seek times of writes that settle sooner than reads. */
static const double write_seek_ms[][2] = { { 1, 0.92 }, { 3, 0.85 }, { 4, 1.22 }, { 16, 3.1 } };
#define SETTLE_LESS (-300000.0)

struct block {
	uint32_t cyl, head, sector;
	double angle, width; /* revolutions */
};

struct naive {
	struct block sector[BLOCKS_MAX]; /* all, in the order of block numbers */
	bool unused[BLOCKS_MAX];
	size_t sectors;
	struct block block[BLOCKS_MAX];
	struct block where[BLOCKS_MAX]; /* the same, but where it is if it is remapped */
	size_t n;
	uint32_t cyl, head;
	double at; /* angle of the next track */
	bool quick;
};

struct shape {
	const char *layout;
	unsigned band;
	bool descends, unequal, slips, spares, quick;
};

static const int zones[][4] = { { 0, 6, 20, 3 }, { 7, 7, 18, 2 }, { 8, 16, 13, 4 } };
static const unsigned slips[][3] = { { 0, 0, 0 }, { 3, 1, 7 }, { 3, 1, 8 }, { 16, 2, 7 } };

/* Sectors of each zone; lists end with a count of 0. */
static const double start_skew[] = { 0, 2.5, 7 };
static const unsigned zone_slips[3][4][2] = { { { 45, 1 }, { 100, 2 }, { 172, 1 } },
					      { { 0 } },
					      { { 20, 1 }, { 150, 3 } } };
static const unsigned spares[3][3][3] = { { { 0, 5 }, { 50, 4, 60 } },
					  { { 40, 2 } },
					  { { 200, 90 } } };
/* The slip at 45 takes sector 50 of 50 to 53; those at 100 take 110 and 111 of 110 to 113. */
static const unsigned remaps[3][3][3] = { { { 60, 51, 1 }, { 150, 112, 2 } },
					  { { 0 } },
					  { { 21, 230, 20 } } };

static unsigned spt(const struct shape *s, unsigned zone, unsigned head)
{
	return (unsigned)zones[zone][2] - (s->unequal ? 2 * head : 0);
}

static size_t put_sectors(char *text, size_t size, unsigned z)
{
	size_t n = (size_t)snprintf(text, size, ",\"start_skew\": %g, \"slips\": [", start_skew[z]);

	for (unsigned i = 0; zone_slips[z][i][1]; i++)
		n += (size_t)snprintf(text + n, size - n, "%s[%u, %u]", i ? "," : "",
				      zone_slips[z][i][0], zone_slips[z][i][1]);
	n += (size_t)snprintf(text + n, size - n, "], \"spares\": [");
	for (unsigned i = 0; spares[z][i][1]; i++)
		n += (size_t)snprintf(text + n, size - n, "%s[%u, %u, %u]", i ? "," : "",
				      spares[z][i][0], spares[z][i][1], spares[z][i][2]);
	n += (size_t)snprintf(text + n, size - n, "], \"remaps\": [");
	for (unsigned i = 0; remaps[z][i][2]; i++)
		n += (size_t)snprintf(text + n, size - n, "%s[%u, %u, %u]", i ? "," : "",
				      remaps[z][i][0], remaps[z][i][1], remaps[z][i][2]);
	return n + (size_t)snprintf(text + n, size - n, "]");
}

static struct sp__model *model(const struct shape *s)
{
	char text[4096];
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__model *m;
	size_t n;

	n = (size_t)snprintf(text, sizeof(text),
			     "{ \"rpm\": 10025, \"surfaces\": %d, \"layout\": \"%s\","
			     "\"first_head_descends\": %s, \"head_switch_ms\": 0.613111,"
			     "\"write_settle_ms\": %g, \"zones\": [",
			     SURFACES, s->layout, s->descends ? "true" : "false",
			     s->quick ? SETTLE_LESS * 1e-6 : SETTLE * 1e-6);
	for (unsigned z = 0; z < 3; z++) {
		n += (size_t)snprintf(
			text + n, sizeof(text) - n,
			"%s{ \"first_cyl\": %d, \"last_cyl\": %d, \"spt\": [%u, %u, %u],"
			"\"track_skew\": %d, \"cyl_skew\": %d, \"band_skew\": %d",
			z ? "," : "", zones[z][0], zones[z][1], spt(s, z, 0), spt(s, z, 1),
			spt(s, z, 2), zones[z][3], zones[z][3] + 1, zones[z][3] + 2);
		if (s->spares)
			n += put_sectors(text + n, sizeof(text) - n, z);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "}");
	}
	n += (size_t)snprintf(text + n, sizeof(text) - n, "], \"seek_ms\": [");
	for (unsigned i = 0; i < 4; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s[%g, %g]", i ? "," : "",
				      seek_ms[i][0], seek_ms[i][1]);
	n += (size_t)snprintf(text + n, sizeof(text) - n, "]%s",
			      s->quick ? ", \"write_seek_ms\": [" : "");
	for (unsigned i = 0; s->quick && i < 4; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "[%g, %g]%s", write_seek_ms[i][0],
				      write_seek_ms[i][1], i < 3 ? "," : "]");
	if (s->band)
		n += (size_t)snprintf(text + n, sizeof(text) - n, ", \"band_tracks\": %u", s->band);
	if (s->slips) {
		n += (size_t)snprintf(text + n, sizeof(text) - n, ", \"slips\": [");
		for (unsigned i = 0; i < 4; i++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s[%u, %u, %u]",
					      i ? "," : "", slips[i][0], slips[i][1], slips[i][2]);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "]");
	}
	n += (size_t)snprintf(text + n, sizeof(text) - n, "}");
	if (sp__model_parse(&m, "text", text, n, &err)) {
		diag("%s", err.text);
		return NULL;
	}
	return m;
}

static bool slipped(const struct shape *s, unsigned cyl, unsigned head, unsigned sector)
{
	for (unsigned i = 0; s->slips && i < 4; i++) {
		if (slips[i][0] == cyl && slips[i][1] == head && slips[i][2] == sector)
			return true;
	}
	return false;
}

static void lay_track(struct naive *v, const struct shape *s, unsigned zone, unsigned cyl,
		      unsigned head, double skew)
{
	unsigned n = spt(s, zone, head);

	for (unsigned i = 0; i < n; i++) {
		v->unused[v->sectors] = slipped(s, cyl, head, i);
		v->sector[v->sectors++] = (struct block){ .cyl = cyl,
							  .head = head,
							  .sector = i,
							  .angle = fmod(v->at + (double)i / n, 1),
							  .width = 1.0 / n };
	}
	v->at += skew / zones[zone][2];
}

static void lay_band(struct naive *v, const struct shape *s, unsigned zone, unsigned first,
		     unsigned n)
{
	int skew = zones[zone][3];

	for (unsigned h = 0; h < SURFACES; h++) {
		for (unsigned i = 0; i < n; i++) {
			bool up = (h % 2 == 0) != s->descends, end = i == n - 1;

			lay_track(v, s, zone, first + (up ? i : n - 1 - i), h,
				  !end		     ? skew + 1
				  : h < SURFACES - 1 ? skew
						     : skew + 2);
		}
	}
}

/* Sector by sector from the zone's first on: slips, and areas of which they take some. */
static void mark_unused(struct naive *v, unsigned z, size_t zone)
{
	unsigned taken = 0;

	for (unsigned i = 0; zone_slips[z][i][1]; i++)
		for (unsigned k = 0; k < zone_slips[z][i][1]; k++)
			v->unused[zone + zone_slips[z][i][0] + k] = true;
	for (unsigned at = 0; at < v->sectors - zone; at++) {
		bool spare = false, more = false;

		for (unsigned i = 0; spares[z][i][1]; i++) {
			unsigned first = spares[z][i][0], every = spares[z][i][2];
			unsigned in = at < first ? UINT32_MAX : at - first;

			if (every && at >= first)
				in %= every;
			/* An area that the end of the zone would cut is none. */
			if (at >= first && in < spares[z][i][1] &&
			    at - in + spares[z][i][1] <= v->sectors - zone) {
				spare = true;
				more = in + 1 < spares[z][i][1];
			}
		}
		if (spare && taken && !v->unused[zone + at])
			taken--;
		else if (spare)
			v->unused[zone + at] = true;
		else if (v->unused[zone + at])
			taken++;
		if (spare && !more)
			taken = 0;
	}
}

static void number_blocks(struct naive *v, const struct shape *s, unsigned z, size_t zone)
{
	static size_t number[BLOCKS_MAX];

	if (s->spares)
		mark_unused(v, z, zone);
	for (size_t i = zone; i < v->sectors; i++) {
		number[i] = v->n;
		if (!v->unused[i])
			v->block[v->n] = v->where[v->n] = v->sector[i], v->n++;
	}
	for (unsigned i = 0; s->spares && remaps[z][i][2]; i++)
		for (unsigned k = 0; k < remaps[z][i][2]; k++)
			v->where[number[zone + remaps[z][i][0] + k]] =
				v->sector[zone + remaps[z][i][1] + k];
}

static void lay_zone(struct naive *v, const struct shape *s, unsigned z)
{
	unsigned first = (unsigned)zones[z][0], n = (unsigned)(zones[z][1] - zones[z][0] + 1);

	v->at = s->spares ? start_skew[z] / zones[z][2] : 0;
	if (strstr(s->layout, "surface")) {
		lay_band(v, s, z, first, n);
		return;
	}
	if (strstr(s->layout, "hybrid")) {
		for (unsigned i = 0; i < n; i += s->band)
			lay_band(v, s, z, first + i, n - i < s->band ? n - i : s->band);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		for (unsigned h = 0; h < SURFACES; h++) {
			bool back = strstr(s->layout, "serpentine") && i % 2;

			lay_track(v, s, z, first + i, back ? SURFACES - 1 - h : h,
				  zones[z][3] + (h == SURFACES - 1));
		}
	}
}

static double naive_seek(unsigned d, const double (*curve)[2])
{
	unsigned i = 1;

	if (!d)
		return 0;
	if (d <= 1)
		return curve[0][1] * 1e6;
	while (i < 3 && curve[i][0] < d)
		i++;
	return 1e6 * (curve[i - 1][1] + (curve[i][1] - curve[i - 1][1]) * (d - curve[i - 1][0]) /
						(curve[i][0] - curve[i - 1][0]));
}

static double naive_serve(struct naive *v, double t, uint64_t lbn, unsigned n, bool write)
{
	for (const struct block *b = &v->where[lbn]; n--; b++) {
		unsigned d = b->cyl > v->cyl ? b->cyl - v->cyl : v->cyl - b->cyl;
		double move = naive_seek(d, write && v->quick ? write_seek_ms : seek_ms), wait;

		if (b->head != v->head && move < SWITCH)
			move = SWITCH;
		if (move > 0 && write)
			move += v->quick ? SETTLE_LESS : SETTLE;
		t += move;
		wait = b->angle * T - fmod(t, T);
		if (wait < -5)
			wait += T;
		if (wait > T - 5)
			wait -= T;
		t += wait + b->width * T;
		v->cyl = b->cyl;
		v->head = b->head;
	}
	return t;
}

static void check_layout(const struct naive *v, const struct sp__model *m, const char *what)
{
	const struct sp__drive *d = sp__model_drive(m);
	uint64_t places = 0, tracks = 0, angles = 0;

	for (uint64_t lbn = 0; lbn < v->n; lbn++) {
		const struct block *b = &v->block[lbn];
		struct sp__track t;
		uint32_t cyl, head;
		uint64_t place = sp__trackmap_sector(d->map, lbn);
		double off;

		sp__trackmap_find(d->map, lbn, &t);
		sp__drive_where(d, &t, &cyl, &head);
		places += cyl == b->cyl && head == b->head && place - t.first_sector == b->sector;
		tracks += sp__drive_track(d, cyl, head) == t.number;
		off = fabs((double)sp__track_angle(&t, place) * 0x1p-64 - b->angle);
		angles += fmin(off, 1 - off) < 1e-12;
	}
	ok(v->n == m->blocks && places == v->n, "%s: every LBN is where it should be", what);
	ok(tracks == v->n, "%s: cylinder and head lead back to the track", what);
	ok(angles == v->n, "%s: every block begins at its angle", what);
}

static bool stays(const struct naive *v, uint64_t lbn)
{
	return v->where[lbn].cyl == v->block[lbn].cyl && v->where[lbn].head == v->block[lbn].head &&
	       v->where[lbn].sector == v->block[lbn].sector;
}

/* Block by block back, while they are on the track and pass in that time. */
static uint64_t naive_passing(const struct naive *v, uint64_t lbn, double wait)
{
	const struct block *b = &v->block[lbn];
	uint64_t first = lbn;

	while (stays(v, lbn) && first && stays(v, first - 1) && v->block[first - 1].cyl == b->cyl &&
	       v->block[first - 1].head == b->head &&
	       (b->sector - v->block[first - 1].sector) * b->width * T <= wait)
		first--;
	return first;
}

static void check_passing(const struct naive *v, const struct sp__model *m, const char *what)
{
	const struct sp__drive *d = sp__model_drive(m);
	struct sp__rng rng = { 19 };
	uint64_t same = 0;

	for (uint64_t lbn = 0; lbn < v->n; lbn++) {
		uint64_t wait = sp__rng_below(&rng, (uint64_t)T);

		same += sp__drive_passing(d, lbn, wait) == naive_passing(v, lbn, (double)wait);
	}
	ok(same == v->n, "%s: what passes before a block is on its track, and not elsewhere", what);
}

static void check_times(struct naive *v, const struct sp__model *m, const char *what)
{
	struct sp__rng rng = { 7 };
	struct sp__device d;
	double worst = 0;
	uint64_t now = 0;

	if (sp__device_open(&d, m))
		abort();
	v->cyl = v->head = 0;
	for (int i = 0; i < 4000; i++) {
		struct sp__subreq p = { .lbn = sp__rng_below(&rng, v->n),
					.write = sp__rng_below(&rng, 2) };
		uint64_t left = v->n - p.lbn, reach;
		struct sp__service s;
		double done;

		p.blocks = (uint32_t)(1 + sp__rng_below(&rng, left < 90 ? left : 90));
		now += sp__rng_below(&rng, 3000000);
		reach = m->ops->position(m, d.state, now, &p, UINT64_MAX);
		m->ops->serve(m, d.state, now, &p, &s);
		done = naive_serve(v, (double)now, p.lbn, p.blocks, p.write);
		worst = fmax(worst, fabs((double)s.done_ns - done));
		if (s.done_ns - now != s.seek_ns + s.rotate_ns + s.transfer_ns ||
		    reach > s.done_ns - now)
			worst = INFINITY;
		now = s.done_ns;
	}
	sp__device_close(&d);
	diag("%s: worst difference %.2f ns", what, worst);
	ok(worst < 1, "%s: 4000 requests take as long as they naively do", what);
}

static void check_shape(const struct shape *s)
{
	struct sp__model *m = model(s);
	struct naive *v = calloc(1, sizeof(*v));
	char what[96];

	snprintf(what, sizeof(what), "%s%s%.0u%s%s%s%s%s", s->layout, s->band ? " by " : "",
		 s->band, s->descends ? " downwards" : "", s->unequal ? ", unequal heads" : "",
		 s->slips ? ", slips" : "", s->spares ? ", spares" : "",
		 s->quick ? ", quick writes" : "");
	if (v)
		v->quick = s->quick;
	for (unsigned z = 0; v && z < 3; z++) {
		size_t zone = v->sectors;

		lay_zone(v, s, z);
		number_blocks(v, s, z, zone);
	}
	if (ok(v && m, "%s: loads", what)) {
		check_layout(v, m, what);
		check_passing(v, m, what);
		check_times(v, m, what);
	}
	sp__model_free(m);
	free(v);
}

static void check_seek(void)
{
	struct sp__model *m = model(&(struct shape){ .layout = "cylinder" });
	const struct sp__drive *d = sp__model_drive(m);

	ok(sp__drive_seek_ns(d, 0, false) == 0, "no seek takes no time");
	ok(sp__drive_seek_ns(d, 1, false) == 710000 && sp__drive_seek_ns(d, 2, false) == 640000 &&
		   sp__drive_seek_ns(d, 9, false) == 1810000,
	   "seeks over the distances of points take the times of the points");
	ok(sp__drive_seek_ns(d, 3, false) == 803333, "between two points a seek is interpolated");
	ok(sp__drive_seek_ns(d, 16, false) == 3000000, "past the last point it is extrapolated");
	sp__model_free(m);
}

int main(void)
{
	static const struct shape shapes[] = {
		{ .layout = "cylinder" },
		{ .layout = "cylinder-serpentine" },
		{ .layout = "surface-serpentine" },
		{ .layout = "surface-serpentine", .descends = true },
		{ .layout = "hybrid-serpentine", .band = 1 },
		{ .layout = "hybrid-serpentine", .band = 3 },
		{ .layout = "hybrid-serpentine", .band = 4, .descends = true },
		{ .layout = "hybrid-serpentine", .band = 50 },
	};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		for (unsigned k = 0; k < 6; k++) {
			struct shape s = shapes[i];

			s.unequal = k & 1;
			s.slips = k & 2;
			s.spares = k & 4;
			s.quick = k == 1 || k == 4;
			check_shape(&s);
		}
	}
	check_seek();
	return done();
}
