/* SPDX-License-Identifier: MIT */
/*
 * Keeps the metrics of slices, and computes estimates from them.
 */
#include <math.h>
#include <stdlib.h>
#include "base/array.h"
#include "base/minmax.h"
#include "benchset/set.h"

static void add_stats(struct sp_benchset_stats *sum, const struct sp_bench_stats *s)
{
	sum->name = s->name;
	sum->prio = s->prio;
	sum->requests += s->requests;
	sum->bytes += s->bytes;
	sum->errors += s->errors;
	sum->starved |= s->starved;
	sum->longest_wait_ns = sp__max(sum->longest_wait_ns, s->longest_wait_ns);
	sum->longest_gap_ns = sp__max(sum->longest_gap_ns, s->longest_gap_ns);
}

static void metrics(double *m, const struct sp_bench_stats *s)
{
	bool any = s->requests > 0;

	m[SP__SET_IOPS] = s->iops;
	m[SP__SET_BANDWIDTH] = s->bandwidth_bytes_per_s;
	m[SP__SET_MEAN] = any ? s->latency_mean_ns : NAN;
	m[SP__SET_P50] = any ? (double)s->latency_p50_ns : NAN;
	m[SP__SET_P99] = any ? (double)s->latency_p99_ns : NAN;
	m[SP__SET_P999] = any ? (double)s->latency_p999_ns : NAN;
	m[SP__SET_CPU] = NAN;
	m[SP__SET_WAIT] = any ? s->latency_mean_ns : (double)s->longest_wait_ns;
}

static bool grow(struct sp__setpoint *p)
{
	if (!p->latency)
		p->latency = calloc(p->opts.nclasses, sizeof(*p->latency));
	return p->latency && SP__ARRAY_GROW_BY_ONE(p->slices, p->nslices);
}

bool sp__set_note(struct sp__setpoint *p, const struct sp_bench *b)
{
	const struct sp_bench_result *r = sp_bench_result(b);
	struct sp__setslice *s;

	if (!grow(p))
		return false;
	s = &p->slices[p->nslices++];
	for (size_t i = 0; i < r->nclasses; i++) {
		add_stats(&p->sums[i], &r->classes[i]);
		metrics(s->metrics[i], &r->classes[i]);
		sp__hist_merge(&p->latency[i], sp__bench_latency(b, i));
	}
	add_stats(&p->sums[r->nclasses], &r->total);
	metrics(s->metrics[r->nclasses], &r->total);
	if (!r->simulated && r->total.requests)
		s->metrics[r->nclasses][SP__SET_CPU] =
			(double)(r->user_ns + r->system_ns) / 1e3 / (double)r->total.requests;
	p->elapsed_ns += r->elapsed_ns;
	p->cpu_ns += r->user_ns + r->system_ns;
	return true;
}

/* Collects the known values of a metric in at most SP__SLICES_MAX slices.  Returns their number. */
static size_t known_values(double *v, const struct sp__setpoint *p, size_t class,
			   enum sp__setmetric m)
{
	size_t n = 0;

	for (size_t i = 0; i < p->nslices && n < SP__SLICES_MAX; i++)
		if (!isnan(p->slices[i].metrics[class][m]))
			v[n++] = p->slices[i].metrics[class][m];
	return n;
}

double sp__set_figure(const struct sp__setpoint *p, size_t class, enum sp__setmetric m)
{
	double v[SP__SLICES_MAX];

	return sp__stat_trimmed(v, known_values(v, p, class, m));
}

static double ratio_value(const struct sp__setpair *p)
{
	return sp__set_figure(p->above, p->class_above, p->metric) /
	       sp__set_figure(p->below, p->class_below, p->metric);
}

double sp__set_difference(const struct sp__setpair *p, size_t round)
{
	if (round >= p->above->nslices || round >= p->below->nslices)
		return NAN;
	return p->above->slices[round].metrics[p->class_above][p->metric] /
		       sp__set_figure(p->above, p->class_above, p->metric) -
	       p->below->slices[round].metrics[p->class_below][p->metric] /
		       sp__set_figure(p->below, p->class_below, p->metric);
}

struct sp_benchset_estimate sp__set_ratio(const struct sp__setpair *p)
{
	double v[SP__SLICES_MAX];
	size_t n = 0;

	for (size_t k = 0; k < SP__SLICES_MAX; k++) {
		double difference = sp__set_difference(p, k);

		if (isfinite(difference))
			v[n++] = difference;
	}
	return sp__stat_ratio(ratio_value(p), v, n);
}

static struct sp_benchset_estimate estimate(const struct sp__setpoint *p, size_t class,
					    enum sp__setmetric m)
{
	double v[SP__SLICES_MAX];

	return sp__stat_estimate(v, known_values(v, p, class, m));
}

static void percentiles(struct sp_benchset_stats *s, const struct sp__hist *h)
{
	s->latency_p50_ns = sp__hist_quantile(h, 0.5);
	s->latency_p99_ns = sp__hist_quantile(h, 0.99);
	s->latency_p999_ns = sp__hist_quantile(h, 0.999);
}

static void stats(struct sp_benchset_stats *s, const struct sp__setpoint *p, size_t class)
{
	*s = p->sums[class];
	s->iops = estimate(p, class, SP__SET_IOPS);
	s->latency_mean_ns = estimate(p, class, SP__SET_MEAN);
	s->wait_mean_ns = sp__set_figure(p, class, SP__SET_WAIT);
	for (size_t i = 0; i < p->nslices; i++)
		s->unanswered += isnan(p->slices[i].metrics[class][SP__SET_MEAN]);
	s->bandwidth_bytes_per_s = estimate(p, class, SP__SET_BANDWIDTH).value;
}

static int point(struct sp_benchset_point *to, struct sp__setpoint *p)
{
	size_t n = p->opts.nclasses;
	struct sp__hist *sum;

	*to = (struct sp_benchset_point){ .name = p->name,
					  .depth = p->opts.depth,
					  .share = p->share,
					  .slices = (unsigned)p->nslices,
					  .elapsed_s = (double)p->elapsed_ns / 1e9,
					  .classes = p->stats,
					  .cpu_us_per_request = NAN,
					  .ratio = { NAN, NAN, NAN } };
	if (!p->nslices)
		return 0;
	sum = calloc(1, sizeof(*sum));
	if (!sum)
		return -ENOMEM;
	to->nclasses = n;
	for (size_t i = 0; i < n; i++) {
		stats(&p->stats[i], p, i);
		percentiles(&p->stats[i], &p->latency[i]);
		sp__hist_merge(sum, &p->latency[i]);
	}
	stats(&to->total, p, n);
	percentiles(&to->total, sum);
	free(sum);
	if (p->cpu_ns && to->total.requests)
		to->cpu_us_per_request = (double)p->cpu_ns / 1e3 / (double)to->total.requests;
	if (n == 2)
		to->ratio = sp__set_ratio(&(struct sp__setpair){ p, p, 1, 0, SP__SET_WAIT });
	return 0;
}

int sp__set_figures(struct sp_benchset *set)
{
	struct sp_benchset_result *r = &set->result;

	set->shown = calloc(set->npoints + 1, sizeof(set->shown[0]));
	if (!set->shown)
		return -ENOMEM;
	r->points = set->shown;
	r->npoints = set->npoints;
	for (size_t i = 0; i < set->npoints; i++) {
		if (point(&set->shown[i], &set->points[i]))
			return -ENOMEM;
		if (r->rounds < set->shown[i].slices)
			r->rounds = set->shown[i].slices;
	}
	return 0;
}
