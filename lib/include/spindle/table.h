/* SPDX-License-Identifier: MIT */
/*
 * Tables: records of typed columns in a file (spindle-table(5)), in a layout that suits the
 * questions: few columns of all records, all columns of few records, or changes in place.
 * Records have numbers, counted from 0, which stay while the table is changed.  Columns have names
 * and types; xtable(1) describes the types and how a value is spelled.  Lists of columns are names
 * with commas between them; a name with other characters than letters, digits and "_" is in double
 * quotes.
 *
 * A layout divides the columns into column groups, whose columns share cells.  With one column
 * group a full record is in one cell; with one for each column a scan reads only its columns.
 *
 * Locking: a table open for writing is locked exclusively; each read holds a shared lock and so
 * sees no partial change.
 *
 * Source: Shao 2008, chapter 4.
 *
 * Thread rule: one thread at a time uses a table.
 */
#ifndef SPINDLE_TABLE_H
#define SPINDLE_TABLE_H

#include <spindle/enum.h>
#include <spindle/pool.h>
#include <spindle/run.h>

enum sp_table_layout {
	SP_TABLE_NSM,  /* all columns share cells, record by record */
	SP_TABLE_PAX,  /* all columns share cells, column by column */
	SP_TABLE_DSM,  /* each column has cells of its own, in runs that double without end */
	SP_TABLE_CSM,  /* each column has cells of its own, in runs of at most about 1 MB */
	SP_TABLE_AUTO, /* the layout with the minimum predicted time for a workload */
};
SP_ENUM(sp_table_layout)

/* Form of an input or output. */
enum sp_table_format {
	SP_TABLE_TEXT, /* lines with a separator between fields */
	SP_TABLE_CSV,
	SP_TABLE_FIXED,	    /* records of fixed length, with values as stored */
	SP_TABLE_AS_LOADED, /* output only: the form of the input from which the table was loaded */
	SP_TABLE_JSON,	    /* lines of JSON: an object for each record */
};
SP_ENUM(sp_table_format)

enum sp_table_access {
	SP_TABLE_ACCESS_AUTO, /* the cheapest; without query.index, no error because of an index */
	SP_TABLE_S_SCAN,      /* all needed columns of all A-pages */
	SP_TABLE_SI_SCAN,     /* the columns of the predicate, then the others where it is true */
	SP_TABLE_BY_INDEX,    /* the leaves of an index, then records by number */
};
SP_ENUM(sp_table_access)

/* Joins of the columns of the layout DSM by record number: they only take virtual time. */
enum sp_table_dsm_join {
	SP_TABLE_JOIN_NONE,   /* no time: the number of a record gives the place of its values */
	SP_TABLE_JOIN_TUPLE,  /* a join for each value of each column after the first one */
	SP_TABLE_JOIN_VECTOR, /* a join for each 1024 values of such a column */
};
SP_ENUM(sp_table_dsm_join)

/* A question: records of a table, or aggregates of them. */
struct sp_table_query {
	const char *columns; /* in the order of the output; NULL: all */
	const char *where;   /* predicate; NULL: all records */
	/*
	 * Aggregates, such as "avg(a1),count()".  Then columns, limit and format have no effect.
	 * NULL: records.
	 */
	const char *agg;
	uint64_t lo, hi; /* first and last record number */
	uint64_t limit;	 /* maximum number of records of the output */
	enum sp_table_access access;
	const char *index; /* its path; NULL: TABLE.COLUMN.index, if it exists */
	enum sp_table_format format;
	bool discard; /* read and check records, and print nothing; aggregates are printed */
	uint64_t ahead_bytes; /* read ahead of each column group; 0: as memory allows */
	/* Borrowed.  A file, not open for appending: tasks write the output, the sink gets none. */
	const int *fd;
};

#define SP_TABLE_QUERY_INIT                                                                        \
	{                                                                                          \
		.hi = UINT64_MAX, .limit = UINT64_MAX, .format = SP_TABLE_AS_LOADED                \
	}

struct sp_table_column {
	const char *name;
	char type[24]; /* type as in xtable(1) */
	bool not_null, bounds;
	uint32_t group;	  /* its column group, counted from 0 */
	uint32_t words;	  /* words of the column's dictionary */
	uint64_t changed; /* number of its last change in place; 0: none */
	/* Mean width of its bounds in a directory row, as a share of its range; NaN: unknown. */
	double bounds_width;
};

