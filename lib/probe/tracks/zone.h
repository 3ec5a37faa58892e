/* SPDX-License-Identifier: MIT */
/* A zone as data: consecutive tracks with one pattern of lengths.  No function reads the device. */
#pragma once

#include <spindle/api.h>
#include "probe/timing/sample.h"

struct sp__oddtrack {
	uint64_t track;	  /* first track of the zone */
	uint32_t missing; /* blocks fewer than in the pattern */
};

struct sp__pzone {
	uint64_t first_lbn, blocks, tracks;
	uint32_t nlens;
	uint32_t *lens;
	size_t nodd;
	struct sp__oddtrack *odd;
	uint32_t nskew; /* 0: angles are not known */
	double *skew;	/* from the start of a track to that of the next one, rev */
	double start;	/* angle of the first block's start */
	bool rounds;	/* bands have rounds; checks/layout.c writes it */
	uint64_t reads; /* reads needed to find the zone */
};

static inline uint64_t sp__pzone_end(const struct sp__pzone *z)
{
	return z->first_lbn + z->blocks;
}
static inline bool sp__pzone_follows(const struct sp__pzone *z, const struct sp__pzone *before)
{
	return z->first_lbn == sp__pzone_end(before);
}
/* True if two skews are of one kind, such as head switches. */
static inline bool sp__skew_alike(double a, double b)
{
	return fabs(sp__wrap(a - b)) < 0.004;
}

/* zone.c */
uint64_t sp__pzone_round(const struct sp__pzone *z);		      /* blocks of one pattern */
uint64_t sp__pzone_start(const struct sp__pzone *z, uint64_t track);  /* its first LBN */
uint32_t sp__pzone_length(const struct sp__pzone *z, uint64_t track); /* places */
/* Returns the most frequent skew of the pattern; 0: the pattern is empty. */
double sp__pzone_usual_skew(const struct sp__pzone *z);
/* Inserts an odd track at this position of the list.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__pzone_add_odd(struct sp__pzone *z, size_t at, uint64_t track,
				    uint32_t missing);
void sp__pzone_clear(struct sp__pzone *z);

/* express.c: expresses many odd tracks as a pattern of several lengths.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__pzone_express(struct sp__pzone *z);
