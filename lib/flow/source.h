/* SPDX-License-Identifier: MIT */
/*
 * A source of records that are not in a file of text, such as a table: records of CSV with numbers,
 * in ranges that several threads read concurrently (flow/parts.h).
 *
 * A source is a struct whose first member is struct sp_source.
 *
 * Thread rule: each reader belongs to one thread; choose() is called before readers are opened.
 */
#pragma once

#include <spindle/flow.h>
#include "base/err.h"
#include "run/env.h"

/* A source and its readers have this share of the working memory of a run. */
#define SP__SOURCE_SHARE 4

/* The first bytes of a file that can only be read as a source. */
#define SP__SOURCE_MAGIC "SPTABLE\n"

#define SP__ENGINE_NAME 32 /* bytes of the name of an engine */

struct sp__source_ops {
	/*
	 * Limits the records to n columns, which ascend; 0: they are only counted.  Sets
	 * record_bytes and min_bytes.  Returns 0 or an error, recorded in err.
	 */
	int (*choose)(struct sp_source *s, const size_t *columns, size_t n, struct sp_errinfo *err);
	/*
	 * Opens a reader.  plan: the environment whose device and trace it shares.  Returns 0 or an
	 * error, recorded in err; *reader is then NULL.
	 */
	int (*open)(struct sp_source *s, const struct sp__env *plan, uint64_t memory_bytes,
		    void **reader, struct sp_errinfo *err);
	/* Begins with records [from, to); what was begun before is ended.  Errors as above. */
	int (*begin)(void *reader, uint64_t from, uint64_t to, struct sp_errinfo *err);
	/* Returns SP_READY with a batch, SP_END, or an error, recorded in err. */
	int (*next)(void *reader, struct sp_batch *batch, struct sp_errinfo *err);
	/* Frees the reader; adds its requests to *done, and sets the name of their engine. */
	void (*close)(void *reader, struct sp__io_counters *done, char engine[SP__ENGINE_NAME]);
	void (*free)(struct sp_source *s);
};

struct sp_source {
	const struct sp__source_ops *ops;
	const char *name;	/* for messages */
	uint64_t numbers;	/* of records, also of those that are deleted */
	uint64_t records;	/* without these */
	struct sp_batch header; /* record of CSV with the names of all columns */
	double record_bytes;	/* about: of a record as CSV */
	uint64_t memory_bytes;	/* for all readers */
	uint64_t min_bytes;	/* memory that a reader needs at least */
};
