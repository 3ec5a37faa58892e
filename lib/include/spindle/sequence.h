/* SPDX-License-Identifier: MIT */
/*
 * Sequences of block requests, as --trace writes them (spindle-trace(5)): counts them, reorders
 * them, and checks whether one is a legal permutation of another.  It does not simulate a device.
 *
 * Counting.  A seek is a request that does not begin at the end of the previous one; the first
 * request is a seek.  A cluster read is a maximal series of reads of one volume in which each
 * begins at the end of the previous one.  A merge is a request that has the kind of the previous
 * one on its volume and is adjacent to it on either side, so that a scheduler could merge the two.
 * A region is a maximal range of a volume that writes cover.  Requests that failed or moved nothing
 * are counted separately and nowhere else.
 *
 * The transfers of a program are those of a page cache of a given size between the program and the
 * device.  The cache writes a dirty page when it evicts it.  Pages that are dirty at the end are
 * counted separately.
 *
 * Source: Wang & Cherniack 2006, sections 1 to 3; Zhang & Larson 1998, section 3 (cluster reads).
 *
 * Thread rule: any number of threads may use a loaded sequence, except that sp_sequence_refine()
 * and sp_sequence_free() need it alone.
 */
#ifndef SPINDLE_SEQUENCE_H
#define SPINDLE_SEQUENCE_H

#include <spindle/error.h>
#include <spindle/enum.h>

struct sp_sequence;

/* Order by time of submission (equal times: in the order of the file), or of completion. */
enum sp_sequence_order { SP_SEQUENCE_SUBMIT, SP_SEQUENCE_DONE };

enum sp_sequence_phase {
	SP_SEQUENCE_PHASE_LOAD,	   /* sp_sequence_load(), in bytes of the file */
	SP_SEQUENCE_PHASE_REFINE,  /* sp_sequence_refine(), in requests, as the following ones */
	SP_SEQUENCE_PHASE_CACHE,   /* sp_sequence_transfers() */
	SP_SEQUENCE_PHASE_COMPARE, /* sp_sequence_compare(), by the sequence a */
};

struct sp_sequence_opts {
	enum sp_sequence_order order;
	/*
	 * Reports the progress of the call that loads the sequence, and of later calls with it.
	 * phase: an enum sp_sequence_phase; total 0: unknown.  NULL: none.  Called by the thread of
	 * the call, at the start of a phase, and then at most about 10 times per second.
	 */
	void (*progress)(void *arg, int phase, uint64_t done, uint64_t total);
	void *progress_arg;
};

/*
 * Reads a trace.  Free the sequence with sp_sequence_free().
 * path: "-": standard input.
 * opts: NULL: in the order of submission.
 * Returns 0; SP_EFORMAT with the line and the reason in err->text; -ENOMEM; -errno if the file
 * could not be opened or read.
 */
SP_API SP_MUST_CHECK int sp_sequence_load(struct sp_sequence **seq, const char *path,
					  const struct sp_sequence_opts *opts,
					  struct sp_errinfo *err);

/* Frees a sequence; NULL is accepted. */
SP_API void sp_sequence_free(struct sp_sequence *seq);

/* Preferred successors of a request, if conflicts allow it; otherwise the oldest follows. */
enum sp_sequence_refinement {
	SP_SEQUENCE_AS_IS,
	SP_SEQUENCE_BY_BLOCK,  /* a request for the same bytes */
	SP_SEQUENCE_BY_FILE,   /* a request for the same volume */
	SP_SEQUENCE_BY_OFFSET, /* the request with the next offset, cyclically: volume, offset */
};

/*
 * Reorders a sequence into a legal permutation of itself (see sp_sequence_compare()), by the
 * techniques of section 2.2 of Wang & Cherniack 2006.  Each request is chosen among the `window`
 * oldest ones that are left.
 * Returns 0; -EINVAL if window is 0; -ENOMEM, after which the sequence can only be freed.
 */
SP_API SP_MUST_CHECK int sp_sequence_refine(struct sp_sequence *seq,
					    enum sp_sequence_refinement how, size_t window);

/* Counts of one volume, or sums over all volumes. */
struct sp_sequence_counts {
	uint64_t requests;		    /* all requests */
	uint64_t failed;		    /* requests that ended with an error */
	uint64_t empty;			    /* requests that moved nothing (end of the file) */
	uint64_t read_requests, read_bytes; /* reads and writes among the others */
	uint64_t write_requests, write_bytes;
	uint64_t seeks; /* each volume has a position of its own */
	uint64_t merges;
	uint64_t cluster_reads;
	uint64_t regions;
	uint64_t region_bytes;	    /* total size of the regions */
	uint64_t overwritten_bytes; /* bytes written in excess of region_bytes */
};

