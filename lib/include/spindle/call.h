/* SPDX-License-Identifier: MIT */
/*
 * Sorting, joining, grouping, tables and cubes by the arguments of a command.  This is the
 * interface for programs in other languages, which need not know the structs of the other headers.
 * It runs no command.
 *
 * A call is made of options of xsort(1), xjoin(1) or xgroup(1), as arguments without files.  These
 * pages describe them; sizes have the units of -S.
 *
 * Keys can name columns (spindle/columns.h) if the files have headers.  Functions on files find the
 * numbers of the columns in the header of the first file, which must be a regular file.
 *
 * Ownership: arguments are copied.  Each object is freed by the function named in the comment of
 * the function that makes it.
 * Errors: err may be NULL; on an error it receives a description.  -EINVAL: an argument is
 * wrong, and err->text names it.
 * Thread rule: a call does not change after it is made; any number of threads may use it.
 */
#ifndef SPINDLE_CALL_H
#define SPINDLE_CALL_H

#include <spindle/cubearray.h>
#include <spindle/join.h>
#include <spindle/sort.h>
#include <spindle/split.h>

struct sp_call;

/*
 * Makes a call of options of xsort(1): those of order and format (spindle/order.h), -S, -T,
 * --parallel, --seed, --count, --keep-order, --where, --skip-invalid, --limit, --resume, --json,
 * --strict, --decompress, --compress-output=FORMAT[:LEVEL] and --spill-compression.  --parts and
 * --split are not among them, since a call writes one file: see sp_call_sample().  Free it with
 * sp_call_free().
 * args: nargs arguments, copied.
 * Returns 0 or an error, with *call NULL:
 *   -EINVAL: an argument is unknown, wrong, not supported by this build, or excludes another one
 *   -ENOMEM: memory is short
 */
SP_API SP_MUST_CHECK int sp_call_sort(struct sp_call **call, const char *const *args, size_t nargs,
				      struct sp_errinfo *err);

/* Frees a call; NULL is accepted. */
SP_API void sp_call_free(struct sp_call *call);

/*
 * Returns the options of a call, for the functions of spindle/buffers.h.  They are valid while the
 * call lives.  Returns NULL if a key names a column whose number is unknown, and with --keep-order,
 * --where, --skip-invalid, --limit and --resume.
 */
SP_API const struct sp_sort_opts *sp_call_sort_opts(const struct sp_call *call);

/* Returns the arguments of a call, up to NULL.  They are valid while the call lives. */
SP_API const char *const *sp_call_args(const struct sp_call *call);

/*
 * Makes a copy of a call in which column names are replaced by their numbers, taken from the header
 * of a file.  Free it with sp_call_free().
 * Returns 0 or an error, with *made NULL:
 *   -EINVAL: the header or a column name is wrong
 *   SP_EUNSUP: input is not a regular file
 *   SP_EFORMAT: the compressed header is damaged
 *   -errno: input could not be opened or read
 */
SP_API SP_MUST_CHECK int sp_call_numbered(struct sp_call **made, const struct sp_call *call,
					  const char *input, struct sp_errinfo *err);

/* The values of a call's options. */
struct sp_call_info {
	int kind;		 /* enum sp_recfmt_kind */
	int eol;		 /* byte that ends a line */
	uint64_t fixed_bytes;	 /* length of a record; 0: lines or CSV */
	uint64_t header_records; /* at the beginning of each input */
	uint64_t memory_bytes;	 /* memory limit: -S, or the default */
	/* Only the first input has a header; -u; --count; a key has the letter R. */
	bool header_first, unique, count, random;
	bool stable; /* equal records keep the order of their inputs */
	bool named;  /* a key names a column */
	struct sp_recfmt format;
};

/* Fills in the values of a call's options. */
SP_API void sp_call_info(const struct sp_call *call, struct sp_call_info *info);

