/* SPDX-License-Identifier: MIT */
/*
 * Plans in one mebibyte of memory, and the scan of a file of lines with fields between blanks.
 */
#ifndef UNIT_FLOWPLAN_H
#define UNIT_FLOWPLAN_H

#include <stdlib.h>
#include <spindle/flow.h>

static const char *const tmpdirs[] = { "/tmp" };
static struct sp_errinfo err;
static const char *engine, *volume; /* of the next plans; NULL: the default */

/* Options of an operator: the volume is that of its plan. */
static inline struct sp_run_opts run_opts(void)
{
	struct sp_run_opts run = SP_RUN_OPTS_INIT;

	run.memory_bytes = 1 << 20;
	run.tmpdirs = tmpdirs;
	run.ntmpdirs = 1;
	run.engine = engine;
	return run;
}

static inline struct sp_flow *open_flow(void)
{
	struct sp_run_opts run = run_opts();
	struct sp_flow *flow = NULL;

	run.volume = volume;
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	if (sp_flow_open(&flow, &run, &err))
		abort();
	return flow;
}

/* The scan keeps the pointer to the file's name. */
static inline struct sp_operator *scan_file(struct sp_flow *flow, const char *const *input)
{
	struct sp_flow_scan o = { .inputs = input,
				  .ninputs = 1,
				  .format = { .kind = SP_REC_LINE, .eol = '\n' },
				  .separator = " ",
				  .separator_bytes = 1 };
	struct sp_operator *op;

	if (sp_flow_scan(&op, flow, &o))
		abort();
	return op;
}

#endif
