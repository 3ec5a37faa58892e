/* SPDX-License-Identifier: MIT */
/*
 * Grids of elements: what <spindle/cube.h> does with a cube, done with one of these.
 */
#pragma once

#include "cube/file/file.h"

/* query.c: sp_cube_read() and sp_cube_verify(); the box was checked. */
SP_MUST_CHECK int sp__elements_read(struct sp__cubefile *file, const struct sp_cube_box *box,
				    sp_cube_sink sink, void *arg, struct sp_cube_stats *stats,
				    struct sp_errinfo *err);
SP_MUST_CHECK int sp__elements_verify(struct sp__cubefile *file, struct sp_cube_check *check,
				      struct sp_cube_stats *stats, struct sp_errinfo *err);
/* load.c: sp_cube_load(). */
SP_MUST_CHECK int sp__elements_load(struct sp__cubefile *file, const char *input,
				    const struct sp_cube_load_opts *opts,
				    struct sp_cube_stats *stats, struct sp_errinfo *err);
/* append.c: sp_cube_append(). */
SP_MUST_CHECK int sp__elements_append(struct sp__cubefile *file, unsigned dim, uint64_t count,
				      const char *input, const struct sp_cube_load_opts *opts,
				      struct sp_cube_stats *stats, struct sp_errinfo *err);
/* put.c: sp_cube_put(), with signals held back by the caller. */
SP_MUST_CHECK int sp__element_put(struct sp__cubefile *file, const uint64_t *x, const void *element,
				  struct sp_errinfo *err);
/*
 * put.c: before the first change of a call, writes the extent of a put that was interrupted to its
 * place.
 */
SP_MUST_CHECK int sp__put_settle(struct sp__cubefile *file, struct sp_errinfo *err);