/*
 * Sorts files, or merges sorted files, into output (spindle/outfile.h).
 * report: NULL, or receives the JSON document of schema spindle.sort/1 (spindle-report(5)).  Free
 * it with sp_call_report_free().
 * Returns 0 or an error of sp_call_numbered(), sp_sort_run() or, for the report, -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_call_sort_files(const struct sp_call *call, const char *const *inputs,
					    size_t ninputs, bool merge, const char *output,
					    char **report, struct sp_errinfo *err);

/* Frees a report; NULL is accepted. */
SP_API void sp_call_report_free(char *report);

/*
 * Chooses splitters for files that have the header of the call: see sp_splitters_sample().
 * Returns 0; SP_EUNSUP with --keep-order, --where, --skip-invalid, --limit and --resume; or an
 * error of sp_call_numbered() or sp_splitters_sample().
 */
SP_API SP_MUST_CHECK int sp_call_sample(struct sp_splitters **splitters, const struct sp_call *call,
					const char *const *inputs, size_t ninputs, size_t parts,
					struct sp_errinfo *err);

struct sp_call_join;

/*
 * Makes a call of options of xjoin(1): -1, -2, -j, -t, -i, -z, -a, -v, -e, -o, --type, --csv,
 * --header, --suffixes, --record-size, --bkey, and -S, -T, --parallel, --seed, --decompress and
 * --compress-output=FORMAT[:LEVEL].  Free it with sp_call_join_free().
 * args: nargs arguments, copied.
 * Returns 0 or an error of sp_call_sort(), with *call NULL.
 */
SP_API SP_MUST_CHECK int sp_call_join(struct sp_call_join **call, const char *const *args,
				      size_t nargs, struct sp_errinfo *err);

/* Frees a call; NULL is accepted. */
SP_API void sp_call_join_free(struct sp_call_join *call);

/*
 * Returns the options of a call.  They are valid while the call lives.  Returns NULL if a column
 * name has no number yet.
 */
SP_API const struct sp_join_opts *sp_call_join_opts(const struct sp_call_join *call);

/* Returns the arguments of a call, up to NULL.  They are valid while the call lives. */
SP_API const char *const *sp_call_join_args(const struct sp_call_join *call);

/* Returns true if a key or an output column is given by a column name. */
SP_API bool sp_call_join_named(const struct sp_call_join *call);

/*
 * Returns true if one file can be divided: the results of its parts, each joined with the whole
 * other file, are together the result of the whole join.
 * side: the file that is divided, 0 or 1.
 */
SP_API bool sp_call_join_divides(const struct sp_call_join *call, int side);

/*
 * Makes a copy of a call in which column names are replaced by their numbers, taken from the
 * headers of two files.  Free it with sp_call_join_free().
 * Returns 0 or an error of sp_call_numbered(), with *made NULL.
 */
SP_API SP_MUST_CHECK int sp_call_join_numbered(struct sp_call_join **made,
					       const struct sp_call_join *call, const char *left,
					       const char *right, struct sp_errinfo *err);

/*
 * Joins two files into output (spindle/outfile.h).
 * bytes: expected lengths of the files in bytes, for pipes; 0, or bytes NULL: unknown.
 * report: NULL, or receives the JSON document of schema spindle.join/1.  Free it with
 * sp_call_report_free().
 * Returns 0 or an error of sp_call_join_numbered(), sp_join_run() or, for the report, -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_call_join_files(const struct sp_call_join *call, const char *left,
					    const char *right, const uint64_t bytes[2],
					    const char *output, char **report,
					    struct sp_errinfo *err);

/*
 * Joins records that a function returns into output.
 * next: returns the next whole records of file 0 or 1: see struct sp_join_io.
 * bytes, report: see sp_call_join_files().
 * Returns 0; -EINVAL if a column is given by name; or an error of sp_join_run().
 */
SP_API SP_MUST_CHECK int sp_call_join_blocks(const struct sp_call_join *call,
					     int (*next)(void *arg, int side,
							 struct sp_batch *batch),
					     void *arg, const uint64_t bytes[2], const char *output,
					     char **report, struct sp_errinfo *err);

struct sp_call_group;

