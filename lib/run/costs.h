/* SPDX-License-Identifier: MIT */
/*
 * What a run costs where it will take place, as far as that is known before it begins: the
 * mechanics of the device at the place of its data, and on a simulated machine the computation
 * and the files that lie on it.  Pure: nothing is opened or measured.
 */
#ifndef SP__RUN_COSTS_H
#define SP__RUN_COSTS_H

#include <stdbool.h>
#include <stdint.h>
#include <spindle/run.h>

struct sp__costs {
	const struct sp_geometry *geometry; /* NULL: unknown */
	unsigned drives;     /* of an array, or channels; all else is that of one of them */
	unsigned mirrors;    /* arms that read for one drive: 2 of mirrored pairs */
	double stripe_bytes; /* on each of them */
	bool tracks;	     /* it has some: positioning depends on the places */
	double begin;	     /* first byte of the data */
	double byte_s;	     /* transfer in sequence, with changes of tracks */
	double write_byte_s; /* the same of a write */
	double run_byte_s, run_write_byte_s; /* the same of runs, which may be placed */
	double seek_s;			     /* without tracks: of each request not in sequence */
	double turn_s;			     /* a revolution; 0 without tracks */
	double overhead_s[2];		     /* of a request issued by itself: read, write */
	double settle_s;		     /* of a write, more than of a read */
	double bytes_on_track;
	double row_bytes, program_s; /* of flash: what one of drives programs at once; else 0 */
	/* Of the simulated drive: */
	double merge_bytes;  /* neighbouring requests that wait are merged up to this */
	double bus_byte_s;   /* transfer over its bus; */
	bool bus_apart[2];   /* for reads and writes: the medium stands meanwhile */
	unsigned window;     /* requests that it holds at once */
	bool sorts;	     /* it takes the nearest of them */
	bool ahead;	     /* it reads ahead into a cache */
	double behind_bytes; /* of writes that it keeps, */
	bool behind_sorts;   /* and brings to the medium in its own order */
	bool misses;	     /* a read ends after the block behind it has passed the head */
	/* Of a simulated machine; else false and 0. */
	bool simulated, in, out; /* in, out: the tool's own files lie on it */
	double compare_s, record_s, copy_s, request_s;
};

/* The cost of a read in two numbers, t and s of Zhang & Larson, for planners (device.c). */
struct sp__device_costs {
	double transfer_s_per_mib, seek_s;
	bool path; /* the data lies along the semi-sequential path, and seek_s is that of a hop */
	double away_s; /* with a path: of leaving it for a write and returning */
};
#define SP__DEVICE_TRANSFER_S_PER_MIB 0.0005 /* of a device without a geometry */
/* geometry: NULL: an assumed flash drive.  semiseq: the data is placed along the path. */
struct sp__device_costs sp__device_costs(const struct sp_geometry *geometry, bool semiseq);
/* The largest page of which that many lie on the first track, from 4 KiB to SP__DEVICE_PAGE_MAX. */
uint32_t sp__device_page(const struct sp_geometry *geometry, unsigned pages);
#define SP__DEVICE_PAGE_MAX (1u << 20)
#define SP__DEVICE_PAGES 10 /* on a track: little of it is left unused */

/* at, bytes: where the data lies.  0, or the error of a specification that is wrong. */
SP_MUST_CHECK int sp__costs(struct sp__costs *c, const struct sp_run_opts *o, uint64_t at,
			    struct sp_errinfo *err);

/* Streams of the tool's files and of runs move chunks of so many: on flash each has a latency. */
void sp__costs_chunks(struct sp__costs *c, double chunk_bytes, double run_chunk_bytes);

/*
 * Each run has as many whole pages as fit on each step-th track; step is at least 1.
 */
void sp__costs_place(struct sp__costs *c, uint32_t page_bytes, unsigned step);

/* Of going this far, if nothing is known of the angles: half a turn to wait. */
double sp__costs_hop(const struct sp__costs *c, double bytes, bool write);

/*
 * How many arms are at work while so many pieces are outstanding, each of so many bytes in requests
 * of so many.
 */
double sp__costs_arms(const struct sp__costs *c, double bytes, double request_bytes, double pieces);
/* On how many drives each piece lies. */
double sp__costs_spread(const struct sp__costs *c, double bytes, double request_bytes);
/* Does a drive have no other stripe of a stream to go on to, as too little is outstanding? */
bool sp__costs_interrupted(const struct sp__costs *c, double outstanding_bytes,
			   double request_bytes);

/*
 * Of a byte in sequence, of which one takes a drive byte_s, if so many are outstanding.  A drive
 * that gets its next stripe when the one before has passed loses turns.
 */
double sp__costs_stream_s(const struct sp__costs *c, bool write, double byte_s,
			  double outstanding_bytes, double request_bytes);

/* Places between which the arm goes: about as far from the begin of any two of some runs. */
struct sp__sites {
	double run_bytes; /* of each, one behind the other */
	unsigned runs;
	double piece_bytes; /* what is read or written at a place */
};

/*
 * Mean time from the end of a piece to the begin of one in another run, to the nearest of among
 * (>= 1) such pieces if the drive sorts them.
 */
double sp__costs_jump(const struct sp__costs *c, const struct sp__sites *p, bool write,
		      double among);

#endif
