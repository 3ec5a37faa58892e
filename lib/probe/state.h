/* SPDX-License-Identifier: MIT */
/*
 * A probe at work: what it knows so far, and the steps by which it learns more.
 *
 * Angles are fractions of a revolution (doubles; "rev").  The angle of a block
 * is where its end passes under the head, as the host sees completions, counted
 * from where the end of the reference block passes.
 *
 * Every step returns 0, -EIO (these blocks cannot be read), -EINTR (it was
 * stopped), -ENODATA (there is nothing to be found here), -ENOMEM or
 * -ESTALE.
 *
 * Source: Shao 2008, chapter 2, for what is to be found.
 */
#ifndef SP__PROBE_STATE_H
#define SP__PROBE_STATE_H

#include <math.h>
#include <spindle/probe.h>
#include "base/rng.h"
#include "dev/geometry.h"
#include "probe/target.h"

#define SP__SPIN_POINTS 64

/* The platter: period and a moment when the reference block's end passes. */
struct sp__spin {
	double period_ns;
	double anchor_ns; /* since epoch_ns */
	uint64_t epoch_ns;
	uint64_t ref_lbn;
	size_t n; /* observed passings: revolution, time */
	double turn[SP__SPIN_POINTS], at_ns[SP__SPIN_POINTS];
	uint64_t due_ns; /* when it is to be looked after */
	unsigned looks;	 /* how often that was done: the anchor moves a little */
	uint64_t interval_ns;
};

/* The quantile of samples that an exact angle is: completions are dense where they are early. */
#define SP__EARLY 0.08

#define SP__AGREE_MAX 32 /* samples */

/* How the host's view of a completion scatters. */
struct sp__scatter {
	double sd_ns;	 /* of a half-normal distribution */
	double floor_ns; /* from the earliest completions to the estimate that sp__angle() makes */
	unsigned agree;	 /* samples that must agree, at most half of SP__AGREE_MAX */
	unsigned exact;	 /* samples of an exact angle */
	double tol_rev;	 /* so far apart may two samples be that agree */
	double jump_rev; /* more is a jump */
};

#define SP__RECENT 128
#define SP__NEAR_BLOCKS 4096 /* a segment of a cache is hardly longer */

/* The drive's cache, if it answers without the platter. */
struct sp__cachefact {
	uint64_t hit_ns;	     /* whatever is faster came from the cache */
	uint64_t recent[SP__RECENT]; /* read last, a ring */
	unsigned count;
};

struct sp__oddtrack {
	uint64_t track;	  /* of the zone */
	uint32_t missing; /* blocks fewer than in the pattern */
};

/* Tracks that repeat with one pattern. */
struct sp__pzone {
	uint64_t first_lbn, blocks, tracks;
	uint32_t nlens;
	uint32_t *lens;
	size_t nodd;
	struct sp__oddtrack *odd;
	uint32_t nskew; /* 0: angles are not known */
	double *skew;	/* from the start of a track to that of the next one, rev */
	double start;	/* angle of the first block's start */
	bool rounds;	/* of bands; one begins with the first track */
	uint64_t reads; /* that it took to find it */
};

/* Cylinder and head of the tracks, as far as timing shows. */
enum sp__head_order {
	SP__ORDER_UNKNOWN,
	SP__ORDER_CYLINDER,
	SP__ORDER_BANDS,
	SP__ORDER_SURFACE,
	SP__ORDER_LINE
};

struct sp__trackorder {
	enum sp__head_order order;
	uint32_t surfaces; /* 0: unknown */
	uint32_t band;	   /* tracks of a run on one surface */
	bool whole;	   /* one band is all of a zone */
	bool descends;	  /* the first band of a round of them: matters if they are odd in number */
	bool turns;	  /* heads go back on every other cylinder */
	bool turns_known; /* that, of a cylinder of several surfaces */
};

/* A track that one end of many hops is on, and the angle at which it begins. */
struct sp__datum {
	bool known;
	unsigned looks; /* of the spin, at that time */
	uint64_t track;
	double rev;
};

struct sp__probe {
	struct sp__target *t;
	const struct sp_probe_opts *opts;
	struct sp_probe_result *r; /* the result */
	struct sp_errinfo *err;
	struct sp__rng rng;
	struct sp__spin spin;
	struct sp__scatter scatter;
	struct sp__cachefact cache;
	struct sp__trackorder place;
	bool no_reach, no_write_reach;	/* hops as far as they should reach fail */
	bool late;			/* the arm waits for something else */
	uint64_t base;			/* track from which hops start */
	struct sp__datum datum[2];	/* the last one of reads, and of writes */
	uint64_t learnt;		/* up to here no pattern of lengths was seen */
	uint64_t last_asked, last_next; /* the last boundary found, and the block it follows */
	size_t nzones, room;
	struct sp__pzone *zones;
};

/* probe.c */
SP_MUST_CHECK int sp__probe_target(struct sp__target **t, const struct sp_probe_opts *opts,
				   struct sp_errinfo *err);
