/* SPDX-License-Identifier: MIT */
/*
 * Seeks: the time of a hop by distance in cylinders, and predictions for other hops.
 *
 * Who writes: sp__seeks_find().  The owner frees seeks.
 */
#pragma once

#include "probe/layout/layout.h"

struct sp__seeks {
	struct sp__timing *tm;
	struct sp__hopper *hops;
	const struct sp__tracks *tracks;
	const struct sp__trackorder *order;
	size_t nseeks;
	struct sp_probe_seek *seeks; /* by distance */
	bool write_measured, write_estimated;
	bool late; /* the arm cannot be seen: seeks and layout are unknown */
	uint64_t reads;
};

/* 0, -ENOMEM, or the errors of probe/timing/timing.h except -EIO and -ENODATA. */
SP_MUST_CHECK int sp__seeks_find(struct sp__seeks *sk);

/* curve.c */
/*
 * Predicts a hop between tracks counted from the start of a round; negative: the distance was not
 * measured.
 */
double sp__seeks_predict(const struct sp__seeks *sk, uint64_t from, uint64_t to);
/* Adds hops of 1, 2, ... tracks, as far as they are known; within: a round.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__seeks_reach(const struct sp__seeks *sk, struct sp__hops *h, bool within,
				  bool write);
/* Finds out whether the end of the plateau of settling is in doubt.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__plateau_look(const struct sp__seeks *sk, bool *doubtful);
