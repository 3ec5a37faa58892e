/* SPDX-License-Identifier: MIT */
/*
 * Draws with gnuplot: writes a script to a pipe, data as here-documents and then commands.
 */
#pragma once

#include <signal.h>
#include <stdio.h>
#include <sys/types.h>
#include <spindle/outfile.h>

struct gnuplot {
	FILE *in; /* standard input of gnuplot */
	struct sp_outfile *out;
	pid_t pid;
	void (*on_pipe)(int); /* previous handler of SIGPIPE */
	struct sigaction on_alarm;
};

/*
 * Sets the name of a picture.  A name without one of the three suffixes, or a missing gnuplot,
 * ends the program.
 */
void gnuplot_set(void *to, const char *option, const char *file);

struct gnuplot_layout {
	int rows, columns; /* plots below the title */
	int width, height; /* pixels; a PDF has 100 of them per inch */
};

/*
 * Starts gnuplot for a picture file, "X.png", "X.svg" or "X.pdf", with the project's line styles 1
 * to 4 (reads, high priority, measured values; writes, low priority; a third series; the total) and
 * the legend below each plot.  Failure ends the program with a message.
 */
void gnuplot_open(struct gnuplot *g, const char *file, const char *title,
		  struct gnuplot_layout layout);
/* Defines a string variable with any text. */
void gnuplot_string(struct gnuplot *g, const char *name, const char *text);
/* Values of an axis; zeroed: none. */
struct gnuplot_range {
	double low, high;
};
/* Adds a value, unless it is 0, negative, infinite or not a number. */
void gnuplot_range_add(struct gnuplot_range *r, double value);
/*
 * Makes an axis, 'x' or 'y', logarithmic, with the decades of the range; without values, from 0.001
 * to 1.  Set by gnuplot itself, an axis with one value is a warning.
 */
void gnuplot_decades(struct gnuplot *g, char axis, const struct gnuplot_range *r);
/* Waits for the picture; failure ends the program with a message. */
void gnuplot_close(struct gnuplot *g, const char *file);
