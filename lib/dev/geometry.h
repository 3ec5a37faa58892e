/* SPDX-License-Identifier: MIT */
/*
 * The parts of a geometry, for the code that makes one: the loader, the device
 * models and the probe.
 *
 * Made in three steps: sp__geometry_alloc(), filling in (members directly,
 * lists and strings by the functions here, which copy), sp__geometry_seal().
 * After that it is immutable and answers <spindle/geometry.h>.
 *
 * Zones are runs of tracks with one repeating pattern, in LBN order; between
 * two of them there may be a gap that is not known.  Each has a track map of
 * its own with one region, whose LBNs, places and tracks count from 0; its
 * angles are absolute, so that zones can be compared.
 */
#ifndef SP__DEV_GEOMETRY_H
#define SP__DEV_GEOMETRY_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/geometry.h>
#include "dev/trackmap.h"

struct json_t;
struct sp__model;

struct sp__geozone {
	uint64_t first_lbn;
	struct sp__trackmap *map;
	bool apart;	/* the curves do not hold for hops from before it to it and beyond */
	uint64_t round; /* tracks; hops inside one, counted from the first, are short; 0: none */
	uint64_t first_track; /* known tracks before it; filled in by sealing */
	size_t island;	      /* gaps and zones apart up to here; likewise */
};

/* All hops of at most this many tracks need at most w_deg.  Both ascend from step to step. */
struct sp__hopstep {
	uint64_t tracks;
	double w_deg;
};

struct sp__hops {
	double aim_deg; /* filled in by sealing if it is 0: sp__hops_knee() */
	bool estimated; /* not measured but derived, as writes from reads */
	size_t nsteps;	/* 0: not known */
	struct sp__hopstep *steps;
};

struct sp__geoseek {
	uint64_t distance; /* 0: to another surface of the same cylinder */
	double ns;
};

struct sp_geometry {
	char *device;
	char *source; /* "model" or "probe" */
	char *verdict;
	char *layout; /* NULL: unknown */
	bool partial;
	uint64_t blocks;
	uint32_t block_bytes;
	/* Of one revolution: exact where period_den is not 0; period_ns is then filled in. */
	uint64_t period_num, period_den;
	double period_ns;	   /* 0: none */
	unsigned surfaces;	   /* 0: unknown */
	unsigned stripe_drives;	   /* track i is on drive i % stripe_drives of an array; or 1 */
	struct sp_geometry *drive; /* one of the drives of an array */
	double overhead_ns[2];	   /* by enum sp_geometry_op */
	struct sp__hops hops[2];
	struct sp__hops within[2];	   /* of hops inside a round */
	double transfer_s_per_mib, seek_s; /* 0: sealing derives them if it can */
	double miss_rate;		   /* below 0: not measured; so after allocation */
	size_t nzones;
	struct sp__geozone *zones;
	bool seek_in_tracks; /* the seek curve's distances; else cylinders */
	size_t nseeks;
	struct sp__geoseek *seeks;
	size_t nunknown; /* names of facts that the probe could not find */
	char **unknown;
	struct json_t *evidence; /* an object that is carried through */
};

/* NULL if memory is short. Freed by sp_geometry_free(). */
struct sp_geometry *sp__geometry_alloc(void);

/* The functions that fill in return 0 or -ENOMEM, and the result. */
SP_MUST_CHECK int sp__geometry_text(char **member, const char *text);
/*
 * SP_EFORMAT with the reason in err. slips: places from the region's first one.
 * Zones are added in LBN order; the last one may be marked apart afterwards.
 */
SP_MUST_CHECK int sp__geometry_add_zone(struct sp_geometry *g, uint64_t first_lbn,
					const struct sp__region *region, const uint64_t *slips,
					size_t nslips, struct sp_errinfo *err);
SP_MUST_CHECK int sp__geometry_add_seek(struct sp_geometry *g, uint64_t distance, double ns);
SP_MUST_CHECK int sp__geometry_add_unknown(struct sp_geometry *g, const char *name);
SP_MUST_CHECK int sp__geometry_fact(struct sp_geometry *g, const char *name, double value);
/*
 * Hops of exactly this many tracks need w_deg: called with ascending tracks; the
 * curve does not show that a farther hop needs less than a nearer one, and equal
 * needs share a step.
 */
SP_MUST_CHECK int sp__hops_add(struct sp__hops *h, uint64_t tracks, double w_deg);
/*
 * The curve for hops from one track to another: inside a round of a serpentine the arm never has
 * the way to the next round before it.  SP_EUNSUP, -EINVAL, -ENODATA as sp_geometry_adjacent().
 */
SP_MUST_CHECK int sp__geometry_hops(const struct sp_geometry *g, enum sp_geometry_op op,
				    uint64_t from, uint64_t to, const struct sp__hops **h);
/*
 * What part of an angle is as little on a disk of this period: the arms of slow ones are no slower,
 * so there it is as long a time as at 5000 rpm.
 */
static inline double sp__geometry_slow(double period_ns)
{
	return fmin(12e6 / period_ns, 1);
}
/* Where the plateau ends: see sp_geometry_aim. The curve is not empty. */
double sp__hops_knee(const struct sp__hops *h, double period_ns);
uint64_t sp__hops_reach(const struct sp__hops *h, double w_deg);
/* What hops of 1 to this number of tracks need; -ERANGE: beyond the curve. */
SP_MUST_CHECK int sp__hops_need(const struct sp__hops *h, uint64_t tracks, double *w_deg);
/* Of the seek curve, which has points; the distance is in its unit. */
double sp__geometry_seek_ns(const struct sp_geometry *g, double distance);
/*
 * What a hop of this many tracks takes at most, beyond the overhead of a read: of the curve of
 * hops, and beyond its end of the seek curve, if there are any.
 */
double sp__geometry_hop_ns(const struct sp_geometry *g, uint64_t tracks);

/*
 * Checks that the members agree with each other (SP_EFORMAT with field and
 * reason), and fills in the derived ones.
 */
SP_MUST_CHECK int sp__geometry_seal(struct sp_geometry *g, struct sp_errinfo *err);

/* The zone of a block or a track that is known; NULL: in no zone. */
const struct sp__geozone *sp__geometry_zone_of(const struct sp_geometry *g, uint64_t lbn);
const struct sp__geozone *sp__geometry_zone_of_track(const struct sp_geometry *g, uint64_t number);

/* Fills in transfer_s_per_mib and seek_s from how the model's device behaves; 0 or -ENOMEM. */
SP_MUST_CHECK int sp__geometry_measure(struct sp_geometry *g, const struct sp__model *m);

/* The geometry of a model or of an array, as sp_geometry_model(). */
SP_MUST_CHECK int sp__geometry_of(struct sp_geometry **g, const struct sp__model *m,
				  struct sp_errinfo *err);

/*
 * Fills in that of an array of such drives from that of one; tracks: they are its stripes.  The
 * seek is a drive's, the rate that of stripe_drives drives.
 */
SP_MUST_CHECK int sp__geometry_array(struct sp_geometry *g, const struct sp__model *drive,
				     unsigned stripe_drives, bool tracks, struct sp_errinfo *err);

/* From a parsed document, which it leaves alone; path is for the messages. */
SP_MUST_CHECK int sp__geometry_parse(struct sp_geometry **g, const struct json_t *doc,
				     const char *path, struct sp_errinfo *err);
/* The document, a new reference; NULL if memory is short. */
struct json_t *sp__geometry_document(const struct sp_geometry *g);

#endif
