/* SPDX-License-Identifier: MIT */
/*
 * What run formation and merging need of the planner beyond <spindle/sort.h>.
 */
#ifndef SP__SORT_PLAN_H
#define SP__SORT_PLAN_H

#include <spindle/sort.h>

/* A record in a run buffer costs its bytes, this ... */
#define SP__PLAN_ENTRY_BYTES 16
/* ... and this while it is being sorted. */
#define SP__PLAN_SCRATCH_BYTES 16
/* Taken for a record of line and CSV formats where nothing is known. */
#define SP__PLAN_RECORD_BYTES 64
/* Descriptor of a spilled page in memory: checksum; with the last key, cut short. */
#define SP__PLAN_PAGE_BYTES 10
#define SP__PLAN_PAGE_KEY_BYTES 100
/* Under compression beside either: the page's stored length. */
#define SP__PLAN_PACKED_BYTES 5
/*
 * Device model until a geometry file says better: a flash drive of 2 GB/s, 0.03 ms
 * for a read elsewhere while others are outstanding.
 */
#define SP__PLAN_TRANSFER_S_PER_MB 0.0005
#define SP__PLAN_SEEK_S 0.00003
/* Merging takes the processor at least this, and this for each page it reads. */
#define SP__PLAN_MERGE_S_PER_MB 0.001
#define SP__PLAN_PAGE_S 0.000004
/* What selecting from a heap costs the processor beyond sorting a loaded buffer. */
#define SP__PLAN_REPLACEMENT_S_PER_MB 0.002

/* Beside the chunks of streams (run/memory.h), each as large as they are: */
#define SP__PLAN_OUTPUT_BUFFERS 3 /* between the final merge and whoever takes its records */
#define SP__PLAN_SPILL_CHUNKS 3	  /* of a run writer */

/* Memory of the run writer: its chunks or, of large pages, the least it can work with. */
size_t sp__plan_spill_bytes(const struct sp_sort_opts *opts, uint64_t working_bytes,
			    uint32_t page_bytes);

/* What a read costs, t and s of Zhang & Larson: of the geometry, or as above. */
struct sp__plan_device {
	double transfer_s_per_mb, seek_s;
	bool path;     /* runs lie along the semi-sequential path, and s is a hop */
	double away_s; /* with a path: of a write elsewhere, and of coming back to it */
};
struct sp__plan_device sp__plan_device(const struct sp_sort_opts *opts);

/* Placement as asked for, where runs as they are formed can be placed so. */
enum sp_placement sp__plan_placement(const struct sp_sort_opts *opts);

/* The largest page that suits tracks, if there is memory for many. */
uint32_t sp__plan_track_page(const struct sp_geometry *g);

/*
 * The feasible strategy with the least predicted time for a merge of pages
 * pages of page_bytes in runs runs and buffers buffers; if table is not NULL
 * it is filled for every strategy.  Without last keys (sequence false) those
 * that need the consumption sequence are not feasible.
 */
enum sp_readahead sp__plan_readahead(uint64_t pages, uint32_t page_bytes, unsigned runs,
				     unsigned buffers, bool sequence, struct sp__plan_device device,
				     struct sp_strategy_plan *table);

#endif
