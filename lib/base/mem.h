/* SPDX-License-Identifier: MIT */
/*
 * Counts memory.
 *
 * All memory that grows with the data is charged to a budget.  Its counters are atomic: any thread
 * of the operator may charge them, and any thread may read them.  The limit is set before threads
 * start.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sp__budget {
	uint64_t limit_bytes;
	_Atomic uint64_t used_bytes;
	_Atomic uint64_t peak_bytes;
	_Atomic uint64_t overrun_bytes; /* maximum by which a record exceeded the limit */
};

void sp__budget_init(struct sp__budget *b, uint64_t limit_bytes);

/*
 * Charges without a refusal and records the overrun (giant records).  The planner ensures that the
 * rest fits, so a running sort or join is never refused memory.
 */
void sp__budget_charge(struct sp__budget *b, uint64_t bytes);
void sp__budget_credit(struct sp__budget *b, uint64_t bytes);

/* Bytes that grow as needed; zeroed: no bytes. */
struct sp__bytes {
	char *data;
	size_t bytes, capacity;
};

/* Copy data; grow the buffer, and charge budget unless it is NULL.  Return 0 or -ENOMEM. */
int sp__bytes_set(struct sp__bytes *b, const char *data, size_t bytes, struct sp__budget *budget);
int sp__bytes_append(struct sp__bytes *b, const char *data, size_t bytes,
		     struct sp__budget *budget);
/* Grows the buffer to at least this capacity.  Returns 0 or -ENOMEM. */
int sp__bytes_reserve(struct sp__bytes *b, size_t bytes, struct sp__budget *budget);
/* Drops the contents, and the memory if only a giant record would need it. */
void sp__bytes_empty(struct sp__bytes *b, struct sp__budget *budget);
void sp__bytes_release(struct sp__bytes *b, struct sp__budget *budget);

/*
 * Maps page-aligned zeroed memory, which is resident only once it is touched.  Returns NULL if
 * there is no memory. huge requests huge pages; the last one ends with the memory.  A device
 * transfers huge pages at twice the speed of small ones, since each is contiguous.
 */
void *sp__pages_alloc(size_t bytes, bool huge);
/* Rounds up to whole huge pages, for buffers of a device; a size below one huge page stays. */
size_t sp__pages_whole(size_t bytes);
/* Requests huge pages for the memory that is not touched yet. */
void sp__pages_huge(void *p, size_t bytes);
/* Makes the memory resident now instead of at the first touch. */
void sp__pages_touch(void *p, size_t bytes);
void sp__pages_free(void *p, size_t bytes);
/*
 * Resizes a block (from 0: allocates it; to 0: frees it).  A large one has its own pages: it grows
 * without a second copy, and its memory is immediately returned to the system.  Returns NULL if
 * there is no memory.
 */
void *sp__block_resize(void *p, size_t from, size_t to);
/* Releases the resident memory of a range and keeps the addresses. */
void sp__pages_drop(void *p, size_t bytes);
