/* SPDX-License-Identifier: MIT */
/*
 * Idea: skew_runs.c reads the skews at the beginning of a zone until they have
 * repeated themselves; that is the zone's pattern.  Then the angle is looked at
 * 1, 3, 9, 27... patterns on: the sum of a pattern becomes known to a small
 * fraction of the noise, and if the forecast fails, the zone is cut in two
 * where it does (a serpentine that turns at the end of a surface).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "probe/skew.h"

/* From track `at` of zone i on, tracks are a zone of their own. */
static int cut(struct sp__probe *p, size_t i, uint64_t at)
{
	struct sp__pzone tail = { 0 }, *z = &p->zones[i];
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
	tail.blocks = z->first_lbn + z->blocks - lbn;
	z->tracks = at;
	z->blocks = lbn - z->first_lbn;
	z->nodd = keep;
	rc = sp__zones_add(p, &tail);
	if (rc)
		return rc;
	tail = p->zones[p->nzones - 1];
	memmove(&p->zones[i + 2], &p->zones[i + 1], (p->nzones - i - 2) * sizeof(tail));
	p->zones[i + 1] = tail;
	return 0;
}

/* Is the track where the pattern puts it?  A no is asked for twice. */
static int as_foretold(struct sp__probe *p, const struct sp__pzone *z, uint32_t q, double sum,
		       uint64_t track, bool *is, double *off)
{
	double rev, expect = z->start + sum * (double)(track / q);
	int rc = 0;

	for (uint32_t k = 0; k < track % q; k++)
		expect += z->skew[k];
	*is = false;
	for (unsigned i = 0; i < 2 && !*is && !rc; i++) {
		rc = sp__skew_start(p, z, track, &rev);
		*off = sp__wrap(rev - expect);
		*is = fabs(*off) < 2 * sp__skew_tolerance(p);
	}
	return rc;
}

/*
 * Looks m patterns on, m growing, and improves the sum of a pattern.  *broken:
 * the first track that is not where it should be, or 0.
 */
static int stretch(struct sp__probe *p, const struct sp__pzone *z, uint32_t q, double *sum,
		   uint64_t *broken)
{
	uint64_t good = 0, bad = 0, m, most = (z->tracks - 1) / q;
	unsigned exact = p->scatter.exact;
	double off;
	bool is;
	int rc;

	for (m = most < 3 ? 1 : 3; m <= most && !bad; m = m < most && 3 * m > most ? most : 3 * m) {
		/* Only the last one has to be exact. */
		p->scatter.exact = m < most ? exact / 3 + 1 : exact;
		rc = as_foretold(p, z, q, *sum, m * q, &is, &off);
		p->scatter.exact = exact;
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
		rc = as_foretold(p, z, q, *sum, m, &is, &off);
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

/* A pattern, its skews, and how far it holds. */
static int try_pattern(struct sp__probe *p, struct sp__pzone *z, const struct sp__skewruns *s,
		       uint32_t q, uint64_t *broken)
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
	rc = stretch(p, z, q, &sum, broken);
	for (uint32_t k = 0; k < q; k++)
		z->skew[k] += (sum - was) / q;
	return rc;
}

/* A pattern that breaks soon was only the beginning of a longer one. */
static int zone_skews(struct sp__probe *p, size_t i, struct sp__skewexpect e)
{
	struct sp__pzone *z = &p->zones[i];
	struct sp__skewruns s = { 0 };
	uint64_t broken = 0, before;
	uint32_t q = 0;
	int rc;

	s.class = malloc(SP__SKEWS_MAX * sizeof(*s.class));
	if (!s.class)
		return -ENOMEM;
	rc = sp__skew_start(p, z, 0, &z->start);
	s.next = z->start;
	do {
		before = broken;
		if (!rc)
			rc = sp__skewruns_read(p, z, &e, 2 * broken, &s, &q);
		if (!rc)
			rc = try_pattern(p, z, &s, q, &broken);
	} while (!rc && broken > before && 2 * broken <= z->tracks && 2 * broken < SP__SKEWS_MAX &&
		 q > 1);
	if (!rc && broken && broken > q)
		rc = cut(p, i, broken);
	else if (broken)
		q = 0;
	p->zones[i].nskew = rc ? 0 : q;
	free(s.class);
	return rc == -ENODATA ? 0 : rc;
}

/* How long a run is in a pattern: until the first skew that is not like the first. */
static uint64_t run_of(const struct sp__probe *p, const struct sp__pzone *z)
{
	for (uint32_t k = 0; k < z->nskew; k++)
		if (fabs(sp__wrap(z->skew[k] - z->skew[0])) > sp__skew_tolerance(p))
			return k + 1;
	return 0;
}

int sp__skews_find(struct sp__probe *p)
{
	const struct sp__skewexpect nothing = { .slope = -1 };
	struct sp__skewexpect e = nothing;
	uint64_t before, run;
	int rc = 0;

	for (size_t i = 0; i < p->nzones && !rc; i++) {
		unsigned exact = p->scatter.exact;

		if (p->zones[i].nskew)
			continue;
		before = p->r->reads;
		/* If it fails, by chance most likely, once or twice more with more care. */
		for (unsigned n = 0; n < 3 && !rc && !p->zones[i].nskew; n++) {
			p->scatter.exact = n ? 2 * exact : exact;
			rc = zone_skews(p, i, n ? nothing : e);
			p->scatter.exact = exact;
		}
		p->r->layout_reads += p->r->reads - before;
		run = p->zones[i].nskew ? run_of(p, &p->zones[i]) : 0;
		/* The slopes of another zone are others. */
		if (run)
			e = (struct sp__skewexpect){ run, -1, p->zones[i].nskew };
		if (rc == -EIO || rc == -ENODATA)
			rc = 0;
		sp__probe_progress(p, SP_PROBE_SKEWS, (double)(i + 1) / (double)p->nzones);
	}
	return rc;
}
