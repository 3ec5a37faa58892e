/* SPDX-License-Identifier: MIT */
/*
 * What a run of the library itself looks at: its result, its trace, its inputs.
 */
#ifndef SP__BASE_OUTSET_H
#define SP__BASE_OUTSET_H

#include <stddef.h>
#include <spindle/outfile.h>

/* output and trace may be NULL; the output may be an input. */
SP_MUST_CHECK int sp__outset_check(const char *output, const char *trace, const char *const *inputs,
				   size_t n, struct sp_errinfo *err);

/* Paths lead to one file, which need not exist, if what identifies them is the same. */
bool sp__outset_identify(struct sp_outset_file *f, const char *path); /* false: nothing to lose */
bool sp__outset_same(const struct sp_outset_file *a, const struct sp_outset_file *b);

#endif
