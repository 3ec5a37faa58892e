/* SPDX-License-Identifier: MIT */
/*
 * Decides whether a measurement is in a steady state.
 *
 * Algorithm: the window is the last N rounds.  Its spread (maximum minus minimum) must be at most
 * 20 % of its mean.  The rise or fall of the least-squares line from the first round to the last
 * must be at most 10 % of the mean.  If x counts from the middle of the window, the slope of the
 * line is sum(x * y) / sum(x * x), where sum(x * x) = N (N^2 - 1) / 12.
 *
 * Rejected: a limit for the spread alone.  A device that slows down slightly in each round stays
 * below it.
 */
#include <math.h>
#include <string.h>
#include "bench/steady.h"

#define N SP_BENCH_STEADY_WINDOW
#define RANGE_MAX 0.2
#define SLOPE_MAX 0.1

static void judge(struct sp_bench_steady *s)
{
	double least = s->window[0].iops, greatest = least, sum = 0, xy = 0;

	for (int i = 0; i < N; i++) {
		double y = s->window[i].iops;

		least = fmin(least, y);
		greatest = fmax(greatest, y);
		sum += y;
		xy += (i - (N - 1) / 2.0) * y;
	}
	s->iops = sum / N;
	s->range = (greatest - least) / s->iops; /* NaN if nothing completed */
	s->slope = xy / (N * (N * N - 1) / 12.0) * (N - 1) / s->iops;
	s->reached = s->range <= RANGE_MAX && fabs(s->slope) <= SLOPE_MAX;
}

void sp__steady_add(struct sp_bench_steady *s, struct sp_bench_round round)
{
	if (s->nwindow == N)
		memmove(&s->window[0], &s->window[1], (N - 1) * sizeof(s->window[0]));
	else
		s->nwindow++;
	s->window[s->nwindow - 1] = round;
	s->rounds++;
	if (s->nwindow == N)
		judge(s);
}
