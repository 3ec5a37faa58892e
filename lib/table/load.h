/* SPDX-License-Identifier: MIT */
/*
 * The state of a load: inputs, what is known about their records, and the table that is made.
 *
 * load.c writes all members but those of records.c: the slots and what it counts.
 */
#pragma once

#include "base/task.h"
#include "columns/resolve.h"
#include "columns/source.h"
#include "columns/textchunk.h"
#include "table/cost/ask.h"
#include "table/write/writer.h"

/* A chunk, and the task that parses it, then copies its values to cells. */
struct sp__loadslot {
	struct sp__textchunk chunk;
	struct sp__fills fills;
	struct sp__task task;
	enum { SP__LOADSLOT_FREE, SP__LOADSLOT_PARSING, SP__LOADSLOT_STORING } state;
	bool more;    /* records in the text of the chunk, */
	bool unread;  /* and in the part behind them */
	size_t input; /* number of the input of its text */
	struct sp__part part;
	struct sp_batch batch;		  /* of the part */
	struct sp__textchunk_opts longer; /* options of the chunk while it has a long record */
	int rc;				  /* of the part */
	const struct sp_recfmt *format;
};

struct sp__tableload {
	const char *path;
	const struct sp_table_load_opts *opts;
	struct sp_table_stats *stats;
	struct sp_errinfo *err;
	struct sp_run_opts run; /* options of the environment for reading */
	struct sp__env env;
	uint64_t memory; /* bytes */
	unsigned threads;
	struct sp_recfmt format;
	struct sp__schema described; /* by the user */
	bool all;		     /* these are all columns */
	struct sp__columnsource source;
	struct sp__sample sample;
	struct sp__bytes kept; /* the text of the sample, which is loaded first, ... */
	size_t *kept_ends;     /* ... where that of each input ends (0: none), ... */
	size_t kept_taken;     /* ... and the bytes that are loaded */
	struct sp__resolved resolved;
	struct sp__tablefile *file; /* that gets the records */
	struct sp__tablewriter *writer;
	/* records.c */
	struct sp__textchunk_opts chunk_opts;
	struct sp__loadslot *slots;
	unsigned nslots;
	unsigned at, parsing;	 /* the slot that is filled next; slots before it that are parsed */
	bool divided;		 /* tasks copy values, */
	struct sp__parts *parts; /* and read the inputs; NULL: this thread reads them */
	struct sp__scan_opts part_opts;
	uint64_t given;	       /* bytes of the parts that tasks got */
	bool in_order;	       /* the inputs must be read by this thread */
	bool miscut;	       /* the load has failed since they are */
	struct sp_batch batch; /* that is being loaded */
	size_t batch_input;
	size_t input;	      /* of the slot that ended last, ... */
	uint64_t lines;	      /* ... its lines before the next slot, without a header */
	uint64_t other_ends;  /* records with CR LF, if the style has LF, or the reverse; ... */
	bool last_other;      /* ... and the last record is one */
	uint64_t blank_lines; /* of JSON: skipped */
	uint64_t repeated, made_texts; /* of JSON: see struct sp_table_stats */
	bool *mixed; /* of each column: values of JSON that are not texts have become texts */
	bool inexact;
	bool misfit; /* a value does not fit the type that was inferred for its column */
};

/*
 * Opens the inputs of a load whose path, options, statistics and error struct are set; checks no
 * options, and takes no names and types of columns.  After an error, too, it must be closed.
 * Closing returns the error of the trace.
 */
SP_MUST_CHECK int sp__tableload_open_inputs(struct sp__tableload *l, const char *const *inputs,
					    size_t n);
int sp__tableload_close(struct sp__tableload *l);
/* sampling.c: reads a sample of the records, and decides on the schema. */
SP_MUST_CHECK int sp__tableload_sample(struct sp__tableload *l);
/* sampling.c: forgets the text of the sample, whose records are read again. */
void sp__tableload_drop_kept(struct sp__tableload *l);
/* sampling.c: tells the caller of the types that do not keep spellings, or that lack numbers. */
void sp__tableload_tell_types(const struct sp__tableload *l);
/* sampling.c: tells the caller what was decided about members of JSON. */
void sp__tableload_tell_members(const struct sp__tableload *l);
/* recorderror.c: describes the record of JSON that the sample could not read, in this line. */
int sp__tableload_member_error(const struct sp__tableload *l, const struct sp__member_error *e,
			       size_t input, uint64_t line);
/* Adds the bytes of the inputs, and the requests of reading and writing, to the statistics. */
void sp__tableload_note_io(const struct sp__tableload *l);
/* Prints the header that a scan of the table gives. */
SP_MUST_CHECK int sp__tableload_print_header(const struct sp__tableload *l, struct sp__bytes *to);
/* sampling.c: reads all records, and decides on the schema. */
SP_MUST_CHECK int sp__tableload_types(struct sp__tableload *l);
/* Loads all records.  Returns 0 or an error; misfit says whether other types could help. */
SP_MUST_CHECK int sp__tableload_records(struct sp__tableload *l);
/* recorderror.c: describes the error of a chunk.  Returns its code. */
int sp__tableload_chunk_error(struct sp__tableload *l, const struct sp__textchunk *c);
/* True if the style of the table gives back the bytes of the records that were loaded. */
bool sp__tableload_records_exact(const struct sp__tableload *l);
