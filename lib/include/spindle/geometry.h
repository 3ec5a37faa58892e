/* SPDX-License-Identifier: MIT */
/*
 * The geometry of a device: its mechanics, as far as they help to order block
 * requests.
 *
 * It comes from a geometry file (written by diskprobe(1), format
 * spindle-geometry(5)) or, exactly, from a device model (spindle-model(5)).
 * It answers three questions: where tracks begin and end (sp_geometry_track:
 * GETTRACKBOUNDARIES), which block of another track can be reached after this
 * one without rotational delay (sp_geometry_adjacent: GETADJACENT), and how far
 * such hops reach (sp_geometry_reach: D(W)).
 *
 * Angles are degrees of one revolution.  W, the aim, runs from the end of the
 * block that was read or written to the start of the adjacent one; it covers the
 * whole cost of a hop: seek or head switch, settle time, and the overhead of a
 * request issued by itself.
 *
 * W and D hold everywhere.  On a serpentine the way from one round of the heads to the next decides
 * them; inside a round hops need less and reach farther, which GETADJACENT makes use of.
 *
 * An array of drives that is striped by their tracks has tracks: track i is on drive i % N, D is
 * N times that of a drive, and steps of a multiple of N stay on one drive.
 *
 * For a device without tracks (flash, a virtual disk, a probe that found none)
 * all three return SP_EUNSUP; callers then use plain extents.  If the hops of
 * one kind (such as writes) were not measured, functions about them return
 * -ENODATA.
 *
 * Source: Shao 2008, chapter 2; arrays: sections 2.4 and 4.5.
 *
 * Thread rule: a geometry is immutable; any number of threads may use it.
 */
#ifndef SPINDLE_GEOMETRY_H
#define SPINDLE_GEOMETRY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <spindle/api.h>
#include <spindle/error.h>

struct sp_geometry;

enum sp_geometry_op { SP_GEOMETRY_READ, SP_GEOMETRY_WRITE };

/*
 * Returns 0, -errno, -ENOMEM, or SP_EFORMAT with field and reason for a file that
 * is not a geometry or contradicts itself.
 */
SP_API SP_MUST_CHECK int sp_geometry_load(struct sp_geometry **g, const char *path,
					  struct sp_errinfo *err);
/*
 * The same of a partial geometry to go on from: SP_EUNSUP if the file is a link, belongs to another
 * user, or can be written by others.
 */
SP_API SP_MUST_CHECK int sp_geometry_resume(struct sp_geometry **g, const char *path,
					    struct sp_errinfo *err);
/*
 * The geometry of a device model: the name of a shipped one or a file, as in
 * --volume sim:MODEL.  A model without tracks gives a geometry without tracks.
 */
SP_API SP_MUST_CHECK int sp_geometry_model(struct sp_geometry **g, const char *model,
					   struct sp_errinfo *err);
/* Writes the file whole or not at all. */
SP_API SP_MUST_CHECK int sp_geometry_save(const struct sp_geometry *g, const char *path,
					  struct sp_errinfo *err);
/* The same document to a stream: 0, -EIO, or -ENOMEM. */
SP_API SP_MUST_CHECK int sp_geometry_json(const struct sp_geometry *g, FILE *out);
SP_API void sp_geometry_free(struct sp_geometry *g); /* accepts NULL */

