/* SPDX-License-Identifier: MIT */
/*
 * What the documents of measurements share.
 */
#ifndef SP__REPORT_BENCH_H
#define SP__REPORT_BENCH_H

#include "report/doc.h"

/* A priority in the words of --class. */
const char *sp__report_prio(uint16_t prio, char text[16]);
/* An array of a depth and the share of the time, without those that never were. */
void sp__report_depths(struct sp__doc doc, const char *key, const uint64_t *ns, size_t n);

#endif
