/* SPDX-License-Identifier: MIT */
/*
 * Assembles records of the result.
 *
 * Records are collected in a buffer that stays in the processor's cache and goes to the write
 * stream, or to a sink, when it is full.  An error is kept until the buffer is flushed; callers
 * that want to stop early may check it.
 */
#pragma once

#include <limits.h>
#include "join/plan/plan.h"
#include "join/result/condition.h"
#include "join/result/jsonrow.h"
#include "join/result/members.h"
#include "join/result/rowform.h"
#include "rec/fields.h"
#include "run/env.h"

/*
 * Records the times at which records of a result are complete, for the caller of the join;
 * sp_join_io defines which of them are reported (result.c).
 */
struct sp__timeline {
	const struct sp_join_io *io;
	const struct sp__env *env;
	uint64_t rows, reported; /* complete; the last one reported */
	double elapsed_s;	 /* time of the last row */
};

/* Counts another complete record. */
void sp__timeline_row(struct sp__timeline *t);
/* Reports the last record, after the end. */
void sp__timeline_end(struct sp__timeline *t);

/* A line without its terminator and tag, and its key. */
struct sp__line {
	const char *data;
	size_t bytes;
	struct sp__slice key;
};

struct sp__emit {
	const struct sp_join_opts *opts;
	struct sp__cut cut;
	const char *filler; /* in the form that is written */
	char *own_filler;   /* memory of filler, if it had to be quoted */
	size_t filler_bytes;
	/* auto_fields: the result has as many columns of each file as its first line. */
	bool padded;
	size_t auto_fields[SP_JOIN_FILES_MAX];
	bool first_alone; /* padded: sets auto_fields of file 1 only */
	unsigned nfiles;
	const char *const *inputs; /* names of files 1 and 2, set by the owner: for messages */
	bool simple;		   /* the rest of a line can be copied as a whole */
	/* Binary records: */
	size_t fixed_bytes[2]; /* bytes of each file in the result; 0: it is not in the result */
	unsigned char fill;
	struct sp__fields fields[SP_JOIN_FILES_MAX];
	/* JSON lines: */
	const struct sp__jsonform *json; /* NULL: other records */
	struct sp__jsonform *own_json;	 /* ... if this emit frees it */
	struct sp__jsonmerge json_mem;
	const struct sp__joinpaths *paths; /* of values that are needed */
	struct sp__joinpaths *own_paths;   /* ... if this emit frees them; JSON lines only */
	struct sp__joinmembers members;

	const struct sp__rowform *rows; /* NULL: columns have no names */
	struct sp__rowform *own_rows;	/* ... if this emit frees it */
	struct sp__bytes row_text;
	/* Appends bytes: sp__emit_raw(). */
	void (*put)(struct sp__emit *e, const char *data, size_t bytes);

	struct sp__wstream *ws; /* set by the owner before the first flush */
	/*
	 * CSV: true if file 1 begins with a byte order mark, which then begins ws.  mark_due, set
	 * by the owner: nothing has been written.  If there is a record, file 1 has been read.
	 */
	bool (*marked)(void *arg);
	void *marked_arg;
	bool mark_due;
	/*
	 * Used instead of ws, or NULL: receives records; whole: the last one ends here.  each: gets
	 * every record by itself.
	 */
	int (*sink)(void *arg, const char *data, size_t bytes, bool whole);
	void *sink_arg;
	bool each;
	/* Tags of both records (keying.h) come first, starting with file 1 or 2; 0: no tags. */
	unsigned tags_of;
	char *whole; /* end of the whole records in buf */
	bool begun;  /* the beginning of a record has been flushed */
	struct sp_errinfo *err;
	char *buf, *at, *end;
	uint64_t bytes, records; /* flushed; begun */
	int error;
	/* Records for which it is not true are left out; borrowed.  NULL: none. */
	const struct sp__joincondition *where;
	struct sp__joinfiltering filtering;
	/* Limit of records that go to ws, and their timeline. */
	uint64_t limit;
	struct sp__timeline *timeline; /* NULL: no timeline */
};

/* The error when the limit of records is reached: the join ends, and has succeeded. */
#define SP__LIMIT_REACHED INT_MIN

int sp__emit_init(struct sp__emit *e, const struct sp_join_opts *opts, struct sp_errinfo *err);
void sp__emit_release(struct sp__emit *e);

/*
 * Makes an emit for another thread, with a buffer of the caller's, whose records go to the sink.
 * Copies only the members of *e that determine a record of the result.  Before its release the
 * caller takes the buffer back: buf = NULL.
 */
void sp__emit_share(struct sp__emit *share, const struct sp__emit *e, char *buf, size_t bytes);
/* Appends records that another emit has assembled; whole: the last one ends here. */
void sp__emit_append(struct sp__emit *e, const char *data, size_t bytes, bool whole,
		     uint64_t records);

/* If padded: sets the columns of a file, from 0, to those of its first line. */
int sp__emit_auto(struct sp__emit *e, unsigned file, const struct sp__line *first);
/* True if field k of a file is one of its key. */
bool sp__emit_is_key(const struct sp__emit *e, unsigned file, size_t k);
/* Assembles one record of the result; a or b may be NULL. */
void sp__emit_pair(struct sp__emit *e, const struct sp__line *a, const struct sp__line *b);
/* Assembles one record of the result from a record of each file; NULL: no record. */
void sp__emit_files(struct sp__emit *e, const struct sp__line *const *of);
/* Assembles one record of the result from a record of file 0 or 1, and one of the other file. */
static inline void sp__emit_sides(struct sp__emit *e, int side, const struct sp__line *of_side,
				  const struct sp__line *other)
{
	sp__emit_pair(e, side ? other : of_side, side ? of_side : other);
}
/* Bytes of the result so far. */
static inline uint64_t sp__emit_bytes(const struct sp__emit *e)
{
	return e->bytes + (uint64_t)(e->at - e->buf);
}
/* Appends raw bytes to the result. */
void sp__emit_raw(struct sp__emit *e, const char *data, size_t bytes);
/* Counts a record whose end was appended raw for ws, or that a sink has returned. */
void sp__emit_count(struct sp__emit *e);
/* Writes the bytes before all records to ws, unless they have been written. */
SP_MUST_CHECK int sp__emit_begin(struct sp__emit *e);
/* Flushes all bytes to the stream or sink.  0 or the first error. */
SP_MUST_CHECK int sp__emit_flush(struct sp__emit *e);

/* Sets a line of file 0 or 1, and finds its key. */
static inline void sp__line_set(const struct sp__emit *e, int side, const char *data, size_t bytes,
				struct sp__line *line)
{
	line->data = data;
	line->bytes = bytes;
	sp__field_find(&e->cut, data, bytes, e->opts->keys[side][0], &line->key);
}
