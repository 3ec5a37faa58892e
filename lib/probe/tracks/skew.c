/* SPDX-License-Identifier: MIT */
/*
 * Finds the pattern of skews of a zone.
 *
 * The angles at which consecutive tracks begin are on a line while the skew between them is the
 * same: seven head switches, or 31 steps from cylinder to cylinder.  Where the skew differs, the
 * line breaks.  So the sequence of skews is a list of runs.  The ends of a run are found like the
 * ends of a track: by doubling and bisection on angles, or directly if the previous run predicts
 * them.
 *
 * Runs are expanded to one skew per track until the sequence has repeated itself; that is the
 * pattern of the zone.  Then the angle is measured 1, 3, 9, 27, ... patterns on.  The sum of a
 * pattern becomes known to a small fraction of the noise.  If the forecast fails, the zone is cut
 * in two there (a serpentine that reverses at the end of a surface).
 *
 * Rejected: measuring every skew of the first 200 tracks, which takes three times the reads and
 * does not show the pattern of serpentines of 256 tracks.
 */
#include <stdlib.h>
#include <string.h>
#include "probe/tracks/tracks.h"

#define RUNS_MAX 96
#define SKEWS_MAX 4096

/* The tracks, and how many samples an exact angle has now. */
struct work {
	struct sp__tracks *tr;
	unsigned exact;
};

/* Expectations of a run and of the pattern, from the previous run or zone. */
struct expect {
	uint64_t tracks; /* 0: nothing */
	double slope;	 /* negative: unknown */
	uint32_t q;	 /* 0: unknown */
};

/* The runs so far, written out as one skew for each track; equal skews share a class. */
struct runs {
	uint32_t class[SKEWS_MAX]; /* class of the skew after each track */
	uint32_t n;
	uint64_t longest; /* run */
	double next;	  /* angle of the track after the last run */
	double mean[RUNS_MAX];
	unsigned weight[RUNS_MAX], nclasses;
};

struct run {
	uint64_t tracks; /* until the line breaks */
	double slope, jump;
	bool open; /* the zone ended first: no jump */
	/* At work: */
	uint64_t pos;	    /* its first track */
	double first, last; /* angles of that and of the last track on the line */
	double behind;	    /* angle of the first track behind the line */
	uint64_t lo, hi;    /* distances of these two; hi 0: none yet */
	uint64_t far;	    /* the slope comes from this distance */
};

/*
 * Angles further apart are different: 12 standard errors of an exact one.  An extrapolation is 2.5
 * times as uncertain.
 */
static double tolerance(const struct work *w)
{
	return fmax(12 * sp__angle_error(w->tr->tm, w->exact), 0.0004);
}

/* Measures the angle at which a track of the zone begins. */
static int track_start(struct work *w, const struct sp__pzone *z, uint64_t track, double *rev)
{
	int rc = sp__angle_exact(w->tr->tm, sp__pzone_start(z, track), w->exact, rev);

	*rev -= 1.0 / sp__pzone_length(z, track);
	return rc;
}

/* True if the track at distance m is on the line, which makes the slope more exact. */
static int look(struct work *w, const struct sp__pzone *z, struct run *run, uint64_t m)
{
	double rev, off;
	int rc = track_start(w, z, run->pos + m, &rev);

	if (rc)
		return rc;
	off = sp__wrap(rev - run->first - run->slope * (double)m);
	if (fabs(off) >= tolerance(w)) {
		run->hi = m;
		run->behind = rev;
		return 0;
	}
	if (m > run->far) {
		run->slope += off / (double)m;
		run->far = m;
	}
	if (m > run->lo) {
		run->lo = m;
		run->last = rev;
	}
	return 0;
}

/* A run like the previous one: measures its last track and the next one. */
static int try_expected(struct work *w, const struct sp__pzone *z, struct run *run,
			const struct expect *e)
{
	int rc = 0;

	if (e->tracks < 2 || e->slope < 0 || z->tracks - run->pos <= e->tracks)
		return 0;
	run->slope = e->slope;
	run->far = e->tracks - 1;
	rc = look(w, z, run, e->tracks - 1);
	if (!rc && !run->hi)
		rc = look(w, z, run, e->tracks);
	/* Shorter: the expectation was wrong. */
	if (run->hi && run->hi < e->tracks)
		run->hi = run->lo = run->far = 0;
	return rc;
}

/*
 * Finds the end of the run that begins with track run->pos, whose angle is run->first: by
 * doubling, which the slope always allows, then by bisection.
 */
static int find_run(struct work *w, const struct sp__pzone *z, struct run *run,
		    const struct expect *e)
{
	uint64_t most = z->tracks - run->pos - 1;
	double rev;
	int rc = 0;

	run->last = run->first;
	if (most)
		rc = try_expected(w, z, run, e);
	if (!rc && most && !run->lo) {
		rc = track_start(w, z, run->pos + 1, &rev);
		run->slope = rev - run->first - floor(rev - run->first);
		run->last = rev;
		run->lo = run->far = 1;
	}
	while (!rc && !run->hi && run->lo < most)
		rc = look(w, z, run, 2 * run->lo < most ? 2 * run->lo : most);
	while (!rc && run->hi && run->hi - run->lo > 1)
		rc = look(w, z, run, run->lo + (run->hi - run->lo) / 2);
	run->open = !run->hi;
	run->tracks = run->open ? most + 1 : run->hi;
	run->jump = run->behind - run->last - floor(run->behind - run->last);
	run->slope -= floor(run->slope);
	return rc;
}

