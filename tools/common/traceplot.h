/* SPDX-License-Identifier: MIT */
/*
 * Draws traces of block requests (spindle-trace(5)): the requests by position and time, a plot for
 * each volume, and below them the number of outstanding requests on the same time axis.
 */
#pragma once

#include <spindle/sequence.h>

/*
 * Draws a sequence to a picture file with gnuplot.  Without requests it prints a message and draws
 * nothing.  Failure ends the program.
 */
void traceplot_draw(const char *file, const char *title, const struct sp_sequence *seq);
