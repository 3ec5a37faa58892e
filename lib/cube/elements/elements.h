/* SPDX-License-Identifier: MIT */
/*
 * Grids of elements: the operations of <spindle/cube.h> on one of them.
 */
#pragma once

#include "cube/file/file.h"

/* query.c: sp_cube_read(), whose caller has checked the box, and sp_cube_verify(). */
SP_MUST_CHECK int sp__elements_read(struct sp__cubefile *file, const struct sp_cube_box *box,
				    sp_cube_sink sink, void *arg, struct sp_cube_stats *stats,
				    struct sp_errinfo *err);
SP_MUST_CHECK int sp__elements_verify(struct sp__cubefile *file, struct sp_cube_check *check,
				      struct sp_cube_stats *stats, struct sp_errinfo *err);
/* load.c: sp_cube_load(). */
SP_MUST_CHECK int sp__elements_load(struct sp__cubefile *file, const char *input,
				    const struct sp_cube_load_opts *opts,
				    struct sp_cube_stats *stats, struct sp_errinfo *err);
/* write.c: sp_cube_write() of several elements, whose caller has checked the box. */
SP_MUST_CHECK int sp__elements_write(struct sp__cubefile *file, const struct sp_cube_box *box,
				     const void *elements, struct sp_cube_stats *stats,
				     struct sp_errinfo *err);
/* append.c: sp_cube_append(). */
SP_MUST_CHECK int sp__elements_append(struct sp__cubefile *file, unsigned dim, uint64_t count,
				      const char *input, const struct sp_cube_load_opts *opts,
				      struct sp_cube_stats *stats, struct sp_errinfo *err);
/* put.c: sp_cube_put(); the caller has blocked signals. */
SP_MUST_CHECK int sp__element_put(struct sp__cubefile *file, const uint64_t *x, const void *element,
				  struct sp_errinfo *err);
/*
 * put.c: writes the extent of an interrupted put to its location.  Called before the first change
 * of a call.
 */
SP_MUST_CHECK int sp__put_settle(struct sp__cubefile *file, struct sp_errinfo *err);
