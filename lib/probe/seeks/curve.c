/* SPDX-License-Identifier: MIT */
/*
 * Predicts hops that were not made from the seek curve.
 *
 * The time of a hop of k tracks is the maximum over all tracks of a pattern where it can start.
 * The layout gives the number of cylinders, the seek curve the time.
 */
#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"
#include "probe/seeks/seeks.h"

#define HOPS_MAX 2048
#define KNEE_DEG 0.2
#define KNEE_STEEPER 2.0
#define SAME_DEG 0.6
#define BEFORE 3 /* steps */
#define CERTAIN 4.0
#define PROBABLE 2.0

/* Returns the time of a hop over d > 0 cylinders, from the measured ones. */
static double seek_of(const struct sp__seeks *sk, uint64_t d, bool write)
{
	const struct sp_probe_seek *s = sk->seeks, *a = NULL;

	for (size_t i = 0; i < sk->nseeks; i++) {
		double ns = write ? s[i].write_ns : s[i].read_ns, before;

		if (!s[i].cylinders)
			continue;
		if (s[i].cylinders >= d) {
			if (!a || s[i].cylinders == d)
				return ns;
			before = write ? a->write_ns : a->read_ns;
			return before + (ns - before) * (double)(d - a->cylinders) /
						(double)(s[i].cylinders - a->cylinders);
		}
		a = &s[i];
	}
	return -1;
}

/* Returns the time of a hop to another head of the cylinder; 0: it has one head. */
static double switch_of(const struct sp__seeks *sk, bool write)
{
	for (size_t i = 0; i < sk->nseeks; i++)
		if (!sk->seeks[i].cylinders && sk->seeks[i].tracks)
			return write ? sk->seeks[i].write_ns : sk->seeks[i].read_ns;
	return 0;
}

static double hop_of(const struct sp__seeks *sk, uint64_t cylinders, bool switches, bool write)
{
	double ns = cylinders ? seek_of(sk, cylinders, write) : 0;

	return ns < 0 ? ns : fmax(ns, switches ? switch_of(sk, write) : 0);
}

static bool measured(const struct sp__seeks *sk, uint64_t cylinders)
{
	size_t i = 0;

	while (i < sk->nseeks && sk->seeks[i].cylinders != cylinders)
		i++;
	return i < sk->nseeks;
}

double sp__seeks_predict(const struct sp__seeks *sk, uint64_t from, uint64_t to)
{
	uint64_t c, h, c2, h2;

	sp__order_where(sk->order, from, &c, &h);
	sp__order_where(sk->order, to, &c2, &h2);
	c = c > c2 ? c - c2 : c2 - c;
	return measured(sk, c) ? hop_of(sk, c, h != h2, false) : -1;
}

/* Returns the longest hop of k tracks, or of a round; negative: not known that far. */
static double worst(const struct sp__seeks *sk, uint64_t k, bool within, bool write)
{
	const struct sp__trackorder *l = sk->order;
	uint64_t starts = sp__order_round(l);
	uint64_t far = 0, c, h, c2, h2;
	bool switches = false;

	for (uint64_t i = 0; i < starts; i++) {
		if ((within || l->whole) && i + k >= starts)
			break;
		sp__order_where(l, i, &c, &h);
		sp__order_where(l, i + k, &c2, &h2);
		c = c > c2 ? c - c2 : c2 - c;
		far = c > far ? c : far;
		switches |= h != h2;
	}
	return hop_of(sk, far, switches, write);
}

/*
 * Finds the end of the plateau of settling by the rule of sp__hops_knee(), with errors: steps that
 * can be one step count as one, the slope before a rise is that of several steps, and the rise
 * must exceed it by a number of errors.  False: the plateau does not end, and *aim is the end of
 * the first plateau.
 */
static bool knee(const struct sp__hops *h, double period_ns, double error_deg, double errors,
		 double *aim)
{
	const struct sp__hopstep *s = h->steps, *first = s, *last[BEFORE] = { NULL };
	double best = 0, before = 0, rise, n;
	double slow = sp__geometry_slow(period_ns);

	*aim = h->nsteps ? s->w_deg : 0;
	for (; h->nsteps && s + 1 < h->steps + h->nsteps; s++) {
		if (s[1].w_deg - first->w_deg < fmax(SAME_DEG * slow, 2 * error_deg))
			continue;
		n = (double)(s[1].tracks - s->tracks);
		rise = s[1].w_deg - s->w_deg;
		for (size_t i = 0; i < BEFORE && last[i]; i++)
			before =
				(s->w_deg - last[i]->w_deg) / (double)(s->tracks - last[i]->tracks);
		if (!last[0])
			*aim = s->w_deg;
		else if (rise >= KNEE_DEG * slow + KNEE_STEEPER * before * n + errors * error_deg &&
			 rise / n - before > best) {
			best = rise / n - before;
			*aim = s->w_deg;
		}
		memmove(last + 1, last, sizeof(last) - sizeof(*last));
		last[0] = s;
		first = s + 1;
	}
	return best > 0;
}

int sp__seeks_reach(const struct sp__seeks *sk, struct sp__hops *h, bool within, bool write)
{
	uint64_t most = within ? sp__order_round(sk->order) - 1 : HOPS_MAX;
	bool known = sp__order_values(sk->order);
	int rc = 0;

	for (uint64_t k = 1; k <= sp__min(most, HOPS_MAX) && !rc && known; k++) {
		double ns = worst(sk, k, within, write);

		if (ns <= 0)
			break;
		rc = sp__hops_add(h, k,
				  (ns + sk->tm->turnaround_ns) / sk->tm->spin.period_ns * 360);
	}
	knee(h, sk->tm->spin.period_ns, sp__hop_error(sk->hops) * 360, CERTAIN, &h->aim_deg);
	return rc;
}

int sp__plateau_look(const struct sp__seeks *sk, bool *doubtful)
{
	double period = sk->tm->spin.period_ns, error = sp__hop_error(sk->hops) * 360, aim;
	struct sp__hops h = { 0 };
	int rc = sp__seeks_reach(sk, &h, false, false);

	*doubtful =
		!knee(&h, period, error, CERTAIN, &aim) && knee(&h, period, error, PROBABLE, &aim);
	free(h.steps);
	return rc;
}
