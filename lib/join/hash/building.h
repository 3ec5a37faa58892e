/* SPDX-License-Identifier: MIT */
/*
 * Builds the table of a hash join with several threads.
 */
#pragma once

#include "join/hash/stage.h"

/*
 * Reads the build input of a join, a file, by parts, and makes the table.  0; SP_EUNSUP, not
 * recorded: nothing has been done, since there are no threads for it, or since the records might
 * not fit into memory; or an error.
 */
SP_MUST_CHECK int sp__stage_build_parts(struct sp__stage *s);
