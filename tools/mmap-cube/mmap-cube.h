/* SPDX-License-Identifier: MIT */
/*
 * Shared by the commands of mmap-cube.
 */
#ifndef MMAP_CUBE_H
#define MMAP_CUBE_H

#include <argp.h>
#include <stdbool.h>
#include <stdnoreturn.h>
#include <spindle/cube.h>
#include "common_options.h"
#include "statsfile.h"

#define OPERANDS_MAX 3
#define ATTRIBUTES_MAX 256

/* The command line.  Texts are borrowed; lists of coordinates are parsed when the cube is known. */
struct config {
	struct common_options common;
	struct sp_run_opts run;
	struct sp_cube_create_opts create;
	struct sp_cube_opts open;
	struct sp_cube_load_opts load;
	struct sp_cube_attribute attributes[ATTRIBUTES_MAX];
	struct statsfile stats;
	const char *operands[OPERANDS_MAX];
	unsigned noperands;
	const char *order, *fill, *at, *lo, *hi, *stride, *output, *block;
	const char *workload_path, *plot;
	struct sp_cube_workload workload;
	bool discard, format_given, dim_given, measure;
	enum sp_cube_format format;
	unsigned dim;
	int coalesce;
	uint64_t request;
};

/* options.c: parses the command line after the command; which names the options that it takes. */
struct command;
const struct command *options_parse(struct config *c, int argc, char **argv);
int command_run(const struct command *command, struct config *c);

/* A list of numbers, one for each dimension at most; dies if it is none.  Returns how many. */
unsigned list_option(const char *option, const char *text, char separator, uint64_t *values);
/* A coordinate of a cube: as many numbers as it has dimensions. */
void coordinate(const char *option, const char *text, unsigned ndims, uint64_t *x);

/* The cube of the first operand; dies if it cannot be opened. */
struct sp_cube *open_cube(struct config *c, bool write);
/* Dies if the trace cannot be written. */
void close_cube(const struct config *c, struct sp_cube *cube);
/* The queries of --workload, for a cube of this shape; false: it was not given. */
bool load_workload(struct config *c, const struct sp_cube_shape *shape);
/* --geometry, or NULL. */
struct sp_geometry *load_geometry(const struct config *c);
/* What to do about an interrupted load. */
const char *cube_unfinished(const struct sp_cube_info *info);
noreturn void die_of(int rc, const struct sp_errinfo *err);

int command_create(struct config *c);
int command_load(struct config *c);
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

#endif
