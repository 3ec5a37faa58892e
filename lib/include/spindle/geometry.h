/* SPDX-License-Identifier: MIT */
/*
 * The geometry of a device: what of its mechanics can be used to choose the
 * order of block requests.
 *
 * It comes from a geometry file (written by diskprobe(1), format
 * spindle-geometry(5)) or, exactly, from a device model (spindle-model(5)).
 * Three questions are answered: where the tracks begin and end
 * (sp_geometry_track: GETTRACKBOUNDARIES), which block of another track can be
 * reached after this one without rotational delay (sp_geometry_adjacent:
 * GETADJACENT), and how far such hops reach (sp_geometry_reach: D(W)).
 *
 * Angles are degrees of one revolution.  W, the aim, runs from the end of the
 * block that was read or written to the start of the adjacent one; it contains
 * everything a hop costs: seek or head switch, settle, and the overhead of a
 * request issued by itself.
 *
 * A device without tracks (flash, a virtual disk, a probe that found none)
 * answers SP_EUNSUP to all three; callers then use plain extents.
 *
 * Source: Shao 2008, chapter 2.
 *
 * Thread rule: a geometry is immutable; any number of threads may ask it.
 */
#ifndef SPINDLE_GEOMETRY_H
#define SPINDLE_GEOMETRY_H

#include <stdbool.h>
#include <stdint.h>
#include <spindle/api.h>
#include <spindle/error.h>

struct sp_geometry;

enum sp_geometry_op { SP_GEOMETRY_READ, SP_GEOMETRY_WRITE };

/* SP_EFORMAT with field and reason for a file that contradicts itself. */
SP_API SP_MUST_CHECK int sp_geometry_load(struct sp_geometry **g, const char *path,
					  struct sp_errinfo *err);
/* Of a device model: a shipped one's name or a file, as in --volume sim:MODEL. */
SP_API SP_MUST_CHECK int sp_geometry_model(struct sp_geometry **g, const char *model,
					   struct sp_errinfo *err);
/* Writes the file whole or not at all. */
SP_API SP_MUST_CHECK int sp_geometry_save(const struct sp_geometry *g, const char *path,
					  struct sp_errinfo *err);
SP_API void sp_geometry_free(struct sp_geometry *g); /* accepts NULL */

struct sp_geometry_info {
	const char *device; /* its name; lives as long as the geometry */
	uint64_t blocks;
	uint32_t block_bytes;
	bool tracks;	  /* false: the questions below are answered by SP_EUNSUP */
	uint64_t ntracks; /* known ones */
	double period_ns; /* of one revolution */
	unsigned surfaces; /* 0: unknown */
	double read_overhead_ns, write_overhead_ns; /* of a request issued by itself */
	double transfer_s_per_mb; /* mean media rate: t of the planner */
	double seek_s;		  /* mean positioning of a random request: s of the planner */
};
SP_API void sp_geometry_info(const struct sp_geometry *g, struct sp_geometry_info *info);

struct sp_track {
	uint64_t number; /* in LBN order */
	uint64_t first;	 /* first block */
	uint32_t blocks; /* on it */
	double angle_deg; /* of its first block, relative to that of block 0 */
};
/* -ERANGE: no such block; -ENODATA: in a part of the device that is not known. */
SP_API SP_MUST_CHECK int sp_geometry_track(const struct sp_geometry *g, uint64_t lbn,
					   struct sp_track *track);
SP_API SP_MUST_CHECK int sp_geometry_track_number(const struct sp_geometry *g, uint64_t number,
						  struct sp_track *track);

/*
 * The block step (1 or more) tracks after lbn's at whose start the head arrives in time if
 * it leaves lbn's end: the first block at or behind aim W(op) + extra_deg
 * (conservatism).  -ERANGE: behind the last track, or step beyond the reach.
 */
SP_API SP_MUST_CHECK int sp_geometry_adjacent(const struct sp_geometry *g, uint64_t lbn,
					      uint64_t step, enum sp_geometry_op op,
					      double extra_deg, uint64_t *adjacent);
/* Aim at hops of one cylinder's distance and less: the least useful W. */
SP_API SP_MUST_CHECK int sp_geometry_aim(const struct sp_geometry *g, enum sp_geometry_op op,
					 double *aim_deg);
/* D(W): tracks that can be reached with an aim of w_deg. */
SP_API SP_MUST_CHECK int sp_geometry_reach(const struct sp_geometry *g, enum sp_geometry_op op,
					   double w_deg, uint64_t *tracks);

#endif
