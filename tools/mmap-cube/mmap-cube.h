/* SPDX-License-Identifier: MIT */
/*
 * Shared by the commands of mmap-cube.
 */
#ifndef MMAP_CUBE_H
#define MMAP_CUBE_H

#include <stdbool.h>
#include <spindle/cube.h>
#include "commands.h"
#include "common_options.h"
#include "errinfo.h"
#include "statsfile.h"

#define ATTRIBUTES_MAX 256
#define QUERIES_MAX 64

/* The command line.  Texts are borrowed; lists of coordinates are parsed when the cube is known. */
struct config {
	struct common_options common;
	struct sp_run_opts run;
	struct sp_cube_create_opts create;
	struct sp_cube_opts open;
	struct sp_cube_load_opts load;
	struct sp_cube_attribute attributes[ATTRIBUTES_MAX];
	const char *volumes[SP_CUBE_VOLUMES_MAX]; /* names of all but the first */
	struct statsfile stats;
	struct sp_cube *cube; /* that open_cube() opened: whoever dies leaves it here */
	struct operands operands;
	const char *order, *fill, *at, *lo, *hi, *stride, *output, *block;
	const char *workload_path, *plot;
	const char *queries[QUERIES_MAX];
	unsigned nqueries;
	struct sp_cube_workload workload;
	bool discard, repair, format_given, dim_given, measure;
	struct {
		bool cell, fill_factor, overflow, conservatism, waste, positions, seed, decluster;
	} given;
	enum sp_cube_format format;
	unsigned dim;
	int coalesce;
	uint64_t request, count, cell;
};

/* options.c: parses the command line. */
const struct command *options_parse(struct config *c, int argc, char **argv);

/* A list of numbers, one for each dimension at most; dies if it is none.  Returns how many. */
unsigned list_option(const char *option, const char *text, char separator, uint64_t *values);
/* A coordinate of a cube: as many numbers as it has dimensions. */
void coordinate(const char *option, const char *text, unsigned ndims, uint64_t *x);

/* void.c: dies if an option cannot take effect because of others, or of their absence. */
void refuse_void_options(const struct config *c);

/* The cube of the first operand; dies if it cannot be opened. */
struct sp_cube *open_cube(struct config *c, bool write);
/* Dies if the trace cannot be written. */
void close_cube(const struct config *c, struct sp_cube *cube);
/* The queries of --workload and --query, for a cube of this shape; false: there are none. */
bool load_workload(struct config *c, const struct sp_cube_shape *shape);
/* --geometry, or NULL. */
struct sp_geometry *load_geometry(const struct config *c);

int command_create(struct config *c);
int command_load(struct config *c);
int command_append(struct config *c);
int command_export(struct config *c);
int command_get(struct config *c);
int command_put(struct config *c);
int command_map(struct config *c);
int command_info(struct config *c);
int command_check(struct config *c);
int command_explain(struct config *c);
int command_compare(struct config *c);
int command_beam(struct config *c);
int command_range(struct config *c);
int command_reorganise(struct config *c);

/* points.c: what some commands do with a dataset of points. */
void points_describe(const struct sp_cube *cube, const struct sp_cube_info *info);
int points_get(struct config *c, struct sp_cube *cube, const struct sp_cube_info *info,
	       const uint64_t *x);
void points_map_block(const struct config *c, const struct sp_cube *cube, uint64_t block);
/* After a put: says if queries get slow. */
void points_say_repack(const struct config *c, const struct sp_cube *cube);

void print_sizes(const char *label, const uint64_t *sizes, unsigned n);
/* --stats. */
void report(struct config *c, const struct sp_cube *cube, const struct sp_cube_stats *s);

#endif