/* t belongs to p, also after a failure. */
SP_MUST_CHECK int sp__probe_begin(struct sp__probe *p, struct sp__target *t,
				  const struct sp_probe_opts *opts, struct sp_probe_result *r,
				  struct sp_errinfo *err);
/* sp_probe_run() on an open target, which is closed in any case. */
SP_MUST_CHECK int sp__probe_on(struct sp_probe **probe, struct sp__target *t,
			       const struct sp_probe_opts *opts, struct sp_errinfo *err);
void sp__probe_close(struct sp__probe *p);
SP_MUST_CHECK int sp__probe_stopped(const struct sp__probe *p); /* 0 or -EINTR */
void sp__probe_progress(struct sp__probe *p, enum sp_probe_step step, double done);

/* sample.c: reads and angles. */
static inline double sp__wrap(double rev) /* to [-0.5, 0.5) */
{
	return rev - floor(rev + 0.5);
}
double sp__quantile(double *v, size_t n, double q); /* sorts v */
/* A low quantile that does not depend on how many samples there are. */
double sp__low_quantile(double *v, size_t n, double q); /* sorts v */
/* One block from the platter, not from the cache. */
SP_MUST_CHECK int sp__probe_read(struct sp__probe *p, uint64_t lbn, struct sp__shot *s);
/* Makes the cache forget what it holds. */
SP_MUST_CHECK int sp__probe_flush(struct sp__probe *p, uint64_t lbn);
double sp__rev_at(const struct sp__probe *p, uint64_t ns);
/* The standard error of an exact angle of n samples, rev. */
double sp__angle_error(const struct sp__probe *p, unsigned n);
#define SP__ANGLE_MAX 512				 /* samples */
double sp__rev_middle(double *revs, size_t n, double q); /* circular quantile */
/* Angle of a block's end by as many samples as agree; by n samples. */
SP_MUST_CHECK int sp__angle_agreed(struct sp__probe *p, uint64_t lbn, double *rev);
SP_MUST_CHECK int sp__angle_exact(struct sp__probe *p, uint64_t lbn, unsigned n, double *rev);
/* The latter without a look at the reference block, and when the last sample was complete. */
SP_MUST_CHECK int sp__angle_read(struct sp__probe *p, uint64_t lbn, unsigned n, double *rev,
				 uint64_t *done_ns);

/* cache.c: given what n reads of the reference block took. */
SP_MUST_CHECK int sp__cache_find(struct sp__probe *p, double *same, size_t n);

/* spin.c: rotation. */
SP_MUST_CHECK int sp__spin_find(struct sp__probe *p);
SP_MUST_CHECK int sp__spin_look(struct sp__probe *p); /* re-anchors when it is time */

/* edge.c: track boundaries. */
/* Does a track begin at lbn?  (lbn > 0.)  length: of the track before. */
SP_MUST_CHECK int sp__edge_at(struct sp__probe *p, uint64_t lbn, uint32_t length, bool *is);
/* The same for jumps that are hardly larger than the noise, at more expense. */
SP_MUST_CHECK int sp__edge_fine(struct sp__probe *p, uint64_t lbn, uint32_t length, bool *is);
/* The first track that begins after lbn; the device's end counts. hint 0: nothing is known. */
SP_MUST_CHECK int sp__edge_next(struct sp__probe *p, uint64_t lbn, uint32_t hint, uint64_t *next);

/* zone.c */
static inline uint64_t sp__pzone_end(const struct sp__pzone *z)
{
	return z->first_lbn + z->blocks;
}
static inline bool sp__pzone_follows(const struct sp__pzone *z, const struct sp__pzone *before)
{
	return z->first_lbn == sp__pzone_end(before);
}
uint64_t sp__pzone_start(const struct sp__pzone *z, uint64_t track);  /* its first LBN */
uint32_t sp__pzone_length(const struct sp__pzone *z, uint64_t track); /* places */
/* Are two skews of one kind, as all head switches are? */
static inline bool sp__skew_alike(double a, double b)
{
	return fabs(sp__wrap(a - b)) < 0.004;
}
/* The skew that most of the pattern, or the most of it, are like; 0: there are none. */
double sp__pzone_usual_skew(const struct sp__pzone *z);
/* Inserts an odd track at this place of the list. */
SP_MUST_CHECK int sp__pzone_add_odd(struct sp__pzone *z, size_t at, uint64_t track,
				    uint32_t missing);
void sp__pzone_clear(struct sp__pzone *z);
/* The zone that begins at lbn, where a track begins; hint: the zone before it, or NULL. */
SP_MUST_CHECK int sp__pzone_find(struct sp__probe *p, uint64_t lbn, const struct sp__pzone *hint,
				 struct sp__pzone *z);

/*
 * learn.c: the lengths of its first tracks, at least so many.  *known: there is a pattern, if only
 * of one length; else z is one track.  before: the zone before it, or NULL.
 */
SP_MUST_CHECK int sp__pzone_learn(struct sp__probe *p, struct sp__pzone *z,
				  const struct sp__pzone *before, uint64_t least, bool *known);
