/* SPDX-License-Identifier: MIT */
/*
 * Computes the memory and threads of a run from -S and --parallel, and the I/O buffers of inputs
 * and output within that memory.  Pure functions, except for the number of processors.
 */
#pragma once

#include <spindle/run.h>

/*
 * Returns the working memory for -S memory_bytes, raised to the minimum; 0: the default.  It
 * excludes the memory for unpacking inputs and packing the output.
 */
uint64_t sp__working_memory(const struct sp_run_opts *o, uint64_t memory_bytes);

/*
 * Shares for unpacking all inputs that are open concurrently, and for packing the output; 0: none.
 */
#define SP__UNPACKING_SHARE 4
uint64_t sp__unpacking_memory(const struct sp_run_opts *o, uint64_t memory_bytes);
uint64_t sp__packing_memory(const struct sp_run_opts *o, uint64_t memory_bytes);

/* Buffers of streams; about W/16 each for input and output if W is at least 1 MiB. */
struct sp__buffers {
	uint32_t chunk_bytes; /* one chunk of a stream, multiple of 4096 */
	unsigned reads;	      /* chunks per input stream */
	unsigned writes;      /* chunks of the output stream */
};

struct sp__buffers sp__buffers(uint64_t working_bytes);

/*
 * Returns the number of threads for the option parallel: its value or, if it is 0, the processors
 * that affinity and control group allow.
 */
unsigned sp__threads(unsigned parallel);
