/* SPDX-License-Identifier: MIT */
/*
 * The parts of the drive's cache: segments, read-ahead and who serves requests with
 * them (drive_cache.c), and the write buffer (drive_buffer.c).
 */
#ifndef SP__DEV_DRIVE_CACHE_IMPL_H
#define SP__DEV_DRIVE_CACHE_IMPL_H

#include "dev/drive.h"
#include "dev/drive_impl.h"

#define WAITING_MAX SP__WRITE_SEGMENTS_MAX /* extents in the write buffer */

struct segment {
	uint64_t lo, hi; /* equal: empty */
	uint64_t used;	 /* when, by count of requests */
	/* Blocks from here on are there at this time: reading ahead had to go on. */
	uint64_t late, late_ns;
};

struct ahead {
	bool active;
	unsigned segment;
	uint64_t lbn;	/* all before it is in the segment */
	uint64_t at_ns; /* when the head had passed it */
	uint64_t end;	/* where it is going to stop */
};

/*
 * What the head does next when it reads ahead from lbn: so many blocks of one
 * track.  Worked out once for as long as it is asked for.
 */
struct leg {
	uint64_t lbn, at_ns, end; /* as in struct ahead, ... */
	struct sp__arm from;	  /* ... and where the arm was */
	struct sp__piece next;	  /* what is read */
	struct sp__arm to;
	struct sp__service pass;
};

struct waiting {
	uint64_t lbn;
	uint32_t blocks;
	uint64_t since_ns;
	struct sp__trackpos place; /* blocks 0: not looked up since it changed */
};

struct sp__drive_cache {
	const struct sp__model *m;
	const struct sp__drive *d;
	const struct sp__cache_config *cfg;
	uint64_t count; /* of requests */
	/* The moment for which positions are asked: worked out once. */
	bool settled;
	uint64_t settled_ns;
	struct sp__arm now; /* where the arm is then, reading ahead or not */
	uint64_t start_ns;  /* when it could begin something else */
	struct ahead ahead;
	struct leg leg;
	unsigned nwaiting;
	uint32_t blocks_waiting;
	uint32_t blocks_writing; /* their room is free when the medium is */
	uint64_t writing_end;	 /* behind the last of them */
	struct waiting waiting[WAITING_MAX];
	struct segment segments[];
};

/* All that happens up to now_ns without a request, for the moment below. */
void sp__cache_settle(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns);
/* The medium is wanted for something else at now_ns. */
void sp__ahead_stop(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns);

/* Writes one waiting extent to the medium, or a part, as soon as that is free. */
void sp__buffer_destage(struct sp__drive_cache *c, struct sp__arm *arm);
/* Carries out what has begun before now_ns. */
void sp__buffer_catch_up(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns);
/* Is all of the piece in one waiting extent?  Is some of it in any? */
bool sp__buffer_has(const struct sp__drive_cache *c, const struct sp__piece *p);
bool sp__buffer_meets(const struct sp__drive_cache *c, const struct sp__piece *p);
/* Is something of it being written at now_ns? */
bool sp__buffer_writing(const struct sp__drive_cache *c, const struct sp__arm *arm,
			uint64_t now_ns);
/* Does the piece need a place of its own at now_ns, and there is none? */
bool sp__buffer_full(const struct sp__drive_cache *c, const struct sp__arm *arm, uint64_t now_ns,
		     const struct sp__piece *p);
/* Does the piece fit at now_ns? */
bool sp__buffer_free_space(const struct sp__drive_cache *c, const struct sp__arm *arm,
			   uint64_t now_ns, const struct sp__piece *p);
void sp__buffer_put(struct sp__drive_cache *c, const struct sp__piece *p, uint64_t now_ns);

#endif
