/* SPDX-License-Identifier: MIT */
/*
 * Builds a report, which is one JSON document; declares the tables that several documents share.
 * Unknown values are null; a number that is not finite is unknown.
 */
#pragma once

#include <jansson.h>
#include <spindle/run.h>
#include <spindle/benchset.h>
#include "report/documents.h"

struct sp_report {
	json_t *doc;
	bool failed; /* a member is missing */
};

/*
 * An object under construction.  A failed allocation leaves a member out and is noted in the
 * report, which sp__report_done() checks once, at the end.
 */
struct sp__doc {
	json_t *object;
	struct sp_report *report; /* NULL: out of memory at the beginning */
};

/* Add members.  A key "outer.inner" is the member inner of the object outer. */
void sp__doc_put(struct sp__doc doc, const char *key, json_t *value);	   /* steals value */
void sp__doc_text(struct sp__doc doc, const char *key, const char *value); /* NULL: null */
void sp__doc_bool(struct sp__doc doc, const char *key, bool value);
void sp__doc_count(struct sp__doc doc, const char *key, uint64_t value);
void sp__doc_known(struct sp__doc doc, const char *key, uint64_t value); /* 0: null */
void sp__doc_real(struct sp__doc doc, const char *key, double value);
void sp__doc_null(struct sp__doc doc, const char *key);
/* Adds the members of a struct that its table lists. */
void sp__doc_fields(struct sp__doc doc, const struct sp_report_field *fields, const void *base);
/* Adds null for all members of the table. */
void sp__doc_nulls(struct sp__doc doc, const struct sp_report_field *fields);
/* Returns the object key; creates it if it does not exist. */
struct sp__doc sp__doc_object(struct sp__doc doc, const char *key);
/* Members of struct sp_no_effect. */
extern const struct sp_report_field sp__no_effect_fields[];
/* Adds an array of texts. */
void sp__doc_names(struct sp__doc doc, const char *key, const char *const *names, size_t n);
json_t *sp__doc_array(struct sp__doc doc, const char *key);
void sp__doc_append(struct sp__doc doc, json_t *array, json_t *value); /* steals value */
struct sp__doc sp__doc_element(struct sp__doc doc, json_t *array);

/* Create a report: empty; or with schema, tool, version and, if the schema has kinds, the kind. */
struct sp__doc sp__report_empty(void);
struct sp__doc sp__report_new(enum sp__document_kind kind);
/* Creates a report of a capability outside of the library, with schema, tool and version. */
struct sp__doc sp__report_named(const char *schema, const char *tool);
/* Returns the report.  NULL: a member is missing; the report is freed. */
struct sp_report *sp__report_done(struct sp__doc doc);
/*
 * Returns a copy of the document for texts, with strings that a terminal can show (sp_printable()).
 * The caller releases it.  NULL: out of memory.
 */
json_t *sp__doc_printable(const struct sp_report *report);
/* Writes the report of an interval as one line, and frees it.  Returns 0 or an error. */
int sp__report_line(struct sp__doc doc, FILE *out);

/*
 * Rows of tables: a member of struct sp_OF; one whose key is the name of the member, or that name
 * in the object result; an array whose length is the member n; a computed value, set after the
 * others; an object or array that the table does not write; all rows of another table.
 */
#define FIELD(of, ...) SP_REPORT_FIELD(struct sp_##of, __VA_ARGS__)
#define MEMBER(of, type_, member, ...) FIELD(of, #member, type_, member, __VA_ARGS__)
#define RESULT(of, type_, member, ...) FIELD(of, "result." #member, type_, member, __VA_ARGS__)
#define ELEMENTS(of, key_, type_, member, n, fields_, about_, ...)                                 \
	{                                                                                          \
		.key = key_, .type = SP_REPORT_##type_, .about = about_,                           \
		.offset = offsetof(struct sp_##of, member),                                        \
		.bytes = sizeof(((struct sp_##of *)0)->member[0]),                                 \
		.count = offsetof(struct sp_##of, n), .fields = fields_, ##__VA_ARGS__             \
	}
#define LATER(key_, as_, about_, ...)                                                              \
	{                                                                                          \
		.key = key_, .type = SP_REPORT_NULL, .as = SP_REPORT_##as_, .about = about_,       \
		##__VA_ARGS__                                                                      \
	}
#define GROUP(key_, as_, fields_, about_, ...)                                                     \
	{                                                                                          \
		.key = key_, .type = SP_REPORT_GROUP, .as = SP_REPORT_##as_, .fields = fields_,    \
		.about = about_, ##__VA_ARGS__                                                     \
	}
#define INCLUDE(fields_)                                                                           \
	{                                                                                          \
		.type = SP_REPORT_OBJECT, .fields = fields_                                        \
	}

/*
 * The resources that the run used: objects io, memory, spill, and sim on a simulated machine; and
 * the options without effect, in the object result.
 */
extern const struct sp_report_field sp__used_fields[];
void sp__report_used(struct sp__doc doc, const struct sp_run_stats *s);

/* Seconds of n phases; cpu_s: NULL if unknown, not in the table. */
extern const struct sp_report_field sp__phase_fields[];
void sp__report_phases(struct sp__doc doc, const char *const *names, int n, const double *elapsed_s,
		       const double *cpu_s);

/* Missing if nothing is known. */
extern const struct sp_report_field sp__predicted_fields[];
void sp__report_prediction(struct sp__doc doc, const struct sp_prediction *f);

/* Members of a configuration: engine, direct I/O, and formats of compressed inputs and output. */
extern const struct sp_report_field sp__io_config_fields[];
void sp__report_io_config(struct sp__doc config, const struct sp_run_opts *run);

/* Tables and functions that the documents of measurements share (report_bench.c and others). */

/* Pairs of depth and share of the time, without depths that did not occur. */
extern const struct sp_report_field sp__report_depth_fields[];
void sp__report_depths(struct sp__doc doc, const char *key, const uint64_t *ns, size_t n);
/* The configuration, and adding it as the member key. */
extern const struct sp_report_field sp__bench_config_fields[];
void sp__report_bench_config(struct sp__doc doc, const char *key, const struct sp_bench_opts *o);
/* Members of structs sp_bench_error and sp_benchset_row. */
extern const struct sp_report_field sp__report_error_fields[], sp__report_row_fields[];

/* Write the line after the target of each text, and the remarks at the end. */
void sp__report_head(const json_t *config, const json_t *result, FILE *out);
void sp__report_policy_text(const json_t *doc, FILE *out);
/* The member "preflight". */
extern const struct sp_report_field sp__preflight_fields[];
/* The results of a measurement: members result, classes, errors, sim. */
extern const struct sp_report_field sp__bench_result_fields[];
void sp__report_bench_result(struct sp__doc doc, const struct sp_bench_result *r);
