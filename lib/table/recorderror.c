/* SPDX-License-Identifier: MIT */
/*
 * Describes records that cannot be loaded: where they are, and what is wrong.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "table/load.h"

#define TEXT_SHOWN 40 /* bytes of a field in a message */

/* True if blank lines have been skipped. */
static bool skips_blank(const struct sp__tableload *l)
{
	return l->source.blank_lines || (l->parts && sp__parts_blank_lines(l->parts)) ||
	       (l->source.scan && sp__scan_blank_lines(l->source.scan));
}

/* Writes where an error is: a line of an input, or a record. */
static void put_place(const struct sp__tableload *l, const struct sp__textchunk_error *e, char *to,
		      size_t bytes)
{
	uint64_t header = l->opts->header;

	if (l->chunk_opts.record_bytes)
		snprintf(to, bytes, "record %" PRIu64, l->lines + e->record);
	else
		snprintf(to, bytes, "line %" PRIu64 "%s", l->lines + header + e->line + 1,
			 skips_blank(l) ? ", blank ones not counted" : "");
}

/* Describes a value that does not fit its column. */
static int value_error(const struct sp__tableload *l, const struct sp__textchunk_error *e,
		       const char *place)
{
	const char *const reasons[] = { "", "is not", "is out of the range of",
					"is the value that stands for NULL in" };
	const struct sp__column *c = &l->file->schema.columns[e->column];
	const char *input = l->source.opts.inputs[l->input];
	char type[SP__VALUE_TYPE_TEXT + 1], wider[SP__VALUE_TYPE_TEXT + 1];
	const bool old = !l->file->creating; /* a table that gets further records */
	struct sp__value_type other;

	type[sp__value_type_print(&c->type, type)] = '\0';
	if (!e->text)
		return sp__errf(l->err, SP_EFORMAT, "load", input, -1,
				"%s: column '%.64s': a value %s %s", place, c->name,
				reasons[e->fit], type);
	if (sp__text_null(e->text, e->bytes) && e->fit == SP__VALUE_RESERVED)
		return sp__errf(l->err, SP_EFORMAT, "load", input, -1,
				"%s: column '%.64s': a text begins with the byte 0xFF, which "
				"stands for NULL: a table cannot have it",
				place, c->name);
	if (e->fault == SP__TEXTCHUNK_SPELLING || e->fault == SP__TEXTCHUNK_ROUNDED)
		return sp__errf(l->err, SP_EFORMAT, "load", input, -1,
				"%s: column '%.64s': '%.*s' is %s %s; type text would do", place,
				c->name, (int)sp__min(e->bytes, TEXT_SHOWN), e->text,
				e->fault == SP__TEXTCHUNK_ROUNDED ? "rounded by"
								  : "spelled in another way than",
				type);
	other = sp__value_type_wider(&c->type, e->text, e->bytes);
	wider[sp__value_type_print(&other, wider)] = '\0';
	return sp__errf(l->err, SP_EFORMAT, "load", input, -1,
			"%s: column '%.64s': '%.*s' %s %s; type %s would do%s%.64s%s%s%s", place,
			c->name, (int)sp__min(e->bytes, TEXT_SHOWN), e->text,
			e->fault == SP__TEXTCHUNK_WORDS
				? "exceeds the capacity of the dictionary of"
				: reasons[e->fit],
			type, wider, old ? ": xtable convert --types=" : "", old ? c->name : "",
			old ? ":" : "", old ? wider : "", old ? " TABLE OUT" : "");
}

/* Describes the first value of a column that had none in the sample. */
static int unseen_error(struct sp__tableload *l, const struct sp__textchunk_error *e,
			const char *place)
{
	const struct sp__column *c = &l->file->schema.columns[e->column];

	l->misfit = true;
	return sp__errf(l->err, SP_EFORMAT, "load", l->source.opts.inputs[l->input], -1,
			"%s: column '%.64s': '%.*s' is the first value, too late to infer the type "
			"from a pipe: name it (--types), choose more memory (-S), or load from a "
			"file",
			place, c->name, (int)sp__min(e->bytes, TEXT_SHOWN), e->text);
}

/* Returns the name of a kind of values of JSON, with its article. */
static const char *kind_name(enum sp__json_kind kind)
{
	switch (kind) {
	case SP__JSON_NULL:
		return "null";
	case SP__JSON_FALSE:
	case SP__JSON_TRUE:
		return "a boolean";
	case SP__JSON_NUMBER:
		return "a number";
	case SP__JSON_TEXT:
		return "a text";
	case SP__JSON_ARRAY:
		return "an array";
	default:
		return "an object";
	}
}

