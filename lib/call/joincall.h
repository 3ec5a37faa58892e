/* SPDX-License-Identifier: MIT */
/*
 * The state of a call that joins.
 */
#pragma once

#include <spindle/joinform.h>
#include "call/call.h"

struct sp_call_join {
	struct sp_call base; /* arguments and directories */
	struct sp_join_opts opts;
	struct sp_join_form form; /* sets the options */
	const char *suffixes[2];  /* copies of base */
};

/*
 * Applies the arguments of base.  Columns keep their names; if
 * there are names, the form is not finished.
 */
SP_MUST_CHECK int sp__call_join_args(struct sp_call_join *join, struct sp_errinfo *err);
/*
 * Makes the arguments of a call with numbers for names; free with sp__call_release().  Returns 0 or
 * -ENOMEM.
 */
SP_MUST_CHECK int sp__call_join_numbered(const struct sp_call_join *join,
					 const struct sp_join_form *form, struct sp_call *args,
					 struct sp_errinfo *err);
