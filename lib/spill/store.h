/* SPDX-License-Identifier: MIT */
/*
 * The spill store: temporary files in which runs live.
 *
 * Runs go round robin over the directories.  The files have no names, so the
 * system frees them however the process ends.  Each is opened when its first run
 * comes: small sorts never pay for it, and few runs need few descriptors.  The store, its writers
 * and its page pools belong to one thread at a time.
 *
 * Where runs are placed by the tracks of a device and many are written at a time, writes
 * can be gathered: they wait until the device has nothing to do and there are enough of
 * them, or somebody waits for one; then all go as one batch in the order of their places
 * (Shao 2008, section 6.3.1).
 */
#ifndef SP__SPILL_STORE_H
#define SP__SPILL_STORE_H

#include <spindle/geometry.h>
#include <spindle/spill.h>
#include "base/mem.h"
#include "io/queue.h"
#include "spill/place.h"
#include "spill/run.h"
#include "spill/space.h"

struct sp__spill_opts {
	const char *const *dirs;
	size_t ndirs;
	const char *engine;
	enum sp__direct direct;
	uint32_t page_bytes;
	int recycle_level; /* pages of runs up to this level are used again; -1: none */
	enum sp_spill_compression codec;
	bool pack_beside;    /* in a thread of its own while the writer goes on */
	const char *program; /* NULL; else runs are files of their own, behind it (filterrun.h) */
	unsigned depth;
	void *pool; /* memory all requests use (registered), or NULL */
	size_t pool_bytes;
	struct sp__budget *budget;
	struct sp__trace *trace;
	/*
	 * Many runs are written at a time: long ones take space ahead, a sixteenth of what
	 * they have, else each of their chunks would be an extent.
	 */
	bool ahead;
	struct sp__machine *machine; /* the files lie on it; or NULL */
	bool apart;	   /* on a machine: each run is a file of its own, until it ends */
	const char *block; /* a block device instead of files; or NULL */
	/* Where runs come to lie on the one volume of a machine or a block device: */
	enum sp_placement placement;
	const struct sp_geometry *geometry;
	uint64_t runs;		  /* expected; 0: unknown */
	enum sp_geometry_op hops; /* what goes along the path: merge reads, or partition writes */
	struct sp_errinfo *err;
};

/* What waits for a completion: found through the request's tag. */
struct sp__io_owner {
	void (*completed)(struct sp__io_owner *owner, struct sp__request *req);
};

struct sp__spill {
	struct sp__spill_opts opts;
	uint32_t unit_bytes;
	struct sp__volume **files; /* NULL: not open; one for each directory, then the same */
	struct sp__space *space;   /* once more for those of sp__spill_go_direct() */
	struct sp__place *place;   /* on the first of files, instead of space; or NULL */
	unsigned *users;	   /* runs in a file, where they are apart */
	size_t nfiles, next_file;
	size_t first_file;	     /* of those that runs now go to */
	struct sp__queue *queue;     /* NULL with a program, and once broken */
	unsigned group_shift;	     /* of runs to be written: see run.h */
	int broken;		     /* the queue's failure; nothing is outstanding */
	struct sp__io_counters past; /* through pipes, or queues that are closed */
	bool reader;		     /* see sp__spill_reader_open() */
	uint64_t read_bytes, write_bytes, peak_bytes_now, peak_bytes;
	int program_error; /* errno of a program that could not be run; 0: it could */
	uint64_t cluster_reads, demand_reads;
	size_t outstanding;	  /* requests with the queue */
	size_t gather;		  /* so many writes are worth a batch; 0: they do not wait */
	struct sp__stop *waiting; /* gathered */
	struct sp__request **batch;
	size_t nwaiting, waiting_cap;
};

int sp__spill_open(struct sp__spill **spill, const struct sp__spill_opts *opts);
void sp__spill_close(struct sp__spill *spill); /* accepts NULL */
/*
 * Another way into a store from which no more will be written, for a thread of its own that reads
 * some of the runs: a queue and counts of its own; files and runs are the store's, which must
 * outlive it, and space is not given back.  Not for stores with a program or with placement.
 * Errors are told in err.  sp__spill_reader_close() adds what was read to the store's counts.
 */
SP_MUST_CHECK int sp__spill_reader_open(struct sp__spill **reader, const struct sp__spill *store,
					struct sp_errinfo *err);
void sp__spill_reader_close(struct sp__spill *reader, struct sp__spill *store);
/* All requests so far. */
void sp__spill_counters(const struct sp__spill *spill, struct sp__io_counters *counters);
/*
 * From now on runs go to further files, which pass the page cache by.  Those
 * written before stay where they are.
 */
void sp__spill_go_direct(struct sp__spill *spill);
/*
 * The file that the next run goes to, which is opened if it is not open yet; where
 * there are no more descriptors, one that is open.  Its number, or an error.
 */
SP_MUST_CHECK int sp__spill_next_file(struct sp__spill *spill);
uint64_t sp__spill_recycled_bytes(const struct sp__spill *spill);

/* On a simulated machine: the contents of all files are not wanted any more. */
void sp__spill_forget(struct sp__spill *spill);
/* A run that was begun will not be read any more; where runs are apart its file goes. */
void sp__spill_end_run(struct sp__spill *spill, const struct sp__run *run);

/* Submits, with the owner as tag. */
int sp__spill_submit(struct sp__spill *s, struct sp__io_owner *owner, struct sp__request **reqs,
		     size_t n);
/*
 * From now on writes are gathered, where runs are placed by tracks: n of them are worth a
 * batch.  0: no more; none may be waiting.
 */
void sp__spill_gather(struct sp__spill *s, size_t n);
/*
 * A write of one page, the unit of that number, to be gathered; it counts as submitted.
 * An error: it is not.
 */
SP_MUST_CHECK int sp__spill_put_off(struct sp__spill *s, struct sp__io_owner *owner,
				    struct sp__request *req, uint64_t unit);
/*
 * Reaps at least min completions (0: what there is) and tells their owners.
 * After an error nothing is outstanding, and no owner hears of what was.
 */
int sp__spill_reap(struct sp__spill *s, size_t min);

/* Fills volume and offset of a request for units of a run from unit on. */
void sp__spill_locate(const struct sp__spill *s, const struct sp__run *run, uint64_t unit,
		      struct sp__request *req);

/* Units of a run from unit on that lie in one piece of the volume, at most want; at least 1. */
uint32_t sp__spill_piece(const struct sp__spill *s, const struct sp__run *run, uint64_t unit,
			 uint32_t want);

/* Takes units for the run, in one piece of the volume: how many. */
int sp__spill_take(struct sp__spill *s, struct sp__run *run, uint32_t file, uint32_t want,
		   uint32_t *got);
/* A run has been written: what it took ahead serves others. */
void sp__spill_give_spare(struct sp__spill *s, struct sp__run *run);
/* The number of a unit of the run in the store's one volume, for sp__place_order(). */
uint64_t sp__spill_unit(const struct sp__run *run, uint64_t unit);

/* A page of the run has been read: its space may serve again. */
void sp__spill_give_page(struct sp__spill *s, const struct sp__run *run, size_t page);

/* How many bytes of a page are stored, and in how many units. */
uint32_t sp__spill_page_units(const struct sp__spill *s, const struct sp__run *run, size_t page);
uint32_t sp__spill_page_stored(const struct sp__spill *s, const struct sp__run *run, size_t page);
/* Bytes of a page's payload: all full but the last. */
uint32_t sp__spill_page_payload(const struct sp__spill *s, const struct sp__run *run, size_t page);

#endif