/* A column group. */
struct sp_table_group {
	const char *columns; /* names, with commas between them */
	uint32_t ncolumns;
	bool rows;	       /* inside a cell record by record, otherwise column by column */
	uint32_t record_bytes; /* bytes of its columns together */
	uint32_t cell_records; /* maximum number in a cell */
	uint32_t cells;	       /* cells of an A-page */
};

/* Facts about a table, which owns the pointers. */
struct sp_table_info {
	enum sp_table_layout layout;
	uint64_t id;
	uint64_t records, deleted; /* records: with the deleted ones */
	uint64_t bytes;		   /* bytes of the file */
	uint32_t cell_bytes;
	uint32_t page_records;	    /* records of an A-page */
	uint32_t strip_pages;	    /* maximum of A-pages of a strip; 0: strips double */
	uint64_t pages;		    /* A-pages */
	uint64_t cells, free_cells; /* cells of the file; unused ones among them */
	uint64_t text_bytes, dead_text_bytes;
	double fill; /* share of the bytes of cells with values or texts; NaN: no records */
	size_t ncolumns, ngroups;
	const struct sp_table_column *columns;
	const struct sp_table_group *groups;
	enum sp_table_format format; /* format of the input from which it was loaded */
	char separator;
	bool header;
	const char *null_text; /* the spelling of NULL; "": the empty field */
	bool no_data;	       /* cells have no values (spindle/tablerun.h) */
	bool alone;	       /* one of the two superblocks is not valid; the other one is used */
	enum sp_placement placement; /* placement of the cells on the device */
	unsigned volumes;	     /* with SP_PLACE_SEMISEQ: drives; */
	/* If each is a file or device of its own: the names of all except the first. */
	const char *const *volume_names;
	size_t nvolume_names;		   /* 0: they are parts of one file */
	uint32_t depth_rows;		   /* cells of an A-page on consecutive tracks; */
	uint32_t hop_blocks, track_blocks; /* from one of these to the next; of the first zone */
	uint32_t location_pages; /* with SP_PLACE_MEMS: A-pages at a location of the sled */
	double waste;		 /* with both: share of the space of cells that has none */
	const char *volume;	 /* simulated volume, or NULL */
};

/* Counters of one call; spindle-report(5) explains each. */
struct sp_table_stats {
	struct sp_run_stats run;
	uint64_t records_read;	  /* records whose values were examined */
	uint64_t records_matched; /* records that a call selected */
	uint64_t records_written; /* records loaded, appended, changed or deleted */
	uint64_t input_bytes, output_bytes, cells_read, cells_written;
	uint64_t pages_skipped; /* A-pages that bounds excluded */
	uint64_t keys, keys_found;
	bool exact; /* a scan of all columns gives the bytes of the input */
	/* Not in a report.  Skipped in text; of JSON: repeated paths, and values made texts. */
	uint64_t blank_lines, empty_inputs, repeated_members, made_texts;
	uint64_t journal_cells, journal_bytes;
	uint64_t requests, bytes;		      /* for cells of the table */
	uint64_t predicted_requests, predicted_bytes; /* 0: not predicted */
	double predicted_s;
	struct sp_pool_counters pool; /* when the call ended; all 0: no pool */
};

/* Receives whole records, valid during the call.  Returns 0, or a negative code: the call ends. */
typedef int (*sp_table_sink)(void *arg, const char *data, size_t bytes);

struct sp_table;

/*
 * Tells how far a command is: bytes of its inputs, or of the table whose records are read one after
 * the other; total_bytes 0: unknown.  phase: 0.  Called by the thread of the command.
 */
typedef void (*sp_table_progress)(void *arg, int phase, uint64_t done_bytes, uint64_t total_bytes);

struct sp_table_opts {
	struct sp_run_opts run;	    /* volume: NULL: that of the table */
	bool write;		    /* changes are possible */
	unsigned depth;		    /* requests outstanding, at most; 0: 128 reads, 64 writes */
	sp_table_progress progress; /* NULL: none */
	void *progress_arg;
	struct sp_pool *pool; /* serves scans, gets and changes; NULL: none */
	/* Joins columns in scans and gets; needs a simulated volume and the layout DSM. */
	enum sp_table_dsm_join dsm_join;
};

