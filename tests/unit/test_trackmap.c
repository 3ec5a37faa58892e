/* SPDX-License-Identifier: MIT */
/* The track map against a table of all places, built one by one. */
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "dev/trackmap.h"
#include "tap.h"

#define REGIONS 6
#define PATTERN 9
#define PLACES 60000
#define TRACKS 4000

struct naive {
	uint64_t nplaces, nblocks, ntracks;
	uint32_t track_of[PLACES];
	uint64_t lbn_at[PLACES]; /* of the place, or the next that has one */
	bool slipped[PLACES];
	uint64_t place_of[PLACES];
	struct sp__track tracks[TRACKS];
	uint64_t skew_num[TRACKS]; /* of the track's start within its region */
};

static struct sp__trackkind kinds[REGIONS][PATTERN];
static uint64_t slips[PLACES];
static size_t nslips;

static size_t random_regions(struct sp__rng *rng, struct sp__region *regions)
{
	size_t n = 1 + sp__rng_below(rng, REGIONS);

	for (size_t i = 0; i < n; i++) {
		struct sp__region *r = &regions[i];

		*r = (struct sp__region){ .tracks = 1 + sp__rng_below(rng, 60),
					  .start = sp__rng_next(rng),
					  .skew_den = 1 + (uint32_t)sp__rng_below(rng, 700),
					  .npattern = 1 + (uint32_t)sp__rng_below(rng, PATTERN),
					  .pattern = kinds[i] };
		for (uint32_t k = 0; k < r->npattern; k++)
			kinds[i][k] = (struct sp__trackkind){
				.blocks = 1 + (uint32_t)sp__rng_below(rng, 40),
				.skew = (uint32_t)sp__rng_below(rng, r->skew_den),
			};
	}
	return n;
}

static void naive_tracks(struct naive *v, const struct sp__region *regions, size_t n)
{
	v->nplaces = v->ntracks = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t num = 0;

		for (uint64_t k = 0; k < regions[i].tracks; k++) {
			const struct sp__trackkind *kind =
				&regions[i].pattern[k % regions[i].npattern];
			struct sp__track *t = &v->tracks[v->ntracks];

			*t = (struct sp__track){ .number = v->ntracks,
						 .region = i,
						 .first_sector = v->nplaces,
						 .sectors = kind->blocks };
			t->start = regions[i].start + sp__angle_of(num, regions[i].skew_den);
			num = (num + kind->skew) % regions[i].skew_den;
			for (uint32_t b = 0; b < kind->blocks; b++)
				v->track_of[v->nplaces++] = (uint32_t)v->ntracks;
			v->ntracks++;
		}
	}
}

/* Slips, many at the ends of tracks, some in rows, sometimes a whole track. */
static void random_slips(struct sp__rng *rng, struct naive *v)
{
	memset(v->slipped, 0, sizeof(v->slipped));
	for (uint64_t k = sp__rng_below(rng, 40); k > 0; k--) {
		const struct sp__track *t = &v->tracks[sp__rng_below(rng, v->ntracks)];
		uint64_t at = t->first_sector, run = 1 + sp__rng_below(rng, 3);

		switch (sp__rng_below(rng, 4)) {
		case 0:
			at += t->sectors - 1;
			break;
		case 1:
			at += sp__rng_below(rng, t->sectors);
			break;
		case 2:
			run = t->sectors;
			break;
		}
		for (; run > 0 && at < v->nplaces; run--)
			v->slipped[at++] = true;
	}
	v->slipped[sp__rng_below(rng, v->nplaces)] = false;
}

static void naive_lbns(struct naive *v)
{
	nslips = 0;
	v->nblocks = 0;
	for (uint64_t p = 0; p < v->nplaces; p++) {
		struct sp__track *t = &v->tracks[v->track_of[p]];

		if (p == t->first_sector)
			t->first_lbn = v->nblocks;
		v->lbn_at[p] = v->nblocks;
		if (v->slipped[p]) {
			slips[nslips++] = p;
			continue;
		}
		t->blocks++;
		v->place_of[v->nblocks++] = p;
	}
}

static bool same_track(const struct sp__track *a, const struct sp__track *b)
{
	return a->number == b->number && a->region == b->region &&
	       a->first_sector == b->first_sector && a->sectors == b->sectors &&
	       a->first_lbn == b->first_lbn && a->blocks == b->blocks && a->start == b->start;
}