/* Describes a member that is not among the columns. */
static int new_member(const struct sp__tableload *l, const char *path, const char *input,
		      uint64_t line)
{
	if (l->resolved.schema.n == SP__COLUMNS_MAX)
		return sp__errf(l->err, SP_EFORMAT, "load", input, -1,
				"line %" PRIu64 ": member '%s' would be one column more than a "
				"table can have: %d",
				line, path, SP__COLUMNS_MAX);
	if (l->file && !l->file->creating)
		return sp__errf(l->err, SP_EFORMAT, "load", input, -1,
				"line %" PRIu64 ": member '%s' is not a column of the table", line,
				path);
	if (l->all)
		return sp__errf(l->err, SP_EFORMAT, "load", input, -1,
				"line %" PRIu64 ": member '%s' is not a column of the schema: add "
				"it there",
				line, path);
	return sp__errf(l->err, SP_EFORMAT, "load", input, -1,
			"line %" PRIu64 ": member '%s' is not in the records before, from which "
			"the columns of a pipe are inferred: name it (--types), choose more "
			"memory (-S), or load from a file",
			line, path);
}

int sp__tableload_member_error(const struct sp__tableload *l, const struct sp__member_error *e,
			       size_t number, uint64_t line)
{
	const char *input = l->source.opts.inputs[number];
	const bool appends = l->file && !l->file->creating;

	switch (e->fault) {
	case SP__MEMBER_SYNTAX:
		return sp__errf(l->err, SP_EFORMAT, "load", input, -1,
				"line %" PRIu64 ", byte %zu: %s is expected", line, e->at + 1,
				e->wanted);
	case SP__MEMBER_NOT_OBJECT:
		return sp__errf(l->err, SP_EFORMAT, "load", input, -1,
				"line %" PRIu64 ": a record of a table is an object, such as "
				"{\"a\": 1}",
				line);
	case SP__MEMBER_NAME:
		return sp__errf(l->err, SP_EFORMAT, "load", input, -1,
				"line %" PRIu64 ": name '%s' cannot be that of a column: it is "
				"empty, has a zero byte, or has more than %d bytes with those of "
				"the objects around it",
				line, e->path, SP__COLUMN_NAME_MAX);
	case SP__MEMBER_MANY:
		return sp__errf(l->err, SP_EFORMAT, "load", input, -1,
				"line %" PRIu64 ": member '%s' would be one column more than a "
				"table can have: %d",
				line, e->path, SP__COLUMNS_MAX);
	case SP__MEMBER_NEW:
		return new_member(l, e->path, input, line);
	case SP__MEMBER_IS_TEXT:
		return sp__errf(l->err, SP_EFORMAT, "load", input, -1,
				"line %" PRIu64 ": member '%s' is a text, and has other values "
				"before: --types '%s:text json' stores all of them as they are",
				line, e->path, e->path);
	default:
		return sp__errf(l->err, SP_EFORMAT, "load", input, -1,
				"line %" PRIu64
				": member '%s' is %s, and %s an object elsewhere%s%s%s",
				line, e->path, kind_name(e->kind),
				e->fault == SP__MEMBER_IS_OBJECT ? "is not" : "is",
				appends ? "" : ": --types '", appends ? "" : e->path,
				appends ? "" : ":text json' stores all of its values as they are");
	}
}

/* Describes a record of JSON, and decides whether other columns could help. */
static int member_error(struct sp__tableload *l, const struct sp__textchunk_error *e)
{
	l->misfit = e->member.fault == SP__MEMBER_IS_TEXT ||
		    (e->member.fault == SP__MEMBER_NEW && !l->all);
	return sp__tableload_member_error(l, &e->member, l->input, l->lines + e->line + 1);
}

int sp__tableload_chunk_error(struct sp__tableload *l, const struct sp__textchunk *c)
{
	const struct sp__textchunk_error *e = &c->error;
	const struct sp__schema *s = &l->file->schema;
	const char *input = l->source.opts.inputs[l->input];
	char place[80];

	put_place(l, e, place, sizeof(place));
	if (e->rc == SP_EBUDGET)
		return sp__errf(l->err, e->rc, "load", input, -1,
				"the words of column '%.64s' exceed the memory: choose -S %" PRIu64
				" or more, or the type text",
				s->columns[e->column].name,
				2 * sp__max(l->opts->run.memory_bytes, l->memory));
	if (e->rc && e->rc != -ENOSPC)
		return sp__err(l->err, e->rc, "allocate", NULL, -1);
	if (e->fault == SP__TEXTCHUNK_MEMBER)
		return member_error(l, e);
	if (e->fault == SP__TEXTCHUNK_FIELDS)
		return sp__errf(l->err, SP_EFORMAT, "load", input, -1,
				e->fields > s->n ? "%s: more than %" PRIu32 " field%s"
						 : "%s: %" PRIu32 " field%s, too few",
				place, e->fields > s->n ? s->n : e->fields,
				(e->fields > s->n ? s->n : e->fields) == 1 ? "" : "s");
	if (e->fault == SP__TEXTCHUNK_NULL)
		return sp__errf(l->err, SP_EFORMAT, "load", input, -1,
				"%s: column '%.64s' is not null, and has no value here", place,
				s->columns[e->column].name);
	if (e->fault == SP__TEXTCHUNK_UNSEEN)
		return unseen_error(l, e, place);
	l->misfit = sp__schema_find(&l->described, s->columns[e->column].name,
				    strlen(s->columns[e->column].name)) < 0;
	return value_error(l, e, place);
}
