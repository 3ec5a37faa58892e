/* SPDX-License-Identifier: MIT */
/*
 * Reads format, keys and columns from the command line by the library (spindle/joinform.h); errors
 * end the program.
 */
#include <string.h>
#include "columns.h"
#include "number.h"
#include "xjoin.h"

/*
 * Reads --suffixes=TEXT,TEXT...
 */

void suffixes_set(void *settings, const char *option, const char *text)
{
	static const char *const defaults[SP_JOIN_FILES_MAX] = { "_1", "_2", "_3", "_4",
								 "_5", "_6", "_7", "_8" };
	struct settings *set = settings;
	char *rest = text ? must_copy(text) : NULL;

	set->opts.suffixes = text ? set->suffixes : defaults;
	for (set->nsuffixes = 0; rest; set->nsuffixes++) {
		if (set->nsuffixes == SP_JOIN_FILES_MAX)
			die("%s: at most %d files are joined", option, SP_JOIN_FILES_MAX);
		set->suffixes[set->nsuffixes] = strsep(&rest, ",");
	}
}

void suffixes_check(const struct settings *set)
{
	const size_t files = 2 + set->opts.nthen;

	if (!set->opts.suffixes)
		return;
	if (!set->opts.header)
		die("--suffixes needs --header");
	if (set->nsuffixes && set->nsuffixes != files)
		die("--suffixes: %zu files need as many suffixes, separated by commas, not %zu",
		    files, set->nsuffixes);
}

static const char record_forms[] = "valid are SIZE and SIZE,SIZE, of at least a byte";

/* Why the library refuses a text. */
static struct sp_errinfo reason = SP_ERRINFO_INIT;

static void must(int rc)
{
	if (rc)
		die_argument(&reason);
}

size_t field_number(const char *text)
{
	size_t field;

	must(sp_join_form_field(text, &field, &reason));
	return field;
}

void key_set(void *settings, const char *option, const char *text)
{
	must(sp_join_form_set_key(&((struct settings *)settings)->form, option[1] == '2', text,
				  &reason));
}

void unpaired_set(void *settings, const char *option, const char *text)
{
	must(sp_join_form_set_unpaired(&((struct settings *)settings)->form, text, option[1] == 'a',
				       &reason));
}

void filler_set(void *settings, const char *option, const char *text)
{
	(void)option;
	must(sp_join_form_set_filler(&((struct settings *)settings)->form, text, &reason));
}

/* Other tools have -o for their output. */
static bool looks_like_file(const char *field)
{
	return strpbrk(field, "./") && (field[0] < '0' || field[0] > '9' || field[1] != '.');
}

void columns_add(struct settings *set, char *text)
{
	int rc = sp_join_form_add_columns(&set->form, text, &reason);

	if (rc && reason.where && !set->opts.header && looks_like_file(reason.where))
		die("%s %s; to name the output, use --output=FILE", reason.text,
		    quote(reason.where));
	must(rc);
}

void nested_set(void *settings, const char *option, const char *text)
{
	(void)option;
	must(sp_join_form_set_nested(&((struct settings *)settings)->form, text, &reason));
}

void separator_set(void *settings, const char *option, const char *text)
{
	(void)option;
	must(sp_join_form_set_separator(&((struct settings *)settings)->form, text, &reason));
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

/* Reports a wrong argument; a name without --header is read as a number. */
static _Noreturn void argument_failed(const struct settings *set, const struct sp_errinfo *err)
{
	if (err->where && sp_columns_is_name(err->where) && !set->form.plain && !set->opts.header)
		die("%s %s; to name columns, add --header", err->text, quote(err->where));
	die_argument(err);
}

static void refuse_conflict(const struct settings *set)
{
	const char *a, *b;

	if (sp_join_form_conflict(&set->form, &a, &b))
		args_exclude(true, a, true, b);
}

void keys_finish(struct settings *set)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	/* Before names of columns and --header are missed, which do not go with it. */
	if (set->opts.json)
		refuse_conflict(set);
	if (sp_join_form_resolve(&set->form, set->inputs, quote, set->ahead, &err)) {
		if (err.where)
			argument_failed(set, &err);
		columns_failed(&err);
	}
	if (sp_join_form_keys(&set->form, &reason))
		argument_failed(set, &reason);
}

void form_finish(struct settings *set)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	refuse_conflict(set);
	if (!sp_join_form_finish(&set->form, &err))
		return;
	if (err.where && err.where == set->opts.filler)
		die("%s: %s", quote(err.where), err.text);
	die_argument(&err);
}
