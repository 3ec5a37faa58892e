/* SPDX-License-Identifier: MIT */
/*
 * Values of consecutive records on their way to cells: what the writer has placed, and a task
 * copies.
 *
 * The writer divides the records among cells and directory rows, in the order of the records, and
 * notes a fill for each cell and a part for each directory row.  sp__fills_run() copies the values,
 * and extends the bounds of the rows.  The last fill of a buffer seals its cells and writes them.
 *
 * Owner: the thread of the writer, then one task until it has ended.
 */
#pragma once

#include <pthread.h>
#include <sys/queue.h>
#include "table/values/columns.h"
#include "table/write/bounds.h"
#include "table/write/slabs.h"

/* A directory row that is not written yet. */
struct sp__row_entry {
	uint64_t number;
	bool ended;		       /* it has all of its records */
	atomic_uint uses;	       /* parts outstanding */
	pthread_mutex_t lock;	       /* protects the bounds while parts are outstanding */
	struct sp__bounds *bounds;     /* of each column */
	struct sp__text_place *places; /* of each text column; the writer's */
	TAILQ_ENTRY(sp__row_entry) link;
};

/* Records of a cell. */
struct sp__fill {
	struct sp__slab *slab; /* group UINT32_MAX: only the use of it ends */
	uint32_t group;
	uint32_t cell;	 /* of the slab */
	uint32_t record; /* of the cell */
	uint32_t at, n;	 /* records of the columns */
};

/* Records of a directory row. */
struct sp__fill_part {
	struct sp__row_entry *row;
	uint32_t at, n;
};

struct sp__fills {
	const struct sp__tablefile *file;
	/* Completes the values, before they are copied; NULL: they are complete. */
	void (*prepare)(void *arg);
	void *prepare_arg;
	const struct sp__column_values *columns;
	struct sp__fill *list;
	size_t n, capacity;
	struct sp__fill_part *parts;
	size_t nparts, parts_capacity;
};

/* Copies the values of one fill. */
void sp__fill_copy(const struct sp__tablefile *file, const struct sp__column_values *columns,
		   const struct sp__fill *f);
/* Carries out all fills and parts, and empties the lists. */
void sp__fills_run(struct sp__fills *f);
void sp__fills_free(struct sp__fills *f);
