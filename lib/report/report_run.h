/* SPDX-License-Identifier: MIT */
/*
 * Keys that the documents of a sort and of a join have in common.
 */
#ifndef SP__REPORT_REPORT_RUN_H
#define SP__REPORT_REPORT_RUN_H

#include <spindle/run.h>
#include "report/doc.h"

/* Each adds one object to doc and returns it, for what the document has besides. */
struct sp__doc sp__report_io(struct sp__doc doc, const struct sp_run_stats *s);
struct sp__doc sp__report_memory(struct sp__doc doc, const struct sp_run_stats *s);
struct sp__doc sp__report_spill(struct sp__doc doc, const struct sp_run_stats *s);
struct sp__doc sp__report_sim(struct sp__doc doc, const struct sp_run_stats *s);

/* Seconds of n phases; cpu_s: NULL if unknown. */
void sp__report_phases(struct sp__doc doc, const char *const *names, int n, const double *elapsed_s,
		       const double *cpu_s);

/* Members of a configuration. */
void sp__report_placement(struct sp__doc config, enum sp_placement placement);
void sp__report_engine(struct sp__doc config, const char *engine, int direct);

#endif
