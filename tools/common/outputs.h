/* SPDX-License-Identifier: MIT */
/*
 * Checks that the files that a command writes are not its inputs or each other
 * (<spindle/outfile.h>).  Conflicts end the program.  A path of NULL is ignored.
 */
#pragma once

#include <stdnoreturn.h>
#include <spindle/outfile.h>
#include "common_options.h"

/* Adds an output, named by option.  All outputs are added before inputs are checked. */
void outputs_add(struct sp_output_set *set, const char *path, const char *option,
		 bool input_allowed);
void outputs_add_stdout(struct sp_output_set *set, bool input_allowed);
/* Adds the file of --stats; "-" is standard error. */
void outputs_add_stats(struct sp_output_set *set, const char *path);
/* Checks an input; "-" is standard input, which two arguments cannot name. */
void outputs_check_input(const struct sp_output_set *set, const char *path);
/*
 * Checks inputs that are read one after the other: standard input has ended when it is read again,
 * as for GNU sort.
 */
void outputs_check_inputs(const struct sp_output_set *set, const char *const *paths, size_t n);
/*
 * Ends the program if path and the path of an earlier call both are standard input.  Repeated calls
 * have the same pointer.
 */
void outputs_claim_input(const char *path);
/* Checks the files of a volume: a file, "block:DEVICE", "sim:MODEL,KEY=VALUE...". */
void outputs_check_volume(const struct sp_output_set *set, const char *text);

/*
 * Adds the outputs of the common options and the result (NULL: standard output), which may be an
 * input; checks their inputs.
 */
void outputs_common(struct sp_output_set *set, const struct common_options *c, const char *output);

/* Ends the program with an error of the library about an output. */
noreturn void output_die(const struct sp_errinfo *err);
