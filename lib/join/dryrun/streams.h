/* SPDX-License-Identifier: MIT */
/*
 * Streams without bytes on a simulated machine: what is read and written by a join that is only
 * predicted.  They make the requests that runread.c, spill/writer.c, io/rstream.c and io/wstream.c
 * would make, in the same rings of chunks, and wait for them at the same places; space is given
 * out as the store does.
 *
 * The first error is kept, and nothing is submitted after it.
 */
#ifndef SP__JOIN_DRYRUN_STREAMS_H
#define SP__JOIN_DRYRUN_STREAMS_H

#include "base/mem.h"
#include "sim/machine.h"
#include "spill/run.h"
#include "spill/space.h"

#define SP__DRY_CHUNKS 3
/*
 * Work of a dry run: about a second, with a file system up to three.  That of a record is 1: some
 * 50 ns.  A page cache, a file system or an array looks at each block of 4 KB of a request.
 */
#define SP__DRY_WORK_MAX 20000000
#define SP__DRY_WORK_REQUEST 32
#define SP__DRY_WORK_PAGE 2

struct sp__drymachine {
	struct sp__machine *machine;
	struct sp__budget budget; /* counts what describes runs */
	struct sp__space space;	  /* of temporary data, unless each run is a file */
	int spill;		  /* its file; -1: none yet */
	int error;
	uint64_t work; /* so far */
};

/* A run, or a file of the tool; its units are known as run->extents. */
struct sp__dryfile {
	struct sp__run *run;
	struct sp__space *space; /* in which it lies; NULL: its own */
	struct sp__space own;
	int file; /* of the machine; -1: it takes no time */
	uint32_t unit_bytes;
	uint64_t bytes, records;
};

struct sp__drywrite {
	struct sp__drymachine *r;
	struct sp__dryfile *to;
	uint32_t chunk_units;
	unsigned nchunks, now;
	unsigned busy[SP__DRY_CHUNKS]; /* requests of each chunk */
	struct sp__simreq *requests;   /* chunk_units of each */
	uint64_t filled;	       /* bytes of the chunk now */
};

struct sp__dryread {
	struct sp__drymachine *r;
	struct sp__dryfile *from;
	bool last_time; /* space is free again once it is read */
	uint32_t chunk_units;
	unsigned head;
	bool begun, pinned;
	uint64_t asked; /* units */
	struct {
		struct sp__simreq request;
		unsigned busy;
		uint64_t first, units; /* of the run; 0: it is at its end */
	} chunks[SP__DRY_CHUNKS];
};

SP_MUST_CHECK int sp__drymachine_open(struct sp__drymachine *r, const struct sp__machine_spec *spec,
				      struct sp_errinfo *err);
void sp__drymachine_close(struct sp__drymachine *r);
/* Counts work; -E2BIG is the error once it is more than the maximum. */
void sp__drymachine_work(struct sp__drymachine *r, uint64_t work);
/* Discards temporary data, and writes the rest. */
void sp__drymachine_sync(struct sp__drymachine *r);

/* An input of bytes, of which the first read_bytes are read. */
void sp__dryfile_input(struct sp__drymachine *r, struct sp__dryfile *f, bool on_machine,
		       uint64_t bytes, uint64_t read_bytes);
/* The result. */
void sp__dryfile_result(struct sp__drymachine *r, struct sp__dryfile *f, bool on_machine);
/* A new run in temporary space. */
void sp__dryfile_run(struct sp__drymachine *r, struct sp__dryfile *run, uint32_t page_bytes);
/* It is not needed any more; accepts one that is all 0. */
void sp__dryfile_end(struct sp__drymachine *r, struct sp__dryfile *run);

void sp__drywrite_open(struct sp__drymachine *r, struct sp__drywrite *w, struct sp__dryfile *to,
		       uint64_t chunk_bytes, unsigned nchunks);
void sp__drywrite_put(struct sp__drywrite *w, uint64_t bytes);
/* Submits the rest; of several end all before finishing the first, which waits. */
void sp__drywrite_end(struct sp__drywrite *w);
void sp__drywrite_finish(struct sp__drywrite *w);

void sp__dryread_open(struct sp__drymachine *r, struct sp__dryread *read, struct sp__dryfile *from,
		      uint64_t chunk_bytes, bool last_time);
/* The bytes of the next chunk, once they are there; 0: the end, or an error. */
uint64_t sp__dryread_next(struct sp__dryread *read);
/* The rest is not read: waits for what was asked for; the last time its space is free again. */
void sp__dryread_stop(struct sp__dryread *read);

#endif
