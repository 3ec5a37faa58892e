/* SPDX-License-Identifier: MIT */
/*
 * Computes count, minimum, maximum, mean and standard deviation of durations, without keeping them.
 *
 * Algorithm: Welford's, which sums squares of distances from the running mean, and so does not
 * lose the digits in which large values differ.  Chan's formula combines two sets.
 *
 * Thread rule: one thread at a time.
 */
#pragma once

#include <math.h>
#include <stdint.h>

struct sp__durations {
	uint64_t count, min, max; /* min and max are undefined while count is 0 */
	double mean, squares;	  /* squares: sum of the squared distances from the mean */
};

static inline void sp__durations_add(struct sp__durations *m, uint64_t value)
{
	double distance = (double)value - m->mean;

	if (!m->count || value < m->min)
		m->min = value;
	if (!m->count || value > m->max)
		m->max = value;
	m->count++;
	m->mean += distance / (double)m->count;
	m->squares += distance * ((double)value - m->mean);
}

static inline void sp__durations_merge(struct sp__durations *into, const struct sp__durations *from)
{
	double distance = from->mean - into->mean, n = (double)into->count;
	double k = (double)from->count;

	if (!from->count)
		return;
	if (!into->count || from->min < into->min)
		into->min = from->min;
	if (!into->count || from->max > into->max)
		into->max = from->max;
	into->squares += from->squares + distance * distance * n * k / (n + k);
	into->mean += distance * k / (n + k);
	into->count += from->count;
}

/* Returns the standard deviation of a sample; 0 for less than two values. */
static inline double sp__durations_stddev(const struct sp__durations *m)
{
	return m->count > 1 ? sqrt(m->squares / (double)(m->count - 1)) : 0;
}
