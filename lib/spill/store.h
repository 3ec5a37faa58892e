/* SPDX-License-Identifier: MIT */
/*
 * Stores runs in temporary files.
 *
 * Runs are distributed round-robin over the directories.  The files have no names, so the system
 * frees them however the process ends.  Each is opened for its first run.
 *
 * Thread rule: the store, its writers and its page pools belong to one thread at a time.
 *
 * If runs are placed by the tracks of a device and many are written concurrently, writes can be
 * gathered.  They wait until the device is idle and there are enough of them, or until a caller
 * waits for one.  Then all go as one batch in the order of their offsets along the path (Shao 2008,
 * section 6.3.1).
 */
#pragma once

#include "base/mem.h"
#include "io/queue.h"
#include "spill/place.h"
#include "spill/space.h"

struct sp__spill_opts {
	const char *const *dirs;
	size_t ndirs;
	const char *engine;
	enum sp__direct direct;
	uint32_t page_bytes;
	int recycle_level; /* space of runs up to this level is reused; -1: none */
	enum sp_spill_compression codec;
	bool pack_beside;    /* in a thread of its own while the writer continues */
	const char *program; /* NULL; else each run is a file written by it (writer.h) */
	unsigned depth;
	void *pool; /* memory that all requests use (registered), or NULL */
	size_t pool_bytes;
	struct sp__budget *budget;
	struct sp__trace *trace;
	/*
	 * Many runs are written concurrently: long ones allocate a sixteenth of their length ahead,
	 * otherwise each of their chunks would be an extent.
	 */
	bool ahead;
	/*
	 * Several threads write runs, each to a store of its own, which one of them absorbs later.
	 * They begin at different directories.
	 */
	unsigned number;
	const struct sp__volume *device; /* simulated: the files are stored on it; or NULL */
	/*
	 * A dry run: requests take their time on the device, but move no bytes.  No file is opened,
	 * pages have no checksums, and readers get no data.
	 */
	bool hollow;
	enum sp__sim_area area; /* area of a hollow store's files */
	uint64_t file_bytes;	/* their length at first; 0: they grow */
	bool apart;		/* on the device each run is a file of its own, until it ends */
	const char *block;	/* a block device instead of files; or NULL */
	/*
	 * Not NULL: the only file of the store has a name, kept_name, in this directory, and
	 * outlives the store.  Runs are appended from `kept_bytes` on, and nothing is reused.
	 */
	const struct sp__owndir *kept;
	const char *kept_name;
	uint64_t kept_bytes;
	/* Location of runs on a simulated or a block device: */
	enum sp_placement placement;
	const struct sp_geometry *geometry;
	uint64_t runs;		  /* expected; 0: unknown */
	enum sp_geometry_op hops; /* requests along the path: merge reads, or partition writes */
	struct sp_errinfo *err;
};

struct sp__spill_file {
	struct sp__volume *volume; /* NULL: not open */
	struct sp__space space;
	unsigned users;		 /* runs in it, if each run has a file of its own */
	uint64_t reserved_bytes; /* end of the reserved space, see store.c */
};

/* Writes whose device time is known (submit.c). */
struct sp__spill_timing {
	uint64_t ns, bytes;
	uint64_t last_ns; /* end of the requests reaped last, */
	bool exact;	  /* ... known exactly: a thread waited for them */
};

struct sp__spill {
	struct sp__spill_opts opts;
	uint32_t unit_bytes;
	struct sp__spill_file *files; /* one for each directory, then as many for go_direct() */
	struct sp__place *place;      /* on the first file, instead of its space; or NULL */
	size_t nfiles, next_file;
	size_t first_file;	     /* first file for new runs */
	struct sp__queue *queue;     /* NULL with a program, and after a failure */
	const char *engine;	     /* engine of other threads' requests; NULL: there were none */
	unsigned group_shift;	     /* group size of later runs: see run.h */
	int broken;		     /* the queue's failure; nothing is outstanding */
	struct sp__io_counters past; /* through pipes, or queues that are closed */
	bool reader;		     /* see sp__spill_reader_open() */
	uint64_t read_bytes, write_bytes, peak_bytes_now, peak_bytes;
	int program_error; /* errno of a program that could not be run; 0: none */
	uint64_t cluster_reads, demand_reads;
	struct sp__spill_timing timing;
	size_t outstanding;	  /* requests in the queue */
	size_t gather;		  /* number of writes worth a batch; 0: writes do not wait */
	struct sp__stop *waiting; /* gathered writes */
	struct sp__request **batch;
	size_t nwaiting, waiting_cap;
};

int sp__spill_open(struct sp__spill **spill, const struct sp__spill_opts *opts);
void sp__spill_close(struct sp__spill *spill); /* accepts NULL */
/*
 * Opens a second view of a store that is no longer written, for another thread that reads runs.
 * The view has its own queue and counters.  Files and runs belong to the store, which must outlive
 * the view, and reading frees no space.  Not for stores with a program or with placement.  Errors
 * are recorded in err.  sp__spill_reader_close() adds the reads to the store's counters.
 */
SP_MUST_CHECK int sp__spill_reader_open(struct sp__spill **reader, const struct sp__spill *store,
					struct sp_errinfo *err);
void sp__spill_reader_close(struct sp__spill *reader, struct sp__spill *store);
/*
 * Takes over the files of another store of the same kind, with nothing outstanding, and its
 * counters.  Returns 0 or -ENOMEM.  The numbers of the files of its runs must then be raised by
 * *files; its owner closes it.
 */
