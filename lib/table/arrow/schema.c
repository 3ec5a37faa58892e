/* SPDX-License-Identifier: MIT */
/* Makes schemas of Arrow (schema.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "table/arrow/schema.h"
#include "table/schema/columntext.h"

int64_t sp__arrow_time_unit(unsigned decimals)
{
	return decimals > 3 ? 1 : decimals ? 1000 : 1000000;
}

/* Prints the format that follows from a type. */
static void print_format(const struct sp__value_type *t, char *text)
{
	static const unsigned digits[] = { 0, 3, 5, 0, 10, 0, 0, 0, 19 };
	static const char *const words[] = { "cs i   l", "CS I   L", "   f   g" };

	strcpy(text, "U");
	if (t->kind == 'i' || t->kind == 'u' || t->kind == 'f')
		snprintf(text, SP__ARROW_FORMAT_TEXT, "%c",
			 words[t->kind == 'u'	? 1
			       : t->kind == 'f' ? 2
						: 0][t->bytes - 1]);
	else if (t->kind == 'D')
		strcpy(text, "tdD");
	else if (t->kind == 'd')
		snprintf(text, SP__ARROW_FORMAT_TEXT, "d:%u,%u",
			 digits[t->bytes] > t->decimals ? digits[t->bytes] : t->decimals,
			 t->decimals);
	else if (t->kind == 'T')
		snprintf(text, SP__ARROW_FORMAT_TEXT, "ts%c:",
			 t->decimals > 3 ? 'u'
			 : t->decimals	 ? 'm'
					 : 's');
}

/* True if values of a column's type can be those of the format that the column keeps. */
static bool can_keep(const struct sp__value_type *t, const struct sp__arrow_format *f)
{
	switch (f->form) {
	case SP__ARROW_BITS:
		return t->kind == 'u' && t->bytes == 1;
	case SP__ARROW_TEXT:
		return sp__type_is_text(t);
	case SP__ARROW_TIME:
		return t->kind == 'T' || t->kind == 'i';
	case SP__ARROW_PLAIN:
	case SP__ARROW_DAYS_MS:
		return t->kind == 'i' && f->bytes >= 4 && f->type.kind != 'u' &&
		       f->type.kind != 'f';
	default:
		return false;
	}
}

void sp__arrow_column_format(const struct sp__table_column *c, char text[SP__ARROW_FORMAT_TEXT],
			     struct sp__arrow_format *f)
{
	bool kept = c->arrow && strlen(c->arrow) < SP__ARROW_FORMAT_TEXT &&
		    sp__arrow_format(c->arrow, f) && can_keep(&c->type, f);

	print_format(&c->type, text);
	if (kept && c->type.kind == 'T')
		snprintf(text + 4, SP__ARROW_FORMAT_TEXT - 4, "%s", c->arrow + 4);
	else if (kept)
		strcpy(text, f->escaped ? "Z" : c->arrow);
	else
		(void)sp__arrow_format(text, f);
	if (f->form == SP__ARROW_DAYS_MS || (f->form == SP__ARROW_TIME && c->type.kind == 'i'))
		f->form = SP__ARROW_PLAIN;
	f->type = c->type;
}

static void release(struct ArrowSchema *s)
{
	for (int64_t i = 0; i < s->n_children; i++)
		if (s->children[i]) {
			if (s->children[i]->release)
				s->children[i]->release(s->children[i]);
			free(s->children[i]);
		}
	free(s->children);
	free((char *)(uintptr_t)s->format);
	free((char *)(uintptr_t)s->name);
	s->release = NULL;
}

/* True if there was memory for the two texts. */
static bool begin(struct ArrowSchema *s, const char *format, const char *name)
{
	*s = (struct ArrowSchema){ .format = strdup(format),
				   .name = strdup(name),
				   .release = release };
	return s->format && s->name;
}

static bool add_child(struct ArrowSchema *s, const struct sp__table_column *c)
{
	struct ArrowSchema *child = calloc(1, sizeof(*child));
	char format[SP__ARROW_FORMAT_TEXT];
	struct sp__arrow_format f;

	if (!child)
		return false;
	s->children[s->n_children++] = child;
	sp__arrow_column_format(c, format, &f);
	if (!begin(child, format, c->name))
		return false;
	child->flags = c->not_null ? 0 : ARROW_FLAG_NULLABLE;
	return true;
}

int sp__arrow_schema(struct ArrowSchema *out, const struct sp__table_schema *s,
		     const uint32_t *columns, uint32_t n)
{
	bool good = begin(out, "+s", "");

	out->children = calloc(n, sizeof(*out->children));
	good &= out->children != NULL;
	for (uint32_t i = 0; good && i < n; i++)
		good = add_child(out, &s->columns[columns[i]]);
	if (good)
		return 0;
	release(out);
	return -ENOMEM;
}