#define SP_TABLE_OPTS_INIT                                                                         \
	{                                                                                          \
		.run = SP_RUN_OPTS_INIT                                                            \
	}

/*
 * Opens a table, and finishes a change that was interrupted after it had been committed.  Close
 * the table with sp_table_close().
 * Returns 0; SP_EFORMAT if the file is not a table, or of another version; SP_ECORRUPT if
 * superblock, schema or map is damaged; SP_ESTATE if another program is changing it, or, to write,
 * using it; SP_EUNSUP; -EACCES or -EROFS if an interrupted change cannot be finished; or -errno.
 */
SP_API SP_MUST_CHECK int sp_table_open(struct sp_table **table, const char *path,
				       const struct sp_table_opts *opts, struct sp_errinfo *err);
/* Closes a table; NULL is accepted.  Returns 0, or the error of the trace. */
SP_API int sp_table_close(struct sp_table *table);

/*
 * Describes a table.
 * sums: also add up texts and bounds, which reads the directory.  Otherwise fill and the widths of
 * bounds are NaN, and the bytes of texts are 0.
 * info: its pointers are valid until the table is changed or closed.
 * Returns 0; SP_ECORRUPT if the directory is damaged; SP_ESTATE if another program is changing the
 * table; or -errno.
 */
SP_API SP_MUST_CHECK int sp_table_info(struct sp_table *table, bool sums,
				       struct sp_table_info *info, struct sp_errinfo *err);

/* Damage that sp_table_check() has found. */
struct sp_table_damage {
	uint64_t cell; /* number of the cell in the file */
	/* Records and columns (names, with commas between them) concerned; columns NULL: none. */
	uint64_t first_record, last_record;
	const char *columns;
	const char *text; /* the cell, its contents, and what is wrong */
};

/* Receives damage, valid during the call.  Returns 0, or a negative code, which ends the check. */
typedef int (*sp_table_damage_fn)(void *arg, const struct sp_table_damage *damage);

struct sp_table_check_result {
	uint64_t cells;	      /* cells that were checked */
	uint64_t damaged;     /* times that damage was reported */
	size_t ncolumns;      /* length of lost */
	const uint64_t *lost; /* for each column: records whose value cannot be read */
	struct sp_run_stats run;
};

/*
 * Reads all cells that are in use: values, texts, directory and tombstones.  Checksums must be
 * right, bounds must contain the values, texts must be where the directory says, and the number of
 * deleted records must be that of the tombstones.
 * result: its pointer is valid until the table is closed.
 * Returns 0 if everything was checked, damaged or not; SP_ESTATE if another program is changing the
 * table; the code of fn; or -errno.
 */
SP_API SP_MUST_CHECK int sp_table_check(struct sp_table *table, sp_table_damage_fn fn, void *arg,
					struct sp_table_check_result *result,
					struct sp_errinfo *err);

/* The cost of a query on a layout, of random records a mean.  Seconds: NaN: unknown. */
struct sp_table_cost {
	double requests; /* reads and writes of the file */
	double seeks;	 /* requests that do not begin where the one before ended */
	double bytes;	 /* bytes of all requests */
	double predicted_s;
	double measured_s; /* on the simulated machine; of the table as it is stored: real time */
	bool scattered;	   /* a scan that reads the cells of matching records alone (SI-scan) */
};

/* A layout that a table could have. */
struct sp_table_candidate {
	enum sp_table_layout layout;
	enum sp_placement placement; /* contiguous or semiseq */
	int code;		     /* 0, or the reason for which the layout is impossible: */
	char reason[256];	     /* reason as text */
	const char *together;	     /* columns that share cells, "a,b;c,d"; NULL: none */
	uint64_t bytes;		     /* bytes of the file */
	double fill;		     /* share of the file that values take */
	size_t ncosts;
	struct sp_table_cost *costs; /* costs of each query, without its weight; NULL: none */
	struct sp_table_cost sum;    /* sum of the costs of all queries, each times its weight */
	/*
	 * Reads of a full record that take as long as NSM needs more for one scan of the workload
	 * (the weighted mean): with more of them per scan NSM takes less time.  NaN: no limit.
	 */
	double full_reads;
};

