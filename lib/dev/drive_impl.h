/* SPDX-License-Identifier: MIT */
/*
 * Declares the moving parts of a rotating drive, shared by its mechanics (drive.c), its cache
 * (drive_cache.c) and the table of device hooks (drive_ops.c).
 */
#pragma once

#include "dev/drive.h"
#include "dev/model_json.h"

struct sp__arm {
	uint32_t cyl, head;
	uint64_t begin_ns; /* when the first sector of the last request arrived */
	uint64_t wait_ns;  /* how long the platter had rotated for it */
	uint64_t free_ns;  /* the medium is in use until then */
};

#define SP__CYLINDERS_MAX 10000000
#define SP__WRITE_SEGMENTS_MAX 128

/*
 * Computes the values stored for speed from period, seek points and cylinders.  Returns 0 or
 * -ENOMEM.
 */
SP_MUST_CHECK int sp__drive_prepare(struct sp__drive *d);
/* Locates the start of a subrequest, into pos. */
void sp__drive_locate(const struct sp__drive *d, uint64_t lbn, uint32_t blocks,
		      struct sp__trackpos *pos);
/*
 * Moves the blocks of a subrequest past the head from start_ns on; adds to s and sets done_ns.
 * coming: the blocks pass the bus from start_ns on.
 */
void sp__drive_media(const struct sp__drive *d, struct sp__arm *arm, uint64_t start_ns,
		     const struct sp__subreq *subreq, bool zero_latency, bool coming,
		     struct sp__service *s);
/* Serves a request with the bus, without the cache. */
void sp__drive_direct(const struct sp__drive *d, struct sp__arm *arm, uint64_t start_ns,
		      const struct sp__subreq *subreq, struct sp__service *s);
/*
 * Returns the time on the first track that is not transfer, the key of SPTF, or any value above
 * limit_ns.
 */
uint64_t sp__drive_reach_ns(const struct sp__drive *d, const struct sp__arm *arm, uint64_t now_ns,
			    const struct sp__subreq *subreq, bool coming, uint64_t limit_ns);
/* Returns sp__drive_reach_ns() of a request whose blocks must pass the bus first. */
uint64_t sp__drive_near_ns(const struct sp__drive *d, const struct sp__arm *arm, uint64_t now_ns,
			   const struct sp__subreq *subreq, uint64_t limit_ns);
/*
 * Returns the first of the blocks before lbn, on its track, that pass the head within wait_ns
 * before it.
 */
uint64_t sp__drive_passing(const struct sp__drive *d, uint64_t lbn, uint64_t wait_ns);
uint64_t sp__drive_bus_ns(const struct sp__drive *d, uint32_t blocks);
/* Returns the time of the bus after the last of these blocks has been read. */
uint64_t sp__drive_tail_ns(const struct sp__drive *d, uint32_t blocks);
/* Returns the time of the bus before the first of these blocks can be written. */
uint64_t sp__drive_head_ns(const struct sp__drive *d, uint32_t blocks);

struct sp__drive_cache;

/* To be freed by free(); NULL: no memory. */
struct sp__drive_cache *sp__drive_cache_new(const struct sp__model *m);
void sp__drive_cache_serve(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t start_ns,
			   const struct sp__subreq *subreq, struct sp__service *s);
/* before_ns: time without movement before the request. */
uint64_t sp__drive_cache_position(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns,
				  uint64_t before_ns, const struct sp__subreq *subreq,
				  uint64_t limit_ns);
/*
 * True for a read of data that the cache has or is reading, and for a write that goes to its
 * buffer.
 */
bool sp__drive_cache_hits(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns,
			  const struct sp__subreq *subreq);
/* True if lbn continues a segment, or a block that its read-ahead can have reached by then. */
bool sp__drive_cache_expects(const struct sp__drive_cache *c, uint64_t lbn);
/* Returns when all written data is on the medium. */
uint64_t sp__drive_cache_drain(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns);
