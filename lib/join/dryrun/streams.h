/* SPDX-License-Identifier: MIT */
/*
 * Simulates the streams of a join that is only predicted, without data, on a simulated machine.
 *
 * They submit the requests that spill/chunkread.c, spill/writer.c, io/rstream.c and io/wstream.c
 * would submit, in the same rings of chunks, and wait for them at the same points.  Space is
 * allocated as in the store.
 *
 * The first error is kept, and nothing is submitted after it.
 */
#pragma once

#include "base/mem.h"
#include "sim/machine.h"
#include "spill/run.h"
#include "spill/space.h"

#define SP__DRY_CHUNKS 3
/*
 * Maximum work of a dry run: about 1 s, with a file system up to 3 s.  A record is 1 unit, about 50
 * ns.  A page cache, a file system or an array handles each 4 KiB block of a request.
 */
#define SP__DRY_WORK_MAX 20000000
#define SP__DRY_WORK_REQUEST 32
#define SP__DRY_WORK_PAGE 2

struct sp__drymachine {
	struct sp__machine *machine;
	struct sp__budget budget; /* charged for the descriptors of runs */
	struct sp__space space;	  /* of temporary data, unless each run is a file */
	int spill;		  /* its file; -1: none yet */
	int error;
	uint64_t work; /* so far */
};

/* A run, or a file of the join; run->extents describes its units. */
struct sp__dryfile {
	struct sp__run *run;
	struct sp__space *space; /* that holds the file; NULL: its own */
	struct sp__space own;
	int file; /* number on the machine; -1: takes no time */
	uint32_t unit_bytes;
	uint64_t bytes, records;
};

struct sp__drywrite {
	struct sp__drymachine *r;
	struct sp__dryfile *to;
	uint32_t chunk_units;
	unsigned nchunks, now;
	unsigned busy[SP__DRY_CHUNKS]; /* outstanding per chunk */
	struct sp__simreq *requests;   /* chunk_units per chunk */
	uint64_t filled;	       /* of the current chunk */
};

struct sp__dryread {
	struct sp__drymachine *r;
	struct sp__dryfile *from;
	bool last_time; /* releases the space after reading */
	uint32_t chunk_units;
	unsigned head;
	bool begun, pinned;
	uint64_t asked; /* units */
	struct {
		struct sp__simreq request;
		unsigned busy;
		uint64_t first, units; /* of the run; 0: at its end */
	} chunks[SP__DRY_CHUNKS];
};

SP_MUST_CHECK int sp__drymachine_open(struct sp__drymachine *r, const struct sp__machine_spec *spec,
				      struct sp_errinfo *err);
void sp__drymachine_close(struct sp__drymachine *r);
/* Adds work; sets the error -E2BIG once the maximum is exceeded. */
void sp__drymachine_work(struct sp__drymachine *r, uint64_t work);
/* Discards temporary data and writes the other dirty data. */
void sp__drymachine_sync(struct sp__drymachine *r);

/* Makes an input of `bytes` bytes, of which the first read_bytes are read. */
void sp__dryfile_input(struct sp__drymachine *r, struct sp__dryfile *f, bool on_machine,
		       uint64_t bytes, uint64_t read_bytes);
/* Makes the file of the result. */
void sp__dryfile_result(struct sp__drymachine *r, struct sp__dryfile *f, bool on_machine);
/* Makes a new run in temporary space. */
void sp__dryfile_run(struct sp__drymachine *r, struct sp__dryfile *run, uint32_t page_bytes);
/* Releases a file; accepts a zeroed one. */
void sp__dryfile_end(struct sp__drymachine *r, struct sp__dryfile *run);

void sp__drywrite_open(struct sp__drymachine *r, struct sp__drywrite *w, struct sp__dryfile *to,
		       uint64_t chunk_bytes, unsigned nchunks);
void sp__drywrite_put(struct sp__drywrite *w, uint64_t bytes);
/* Submits the rest.  With several writers all end before the first finishes, which waits. */
void sp__drywrite_end(struct sp__drywrite *w);
void sp__drywrite_finish(struct sp__drywrite *w);

void sp__dryread_open(struct sp__drymachine *r, struct sp__dryread *read, struct sp__dryfile *from,
		      uint64_t chunk_bytes, bool last_time);
/* Waits for the next chunk and returns its bytes; 0: the end, or an error. */
uint64_t sp__dryread_next(struct sp__dryread *read);
/* Skips the rest: waits for outstanding requests; the last reader releases the space. */
void sp__dryread_stop(struct sp__dryread *read);
