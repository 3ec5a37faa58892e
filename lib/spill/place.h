/* SPDX-License-Identifier: MIT */
/*
 * Placement: where on a device with tracks the pages of runs come to lie.
 *
 * Without one (sp__space) runs take the lowest free space of a file.  With one
 * a spill volume is used track by track, each holding as many whole pages as
 * fit from its first block on:
 *
 *   track    a run takes whole tracks, one behind the other.
 *   semiseq  K tracks make a band; run r of a group of K takes track r of one
 *            band after the other.  On track r the pages are turned against
 *            those of track r - 1 so that page i of run r comes under the head
 *            just when the hop from page i of run r - 1 is over: the pages of
 *            equal offset of all K runs lie along the semi-sequential path.
 *
 * A unit is a page; its number is its track's in the order of taking, and its
 * place in the run's order on that track.
 *
 * Source: Shao 2008, sections 2.2 and 6.1.2, 6.2.2.
 *
 * Thread rule: that of the spill store.
 */
#ifndef SP__SPILL_PLACE_H
#define SP__SPILL_PLACE_H

#include <spindle/geometry.h>
#include <spindle/spill.h>
#include "spill/run.h"

struct sp__place_opts {
	enum sp_placement policy;	    /* not SP_PLACE_CONTIGUOUS */
	const struct sp_geometry *geometry; /* lives as long; with tracks */
	enum sp_geometry_op hops;	    /* what the path is for: reading, or writing */
	uint32_t page_bytes;
	uint64_t base_lbn; /* of the volume's first byte */
	uint64_t runs;	   /* expected in one group of runs; 0: unknown */
};

struct sp__place;

/* SP_EUNSUP: no tracks, or the page does not fit them. */
SP_MUST_CHECK int sp__place_new(struct sp__place **place, const struct sp__place_opts *opts,
				struct sp_errinfo *err);
void sp__place_free(struct sp__place *place); /* accepts NULL */

/*
 * Up to want units for the run, behind those it has, in one physical piece;
 * *unit is the first.  Returns how many, -ENOSPC or -ENOMEM.
 */
SP_MUST_CHECK int sp__place_take(struct sp__place *place, const struct sp__run *run, uint32_t want,
				 uint64_t *unit);
/* The unit is not used any more; a track serves again when all of it is free. */
void sp__place_give(struct sp__place *place, uint64_t unit);

/* Where the unit lies in the volume, in bytes. */
uint64_t sp__place_offset(const struct sp__place *place, uint64_t unit);

/* A unit that is to be read, and whatever the caller knows it by. */
struct sp__stop {
	uint64_t unit;
	void *what;
};

/*
 * Brings units into the order in which they are best read one after the other.
 * Under SEMISEQ (path.c) the first stays first, but for pages of its run right
 * before it on its track.  0 or -ENOMEM.
 */
SP_MUST_CHECK int sp__place_order(struct sp__place *place, struct sp__stop *stops, size_t n);
/* What that takes for each, for the budget. */
size_t sp__place_order_memory(void);

/* Units in use, and units that were given out a second time. */
uint64_t sp__place_used(const struct sp__place *place);
uint64_t sp__place_recycled(const struct sp__place *place);

#endif