#define SP_TABLE_CANDIDATES 5 /* nsm, pax, dsm, csm, and the choice of auto */

/* The costs of a workload on each layout. */
struct sp_table_comparison {
	uint64_t records;
	size_t nqueries;
	char **queries; /* their text */
	double *weights;
	struct sp_table_candidate candidates[SP_TABLE_CANDIDATES];
	/* CSM along tracks, if it was asked for; costs NULL and code 0: it was not. */
	struct sp_table_candidate semiseq;
	struct sp_table_candidate stored; /* the table as it is; costs NULL: it is not stored */
	bool measured;			  /* the candidates have measured_s */
};

/* Where the cells of a table are on its device. */
struct sp_table_placing {
	/*
	 * For CSM (Shao 2008, section 4.4).  SP_PLACE_SEMISEQ: cells of a column lie along the
	 * tracks of the volume, or of several drives; it has known tracks.  SP_PLACE_MEMS: cells of
	 * an A-page lie at one location of a sled.  SP_PLACE_AUTO, with SP_TABLE_AUTO: along tracks
	 * if that has the minimum predicted time.  Otherwise SP_PLACE_CONTIGUOUS.
	 */
	enum sp_placement how;
	/* Along tracks: */
	unsigned volumes; /* drives, 1 to 64; 0: 1 */
	/*
	 * The files or devices of all drives except the first, which is the table's own; a relative
	 * name begins at the folder of the table.  NULL: each drive has its part of one file.
	 */
	const char *const *volume_names;
	uint32_t depth_rows; /* cells of an A-page on consecutive tracks; 0: the fastest number */
	bool aim_writes;     /* hops between these let a write settle, too; reads take longer */
	/* Used by both placements: */
	bool empty_lane;     /* an A-page has a cell more than its columns need */
	uint64_t skip_bytes; /* bytes of each drive that are left to other tables */
};

struct sp_table_compare_opts {
	/*
	 * The device of the predictions is the one of the geometry, or the simulated volume (NULL:
	 * that of the table), to which the requests are made without data; without both, a flash
	 * drive is assumed.  Memory and threads are those of the commands.
	 */
	struct sp_run_opts run;
	const char *workload;	    /* file of queries; NULL: none */
	const char *const *queries; /* further queries, a line each, nqueries */
	size_t nqueries;
	struct sp_table_placing placing; /* not CONTIGUOUS: CSM along tracks is compared, too */
	bool measure; /* on the simulated volume, too, even if a geometry is given */
	/* Run scans without a predicate and random reads on the stored table, too. */
	bool measure_stored;
};

#define SP_TABLE_COMPARE_OPTS_INIT                                                                 \
	{                                                                                          \
		.run = SP_RUN_OPTS_INIT                                                            \
	}

/*
 * Predicts the cost of a workload on a table as it is stored, and on each layout that it could
 * have, with the cell size of each layout.  A table along the tracks of several drives is on these,
 * the contiguous layouts are on one.  Lines of a workload are those of xtable(1).
 * c: filled in; free with sp_table_comparison_free().
 * Returns 0; SP_ESYNTAX if a query or the placing is wrong, or there is no query; SP_EUNSUP if the
 * volume to measure on is not simulated; SP_ESTATE if another program is changing the table; an
 * error of the volume; -ENOMEM; or -errno.
 */
SP_API SP_MUST_CHECK int sp_table_compare(struct sp_table *table,
					  const struct sp_table_compare_opts *opts,
					  struct sp_table_comparison *c, struct sp_errinfo *err);
/*
 * Does so for a table that is not stored yet: of columns of this schema, and so many records.
 * schema: a file with name and type of a column in each line, as sp_table_load() takes it.  Texts
 * are taken to have 32 bytes in the mean.
 * Returns as sp_table_compare(), and SP_ESYNTAX if the schema is wrong.
 */
SP_API SP_MUST_CHECK int sp_table_compare_schema(const char *schema, uint64_t records,
						 const struct sp_table_compare_opts *opts,
						 struct sp_table_comparison *c,
						 struct sp_errinfo *err);
/* Frees what a comparison points to. */
SP_API void sp_table_comparison_free(struct sp_table_comparison *c);

