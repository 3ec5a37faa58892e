/* SPDX-License-Identifier: MIT */
/*
 * Simulates a machine: clock, page cache, file system and block device, built from a specification.
 *
 *	MODEL[,fs=none|group[:N]|extent[:N]][,cache=SIZE][,policy=lru|opt]
 *	     [,future=FILE][,page=SIZE][,flush=evict|A/B/C/AGE[/sweep]][,readahead=SIZE]
 *	     [,array=linear:N|raid0:N[/STRIPE]|raid10:N[/STRIPE]]
 *	     [,sched=NAME[:PARAMETERS]][,requests=N][,window=N[/fifo|/sptf[/AGE]]]
 *	     [,merge=yes|no|SIZE][,writeback=PAGES]
 *	     [,files=none|in|out|both][,noise=SD[/TAIL%[/MEAN]]][,seed=N]
 *
 * Sizes are those of sp_size_parse() without "%", bytes if they have no suffix.  Times are numbers
 * with s, ms, us or ns, seconds without.  Defaults: one drive, fs=none, no page cache, policy=lru,
 * page=4K, flush=30/60/20/3s, readahead=128K, sched=noop, the model's window, merge=1M,
 * writeback=1024, files=none, no noise, seed=0. policy=opt needs future, a trace (spindle-trace(5))
 * of an earlier run that made the same requests in the same order.  If a key is given twice, the
 * last one counts.
 *
 * array=... makes one device of N drives of the model.  Each drive or mirrored pair has its own
 * scheduler, and each drive its own window; see dev/raid.h.
 *
 * requests=N limits the requests that are in the scheduler and the device together (nr_requests of
 * the kernel), for each drive; by default there is no limit.  With "/sweep", dirty pages are
 * written in the order of their device pages, else the oldest first.
 *
 * Without a page cache, requests reach the device unchanged, rounded outward to its blocks.  With
 * one, they are cut into pages (a page that is partially written is not read first).  A read waits
 * for its pages, also for pages that are already being read; pages evicted for it are written
 * first.  A write completes immediately, unless pages are evicted or the second threshold makes it
 * wait.  Bytes beyond the end of the file take no time; the end is the initial size, or the highest
 * offset written.
 *
 * The machine decides when requests complete; io/sim.c moves the bytes.
 *
 * Memory: no call allocates for a request once the pools have grown to the number outstanding.
 *
 * Thread rule: one thread, and one machine per process that simulates.
 */
#pragma once

#include "dev/raid.h"
#include "sim/blockdev.h"
#include "sim/fwd.h"
#include "sim/pagecache.h"

/* The files of a tool that are stored on the machine. */
enum sp__sim_files { SP__SIM_FILES_NONE, SP__SIM_FILES_IN, SP__SIM_FILES_OUT, SP__SIM_FILES_BOTH };

struct sp__noise {
	uint64_t sd_ns;	       /* half-normal, added to each completion as the host sees it */
	double tail;	       /* share of the requests that get more: */
	uint64_t tail_mean_ns; /* exponential */
};

struct sp__rng;
/* Returns the delay until the host sees a completion. */
uint64_t sp__noise_ns(const struct sp__noise *n, struct sp__rng *rng);

struct sp__machine_spec {
	char model[256];
	char sched[128];
	struct sp__raid_spec array;
	int fs;				    /* enum sp__fs_policy */
	unsigned group_pages, extent_pages; /* 0: see fsmap.h */
	uint64_t cache_bytes;		    /* 0: no page cache */
	struct sp__pcache_opts cache;	    /* without what depends on the size of a page */
	char future[256];		    /* trace with the sequence for OPT */
	uint32_t page_bytes;
	uint64_t readahead_bytes;
	struct sp__blockdev_opts device; /* without what depends on the model */
	uint32_t merge_bytes;	  /* maximum of a merged request, and of a write of the cache */
	unsigned writeback_pages; /* pages of one batch of background writes */
	enum sp__sim_files files;
	struct sp__noise noise;
	uint64_t seed;
};

/* Parses a specification.  Returns 0, or SP_ESYNTAX with the wrong key and the valid form. */
SP_MUST_CHECK int sp__machine_spec_parse(struct sp__machine_spec *spec, const char *text,
					 struct sp_errinfo *err);
/* Parses a part of a specification that allows only these keys, separated by blanks. */
SP_MUST_CHECK int sp__machine_words_parse(struct sp__machine_spec *spec, const char *text,
					  const char *only, struct sp_errinfo *err);

/*
 * Loads the model of a drive or an array.  Returns the errors of sp__model_load() and
 * sp__raid_make().
 */
SP_MUST_CHECK int sp__machine_spec_model(struct sp__model **m, const struct sp__machine_spec *spec,
					 struct sp_errinfo *err);

