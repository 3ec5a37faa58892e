/* SPDX-License-Identifier: MIT */
/*
 * Declares a device in use: a model and its state (arm position, contents of the cache), in virtual
 * time.
 *
 * A device has one or more lanes that work concurrently: one for a drive, one per member of a
 * striped or mirrored volume, one per channel of flash.  A request is first split into subrequests,
 * each for one lane.  Then each lane serves one subrequest at a time.  The queue decides which
 * requests wait and in which order (sim/blockdev.h).  This interface only predicts durations and
 * serves.
 *
 * Times are virtual nanoseconds since the machine started; angle 0 is under the heads at time 0.
 * Serving is a function of model, state, time and subrequest alone: it has no randomness and reads
 * nothing of the host.
 *
 * A possible further kind is Atropos: an array (raid.h) striped by tracks whose split() also
 * follows the semi-sequential paths of the drives.
 *
 * Source: timing rules of Shao 2008 ch. 2 and of the validated simulator that produced the oracle
 * files.
 */
#pragma once

#include "dev/model.h"

#define SP__DEV_SUBREQS_MAX 64

/*
 * The start of a subrequest on a device with tracks; on MEMS storage only its cylinder. split() can
 * fill this in, so that a subrequest that is examined often is located once.  Subrequests of other
 * origin have zeros here.
 */
struct sp__trackpos {
	uint32_t blocks;  /* blocks of the subrequest on this track; 0: not located */
	uint32_t sectors; /* sectors on the track */
	uint32_t cyl, head;
	uint64_t track; /* its number */
	uint64_t start; /* angle of the track's first sector */
	uint64_t begin; /* angle of the first sector of the subrequest */
	uint64_t rest;	/* angle of the whole track less the subrequest */
};

struct sp__subreq {
	uint64_t lbn; /* in the lane's numbering */
	uint32_t blocks;
	uint16_t lane;
	bool write;
	struct sp__trackpos pos;
	uint64_t since_ns; /* MEMS: time of split(), if pos is located */
};

/*
 * Summary of waiting subrequests that begin at neighbouring blocks: enough to bound their
 * positioning times.
 */
struct sp__bucket {
	unsigned reads, writes;	      /* number of reads, of writes */
	unsigned unlocated;	      /* subrequests of both that are not located */
	uint32_t first_cyl, last_cyl; /* cylinders of the located ones */
};

struct sp__service {
	uint64_t done_ns;
	/* Times of the mechanics, over all tracks of the subrequest; 0 for a cache hit. */
	uint64_t seek_ns, rotate_ns, transfer_ns;
	bool hit; /* answered by the device's cache */
};

struct sp__device {
	const struct sp__model *model;
	void *state; /* state of this kind of device */
};

/* The hooks of one kind of device.  Hooks are required unless marked optional. */
struct sp__device_ops {
	const char *kind; /* kind in the model file: "rotating", "linear", "flash", "mems" */
	void (*free)(void *impl);

	/* Optional, both or neither: open the state, returning 0 or -ENOMEM, and close it. */
	int (*open)(const struct sp__model *m, void **state);
	void (*close)(void *state);
	/* Optional, for several queues: returns the queue in which a request for lbn waits. */
	unsigned (*queue)(const struct sp__model *m, uint64_t lbn);
	/*
	 * Splits a request that is dispatched now: fills subreqs (<= max), all of which will be
	 * served.
	 * Returns their number, and sets *blocks to the blocks that they cover.
	 */
	unsigned (*split)(const struct sp__model *m, void *state, uint64_t now_ns, bool write,
			  uint64_t lbn, uint32_t *blocks, struct sp__subreq *subreqs, unsigned max);
	/*
	 * Returns the time until the first block passes the head, if chosen now (with zero latency:
	 * the time that is not transfer): the key of SPTF.  A value above limit_ns can be any value
	 * above limit_ns.  Can advance the state to now_ns (read-ahead, writes from the buffer), so
	 * now_ns must not be after the start of the next service.
	 */
	uint64_t (*position)(const struct sp__model *m, void *state, uint64_t now_ns,
			     const struct sp__subreq *p, uint64_t limit_ns);
	/*
	 * Optional: sets bound[i] to a lower bound of position() for the subrequests of bucket i,
	 * which begin in blocks from i << shift on; n buckets cover the device.  Can advance the
	 * state to now_ns, like position().
	 */
	void (*bounds)(const struct sp__model *m, void *state, uint64_t now_ns,
		       const struct sp__bucket *bucket, unsigned n, unsigned shift,
		       uint64_t *bound);
	/* Serves the subrequest from start_ns on, and updates the state. */
	void (*serve)(const struct sp__model *m, void *state, uint64_t start_ns,
		      const struct sp__subreq *p, struct sp__service *s);
	/*
	 * Optional: returns when all written data is on the medium if no request follows (>=
	 * now_ns).  Without this hook, served writes are on the medium.
	 */
	uint64_t (*drain)(const struct sp__model *m, void *state, uint64_t now_ns);
};

SP_MUST_CHECK int sp__device_open(struct sp__device *d, const struct sp__model *m);
void sp__device_close(struct sp__device *d);
uint64_t sp__device_drain(const struct sp__device *d, uint64_t now_ns);
