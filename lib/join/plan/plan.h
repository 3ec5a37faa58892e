/* SPDX-License-Identifier: MIT */
/*
 * Plans a join: its algorithm, its memory, and the partitioning of its inputs.  Pure: no file is
 * accessed.
 */
#pragma once

#include <spindle/join.h>
#include "run/memory.h"

/* Mean overhead in bytes of a record of the build side. */
#define SP__JOIN_RECORD_BYTES 32
/* Assumed length of a record if unknown. */
#define SP__JOIN_MEAN_BYTES 64
#define SP__JOIN_DEPTH_MAX 16
#define SP__JOIN_PARTITIONS_MAX 512
/* Buckets of the hash's range. */
#define SP__BUCKETS 4096
/* Minimum pages of memory for records. */
#define SP__JOIN_PAGES_MIN 64u
#define SP__JOIN_THREADS_MAX 256u
/* Bytes of the buffer in which a thread collects records of the result. */
#define SP__EMIT_BYTES (128u << 10)
/* Bytes of each thread: minimum for copies; one of two buffers for the result of a part. */
#define SP__JOIN_COPIES_MIN (64u << 10)
#define SP__JOIN_RESULT_BYTES (2u << 20)
/* Memory of a thread that probes with parts of a file, without streams. */
#define SP__JOIN_PROBER_BYTES (2 * SP__JOIN_RESULT_BYTES + SP__EMIT_BYTES)
/* Records that a thread keeps while it merges a range. */
#define SP__JOIN_HOLD_BYTES (256u << 10)

/* Memory in bytes, without the streams' buffers. */
struct sp__join_layout {
	uint32_t page_bytes;
	uint64_t table_bytes; /* records of the build side and slots: |M| */
	uint64_t write_bytes; /* all writers of a stage together */
	uint64_t writer_max;  /* maximum of one writer */
	uint64_t read_bytes;  /* for reading one partition */
	uint64_t bloom_bytes;
	uint64_t order_bytes; /* part of table_bytes for sorting the result */
	bool buffered;	      /* requests are small: the page cache gathers them */
	unsigned partitions_max;
};

/* Partitioning of a build input. */
struct sp__join_split {
	unsigned resident; /* partitions in memory while there is space */
	unsigned spilled;  /* partitions written from the start */
	double share;	   /* share of the hash's range for the partitions in memory */
};

/* 0, or SP_EBUDGET with err. */
SP_MUST_CHECK int sp__join_layout(const struct sp_join_opts *opts, struct sp__join_layout *layout,
				  struct sp_errinfo *err);
/* Memory for records of `bytes` bytes in total: |R| F. */
uint64_t sp__join_need(uint64_t bytes, uint64_t records);
/* Memory for an input as build side; 0: unknown. */
uint64_t sp__join_need_of(const struct sp_join_opts *opts, int input);
/* Formula (1): partitions for pages of build input and pages of memory. */
uint64_t sp__join_formula1(uint64_t build_pages, uint64_t memory_pages);
/* Formula (2): pages of one partition written together, if sorted by partition before. */
uint64_t sp__join_formula2(uint64_t partitions, uint64_t memory_pages);
/*
 * The build input, 1 or 2: as requested; else, if the result is ordered, the other input unless it
 * is known not to fit; else the smaller one; else one of known size.
 */
unsigned sp__join_build(const struct sp_join_opts *opts);
/* The input whose order the result has: if it has records of only one input, that one. */
unsigned sp__join_ordered(const struct sp_join_opts *opts);
/* True if an ordered result probably has to be sorted. */
bool sp__join_sorts(const struct sp_join_opts *opts, const struct sp__join_layout *layout,
		    int build_side);
/* Format of the records of input 0 or 1, with their terminator. */
struct sp_recfmt sp__join_format(const struct sp_join_opts *opts, int input);
/* Expected records of input 0 or 1; 0: unknown. */
uint64_t sp__join_records(const struct sp_join_opts *opts, int input);

