/* SPDX-License-Identifier: MIT */
/*
 * Reports: one document for each run of a tool, written as JSON (the schemas
 * of spindle-report(5)) or as text made from the same document.
 *
 * Thread rule: a report belongs to one thread.
 */
#ifndef SPINDLE_REPORT_H
#define SPINDLE_REPORT_H

#include <stdio.h>
#include <spindle/cube.h>
#include <spindle/index.h>
#include <spindle/join.h>
#include <spindle/policy.h>
#include <spindle/probe.h>
#include <spindle/benchset.h>
#include <spindle/preflight.h>
#include <spindle/run.h>
#include <spindle/sequence.h>
#include <spindle/sort.h>
#include <spindle/watch.h>

struct sp_report;

/* How a member of a struct is reported. */
enum sp_report_type {
	SP_REPORT_END,
	SP_REPORT_NULL,	    /* null, until a value of type .as is set */
	SP_REPORT_GROUP,    /* not written by the table: an object, or .as = SP_REPORT_LIST */
	SP_REPORT_COUNT,    /* uint32_t or uint64_t */
	SP_REPORT_KNOWN,    /* the same; 0 is unknown: null */
	SP_REPORT_SIGNED,   /* int64_t; negative is unknown: null */
	SP_REPORT_REAL,	    /* double; null if it is not finite */
	SP_REPORT_POSITIVE, /* the same; what is not above 0 is unknown: null */
	SP_REPORT_SECONDS,  /* uint64_t, ns; in s */
	SP_REPORT_DURATION, /* double, ns; in s; null if it is not finite */
	SP_REPORT_POSITIVE_DURATION,
	SP_REPORT_BOOL,
	SP_REPORT_TEXT,	  /* array of char; null if it is empty */
	SP_REPORT_STRING, /* const char *; NULL: null */
	SP_REPORT_WORD,	  /* int or enum: its name; no name: null */
	SP_REPORT_LEVEL,  /* the same; no name: the number */
	SP_REPORT_PRIO,	  /* uint16_t: as sp_bench_prio_name() */
	SP_REPORT_OBJECT, /* a struct; without a key: its members are those of the outer object */
	SP_REPORT_ARRAY,  /* array of structs */
	SP_REPORT_LIST,	  /* pointer to structs */
	SP_REPORT_TEXTS,  /* .as alone: array of texts */
	SP_REPORT_COUNTS, /* .as alone: array of counts */
};

/*
 * A table of them ends with { 0 }.  Documents, their JSON Schemas and the list of their keys are
 * made from tables.
 */
struct sp_report_field {
	const char *key, *about;	      /* about: a noun phrase, for the schema */
	uint32_t offset, bytes;		      /* of the member; ARRAY, LIST: of an element */
	uint32_t count;			      /* ARRAY, LIST: offset of the number, a size_t */
	enum sp_report_type type : 8, as : 8; /* as: of a NULL or a GROUP */
	bool optional;			      /* not in every document; a list: can be empty */
	bool required;			      /* in every document and never null */
	const char *(*name)(int value);	      /* WORD without .values */
	const struct sp_enum_value *(*values)(void); /* WORD, LEVEL */
	const struct sp_report_field *fields;	     /* OBJECT, ARRAY, LIST, GROUP: of the struct */
};

/* 1 if the member m has the type that is read; otherwise the row does not compile. */
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
 * The report of any operator that has a run environment (<spindle/run.h>): its result by a
 * table, which is an offset into result for each key, and what the run used.  NULL if memory
 * is short.
 */
SP_API struct sp_report *sp_report_run(const char *schema, const char *tool,
				       const struct sp_report_field *fields, const void *result,
				       const struct sp_run_stats *run);

/*
 * A document of schema spindle.sort/1 from the effective options, the files
 * and what happened.  NULL if memory is short.
 */
SP_API struct sp_report *sp_report_sort(const struct sp_sort_opts *opts,
					const struct sp_sort_io *io,
					const struct sp_sort_stats *stats);
/* The same of a join: schema spindle.join/1. */
SP_API struct sp_report *sp_report_join(const struct sp_join_opts *opts,
					const struct sp_join_io *io,
					const struct sp_join_stats *stats);
/* Its plan alone (--explain): schema spindle.join-plan/1. */
SP_API struct sp_report *sp_report_join_plan(const struct sp_join_plan *plan);
/* A query, a load or a check of a cube: schema spindle.cube/1. */
SP_API struct sp_report *sp_report_cube(const struct sp_cube_info *info,
					const struct sp_cube_stats *stats);