struct sp_sequence_stats {
	struct sp_sequence_counts total;
	uint64_t device_seeks; /* seeks if all volumes are on one device */
	size_t volumes;
	enum sp_sequence_refinement refinement;
	uint64_t window; /* requests in the window of the refinement; 0: none */
};

/* Reports the counts of a sequence. */
SP_API void sp_sequence_stats(const struct sp_sequence *seq, struct sp_sequence_stats *stats);

/*
 * Reports the counts of one volume.
 * number: counted from 0, in the order of the volumes' first lines.
 * name: valid while the sequence lives.
 * Returns 0, or -ERANGE if there is no such volume.
 */
SP_API SP_MUST_CHECK int sp_sequence_volume(const struct sp_sequence *seq, size_t number,
					    const char **name, struct sp_sequence_counts *counts);

/* A request that moved data. */
struct sp_sequence_request {
	bool write;
	const char *volume; /* valid while its sequence lives */
	size_t number;	    /* number of the volume, as in sp_sequence_volume() */
	uint64_t offset;
	uint32_t bytes; /* bytes moved */
	uint64_t line;	/* line of the trace, counted from 1 */
	int64_t submit_ns, done_ns;
};

/*
 * Reports one request.
 * i: counted from 0, in the order of the sequence.
 * Returns 0, or -ERANGE if the sequence has no more requests that moved data.
 */
SP_API SP_MUST_CHECK int sp_sequence_at(const struct sp_sequence *seq, size_t i,
					struct sp_sequence_request *request);

enum sp_sequence_policy {
	SP_SEQUENCE_LRU,
	SP_SEQUENCE_OPT, /* evicts the page used farthest ahead, drops pages never used again */
};

struct sp_sequence_cache {
	uint64_t pages;	     /* capacity, at least 1 */
	uint32_t page_bytes; /* 0: 4096 */
	enum sp_sequence_policy policy;
	/*
	 * Number of requests that moved data to count; 0: all.  OPT evicts with knowledge of all.
	 */
	uint64_t counted;
};

struct sp_sequence_transfers {
	uint64_t accesses; /* pages requested */
	uint64_t hits;
	uint64_t reads, writes; /* pages moved from and to the device */
	uint64_t dropped;	/* dirty pages dropped by OPT without writing them */
	uint64_t dirty;		/* pages still to be written at the end */
};

/*
 * Simulates a page cache and counts its transfers.
 * Returns 0; -EINVAL if the cache has no pages; -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_sequence_transfers(const struct sp_sequence *seq,
					       const struct sp_sequence_cache *cache,
					       struct sp_sequence_transfers *t,
					       struct sp_errinfo *err);

enum sp_sequence_verdict {
	SP_SEQUENCE_LEGAL,
	SP_SEQUENCE_MISSING, /* b lacks a request of a */
	SP_SEQUENCE_EXTRA,   /* b has a request that a lacks */
	/* Two requests for the same bytes are reordered; their order in a: */
	SP_SEQUENCE_READ_AFTER_WRITE,
	SP_SEQUENCE_WRITE_AFTER_READ,
	SP_SEQUENCE_WRITE_AFTER_WRITE,
};

struct sp_sequence_comparison {
	enum sp_sequence_verdict verdict;
	uint64_t moved; /* requests whose position in b differs from that in a */
	/* The missing or extra request; or the pair, in the order of a. */
	struct sp_sequence_request first, second;
	uint64_t first_line_b, second_line_b; /* lines of the pair in b */
};

/*
 * Determines whether b is a legal permutation of a: it has the same requests, and any two requests
 * for the same bytes, at least one of them a write, keep their order.  Otherwise reports the first
 * violation in the order of b (of a, for a missing request).
 * Returns 0 for every verdict, or -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_sequence_compare(const struct sp_sequence *a,
					     const struct sp_sequence *b,
					     struct sp_sequence_comparison *result);

SP_ENUM(sp_sequence_order)
SP_ENUM(sp_sequence_policy)
SP_ENUM(sp_sequence_refinement)
SP_ENUM(sp_sequence_verdict)

#endif
