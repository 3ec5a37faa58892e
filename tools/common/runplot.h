/* SPDX-License-Identifier: MIT */
/*
 * Draws the block requests of a run (traceplot.h) for --plot: the run writes a trace to an unnamed
 * temporary file, or to the file of --trace, and the trace is drawn after all else is done.
 */
#pragma once

#include "common_options.h"

/*
 * Prepares to draw the run if c->plot is set.  Called after common_options_finish().  A failure,
 * or an option that excludes pictures, ends the program.
 */
void runplot_begin(struct common_options *c);
/* Returns the option that requested the trace of the run, for messages. */
const char *runplot_option(const struct common_options *c);
/* Replaces the name of the temporary file in an error by its folder. */
void runplot_name(const struct common_options *c, struct sp_errinfo *err);
/*
 * Draws the run if c->plot is set; the title has the n names.  A failure is a message, and does
 * not change the exit status.
 */
void runplot_finish(const struct common_options *c, const char *const *names, size_t n);
