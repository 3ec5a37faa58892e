/* SPDX-License-Identifier: MIT */
/*
 * Reads options from arguments, without getopt() (options.h).
 */
#include <stdio.h>
#include <string.h>
#include "base/edits.h"
#include "base/err.h"
#include "call/call.h"

struct reader {
	const struct sp__option *table;
	const char *const *args;
	size_t nargs, next;
	const char *letters; /* rest of an argument with short options, or NULL */
};

static const struct sp__option *by_letter(const struct sp__option *table, char letter)
{
	for (; table->code; table++)
		if (table->code == (unsigned char)letter)
			return table;
	return NULL;
}

/* Finds an option by its name or a unique prefix; NULL: *count names have the prefix. */
static const struct sp__option *by_name(const struct sp__option *table, const char *name,
					size_t bytes, unsigned *count)
{
	const struct sp__option *found = NULL;

	for (*count = 0; table->code; table++) {
		if (!table->name || strncmp(table->name, name, bytes) != 0)
			continue;
		if (!table->name[bytes]) {
			*count = 1;
			return table;
		}
		*count += !found || found->code != table->code;
		found = table;
	}
	return *count == 1 ? found : NULL;
}

static const char *next_arg(struct reader *o)
{
	return o->next < o->nargs ? o->args[o->next++] : NULL;
}

static int unknown(const struct sp__option *table, const char *text, size_t bytes,
		   struct sp_errinfo *err)
{
	struct sp__near_name nearest = { 0 };

	for (; table->code; table++)
		if (table->name)
			sp__near_name_try(&nearest, text + 2, bytes, table->name, SP__NEAR_OPTION);
	if (!nearest.name)
		return sp__invalid(err, text, "not an option that applies here:");
	return sp__invalid(err, text,
			   "not an option that applies here (did you mean '--%s'?):", nearest.name);
}

static int ambiguous(const struct sp__option *table, const char *text, size_t bytes,
		     struct sp_errinfo *err)
{
	char names[128] = "";
	size_t n = 0;

	for (; table->code; table++)
		if (table->name && !strncmp(table->name, text + 2, bytes) && n < sizeof(names))
			n += (size_t)snprintf(names + n, sizeof(names) - n, "%s--%s", n ? ", " : "",
					      table->name);
	return sp__invalid(err, text, "ambiguous option (%s):", names);
}

static int long_option(struct reader *o, const char *text, int *code, const char **arg,
		       struct sp_errinfo *err)
{
	size_t bytes = strcspn(text + 2, "=");
	const struct sp__option *found;
	unsigned count;

	found = by_name(o->table, text + 2, bytes, &count);
	if (!found)
		return (count ? ambiguous : unknown)(o->table, text, bytes, err);
	*code = found->code;
	*arg = text[2 + bytes] ? text + 2 + bytes + 1 : NULL;
	if (*arg && found->arg == SP__OPT_NONE)
		return sp__invalid(err, text, "option takes no argument:");
	if (!*arg && found->arg == SP__OPT_ARG)
		*arg = next_arg(o);
	if (!*arg && found->arg == SP__OPT_ARG)
		return sp__invalid(err, text, "option requires an argument:");
	return 1;
}

static int short_option(struct reader *o, int *code, const char **arg, struct sp_errinfo *err)
{
	const char *text = o->args[o->next - 1];
	const struct sp__option *found = by_letter(o->table, *o->letters);

	if (!found)
		return sp__invalid(err, text, "not an option that applies here:");
	*code = found->code;
	*arg = NULL;
	o->letters++;
	if (found->arg == SP__OPT_ARG) {
		*arg = *o->letters ? o->letters : next_arg(o);
		o->letters = "";
		if (!*arg)
			return sp__invalid(err, text, "option requires an argument:");
	}
	if (!*o->letters)
		o->letters = NULL;
	return 1;
}

/* Reads the next option.  Returns 1, with code and argument or NULL; 0: end. */
static int next_option(struct reader *o, int *code, const char **arg, struct sp_errinfo *err)
{
	const char *text;

	if (o->letters)
		return short_option(o, code, arg, err);
	text = next_arg(o);
	if (!text)
		return 0;
	if (text[0] != '-' || !text[1] || !strcmp(text, "--"))
		return sp__invalid(err, text, "not an option:");
	if (text[1] == '-')
		return long_option(o, text, code, arg, err);
	o->letters = text + 1;
	return short_option(o, code, arg, err);
}

int sp__options_each(const struct sp_call *call, const struct sp__option *table,
		     sp__option_apply *apply, void *to, struct sp_errinfo *err)
{
	struct reader o = { .table = table,
			    .args = (const char *const *)call->args,
			    .nargs = call->nargs };
	const char *arg;
	int rc, code;

	while ((rc = next_option(&o, &code, &arg, err)) == 1) {
		rc = apply(to, code, arg, err);
		if (rc < 0)
			return rc;
	}
	return rc;
}

int sp__option_choice(const struct sp_enum_value *values, const char *option, const char *text,
		      int *value, struct sp_errinfo *err)
{
	const char *nearest;

	if (!sp_enum_parse(values, text, value))
		return 0;
	nearest = sp_enum_nearest(values, text);
	if (!nearest)
		return sp__invalid(err, text, "invalid --%s argument", option);
	return sp__invalid(err, text, "invalid --%s argument (did you mean '%s'?):", option,
			   nearest);
}

char *sp__option_spell(const struct sp__option *table, int code, const char *arg, bool *apart)
{
	char *text = NULL;
	int n;

	while (table->code != code)
		table++;
	*apart = !table->name && arg && !*arg;
	if (table->name)
		n = asprintf(&text, "--%s%s%s", table->name, arg ? "=" : "", arg ? arg : "");
	else
		n = asprintf(&text, "-%c%s", code, arg ? arg : "");
	return n < 0 ? NULL : text;
}
