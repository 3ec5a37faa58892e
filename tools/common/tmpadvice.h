/* SPDX-License-Identifier: MIT */
/*
 * Names a folder with space for temporary data, for messages about a folder that has none.
 */
#pragma once

#include <spindle/run.h>

/*
 * Returns the end of a message about the folders of temporary data: "" if no other folder would
 * help, or a text that begins with ": ".  The text is valid until the next call.
 * code: the negative code of the error.  output: the file of the result, or NULL.
 * need: bytes of the temporary data; 0: unknown.
 */
const char *tmpadvice(const struct sp_run_opts *run, int code, const char *output, uint64_t need);
