/* SPDX-License-Identifier: MIT */
/*
 * Makes the command that creates an index that a join lacks.  It is a list of arguments, since only
 * the program that prints it knows the shell; and it is complete for names of any length.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "join/inl/index.h"
#include "rec/keyset.h"

struct command {
	const char *args[16];
	unsigned n;
	char size[48], separator[3], key[64];
};

static void add(struct command *c, const char *arg)
{
	c->args[c->n++] = arg;
}

/* Returns the letter of -k for the type of a key field. */
static const char *letter(const struct sp_join_opts *o)
{
	static const char *const letters[] = {
		[SP_KEY_TEXT] = "",   [SP_KEY_NUMERIC] = "n", [SP_KEY_GENERAL] = "g",
		[SP_KEY_HUMAN] = "h", [SP_KEY_MONTH] = "M",   [SP_KEY_VERSION] = "V"
	};

	return o->types ? letters[o->types[0].type] : "";
}

static void add_separator(struct command *c, const struct sp_join_opts *o)
{
	if (!o->separator || (o->csv && *o->separator == ','))
		return;
	snprintf(c->separator, sizeof(c->separator), "%s",
		 *o->separator ? (char[]){ *o->separator, 0 } : "\\0");
	add(c, "-t");
	add(c, c->separator);
}

static void add_text(struct command *c, const struct sp_join_opts *o, int side)
{
	const size_t field = o->keys[side][0] + 1;

	if (o->csv)
		add(c, "--csv");
	add_separator(c, o);
	if (!o->eol)
		add(c, "-z");
	if (o->header)
		add(c, "--header");
	snprintf(c->key, sizeof(c->key), "%zu%s,%zu%s%s", field, o->separator ? "" : "b", field,
		 letter(o), o->ignore_case || (o->types && o->types[0].fold) ? "f" : "");
}

static void add_binary(struct command *c, const struct sp_join_opts *o, int side)
{
	const struct sp_key *k = &o->fields[o->keys[side][0]];

	snprintf(c->size, sizeof(c->size), "--record-size=%zu", o->fixed_bytes[side]);
	add(c, c->size);
	snprintf(c->key, sizeof(c->key), "%zu:%zu:%s", k->offset, k->length, sp__bkey_type(k));
}

/* True if these fields of this input can have an index. */
static bool possible(const struct sp_join_opts *o, const char *input)
{
	if (!strcmp(input, "-"))
		return false;
	if (o->fixed_bytes[0])
		return sp__keys_alike(o);
	return !o->separator || (o->separator_bytes == 1 && *o->separator != '\n');
}

void sp__want_index(const struct sp_join_io *io, const struct sp_join_opts *o, int side,
		    const char *input, const char *name)
{
	struct command c = { .n = 0 };
	char *index;

	if (!io->index_wanted || !possible(o, input) ||
	    asprintf(&index, "%s%s", name ? name : input, name ? "" : ".index") < 0)
		return;
	add(&c, "xindex");
	add(&c, "build");
	if (o->fixed_bytes[side])
		add_binary(&c, o, side);
	else
		add_text(&c, o, side);
	add(&c, "-k");
	add(&c, c.key);
	add(&c, "-o");
	add(&c, index);
	if (*input == '-')
		add(&c, "--");
	add(&c, input);
	io->index_wanted(io->index_wanted_arg, c.args);
	free(index);
}
