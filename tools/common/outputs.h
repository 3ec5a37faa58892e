/* SPDX-License-Identifier: MIT */
/*
 * The files that a command writes, and those that none of them may be: see
 * <spindle/outfile.h>.  What conflicts ends the program.  A path of NULL is none.
 */
#ifndef OUTPUTS_H
#define OUTPUTS_H

#include <stdnoreturn.h>
#include <spindle/outfile.h>
#include "common_options.h"

/* Outputs first, by the option that names them ... */
void outputs_add(struct sp_output_set *set, const char *path, const char *option,
		 bool input_allowed);
void outputs_add_stdout(struct sp_output_set *set);
/* --stats, where "-" is standard error. */
void outputs_add_stats(struct sp_output_set *set, const char *path);
/* ... then the inputs; "-" is standard input. */
void outputs_check_input(const struct sp_output_set *set, const char *path);
/* The same for what a volume is: a file, "block:DEVICE", "sim:MODEL,KEY=VALUE...". */
void outputs_check_volume(const struct sp_output_set *set, const char *text);

/*
 * What the common options name: adds what they write and the result (NULL: standard output),
 * which may be an input; spares what they read.
 */
void outputs_common(struct sp_output_set *set, const struct common_options *c, const char *output);

/* Ends the program with the error of the library about an output. */
noreturn void output_die(const struct sp_errinfo *err);

#endif
