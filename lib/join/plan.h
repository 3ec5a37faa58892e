/* SPDX-License-Identifier: MIT */
/*
 * What a hash join does with its memory, and how it parts its inputs.
 */
#ifndef SP__JOIN_PLAN_H
#define SP__JOIN_PLAN_H

#include <spindle/join.h>

/* A record of the build side takes its bytes and, on the mean, so many more. */
#define SP__JOIN_RECORD_BYTES 32
/* Taken for a record where nothing is known. */
#define SP__JOIN_MEAN_BYTES 64
#define SP__JOIN_DEPTH_MAX 16
#define SP__JOIN_PARTS_MAX 512
/* Of memory for records. */
#define SP__JOIN_PAGES_LEAST 64u

/* Memory, in bytes; everything but the streams' buffers. */
struct sp__join_layout {
	uint32_t page_bytes;
	uint64_t table_bytes; /* records of the build side and slots: |M| */
	uint64_t write_bytes; /* all writers of a stage together */
	uint64_t writer_max;  /* of which one takes at most so much */
	uint64_t read_bytes;  /* reading one partition */
	uint64_t bloom_bytes;
	uint64_t order_bytes; /* sorting the result takes so much of the table's memory */
	bool buffered;	      /* requests are so small that the page cache had better gather them */
	unsigned parts_max;
};

/* How a build input is parted. */
struct sp__join_split {
	unsigned resident; /* partitions in memory as long as there is room */
	unsigned spilled;  /* partitions written from the start */
	double share;	   /* of the hash's range, for those in memory */
};

/* 0, or SP_EBUDGET told in err. */
SP_MUST_CHECK int sp__join_layout(const struct sp_join_opts *opts, struct sp__join_layout *layout,
				  struct sp_errinfo *err);
/* Bytes in memory of so many records of so many bytes: |R| F. */
uint64_t sp__join_need(uint64_t bytes, uint64_t records);
/* Formula (1): partitions for pages of build input and pages of memory. */
uint64_t sp__join_formula1(uint64_t build_pages, uint64_t memory_pages);
/* Formula (2): pages in a row of one partition, if sorted by partition before writing. */
uint64_t sp__join_formula2(uint64_t partitions, uint64_t memory_pages);
/*
 * The input that builds, 1 or 2: as wished, else, if the result is ordered, the other one
 * unless that surely does not fit; else the smaller one, else one of known size.
 */
unsigned sp__join_build(const struct sp_join_opts *opts);
/* The input whose order the result is to have: where only one has records in it, that. */
unsigned sp__join_ordered(const struct sp_join_opts *opts);
/* Will an ordered result have to be sorted, as far as can be told? */
bool sp__join_sorts(const struct sp_join_opts *opts, const struct sp__join_layout *layout,
		    int build_side);
/* Files that seem sorted: is merging them to be preferred? */
bool sp__join_merges(const struct sp_join_opts *opts, const struct sp__join_layout *layout);
/* How records of input 0 or 1 end. */
struct sp_recfmt sp__join_format(const struct sp_join_opts *opts, int input);
/* Records expected of input 0 or 1; 0: unknown. */
uint64_t sp__join_records(const struct sp_join_opts *opts, int input);
/*
 * How to join by hashing: as wished; AUTO: SHJ if by formula (2) it is expected to take
 * less time than HYBRID, for which something must be known of the device.
 */
enum sp_join_algorithm sp__join_choice(const struct sp_join_opts *opts,
				       const struct sp__join_layout *layout);
/* split.c */
/* bytes 0: unknown; so is probe_bytes, and counts as much as bytes then. */
void sp__join_split(const struct sp__join_layout *layout, enum sp_join_algorithm algorithm,
		    uint64_t bytes, uint64_t records, uint64_t probe_bytes,
		    struct sp__join_split *split);
/*
 * A pair of partitions of which the smaller does not fit into memory: does reading the
 * other again for each block of it move less than parting both once more?
 */
bool sp__join_nested_pays(const struct sp__join_layout *layout, uint64_t need_bytes,
			  uint64_t build_bytes, uint64_t probe_bytes);

#endif
