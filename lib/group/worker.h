/* SPDX-License-Identifier: MIT */
/*
 * Groups records in one thread: finds their fields, adds them to a table of groups, and makes
 * partial records of the table when it is full.
 *
 * A table that does not pay (most records are groups of their own) stays as small as the cache of a
 * processor until its groups have more records again.
 *
 * Thread rule: one thread at a time per worker; the options are immutable.
 */
#pragma once

#include <spindle/batch.h>
#include "columns/fieldends.h"
#include "group/table.h"
#include "rec/jsonread.h"

struct sp__group_input {
	const struct sp__group_spec *spec;
	struct sp_recfmt format;
	struct sp__cut cut;
	const char *null_text; /* NULL: only an empty field has no value */
	size_t null_bytes;
	bool skip_invalid;
};

/* True if a column has no value.  The text of --null is one of fields, not of derived columns. */
static inline bool sp__group_is_null(const struct sp__group_input *in, uint32_t column,
				     const struct sp__slice *text)
{
	return !text->n ||
	       (in->null_text && text->n == in->null_bytes && column < in->spec->ncolumns &&
		!memcmp(text->p, in->null_text, text->n));
}

/* How the values of a list go to partial records. */
struct sp__group_values {
	bool direct;	      /* not through the table */
	uint64_t left;	      /* values until this is decided again */
	uint64_t added, made; /* values that went to the table, and new ones of them */
};

#define SP__GROUP_AHEAD 32u

struct sp__group_worker {
	_Alignas(64) const struct sp__group_input *in;
	struct sp__group_table table;
	struct sp__fieldends ends;
	const char *text;		   /* records, for ends */
	struct sp__slice record;	   /* of a fixed length that is added */
	struct sp__slice *columns;	   /* of a record, without quotes; then the derived ones */
	struct sp__expr_scratch **scratch; /* of the derived columns, and of the condition */
	struct sp__group_value *values, *second;
	struct sp__fields fields;
	struct sp__bytes unquoted, key, by;
	struct sp__keybuf encoded;
	struct sp__group_values *lists;
	struct sp__bytes next_key;	/* of a record that is added later */
	uint64_t next[SP__GROUP_AHEAD]; /* hashes of the keys of such records */
	struct sp__bytes out;		/* partial records */
	struct sp__bytes direct;	/* ... of values that did not go through the table */
	bool given;			/* direct was returned, and is to be emptied */
	uint32_t emitting;		/* the next group of the full table; 0: none */
	bool full;			/* the table is to be emptied */
	bool small;			/* the table stays in the cache */
	uint64_t added, made;		/* records, and groups of them, since the table was empty */
	uint64_t records, bytes;	/* taken; bytes are counted by the owner */
	uint64_t skipped, filtered, partials, fills;
	struct sp__json_value *found; /* values at the paths of a record of JSON */
	struct sp__json_reader json;
	struct sp__json_error not_json; /* wanted: NULL unless a record is not JSON */
	struct sp__expr_bad bad;	/* a value that is not a number or a date */
	const char *bad_of;		/* in which aggregate or expression */
};

#define SP__GROUP_SMALL 4096u /* groups of a table that does not pay */
#define SP__GROUP_PAYS 2      /* it pays if it has at most 1 / 2 groups for each record */
/* Records or values that go through the table before it is judged. */
#define SP__GROUP_TRIED UINT64_C(16384)

/*
 * True if the table can hold the groups of all records; the first `added` have made `made` groups.
 * If n records have N equally frequent keys, about n^2 / 2N keys were there before; so N follows.
 */
static inline bool sp__group_worker_pays(const struct sp__group_worker *w, uint64_t added,
					 uint64_t made)
{
	return added * added / 2 <= (added - made) * (w->table.max_slots / 2);
}

/* table_bytes: of the table; the rest needs less than SP__GROUP_WORKER_REST.  0 or -ENOMEM. */
#define SP__GROUP_WORKER_REST ((size_t)1 << 20)
SP_MUST_CHECK int sp__group_worker_open(struct sp__group_worker *w,
					const struct sp__group_input *in, size_t table_bytes);
/* Frees what grows with the records, when there are no more. */
void sp__group_worker_release(struct sp__group_worker *w);
void sp__group_worker_close(struct sp__group_worker *w);

/*
 * Takes records of a batch that is at this position of all input, and removes them from it.
 * *partial: partial records, valid until the next call; there may be none, or they can be all that
 * was done.  Returns 0; SP_EFORMAT: the first record of the batch has a bad value; -EMSGSIZE: it is
 * too long; or -ENOMEM.
 */
SP_MUST_CHECK int sp__group_worker_take(struct sp__group_worker *w, struct sp_batch *from,
					uint64_t position, struct sp_batch *partial);
/* Makes partial records of what is left.  Returns SP_READY; SP_END: nothing; or -ENOMEM. */
SP_MUST_CHECK int sp__group_worker_rest(struct sp__group_worker *w, struct sp_batch *partial);
