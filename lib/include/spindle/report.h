/* SPDX-License-Identifier: MIT */
/*
 * Reports: one document for each run of a tool, written as JSON (the schemas of spindle-report(5))
 * or as text made from that document.
 *
 * A function that returns a report makes a new document, to be freed with sp_report_free().  It
 * needs the library jansson, which is loaded when the first report is made.
 *
 * Thread rule: a report belongs to one thread.
 */
#ifndef SPINDLE_REPORT_H
#define SPINDLE_REPORT_H

#include <stdio.h>
#include <spindle/cube.h>
#include <spindle/dbm.h>
#include <spindle/group.h>
#include <spindle/index.h>
#include <spindle/join.h>
#include <spindle/policy.h>
#include <spindle/probe.h>
#include <spindle/benchset.h>
#include <spindle/preflight.h>
#include <spindle/run.h>
#include <spindle/sequence.h>
#include <spindle/sort.h>
#include <spindle/tablerun.h>
#include <spindle/watch.h>

struct sp_report;

/* Types of members in reports. */
enum sp_report_type {
	SP_REPORT_END,
	SP_REPORT_NULL,		     /* null, until a value of type .as is set */
	SP_REPORT_GROUP,	     /* not made by the table: an object, or .as = SP_REPORT_LIST */
	SP_REPORT_COUNT,	     /* uint32_t or uint64_t */
	SP_REPORT_KNOWN,	     /* uint32_t or uint64_t; null if it is 0, for unknown */
	SP_REPORT_SIGNED,	     /* int64_t; null if it is negative, for unknown */
	SP_REPORT_REAL,		     /* double; null if it is not finite */
	SP_REPORT_POSITIVE,	     /* double; null if it is not above 0, for unknown */
	SP_REPORT_SECONDS,	     /* uint64_t of ns, reported in s */
	SP_REPORT_DURATION,	     /* double of ns, reported in s; null if it is not finite */
	SP_REPORT_POSITIVE_DURATION, /* double of ns, reported in s; null if it is not above 0 */
	SP_REPORT_BOOL,
	SP_REPORT_TEXT,	  /* array of char; null if it is empty */
	SP_REPORT_STRING, /* const char *; NULL: null */
	SP_REPORT_WORD,	  /* int or enum, reported as its name; null without a name */
	SP_REPORT_LEVEL,  /* int or enum, reported as its name; a number without a name */
	SP_REPORT_PRIO,	  /* uint16_t, reported as by sp_bench_prio_name() */
	SP_REPORT_OBJECT, /* a struct; without a key: its members are those of the outer object */
	SP_REPORT_ARRAY,  /* array of structs */
	SP_REPORT_LIST,	  /* pointer to structs */
	SP_REPORT_TEXTS,  /* .as alone: array of texts */
	SP_REPORT_COUNTS, /* .as alone: array of counts */
};

/*
 * A row of a table, which ends with { 0 }.  Documents, their JSON Schemas and the list of their
 * keys are made from tables.
 */
struct sp_report_field {
	const char *key, *about; /* about: a noun phrase, for the schema */
	uint32_t offset,
		bytes;	/* offset and bytes of the member; ARRAY, LIST: bytes of an element */
	uint32_t count; /* ARRAY, LIST: offset of the number, a size_t */
	enum sp_report_type type : 8, as : 8; /* as: type of the value of a NULL or a GROUP */
	bool optional;			      /* missing in some documents; a list: can be empty */
	bool required;			      /* in every document and never null */
	const char *(*name)(int value);	      /* WORD without .values */
	const struct sp_enum_value *(*values)(void); /* WORD, LEVEL */
	const struct sp_report_field *fields;	     /* OBJECT, ARRAY, LIST, GROUP: its members */
};

/* 1 if member m has the type that the report reads; otherwise the row does not compile. */
#define SP_REPORT_IS_COUNT(m) _Generic(&(m), uint32_t * : 1, uint64_t * : 1)
#define SP_REPORT_IS_KNOWN(m) SP_REPORT_IS_COUNT(m)
#define SP_REPORT_IS_SIGNED(m) _Generic(&(m), int64_t * : 1)
#define SP_REPORT_IS_REAL(m) _Generic(&(m), double * : 1)
#define SP_REPORT_IS_POSITIVE(m) SP_REPORT_IS_REAL(m)
#define SP_REPORT_IS_SECONDS(m) _Generic(&(m), uint64_t * : 1)
#define SP_REPORT_IS_DURATION(m) SP_REPORT_IS_REAL(m)
#define SP_REPORT_IS_POSITIVE_DURATION(m) SP_REPORT_IS_REAL(m)
#define SP_REPORT_IS_BOOL(m) _Generic(&(m), bool * : 1)
#define SP_REPORT_IS_TEXT(m) _Generic(&(m), char(*)[sizeof(m)] : 1)
#define SP_REPORT_IS_STRING(m) _Generic(&(m), const char ** : 1)
#define SP_REPORT_IS_WORD(m) _Generic(&(m), int * : 1, unsigned int * : 1)
#define SP_REPORT_IS_LEVEL(m) SP_REPORT_IS_WORD(m)
#define SP_REPORT_IS_PRIO(m) _Generic(&(m), uint16_t * : 1)
#define SP_REPORT_IS_OBJECT(m) 1

