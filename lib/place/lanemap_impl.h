/* SPDX-License-Identifier: MIT */
/*
 * The kinds of placement of lanes.
 */
#pragma once

#include "place/lanemap.h"

#define SP__LANEMAP_PARTS_MAX 4096
#define SP__LANEMAP_LANES_MAX 65536
#define SP__LANEMAP_CELLS_MAX (UINT64_C(1) << 50) /* maximum cells of all volumes */

struct sp__lanemap_kind {
	enum sp_placement placement;
	/* Plans all members but parts; errors of sp__lanemap_plan(). */
	int (*plan)(struct sp__lanemap *m, const struct sp__lanemap_opts *o,
		    struct sp_errinfo *err);
	void (*free)(struct sp__lanemap *m); /* NULL: nothing to free */
	/* Codes the members of the kind, and checks those that are read. */
	void (*code)(struct sp__coder *c, struct sp__lanemap *m);
	void (*describe)(const struct sp__lanemap *m, struct sp__lanemap_info *info);
	/*
	 * Sets all members of a part but first_page, for at least p->pages, or as many as its zone
	 * has, from p->first_cell on.  Errors of sp__lanemap_extend().
	 */
	int (*place)(const struct sp__lanemap *m, struct sp__lanepart *p);
	/* These are of page number x of a part. */
	uint64_t (*run)(const struct sp__lanemap *m, const struct sp__lanepart *p, uint64_t x,
			uint32_t lane, uint64_t *cell);
	bool (*find)(const struct sp__lanemap *m, const struct sp__lanepart *p, uint64_t cell,
		     uint64_t *x, uint32_t *lane);
};

extern const struct sp__lanemap_kind sp__lanes_on_tracks, sp__lanes_on_sled;

void sp__lanepart_free(struct sp__lanepart *p);
/* Sets the sizes that all kinds have.  Returns 0, or SP_ESYNTAX. */
SP_MUST_CHECK int sp__lanemap_set_sizes(struct sp__lanemap *m, const struct sp__lanemap_opts *o,
					uint64_t blocks, uint32_t block_bytes,
					struct sp_errinfo *err);
