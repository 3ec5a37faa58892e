/* SPDX-License-Identifier: MIT */
/*
 * Declares the rotating drive: the contents of a model file of kind "rotating", and the tracks of
 * its layout.
 *
 * The track map (trackmap.h) knows the blocks and the angle of each track; this header adds its
 * cylinder and head.  A span is a region of the track map in which these follow one formula.
 *
 * Time and angle: one revolution takes period_den / period_num nanoseconds, exactly.  The angle
 * under the heads at a time is computed from the time alone, and the time of an angle is rounded to
 * the nearest nanosecond.
 *
 * Thread rule: immutable once parsed.  Source: Shao 2008 ch. 2 (zones, skew, seek and settle);
 * layouts as on the drives that were characterised by Schlosser et al. and since.
 */
#pragma once

#include "dev/device.h"
#include "dev/trackmap.h"

/* The order of LBNs over the tracks of a zone. */
enum sp__lbn_layout {
	SP__LAYOUT_CYLINDER,		/* all heads of a cylinder, then the next cylinder */
	SP__LAYOUT_CYLINDER_SERPENTINE, /* like CYLINDER, heads backwards on every other cylinder */
	SP__LAYOUT_SURFACE_SERPENTINE,	/* a whole surface of the zone, back on the next one */
	SP__LAYOUT_HYBRID_SERPENTINE,	/* like SURFACE_SERPENTINE, in bands of cylinders */
};
extern const char *const sp__layout_names[]; /* in models and geometry files */

struct sp__seekpoint {
	uint32_t cylinders;
	uint64_t ns;
};

struct sp__seekcurve {
	size_t n;
	struct sp__seekpoint *points;
	uint32_t ntable;
	uint32_t *table; /* times over 0, 1, ... cylinders; UINT32_MAX: this or more */
	bool monotone;	 /* a longer seek never takes less time */
};

/* Skews are in 1/skew_den of a revolution. */
struct sp__zone {
	uint32_t first_cyl, last_cyl;
	uint32_t *spt;	     /* sectors per track, by head */
	uint32_t track_skew; /* to the next head of the same cylinder */
	uint32_t cyl_skew;   /* to the next cylinder */
	uint32_t band_skew;  /* to the next band */
	uint32_t start_skew; /* skew of the first track, from angle 0 */
	uint32_t skew_den;
	/*
	 * Sectors, counted from the zone's first in the order of block numbers: [first, sectors or
	 * 0 for one], [first, sectors, every or 0 for once], [first, to, sectors or 0 for one].
	 */
	size_t nslips, nspares, nremaps;
	uint64_t *slips, *spares, *remaps;
	size_t first_span; /* = region of the track map */
};

/* Blocks that are not in the sectors of their numbers. */
struct sp__remap {
	uint64_t lbn, sector;
	uint32_t blocks;
};

struct sp__span {
	uint32_t first_cyl; /* lowest */
	uint32_t cyls;
	uint32_t band;	/* serpentines: cylinders of a band */
	uint32_t head;	/* the first one */
	uint32_t heads; /* number of heads in use */
};

/* The end of read-ahead when another request needs the medium. */
enum sp__readahead_until {
	SP__UNTIL_REQUEST, /* it stops immediately */
	SP__UNTIL_TRACK,   /* it continues to the end of the present track */
	SP__UNTIL_END,	   /* it continues to its end */
};

/* The region that read-ahead never leaves. */
enum sp__readahead_within { SP__WITHIN_DRIVE, SP__WITHIN_CYLINDER, SP__WITHIN_TRACK };

struct sp__cache_config {
	unsigned segments; /* 0: the drive keeps no data */
	uint32_t segment_blocks;
	uint32_t readahead_blocks;
	enum sp__readahead_until readahead_until;
	enum sp__readahead_within readahead_within;
	bool readahead_streams;	 /* only after a read that continues at the end of a segment */
	bool readahead_misses;	 /* not after a cache hit */
	uint32_t write_blocks;	 /* write-behind buffer; 0: writes go to the medium */
	unsigned write_segments; /* separate extents in it; 0: no limit */
	bool keep_reads;	 /* read-ahead keeps the requested data in the segment */
	bool keep_passing;	 /* blocks that pass the head before it are kept too */
	bool keep_writes;	 /* written data stays in a segment */
	bool write_drops;	 /* a write empties the segments that it overlaps */
	uint64_t read_hit_ns, write_hit_ns;
};

/* Overheads of the drive when it serves a request. */
struct sp__overheads {
	bool any; /* one of begin_ns is not 0 */
	/* Before any movement: of a read, write; a miss, hit; after a read, write. */
	uint64_t begin_ns[2][2][2];
	uint64_t end_ns[2]; /* at the end: of a read, write */
};

struct sp__drive {
	enum sp__lbn_layout layout;
	bool descends; /* serpentines: the first head begins at the high cylinder */
	uint32_t surfaces, cylinders;
	uint32_t band_tracks; /* tracks of a band of the hybrid serpentine */
	uint64_t period_num, period_den;
	unsigned __int128 per_unit; /* 2^128 / period_den; see sp__drive_angle() */
	sp__angle slack;	    /* a target missed by at most this counts as reached */
	uint64_t head_switch_ns;
	int64_t write_settle_ns; /* can be negative, but the time of a move cannot */
	uint64_t bus_ps;	 /* per block, in 1e-12 s; 0: no limit */
	bool bus_apart[2];	 /* read, write: the bus transfers nothing while the medium does */
	bool bus_behind;	 /* slower than the medium, which writes blocks as they arrive */
	bool zero_latency[2];	 /* true if reads, or writes, have zero latency */
	struct sp__overheads overheads;
	struct sp__cache_config cache;
	struct sp__seekcurve seek[2]; /* seek curve of reads; of writes, without points if equal */
	size_t nzones;
	struct sp__zone *zones;
	size_t nspans;
	struct sp__span *spans;
	struct sp__trackmap *map;
	size_t nremaps;
	struct sp__remap *remaps; /* ascending */
};

extern const struct sp__device_ops sp__drive_ops;

/* Returns the drive of a model of kind "rotating"; NULL for other kinds. */
const struct sp__drive *sp__model_drive(const struct sp__model *m);

/*
 * Computes the stored values from period, seek points and zones, and builds spans and map.  Slips
 * are (cylinder, head, sector).  Returns 0, SP_EFORMAT or -ENOMEM.
 */
struct sp__slip {
	uint32_t cyl, head, sector;
};
SP_MUST_CHECK int sp__drive_build(struct sp__drive *d, const struct sp__slip *slips, size_t nslips,
				  struct sp_errinfo *err);
void sp__drive_free(void *drive); /* accepts NULL */

/* Return cylinder and head of a track, and the track of a cylinder and head (both inside). */
void sp__drive_where(const struct sp__drive *d, const struct sp__track *t, uint32_t *cyl,
		     uint32_t *head);
uint64_t sp__drive_track(const struct sp__drive *d, uint32_t cyl, uint32_t head);

/* Returns the time of a seek over this many cylinders; for a write without settling. */
uint64_t sp__drive_seek_ns(const struct sp__drive *d, uint32_t cylinders, bool write);
/*
 * Returns the time of a move: seek, head switch if there is one, and settling, before rotation
 * counts.
 */
uint64_t sp__drive_move_ns(const struct sp__drive *d, uint32_t cylinders, bool other_head,
			   bool write);
/* Returns the angle under the heads at a time. */
sp__angle sp__drive_angle(const struct sp__drive *d, uint64_t ns);
