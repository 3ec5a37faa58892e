/* SPDX-License-Identifier: MIT */
/*
 * Draws numbers of a Zipf distribution: ranks are drawn by rejection from the inverse of the
 * integral (Hoermann & Derflinger 1996) and scattered by a bijection, so that popular numbers are
 * not adjacent.
 *
 * Thread rule: immutable once made.
 */
#pragma once

#include "base/rng.h"

struct sp__ranks {
	double theta, h_first, h_last, cut;
	uint64_t n, spread;
};

/* Prepares numbers below n, at least 1; the k-th most popular has probability ~ k^-theta. */
void sp__ranks_init(struct sp__ranks *z, uint64_t n, double theta);
uint64_t sp__ranks_next(const struct sp__ranks *z, struct sp__rng *rng);
