/* SPDX-License-Identifier: MIT */
/*
 * An index over one key of a file: a B+-tree in a file of its own (spindle-index(5)).  It finds the
 * records with a key, or with a key in a range.  It does not hold the records.
 *
 * The source is a regular file of lines, CSV records or records of fixed length.  It stays where it
 * is.  Its size and modification time are compared whenever the index is opened, its checksum by
 * sp_index_check().  An index is built once; only the stored modification time of its source can
 * change.
 *
 * Texts are ordered by their bytes in every locale.  All other key types are ordered as in sorting.
 *
 * Errors: err may be NULL; on an error it receives a description.
 * Thread rule: one thread at a time uses an index.
 *
 * Source: Iyengar et al. 2008, section 6 (asynchronous index lookup).
 */
#ifndef SPINDLE_INDEX_H
#define SPINDLE_INDEX_H

#include <spindle/flow.h>
#include <spindle/rec.h>
#include <spindle/run.h>

#define SP_INDEX_PAGE_BYTES 4096

/*
 * Reports the progress of a call: phase counts from 0, total_bytes is that of the phase (0:
 * unknown).  sp_index_build() reads the source, then writes the index; sp_index_check() reads the
 * index, then the source.  Any thread of the call calls the function at the start of a phase, and
 * then at most about 10 times per second; never two threads concurrently.
 */
typedef void (*sp_index_progress)(void *arg, int phase, uint64_t done_bytes, uint64_t total_bytes);

struct sp_index_build_opts {
	struct sp_run_opts run;
	struct sp_recfmt format;
	int separator; /* lines: as in struct sp_keyset_opts */
	/*
	 * Key: KEYDEF of xsort -k, for fixed-length records OFFSET:LENGTH[:TYPE][:r]; NULL: whole
	 * record.
	 */
	const char *key;
	uint64_t header_records;    /* at the beginning of the source; not indexed */
	uint32_t page_bytes;	    /* a power of two from 512 to 65536; 0: SP_INDEX_PAGE_BYTES */
	sp_index_progress progress; /* NULL: none */
	void *progress_arg;
};

#define SP_INDEX_BUILD_OPTS_INIT                                                                   \
	{                                                                                          \
		.run = SP_RUN_OPTS_INIT, .separator = -1                                           \
	}

/* Facts about an index, which owns the texts. */
struct sp_index_info {
	const char *source; /* path, relative to the working directory */
	const char *key;    /* "": the whole record */
	struct sp_recfmt format;
	int separator;
	uint64_t header_records;
	uint32_t page_bytes;
	uint64_t pages;		/* pages of the index file, header included */
	unsigned levels;	/* nodes from the root to a leaf */
	uint64_t records, keys; /* records indexed; different keys */
	uint64_t source_bytes, source_checksum;
	int64_t source_mtime_ns;
	const char *stale; /* difference between the source and the index, as text; NULL: none */
};

/* Counters of one call; spindle-report(5) explains each. */
struct sp_index_stats {
	struct sp_run_stats run;
	uint64_t keys;		  /* looked up; after a build: different keys */
	uint64_t found;		  /* keys looked up that have a record */
	uint64_t records;	  /* indexed, or matching */
	uint64_t nodes_read;	  /* nodes read from the file */
	uint64_t nodes_in_memory; /* nodes found in memory, or already being read */
	uint64_t pages;		  /* pages of the index that was built or checked */
	uint64_t levels;
};

/*
 * Builds the index of a source.  The file appears when it is complete, and replaces an old one.
 * index: path of the file; spindle/outfile.h describes how it is written.
 * stats: may be NULL.
 * Returns 0 or an error:
 *   SP_EUNSUP: the source is not a regular file or has changed meanwhile, or a key or record is too
 *       long (err->text names a sufficient page size)
 *   SP_EFORMAT: the source is not in the stated format
 *   -EINVAL: the key or the page size is wrong
 *   SP_EBUDGET: the memory limit is too small
 *   SP_EBALANCE: records were lost or duplicated by a bug in the library
 *   -errno: a file could not be opened, read or written
 */
SP_API SP_MUST_CHECK int sp_index_build(const struct sp_index_build_opts *opts, const char *source,
					const char *index, struct sp_index_stats *stats,
					struct sp_errinfo *err);

struct sp_index;

