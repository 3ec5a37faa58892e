/* SPDX-License-Identifier: MIT */
/*
 * An open cube, shared by the files of this folder.  One thread uses it.
 */
#ifndef SP__CUBE_CUBE_IMPL_H
#define SP__CUBE_CUBE_IMPL_H

#include "cube/head.h"
#include "run/env.h"

struct sp_cube {
	struct sp_cube_opts opts; /* run.volume: the one in use */
	char *path;
	struct sp__cube_head head;
	uint64_t cell_bytes;
	uint64_t progress_bytes; /* loaded between two notes of progress */
	struct sp__env env;
	int fd;			   /* for the head and the table of checksums */
	struct sp__volume *volume; /* for cells; its own descriptor */
};

/*
 * A cube on a simulated volume that has no file: its requests take time and move nothing.
 * Takes over the contents of head.
 */
SP_MUST_CHECK int sp__cube_open_planned(struct sp_cube **cube, struct sp__cube_head *head,
					const struct sp_cube_opts *opts, struct sp_errinfo *err);

/* Bytes of working memory for one part of a query or a load, beside the I/O buffers. */
uint64_t sp__cube_part_bytes(const struct sp_cube *c);

/* SP_ESYNTAX or -ERANGE with the reason: a box outside of the dataset. */
SP_MUST_CHECK int sp__cube_check_box(const struct sp_cube *c, const struct sp_cube_box *box,
				     struct sp_errinfo *err);
/* SP_EUNSUP: the descriptor is one of the cube itself. */
SP_MUST_CHECK int sp__cube_check_input(const struct sp_cube *c, int fd, const char *name,
				       struct sp_errinfo *err);
/* The cells that have elements of a box. */
struct sp_cube_box sp__cube_cells(const struct sp_cube_shape *s,
				  const struct sp_cube_box *elements);

#endif