/*
 * SP_REPORT_FIELD(struct x, "records", COUNT, records, "records read"): a row of the table of
 * struct x.
 */
#define SP_REPORT_FIELD(struct_, key_, type_, member, about_, ...)                                 \
	{                                                                                          \
		.key = key_, .type = SP_REPORT_##type_, .about = about_,                           \
		.offset = offsetof(struct_, member),                                               \
		.bytes = sizeof(((struct_ *)0)->member) *                                          \
			 SP_REPORT_IS_##type_(((struct_ *)0)->member),                             \
		##__VA_ARGS__                                                                      \
	}

/*
 * Checks that reports can be made, so that a program can find out before its work begins.
 * Returns 0, or SP_EUNSUP with the name of the missing library in err.  err may be NULL.  Any
 * thread may call it.
 */
SP_API SP_MUST_CHECK int sp_report_check(struct sp_errinfo *err);

/*
 * Makes the report of an operator with a run environment (spindle/run.h): its result, and the
 * resources that the run used.
 * fields: a table of result, as offsets for keys.
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_run(const char *schema, const char *tool,
				       const struct sp_report_field *fields, const void *result,
				       const struct sp_run_stats *run);

/*
 * Makes a document of schema spindle.sort/1 of the effective options, the files and the statistics
 * of a sort.
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_sort(const struct sp_sort_opts *opts,
					const struct sp_sort_io *io,
					const struct sp_sort_stats *stats);

/*
 * Makes a document of schema spindle.join/1 of the effective options, the files and the statistics
 * of a join.
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_join(const struct sp_join_opts *opts,
					const struct sp_join_io *io,
					const struct sp_join_stats *stats);

/*
 * Makes a document of schema spindle.join-plan/1 of a plan (--explain).
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_join_plan(const struct sp_join_plan *plan);

/*
 * Makes a document of schema spindle.cube/1 of a query, a load or a check of a cube.
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_cube(const struct sp_cube_info *info,
					const struct sp_cube_stats *stats);

/*
 * Makes a document of schema spindle.group/1.
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_group(const struct sp_group_stats *stats);

/*
 * Makes a document of schema spindle.group-plan/1 of a plan (--explain).
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_group_plan(const struct sp_group_plan *plan);

/*
 * Makes a document of schema spindle.index/1 of a command on an index.
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_index(const struct sp_index_stats *stats);

/*
 * Makes a document of schema spindle.table/1 of a command on a table.
 * query: NULL: the command has none.
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_table(const char *command, const struct sp_table_info *info,
					 const struct sp_table_query *query,
					 const struct sp_table_stats *stats);

/*
 * Makes a document of schema spindle.table-info/1 of the facts about a table.
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_table_info(const struct sp_table_info *info);

/*
 * Makes a document of schema spindle.table-comparison/1 of layouts.
 * volume: the simulated one; NULL: none.
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_table_comparison(const char *command, const char *volume,
						    const struct sp_table_comparison *comparison);

/*
 * Makes a document of schema spindle.table-run/1 of a run of clients.
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_table_run(const struct sp_table_run_opts *opts,
					     const struct sp_table_run_result *result);

/*
 * Makes a document of schema spindle.dbmbench/1 of a run.
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_dbm(const struct sp_dbm_opts *opts,
				       const struct sp_dbm_result *result);
/*
 * Compares two files with documents of sp_report_dbm(), B with A: the queries and systems that both
 * measured, in a document of schema spindle.dbmbench-comparison/1.
 * Returns 0; SP_EFORMAT if a file is not such a document; -ENOMEM; or -errno.
 */
SP_API SP_MUST_CHECK int sp_report_dbm_compare(struct sp_report **report, const char *file_a,
					       const char *file_b, struct sp_errinfo *err);

