/* SPDX-License-Identifier: MIT */
/*
 * Columns and expressions of keys and aggregates (operand.h).
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/array.h"
#include "base/err.h"
#include "expr/token.h"
#include "group/binary.h"

#define DERIVED (1u << 31)
/* What a name has in it if it is an expression instead. */
#define OPERATORS "()+-*/%|$'<>=! "

int sp__group_no_memory(struct sp__group_parser *p)
{
	return sp__err(p->err, -ENOMEM, "group", NULL, -1);
}

void sp__group_skip_blanks(struct sp__group_parser *p)
{
	p->p += strspn(p->p, " \t\n");
}

/* Takes a number from 1. */
static int take_number(struct sp__group_parser *p, size_t *field)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(p->p, &end, 10);
	if (!n || errno || n > SIZE_MAX / 2)
		return sp__invalid(p->err, p->p, "columns count from 1");
	if (p->names->n && n > p->names->n)
		return sp__invalid(p->err, p->p, "the header has only %zu columns", p->names->n);
	p->p = end;
	*field = (size_t)n - 1;
	return 0;
}

/* Takes a column, a number or a name that one of the bytes `ends` ends; p->word is its name. */
static int take_column(struct sp__group_parser *p, const char *ends, size_t *field)
{
	const char *at = p->p;
	size_t n;
	int rc;

	if (p->s->record_bytes)
		return sp__group_binary_take(p, field);
	if (*at == '"') {
		p->p += sp__unquote(at, p->word, &n);
		if (p->p == at)
			return sp__invalid(p->err, at, "the double quote is not closed");
		p->word[n] = '\0';
		return sp__column_names_find(p->names, p->word, n, field, p->err);
	}
	if (isdigit((unsigned char)*at)) {
		rc = take_number(p, field);
		n = (size_t)(p->p - at);
		if (!rc && *field < p->names->n)
			strcpy(p->word, p->names->names[*field]);
		else
			sprintf(p->word, "%.*s", (int)n, at);
		return rc;
	}
	n = strcspn(at, ends);
	p->p += n;
	while (n && isspace((unsigned char)at[n - 1]))
		n--;
	if (!n)
		return sp__invalid(p->err, at, "a column is expected");
	memcpy(p->word, at, n);
	p->word[n] = '\0';
	return sp__column_names_find(p->names, p->word, n, field, p->err);
}

/* Returns the number of a field among the columns that are read; UINT32_MAX: no memory. */
static uint32_t note_column(struct sp__group_spec *s, size_t field)
{
	for (uint32_t i = 0; i < s->ncolumns; i++)
		if (s->columns[i] == field)
			return i;
	if (!SP__ARRAY_GROW_BY_ONE(s->columns, s->ncolumns))
		return UINT32_MAX;
	s->columns[s->ncolumns] = field;
	return s->ncolumns++;
}

/* Expressions. */

/* Is a function of sp__expr_names. */
static int find(void *arg, const char *name, size_t bytes, uint64_t number, uint32_t *column)
{
	struct sp__group_parser *p = arg;
	size_t field = (size_t)number - 1;
	int rc = 0;

	if (p->s->record_bytes) {
		if (!name)
			return sp__invalid(p->err, NULL,
					   "a field of a record of a fixed length is written "
					   "\"OFFSET:LENGTH:TYPE\", in double quotes");
		rc = sp__group_binary_find(p, name, bytes, &field);
	} else if (name) {
		memcpy(p->word, name, bytes);
		p->word[bytes] = '\0';
		rc = sp__column_names_find(p->names, p->word, bytes, &field, p->err);
	} else if (p->names->paths) {
		return sp__invalid(
			p->err, NULL,
			"a member of JSON is named by its path, such as .user.id, not by "
			"a number");
	} else if (number > SIZE_MAX / 2 || (p->names->n && number > p->names->n)) {
		return sp__invalid(p->err, NULL, "there is no column $%llu%s",
				   (unsigned long long)number, p->names->n ? " in the header" : "");
	}
	if (rc)
		return rc;
	*column = note_column(p->s, field);
	return *column == UINT32_MAX ? sp__group_no_memory(p) : 0;
}