/* What a table is loaded from, and how it is stored. */
struct sp_table_load_opts {
	struct sp_run_opts run; /* overwrite: a device, or a file that is written in place */
	enum sp_table_layout layout;
	const char *workload; /* SP_TABLE_AUTO: file of queries, as sp_table_compare() takes it */
	/* Lists of columns that share cells, record by record.  Of DSM, CSM and AUTO only. */
	const char *const *together;
	size_t ntogether;
	uint32_t cell_bytes;   /* 512 to 65536, a power of two; 0: as the layout has */
	uint32_t page_records; /* records of an A-page; 0: chosen by the layout */
	struct sp_table_placing placing;
	/*
	 * types: NAME:TYPE,... for some columns or, without a header, for all in their order.
	 * schema: a file with a line for each column, in their order.  NULL: types are inferred
	 * from a sample, and names are those of the header, or c1, c2, ...
	 */
	const char *types, *schema;
	enum sp_table_format format; /* fixed: types or a schema describe all columns */
	char separator;		     /* between fields; 0: a comma for CSV, a tab for text */
	/* The spelling of NULL, without separator, quote and newline, or "\"\""; NULL: empty. */
	const char *null_text;
	bool header; /* the first record of each input has the names */
	bool exact;  /* infer a type only if each value of it is written as it was read */
	/* Receives a sentence on each inferred type that does not keep spellings; NULL: none. */
	void (*note)(void *arg, const char *text);
	void *note_arg;
	uint32_t record_bytes;	    /* SP_TABLE_FIXED: sum of the bytes of all columns */
	unsigned depth;		    /* see struct sp_table_opts */
	sp_table_progress progress; /* reports the progress of sp_table_load(); NULL: none */
	void *progress_arg;
};
#define SP_TABLE_LOAD_OPTS_INIT                                                                    \
	{                                                                                          \
		.run = SP_RUN_OPTS_INIT, .layout = SP_TABLE_CSM                                    \
	}

/*
 * Loads a table from inputs, one after the other.  The table gets its name when it is complete; an
 * older one stays until then.
 * table: path of a file or of a block device.
 * inputs: ninputs paths; "-" is standard input.
 * stats: may be NULL.  exact is false if a scan would not give the bytes of the inputs back.
 * Returns 0; SP_EFORMAT if a record is wrong, or does not fit the types; SP_ESYNTAX if an option
 * is; SP_EUNSUP; SP_EBUDGET if a record or a dictionary exceeds the memory; -EPERM if overwrite is
 * needed; SP_ESTATE if another program uses the table; -ENOMEM; or -errno.  err->path names the
 * input or the table, err->text has the reason.
 */
SP_API SP_MUST_CHECK int sp_table_load(const char *table, const char *const *inputs, size_t ninputs,
				       const struct sp_table_load_opts *opts,
				       struct sp_table_stats *stats, struct sp_errinfo *err);

/*
 * Compares layouts, as sp_table_compare(), for a table that would be loaded: types and mean lengths
 * are those of a sample of the inputs, and the number of records follows from their length.
 * load: options of the load, but for layout and placing.
 * Returns 0, or an error of sp_table_compare() or sp_table_load(), such as SP_EFORMAT.
 */
SP_API SP_MUST_CHECK int sp_table_compare_input(const char *const *inputs, size_t ninputs,
						const struct sp_table_load_opts *load,
						const struct sp_table_compare_opts *opts,
						struct sp_table_comparison *c,
						struct sp_errinfo *err);

/*
 * Reads all records of inputs, and gives the narrowest types of their columns to a sink: a line for
 * each column, as the member schema of the options names a file of.
 * opts: format, separator, header and types; layout and cells have no effect.
 * Returns as sp_table_load(), or the code of the sink.
 */
SP_API SP_MUST_CHECK int sp_table_schema_text(const char *const *inputs, size_t ninputs,
					      const struct sp_table_load_opts *opts,
					      sp_table_sink sink, void *arg,
					      struct sp_errinfo *err);

/*
 * Gives the records of a query to a sink, in the order of their numbers.
 * stats: may be NULL.
 * Returns 0; the code of the sink; SP_ESYNTAX if a text of the query is wrong; SP_EFORMAT if the
 * predicate cannot take a value; SP_EUNSUP if a column of texts has no fixed length, or the
 * predicate is not a range of values of one column for SP_TABLE_BY_INDEX; SP_ECORRUPT if a cell is
 * damaged; SP_ESTATE if another program is changing it; an error as of sp_table_get(); or -errno.
 */
