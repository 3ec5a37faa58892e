/* SPDX-License-Identifier: MIT */
/*
 * Reads format, keys and columns from the command line by the library (spindle/joinform.h); errors
 * end the program.
 */
#include <string.h>
#include "columns.h"
#include "number.h"
#include "xjoin.h"

static const char record_forms[] = "valid are SIZE and SIZE,SIZE, of at least a byte";

size_t field_number(const char *text)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	size_t field;

	if (sp_join_form_field(text, &field, &err))
		die_argument(&err);
	return field;
}

void key_set(void *settings, const char *option, const char *text)
{
	struct settings *set = settings;
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (sp_join_form_set_key(&set->form, option[1] == '2', text, &err))
		die_argument(&err);
}

void unpaired_set(void *settings, const char *option, const char *text)
{
	struct settings *set = settings;
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (sp_join_form_set_unpaired(&set->form, text, option[1] == 'a', &err))
		die_argument(&err);
}

void filler_set(void *settings, const char *option, const char *text)
{
	struct settings *set = settings;
	struct sp_errinfo err = SP_ERRINFO_INIT;

	(void)option;
	if (sp_join_form_set_filler(&set->form, text, &err))
		die_argument(&err);
}

void columns_add(struct settings *set, char *text)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (sp_join_form_add_columns(&set->form, text, &err))
		die_argument(&err);
}

void separator_set(void *settings, const char *option, const char *text)
{
	struct settings *set = settings;
	struct sp_errinfo err = SP_ERRINFO_INIT;

	(void)option;
	if (sp_join_form_set_separator(&set->form, text, &err))
		die_argument(&err);
}

void record_size_set(void *settings, const char *name, const char *text)
{
	struct settings *set = settings;
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (!sp_join_form_set_sizes(&set->form, text, &err))
		return;
	if (err.code == -ENOMEM)
		die_argument(&err);
	if (err.where != text)
		size_option(name, err.where); /* ends the program if it is not a size */
	number_die(NUMBER_INVALID, name, text, record_forms);
}

/* Adds SPEC, or SPEC,SPEC, in the form of xsort. */
void bkey_add(void *settings, const char *name, const char *text)
{
	struct settings *set = settings;
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (!sp_join_form_add_bkey(&set->form, text, &err))
		return;
	if (err.code == -ENOMEM)
		die_argument(&err);
	if (err.where != text)
		die("%s %s: %s; valid is OFFSET:LENGTH[:TYPE], TYPE one of " BKEY_TYPES, name,
		    quote(text), err.text);
	die("%s %s: %s", name, quote(text), err.text);
}

void keys_finish(struct settings *set)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (sp_join_form_resolve(&set->form, set->inputs, quote, set->ahead, &err)) {
		if (err.where)
			die_argument(&err);
		columns_failed(&err);
	}
	if (sp_join_form_keys(&set->form, &err))
		die_argument(&err);
}

void form_finish(struct settings *set)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	const char *a, *b;

	if (sp_join_form_conflict(&set->form, &a, &b))
		args_exclude(true, a, true, b);
	if (!sp_join_form_finish(&set->form, &err))
		return;
	if (err.where && err.where == set->opts.filler)
		die("%s: %s", quote(err.where), err.text);
	die_argument(&err);
}
