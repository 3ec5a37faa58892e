/* SPDX-License-Identifier: MIT */
/*
 * Declarations shared by the commands of mmap-cube.
 */
#pragma once

#include <spindle/cube.h>
#include "commands.h"
#include "common_options.h"
#include "msg.h"
#include "runplot.h"
#include "statsfile.h"

#define ATTRIBUTES_MAX 256
#define QUERIES_MAX 64

/* The command line.  Texts are borrowed; lists of coordinates are parsed once the cube is open. */
struct config {
	struct common_options common;
	struct sp_run_opts run;
	struct sp_cube_create_opts create;
	struct sp_cube_opts open;
	struct sp_cube_load_opts load;
	struct sp_cube_attribute attributes[ATTRIBUTES_MAX];
	const char *volumes[SP_CUBE_VOLUMES_MAX]; /* names of all except the first */
	struct statsfile stats;
	struct progress progress;
	struct sp_cube *cube; /* opened by open_cube(); stays here when an error ends the program */
	struct sp_cube_info info; /* facts about the cube when it was opened */
	struct operands operands;
	const char *order, *from, *fill;
	const char *at, *box, *lo, *hi, *stride, *output, *block;
	const char *workload_path, *plot;
	const char *queries[QUERIES_MAX];
	unsigned nqueries;
	struct sp_cube_workload workload;
	bool discard, repair, format_given, dim_given, measure, measure_device;
	struct {
		bool dtype, cell, fill_factor, overflow, underflow, conservatism, waste, positions,
			seed, decluster;
	} given;
	enum sp_cube_format format;
	unsigned dim;
	int coalesce;
	uint64_t request, count, cell;
};

/* options.c: parses the command line. */
const struct command *options_parse(struct config *c, int argc, char **argv);

/*
 * Parses a list of numbers, at most one for each dimension.  Returns their number; an error ends
 * the program.
 */
unsigned list_option(const char *option, const char *text, char separator, uint64_t *values);
/* Parses a coordinate of a cube: one number for each dimension. */
void coordinate(const char *option, const char *text, unsigned ndims, uint64_t *x);

/*
 * data.c: narrows a box, which has all elements of the cube, by slices.  Dimensions after the
 * last slice stay as they are.  An invalid text ends the program.
 */
void slice_box(const char *text, const struct sp_cube_shape *shape, struct sp_cube_box *box);

/*
 * plot.c: draws the candidates of each query of the workload, and of all.
 * measured: measured times next to the predicted ones.
 * last: the name of the last candidate.
 */
void plot_queries(const struct config *c, bool measured, const char *what,
		  const struct sp_cube_candidate *all,
		  const struct sp_cube_candidate (*each)[SP_CUBE_CANDIDATES], const char *last);

/*
 * options.c: ends the program if an option has no effect because of other options, or without them.
 */
void refuse_void_options(const struct config *c);

/* Opens the cube of the first operand, and sets c->info; failure ends the program. */
struct sp_cube *open_cube(struct config *c, bool write);
/* Ends the program if rc is an error: closes the cube, and prints the error. */
void check_cube(struct sp_cube *cube, int rc, const struct sp_errinfo *err);
/* Closes the cube; a write error of the trace ends the program. */
void close_cube(const struct config *c, struct sp_cube *cube);
/* data.c: sets the format of the input, the second operand, and the order of its dimensions. */
void set_input(struct config *c);
/* Loads the queries of --workload and --query for a cube of this shape.  False: none. */
bool load_workload(struct config *c, const struct sp_cube_shape *shape);
/* Loads the file of --geometry; NULL: not given. */
struct sp_geometry *load_geometry(const struct config *c);

int command_create(struct config *c);
int command_load(struct config *c);
int command_append(struct config *c);
int command_export(struct config *c);
int command_get(struct config *c);
int command_put(struct config *c);
int command_delete(struct config *c);
int command_map(struct config *c);
int command_info(struct config *c);
int command_check(struct config *c);
int command_explain(struct config *c);
int command_compare(struct config *c);
int command_beam(struct config *c);
int command_range(struct config *c);
int command_reorganise(struct config *c);

/* points.c: commands on a dataset of points. */
void points_describe(const struct sp_cube *cube, const struct sp_cube_info *info);
/* Prints a message after a change if a reorganisation is due. */
void points_say_repack(const struct config *c, const struct sp_cube *cube);

void print_list(const uint64_t *values, unsigned n, const char *separator);
void print_sizes(const char *label, const uint64_t *sizes, unsigned n);
/* Writes the report of --stats. */
void report(struct config *c, const struct sp_cube *cube, const struct sp_cube_stats *s);
