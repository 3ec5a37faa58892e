/* SPDX-License-Identifier: MIT */
/*
 * Commands that make tables or read their text: load, create, convert and schema.
 */
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>
#include "xtable.h"

void set_format(struct config *c)
{
	struct sp_table_load_opts *o = &c->load;

	if (c->separator && (!c->separator[0] || c->separator[1]))
		die("invalid -t argument %s: valid is one byte", quote(c->separator));
	if (c->separator)
		o->separator = c->separator[0];
	if (o->record_bytes && (c->csv || c->separator || o->header))
		die("--record-size does not go with %s", c->csv		? "--csv"
							 : c->separator ? "-t"
									: "--header");
	if (c->json_lines &&
	    (c->csv || c->separator || o->header || o->null_text || o->record_bytes))
		die("--json does not go with %s", c->csv	 ? "--csv"
						  : c->separator ? "-t"
						  : o->header	 ? "--header"
						  : o->null_text ? "--null"
								 : "--record-size");
	if (o->types && o->schema)
		die("--types does not go with --schema, which has all types");
	if (o->record_bytes && !o->types && !o->schema)
		die("--record-size needs --types or --schema: binary records have no types");
	o->format = o->record_bytes ? SP_TABLE_FIXED
		    : c->csv	    ? SP_TABLE_CSV
		    : c->json_lines ? SP_TABLE_JSON
				    : SP_TABLE_TEXT;
	o->together = c->together;
}

/* An old file is not replaced by mistake, such as a forgotten operand. */
static void refuse_old(const struct config *c, const char *path)
{
	struct stat st;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		die("%s: is a folder, not a file of a table", quote_file(path));
	if (!c->run.overwrite && !access(path, F_OK))
		die("%s: exists; --overwrite allows to replace it", quote_file(path));
}

size_t inputs_of(const struct config *c, unsigned first, const char *const **inputs)
{
	static const char *const standard_input = "-";
	const bool any = c->operands.n > first;

	*inputs = any ? (const char *const *)c->operands.text + first : &standard_input;
	return any ? c->operands.n - first : 1;
}

void say_inexact(const char *input, const struct sp_table_stats *st)
{
	if (!st->exact)
		msg("warning: %s: records are written in several ways; scan writes all of them in "
		    "one",
		    quote_file(input));
}

void say_skipped(const char *const *inputs, size_t n, const struct sp_table_stats *st)
{
	if (st->blank_lines)
		msg("warning: %s%s: %" PRIu64 " blank line%s skipped", quote_file(inputs[0]),
		    n > 1 ? " and others" : "", st->blank_lines, st->blank_lines == 1 ? "" : "s");
	if (st->empty_inputs && n > 1)
		msg("warning: %" PRIu64 " empty file%s skipped", st->empty_inputs,
		    st->empty_inputs == 1 ? "" : "s");
	if (st->repeated_members)
		msg("warning: %s%s: %" PRIu64 " member%s the path of an earlier one in the same "
		    "record: the last one counts",
		    quote_file(inputs[0]), n > 1 ? " and others" : "", st->repeated_members,
		    st->repeated_members == 1 ? " has" : "s have");
}

/* Prints a sentence about a column: struct sp_table_load_opts.note. */
static void say_note(void *config, const char *text)
{
	struct config *c = config;

	c->noted++;
	msg("%s", text);
}

int command_load(struct config *c)
{
	const char *const *inputs;
	const size_t n = inputs_of(c, 1, &inputs);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_stats st;
	int rc;

	refuse_old(c, c->operands.text[0]);
	c->load.note = say_note;
	c->load.note_arg = c;
	rc = sp_table_load(c->operands.text[0], inputs, n, &c->load, &st, &err);
	if (rc)
		die_of(rc, &err);
	say_skipped(inputs, n, &st);
	if (!c->noted && !st.blank_lines && !c->json_lines)
		say_inexact(inputs[0], &st);
	if (c->common.stats) {
		c->run.trace_path = c->run.trace_tasks_path = NULL;
		open_table(c, false, false);
		report(c, "load", &st);
		close_table(c);
	} else {
		say_no_effects(&st.run.no_effects);
	}
	return 0;
}

int command_create(struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc;

	refuse_old(c, c->operands.text[0]);
	rc = sp_table_create(c->operands.text[0], c->records, &c->load, &err);
	if (rc)
		die_of(rc, &err);
	return 0;
}

int command_convert(struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_stats st;
	int rc;

	refuse_old(c, c->operands.text[1]);
	open_table(c, false, false);
	rc = sp_table_convert(c->table, c->operands.text[1], &c->load, &st, &err);
	if (rc)
		die_of(rc, &err);
	return end_command(c, "convert", &st);
}

int command_schema(struct config *c)
{
	const char *const *inputs;
	const size_t n = inputs_of(c, 0, &inputs);
	struct sp_errinfo err = SP_ERRINFO_INIT;

	c->load.note = say_note;
	c->load.note_arg = c;
	check_printed(sp_table_schema_text(inputs, n, &c->load, print_records, c, &err), &err);
	return 0;
}
