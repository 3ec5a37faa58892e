/* SPDX-License-Identifier: MIT */
/*
 * Tracks: where they begin, and at which angles.
 *
 * Who writes: the steps below, in this order.  Afterwards zones do not change, except for
 * `rounds`.  Functions return 0, -ENOMEM, or the errors of probe/timing/timing.h.
 */
#pragma once

#include "probe/timing/timing.h"
#include "probe/tracks/zone.h"

struct sp__tracks {
	struct sp__timing *tm;
	uint64_t blocks; /* blocks of the device */
	size_t nzones, capacity;
	struct sp__pzone *zones;
	size_t nbad; /* ranges that cannot be read: first, last */
	uint64_t (*bad)[2];
	unsigned rechecked, recheck_misses; /* boundaries */
	uint64_t skew_reads;
	/* State of the search: */
	uint64_t learnt;		/* no pattern of lengths up to this block */
	uint64_t last_asked, last_next; /* the last boundary found, and the block it follows */
};

/* tracks.c */
void sp__tracks_begin(struct sp__tracks *tr, struct sp__timing *tm); /* tm outlives tr */
void sp__tracks_free(struct sp__tracks *tr);
SP_MUST_CHECK int sp__zones_add(struct sp__tracks *tr, struct sp__pzone *z); /* takes ownership */
void sp__zones_drop(struct sp__tracks *tr, size_t first, size_t n);
/* A track by its number from block 0 on; false: it is not known, or has slipped blocks. */
bool sp__tracks_at(const struct sp__tracks *tr, uint64_t number, uint64_t *lbn, uint32_t *blocks);
/*
 * The angle from the start of one track to that of another, of one zone; false: unknown.
 * cylinder: tracks of a cylinder, or 0.
 */
bool sp__skew_between(const struct sp__tracks *tr, uint32_t cylinder, uint64_t from, uint64_t to,
		      double *rev);

/*
 * The steps.  recheck.c: restores the zones of a partial geometry, if there is one.  SP_EFORMAT:
 * the geometry is of another device.
 */
SP_MUST_CHECK int sp__tracks_resume(struct sp__tracks *tr, const struct sp_geometry *g,
				    struct sp_errinfo *err);
/* zones.c: finds all zones from lbn on, where a track begins (or, for 0, is assumed to). */
SP_MUST_CHECK int sp__zones_find(struct sp__tracks *tr, uint64_t lbn);
/* Finds only some tracks in three regions of the device. */
SP_MUST_CHECK int sp__zones_sample(struct sp__tracks *tr);
/* join.c: joins fragments around invisible boundaries. */
SP_MUST_CHECK int sp__zones_join(struct sp__tracks *tr);
/* recheck.c: drops false tracks. */
SP_MUST_CHECK int sp__tracks_recheck(struct sp__tracks *tr);
/* skew.c: finds the angles of every zone. */
SP_MUST_CHECK int sp__skews_find(struct sp__tracks *tr);

/* edge.c: finds out whether a track begins at lbn > 0.  length: of the previous track. */
SP_MUST_CHECK int sp__edge_at(struct sp__tracks *tr, uint64_t lbn, uint32_t length, bool *is);
/* Does the same for jumps that are hardly larger than the noise, with more reads. */
SP_MUST_CHECK int sp__edge_fine(struct sp__tracks *tr, uint64_t lbn, uint32_t length, bool *is);
/* Finds the first track that begins after lbn, or the end of the device.  hint 0: unknown. */
SP_MUST_CHECK int sp__edge_next(struct sp__tracks *tr, uint64_t lbn, uint32_t hint, uint64_t *next);
/*
 * extend.c: the lengths of its first tracks, at least so many.  *known: there is a pattern, if only
 * of one length; else z is one track.  before: the zone before it, or NULL.
 */
SP_MUST_CHECK int sp__pzone_learn(struct sp__tracks *tr, struct sp__pzone *z,
				  const struct sp__pzone *before, uint64_t least, bool *known);
/* extend.c: finds the zone that begins at lbn, with a track; hint: the previous zone, or NULL. */
SP_MUST_CHECK int sp__pzone_find(struct sp__tracks *tr, uint64_t lbn, const struct sp__pzone *hint,
				 struct sp__pzone *z);
/* Continues zone z at its end; hint: its probable number of tracks, or 0. */
SP_MUST_CHECK int sp__pzone_extend(struct sp__tracks *tr, struct sp__pzone *z, uint64_t hint);