static bool agrees(const struct sp__trackmap *m, const struct naive *v)
{
	struct sp__track t;

	if (m->tracks != v->ntracks || m->sectors != v->nplaces || m->blocks != v->nblocks)
		return false;
	for (uint64_t i = 0; i < v->ntracks; i++) {
		sp__trackmap_track(m, i, &t);
		if (!same_track(&t, &v->tracks[i]))
			return false;
	}
	for (uint64_t p = 0; p < v->nplaces; p++)
		if (sp__trackmap_lbn(m, p) != v->lbn_at[p])
			return false;
	for (uint64_t p = 0; p < v->nplaces; p++) {
		sp__trackmap_at(m, p, &t);
		if (!same_track(&t, &v->tracks[v->track_of[p]]))
			return false;
	}
	for (uint64_t b = 0; b < v->nblocks; b++) {
		sp__trackmap_find(m, b, &t);
		if (sp__trackmap_sector(m, b) != v->place_of[b] ||
		    !same_track(&t, &v->tracks[v->track_of[v->place_of[b]]]))
			return false;
	}
	return true;
}

static void against_table(void)
{
	static struct naive v;
	struct sp__region regions[REGIONS];
	struct sp__rng rng = { 11 };
	struct sp__trackmap *m;
	bool good = true, planted = false;

	for (int round = 0; round < 300 && good; round++) {
		size_t n = random_regions(&rng, regions);

		naive_tracks(&v, regions, n);
		memset(v.slipped, 0, sizeof(v.slipped));
		if (round % 4)
			random_slips(&rng, &v);
		naive_lbns(&v);
		planted |= nslips > 20;
		good = sp__trackmap_new(&m, regions, n, slips, nslips, NULL) == 0;
		if (good) {
			good = agrees(m, &v);
			sp__trackmap_free(m);
		}
		if (!good)
			diag("round %d: %zu regions, %zu slips", round, n, nslips);
	}
	ok(good && planted, "tracks, places and blocks are those of a table of all places");
}

/* A disk of 2^60 blocks: where floating point or 64 bits would lose. */
static void far_out(void)
{
	struct sp__trackkind kind = { .blocks = 1024, .skew = 333 };
	struct sp__region r = { .tracks = (UINT64_C(1) << 50) - 1,
				.start = 5,
				.skew_den = 1000,
				.npattern = 1,
				.pattern = &kind };
	struct sp__trackmap *m;
	struct sp__track t;
	uint64_t last = r.tracks - 1, num = last % 1000 * 333 % 1000;

	ok(sp__trackmap_new(&m, &r, 1, NULL, 0, NULL) == 0, "a map may hold almost 2^60 blocks");
	sp__trackmap_find(m, m->blocks - 1, &t);
	ok(t.number == last && t.first_lbn == last * 1024, "its last block is on its last track");
	ok(t.start == 5 + sp__angle_of(num, 1000), "its angle is exact");
	ok(sp__track_angle(&t, t.first_sector + 512) == t.start + (UINT64_C(1) << 63),
	   "half a track on is half a revolution on");
	ok(sp__track_angle(&t, t.first_sector + 1024) == t.start, "a whole one is where it began");
	sp__trackmap_free(m);
}

static bool refused(const struct sp__region *r, size_t n, const uint64_t *s, size_t ns,
		    const char *word)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__trackmap *m;

	return sp__trackmap_new(&m, r, n, s, ns, &err) == SP_EFORMAT && !m &&
	       err.code == SP_EFORMAT && strstr(err.text, word);
}

static void contradictions(void)
{
	struct sp__trackkind kind[2] = { { 10, 3 }, { 10, 4 } };
	struct sp__region good = { .tracks = 3, .skew_den = 10, .npattern = 2, .pattern = kind };
	struct sp__region r[2] = { good, good };
	const uint64_t outside[] = { 60 }, twice[] = { 4, 4 }, back[] = { 9, 4 };
	uint64_t all[60];

	ok(refused(r, 0, NULL, 0, "no track regions"), "no region at all is refused");
	r[1].tracks = 0;
	ok(refused(r, 2, NULL, 0, "region 1: has no tracks"), "so is one without tracks");
	r[1] = good;
	r[1].npattern = 0;
	ok(refused(r, 2, NULL, 0, "region 1: has no tracks"), "or without a pattern");
	r[1] = good;
	r[1].skew_den = 0;
	ok(refused(r, 2, NULL, 0, "denominator"), "or a skew in parts of nothing");
	r[1].skew_den = 4;
	ok(refused(r, 2, NULL, 0, "a revolution or more"), "or of a whole revolution");
	r[1] = good;
	r[1].tracks = UINT64_MAX;
	ok(refused(r, 2, NULL, 0, "too many"), "or more blocks than can be counted");
	r[1] = good;
	ok(refused(r, 2, outside, 1, "slip 0"), "a slip outside is refused");
	ok(refused(r, 2, twice, 2, "slip 1"), "and the same one twice");
	ok(refused(r, 2, back, 2, "slip 1"), "and slips out of order");
	for (uint64_t i = 0; i < 60; i++)
		all[i] = i;
	ok(refused(r, 2, all, 60, "every block"), "and slips that leave nothing");
	kind[1].blocks = 0;
	ok(refused(r, 2, NULL, 0, "region 0: a track has no blocks"), "an empty track is refused");
}

int main(void)
{
	against_table();
	far_out();
	contradictions();
	return done();
}
