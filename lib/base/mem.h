/* SPDX-License-Identifier: MIT */
/*
 * Memory that is counted.
 *
 * All that grows with the data is charged to a budget.  Its counters are atomic: any
 * thread of the operator may charge them, and any thread may read them.  The limit is set
 * before there are threads.
 */
#ifndef SP__BASE_MEM_H
#define SP__BASE_MEM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sp__budget {
	uint64_t limit_bytes;
	_Atomic uint64_t used_bytes;
	_Atomic uint64_t peak_bytes;
	_Atomic uint64_t overrun_bytes; /* most by which a record exceeded it */
};

void sp__budget_init(struct sp__budget *b, uint64_t limit_bytes);

/*
 * Charges always, and notes the overrun (giant records): the planner sees to it that the rest fits,
 * so nothing is refused while a sort or a join runs.
 */
void sp__budget_charge(struct sp__budget *b, uint64_t bytes);
void sp__budget_credit(struct sp__budget *b, uint64_t bytes);

/* Bytes that grow as needed; zeroed: none. */
struct sp__bytes {
	char *data;
	size_t bytes, capacity;
};

/* Copies; grows, and charges budget unless it is NULL. 0 or -ENOMEM. */
int sp__bytes_set(struct sp__bytes *b, const char *data, size_t bytes, struct sp__budget *budget);
int sp__bytes_append(struct sp__bytes *b, const char *data, size_t bytes,
		     struct sp__budget *budget);
/* Drops the contents; memory that only a giant record would need again is not kept. */
void sp__bytes_empty(struct sp__bytes *b, struct sp__budget *budget);
void sp__bytes_release(struct sp__bytes *b, struct sp__budget *budget);

/*
 * Page-aligned zeroed memory straight from the system, which costs resident
 * memory only where it is touched.  NULL if there is none.  huge asks for
 * huge pages where the system has them, the last of which ends with the memory: a device can
 * move them at twice the speed of small ones, since each is one piece.
 */
void *sp__pages_alloc(size_t bytes, bool huge);
/* So much that all is in huge pages, for buffers of a device; small ones stay small. */
size_t sp__pages_whole(size_t bytes);
/* Asks for huge pages for the part that is not touched yet. */
void sp__pages_huge(void *p, size_t bytes);
/* Makes the memory resident now instead of at the first touch. */
void sp__pages_touch(void *p, size_t bytes);
void sp__pages_free(void *p, size_t bytes);
/*
 * A block of bytes grows from one size to another (from 0: there is none yet; to 0:
 * it is freed).  A large one is pages of its own: it grows without a second copy, and
 * its memory goes back to the system at once.  NULL: there is no memory.
 */
void *sp__block_resize(void *p, size_t from, size_t to);
/* Gives back the resident memory of a range, keeping the addresses. */
void sp__pages_drop(void *p, size_t bytes);

#endif
