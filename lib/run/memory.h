/* SPDX-License-Identifier: MIT */
/*
 * Memory and threads of a run: the values that follow from -S and --parallel, and the I/O
 * buffers of inputs and output within that memory.  Pure, except for the number of processors.
 */
#ifndef SP__RUN_MEMORY_H
#define SP__RUN_MEMORY_H

#include <stdint.h>
#include <spindle/run.h>

/*
 * Working memory for -S memory_bytes, raised to the minimum; 0: the default.  What unpacking
 * inputs and packing the output may take is not part of it.
 */
uint64_t sp__working_memory(const struct sp_run_opts *o, uint64_t memory_bytes);

/* For unpacking all inputs that are open at once, and for packing the output; 0: there is none. */
#define SP__UNPACKING_SHARE 4
uint64_t sp__unpacking_memory(const struct sp_run_opts *o, uint64_t memory_bytes);
uint64_t sp__packing_memory(const struct sp_run_opts *o, uint64_t memory_bytes);

/* Buffers of streams; about W/16 each for input and output if W is 1 MB or more. */
struct sp__buffers {
	uint32_t chunk_bytes; /* one chunk of a stream, multiple of 4096 */
	unsigned reads;	      /* chunks of an input stream */
	unsigned writes;      /* chunks of the output stream */
};

struct sp__buffers sp__buffers(uint64_t working_bytes);

/* Threads for the option parallel: its value, or the available processors, at most 8. */
unsigned sp__threads(unsigned parallel);

#endif
