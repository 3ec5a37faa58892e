/* SPDX-License-Identifier: MIT */
/*
 * Looks in the text of a plan for what a query is about.
 */
#pragma once

#include <spindle/dbm.h>

/* Returns what a plan lacks, such as "T2"; NULL: nothing. */
const char *sp__plan_lacks(enum sp_dbm_query query, const char *text);
