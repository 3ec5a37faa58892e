/* SPDX-License-Identifier: MIT */
/*
 * The plan of a new cube: its head, with every cell placed.
 */
#pragma once

#include "cube/file/superblock.h"

struct sp__cube_plan {
	const struct sp_cube_create_opts *opts;
	const char *path; /* for messages */
	struct sp_errinfo *err;
	struct sp__cube_superblock superblock;
	enum sp_cube_mapping mapping; /* the one to try first, never AUTO, ... */
	bool fallback;		      /* ... and whether Naive follows where it does not suit */
	const struct sp_geometry *geometry; /* of the volume; NULL: unknown */
	struct sp_geometry *own;	    /* the same, if it is the plan's */
	double host_ns;			    /* of a simulated host, for each request */
	bool caches;			    /* a simulated drive that keeps what it has read */
	bool fifo;			    /* it serves requests in their order, ... */
	unsigned window;		    /* ... or chooses among so many; 0: of any number */
	uint64_t device_bytes;		    /* 0: unlimited */
};

/* True if the plan, or a choice among plans, decides on the mapping. */
static inline bool sp__cube_mapping_open(const struct sp_cube_create_opts *opts)
{
	return opts->mapping == SP_CUBE_AUTO;
}

/*
 * Errors as sp_cube_create(); after one, too, it is to be freed.  opts and path are borrowed,
 * and their mapping is one, or AUTO, which is then the simple choice between MultiMap and
 * Naive.
 */
SP_MUST_CHECK int sp__cube_plan(struct sp__cube_plan *p, const struct sp_cube_create_opts *opts,
				const char *path, struct sp_errinfo *err);
void sp__cube_plan_free(struct sp__cube_plan *p);

/* points.c: checks shape and options, and chooses the cell; then the layout of an empty one. */
SP_MUST_CHECK int sp__pointplan_check(struct sp__cube_plan *p);
SP_MUST_CHECK int sp__pointplan_lay_out(struct sp__cube_plan *p);
