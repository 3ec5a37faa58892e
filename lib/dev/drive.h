/* SPDX-License-Identifier: MIT */
/*
 * The rotating drive: the contents of a model file of kind "rotating", and where its
 * layout puts the tracks.
 *
 * The track map (trackmap.h) knows which blocks are on which track and at what
 * angle; this header adds cylinder and head of a track.  A span is a region of
 * the track map in which they follow one formula.
 *
 * Time and angle: one revolution takes period_den / period_num nanoseconds,
 * exactly.  The angle under the heads at a time is computed from the time
 * alone, and the time of an angle is rounded to the nearest nanosecond.
 *
 * Thread rule: immutable once parsed.
 * Source: Shao 2008 ch. 2 (zones, skew, seek and settle); layouts as on the
 * drives that were characterised by Schlosser et al. and since.
 */
#ifndef SP__DEV_DRIVE_H
#define SP__DEV_DRIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "dev/device.h"
#include "dev/trackmap.h"

/* How LBNs go through the tracks of a zone. */
enum sp__lbn_layout {
	SP__LAYOUT_CYLINDER,		/* all heads of a cylinder, then the next one */
	SP__LAYOUT_CYLINDER_SERPENTINE, /* the same, heads backwards on every other cylinder */
	SP__LAYOUT_SURFACE_SERPENTINE,	/* all of a surface of the zone, back on the next one */
	SP__LAYOUT_HYBRID_SERPENTINE,	/* the same by bands of some cylinders */
};
extern const char *const sp__layout_names[]; /* of these, in models and geometry files */

struct sp__seekpoint {
	uint32_t cylinders;
	uint64_t ns;
};

struct sp__seekcurve {
	size_t n;
	struct sp__seekpoint *points;
	uint32_t ntable;
	uint32_t *table; /* times over 0, 1, ... cylinders; UINT32_MAX: at least that */
	bool monotone;	 /* a longer seek never takes less time */
};

/* Skews are in 1/skew_den of a revolution. */
struct sp__zone {
	uint32_t first_cyl, last_cyl;
	uint32_t *spt;	     /* places on a track, for each head */
	uint32_t track_skew; /* to the next head of the same cylinder */
	uint32_t cyl_skew;   /* to the next cylinder */
	uint32_t band_skew;  /* to the next band */
	uint32_t start_skew; /* of the first track, from angle 0 */
	uint32_t skew_den;
	/*
	 * Sectors, counted from the zone's first in the order of block numbers: [first, sectors or
	 * 0 for one], [first, sectors, every or 0 for once], [first, to, sectors or 0 for one].
	 */
	size_t nslips, nspares, nremaps;
	uint64_t *slips, *spares, *remaps;
	size_t first_span; /* = region of the track map */
};

/* Blocks that are at other places than their numbers say. */
struct sp__remap {
	uint64_t lbn, place;
	uint32_t blocks;
};

struct sp__span {
	uint32_t first_cyl; /* lowest */
	uint32_t cyls;
	uint32_t band;	/* serpentines: cylinders of a band */
	uint32_t head;	/* the first */
	uint32_t heads; /* that take part */
};

/* What reading ahead does when the medium is wanted for something else. */
enum sp__readahead_until {
	SP__UNTIL_REQUEST, /* it stops */
	SP__UNTIL_TRACK,   /* it goes on to the end of the track that is under the head */
	SP__UNTIL_END,	   /* it goes on to its end */
};

/* Where reading ahead ends in any case. */
enum sp__readahead_within { SP__WITHIN_DRIVE, SP__WITHIN_CYLINDER, SP__WITHIN_TRACK };

struct sp__cache_config {
	unsigned segments; /* 0: the drive keeps no data */
	uint32_t segment_blocks;
	uint32_t readahead_blocks;
	enum sp__readahead_until readahead_until;
	enum sp__readahead_within readahead_within;
	bool readahead_streams;	 /* only after a read that goes on where a segment ends */
	bool readahead_misses;	 /* not after a read that the cache answers */
	uint32_t write_blocks;	 /* write-behind buffer; 0: writes go to the medium */
	unsigned write_segments; /* places in it that are not adjacent; 0: no limit */
	bool keep_reads;	 /* reading ahead leaves what was just read in the segment */
	bool keep_passing;	 /* and what passes the head before it is kept */
	bool keep_writes;	 /* what is written stays in a segment */
	bool write_drops;	 /* a write empties the segments that it meets */
	uint64_t read_hit_ns, write_hit_ns;
};

/* What the drive itself needs for a request, when it serves it. */
struct sp__overheads {
	bool any; /* before anything moves */
	/* Before anything moves: of a read, write; a miss, hit; after a read, write. */
	uint64_t begin_ns[2][2][2];
	uint64_t end_ns[2]; /* after all else: of a read, write */
};

struct sp__drive {
	enum sp__lbn_layout layout;
	bool descends; /* serpentines: the first head goes from the high cylinder down */
	uint32_t surfaces, cylinders;
	uint32_t band_tracks; /* of the hybrid serpentine */
	uint64_t period_num, period_den;
	unsigned __int128 per_unit; /* 2^128 / period_den; see sp__drive_angle() */
	sp__angle slack;	    /* a target missed by no more than this is not missed */
	uint64_t head_switch_ns;
	int64_t write_settle_ns; /* may be negative, but no move for a write is */
	uint64_t bus_ps;	 /* per block, in 1e-12 s; 0: no limit */
	bool bus_apart[2];	 /* read, write: it moves nothing while the medium does */
	bool bus_behind;	 /* slower than the medium, which writes as the blocks come */
	bool zero_latency[2];	 /* of reads, writes */
	struct sp__overheads overheads;
	struct sp__cache_config cache;
	struct sp__seekcurve seek[2]; /* of reads; of writes: without points if it is the same */
	size_t nzones;
	struct sp__zone *zones;
	size_t nspans;
	struct sp__span *spans;
	struct sp__trackmap *map;
	size_t nremaps;
	struct sp__remap *remaps; /* ascending */
};

extern const struct sp__device_ops sp__drive_ops;

/* The drive of a model of kind "rotating"; NULL for other kinds. */
const struct sp__drive *sp__model_drive(const struct sp__model *m);

/*
 * Works out from period, seek points and zones what is kept for speed, and
 * builds spans and map; slips are (cylinder, head, sector).  SP_EFORMAT, -ENOMEM.
 */
struct sp__slip {
	uint32_t cyl, head, sector;
};
SP_MUST_CHECK int sp__drive_build(struct sp__drive *d, const struct sp__slip *slips, size_t nslips,
				  struct sp_errinfo *err);
void sp__drive_free(struct sp__drive *d); /* accepts NULL */

/* Cylinder and head of a track, and the track of a cylinder and head (both inside). */
void sp__drive_where(const struct sp__drive *d, const struct sp__track *t, uint32_t *cyl,
		     uint32_t *head);
uint64_t sp__drive_track(const struct sp__drive *d, uint32_t cyl, uint32_t head);

/* Time of a seek over this many cylinders, for a write without what settling adds. */
uint64_t sp__drive_seek_ns(const struct sp__drive *d, uint32_t cylinders, bool write);
/* The same with settling, and a switch of heads if it is one: all before the platter counts. */
uint64_t sp__drive_move_ns(const struct sp__drive *d, uint32_t cylinders, bool other_head,
			   bool write);
/* The angle under the heads. */
sp__angle sp__drive_angle(const struct sp__drive *d, uint64_t ns);

#endif
