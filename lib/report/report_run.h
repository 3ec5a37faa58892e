/* SPDX-License-Identifier: MIT */
/*
 * Fields that the documents of all operators share.
 */
#pragma once

#include <spindle/run.h>
#include "report/doc.h"

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
