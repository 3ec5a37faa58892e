/* SPDX-License-Identifier: MIT */
/*
 * Makes the result of sorted partial records: combines those of each group, and writes a row.
 *
 * Rows come in the order of the keys.  For another order they are records of a second sort.
 *
 * Thread rule: one thread.
 */
#pragma once

#include "group/worker.h"
#include "sort/result.h"
#include "sort/sort.h"

/* The values of a list of the open group that have passed. */
struct sp__group_list {
	const struct sp__group_argument *argument;
	unsigned keep; /* SP__KEEP_NUMBERS, _WORDS or _ROWS */
	uint64_t passed, distinct;
	struct sp__bytes last; /* the value, with its escapes, that passed last, ... */
	uint64_t times;	       /* ... this often */
	uint64_t most;	       /* times of the most frequent one, ... */
	struct sp__bytes mode; /* ... this one */
	struct sp__bytes joined;
};

/* The numbers at a rank and the one behind it. */
struct sp__group_rank {
	uint64_t rank;
	uint64_t part; /* of the distance between them, in 1 / whole */
	struct sp__amount low, high;
};

struct sp__group_results;

/* Takes a field of a row elsewhere.  Returns 0 or an error. */
typedef int sp__group_field_fn(struct sp__group_results *r, uint32_t number, const char *p,
			       size_t n, bool is_number);

struct sp__group_results {
	const struct sp__group_input *in;
	const struct sp__group_spec *spec;
	struct sp__group_order order;
	struct sp__bytes header; /* of whole records; without its end */
	struct sp__expr *having; /* a condition of rows; or NULL */
	bool json;		 /* a row is an object */
	bool limited;		 /* to so many rows: */
	uint64_t top;
	struct sp_errinfo *err;
	struct sp__sorter *sorter;     /* of rows in another order; or NULL */
	struct sp__sort_result *write; /* where rows go otherwise */
	struct sp__group_split *split; /* or these files, which are borrowed; NULL: none */
	/* Internal: */
	struct sp__group_arena arena;
	uint32_t at;		 /* the open group; 0: none */
	struct sp__bytes prefix; /* its key */
	struct sp__bytes text;	 /* a value without escapes */
	struct sp__slice value;	 /* the field as JSON, if it is known: p is not NULL */
	struct sp__bytes row, body, out;
	struct sp__bytes ordered; /* the value of the row in order.column */
	struct sp__bytes code;
	struct sp__bytes values;       /* of the row, for conditions and running, ... */
	struct sp__slice *columns;     /* ... which ends here; p: set when the row is complete */
	sp__group_field_fn *take;      /* instead of the row; or NULL */
	char **names;		       /* of columns behind the keys of a pivot, which has them */
	uint32_t ncolumns;	       /* of the result */
	struct sp__group_runs *runs;   /* columns that depend on other rows; NULL: none */
	struct sp__group_pivot *pivot; /* NULL: none */
	struct sp__expr_scratch *scratch;
	struct sp__group_list *lists;
	struct sp__group_rank *ranks; /* of each aggregate */
	uint64_t groups, rows, bytes;
	uint64_t records; /* of all groups */
};

/* Returns the part of the open group at this offset. */
static inline void *sp__group_result_part(const struct sp__group_results *r, uint32_t offset)
{
	return sp__group_part(&r->arena, r->at, offset);
}

/* Returns 0 or -ENOMEM; close() is for both. */
SP_MUST_CHECK int sp__group_results_open(struct sp__group_results *r);
void sp__group_results_close(struct sp__group_results *r);
/* Writes the names of the columns, or the header of whole records. */
SP_MUST_CHECK int sp__group_results_header(struct sp__group_results *r);
/* Takes sorted partial records.  Returns 0; SP_END: there are enough rows; or an error. */
SP_MUST_CHECK int sp__group_results_take(struct sp__group_results *r,
					 const struct sp_batch *partial);
/* Ends the last group; without keys there is one even of no records. */
SP_MUST_CHECK int sp__group_results_end(struct sp__group_results *r);
/* Writes sorted rows.  Returns as take(). */
SP_MUST_CHECK int sp__group_results_rows(struct sp__group_results *r,
					 const struct sp_batch *sorted);
/* field.c: returns the name of a column of the result. */
const char *sp__group_result_name(const struct sp__group_results *r, uint32_t number);
/* Appends a key that is a value of JSON as it is written. */
SP_MUST_CHECK int sp__group_member_put(struct sp__group_results *r, uint32_t number, const char *p,
				       size_t n);
/* field.c: appends a field to the row; is_number: JSON has it without quotes. */
SP_MUST_CHECK int sp__group_field_put(struct sp__group_results *r, uint32_t number, const char *p,
				      size_t n, bool is_number);
/* row.c: writes the row of the open group, or gives it to the sort of rows.  Returns as take(). */
SP_MUST_CHECK int sp__group_row_write(struct sp__group_results *r);
/* row.c: puts the key, and aggregates 0 and so on, of the open group. */
SP_MUST_CHECK int sp__group_row_key(struct sp__group_results *r);
SP_MUST_CHECK int sp__group_row_values(struct sp__group_results *r);
/* Returns the position of the first record of the open group, if it is kept. */
static inline uint64_t sp__group_result_position(const struct sp__group_results *r)
{
	return r->spec->position ? *(const uint64_t *)sp__group_result_part(r, r->spec->position)
				 : 0;
}

/* Without another order rows are sorted by their number: what they need is known later. */
static inline bool sp__group_is_ordered(const struct sp__group_results *r)
{
	return r->order.first || r->order.column >= 0;
}

/* rows.c: writes a row or a record, given without its end.  Returns as take(). */
SP_MUST_CHECK int sp__group_row_put(struct sp__group_results *r, const char *row, size_t bytes);
/* rows.c: appends the columns that depend on other rows to the row, and writes it. */
SP_MUST_CHECK int sp__group_row_finish(struct sp__group_results *r);
/*
 * rows.c: gives a row to the sort of rows. body: what sp__group_results_rows() makes the row of,
 * without NUL.  position: of its first record, as sp__group_result_position().
 */
SP_MUST_CHECK int sp__group_row_sort(struct sp__group_results *r, uint64_t position,
				     const struct sp__bytes *body);
/* Writes what is left of the output. */
SP_MUST_CHECK int sp__group_results_flush(struct sp__group_results *r);
