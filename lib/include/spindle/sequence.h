/* SPDX-License-Identifier: MIT */
/*
 * Sequences of block requests, as --trace writes them (spindle-trace(5)): their
 * cost, and whether one is a legal permutation of another.
 *
 * Counting.  A seek is a request that does not begin where the request before
 * it ended; the first one is a seek.  A cluster read is a maximal series of
 * reads of one volume of which each begins where the read before it ended.  A
 * merge is a request of the same kind as the one before it on its volume and
 * adjacent to it on either side, so that a scheduler could merge the two.  A
 * region is a maximal range of a volume that writes cover.  Requests that failed
 * or moved nothing are counted separately and nowhere else.
 *
 * A program's transfers are those of a page cache of a given size between it and
 * the device, which writes a dirty page when it evicts it; pages still dirty at
 * the end are counted separately.
 *
 * Source: Wang & Cherniack 2006, sections 1 to 3; Zhang & Larson 1998,
 * section 3 (cluster reads).
 *
 * Thread rule: a sequence is immutable once loaded, but for sp_sequence_refine(),
 * during which nobody else may use it; otherwise any number of threads may.
 */
#ifndef SPINDLE_SEQUENCE_H
#define SPINDLE_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/api.h>
#include <spindle/error.h>
#include <spindle/enum.h>

struct sp_sequence;

/* By time of submission (equal times: in the order of the file), or of completion. */
enum sp_sequence_order { SP_SEQUENCE_SUBMIT, SP_SEQUENCE_DONE };

/*
 * Reads the trace at path; "-" is standard input.  0, -errno, -ENOMEM, or
 * SP_EFORMAT with the line and the reason in err->text.  The caller frees with
 * sp_sequence_free.
 */
SP_API SP_MUST_CHECK int sp_sequence_load(struct sp_sequence **seq, const char *path,
					  enum sp_sequence_order order, struct sp_errinfo *err);
SP_API void sp_sequence_free(struct sp_sequence *seq); /* accepts NULL */

/* What is to follow a request, as far as the order of conflicting ones allows; else the oldest. */
enum sp_sequence_refinement {
	SP_SEQUENCE_AS_IS,
	SP_SEQUENCE_BY_BLOCK,  /* one that touches the same bytes */
	SP_SEQUENCE_BY_FILE,   /* one to the same volume */
	SP_SEQUENCE_BY_OFFSET, /* that with the next offset, cyclically, by volume, then offset */
};

/*
 * Rearranges a sequence into a legal permutation of itself (sp_sequence_compare), by the
 * techniques of section 2.2 of Wang & Cherniack: each request is chosen among the oldest of
 * those left, window of them.  0; -EINVAL: no window; -ENOMEM, after which the sequence can
 * only be freed.
 */
SP_API SP_MUST_CHECK int sp_sequence_refine(struct sp_sequence *seq,
					    enum sp_sequence_refinement how, size_t window);

/* Of one volume, or the sum over all. */
struct sp_sequence_counts {
	uint64_t requests;		    /* all */
	uint64_t failed;		    /* of them: ended with an error */
	uint64_t empty;			    /* of them: moved nothing (end of the file) */
	uint64_t read_requests, read_bytes; /* of the others */
	uint64_t write_requests, write_bytes;
	uint64_t seeks; /* each volume has a position of its own */
	uint64_t merges;
	uint64_t cluster_reads;
	uint64_t regions;
	uint64_t region_bytes;	    /* total size of the regions */
	uint64_t overwritten_bytes; /* written in excess of region_bytes */
};

struct sp_sequence_stats {
	struct sp_sequence_counts total;
	uint64_t device_seeks; /* if all volumes lie on one device */
	size_t volumes;
	enum sp_sequence_refinement refinement;
	uint64_t window; /* of it; 0: none */
};

SP_API void sp_sequence_stats(const struct sp_sequence *seq, struct sp_sequence_stats *stats);
/*
 * One volume; number counts from 0 in the order of their first lines.  *name
 * lives as long as the sequence.  0, or -ERANGE if there is no such volume.
 */
SP_API SP_MUST_CHECK int sp_sequence_volume(const struct sp_sequence *seq, size_t number,
					    const char **name, struct sp_sequence_counts *counts);

enum sp_sequence_policy {
	SP_SEQUENCE_LRU,
	SP_SEQUENCE_OPT, /* evicts the page used farthest ahead, drops pages never used again */
};

struct sp_sequence_cache {
	uint64_t pages;	     /* capacity, at least 1 */
	uint32_t page_bytes; /* 0: 4096 */
	enum sp_sequence_policy policy;
	/*
	 * Number of requests (that moved data) to count; 0: all.  OPT still knows
	 * the rest.
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

/* 0, -EINVAL (no capacity), or -ENOMEM. */
SP_API SP_MUST_CHECK int sp_sequence_transfers(const struct sp_sequence *seq,
					       const struct sp_sequence_cache *cache,
					       struct sp_sequence_transfers *t,
					       struct sp_errinfo *err);

enum sp_sequence_verdict {
	SP_SEQUENCE_LEGAL,
	SP_SEQUENCE_MISSING, /* b lacks a request of a */
	SP_SEQUENCE_EXTRA,   /* b has a request that a lacks */
	/* Two requests for the same bytes changed places; in a: */
	SP_SEQUENCE_READ_AFTER_WRITE,
	SP_SEQUENCE_WRITE_AFTER_READ,
	SP_SEQUENCE_WRITE_AFTER_WRITE,
};

struct sp_sequence_request {
	bool write;
	const char *volume; /* lives as long as its sequence */
	uint64_t offset;
	uint32_t bytes; /* that it moved */
	uint64_t line;	/* of its file, from 1 */
};

struct sp_sequence_comparison {
	enum sp_sequence_verdict verdict;
	uint64_t moved; /* requests whose position in b differs from that in a */
	/* The missing or extra request; or the pair, in the order of a. */
	struct sp_sequence_request first, second;
	uint64_t first_line_b, second_line_b; /* of the pair in b */
};

/*
 * Is b a legal permutation of a: the same requests, where any two that touch the
 * same bytes, at least one of them a write, keep their order?  If not, reports
 * the first violation in the order of b (of a, for a missing request).  0 or
 * -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_sequence_compare(const struct sp_sequence *a,
					     const struct sp_sequence *b,
					     struct sp_sequence_comparison *result);

SP_ENUM(sp_sequence_order)
SP_ENUM(sp_sequence_policy)
SP_ENUM(sp_sequence_refinement)
SP_ENUM(sp_sequence_verdict)

#endif