SP_API SP_MUST_CHECK int sp_table_scan(struct sp_table *table, const struct sp_table_query *query,
				       sp_table_sink sink, void *arg, struct sp_table_stats *stats,
				       struct sp_errinfo *err);

/*
 * Supplies the next key as text, valid until the next call.  Returns 1; 0 after the last one; or an
 * error.
 */
typedef int (*sp_table_keys)(void *arg, const char **key, size_t *bytes);

/*
 * Makes an index of a column (spindle-index(5)), for sp_table_get() and sp_table_scan().  Values
 * that are NULL have no entry.  The file appears when it is complete, and replaces an old one.
 * output: its path; NULL: TABLE.COLUMN.index.
 * stats: may be NULL.  records_written counts entries, keys different values.
 * Returns 0; SP_ESYNTAX if there is no such column; SP_EUNSUP if a text is longer than 16,352 bytes
 * or output is not a regular file; SP_EBUDGET; SP_ECORRUPT if a cell is damaged; SP_ESTATE if
 * another program is changing the table; -ENOMEM; or -errno.
 */
SP_API SP_MUST_CHECK int sp_table_index(struct sp_table *table, const char *column,
					const char *output, struct sp_table_stats *stats,
					struct sp_errinfo *err);

/* Records that are read one by one. */
struct sp_table_get {
	/*
	 * NULL: keys are record numbers.  Otherwise a column: keys are its values as text, found
	 * by an index and, for records that were appended since, by a scan of the column.
	 */
	const char *by;
	const char *index;   /* its path; NULL: TABLE.COLUMN.index */
	const char *columns; /* in the order of the output; NULL: all */
	enum sp_table_format format;
	sp_table_keys keys;
	void *keys_arg;
	sp_table_sink absent; /* receives each key without a record; NULL: they are only counted */
	void *absent_arg;
	bool discard; /* read and check records, and print nothing */
};

#define SP_TABLE_GET_INIT                                                                          \
	{                                                                                          \
		.format = SP_TABLE_AS_LOADED                                                       \
	}

/*
 * Gives records to a sink, in the order of the keys and without a header.  Records with the same
 * value are in the order of their numbers.  A key that the type of the column does not have is
 * absent.
 * stats: may be NULL.
 * Returns 0; the code of a callback; SP_ESYNTAX if a key is not a record number or a name not that
 * of a column; -ENOENT if there is no index; -ESTALE if the index is of another table or column, or
 * older than the column's last change in place; SP_EFORMAT if the file is not an index of a table;
 * SP_EBUDGET if more records were appended since than the memory holds; or another error of
 * sp_table_scan().  Without a usable index, err->text has the command that makes it.
 */
SP_API SP_MUST_CHECK int sp_table_get(struct sp_table *table, const struct sp_table_get *get,
				      sp_table_sink sink, void *arg, struct sp_table_stats *stats,
				      struct sp_errinfo *err);

/* Records that are changed: those for which a predicate is true, or those with these keys. */
struct sp_table_choice {
	const char *where;  /* NULL: keys */
	const char *by;	    /* column whose values the keys are; NULL: they are record numbers */
	sp_table_keys keys; /* in any order; an equal one of a column counts once */
	void *keys_arg;
	sp_table_sink absent; /* receives each key without a record; NULL: they are only counted */
	void *absent_arg;
	/*
	 * Path of the index of the column `by`.  NULL: TABLE.COL.index, if it is there and reading
	 * the cells of the keys takes less time than a scan of the column.
	 */
	const char *index;
	bool discard; /* sp_table_update() of a table without data */
};

/*
 * Changes values in place, all or none: the table must be open for writing, and is as before until
 * all changes are on the device.
 * set: nset lists of COLUMN=LITERAL with commas between them; a literal is null, a text in single
 * quotes with quotes in it doubled, or bytes up to the next comma.
 * stats: may be NULL.
 * After an error the table must be closed, except after SP_ESYNTAX.
 * Returns 0; the code of a callback; SP_ESYNTAX if a key, a predicate, a column or a value is
 * wrong; SP_EFORMAT if the predicate cannot take a value; -ENOSPC if a dictionary or the device is
 * full; SP_EBUDGET; SP_ECORRUPT if a cell is damaged; SP_ESTATE; an error of the index, as of
 * sp_table_get(); or -errno.
 */