/* Adds n times a skew; values that cannot be distinguished share a class. */
static int put(struct work *w, struct runs *s, double skew, uint64_t n, unsigned weight)
{
	unsigned c = 0;
	double off;

	if (s->n + n > SKEWS_MAX)
		return -ENODATA;
	while (c < s->nclasses && fabs(sp__wrap(skew - s->mean[c])) > tolerance(w))
		c++;
	if (c == s->nclasses) {
		if (c == RUNS_MAX)
			return -ENODATA;
		s->mean[s->nclasses++] = skew;
	}
	off = sp__wrap(skew - s->mean[c]);
	s->weight[c] += weight;
	if (weight)
		s->mean[c] += off * weight / s->weight[c];
	for (uint64_t i = 0; i < n; i++)
		s->class[s->n++] = c;
	return 0;
}

/* Returns the shortest pattern that the sequence shows twice; 0: none. */
static uint32_t period_of(const struct runs *s)
{
	for (uint32_t q = 1; q <= s->n / 2; q++)
		if (!memcmp(s->class, s->class + q, (s->n - q) * sizeof(*s->class)))
			return q;
	return 0;
}

/*
 * Reads runs until there are at least this many tracks and they repeat beyond one run, or until a
 * pattern has the expected length.  *q: the pattern; -ENODATA: not found.
 */
static int read_runs(struct work *w, const struct sp__pzone *z, struct expect *e, uint64_t least,
		     struct runs *s, uint32_t *q)
{
	for (unsigned n = 0; s->n < z->tracks; n++) {
		struct run run = { .pos = s->n, .first = s->next };
		int rc = n == RUNS_MAX ? -ENODATA : find_run(w, z, &run, e);

		if (rc)
			return rc;
		/*
		 * One step of a run that never ends is as good as many; where a very long one ends,
		 * on a surface most likely, so does the zone.
		 */
		if (!s->n && (run.open || run.tracks > SKEWS_MAX / 2)) {
			*q = 1;
			return put(w, s, run.slope, 1, 1);
		}
		rc = run.tracks > 1 ? put(w, s, run.slope, run.tracks - 1,
					  (unsigned)(run.tracks < 64 ? run.tracks : 64))
				    : 0;
		if (!rc)
			rc = put(w, s, run.open ? run.slope : run.jump, 1, run.open ? 0 : 1);
		if (rc)
			return rc;
		s->next = run.behind;
		s->longest = run.tracks > s->longest ? run.tracks : s->longest;
		*e = (struct expect){ run.tracks, run.lo ? run.slope : -1, e->q };
		if (e->q == s->n && !least) {
			*q = e->q;
			return 0;
		}
		*q = period_of(s);
		if (*q > 1 && s->n >= least && s->n > s->longest)
			return 0;
	}
	/* No repetition, but the whole zone. */
	*q = s->n;
	return 0;
}

/* Cuts zone i at track `at`. */
static int cut(struct work *w, size_t i, uint64_t at)
{
	struct sp__pzone tail = { 0 }, *z = &w->tr->zones[i];
	uint64_t lbn = sp__pzone_start(z, at);
	size_t keep = 0;
	int rc;

	while (keep < z->nodd && z->odd[keep].track < at)
		keep++;
	tail.lens = malloc(z->nlens * sizeof(*tail.lens));
	tail.odd = malloc((z->nodd - keep + 1) * sizeof(*tail.odd));
	if (!tail.lens || !tail.odd) {
		sp__pzone_clear(&tail);
		return -ENOMEM;
	}
	tail.nlens = z->nlens;
	for (uint32_t k = 0; k < z->nlens; k++)
		tail.lens[k] = z->lens[(at + k) % z->nlens];
	for (size_t k = keep; k < z->nodd; k++)
		tail.odd[tail.nodd++] =
			(struct sp__oddtrack){ z->odd[k].track - at, z->odd[k].missing };
	tail.first_lbn = lbn;
	tail.tracks = z->tracks - at;
	tail.blocks = sp__pzone_end(z) - lbn;
	z->tracks = at;
	z->blocks = lbn - z->first_lbn;
	z->nodd = keep;
	rc = sp__zones_add(w->tr, &tail);
	if (rc)
		return rc;
	tail = w->tr->zones[w->tr->nzones - 1];
	memmove(&w->tr->zones[i + 2], &w->tr->zones[i + 1], (w->tr->nzones - i - 2) * sizeof(tail));
	w->tr->zones[i + 1] = tail;
	return 0;
}

