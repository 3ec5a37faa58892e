/* SPDX-License-Identifier: MIT */
/*
 * Distinguishes columns of the result that have the same name (sp_join_opts.suffixes).
 */
#pragma once

#include "base/mem.h"
#include "join/result/emit.h"

/*
 * Appends suffixes to shared names in the headers first[] of all files; of: the headers, or NULL
 * without one. copies: empty buffers, one for each file, that then own the headers.  Returns 0;
 * SP_EFORMAT: names are shared after this; SP_ESYNTAX: a suffix has a separator; -ENOMEM.
 */
SP_MUST_CHECK int sp__suffixes_append(struct sp__emit *e, const struct sp__line *const *of,
				      struct sp__line *first, struct sp__bytes *copies,
				      struct sp_errinfo *err);