/* plan.c */
static inline bool sp__is_inl(enum sp_join_algorithm a)
{
	return a == SP_JOIN_INL || a == SP_JOIN_ASYNC_INL;
}
/* The outer file, 0 or 1; the other one has an index. */
int sp__inl_outer(const struct sp_join_opts *opts);
/* True if file 0 or 1 is read from its beginning, as all but the inner file of an index are. */
static inline bool sp__join_scans(const struct sp_join_opts *opts, int side)
{
	return !sp__is_inl(opts->algorithm) || sp__inl_outer(opts) == side;
}
/* Checks that index nested loops can do the join.  0, or SP_EUNSUP with err. */
SP_MUST_CHECK int sp__inl_possible(const struct sp_join_opts *opts, struct sp_errinfo *err);
/*
 * AUTO: true if index nested loops are predicted to be faster than reading both files.  Sets the
 * seconds of each; 0: unknown.
 */
bool sp__inl_pays(const struct sp_join_opts *opts, double *index_s, double *hash_s);
/* True if sorted files can be merged on keys of this kind. */
bool sp__join_mergeable(const struct sp_join_opts *opts);
/* True if it is better to merge files that seem sorted. */
bool sp__join_merges(const struct sp_join_opts *opts, const struct sp__join_layout *layout);
/*
 * The algorithm of a hash join: as requested; AUTO: SHJ if formula (2) predicts less time than for
 * HYBRID, which requires that the device is known.
 */
enum sp_join_algorithm sp__join_choice(const struct sp_join_opts *opts,
				       const struct sp__join_layout *layout);

/* layout.c */
/* bytes 0: unknown; probe_bytes 0: unknown, and assumed equal to bytes. */
void sp__join_split(const struct sp__join_layout *layout, enum sp_join_algorithm algorithm,
		    uint64_t bytes, uint64_t records, uint64_t probe_bytes,
		    struct sp__join_split *split);
/* Sets the partition of each bucket: the last partitions divide the range after the share. */
void sp__join_deal(const struct sp__join_split *split, uint16_t partition_of[SP__BUCKETS]);
/*
 * Bytes for each of a stage's writers.  They share write_bytes or, if *of_table, memory of the
 * table, of which table_bytes are not used.  sorted: in a sort-hash join.
 */
uint64_t sp__join_writer(const struct sp__join_layout *layout, uint64_t write_bytes,
			 uint64_t table_bytes, unsigned npartitions, bool sorted, bool *of_table);
/* True if partitioning an input has not made this partition smaller. */
bool sp__join_stubborn(uint64_t partition_bytes, uint64_t input_bytes);
/* True if a pair of partitions at this depth is joined by nested loops. */
bool sp__join_nests(const struct sp__join_layout *layout, enum sp_join_algorithm algorithm,
		    unsigned depth, bool stubborn, uint64_t need_bytes, const uint64_t bytes[2]);
/*
 * For a pair of partitions of which the smaller exceeds memory: true if reading the other again for
 * each block moves less data than partitioning both once more.
 */
bool sp__join_nested_pays(const struct sp__join_layout *layout, uint64_t need_bytes,
			  uint64_t build_bytes, uint64_t probe_bytes);

/* plan.c */
/* Bytes of write_bytes for copies of several probing threads; 0: one thread probes. */
uint64_t sp__join_copies_bytes(const struct sp_join_opts *opts,
			       const struct sp__join_layout *layout);
/* Threads that have enough of these bytes for copies. */
unsigned sp__join_copiers(const struct sp_join_opts *opts, uint64_t copies_bytes);
/* Threads that can probe with parts of a file, if the table does not use so many bytes. */
unsigned sp__join_probers(const struct sp_join_opts *opts, uint64_t unused_bytes);
/* Threads that merge ranges, and the memory of each. */
struct sp__join_makers {
	uint64_t step;	       /* bytes of a range */
	uint64_t buffer_bytes; /* bytes of each of two buffers of the result */
	unsigned n;
};
void sp__join_makers(const struct sp_run_opts *opts, uint64_t input_bytes,
		     struct sp__join_makers *makers);
