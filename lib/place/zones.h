/* SPDX-License-Identifier: MIT */
/*
 * The zones of MultiMap in the superblock of a file.
 *
 * Thread rule: pure functions.
 */
#pragma once

#include "base/coder.h"
#include "place/multimap.h"

/* Codes the zones; rounds: with those of serpentines. */
void sp__cubezones_code(struct sp__coder *c, struct sp__multimap *m, bool rounds);
/* True if zones that were read ascend, do not overlap, and end at or before block `max`. */
bool sp__cubezones_possible(const struct sp__multimap *m, uint64_t max);
