/* SPDX-License-Identifier: MIT */
/*
 * Finds where a part of a text ends.
 *
 * Thread rule: a function of its arguments.
 */
#pragma once

#include <spindle/api.h>
#include "rec/recfmt.h"

/*
 * Sets *cut to the end of the line that has the byte before `at`, of CSV to the end of the record
 * that seems to be at `at`, or to the end of the file.  Returns 0 or a negative code.
 */
int sp__part_cut(const struct sp_recfmt *f, int fd, uint64_t at, uint64_t end, uint64_t *cut);
