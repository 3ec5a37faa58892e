/* SPDX-License-Identifier: MIT */
/*
 * The formulas of Zhang & Larson 1998, sections 4 and 5: the number of cluster reads
 * of a merge, and its time on a device with transfer time t and seek time s.  Pure
 * arithmetic.
 */
#ifndef SP__SORT_PREDICT_H
#define SP__SORT_PREDICT_H

#include <stdbool.h>
#include <spindle/sort.h>

/*
 * Mean pages in a cluster, R / p, of n runs in b buffer pages on random input:
 * formulas (1)-(4), and b / (n + 1) for forecasting.  whole: at the sizes actually
 * read, for which double buffering and forecasting round down to pages.
 * 0 if the strategy cannot work with so few buffers.
 */
double sp__predict_cluster_pages(enum sp_readahead strategy, double runs, double buffers,
				 bool whole);

/*
 * Cluster reads N of a merge of pages (= D / p) pages.  alpha is the overlap of
 * neighbouring runs' key ranges: 1 random input, formulas (1)-(4); 0 sorted
 * input, (6)-(9).  0 if not feasible.
 */
double sp__predict_cluster_reads(enum sp_readahead strategy, double pages, double runs,
				 double buffers, double alpha, bool whole);

/* Formula (5): T = t D + s N; D in bytes, t for each 2^20 of them. */
double sp__predict_seconds(double transfer_s_per_mb, double seek_s, double bytes, double reads);

#endif
