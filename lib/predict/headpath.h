/* SPDX-License-Identifier: MIT */
/*
 * Predicts the time of block requests on a disk by following its head over the tracks of a
 * geometry.
 *
 * Each request is a *pass* of blocks under the head.  The prediction knows at which angle a pass
 * begins and ends, and waits for that angle, as a drive does.  So it loses whole revolutions where
 * the drive loses them.
 *
 * Thread rule: one thread uses a path; geometries are immutable.
 */
#pragma once

#include <spindle/geometry.h>
#include "dev/geometry.h"

#define SP__HEADPATH_DEPTH_MAX 64 /* greater depths are predicted as this one */

/* A location under the head. */
struct sp__headspot {
	bool known;
	uint64_t track;
	sp__angle angle;
	bool exact; /* cylinder and surface are known, too */
	uint64_t cylinder, surface;
};

/* One request. */
struct sp__headpass {
	struct sp__headspot begin, end;
	bool write;
	unsigned tag; /* identifies the request for the caller */
	uint64_t blocks;
	double ns;	 /* duration */
	double block_ns; /* time of a block at its begin */
	double ready_ns; /* in a queue: when it can be chosen */
};

/* A drive.  The caller sets the first members; the rest is zero to begin. */
struct sp__headpath {
	const struct sp_geometry *g; /* with zones */
	bool fifo;	    /* the drive serves in order of submission; else the nearest in time */
	unsigned window;    /* requests that the drive chooses from, oldest first; 0: all */
	double late_blocks; /* each aim is this much late */
	/*
	 * The bus: time of a block.  The drive is busy until the last block of a read has passed
	 * it; apart: all blocks of a read pass it after the medium, those of a write before.
	 */
	double bus_ns;
	bool bus_apart[2]; /* by enum sp_geometry_op */
	double mean_ns;	   /* positioning from an unknown location */
	double now_ns;	   /* end of the last request that was served */
	double passed_ns;  /* end of its pass */
	double start_ns;   /* the first positioning */
	struct sp__headspot at;
	unsigned queued;
	struct sp__headpass queue[SP__HEADPATH_DEPTH_MAX];
};

/*
 * Makes the pass over blocks, which can leave the known zones: there a mean rate holds.
 */
void sp__headpass_make(const struct sp_geometry *g, bool write, uint64_t first, uint64_t blocks,
		       struct sp__headpass *pass);
/* Adds a request that the host issues at issued_ns; the queue must have space. */
void sp__headpath_put(struct sp__headpath *p, const struct sp__headpass *pass, double issued_ns);
/* Serves the next of the outstanding requests, of which there is one.  Returns its tag. */
unsigned sp__headpath_serve(struct sp__headpath *p);
/*
 * Returns the mean positioning between two random locations of these blocks: seek plus half a
 * revolution.
 */
double sp__headpath_mean_ns(const struct sp_geometry *g, uint64_t first, uint64_t blocks);
/* Returns the duration of a transfer at the mean rate. */
double sp__headpath_transfer_ns(const struct sp_geometry *g, uint64_t blocks);
