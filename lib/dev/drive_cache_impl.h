/* SPDX-License-Identifier: MIT */
/*
 * Declares the parts of the drive's cache: segments, read-ahead and serving (drive_cache.c), and
 * the write buffer (drive_buffer.c).
 */
#pragma once

#include "dev/drive.h"
#include "dev/drive_impl.h"

#define WAITING_MAX SP__WRITE_SEGMENTS_MAX /* extents in the write buffer */

struct segment {
	uint64_t lo, hi; /* equal: empty */
	uint64_t used;	 /* number of the last request that used it */
	/* Blocks from `late` on arrive at this time: read-ahead had to continue. */
	uint64_t late, late_ns;
};

struct ahead {
	bool active;
	unsigned segment;
	uint64_t lbn;	/* all blocks before it are in the segment */
	uint64_t at_ns; /* when the head had passed it */
	uint64_t end;	/* where it will stop */
};

/*
 * The next step of the head in a read-ahead from lbn: blocks of one track.  Computed once and kept
 * while it is valid.
 */
struct leg {
	uint64_t lbn, at_ns, end; /* see struct ahead */
	struct sp__arm from;	  /* position of the arm at at_ns */
	struct sp__subreq next;	  /* blocks to read */
	struct sp__arm to;
	struct sp__service pass;
};

struct waiting {
	uint64_t lbn;
	uint32_t blocks;
	uint64_t since_ns;
	struct sp__trackpos pos; /* blocks 0: not located since it changed */
};

struct sp__drive_cache {
	const struct sp__model *m;
	const struct sp__drive *d;
	const struct sp__cache_config *cfg;
	uint64_t count; /* number of requests */
	/* The state at the moment for which positions are requested: computed once. */
	bool settled;
	uint64_t settled_ns;
	struct sp__arm now; /* the arm then, reading ahead or not */
	uint64_t start_ns;  /* when it could begin another request */
	struct ahead ahead;
	struct leg leg;
	unsigned nwaiting;
	uint32_t blocks_waiting;
	uint32_t blocks_writing; /* their space is free when the medium is */
	uint64_t writing_end;	 /* end of the last of them */
	struct waiting waiting[WAITING_MAX];
	struct segment segments[];
};

/* Computes the state at now_ns if no request follows, into the members of that moment. */
void sp__cache_settle(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns);
/* Ends read-ahead: another request needs the medium at now_ns. */
void sp__ahead_stop(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns);

/* Writes one waiting extent, or a part of it, to the medium as soon as that is free. */
void sp__buffer_destage(struct sp__drive_cache *c, struct sp__arm *arm);
/* Performs the writes that began before now_ns. */
void sp__buffer_catch_up(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns);
/* True if one waiting extent has all of p; true if any has a part of p. */
bool sp__buffer_has(const struct sp__drive_cache *c, const struct sp__subreq *p);
bool sp__buffer_meets(const struct sp__drive_cache *c, const struct sp__subreq *p);
/* True if data of the buffer is being written at now_ns. */
bool sp__buffer_writing(const struct sp__drive_cache *c, const struct sp__arm *arm,
			uint64_t now_ns);
/* True if p needs a separate extent at now_ns and none is free. */
bool sp__buffer_full(const struct sp__drive_cache *c, const struct sp__arm *arm, uint64_t now_ns,
		     const struct sp__subreq *p);
/* True if p fits at now_ns. */
bool sp__buffer_has_space(const struct sp__drive_cache *c, const struct sp__arm *arm,
			  uint64_t now_ns, const struct sp__subreq *p);
void sp__buffer_put(struct sp__drive_cache *c, const struct sp__subreq *p, uint64_t now_ns);
