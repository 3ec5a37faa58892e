/* SPDX-License-Identifier: MIT */
/*
 * Checks the files of a run of the library: its result, trace and inputs.
 */
#pragma once

#include <spindle/outfile.h>

/*
 * Checks that the files differ. output, trace and tasks, the log of tasks, may be NULL; the output
 * may be an input.
 */
SP_MUST_CHECK int sp__output_set_check(const char *output, const char *trace, const char *tasks,
				       const char *const *inputs, size_t n, struct sp_errinfo *err);

/* Two paths lead to one file, which need not exist, if their identifications are the same. */
bool sp__output_set_identify(struct sp_output_set_file *f,
			     const char *path); /* false: no file to lose */
bool sp__output_set_same(const struct sp_output_set_file *a, const struct sp_output_set_file *b);