/*
 * Makes a call of options of xgroup(1): -k, -a, -t, -z, --largest, --pivot, --percent,
 * --cumulative, --having, --order, --format, --limit, --where, --csv, --json, --strict,
 * --record-size, --header, --null, --skip-invalid, and -S, -T, --parallel, --decompress and
 * --compress-output=FORMAT[:LEVEL].  --split is not among them, since a call writes one file.  Free
 * it with sp_call_group_free().
 * args: nargs arguments, copied.
 * Returns 0 or an error of sp_call_sort(), with *call NULL.
 */
SP_API SP_MUST_CHECK int sp_call_group(struct sp_call_group **call, const char *const *args,
				       size_t nargs, struct sp_errinfo *err);

/* Frees a call; NULL is accepted. */
SP_API void sp_call_group_free(struct sp_call_group *call);

struct sp_group_opts;
struct sp_group_io;

/* Formats of the rows of groups. */
enum sp_call_rows { SP_CALL_ROWS_AS_READ, SP_CALL_ROWS_TEXT, SP_CALL_ROWS_CSV, SP_CALL_ROWS_JSON };

/*
 * Sets json and header of the options of sp_group_run() (spindle/group.h) from the format of the
 * rows, once all options are known.
 * opts: format (kind, json, strict), header, largest and split are set as they were given.
 * csv: the records are CSV.
 * Returns 0, or -EINVAL with the reason if these records cannot have such rows.
 */
SP_API SP_MUST_CHECK int sp_call_group_rows(struct sp_group_opts *opts, bool csv,
					    enum sp_call_rows rows, struct sp_errinfo *err);

/*
 * Prepares the options of sp_group_run() (spindle/group.h) for inputs of which one can be a table.
 * Opens it as io->source, to be closed with sp_source_close() (spindle/flow.h), also after an error
 * of sp_group_run(), and sets format and header of opts to those of its records.  Without a table
 * nothing is changed.
 * Returns 0; SP_EUNSUP if a table is not the only input, or is to be grouped in two steps, or opts
 * have a separator, another end of lines, or decompress, or the table is on a simulated volume or
 * has no data; -ENOMEM; or an error of sp_table_open() (spindle/table.h).
 */
SP_API SP_MUST_CHECK int sp_call_group_source(struct sp_group_opts *opts, struct sp_group_io *io,
					      struct sp_errinfo *err);

/*
 * Groups the records of files, or of a table, into output (spindle/outfile.h).  Names of columns,
 * functions and conditions are checked here.
 * report: NULL, or receives the JSON document of schema spindle.group/1.  Free it with
 * sp_call_report_free().
 * Returns 0 or an error of sp_group_run() (spindle/group.h) or, for the report, -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_call_group_files(const struct sp_call_group *call,
					     const char *const *inputs, size_t ninputs,
					     const char *output, char **report,
					     struct sp_errinfo *err);

/*
 * Does the first step of a grouping in two steps (spindle/group.h): writes partial totals.
 * position: of the first input among all inputs, in bytes.
 * report: see sp_call_group_files().
 * Returns 0 or an error of sp_call_group_files().
 */
SP_API SP_MUST_CHECK int sp_call_group_first(const struct sp_call_group *call,
					     const char *const *inputs, size_t ninputs,
					     uint64_t position, const char *output, char **report,
					     struct sp_errinfo *err);
/*
 * Does the second step: writes the rows of all groups in files of partial totals.
 * header: of the inputs of the first step, empty if they have none.
 * rows_only: do not write a header.
 * report: see sp_call_group_files().
 * Returns 0 or an error of sp_call_group_files().
 */
SP_API SP_MUST_CHECK int sp_call_group_second(const struct sp_call_group *call,
					      const struct sp_batch *header, bool rows_only,
					      const char *const *inputs, size_t ninputs,
					      const char *output, char **report,
					      struct sp_errinfo *err);

struct ArrowArrayStream;

/*
 * Makes a stream of the records of a table, as sp_table_arrow() (spindle/table.h).
 * args: nargs options of xtable(1) scan: --columns, --where, --lo, --hi, --limit, -S, --parallel.
 * Returns 0; -EINVAL: an argument is wrong; or an error of sp_table_arrow().
 */
SP_API SP_MUST_CHECK int sp_call_table_arrow(const char *table, const char *const *args,
					     size_t nargs, struct ArrowArrayStream *stream,
					     struct sp_errinfo *err);
