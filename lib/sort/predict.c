/* SPDX-License-Identifier: MIT */
#include <math.h>
#include "sort/predict.h"

#define MB 1048576.0

double sp__predict_cluster_pages(enum sp_readahead strategy, double runs, double buffers,
				 bool whole)
{
	double pages;

	switch (strategy) {
	case SP_READ_NONE:
		return buffers < runs ? 0 : 1;
	case SP_READ_DOUBLE:
		pages = buffers < 2 * runs ? 1 : buffers / (2 * runs);
		return buffers < runs ? 0 : whole ? floor(pages) : pages;
	case SP_READ_EQUAL:
		return buffers < runs ? 0 : buffers < 2 * runs ? 1 : buffers / runs - 1;
	case SP_READ_FORECAST:
		pages = buffers / (runs + 1);
		return pages < 1 ? 0 : whole ? floor(pages) : pages;
	case SP_READ_EXTENDED:
		pages = buffers / (runs + 2);
		return pages < 1 ? 0 : pages;
	case SP_READ_CLUSTER:
		pages = buffers / (runs + 1);
		return pages < 1 ? 0 : pages;
	default:
		return 0;
	}
}

/* Runs that take part in the merge at a time (section 5). */
static double active_runs(double runs, double alpha)
{
	if (alpha >= 1 || 1 / (1 - alpha) >= runs)
		return runs;
	return alpha < 0.5 ? 2 : 1 / (1 - alpha);
}

double sp__predict_cluster_reads(enum sp_readahead strategy, double pages, double runs,
				 double buffers, double alpha, bool whole)
{
	double competing = strategy == SP_READ_CLUSTER ? active_runs(runs, alpha) : runs;
	double cluster = sp__predict_cluster_pages(strategy, runs, buffers, whole);

	if (cluster <= 0)
		return 0;
	cluster = sp__predict_cluster_pages(strategy, competing, buffers, whole);
	if (alpha >= 0.5 || (strategy == SP_READ_CLUSTER && competing == runs))
		return pages / cluster;
	/* The parts that overlap with no other run are read at once, one for each run. */
	return 2 * alpha * pages / cluster + (1 - 2 * alpha) * runs;
}

double sp__predict_seconds(double transfer_s_per_mb, double seek_s, double bytes, double reads)
{
	return transfer_s_per_mb * bytes / MB + seek_s * reads;
}
