/* SPDX-License-Identifier: MIT */
/*
 * The files of diskprobe: options, answers from a geometry, plots.
 */
#pragma once

#include <stdio.h>
#include <spindle/probe.h>
#include <spindle/report.h>
#include "msg.h"
#include "progress.h"
#include "statsfile.h"

enum ask { ASK_PROBE, ASK_TRACKS, ASK_ADJACENT };

struct config {
	struct sp_probe_opts probe;
	enum ask ask;
	const char **lbns; /* operands of tracks or adjacent */
	size_t nlbns;
	uint64_t step;
	double conservatism_deg;
	bool write;
	const char *output;   /* geometry; NULL: none; "-": standard output */
	const char *geometry; /* to answer from */
	const char *resume;
	const char *plot;
	const char *stats; /* "-": standard error */
	struct statsfile stats_file;
	bool verify, require;
	struct {
		bool extent, seed, step, conservatism; /* extent: --quick or --full */
	} given;
	enum progress_mode progress;
};

/* Parses and checks the command line; ends the program on an error. */
void options_parse(struct config *c, int argc, char **argv);

/* Prints the tracks, or the adjacent blocks, of the operands. */
void answer(const struct config *c, const struct sp_geometry *g);

/* Draws the result with gnuplot, to a PNG or SVG file. */
void plot(const char *file, const struct sp_probe *probe);

/* Ends the program with an error: the file or device, and the reason. */
_Noreturn void fail(const char *subject, int rc, const struct sp_errinfo *err);