/*
 * Makes a document of schema spindle.cube-comparison/1 of mappings.
 * candidates: SP_CUBE_CANDIDATES elements.
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_cube_comparison(const struct sp_cube_info *info,
						   const struct sp_cube_workload *workload,
						   const struct sp_cube_candidate *candidates);

/*
 * Makes a document of schema spindle.sort-plan/1 of a plan (--explain).
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_sort_plan(const struct sp_sort_plan *plan);

/*
 * Makes a document of schema spindle.sequence/1 of a sequence of requests.
 * trace: its path.
 * cache, t: those of sp_sequence_transfers(), or both NULL.
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_sequence(const char *trace, const struct sp_sequence *seq,
					    const struct sp_sequence_cache *cache,
					    const struct sp_sequence_transfers *t);

/*
 * Makes a document of schema spindle.sequence-comparison/1 of two compared sequences.
 * a, b: their paths.
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *
sp_report_sequence_comparison(const char *a, const char *b,
			      const struct sp_sequence_comparison *comparison);

/*
 * Makes a document of schema spindle.probe/1 of a probe.
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_probe(const struct sp_probe *probe,
					 const struct sp_probe_opts *opts);

/*
 * Makes a document of schema spindle.probe-verify/1 of a comparison of a geometry with its device.
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_probe_verify(const char *device,
						const struct sp_probe_verify *verify);

/*
 * Makes a document of schema spindle.aiobench/1, kind "run" or "replay", of a measurement.
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_bench(const struct sp_bench_opts *opts,
					 const struct sp_bench_result *result);

/*
 * Makes a document with the members of the JSON output of fio(1), without jobs.
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_fio(const struct sp_bench_opts *opts);

/*
 * Adds the classes of a measurement to a document of sp_report_fio(), as jobs of one group.
 * Returns 0 or -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_report_add_fio(struct sp_report *report,
					   const struct sp_bench_opts *opts,
					   const struct sp_bench *bench);

/*
 * Makes a document of schema spindle.aiobench/1, kind "sweep", of a set of measurements.
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_sweep(const struct sp_bench_opts *opts,
					 const struct sp_benchset_result *result);

/*
 * Makes a document of schema spindle.aiobench/1, kind "mix", of a set of measurements.
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_mix(const struct sp_bench_opts *opts,
				       const struct sp_benchset_mix *mix,
				       const struct sp_benchset_result *result);

/*
 * Makes a document of schema spindle.aiobench/1, kind "compare", of two measured settings.
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_comparison(const struct sp_bench_opts *a,
					      const struct sp_bench_opts *b,
					      const struct sp_benchset_result *result);

/*
 * Compares two files with documents of sp_report_bench(), B with A.
 * Returns 0 or an error, with *report NULL:
 *   SP_EFORMAT: a file is not JSON, or not such a document
 *   SP_EUNSUP: an option of a measurement had no effect, so that it cannot be compared
 *   -errno: a file could not be opened or read
 *   -ENOMEM: memory is short
 */
SP_API SP_MUST_CHECK int sp_report_compare_files(struct sp_report **report, const char *a,
						 const char *b, struct sp_errinfo *err);

/* Writes one line of JSON for an interval of a measurement.  Returns 0, -EIO or -ENOMEM. */
SP_API int sp_report_bench_interval(const struct sp_bench_interval *i, FILE *out);

/* Writes a document of schema spindle.aiobench/1 as text.  Returns 0, -EIO or -ENOMEM. */
SP_API int sp_report_bench_text(const struct sp_report *report, FILE *out);

/*
 * Makes a document of schema spindle.aiobench/1, kind "preflight".
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_preflight(const struct sp_preflight_opts *opts,
					     const struct sp_preflight *preflight);

/* Adds a member "preflight" to a document.  Returns 0 or -ENOMEM. */
SP_API int sp_report_add_preflight(struct sp_report *report, const struct sp_preflight *preflight);

/*
 * Writes a preflight as text.
 * all: also the devices and the remarks that are not obstacles.
 * Returns 0 or -EIO.
 */
SP_API int sp_report_preflight_text(const struct sp_preflight *preflight, const char *target,
				    bool all, FILE *out);

/*
 * Makes a document of schema spindle.aiobench/1, kind "watch".
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_watch(const struct sp_watch_opts *opts,
					 const struct sp_watch_result *result);

/* Writes one line of JSON for an interval of watching.  Returns 0, -EIO or -ENOMEM. */
SP_API int sp_report_watch_interval(const struct sp_watch_interval *i, FILE *out);

/*
 * Writes the result of watching as text, with a histogram.
 * width: maximum number of columns; 0: 80.
 * Returns 0 or -EIO.
 */
SP_API int sp_report_watch_text(const struct sp_watch_result *result, FILE *out, int width);

/*
 * Makes a document of schema spindle.aiobench/1, kind "policy", of n policies on one target.
 * Returns the report, or NULL if memory is short.
 */
SP_API struct sp_report *sp_report_policy(const struct sp_bench_opts *target,
					  const struct sp_policy *const *policies, size_t n);

/* Frees a report; NULL is accepted. */
SP_API void sp_report_free(struct sp_report *report);

/* Writes a report as one JSON object and a newline.  Returns 0 or -EIO. */
SP_API int sp_report_json(const struct sp_report *report, FILE *out);

/*
 * Writes the report of a sort or a join as five lines: its data, its time, its temporary data, its
 * memory, and what limited its speed.
 * cpu_s: processor time of the process.
 * Returns 0, -EIO or -ENOMEM.
 */
SP_API int sp_report_summary(const struct sp_report *report, double cpu_s, FILE *out);

/* Writes a report as text. width: maximum number of columns; 0: 80.  Returns 0, -EIO or -ENOMEM. */
SP_API int sp_report_text(const struct sp_report *report, FILE *out, int width);

#endif