/* One request of a program to a file on the simulated machine. */
struct sp__simreq {
	unsigned file;
	bool write;
	uint16_t prio;
	uint64_t offset;
	uint32_t bytes;
	void *owner;
	uint64_t submit_ns, done_ns; /* filled in */
	struct sp__simreq *next;     /* in the list of reaped requests */
	/* Internal: */
	uint64_t seq;	  /* order of completion */
	uint64_t copy_ns; /* charged when it is reaped */
	uint32_t waits;	  /* number of transfers that it waits for */
};

struct sp__machine;
struct sp__model;

struct sp__machine_stats {
	uint64_t requests; /* requests of the program */
	struct sp__blockdev_stats device;
	struct sp__pcache_stats cache; /* 0 without a page cache */
	uint64_t transfers;	       /* pages moved between page cache (or program) and device */
	uint64_t device_read_bytes, device_write_bytes;
	uint64_t cpu_time_ns;
	uint64_t regions;
	double region_bytes_mean; /* mean bytes of the regions of spill files */
};

/*
 * Opens a machine.  Returns 0, an error of sp__model_load(), SP_ESYNTAX if the specification does
 * not suit the model, or -ENOMEM.
 */
SP_MUST_CHECK int sp__machine_open(struct sp__machine **m, const struct sp__machine_spec *spec,
				   struct sp_errinfo *err);
/*
 * Gives the machine the state that it had when it was opened, at time 0, but with the files that it
 * has now.  No request of a program is outstanding.  Returns 0 or -ENOMEM; then it can only be
 * closed.
 */
SP_MUST_CHECK int sp__machine_restart(struct sp__machine *m);
void sp__machine_close(struct sp__machine *m); /* accepts NULL; nothing outstanding */

const struct sp__machine_spec *sp__machine_spec(const struct sp__machine *m);
const struct sp__model *sp__machine_model(const struct sp__machine *m);
uint64_t sp__machine_now_ns(const struct sp__machine *m);
/* Charges computation: time passes while outstanding I/O proceeds. */
void sp__machine_charge(struct sp__machine *m, uint64_t ns);
/*
 * Charges computation in 1e-12 s.  A remainder below a nanosecond is kept for the next charge, so
 * that the sum does not depend on how the host divides data into batches.
 */
void sp__machine_charge_ps(struct sp__machine *m, uint64_t ps);

/*
 * Adds a file of this many bytes (0: it grows) in an area of the device.  Returns its number,
 * -ENOSPC or -ENOMEM.
 */
SP_MUST_CHECK int sp__machine_file(struct sp__machine *m, enum sp__sim_area area, uint64_t bytes);
/*
 * Returns the number of the file that has the whole device, which is added by the first call;
 * -ENOSPC if another file has space; or -ENOMEM.
 */
SP_MUST_CHECK int sp__machine_cover(struct sp__machine *m);
/* Frees the whole pages within these bytes. */
void sp__machine_punch(struct sp__machine *m, unsigned file, uint64_t offset, uint64_t bytes);
/* Returns the device block of a byte of the file; for placement and for tests. */
SP_MUST_CHECK int sp__machine_locate(struct sp__machine *m, unsigned file, uint64_t offset,
				     uint64_t *lbn);

/*
 * True if all pages of these bytes are in the page cache by now.  The call takes no virtual time.
 */
bool sp__machine_cached(struct sp__machine *m, unsigned file, uint64_t offset, uint64_t bytes);

/*
 * Charges the issuing of requests, and submits them. indivisible: the block requests that reach the
 * device immediately are one batch there.  Returns 0, or -ENOSPC or -ENOMEM with none of them
 * outstanding.  Returns -ENOMEM always after memory was refused for background writing or a sync.
 */
SP_MUST_CHECK int sp__machine_submit(struct sp__machine *m, struct sp__simreq **reqs, size_t n,
				     bool indivisible);
/*
 * Returns completed requests, linked in the order of completion, or NULL if there are none. wait:
 * lets time pass until one completes (NULL only if none is outstanding).
 */
struct sp__simreq *sp__machine_reap(struct sp__machine *m, bool wait);
/* Reaps like sp__machine_reap(), but waits at most until a moment, also if none is outstanding. */
struct sp__simreq *sp__machine_reap_until(struct sp__machine *m, uint64_t until_ns);
/* Writes all dirty pages, and waits for completion. */
void sp__machine_sync(struct sp__machine *m);
/* Reports counters since the machine was opened.  A phase is the difference of two reports. */
void sp__machine_stats(struct sp__machine *m, struct sp__machine_stats *s);
/* Reports the time with each number of requests at the device, like sp__blockdev_depths(). */
void sp__machine_depths(struct sp__machine *m, enum sp__depth which,
			uint64_t ns[SP__DEPTH_MAX + 1]);