SP_API SP_MUST_CHECK int sp_table_update(struct sp_table *table,
					 const struct sp_table_choice *choice,
					 const char *const *set, size_t nset,
					 struct sp_table_stats *stats, struct sp_errinfo *err);
/*
 * Changes values in place, all or none, by a file: text of the form in which the table was loaded
 * (of fixed records or JSON lines: CSV), with a header that names columns.  Each record whose value
 * of the column `by` is a key gets the values that the file has with the key; a key is there once.
 * index: as in struct sp_table_choice.
 * input: a path; "-" is standard input.
 * absent: receives each key without a record, after the change; may be NULL.
 * stats: may be NULL.
 * After an error the table must be closed.
 * Returns 0; SP_EFORMAT if a line is wrong; SP_ESYNTAX if a column is unknown; SP_EBUDGET if the
 * file exceeds the memory; or another error of sp_table_update().
 */
SP_API SP_MUST_CHECK int sp_table_update_from(struct sp_table *table, const char *by,
					      const char *index, const char *input,
					      sp_table_sink absent, void *absent_arg,
					      struct sp_table_stats *stats, struct sp_errinfo *err);
/*
 * Deletes records, all or none.  The numbers of other records stay, and so do the values of deleted
 * ones until the table is converted.
 * stats: may be NULL.
 * Returns 0, or an error of sp_table_update().
 */
SP_API SP_MUST_CHECK int sp_table_delete(struct sp_table *table,
					 const struct sp_table_choice *choice,
					 struct sp_table_stats *stats, struct sp_errinfo *err);

/*
 * Appends the records of inputs, all or none: text of the form in which the table was loaded, with
 * the same header if there is one.
 * inputs: ninputs paths; "-" is standard input.
 * stats: may be NULL.
 * After an error the table must be closed.
 * Returns 0; SP_EFORMAT if a record or a header is wrong, or a value does not fit its column;
 * SP_EUNSUP if an input is the table itself; or another error of sp_table_load() or
 * sp_table_update().
 */
SP_API SP_MUST_CHECK int sp_table_append(struct sp_table *table, const char *const *inputs,
					 size_t ninputs, struct sp_table_stats *stats,
					 struct sp_errinfo *err);
/*
 * Writes the records of a table that are not deleted to a new one, which gets its name when it is
 * complete.  Their numbers start from 0 again.  A dictionary that is full gets a wider type.
 * opts: run, layout, together, cell_bytes, page_records and types (of columns that get another
 * one) are used.  stats: may be NULL.
 * Returns 0; SP_ESYNTAX if an option is wrong; SP_EFORMAT if a type does not hold a value; -ENOSPC
 * if a dictionary is full; SP_EUNSUP; SP_ECORRUPT if a cell is damaged; SP_EBUDGET; -EPERM if
 * overwrite is needed; SP_ESTATE if another program changes the table or uses the new one; -ENOMEM;
 * or -errno.
 */
SP_API SP_MUST_CHECK int sp_table_convert(struct sp_table *table, const char *output,
					  const struct sp_table_load_opts *opts,
					  struct sp_table_stats *stats, struct sp_errinfo *err);

struct sp_flow;
struct sp_operator;

/*
 * Opens an operator of a plan (spindle/flow.h) that returns the records of a table that a query
 * chooses, in the order of their numbers, in the form of the query, without a header.  It has a
 * quarter of the memory of the plan.
 * opts: depth, pool and dsm_join are used; NULL: the defaults.  The pool outlives the plan.
 * query: columns, where, lo, hi, limit and format are used; agg, and an access through an index or
 * by SI-scan, are refused.
 * Returns 0; SP_ESYNTAX; SP_EUNSUP; SP_EBUDGET if the plan has no memory left; or an error of
 * sp_table_open().
 */
SP_API SP_MUST_CHECK int sp_table_operator(struct sp_operator **op, struct sp_flow *flow,
					   const char *table, const struct sp_table_opts *opts,
					   const struct sp_table_query *query);

#endif
