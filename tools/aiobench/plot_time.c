/* SPDX-License-Identifier: MIT */
/*
 * Draws throughput and latency over time.
 *
 * Algorithm: the length of a run can be unknown, so a full series is halved.  Each point then
 * stands for twice as many intervals.  Its p99 is the maximum of theirs, and its p50 the mean of
 * theirs by requests, which is an estimate.
 */
#include "gnuplot.h"
#include "aiobench.h"

static void join(struct time_point *to, const struct time_point *next)
{
	const uint64_t requests = to->requests + next->requests;

	if (requests)
		to->p50_ns = (to->p50_ns * (double)to->requests +
			      next->p50_ns * (double)next->requests) /
			     (double)requests;
	to->end_ns = next->end_ns;
	to->requests = requests;
	if (next->p99_ns > to->p99_ns)
		to->p99_ns = next->p99_ns;
}

void time_series_add(struct time_series *s, const struct sp_bench_interval *i)
{
	const struct time_point point = { i->begin_ns, i->end_ns, i->total.requests,
					  i->total.latency_p99_ns,
					  (double)i->total.latency_p50_ns };

	if (s->n && s->last < s->each) {
		join(&s->points[s->n - 1], &point);
		s->last++;
		return;
	}
	if (s->n == TIME_SERIES_MAX) {
		s->n /= 2;
		for (size_t k = 0; k < s->n; k++) {
			s->points[k] = s->points[2 * k];
			join(&s->points[k], &s->points[2 * k + 1]);
		}
		s->each *= 2;
	}
	s->each = s->each ? s->each : 1;
	s->points[s->n++] = point;
	s->last = 1;
}

void plot_time(struct gnuplot *g, const struct time_series *s)
{
	struct gnuplot_range range = { 0 };

	fprintf(g->in, "$time << EOD\n");
	for (size_t i = 0; i < s->n; i++) {
		const struct time_point *p = &s->points[i];
		double seconds = (double)(p->end_ns - p->begin_ns) / 1e9;

		fprintf(g->in, "%.9g %.6g ", (double)(p->begin_ns + p->end_ns) / 2e9,
			seconds > 0 ? (double)p->requests / seconds : 0);
		/* An interval without a completed request has no latency. */
		if (p->requests)
			fprintf(g->in, "%.6g %.6g\n", (double)p->p99_ns / 1e9, p->p50_ns / 1e9);
		else
			fprintf(g->in, "NaN NaN\n");
		gnuplot_range_add(&range, (double)p->p99_ns / 1e9);
		gnuplot_range_add(&range, p->p50_ns / 1e9);
	}
	fputs("EOD\n"
	      "set xlabel 's'\n"
	      "set xrange [0:*]\n"
	      "set yrange [0:*]\n"
	      "unset key\n"
	      "set title 'Throughput over time'\n"
	      "set ylabel 'IOPS'\n"
	      "plot $time using 1:2 with linespoints ls 1\n"
	      "set title 'Latency over time'\n"
	      "unset ylabel\n"
	      "set key\n",
	      g->in);
	plot_latency_axis(g, &range);
	fputs("plot $time using 1:3 with linespoints ls 2 title 'p99', \\\n"
	      "     $time using 1:4 with linespoints ls 1 title 'p50'\n"
	      "unset key\n"
	      "unset logscale y\n",
	      g->in);
}
