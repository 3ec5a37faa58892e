/* SPDX-License-Identifier: MIT */
/*
 * The moving parts of a rotating drive, shared by its mechanics (drive.c), its
 * cache (drive_cache.c) and the table of device hooks (drive_ops.c).
 */
#ifndef SP__DEV_DRIVE_IMPL_H
#define SP__DEV_DRIVE_IMPL_H

#include "dev/drive.h"
#include "dev/model_json.h"

struct sp__arm {
	uint32_t cyl, head;
	uint64_t begin_ns; /* when the first place of the last request came */
	uint64_t wait_ns;  /* how long the platter had turned for it */
	uint64_t free_ns;  /* until then the medium is in use */
};

#define SP__CYLINDERS_MAX 10000000
#define SP__WRITE_SEGMENTS_MAX 128

/* Zone i of the model file, after those before it. 0, SP_EFORMAT or -ENOMEM. */
SP_MUST_CHECK int sp__zone_parse(struct sp__jobj *top, struct sp__drive *d, size_t i,
				 const json_t *v);
/*
 * drive_sectors.c: the places that have no block number, ascending, from slips and from what the
 * zones say; needs the map without them.  And what is remapped; needs the map with them.
 */
SP_MUST_CHECK int sp__drive_unused(const struct sp__drive *d, const struct sp__slip *slips,
				   size_t nslips, uint64_t **places, size_t *n,
				   struct sp_errinfo *err);
SP_MUST_CHECK int sp__drive_remap(struct sp__drive *d, const struct sp__slip *slips, size_t nslips,
				  struct sp_errinfo *err);
/* What is kept for speed: of period, seek points and cylinders. 0 or -ENOMEM. */
SP_MUST_CHECK int sp__drive_prepare(struct sp__drive *d);
/* Where a piece begins: what place is to hold. */
void sp__drive_place(const struct sp__drive *d, uint64_t lbn, uint32_t blocks,
		     struct sp__trackpos *place);
/* Moves the blocks of a piece past the head from start_ns on; adds to s and sets done_ns. */
void sp__drive_media(const struct sp__drive *d, struct sp__arm *arm, uint64_t start_ns,
		     const struct sp__piece *piece, bool zero_latency, struct sp__service *s);
/* The same with the bus: a request that no cache has to do with. */
void sp__drive_direct(const struct sp__drive *d, struct sp__arm *arm, uint64_t start_ns,
		      const struct sp__piece *piece, struct sp__service *s);
/* Time on the first track that is not transfer: the key of SPTF; or anything above limit_ns. */
uint64_t sp__drive_reach_ns(const struct sp__drive *d, const struct sp__arm *arm, uint64_t now_ns,
			    const struct sp__piece *piece, uint64_t limit_ns);
/* The same for a request whose blocks must come over the bus first. */
uint64_t sp__drive_near_ns(const struct sp__drive *d, const struct sp__arm *arm, uint64_t now_ns,
			   const struct sp__piece *piece, uint64_t limit_ns);
/* The first of the blocks before lbn that pass the head within wait_ns before it, on its track. */
uint64_t sp__drive_passing(const struct sp__drive *d, uint64_t lbn, uint64_t wait_ns);
uint64_t sp__drive_bus_ns(const struct sp__drive *d, uint32_t blocks);
/* What the bus needs when the last of so many blocks has been read. */
uint64_t sp__drive_tail_ns(const struct sp__drive *d, uint32_t blocks);
/* What it needs before the first of them can be written. */
uint64_t sp__drive_head_ns(const struct sp__drive *d, uint32_t blocks);

struct sp__drive_cache;

/* Freed by free(); NULL if there is no memory. */
struct sp__drive_cache *sp__drive_cache_new(const struct sp__model *m);
void sp__drive_cache_serve(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t start_ns,
			   const struct sp__piece *piece, struct sp__service *s);
/* before_ns: how long nothing moves for it. */
uint64_t sp__drive_cache_position(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns,
				  uint64_t before_ns, const struct sp__piece *piece,
				  uint64_t limit_ns);
/* Is it a read of what the cache has, or is reading, or a write that goes to its buffer? */
bool sp__drive_cache_hits(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns,
			  const struct sp__piece *piece);
/* drive_bounds.c: of the hook; c NULL: there is no cache. */
void sp__drive_bounds(const struct sp__drive *d, struct sp__drive_cache *c, struct sp__arm *arm,
		      uint64_t now_ns, const struct sp__bucket *bucket, unsigned n, unsigned shift,
		      uint64_t *bound);
/* Does lbn go on where a segment or its read-ahead may have got by then? */
bool sp__drive_cache_expects(const struct sp__drive_cache *c, uint64_t lbn);
/* When all that was written is on the medium. */
uint64_t sp__drive_cache_drain(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns);

#endif
