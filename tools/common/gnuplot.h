/* SPDX-License-Identifier: MIT */
/*
 * A script for gnuplot, through a pipe: data as here-documents, then commands.
 */
#ifndef GNUPLOT_H
#define GNUPLOT_H

#include <stdio.h>
#include <sys/types.h>
#include <spindle/outfile.h>

struct gnuplot {
	FILE *in; /* its standard input */
	struct sp_outfile *out;
	pid_t pid;
	void (*on_pipe)(int); /* what SIGPIPE did before */
};

/*
 * Keeps the name of a picture; the program ends if it has neither of the two endings, or if
 * there is no gnuplot that works.
 */
void gnuplot_set(void *to, const char *option, const char *file);

struct gnuplot_layout {
	int rows, columns; /* of plots, below the title */
	int width, height;
};

/*
 * Starts it for a picture file, "X.png" or "X.svg", with the project's lines 1 to 4 (reads, high
 * priority, what is measured; writes, low priority; a third thing; the total of all) and the
 * legend below each plot.  The program ends with a message if that cannot be done.
 */
void gnuplot_open(struct gnuplot *g, const char *file, const char *title,
		  struct gnuplot_layout layout);
/* A string variable with any text. */
void gnuplot_string(struct gnuplot *g, const char *name, const char *text);
/* Waits for the picture; the program ends with a message if there is none. */
void gnuplot_close(struct gnuplot *g, const char *file);

#endif
