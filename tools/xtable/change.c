/* SPDX-License-Identifier: MIT */
/*
 * Commands that change a table: update, delete, append and alter.
 */
#include <inttypes.h>
#include "xtable.h"

/* Opens the table and the keys, and returns the choice of records. */
static struct sp_table_choice begin(struct config *c)
{
	open_table(c, true, false);
	open_wanted(c);
	return (struct sp_table_choice){ .where = c->query.where,
					 .by = c->by,
					 .index = c->query.index,
					 .discard = c->query.discard,
					 .keys = c->query.where ? NULL : keys_next,
					 .keys_arg = &c->wanted,
					 .absent = name_absent,
					 .absent_arg = c };
}

/* Says how many records a predicate chose; that none was is the status of the command. */
static void say_changed(struct config *c, const char *done, const struct sp_table_stats *st)
{
	const unsigned long long n = st->records_written;

	if (!c->query.where)
		return;
	if (n)
		msg("%s: %llu record%s %s", quote_file(c->operands.text[0]), n, n == 1 ? "" : "s",
		    done);
	else
		msg("%s: the predicate is true for no record", quote_file(c->operands.text[0]));
	c->absent += !n;
}

int command_update(struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_choice choice;
	struct sp_table_stats st;
	int rc;

	choice = begin(c);
	if (c->from)
		rc = sp_table_update_from(c->table, c->by, c->query.index, c->from, name_absent, c,
					  &st, &err);
	else
		rc = sp_table_update(c->table, &choice, c->set, c->nset, &st, &err);
	if (rc)
		die_of(rc, &err);
	if (c->from)
		say_skipped(&c->from, 1, &st);
	say_changed(c, "updated", &st);
	return end_command(c, "update", &st);
}

int command_delete(struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_choice choice;
	struct sp_table_stats st;
	int rc;

	choice = begin(c);
	rc = sp_table_delete(c->table, &choice, &st, &err);
	if (rc)
		die_of(rc, &err);
	say_changed(c, "deleted", &st);
	return end_command(c, "delete", &st);
}

int command_append(struct config *c)
{
	const char *const *inputs;
	const size_t n = inputs_of(c, 1, &inputs);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_stats st;
	int rc;

	open_table(c, true, false);
	rc = sp_table_append(c->table, inputs, n, &st, &err);
	if (rc)
		die_of(rc, &err);
	say_skipped(inputs, n, &st);
	if (st.made_texts)
		msg("warning: %s: %" PRIu64 " value%s not a text: columns of texts have %s as text",
		    quote_file(inputs[0]), st.made_texts, st.made_texts == 1 ? " is" : "s are",
		    st.made_texts == 1 ? "it" : "them");
	if (!st.blank_lines && c->info.format != SP_TABLE_JSON)
		say_inexact(inputs[0], &st);
	return end_command(c, "append", &st);
}

int command_alter(struct config *c)
{
	struct sp_table_alter *a = &c->alter;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_stats st;
	int rc;

	a->types = c->load.types;
	a->rename = c->renames;
	a->set = c->set;
	a->nset = c->nset;
	if (!a->add && !a->drop && !a->nrename && !a->types)
		die_usage("alter: --add, --drop, --rename or --types is missing");
	if (a->nset && !a->add)
		die("--set needs --add: update changes the values of columns that are there");
	open_table(c, true, false);
	rc = sp_table_alter(c->table, a, &st, &err);
	if (rc)
		die_of(rc, &err);
	rc = sp_table_info(c->table, false, &c->info, &err);
	if (rc)
		die_of(rc, &err);
	return end_command(c, "alter", &st);
}