/* True if the track is where the pattern predicts; a negative answer is measured twice. */
static int as_predicted(struct work *w, const struct sp__pzone *z, uint32_t q, double sum,
			uint64_t track, bool *is, double *off)
{
	double rev, expect = z->start + sum * (double)(track / q);
	int rc = 0;

	for (uint32_t k = 0; k < track % q; k++)
		expect += z->skew[k];
	*is = false;
	for (unsigned i = 0; i < 2 && !*is && !rc; i++) {
		rc = track_start(w, z, track, &rev);
		*off = sp__wrap(rev - expect);
		*is = fabs(*off) < 2 * tolerance(w);
	}
	return rc;
}

/*
 * Measures m patterns on, with growing m, and improves the sum of a pattern.  *broken: the first
 * track that is not at its predicted angle, or 0.
 */
static int stretch(struct work *w, const struct sp__pzone *z, uint32_t q, double *sum,
		   uint64_t *broken)
{
	uint64_t good = 0, bad = 0, m, most = (z->tracks - 1) / q;
	unsigned exact = w->exact;
	double off;
	bool is;
	int rc;

	for (m = most < 3 ? 1 : 3; m <= most && !bad; m = m < most && 3 * m > most ? most : 3 * m) {
		/* Only the last one has to be exact. */
		w->exact = m < most ? exact / 2 + 2 : exact;
		rc = as_predicted(w, z, q, *sum, m * q, &is, &off);
		w->exact = exact;
		if (rc)
			return rc;
		if (is) {
			*sum += off / (double)m;
			good = m * q;
		} else {
			bad = m * q;
		}
	}
	while (bad && bad - good > 1) {
		m = good + (bad - good) / 2;
		rc = as_predicted(w, z, q, *sum, m, &is, &off);
		if (rc)
			return rc;
		if (is)
			good = m;
		else
			bad = m;
	}
	*broken = bad;
	return 0;
}

/* Finds a pattern, its skews, and how far it holds. */
static int try_pattern(struct work *w, struct sp__pzone *z, const struct runs *s, uint32_t q,
		       uint64_t *broken)
{
	double sum = 0, was;
	int rc;

	free(z->skew);
	z->skew = malloc(q * sizeof(*z->skew));
	if (!z->skew)
		return -ENOMEM;
	for (uint32_t k = 0; k < q; k++)
		sum += z->skew[k] = s->mean[s->class[k]];
	was = sum;
	rc = stretch(w, z, q, &sum, broken);
	for (uint32_t k = 0; k < q; k++)
		z->skew[k] += (sum - was) / q;
	return rc;
}

/* A pattern that fails soon was only the beginning of a longer one. */
static int zone_skews(struct work *w, size_t i, struct expect e)
{
	struct sp__pzone *z = &w->tr->zones[i];
	struct runs s = { .n = 0 };
	uint64_t broken = 0, before;
	uint32_t q = 0;
	int rc;

	rc = track_start(w, z, 0, &z->start);
	s.next = z->start;
	do {
		before = broken;
		if (!rc)
			rc = read_runs(w, z, &e, 2 * broken, &s, &q);
		if (!rc)
			rc = try_pattern(w, z, &s, q, &broken);
	} while (!rc && broken > before && 2 * broken <= z->tracks && 2 * broken < SKEWS_MAX &&
		 q > 1);
	if (!rc && broken && broken > q)
		rc = cut(w, i, broken);
	else if (broken)
		q = 0;
	w->tr->zones[i].nskew = rc ? 0 : q;
	return rc == -ENODATA ? 0 : rc;
}

/* Returns the length of the first run of a pattern: until the first different skew. */
static uint64_t run_of(const struct work *w, const struct sp__pzone *z)
{
	for (uint32_t k = 0; k < z->nskew; k++)
		if (fabs(sp__wrap(z->skew[k] - z->skew[0])) > tolerance(w))
			return k + 1;
	return 0;
}

int sp__skews_find(struct sp__tracks *tr)
{
	const struct expect nothing = { .slope = -1 };
	const unsigned exact = tr->tm->scatter.exact;
	struct work w = { tr, exact };
	struct expect e = nothing;
	uint64_t before, run;
	int rc = 0;

	for (size_t i = 0; i < tr->nzones && !rc; i++) {
		if (tr->zones[i].nskew)
			continue;
		before = tr->tm->cost.reads;
		/* A failure is mostly chance: tries once or twice again, with more samples. */
		for (unsigned n = 0; n < 3 && !rc && !tr->zones[i].nskew; n++) {
			w.exact = n ? 2 * exact : exact;
			rc = zone_skews(&w, i, n ? nothing : e);
		}
		w.exact = exact;
		tr->skew_reads += tr->tm->cost.reads - before;
		run = tr->zones[i].nskew ? run_of(&w, &tr->zones[i]) : 0;
		/* Another zone has other slopes. */
		if (run)
			e = (struct expect){ run, -1, tr->zones[i].nskew };
		if (rc == -EIO || rc == -ENODATA)
			rc = 0;
		sp__timing_progress(tr->tm, SP_PROBE_SKEWS, (double)(i + 1) / (double)tr->nzones);
	}
	return rc;
}
