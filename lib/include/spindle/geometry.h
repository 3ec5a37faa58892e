/* SPDX-License-Identifier: MIT */
/*
 * The geometry of a device: its mechanics, as far as they help to order block requests.  It does
 * not simulate a device.
 *
 * A geometry comes from a file that diskprobe(1) writes (spindle-geometry(5)) or, exactly, from a
 * device model (spindle-model(5)).  It answers three questions:
 *
 *  - Where does a track begin and end?  sp_geometry_track() (GETTRACKBOUNDARIES)
 *  - Which block of another track can be reached after this one without rotational delay?
 *    sp_geometry_adjacent() (GETADJACENT)
 *  - How far do such hops reach?  sp_geometry_reach() (D(W))
 *
 * Angles are degrees of one revolution.  W, the aim, is the angle from the end of a block that was
 * read or written to the start of its adjacent block.  It covers the whole cost of a hop: seek or
 * head switch, settle time, and the overhead of a request issued by itself.
 *
 * W and D hold everywhere.  On a serpentine, the step from one round of the heads to the next
 * determines them.  Inside a round, hops need less and reach farther, and GETADJACENT uses that.
 *
 * An array that is striped by the tracks of its N drives has tracks: track i is on drive i % N, D
 * is N times the D of a drive, and steps of a multiple of N stay on one drive.
 *
 * Functions about tracks return SP_EUNSUP for a device without tracks (flash, a virtual disk, a
 * probe that found none); callers then use plain extents.  Functions about hops return -ENODATA if
 * hops of that operation were not measured.
 *
 * Source: Shao 2008, chapter 2; arrays: sections 2.4 and 4.5.
 *
 * Thread rule: a geometry is immutable; any number of threads may use it.
 */
#ifndef SPINDLE_GEOMETRY_H
#define SPINDLE_GEOMETRY_H

#include <stdio.h>
#include <spindle/error.h>

struct sp_geometry;

enum sp_geometry_op { SP_GEOMETRY_READ, SP_GEOMETRY_WRITE };

/*
 * Reads a geometry file.  Free the geometry with sp_geometry_free().
 * Returns 0 or an error, with *g NULL:
 *   SP_EFORMAT: the file is not a geometry or contradicts itself; err->text names the member
 *   -errno: the file could not be opened or read
 *   -ENOMEM: memory is short
 */
SP_API SP_MUST_CHECK int sp_geometry_load(struct sp_geometry **g, const char *path,
					  struct sp_errinfo *err);

/*
 * Reads the partial geometry of an interrupted probe.  Free it with sp_geometry_free().
 * Returns 0, an error of sp_geometry_load(), or SP_EUNSUP if the file is a link or not a regular
 * file, belongs to another user, or is writable by others.
 */
SP_API SP_MUST_CHECK int sp_geometry_resume(struct sp_geometry **g, const char *path,
					    struct sp_errinfo *err);

/*
 * Makes the geometry of a device model.  A model without tracks gives a geometry without tracks.
 * Free it with sp_geometry_free().
 * model: name of a shipped model, or a file, as in --volume=sim:MODEL.
 * Returns 0 or an error, with *g NULL:
 *   -ENOENT: there is no such model or file
 *   SP_EFORMAT: the file is not a model
 *   -errno: the file could not be opened or read
 *   -ENOMEM: memory is short
 */
SP_API SP_MUST_CHECK int sp_geometry_model(struct sp_geometry **g, const char *model,
					   struct sp_errinfo *err);

/*
 * Writes a geometry file, whole or not at all (spindle/outfile.h).
 * Returns 0, -ENOMEM, or -errno if the file could not be created, written or synchronised.
 */
SP_API SP_MUST_CHECK int sp_geometry_save(const struct sp_geometry *g, const char *path,
					  struct sp_errinfo *err);

/* Writes the document of a geometry file to a stream.  Returns 0, -EIO or -ENOMEM. */
SP_API SP_MUST_CHECK int sp_geometry_json(const struct sp_geometry *g, FILE *out);

/* Frees a geometry; NULL is accepted. */
SP_API void sp_geometry_free(struct sp_geometry *g);

/* Facts about a geometry.  It owns the texts. */
struct sp_geometry_info {
	const char *device;  /* name */
	const char *source;  /* "model" or "probe" */
	const char *verdict; /* "rotating", "not-rotating", "layered", "inconclusive" */
	const char *layout;  /* order of the tracks, as text; NULL: unknown */
	bool partial;	     /* the probe that wrote it was interrupted */
	uint64_t blocks;     /* blocks of the device */
	uint32_t block_bytes;
	bool tracks;	       /* false: functions about tracks return SP_EUNSUP */
	uint64_t ntracks;      /* number of known tracks */
	uint64_t known_blocks; /* blocks on known tracks */
	unsigned zones;
	unsigned surfaces; /* 0: unknown */
	double period_ns;  /* duration of one revolution */
	double read_overhead_ns,
		write_overhead_ns; /* overhead of a single read, and of a single write */
	double transfer_s_per_mib; /* sequential transfer: t of the planner; 0: unknown */
	double seek_s; /* mean positioning of a random request: s of the planner; 0: unknown */
	bool write_estimated; /* write hops are derived from read hops, not measured */
	double miss_rate; /* share of hops that lost a revolution, 0 to 1; negative: not measured */
};

