/* SPDX-License-Identifier: MIT */
/*
 * What a run of the library itself looks at: its result, its trace, its inputs.
 */
#ifndef SP__BASE_OUTPUT_SET_H
#define SP__BASE_OUTPUT_SET_H

#include <stddef.h>
#include <spindle/outfile.h>

/* output and trace may be NULL; the output may be an input. */
SP_MUST_CHECK int sp__output_set_check(const char *output, const char *trace,
				       const char *const *inputs, size_t n, struct sp_errinfo *err);

/* Paths lead to one file, which need not exist, if what identifies them is the same. */
bool sp__output_set_identify(struct sp_output_set_file *f,
			     const char *path); /* false: nothing to lose */
bool sp__output_set_same(const struct sp_output_set_file *a, const struct sp_output_set_file *b);

#endif
