/* SPDX-License-Identifier: MIT */
/*
 * Functions shared by the files that read the options of a join.
 */
#pragma once

#include <spindle/joinform.h>

int sp__form_no_memory(struct sp_errinfo *err);
/* Returns a copy of an item for err->where; NULL: out of memory. */
const char *sp__form_keep(struct sp_join_form *form, const char *item, size_t bytes);
/* Returns the end of an item of a list: a separator outside quotes. */
const char *sp__form_item_end(const char *p, const char *separators);

/* Checks options for use with column names, if there are names; called before a header is read. */
int sp__form_check_names(const struct sp_join_form *form, struct sp_errinfo *err);
/* Adds the paths of a key of JSON lines.  Returns 0, -EINVAL or -ENOMEM. */
int sp__form_set_paths(struct sp_join_form_key *key, const char *text, struct sp_errinfo *err);
void sp__form_free_paths(struct sp_join_form_key *key);
/* Completes the keys of JSON lines; refuses paths for other records.  Returns 0 or -EINVAL. */
int sp__form_paths(struct sp_join_form *form, struct sp_errinfo *err);
/* Checks options that need others.  Returns 0 or -EINVAL. */
int sp__form_check_json(const struct sp_join_form *form, struct sp_errinfo *err);
/* Applies the letters of a key on one side to both; called after sp_join_form_keys(). */
int sp__form_match_types(struct sp_join_form *form, struct sp_errinfo *err);
