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

/* Fixed I/O buffers within working memory. */
struct sp__plan_buffers {
	uint32_t chunk_bytes;	 /* one chunk of the input stream, multiple of 4096 */
	unsigned chunks;	 /* chunks of the input stream */
	uint32_t write_bytes;	 /* one write buffer: of output, or of spilling */
	unsigned writes;	 /* chunks of the output stream */
	unsigned output_buffers; /* between the final merge and who takes its records */
	unsigned spill_writes;	 /* chunks of a run writer */
};

/*
 * Buffers for so much working memory: W/8 in all where that is 1 MB or more.  Those of
 * the input are gone before those of the output are needed.
 */
void sp__plan_buffers(uint64_t working_bytes, struct sp__plan_buffers *buffers);

/*
 * Memory of the run writer: spill_writes buffers, or, of large pages, the least it can do
 * with.
 */
size_t sp__plan_spill_bytes(const struct sp_sort_opts *opts, const struct sp__plan_buffers *buffers,
			    uint32_t page_bytes);

/* Working memory for -S memory_bytes: raised to the floor. */
uint64_t sp__plan_working(uint64_t memory_bytes);

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

/* Does the volume lie on a simulated machine? */
bool sp__plan_simulated(const struct sp_sort_opts *opts);

/* Threads for opts->parallel: itself, or the processors we may use, at most 8. */
unsigned sp__plan_threads(unsigned parallel);

#endif
