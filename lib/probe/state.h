/* SPDX-License-Identifier: MIT */
/*
 * A probe at work: what it knows so far, and the steps by which it learns more.
 *
 * Every step returns 0, -EIO (these blocks cannot be read), -EINTR (it was
 * stopped), -ENODATA (there is nothing to be found here), -ENOMEM or
 * -ESTALE.
 *
 * Source: Shao 2008, chapter 2, for what is to be found.
 */
#ifndef SP__PROBE_STATE_H
#define SP__PROBE_STATE_H

#include "dev/geometry.h"
#include "probe/depths/depths.h"
#include "probe/rotation/rotation.h"
#include "probe/tracks/tracks.h"

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
	struct sp__timing tm;
	struct sp__rotation rotation;
	struct sp__depths depths;
	struct sp__tracks tracks;
	const struct sp_probe_opts *opts;
	struct sp_probe_result *r; /* the result */
	struct sp_errinfo *err;
	struct sp__trackorder place;
	bool no_reach, no_write_reach; /* hops as far as they should reach fail */
	bool late;		       /* the arm waits for something else */
	uint64_t base;		       /* track from which hops start */
	struct sp__datum datum[2];     /* the last one of reads, and of writes */
};

/* probe.c */
/* sp_probe_run() on an open target, which is closed in any case. */
SP_MUST_CHECK int sp__probe_on(struct sp_probe **probe, struct sp__target *t,
			       const struct sp_probe_opts *opts, struct sp_errinfo *err);

/* cylinders.c */
SP_MUST_CHECK int sp__layout_find(struct sp__probe *p);
const char *sp__place_words(const struct sp__trackorder *place); /* NULL: unknown */
/* Without a layout nothing is known of a hop that was not made. */
static inline bool sp__reach_known(const struct sp__probe *p)
{
	return sp__place_words(&p->place) && !p->no_reach;
}

/* The resolution of a hop. */
static inline double sp__hop_fine(const struct sp__probe *p)
{
	return 0.0005 * sp__geometry_slow(p->tm.spin.period_ns) * p->tm.spin.period_ns;
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

#endif
