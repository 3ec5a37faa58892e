/* SPDX-License-Identifier: MIT */
/*
 * Declares the prediction of the runs of a query on one volume.
 */
#pragma once

#include "cube/choose/prediction.h"
#include "run/headpath.h"

struct sp__predictor {
	const struct sp__predict_opts *o;
	const struct sp__basicgrid *basic; /* for the numbers of blocks on a volume */
	uint32_t cell_blocks;
	unsigned ndrives;
	uint64_t first, blocks; /* the request that is being built */
	uint64_t runs, cells, requests, seeks, read, next_block;
	struct sp__headpath drives[3];
};

/* True if the geometry is known, and has tracks or times. */
bool sp__predictable(const struct sp__predict_opts *o);
/* Begins a query on a volume whose cells are in blocks [first, end). */
void sp__predictor_begin(struct sp__predictor *p, const struct sp__predict_opts *o,
			 uint32_t cell_blocks, const struct sp__basicgrid *basic, uint64_t first,
			 uint64_t end);
/* Follows a run of cells.  Returns true if no more runs are to be followed. */
int sp__predictor_run(void *predictor, uint64_t first, uint64_t cells);
/* Waits for all requests, as a query does before it reads cells that others name. */
void sp__predictor_drain(struct sp__predictor *p);
/*
 * Ends the query and adds its requests to *out, whose times become those of the slowest volume.
 * scale: cells of the query per cell that was followed.
 */
void sp__predictor_end(struct sp__predictor *p, double scale, struct sp__cube_prediction *out);
