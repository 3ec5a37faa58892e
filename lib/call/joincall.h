/* SPDX-License-Identifier: MIT */
/*
 * The state of a call that joins.
 */
#ifndef SP__CALL_JOINCALL_H
#define SP__CALL_JOINCALL_H

#include <spindle/joinform.h>
#include "call/call.h"

struct sp_call_join {
	struct sp_call base; /* words and directories */
	struct sp_join_opts opts;
	struct sp_join_form form; /* which sets them */
};

/*
 * Applies the words, which base has; where: as for sp__call_sort_args().  Columns by name keep
 * their names, and then the form is not finished.
 */
SP_MUST_CHECK int sp__call_join_args(struct sp_call_join *join, const char **where,
				     struct sp_errinfo *err);
/* The words of a call whose names have numbers now, for sp__call_release(); 0 or -ENOMEM. */
SP_MUST_CHECK int sp__call_join_numbered(const struct sp_call_join *join,
					 const struct sp_join_form *form, struct sp_call *words,
					 struct sp_errinfo *err);

#endif
