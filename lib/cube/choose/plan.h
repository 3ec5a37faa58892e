/* SPDX-License-Identifier: MIT */
/*
 * The plan of a new cube: its superblock, with the location of every cell.
 */
#pragma once

#include "cube/file/superblock.h"
#include "predict/drive.h"

struct sp__cube_plan {
	const struct sp_cube_create_opts *opts;
	const char *path; /* for messages */
	struct sp_errinfo *err;
	struct sp__cube_superblock superblock;
	enum sp_cube_mapping mapping; /* mapping to try first; not AUTO */
	bool fallback;		      /* use Naive if that one does not suit */
	struct sp__volume_drive drive;
	const struct sp__pointset *points; /* the cells of a dataset of points; NULL: a grid */
};

/* True if the plan, or a choice among plans, decides on the mapping. */
static inline bool sp__cube_mapping_open(const struct sp_cube_create_opts *opts)
{
	return opts->mapping == SP_CUBE_AUTO;
}

/*
 * Plans a cube.  opts and path are borrowed.  If opts->mapping is AUTO, the plan uses MultiMap, or
 * Naive if MultiMap does not suit.  The caller frees the plan, also after an error.  Returns 0 or
 * an error of sp_cube_create().
 */
SP_MUST_CHECK int sp__cube_plan(struct sp__cube_plan *p, const struct sp_cube_create_opts *opts,
				const char *path, struct sp_errinfo *err);
void sp__cube_plan_free(struct sp__cube_plan *p);

/*
 * Finds the zones of MultiMap from first_block on.  SP_EUNSUP: tracks or hops are unknown; if the
 * plan has no fallback, err says so.
 */
SP_MUST_CHECK int sp__cubeplan_zones(struct sp__cube_plan *p, uint64_t first_block);
/* Returns sp__multimap_closer_deg() for a grid of two dimensions with a known geometry; else 0. */
double sp__cubeplan_closer_deg(const struct sp__cube_plan *p);
/* Records an error with a text, and returns code. */
int sp__cubeplan_refuse(const struct sp__cube_plan *p, int code, const char *text);

/* points.c: checks shape and options, and chooses the cell; then lays out an empty dataset. */
SP_MUST_CHECK int sp__pointplan_check(struct sp__cube_plan *p);
SP_MUST_CHECK int sp__pointplan_lay_out(struct sp__cube_plan *p);
