/* SPDX-License-Identifier: MIT */
/*
 * What the documents of measurements share.
 */
#ifndef SP__REPORT_REPORT_BENCH_H
#define SP__REPORT_REPORT_BENCH_H

#include <spindle/benchset.h>
#include "report/doc.h"

/* An array of a depth and the share of the time, without those that never were. */
void sp__report_depths(struct sp__doc doc, const char *key, const uint64_t *ns, size_t n);
/* What was asked for, as the member key. */
void sp__report_bench_config(struct sp__doc doc, const char *key, const struct sp_bench_opts *o);
/* "errors": an array of kind and count. */
void sp__report_errors(struct sp__doc doc, const struct sp_bench_error *errors, size_t n);

/* Errors by kind, a line each. */
void sp__report_error_lines(const json_t *doc, FILE *out);
/* Kinds of documents beside "run". */
void sp__report_sweep_text(const json_t *doc, FILE *out);
void sp__report_mix_text(const json_t *doc, FILE *out);
void sp__report_compare_text(const json_t *doc, FILE *out);
void sp__report_policy_text(const json_t *doc, FILE *out);
/* A row of a comparison. */
void sp__report_row(struct sp__doc doc, json_t *array, const struct sp_benchset_row *row);
/* All that a measurement has found: members result, classes, errors, sim. */
void sp__report_bench_result(struct sp__doc doc, const struct sp_bench_result *r);

#endif