/* Goes on where z ends; hint: its probable number of tracks, or 0. */
SP_MUST_CHECK int sp__pzone_extend(struct sp__probe *p, struct sp__pzone *z, uint64_t hint);

/* zones.c */
/* All zones from lbn on, where a track begins (or, from 0 on, is taken to begin). */
SP_MUST_CHECK int sp__zones_find(struct sp__probe *p, uint64_t lbn);
/* mend.c: many odd tracks may be a pattern of several lengths. */
SP_MUST_CHECK int sp__pzone_express(struct sp__pzone *z);
/* What the finder left in pieces around invisible boundaries is put together. */
SP_MUST_CHECK int sp__zones_mend(struct sp__probe *p);
/* recheck.c: tracks that are not what they were taken for are no longer known. */
SP_MUST_CHECK int sp__tracks_recheck(struct sp__probe *p);
/* Some tracks of three places of the device. */
SP_MUST_CHECK int sp__zones_sample(struct sp__probe *p);
SP_MUST_CHECK int sp__zones_add(struct sp__probe *p, struct sp__pzone *z); /* takes it over */
void sp__zones_drop(struct sp__probe *p, size_t first, size_t n);

/* skew.c */
/* The layout from the first zone; the angles of every zone. */
SP_MUST_CHECK int sp__skews_find(struct sp__probe *p);

/* cylinders.c */
/* A track by its number from block 0 on; false: it is not known, or has slipped blocks. */
bool sp__probe_track(const struct sp__probe *p, uint64_t number, uint64_t *lbn, uint32_t *blocks);
SP_MUST_CHECK int sp__layout_find(struct sp__probe *p);
const char *sp__place_words(const struct sp__trackorder *place); /* NULL: unknown */
/* Without a layout nothing is known of a hop that was not made. */
static inline bool sp__reach_known(const struct sp__probe *p)
{
	return sp__place_words(&p->place) && !p->no_reach;
}

/* skew.c: the angle from the start of one track to that of another, of one zone; false: unknown. */
bool sp__skew_between(const struct sp__probe *p, uint64_t from, uint64_t to, double *rev);

/* The resolution of a hop. */
static inline double sp__hop_fine(const struct sp__probe *p)
{
	return 0.0005 * sp__geometry_slow(p->spin.period_ns) * p->spin.period_ns;
}
/* The standard error of a hop's time: of its bisection, and of the angle of its end; rev. */
double sp__hop_error(const struct sp__probe *p);
/* hop.c: from one track to another, by their numbers; -ENODATA also: they are not known. */
/* The least time from issue to the start of a block of the second one that is reached in time. */
SP_MUST_CHECK int sp__hop_time(struct sp__probe *p, uint64_t from, uint64_t to, bool write,
			       double *ns);
/*
 * The same from the end of the block before, both requests in the drive at once.
 * reach_ns: what a hop within a track takes.
 */
SP_MUST_CHECK int sp__hop_queued(struct sp__probe *p, uint64_t from, uint64_t to, double reach_ns,
				 double *ns);

/* seeks.c */
SP_MUST_CHECK int sp__seeks_find(struct sp__probe *p);

/* arms.c: what has several arms is layered. */
SP_MUST_CHECK int sp__arms_find(struct sp__probe *p);

/* rotation.c: verdict and evidence. */
SP_MUST_CHECK int sp__rotation_find(struct sp__probe *p);

/* geometry_build.c, probe_result.c: geometry and result, from what is known. */
SP_MUST_CHECK int sp__made_geometry(struct sp__probe *p, struct sp_geometry **g);
void sp__made_unknown(struct sp__probe *p); /* what is not known; before the geometry */
/* Does the plateau of settling probably end, by the seek curve, but not certainly? */
SP_MUST_CHECK int sp__plateau_look(struct sp__probe *p, bool *doubtful);
SP_MUST_CHECK int sp__made_result(struct sp__probe *p, const struct sp_geometry *g);
SP_MUST_CHECK int sp__made_resume(struct sp__probe *p, const struct sp_geometry *g);

/* Tracks after which cylinders and heads repeat. */
static inline uint64_t sp__place_round(const struct sp__trackorder *l)
{
	return l->order == SP__ORDER_CYLINDER ? (1 + l->turns) * (uint64_t)l->surfaces
	       : l->order == SP__ORDER_BANDS  ? (uint64_t)l->band * l->surfaces
					      : 1;
}
/*
 * What the layout and the seek curve say of a hop between tracks counted from the start of a round;
 * negative: the distance was not measured.
 */
double sp__hop_foretold(const struct sp__probe *p, uint64_t from, uint64_t to);

/* checks.c: what is found to be wrong is no longer known. */
/* Do rounds of bands begin with zones?  After the seek curve, before the geometry. */
SP_MUST_CHECK int sp__rounds_check(struct sp__probe *p);
SP_MUST_CHECK int sp__checks(struct sp__probe *p, const struct sp_geometry *g);

/* depths.c: what is true of every device. */
SP_MUST_CHECK int sp__depths_find(struct sp__probe *p);

#endif