/* Fills in the facts about a geometry. */
SP_API void sp_geometry_info(const struct sp_geometry *g, struct sp_geometry_info *info);

/* A zone: consecutive tracks of one length, or with one repeating pattern of lengths. */
struct sp_zone {
	uint64_t first;	      /* first block */
	uint64_t blocks;      /* number of blocks */
	uint64_t first_track; /* number of its first track */
	uint64_t tracks;      /* number of tracks */
	double track_blocks;  /* mean number of blocks on a track */
};

/* Reports zone i, counted from 0.  Returns 0, or -ERANGE after the last zone. */
SP_API SP_MUST_CHECK int sp_geometry_zone(const struct sp_geometry *g, unsigned i,
					  struct sp_zone *zone);

/*
 * Reports point i, counted from 0, of the seek curve, by ascending distance.
 * distance: in cylinders, or in tracks if in_tracks becomes true since cylinders are unknown; 0: to
 * another surface of the same cylinder.
 * ns: seek time in nanoseconds.
 * Returns 0, or -ERANGE after the last point.
 */
SP_API SP_MUST_CHECK int sp_geometry_seek(const struct sp_geometry *g, unsigned i,
					  uint64_t *distance, double *ns, bool *in_tracks);

struct sp_track {
	uint64_t number;  /* in the order of blocks */
	uint64_t first;	  /* first block */
	uint32_t blocks;  /* number of blocks */
	double angle_deg; /* angle of its first block, relative to block 0 */
};

/*
 * Reports the track of a block.
 * Returns 0 or an error:
 *   -ERANGE: the device has no such block
 *   -ENODATA: the block is in an unknown part of the device
 *   SP_EUNSUP: the device has no tracks
 */
SP_API SP_MUST_CHECK int sp_geometry_track(const struct sp_geometry *g, uint64_t lbn,
					   struct sp_track *track);

/*
 * Reports the track with a number.  Numbers count known tracks only, and continue after an unknown
 * part.
 * Returns 0; -ERANGE if there is no such track; SP_EUNSUP if the device has no tracks.
 */
SP_API SP_MUST_CHECK int sp_geometry_track_number(const struct sp_geometry *g, uint64_t number,
						  struct sp_track *track);

/*
 * Finds the block that is `step` tracks after the track of block lbn and whose start the head
 * reaches in time from the end of lbn.  It is the first block at or after the aim W(op) +
 * extra_deg.
 * step: tracks, at least 1.
 * extra_deg: conservatism, in degrees.  A negative value aims closer, for hops that need less (see
 * sp_geometry_hop()); at the end of a surface such a hop might lose a revolution.
 * Returns 0 or an error:
 *   -ERANGE: the device has no such block or track, step exceeds the reach of the aim, or the hop
 *       crosses an unknown part
 *   -ENODATA: the track of lbn is unknown, or hops of op were not measured
 *   -EINVAL: step is 0, or the aim is below 0
 *   SP_EUNSUP: the device has no tracks
 */
SP_API SP_MUST_CHECK int sp_geometry_adjacent(const struct sp_geometry *g, uint64_t lbn,
					      uint64_t step, enum sp_geometry_op op,
					      double extra_deg, uint64_t *adjacent);

/*
 * Reports W: the aim at the end of the plateau of hops that cost little more than settling.  On a
 * device without a plateau it is the aim for a hop of one cylinder.
 * Returns 0; -ENODATA if hops of op were not measured; SP_EUNSUP if the device has no tracks.
 */
SP_API SP_MUST_CHECK int sp_geometry_aim(const struct sp_geometry *g, enum sp_geometry_op op,
					 double *aim_deg);

/*
 * Reports D(W): the largest n such that an aim of w_deg suffices for all hops of 1 to n tracks.
 * Returns 0; -ENODATA if hops of op were not measured; SP_EUNSUP if the device has no tracks.
 */
SP_API SP_MUST_CHECK int sp_geometry_reach(const struct sp_geometry *g, enum sp_geometry_op op,
					   double w_deg, uint64_t *tracks);

/*
 * Reports the smallest aim that suffices for all hops of 1 to `tracks` tracks.
 * Returns 0; -ERANGE if the hop exceeds the known curve; -ENODATA if hops of op were not measured;
 * SP_EUNSUP if the device has no tracks.
 */
SP_API SP_MUST_CHECK int sp_geometry_hop(const struct sp_geometry *g, enum sp_geometry_op op,
					 uint64_t tracks, double *w_deg);

#endif