int sp__group_take_expression(struct sp__group_parser *p, struct sp__expr **e)
{
	const struct sp__expr_names names = { .find = find, .arg = p };

	return sp__expr_parse(e, &p->p, &names, p->err);
}

/* Returns the number of a derived column; UINT32_MAX: no memory.  The expression is the spec's. */
static uint32_t note_derived(struct sp__group_parser *p, struct sp__expr *e, const char *text,
			     size_t bytes)
{
	struct sp__group_spec *s = p->s;
	uint32_t i = 0;

	while (i < s->nderived && (strlen(s->derived[i].text) != bytes ||
				   memcmp(s->derived[i].text, text, bytes) != 0))
		i++;
	if (i < s->nderived) {
		sp__expr_free(e);
		return DERIVED | i;
	}
	if (!SP__ARRAY_GROW_BY_ONE(s->derived, s->nderived)) {
		sp__expr_free(e);
		return UINT32_MAX;
	}
	s->derived[i] = (struct sp__group_derived){ e, strndup(text, bytes) };
	s->nderived++;
	return s->derived[i].text ? DERIVED | i : UINT32_MAX;
}

/* True if the operand ends here: at one of these bytes, or at "as NAME". */
static bool ends_here(const char *p, const char *ends)
{
	return !*p || strchr(ends, *p) ||
	       (!strncasecmp(p, "as", 2) && isspace((unsigned char)p[2]));
}

/*
 * Takes a column of an input that is empty, whose names nothing is known of: a text that is not an
 * expression is a name.
 */
static int take_unknown(struct sp__group_parser *p, const char *ends, struct sp__expr **e)
{
	const char *begin = p->p;
	struct sp_errinfo ignored = SP_ERRINFO_INIT, *err = p->err;
	int rc;

	p->err = &ignored;
	rc = sp__group_take_expression(p, e);
	p->err = err;
	if (rc == -ENOMEM)
		return sp__group_no_memory(p);
	if (!rc && ends_here(p->p, ends))
		return 0;
	sp__expr_free(*e);
	*e = NULL;
	p->p = begin;
	return 0;
}

static int take_plain(struct sp__group_parser *p, const char *ends, uint32_t *column)
{
	size_t field = 0;
	int rc = take_column(p, ends, &field);

	if (rc)
		return rc;
	*column = note_column(p->s, field);
	return *column == UINT32_MAX ? sp__group_no_memory(p) : 0;
}

static int take_derived(struct sp__group_parser *p, const char *ends, uint32_t *column)
{
	const char *begin = p->p;
	struct sp__expr *e;
	size_t n;
	int rc = p->names->unknown ? take_unknown(p, ends, &e) : sp__group_take_expression(p, &e);

	if (rc)
		return rc;
	if (!e)
		return take_plain(p, ends, column);
	for (n = (size_t)(p->p - begin); n && isspace((unsigned char)begin[n - 1]);)
		n--;
	*column = sp__expr_column(e);
	if (*column != UINT32_MAX)
		sp__expr_free(e);
	else
		*column = note_derived(p, e, begin, n);
	if (*column == UINT32_MAX)
		return sp__group_no_memory(p);
	memcpy(p->word, begin, n);
	p->word[n] = '\0';
	return 0;
}

static bool is_column(const struct sp__group_parser *p, const char *name, size_t bytes)
{
	for (size_t i = 0; i < p->names->n; i++)
		if (strlen(p->names->names[i]) == bytes && !memcmp(p->names->names[i], name, bytes))
			return true;
	return false;
}

/* True if the text is more than a column that one of the bytes `ends` ends. */
static bool is_expression(const struct sp__group_parser *p, const char *ends)
{
	const char *at = p->p;
	size_t n;

	if (p->names->paths)
		return true;
	if (*at == '"') {
		at += sp__unquote(at, p->word, &n);
		at += strspn(at, " \t\n");
		return at > p->p && *at && !strchr(ends, *at);
	}
	if (isdigit((unsigned char)*at)) {
		at += strspn(at, "0123456789.");
		at += strspn(at, " \t\n");
		return *at && strchr("+-*/%|", *at);
	}
	n = strcspn(at, ends);
	if (at[n] == '(')
		return true;
	while (n && isspace((unsigned char)at[n - 1]))
		n--;
	return !is_column(p, at, n) && strcspn(at, OPERATORS) < n;
}