/*
 * Loads a table from files, as sp_table_load() (spindle/table.h).
 * args: nargs options of xtable(1) load: --csv, --json, --header, -t, --null, --types, --schema,
 * --exact, --decompress, --layout, --together, --cell, --overwrite, -S, -T, --parallel, --seed,
 * --wait.
 * Returns 0; -EINVAL: an argument is wrong; or an error of sp_table_load().
 */
SP_API SP_MUST_CHECK int sp_call_table_load(const char *table, const char *const *args,
					    size_t nargs, const char *const *inputs, size_t ninputs,
					    struct sp_errinfo *err);
/*
 * Loads a table from a stream, as sp_table_load_arrow(), which releases it.
 * args: nargs options of xtable(1) load: --layout, --together, --cell, --overwrite, -S, --parallel,
 * --seed.
 * Returns 0; -EINVAL: an argument is wrong, and the stream is not released; or an error of
 * sp_table_load_arrow().
 */
SP_API SP_MUST_CHECK int sp_call_table_load_arrow(const char *table, const char *const *args,
						  size_t nargs, struct ArrowArrayStream *stream,
						  struct sp_errinfo *err);

/*
 * Runs a command of xtable(1) on a table: update, delete, append, alter, index, get or info.
 * args: nargs options of the command: --set, --where, --by, --index, --from, --add, --drop,
 * --rename, --types, --columns, --output, -S, --parallel, --wait.
 * operands: noperands record numbers or values, input files, or the column of an index.
 * document: receives the report as JSON; of get the records as lines of JSON, of info the facts.
 * Free it with sp_call_report_free().
 * Returns 0; 1 if a key has no record, which err describes; -EINVAL: an argument is wrong; or an
 * error of the function of the command, such as sp_table_update().
 */
SP_API SP_MUST_CHECK int sp_call_table(const char *command, const char *table,
				       const char *const *args, size_t nargs,
				       const char *const *operands, size_t noperands,
				       char **document, struct sp_errinfo *err);

/*
 * Makes a cube, as sp_cube_create().
 * args: nargs options of mmap-cube(1) create: --dims, --dtype, --tile, --fill, --mapping, --order,
 * --volumes, --volume, --query, --geometry, --seed, --overwrite.
 * awaits_load: as in the options of sp_cube_create().
 * Returns 0; -EINVAL: an argument is wrong; or an error of sp_cube_create() or of reading the
 * geometry or a query.
 */
SP_API SP_MUST_CHECK int sp_call_cube_create(const char *path, const char *const *args,
					     size_t nargs, bool awaits_load,
					     struct sp_errinfo *err);
/*
 * Opens a cube, as sp_cube_open(); release it with sp_cube_close().
 * args: nargs options of mmap-cube(1) range: -S, --parallel, --verify, --wait.
 * write: for functions that change it.
 * Returns 0, or an error, with *cube NULL: -EINVAL: an argument is wrong; or one of sp_cube_open().
 */
SP_API SP_MUST_CHECK int sp_call_cube_open(struct sp_cube **cube, const char *path,
					   const char *const *args, size_t nargs, bool write,
					   struct sp_errinfo *err);

/* The shape of a cube. */
struct sp_call_cube_facts {
	uint64_t dims[SP_CUBE_DIMS_MAX];
	uint32_t ndims, type, element_bytes, points; /* type: enum sp_cube_type; points: 0 or 1 */
	const char *mapping;			     /* static */
};

/* Sets the facts of an open cube. */
SP_API void sp_call_cube_facts(const struct sp_cube *cube, struct sp_call_cube_facts *facts);
/*
 * Loads all elements from a file or pipe of raw elements, as sp_cube_load().
 * c_order: the last coordinate changes fastest in the input; false: the first one.
 * Returns 0 or an error of sp_cube_load().
 */
SP_API SP_MUST_CHECK int sp_call_cube_load(struct sp_cube *cube, const char *input, bool c_order,
					   struct sp_errinfo *err);

/* Returns the version of the library, SP_VERSION, as a static text. */
SP_API const char *sp_version(void);

#endif
