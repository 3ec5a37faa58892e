/* SPDX-License-Identifier: MIT */
/*
 * Declares the parts of a geometry, for the code that makes one: the loader, the device models and
 * the probe.
 *
 * It is made in three steps: sp__geometry_alloc(), filling in (members directly, lists and strings
 * by the functions here, which copy), sp__geometry_seal().  After that it is immutable and answers
 * <spindle/geometry.h>.
 *
 * Zones are sequences of tracks with one repeating pattern, in LBN order; an unknown gap can
 * separate two of them.  Each has its own track map with one region, whose LBNs, sectors and tracks
 * count from 0.  Its angles are absolute, so that zones can be compared.
 */
#pragma once

#include <math.h>
#include <spindle/geometry.h>
#include "dev/trackmap.h"

struct json_t;
struct sp__model;

struct sp__geozone {
	uint64_t first_lbn;
	struct sp__trackmap *map;
	bool apart;	/* the curves do not hold for hops from an earlier zone to it and beyond */
	uint64_t round; /* tracks; hops inside it are short; 0: no rounds */
	uint64_t first_track; /* known tracks before it; filled in by sealing */
	size_t island;	      /* number of gaps and apart zones up to here; filled in by sealing */
};

/* All hops of at most this many tracks need at most w_deg.  Both ascend from step to step. */
struct sp__hopstep {
	uint64_t tracks;
	double w_deg;
};

struct sp__hops {
	double aim_deg; /* 0: sealing sets it to sp__hops_knee() */
	bool estimated; /* not measured but derived, such as writes from reads */
	size_t nsteps;	/* 0: unknown */
	struct sp__hopstep *steps;
};

#define SP__CURVES 4
extern const char *const sp__curve_names[SP__CURVES]; /* "hops." and the key in a file */

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
	/* The period of a revolution: exact if period_den is not 0; period_ns is then filled in. */
	uint64_t period_num, period_den;
	double period_ns;	   /* 0: none */
	unsigned surfaces;	   /* 0: unknown */
	unsigned stripe_drives;	   /* track i is on drive i % stripe_drives; 1: no array */
	struct sp_geometry *drive; /* one of the drives of an array */
	double overhead_ns[2];	   /* by enum sp_geometry_op */
	union {
		struct {
			struct sp__hops hops[2];
			struct sp__hops within[2]; /* hops inside a round */
		};
		struct sp__hops curves[SP__CURVES]; /* all of these */
	};
	double transfer_s_per_mib, seek_s; /* 0: sealing derives them if it can */
	/* A random read of 4 KiB alone, and how many per second at the knee; 0: unknown. */
	double latency_s, requests_s;
	double miss_rate; /* below 0: not measured, the initial value */
	size_t nzones;
	struct sp__geozone *zones;
	bool seek_in_tracks; /* distances of the seek curve in tracks; else cylinders */
	size_t nseeks;
	struct sp__geoseek *seeks;
	size_t nunknown; /* facts that the probe could not find */
	char **unknown;
	struct json_t *evidence; /* an object that is passed through */
};

/*
 * Returns NULL if there is no memory or no jansson (base/loaded.h).  To be freed by
 * sp_geometry_free().
 */
struct sp_geometry *sp__geometry_alloc(void);

/* The functions that fill in return 0 or -ENOMEM, and the result. */
SP_MUST_CHECK int sp__geometry_text(char **member, const char *text);
/*
 * Adds a zone, whose map is made from region and slips (sectors from the region's first one).
 * Zones are added in LBN order; the last one may be marked apart afterwards.  Returns 0,
 * SP_EFORMAT with the reason in err, or -ENOMEM.
 */
SP_MUST_CHECK int sp__geometry_add_zone(struct sp_geometry *g, struct sp__geozone zone,
					const struct sp__region *region, const uint64_t *slips,
					size_t nslips, struct sp_errinfo *err);
SP_MUST_CHECK int sp__geometry_add_seek(struct sp_geometry *g, uint64_t distance, double ns);
SP_MUST_CHECK int sp__geometry_add_unknown(struct sp_geometry *g, const char *name);
SP_MUST_CHECK int sp__geometry_fact(struct sp_geometry *g, const char *name, double value);
/*
 * Adds that hops of exactly this many tracks need w_deg; called with ascending tracks.  The curve
 * hides that a longer hop needs less than a shorter one; equal needs share a step.
 */
SP_MUST_CHECK int sp__hops_add(struct sp__hops *h, uint64_t tracks, double w_deg);
/*
 * Returns the curve for hops from one track to another: inside a round of a serpentine, the arm
 * never moves to the next round.  Returns 0, SP_EUNSUP, -EINVAL or -ENODATA like
 * sp_geometry_adjacent().
 */
SP_MUST_CHECK int sp__geometry_hops(const struct sp_geometry *g, enum sp_geometry_op op,
				    uint64_t from, uint64_t to, const struct sp__hops **h);
/*
 * Returns the factor for a small angle on a disk of this period.  The arms of slow disks are not
 * slower, so below 5000 rpm the angle stands for the same time as at 5000 rpm.
 */
static inline double sp__geometry_slow(double period_ns)
{
	return fmin(12e6 / period_ns, 1);
}
/* Returns the end of the plateau: see sp_geometry_aim.  The curve is not empty. */
double sp__hops_knee(const struct sp__hops *h, double period_ns);
uint64_t sp__hops_reach(const struct sp__hops *h, double w_deg);
/* Finds the angle that hops of 1 to this number of tracks need; -ERANGE: beyond the curve. */
SP_MUST_CHECK int sp__hops_need(const struct sp__hops *h, uint64_t tracks, double *w_deg);
/* Evaluates the seek curve, which has points; the distance is in its unit. */
double sp__geometry_seek_ns(const struct sp_geometry *g, double distance);
/*
 * Returns the maximum time of a hop of this many tracks beyond the overhead of a read: from the
 * curve of hops, and beyond its end from the seek curve, if they exist.
 */
double sp__geometry_hop_ns(const struct sp_geometry *g, uint64_t tracks);

/*
 * Checks that the members agree with each other, and fills in the derived ones.  Returns 0, or
 * SP_EFORMAT with field and reason.
 */
SP_MUST_CHECK int sp__geometry_seal(struct sp_geometry *g, struct sp_errinfo *err);

/* Returns the known zone of a block or a track; NULL: in no zone. */
const struct sp__geozone *sp__geometry_zone_of(const struct sp_geometry *g, uint64_t lbn);
const struct sp__geozone *sp__geometry_zone_of_track(const struct sp_geometry *g, uint64_t number);

/* Makes the geometry of a model or of an array, like sp_geometry_model(). */
SP_MUST_CHECK int sp__geometry_of(struct sp_geometry **g, const struct sp__model *m,
				  struct sp_errinfo *err);

/* Makes a geometry of a parsed document, which it does not change; path is for messages. */
SP_MUST_CHECK int sp__geometry_parse(struct sp_geometry **g, const struct json_t *doc,
				     const char *path, struct sp_errinfo *err);
/* Returns the document, a new reference; NULL: no memory. */
struct json_t *sp__geometry_document(const struct sp_geometry *g);