/* False of a number, and of the path of a whole record. */
static bool names_member(const char *p, const char *ends)
{
	const bool whole = *p == '.' && p[1] != '"' &&
			   (!p[1] || isspace((unsigned char)p[1]) || strchr(ends, p[1]));

	return !whole && !isdigit((unsigned char)*p);
}

int sp__group_take_operand(struct sp__group_parser *p, const char *ends, uint32_t *column)
{
	if (p->names->paths && !names_member(p->p, ends))
		return sp__invalid(p->err, p->p,
				   "a column is a member of JSON, named by its path, such as "
				   ".user.id, instead of");
	if (is_expression(p, ends)) {
		const size_t numbers = strspn(p->p, "0123456789+-*/%|. \t\n");

		/* 3*4 would be 12. */
		if (numbers && numbers == strcspn(p->p, ends) && p->p[numbers] != '"' &&
		    p->p[numbers] != '(')
			return sp__invalid(
				p->err, p->p,
				"in an expression a column's number has a '$', as in $3 * $4,");
		return take_derived(p, ends, column);
	}
	return take_plain(p, ends, column);
}

bool sp__group_is_plain(uint32_t column)
{
	return !(column & DERIVED);
}

bool sp__group_is_truth(const struct sp__group_spec *s, uint32_t column)
{
	return column & DERIVED && sp__expr_is_truth(s->derived[column & ~DERIVED].expr);
}

bool sp__group_is_number(const struct sp__group_spec *s, uint32_t column)
{
	return column & DERIVED && sp__expr_is_number(s->derived[column & ~DERIVED].expr);
}

/* Returns the number of a column after sorting: derived ones follow those of records. */
static uint32_t renumbered(const struct sp__group_spec *s, const uint32_t *to, uint32_t column)
{
	return column & DERIVED ? s->ncolumns + (column & ~DERIVED) : to[column];
}

/* Gives keys that are values of JSON columns of their own, which have them as they are written. */
static int add_members(struct sp__group_parser *p, struct sp__group_key *keys, uint32_t n)
{
	struct sp__group_spec *s = p->s;

	for (uint32_t i = 0; i < n; i++) {
		if (!keys[i].member)
			continue;
		if (!SP__ARRAY_GROW_BY_ONE(s->members, s->nmembers))
			return sp__group_no_memory(p);
		s->members[s->nmembers] = s->columns[keys[i].column];
		keys[i].column = s->ncolumns + s->nderived + s->nmembers++;
	}
	return 0;
}

int sp__group_sort_columns(struct sp__group_parser *p)
{
	struct sp__group_spec *s = p->s;
	uint32_t *to = calloc(s->ncolumns + 1, sizeof(*to));
	size_t *sorted = calloc(s->ncolumns + 1, sizeof(*sorted));

	for (uint32_t i = 0; to && i < s->ncolumns; i++)
		for (uint32_t k = 0; k < s->ncolumns; k++)
			to[i] += s->columns[k] < s->columns[i];
	for (uint32_t i = 0; to && sorted && i < s->ncolumns; i++)
		sorted[to[i]] = s->columns[i];
	for (uint32_t i = 0; to && i < s->nkeys; i++)
		s->keys[i].column = renumbered(s, to, s->keys[i].column);
	for (uint32_t i = 0; to && i < s->nby; i++)
		s->by[i].column = renumbered(s, to, s->by[i].column);
	for (uint32_t i = 0; to && i < s->narguments; i++) {
		struct sp__group_argument *a = &s->arguments[i];

		a->column = renumbered(s, to, a->column);
		a->second = a->second == UINT32_MAX ? UINT32_MAX : renumbered(s, to, a->second);
	}
	for (uint32_t i = 0; to && i < s->nderived; i++)
		sp__expr_renumber(s->derived[i].expr, to);
	if (to && s->where)
		sp__expr_renumber(s->where, to);
	free(to);
	if (!sorted || !to)
		return free(sorted), sp__group_no_memory(p);
	free(s->columns);
	s->columns = sorted;
	return add_members(p, s->keys, s->nkeys) ? -ENOMEM : add_members(p, s->by, s->nby);
}