/* Strings live as long as the geometry. */
struct sp_geometry_info {
	const char *device;  /* its name */
	const char *source;  /* "model" or "probe" */
	const char *verdict; /* "rotating", "not-rotating", "layered", "inconclusive" */
	const char *layout;  /* order of the tracks in words; NULL: unknown */
	bool partial;	     /* the probe that wrote it was interrupted */
	uint64_t blocks;
	uint32_t block_bytes;
	bool tracks;	       /* false: functions about tracks return SP_EUNSUP */
	uint64_t ntracks;      /* number of known tracks */
	uint64_t known_blocks; /* on them */
	unsigned zones;
	unsigned surfaces;			    /* 0: unknown */
	double period_ns;			    /* of one revolution */
	double read_overhead_ns, write_overhead_ns; /* of a request issued by itself */
	double transfer_s_per_mib; /* MB of 2^20, in sequence: t of the planner; 0: unknown */
	double seek_s; /* mean positioning of a random request: s of the planner; 0: unknown */
	bool write_estimated; /* hops of writes were not measured but derived from reads */
	double miss_rate;     /* share of hops that lost a revolution; negative: not measured */
};
SP_API void sp_geometry_info(const struct sp_geometry *g, struct sp_geometry_info *info);

/* Consecutive tracks that are alike, or repeat with one pattern. */
struct sp_zone {
	uint64_t first; /* first block */
	uint64_t blocks;
	uint64_t first_track; /* its number */
	uint64_t tracks;
	double track_blocks; /* mean of its tracks */
};
/* -ERANGE after the last one. */
SP_API SP_MUST_CHECK int sp_geometry_zone(const struct sp_geometry *g, unsigned i,
					  struct sp_zone *zone);
/*
 * The i-th point of the seek curve, by ascending distance; -ERANGE after the last
 * one.  Distance 0: to another surface of the same cylinder.  in_tracks: the distance is in
 * tracks, since cylinders are unknown.
 */
SP_API SP_MUST_CHECK int sp_geometry_seek(const struct sp_geometry *g, unsigned i,
					  uint64_t *distance, double *ns, bool *in_tracks);

struct sp_track {
	uint64_t number;  /* in LBN order */
	uint64_t first;	  /* first block */
	uint32_t blocks;  /* on it */
	double angle_deg; /* of its first block, relative to that of block 0 */
};
/*
 * The track of a block; the track of a number.  -ERANGE: no such block or
 * number; -ENODATA: in an unknown part of the device.  Numbers count known
 * tracks only, and continue after an unknown part.
 */
SP_API SP_MUST_CHECK int sp_geometry_track(const struct sp_geometry *g, uint64_t lbn,
					   struct sp_track *track);
SP_API SP_MUST_CHECK int sp_geometry_track_number(const struct sp_geometry *g, uint64_t number,
						  struct sp_track *track);

/*
 * The block that is step (1 or more) tracks after lbn's track and whose start the
 * head reaches in time from the end of lbn: the first block at or after the aim
 * W(op) + extra_deg (conservatism).  A negative extra_deg aims closer, for hops
 * that need less (see sp_geometry_hop); at the end of a surface such a hop may
 * lose a revolution.
 *
 * -ERANGE: no such block, beyond the last track, step beyond the reach of that
 * aim, or across a part that is unknown or takes the arm too far; -ENODATA: lbn's
 * track is unknown; -EINVAL: step 0 or an aim below 0.
 */
SP_API SP_MUST_CHECK int sp_geometry_adjacent(const struct sp_geometry *g, uint64_t lbn,
					      uint64_t step, enum sp_geometry_op op,
					      double extra_deg, uint64_t *adjacent);
/*
 * W: the aim at which the plateau of hops that cost hardly more than settling
 * ends; on a device without such a plateau, the aim for a hop of one cylinder.
 */
SP_API SP_MUST_CHECK int sp_geometry_aim(const struct sp_geometry *g, enum sp_geometry_op op,
					 double *aim_deg);
/* D(W): the largest n such that an aim of w_deg suffices for all hops of 1 to n tracks. */
SP_API SP_MUST_CHECK int sp_geometry_reach(const struct sp_geometry *g, enum sp_geometry_op op,
					   double w_deg, uint64_t *tracks);
/* The least aim for all hops of 1 to this number of tracks; -ERANGE: beyond the known curve. */
SP_API SP_MUST_CHECK int sp_geometry_hop(const struct sp_geometry *g, enum sp_geometry_op op,
					 uint64_t tracks, double *w_deg);

#endif
