/* SPDX-License-Identifier: MIT */
/*
 * Predicts the time of reading runs of blocks on a volume from a geometry alone.
 *
 * The prediction follows the head: it knows at which angle each run of blocks begins and ends, and
 * waits for that angle, as a drive does.  So it models the cliffs on which a hop that comes
 * slightly late loses a revolution.  On which side of a cliff a real drive is cannot be predicted,
 * so a query can be predicted three times: with each aim as the geometry says, two blocks late, and
 * two early.
 *
 * Thread rule: one thread uses a predictor.
 */
#pragma once

#include "predict/heads.h"

struct sp__predict_opts {
	const struct sp_geometry *geometry; /* geometry of each volume; NULL: unknown */
	unsigned depth;	 /* requests outstanding on each volume, to SP__HEADPATH_DEPTH_MAX; 0: 1 */
	bool fifo;	 /* the drive serves in order of submission; else the nearest in time */
	unsigned window; /* requests that the drive chooses from, oldest first; 0: all */
	uint64_t gap_blocks;	 /* maximum gap between runs that one request reads */
	uint64_t request_blocks; /* maximum request; 0: unlimited */
	/* Host time per request in addition to the overhead; 0 if a probe measured both. */
	double host_ns;
	uint64_t runs_max; /* maximum runs of a query that are followed; 0: all */
	bool cliffs;	   /* predict late_ns and early_ns, too */
};

/* Not whole numbers, because they are means, or scaled if not all runs were followed. */
struct sp__runs_prediction {
	double ns;
	double late_ns, early_ns; /* each aim two blocks late, or early; without cliffs: ns */
	double requests, seeks;	  /* seeks: requests not at the end of the last one */
	double blocks;		  /* blocks read, gaps included */
	double closed_ns;	  /* by closed formulas, if the caller has them */
};

struct sp__predictor {
	const struct sp__predict_opts *o;
	unsigned nhosts;	/* 0: without tracks */
	uint64_t first, blocks; /* the request that is being built */
	uint64_t runs, requests, seeks, read, next_block;
	struct sp__heads hosts[3]; /* each has one of the drives */
	struct sp__headpath drives[3];
};

/* True if the geometry is known, and has tracks or times. */
bool sp__predictable(const struct sp__predict_opts *o);
/* Begins a query that reads of blocks [first, end) of a volume.  Then p must not be moved. */
void sp__predictor_begin(struct sp__predictor *p, const struct sp__predict_opts *o, uint64_t first,
			 uint64_t end);
/* Follows a run of blocks of the volume.  Returns true if no more runs are to be followed. */
bool sp__predictor_run(struct sp__predictor *p, uint64_t first, uint64_t blocks);
/* Waits for all requests, as a query does before it reads blocks that others name. */
void sp__predictor_drain(struct sp__predictor *p);
/*
 * Ends the query and adds its requests to *out, whose times become those of the slowest volume.
 * scale: blocks of the query per block that was followed.
 */
void sp__predictor_end(struct sp__predictor *p, double scale, struct sp__runs_prediction *out);
