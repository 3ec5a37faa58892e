/* SPDX-License-Identifier: MIT */
/*
 * Shared by the files that read the options of a join.
 */
#ifndef SP__CALL_FORM_H
#define SP__CALL_FORM_H

#include <spindle/joinform.h>

/* -EINVAL, with the reason and what it is about, which is NULL or outlives the call. */
int sp__form_wrong(struct sp_errinfo *err, const char **where, const char *text,
		   const char *reason);
int sp__form_no_memory(struct sp_errinfo *err);
/* A copy of an item for *where; NULL is short memory. */
const char *sp__form_keep(struct sp_join_form *form, const char *item, size_t bytes);
/* The end of an item of a list: one of the separators outside quotes. */
const char *sp__form_item_end(const char *p, const char *separators);

/* What goes with names of columns, if there are any; before a header is read. */
int sp__form_check_names(const struct sp_join_form *form, const char **where,
			 struct sp_errinfo *err);
/* Letters of a key on one side apply to both; sp_join_form_keys() has been called. */
int sp__form_match_types(struct sp_join_form *form, struct sp_errinfo *err);

#endif
