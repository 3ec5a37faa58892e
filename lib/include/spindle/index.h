/* SPDX-License-Identifier: MIT */
/*
 * An index over one key of a file: a B+-tree in a file of its own (spindle-index(5)), which says
 * where the records are that have a key, or a key between two others.
 *
 * The source is a regular file of lines, CSV records or records of a fixed length; it stays where
 * it is.  Its size and time of modification are compared whenever the index is opened, its
 * checksum by sp_index_check().  An index is built once; only the time of its source can change in
 * it.
 *
 * Texts are ordered by their bytes, whatever the locale's order is; all other types of keys are
 * those of sorting.  Source: Iyengar et al. 2008, section 6 (asynchronous index lookup).
 *
 * Errors: a negative code, with the place and the reason in err, which may be NULL.
 */
#ifndef SPINDLE_INDEX_H
#define SPINDLE_INDEX_H

#include <spindle/flow.h>
#include <spindle/rec.h>
#include <spindle/run.h>

#define SP_INDEX_PAGE_BYTES 4096

struct sp_index_build_opts {
	struct sp_run_opts run;
	struct sp_recfmt format;
	int separator; /* lines: as in struct sp_keyset_opts */
	/*
	 * The key: KEYDEF of xsort -k; of fixed-length records OFFSET:LENGTH[:TYPE][:r]; NULL: the
	 * whole record.
	 */
	const char *key;
	uint64_t header_records; /* at the beginning of the source, not in the index */
	uint32_t page_bytes;	 /* a power of two from 512 to 65536; 0: SP_INDEX_PAGE_BYTES */
};

#define SP_INDEX_BUILD_OPTS_INIT                                                                   \
	{                                                                                          \
		.run = SP_RUN_OPTS_INIT, .separator = -1                                           \
	}

struct sp_index_info {
	const char *source; /* as it can be opened from here */
	const char *key;    /* "": the whole record */
	struct sp_recfmt format;
	int separator;
	uint64_t header_records;
	uint32_t page_bytes;
	uint64_t pages;		/* those of the head included */
	unsigned levels;	/* nodes from the root to a leaf */
	uint64_t records, keys; /* keys: different ones */
	uint64_t source_bytes, source_checksum;
	int64_t source_mtime_ns;
	const char *stale; /* how the source differs from what the index says; NULL: it does not */
};

/* Figures of one call; spindle-report(5) explains each. */
struct sp_index_stats {
	struct sp_run_stats run;
	uint64_t keys;		  /* looked up; of a build: different ones */
	uint64_t found;		  /* of those looked up: that have a record */
	uint64_t records;	  /* indexed, or matching */
	uint64_t nodes_read;	  /* from the file */
	uint64_t nodes_in_memory; /* needed, and there already or on the way */
	uint64_t pages;		  /* of an index built or checked */
	uint64_t levels;
};

/*
 * Builds the index of a source.  The file appears when it is complete, in place of an old one.
 * SP_EUNSUP: the source is no regular file, has changed meanwhile, or a key or a record is too
 * long (the error says which page size would do).
 */
SP_API SP_MUST_CHECK int sp_index_build(const struct sp_index_build_opts *opts, const char *source,
					const char *index, struct sp_index_stats *stats,
					struct sp_errinfo *err);

struct sp_index;

struct sp_index_opts {
	struct sp_run_opts run;
	unsigned depth; /* requests outstanding, of nodes and of records; 0: 128 each */
	/*
	 * Opens an index even if its source has changed or is missing.  Until sp_index_check()
	 * has found it unchanged, queries are then -ESTALE.
	 */
	bool any_source;
};

/*
 * err also receives the errors of later calls: it must outlive the index.  -ESTALE: the source has
 * changed since the index was built (if only the nanoseconds of its time are lost, as by tar, its
 * content is compared as by sp_index_check(), and its new time is recorded in the index, if that
 * can be written); SP_EFORMAT, SP_ECORRUPT; SP_EUNSUP: built in a locale in
 * which keys differ.
 */
SP_API SP_MUST_CHECK int sp_index_open(struct sp_index **index, const char *path,
				       const struct sp_index_opts *opts, struct sp_errinfo *err);
/* Accepts NULL.  0, or the error of the trace. */
SP_API int sp_index_close(struct sp_index *index);
/* Pointers live as long as the index. */
SP_API void sp_index_info(const struct sp_index *index, struct sp_index_info *info);

/* A record of the source. */
struct sp_index_match {
	uint64_t offset, bytes; /* without its terminator */
	const char *record;	/* NULL: only its place was asked for */
};

/* Takes a match, valid during the call.  0, or a negative code, which ends the call. */
typedef int (*sp_index_sink)(void *arg, const struct sp_index_match *match);
/* Gives the next key as text, valid until the next call: 1; 0: there is none; or an error. */
typedef int (*sp_index_keys)(void *arg, const char **key, size_t *bytes);

/*
 * The records of each key, keys in their order, records of one key in that of the source; many
 * lookups are under way at once.  A key is text, as the field of a record has it; of fixed-length
 * records a number, or bytes as they are or as 0x and two hexadecimal digits for each (-EINVAL:
 * it is neither).  records: also read them.  stats may be NULL.
 */
SP_API SP_MUST_CHECK int sp_index_lookup(struct sp_index *index, sp_index_keys keys, void *keys_arg,
					 bool records, sp_index_sink sink, void *arg,
					 struct sp_index_stats *stats);
/* Those with a key from lo to hi, both included and possibly NULL, in the order of the keys. */
SP_API SP_MUST_CHECK int sp_index_range(struct sp_index *index, const char *lo, const char *hi,
					bool records, sp_index_sink sink, void *arg,
					struct sp_index_stats *stats);
/*
 * The same records as an operator of a plan (spindle/flow.h), which has their fields as the index
 * separates them.  Errors are those of opening an index, too.
 */
SP_API SP_MUST_CHECK int sp_index_operator(struct sp_operator **op, struct sp_flow *flow,
					   const char *path, const char *lo, const char *hi);
/*
 * Reads all of the index and of the source: checksums, the order of the keys, the tree, and
 * whether the entries are those of the records.  0; SP_ECORRUPT with what is wrong; -ESTALE: the
 * source has changed though its time has not.
 */
SP_API SP_MUST_CHECK int sp_index_check(struct sp_index *index, struct sp_index_stats *stats);

#endif
