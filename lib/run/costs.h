/* SPDX-License-Identifier: MIT */
/*
 * Predicts the costs of a run before it begins.
 *
 * The costs follow from the mechanics of the device at the location of its data and, on a simulated
 * machine, from the computation and from the files that it stores.  The functions neither open nor
 * measure the device.
 */
#pragma once

#include <spindle/run.h>

struct sp__costs {
	const struct sp_geometry *geometry; /* NULL: unknown */
	unsigned drives;     /* of an array, or channels; other members describe one */
	unsigned mirrors;    /* drives with the same data: 2 for mirrored pairs */
	double stripe_bytes; /* on each drive */
	bool tracks;	     /* the geometry has tracks: positioning depends on locations */
	double begin;	     /* first byte of the data */
	double byte_s;	     /* sequential transfer, track changes included */
	double write_byte_s; /* sequential transfer of a write */
	double run_byte_s, run_write_byte_s; /* of runs, which can be placed */
	double seek_s;	      /* without tracks: per request that is not sequential */
	double rev_s;	      /* one revolution; 0 without tracks */
	double overhead_s[2]; /* of a single request: read, write */
	double settle_s;      /* of a write, in excess of a read */
	double bytes_on_track;
	double row_bytes, program_s; /* of flash: programmed together by a channel; else 0 */
	/* The simulated drive: */
	double merge_bytes;  /* maximum size of merged neighbouring requests */
	double bus_byte_s;   /* transfer over its bus */
	bool bus_apart[2];   /* for reads and writes: the medium waits during it */
	unsigned window;     /* requests that the drive holds */
	bool sorts;	     /* serves the nearest of them */
	bool ahead;	     /* reads ahead into a cache */
	double behind_bytes; /* size of the write buffer */
	bool behind_sorts;   /* writes the buffer in its own order */
	bool misses;	     /* a read ends after the next block has passed the head */
	/* The simulated machine; else false and 0. */
	bool simulated, in, out; /* in, out: it stores these files of the tool */
	double compare_s, record_s, copy_s, request_s;
};

/* The cost of a read in two numbers, t and s of Zhang & Larson, for planners (device.c). */
struct sp__device_costs {
	double transfer_s_per_mib, seek_s;
	bool path;     /* the data is placed along the semi-sequential path, and seek_s is a hop */
	double away_s; /* with a path: the time to leave it for a write and return */
};
#define SP__DEVICE_TRANSFER_S_PER_MIB 0.0005 /* without a geometry */
/* geometry: NULL: a flash drive is assumed. semiseq: the data is placed along the path. */
struct sp__device_costs sp__device_costs(const struct sp_geometry *geometry, bool semiseq);
/*
 * Returns the largest page, from 4 KiB to SP__DEVICE_PAGE_MAX, of which `pages` fit on the first
 * track.
 */
uint32_t sp__device_page(const struct sp_geometry *geometry, unsigned pages);
#define SP__DEVICE_PAGE_MAX (1u << 20)
#define SP__DEVICE_PAGES 10 /* per track: only a small part of it is unused */

/* at: offset of the data on the device.  Returns 0, or the error of a wrong specification. */
SP_MUST_CHECK int sp__costs(struct sp__costs *c, const struct sp_run_opts *o, uint64_t at,
			    struct sp_errinfo *err);

/* Sets the chunk sizes of the tool's files and of runs: on flash each chunk has a latency. */
void sp__costs_chunks(struct sp__costs *c, double chunk_bytes, double run_chunk_bytes);

/* Places runs: as many whole pages as fit on each step-th track; step is at least 1. */
void sp__costs_place(struct sp__costs *c, uint32_t page_bytes, unsigned step);

/*
 * Returns the time of a hop of this many bytes to an unknown angle: half a revolution of latency.
 */
double sp__costs_hop(const struct sp__costs *c, double bytes, bool write);

/*
 * Returns how many arms work while this many extents are outstanding, each of `bytes` in requests
 * of request_bytes.
 */
double sp__costs_arms(const struct sp__costs *c, double bytes, double request_bytes, double pieces);
/* Returns over how many drives each extent is spread. */
double sp__costs_spread(const struct sp__costs *c, double bytes, double request_bytes);
/*
 * True if the outstanding bytes leave a drive without another stripe of a stream to continue
 * with.
 */
bool sp__costs_interrupted(const struct sp__costs *c, double outstanding_bytes,
			   double request_bytes);

/*
 * Returns the time per sequential byte of a stream, if a drive takes byte_s.  A drive that gets its
 * next stripe after it has passed the head loses revolutions.
 */
double sp__costs_stream_s(const struct sp__costs *c, bool write, double byte_s,
			  double outstanding_bytes, double request_bytes);

/*
 * Locations between which the arm moves: at about the same distance from the start of two of
 * several runs.
 */
struct sp__sites {
	double run_bytes; /* of each; runs are consecutive */
	unsigned runs;
	double piece_bytes; /* bytes read or written at a location */
};

/*
 * Returns the mean time from the end of one access to the start of the next, in another run.  If
 * the drive reorders requests, the next one is the nearest of `among` (>= 1).
 */
double sp__costs_jump(const struct sp__costs *c, const struct sp__sites *p, bool write,
		      double among);