SP_MUST_CHECK int sp__spill_absorb(struct sp__spill *store, struct sp__spill *from,
				   uint32_t *files);
/* Returns the engine of the requests; NULL: there is none. */
const char *sp__spill_engine(const struct sp__spill *spill);
/* Sums the counters of all requests so far. */
void sp__spill_counters(const struct sp__spill *spill, struct sp__io_counters *counters);
/*
 * Makes later runs go to further files, which bypass the page cache.  Runs written before stay in
 * their files.
 */
void sp__spill_go_direct(struct sp__spill *spill);
/*
 * Chooses the file for the next run and opens it if necessary; without a free descriptor, an open
 * file.  Returns its number, or an error.
 */
SP_MUST_CHECK int sp__spill_next_file(struct sp__spill *spill);
uint64_t sp__spill_recycled_bytes(const struct sp__spill *spill);

/* Discards the contents of all files on a simulated machine. */
void sp__spill_forget(struct sp__spill *spill);
/* Syncs a kept file: all bytes written are on the device.  Returns 0 or an error. */
SP_MUST_CHECK int sp__spill_sync(struct sp__spill *spill);
/* Returns the space of a run of a kept file to the file system; if that is impossible, it stays. */
void sp__spill_punch(struct sp__spill *spill, const struct sp__run *run);
/* Releases the space reserved beyond the runs, when all of them are written. */
void sp__spill_trim(const struct sp__spill *spill);
/*
 * Frees the space of temporary files like closing, when no run will be read any more: of the files
 * `from`, `from + step` and so on.
 */
void sp__spill_empty(const struct sp__spill *spill, size_t from, size_t step);
/* Ends a run that will not be read any more; removes its file if it has one of its own. */
void sp__spill_end_run(struct sp__spill *spill, const struct sp__run *run);

/* Submits requests of an owner. */
int sp__spill_submit(struct sp__spill *s, struct sp__io_owner *owner, struct sp__request **reqs,
		     size_t n);
/* Returns the result of a read: 0 or an error. */
SP_MUST_CHECK int sp__spill_check_read(const struct sp__spill *s, const struct sp__request *read);
/*
 * Starts gathering writes if runs are placed by tracks: n of them are worth a batch. 0: stops
 * gathering; no write may be waiting.
 */
void sp__spill_gather(struct sp__spill *s, size_t n);
/*
 * Gathers a write of one page, with the unit's number.  It counts as submitted, unless there is an
 * error.
 */
SP_MUST_CHECK int sp__spill_put_off(struct sp__spill *s, struct sp__io_owner *owner,
				    struct sp__request *req, uint64_t unit);
/*
 * Reaps at least min completions (0: those available) and notifies their owners.  After an error
 * nothing is outstanding, and the owners are not notified.
 */
int sp__spill_reap(struct sp__spill *s, size_t min);
/* Waits until there is something to reap, with the rules of sp__queue_wait(). */
SP_MUST_CHECK int sp__spill_wait(struct sp__spill *s, int64_t timeout_ns);

/* submit.c: speed */
/* Returns t of Zhang & Larson for writes so far, in seconds per byte; 0: unknown. */
double sp__spill_write_s(const struct sp__spill *s);
/*
 * Measures s of Zhang & Larson, in seconds, by reading blocks of complete runs while nothing is
 * outstanding.  mem: two blocks, page-aligned. -1: unknown.
 */
#define SP__SEEK_BYTES 4096u
double sp__spill_seek_s(struct sp__spill *s, struct sp__run *const *runs, size_t n, void *mem);
/*
 * Measures t of reading by the first 2 MiB of a run; 0: unknown.  mem: sp__spill_read_memory()
 * bytes.
 */
#define SP__READ_BYTES (128u << 10)
double sp__spill_read_s(struct sp__spill *s, const struct sp__run *run, void *mem);
size_t sp__spill_read_memory(const struct sp__spill *s);

/* Fills volume and offset of a request for units of a run from unit on. */
void sp__spill_locate(const struct sp__spill *s, const struct sp__run *run, uint64_t unit,
		      struct sp__request *req);

/*
 * Returns the number of units of a run from unit on that are contiguous in the volume, 1 to want.
 */
uint32_t sp__spill_piece(const struct sp__spill *s, const struct sp__run *run, uint64_t unit,
			 uint32_t want);

/* Allocates units for the run, contiguous in the volume; *got is their number. */
int sp__spill_take(struct sp__spill *s, struct sp__run *run, uint32_t want, uint32_t *got);
/* Frees the space allocated ahead for a complete run. */
void sp__spill_give_spare(struct sp__spill *s, struct sp__run *run);
/* Returns the number of a unit of the run in the store's volume, for sp__place_order(). */
uint64_t sp__spill_unit(const struct sp__run *run, uint64_t unit);

/* Frees the space of a page that has been read, up to the recycling level. */
void sp__spill_give_page(struct sp__spill *s, const struct sp__run *run, size_t page);

/* Return the stored size of a page in units, and in bytes. */
uint32_t sp__spill_page_units(const struct sp__spill *s, const struct sp__run *run, size_t page);
uint32_t sp__spill_page_stored(const struct sp__spill *s, const struct sp__run *run, size_t page);
/* Returns the bytes of a page's payload: all pages are full except the last. */
uint32_t sp__spill_page_payload(const struct sp__spill *s, const struct sp__run *run, size_t page);