/* What a command on an index did: schema spindle.index/1. */
SP_API struct sp_report *sp_report_index(const struct sp_index_stats *stats);
/* SP_CUBE_CANDIDATES mappings: schema spindle.cube-comparison/1. */
SP_API struct sp_report *sp_report_cube_comparison(const struct sp_cube_info *info,
						   const struct sp_cube_workload *workload,
						   const struct sp_cube_candidate *candidates);
/* The plan alone (--explain): schema spindle.sort-plan/1. */
SP_API struct sp_report *sp_report_sort_plan(const struct sp_sort_plan *plan);
/*
 * Of a sequence of requests: schema spindle.sequence/1.  cache and t are those
 * of sp_sequence_transfers(), or NULL both.
 */
SP_API struct sp_report *sp_report_sequence(const char *trace, const struct sp_sequence *seq,
					    const struct sp_sequence_cache *cache,
					    const struct sp_sequence_transfers *t);
/* Of two sequences compared: schema spindle.sequence-comparison/1. */
SP_API struct sp_report *
sp_report_sequence_comparison(const char *a, const char *b,
			      const struct sp_sequence_comparison *comparison);
/* What a probe found: schema spindle.probe/1. */
SP_API struct sp_report *sp_report_probe(const struct sp_probe *probe,
					 const struct sp_probe_opts *opts);
/* How well a geometry predicts: schema spindle.probe-verify/1. */
SP_API struct sp_report *sp_report_probe_verify(const char *device,
						const struct sp_probe_verify *verify);
/* Of a measurement: schema spindle.aiobench/1. */
SP_API struct sp_report *sp_report_bench(const struct sp_bench_opts *opts,
					 const struct sp_bench_result *result);
/* Of sets of measurements: the same schema, other kinds. */
SP_API struct sp_report *sp_report_sweep(const struct sp_bench_opts *opts,
					 const struct sp_benchset_result *result);
SP_API struct sp_report *sp_report_mix(const struct sp_bench_opts *opts,
				       const struct sp_benchset_mix *mix,
				       const struct sp_benchset_result *result);
SP_API struct sp_report *sp_report_comparison(const struct sp_bench_opts *a,
					      const struct sp_bench_opts *b,
					      const struct sp_benchset_result *result);
/*
 * Of two files with documents of sp_report_bench(), B by A.  0; or, with the
 * reason in err: what opening and reading a file said, SP_EFORMAT if one holds
 * no such document, -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_report_compare_files(struct sp_report **report, const char *a,
						 const char *b, struct sp_errinfo *err);
/* One line of JSON for an interval of it; 0, -EIO or -ENOMEM. */
SP_API int sp_report_bench_interval(const struct sp_bench_interval *i, FILE *out);
/* Of a document of schema spindle.aiobench/1: some lines for people; 0 or -errno. */
SP_API int sp_report_bench_text(const struct sp_report *report, FILE *out);
/* Of a preflight alone: schema spindle.aiobench/1, kind "preflight". */
SP_API struct sp_report *sp_report_preflight(const struct sp_preflight_opts *opts,
					     const struct sp_preflight *preflight);
/* The same as a member "preflight" of another document; 0 or -ENOMEM. */
SP_API int sp_report_add_preflight(struct sp_report *report, const struct sp_preflight *preflight);
/* For people; all: with the devices and what is no obstacle.  0 or -errno. */
SP_API int sp_report_preflight_text(const struct sp_preflight *preflight, const char *target,
				    bool all, FILE *out);
/* Of what was watched: schema spindle.aiobench/1, kind "watch". */
SP_API struct sp_report *sp_report_watch(const struct sp_watch_opts *opts,
					 const struct sp_watch_result *result);
/* One line of JSON for an interval of it; 0, -EIO or -ENOMEM. */
SP_API int sp_report_watch_interval(const struct sp_watch_interval *i, FILE *out);
/* With a histogram, at most width columns (0: 80); 0 or -errno. */
SP_API int sp_report_watch_text(const struct sp_watch_result *result, FILE *out, int width);
/* Of several policies on one target: schema spindle.aiobench/1, kind "policy". */
SP_API struct sp_report *sp_report_policy(const struct sp_bench_opts *target,
					  const struct sp_policy *const *policies, size_t n);
SP_API void sp_report_free(struct sp_report *report); /* accepts NULL */

/* One JSON object and a newline; 0 or -errno. */
SP_API int sp_report_json(const struct sp_report *report, FILE *out);
/* Lines for people, at most width columns (0: 80); 0 or -errno. */
SP_API int sp_report_text(const struct sp_report *report, FILE *out, int width);

#endif