struct sp_index_opts {
	struct sp_run_opts run;
	unsigned depth; /* outstanding requests, for nodes and for records each; 0: 128 */
	/*
	 * Open an index even if its source has changed or is missing.  Queries then return -ESTALE
	 * until sp_index_check() has found the source unchanged.
	 */
	bool any_source;
	sp_index_progress progress; /* reports the progress of sp_index_check(); NULL: none */
	void *progress_arg;
};

/*
 * Opens an index.  If only the nanoseconds of the source's time are lost, as by tar, the contents
 * are compared; if they are equal, the new time is stored in the index, if it can be written.
 * Release the index with sp_index_close().
 * err: also receives the errors of later calls, so it must outlive the index; may be NULL.
 * Returns 0 or an error:
 *   -ESTALE: the source has changed since the index was built
 *   SP_EFORMAT: the file is not an index, or of another version
 *   SP_ECORRUPT: the index is damaged
 *   SP_EUNSUP: the index was built in a locale in which keys differ
 *   -EINVAL: depth is too large
 *   -errno: a file could not be opened or read
 *   -ENOMEM: memory is short
 */
SP_API SP_MUST_CHECK int sp_index_open(struct sp_index **index, const char *path,
				       const struct sp_index_opts *opts, struct sp_errinfo *err);

/* Closes an index; NULL is accepted.  Returns 0, or -errno if the trace could not be written. */
SP_API int sp_index_close(struct sp_index *index);

/* Fills in the facts about an index.  Texts are valid while the index lives. */
SP_API void sp_index_info(const struct sp_index *index, struct sp_index_info *info);

/* A record of the source that a query found. */
struct sp_index_match {
	uint64_t offset, bytes; /* in the source, without the terminator */
	const char *record;	/* NULL: the caller requested offsets only */
};

/* Receives a match, valid during the call.  Returns 0, or a negative code, which ends the query. */
typedef int (*sp_index_sink)(void *arg, const struct sp_index_match *match);
/*
 * Supplies the next key as text, valid until the next call.  Returns 1; 0 after the last; or an
 * error.
 */
typedef int (*sp_index_keys)(void *arg, const char **key, size_t *bytes);

/*
 * Finds the records of each key: keys in their order, records of one key in the order of the
 * source.  Many lookups are pending concurrently.  A key is a text, as the field of a record has
 * it.  For fixed-length records it is a number, or bytes as they are, or 0x and two hexadecimal
 * digits for each byte.
 * records: read the records, too, not only their offsets.
 * stats: may be NULL.
 * Returns 0, a negative code of keys or sink, or an error:
 *   -EINVAL: a key is neither a number nor bytes
 *   -ESTALE: the source has changed
 *   SP_ECORRUPT: the index is damaged
 *   -errno: the index or the source could not be read
 *   -ENOMEM: memory is short
 */
SP_API SP_MUST_CHECK int sp_index_lookup(struct sp_index *index, sp_index_keys keys, void *keys_arg,
					 bool records, sp_index_sink sink, void *arg,
					 struct sp_index_stats *stats);

/*
 * Finds the records with lo <= key < hi, in key order; a NULL bound is open.
 * records, stats: see sp_index_lookup().
 * Returns 0, a negative code of sink, or an error of sp_index_lookup().
 */
SP_API SP_MUST_CHECK int sp_index_range(struct sp_index *index, const char *lo, const char *hi,
					bool records, sp_index_sink sink, void *arg,
					struct sp_index_stats *stats);

/*
 * Opens an operator of a plan (spindle/flow.h) that returns the records with lo <= key < hi, in
 * key order.  Fields are separated as in the index.
 * Returns 0, or an error of sp_index_open() or, for a bound, -EINVAL.
 */
SP_API SP_MUST_CHECK int sp_index_operator(struct sp_operator **op, struct sp_flow *flow,
					   const char *path, const char *lo, const char *hi);

/*
 * Reads the whole index and the whole source.  It verifies checksums, the order of the keys, the
 * tree, and that the entries are those of the records.
 * stats: may be NULL.
 * Returns 0 or an error:
 *   SP_ECORRUPT: the index is damaged, as err->text says
 *   -ESTALE: the source has changed although its time has not
 *   -errno: the index or the source could not be read
 *   -ENOMEM: memory is short
 */
SP_API SP_MUST_CHECK int sp_index_check(struct sp_index *index, struct sp_index_stats *stats);

#endif
