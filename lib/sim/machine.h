/* SPDX-License-Identifier: MIT */
/*
 * The simulated machine: clock, page cache, file system and block device put
 * together as a specification says.
 *
 *   MODEL[,fs=none|group:N|extent][,cache=SIZE][,policy=lru|opt][,page=4K]
 *        [,flush=evict|A/B/C/AGE][,readahead=SIZE][,sched=NAME][,window=N]
 *        [,merge=yes|no][,files=none|in|out|both][,noise=...][,seed=N]
 *
 * It says when requests complete; the bytes are moved by whoever owns them
 * (io/sim.c).  One thread, one machine for a process that simulates.
 */
#ifndef SP__SIM_MACHINE_H
#define SP__SIM_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "sim/blockdev.h"
#include "sim/clock.h"
#include "sim/pagecache.h"

enum sp__sim_files { SP__SIM_FILES_NONE, SP__SIM_FILES_IN, SP__SIM_FILES_OUT, SP__SIM_FILES_BOTH };

/* Which area of the device a file belongs to: inputs, then spill, then outputs. */
enum sp__sim_area { SP__SIM_INPUT, SP__SIM_SPILL, SP__SIM_OUTPUT };

struct sp__noise {
	uint64_t sd_ns;	      /* half-normal, added to each completion as the host sees it */
	double tail;	      /* share of the requests that get more: */
	uint64_t tail_mean_ns; /* exponential */
};

struct sp__machine_spec {
	char model[256];
	const char *sched;
	int fs; /* enum sp__fs_policy */
	unsigned group_pages;
	uint64_t cache_bytes; /* 0: no page cache */
	enum sp__pcache_policy policy;
	char future[256]; /* trace whose sequence OPT knows */
	uint32_t page_bytes;
	bool flush_on_evict;
	unsigned async_percent, sync_percent, down_percent;
	uint64_t age_ns;
	uint64_t readahead_bytes;
	unsigned window; /* 0: the model's */
	int window_policy;
	bool merge;
	enum sp__sim_files files;
	struct sp__noise noise;
	uint64_t seed;
	char sched_name[32];
};

/* SP_ESYNTAX with the word that is wrong and what would be right. */
SP_MUST_CHECK int sp__machine_spec_parse(struct sp__machine_spec *spec, const char *text,
					 struct sp_errinfo *err);

/* One request of a program to a file on the simulated machine. */
struct sp__simreq {
	unsigned file;
	bool write;
	uint16_t prio;
	uint64_t offset;
	uint32_t bytes;
	uint64_t submit_ns, done_ns; /* filled in */
	void *owner;
	struct sp__simreq *next;
	uint32_t waits; /* inside: block requests it waits for */
};

struct sp__machine_stats {
	uint64_t requests, dispatched, transfers, seeks, merges;
	uint64_t read_requests, read_bytes, write_requests, write_bytes; /* as issued */
	uint64_t device_read_bytes, device_write_bytes;
	uint64_t cache_hits, cache_misses;
	uint64_t io_time_ns, cpu_time_ns, elapsed_ns;
	uint64_t regions;
	double region_bytes_mean; /* of spill files */
};

struct sp__machine;

SP_MUST_CHECK int sp__machine_open(struct sp__machine **m, const struct sp__machine_spec *spec,
				   struct sp_errinfo *err);
void sp__machine_close(struct sp__machine *m); /* accepts NULL; nothing outstanding */

const struct sp__machine_spec *sp__machine_spec(const struct sp__machine *m);
const struct sp__model *sp__machine_model(const struct sp__machine *m);
uint64_t sp__machine_now_ns(const struct sp__machine *m);
/* Computation: time passes while outstanding I/O proceeds. */
void sp__machine_charge(struct sp__machine *m, uint64_t ns);

/*
 * A file of so many bytes (0: it grows) in an area of the device.  Returns
 * its number or -ENOSPC, -ENOMEM.
 */
SP_MUST_CHECK int sp__machine_file(struct sp__machine *m, enum sp__sim_area area, uint64_t bytes);
/* Bytes that are not used any more; whole pages of them are freed. */
void sp__machine_punch(struct sp__machine *m, unsigned file, uint64_t offset, uint64_t bytes);
/* Where the device has a byte of the file, in blocks; for placement and for tests. */
SP_MUST_CHECK int sp__machine_locate(struct sp__machine *m, unsigned file, uint64_t offset,
				     uint64_t *lbn);

/* 0; -ENOSPC or -ENOMEM: none of them is outstanding. */
SP_MUST_CHECK int sp__machine_submit(struct sp__machine *m, struct sp__simreq **reqs, size_t n,
				     bool indivisible);
/*
 * Completed requests, linked in the order of completion; NULL if none.  wait:
 * lets time pass until there is one (NULL only if nothing is outstanding).
 */
struct sp__simreq *sp__machine_reap(struct sp__machine *m, bool wait);
/* Writes out what is dirty, and waits for it. */
void sp__machine_sync(struct sp__machine *m);
void sp__machine_stats(struct sp__machine *m, struct sp__machine_stats *s);

#endif
