/* SPDX-License-Identifier: MIT */
/*
 * Tables and functions that the documents of measurements share.
 */
#pragma once

#include <spindle/benchset.h>
#include "report/doc.h"

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
void sp__report_tail(const json_t *doc, FILE *out);
/* Texts of kinds of documents other than "run". */
void sp__report_sweep_text(const json_t *doc, FILE *out);
void sp__report_mix_text(const json_t *doc, FILE *out);
void sp__report_compare_text(const json_t *doc, FILE *out);
void sp__report_policy_text(const json_t *doc, FILE *out);
/* The member "preflight". */
extern const struct sp_report_field sp__preflight_fields[];
/* The results of a measurement: members result, classes, errors, sim. */
extern const struct sp_report_field sp__bench_result_fields[];
void sp__report_bench_result(struct sp__doc doc, const struct sp_bench_result *r);
