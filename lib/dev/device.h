/* SPDX-License-Identifier: MIT */
/*
 * A device in use: a model and its state (where the arm is, what the cache
 * holds), in virtual time.
 *
 * A device has one or more lanes that work at the same time: one for a drive,
 * one for each member of a striped or mirrored volume, one for each channel of
 * flash.  A request is first split into pieces, each for one lane; then each
 * lane serves one piece at a time.  Waiting and its order belong to the queue
 * (sim/blockdev.h); this interface only answers "how long would it take" and
 * "it is done".
 *
 * Times are virtual nanoseconds since the machine started; angle 0 is under
 * the heads at time 0.  Serving is a function of model, state, time and piece
 * alone: no randomness, nothing of the host.
 *
 * What other kinds would be.  MEMS storage: one lane, whose state is the place
 * and velocity of the sled; position() and serve() are its two springs.
 * Atropos: an array (raid.h) striped by tracks whose split() also follows the
 * semi-sequential paths of the drives.
 *
 * Source: timing rules of Shao 2008 ch. 2 and of the validated simulator the
 * oracle files come from.
 */
#ifndef SP__DEV_DEVICE_H
#define SP__DEV_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "dev/model.h"

#define SP__DEV_PIECES_MAX 64

/*
 * Where a piece begins on a device with tracks.  Its split() may fill this in,
 * so that a piece that is looked at again and again is looked up once; a piece
 * that others make has zeros here.
 */
struct sp__trackpos {
	uint32_t blocks; /* of the piece that are on this track; 0: not looked up */
	uint32_t places; /* on the track */
	uint32_t cyl, head;
	uint64_t track; /* its number */
	uint64_t start; /* angle of the track's first place */
	uint64_t begin; /* angle at which the piece begins */
	uint64_t rest;	/* angle that is left when the piece is taken from the whole track */
};

struct sp__piece {
	uint64_t lbn; /* in the lane's own numbering */
	uint32_t blocks;
	uint16_t lane;
	bool write;
	struct sp__trackpos place;
};

/*
 * What is known of some pieces that wait and begin at neighbouring blocks: enough for a bound of
 * their positions.
 */
struct sp__bucket {
	unsigned reads, writes;	      /* so many of them */
	unsigned unplaced;	      /* of both: without a place */
	uint32_t first_cyl, last_cyl; /* the places of the others lie between */
};

struct sp__service {
	uint64_t done_ns;
	/* Of the mechanics, over all tracks that the piece touches; 0 for a cache hit. */
	uint64_t seek_ns, rotate_ns, transfer_ns;
	bool hit; /* answered by the device's cache */
};

struct sp__device {
	const struct sp__model *model;
	void *state; /* of the kind */
};

/* The table of one kind of device. Hooks are required if they are not called optional. */
struct sp__device_ops {
	const char *kind; /* the word in the model file: "rotating", "linear", "flash" */
	void (*free)(void *impl);

	/* Optional, both or none: 0 or -ENOMEM. */
	int (*open)(const struct sp__model *m, void **state);
	void (*close)(void *state);
	/* Optional, for more than one queue: the one in which a request for lbn waits. */
	unsigned (*queue)(const struct sp__model *m, uint64_t lbn);
	/*
	 * What is dispatched now: fills pieces (<= max), all of which will be served; returns
	 * how many, and *blocks: what they cover.
	 */
	unsigned (*split)(const struct sp__model *m, void *state, uint64_t now_ns, bool write,
			  uint64_t lbn, uint32_t *blocks, struct sp__piece *pieces, unsigned max);
	/*
	 * Time before the first block passes the head, if chosen now (with zero
	 * latency: time that is not transfer): the key of SPTF.  What is more than
	 * limit_ns need not be worked out: anything above that will do.  May bring
	 * the state up to now_ns (read-ahead, writes from the buffer), so now_ns
	 * must not lie after the next service's start.
	 */
	uint64_t (*position)(const struct sp__model *m, void *state, uint64_t now_ns,
			     const struct sp__piece *p, uint64_t limit_ns);
	/*
	 * Optional: bound[i] is to be no more than the position of any piece on bucket i, which has
	 * those that begin in blocks i << shift and on; n buckets cover the device.  Like
	 * position() it may bring the state up to now_ns.
	 */
	void (*bounds)(const struct sp__model *m, void *state, uint64_t now_ns,
		       const struct sp__bucket *bucket, unsigned n, unsigned shift,
		       uint64_t *bound);
	/* Serves the piece from start_ns on, and changes the state accordingly. */
	void (*serve)(const struct sp__model *m, void *state, uint64_t start_ns,
		      const struct sp__piece *p, struct sp__service *s);
	/*
	 * Optional: when all that was written is on the medium if nothing else comes
	 * (>= now_ns).  Without it what has been served is there.
	 */
	uint64_t (*drain)(const struct sp__model *m, void *state, uint64_t now_ns);
};

SP_MUST_CHECK int sp__device_open(struct sp__device *d, const struct sp__model *m);
void sp__device_close(struct sp__device *d);
uint64_t sp__device_drain(const struct sp__device *d, uint64_t now_ns);

#endif
