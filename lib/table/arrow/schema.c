/* SPDX-License-Identifier: MIT */
/* Finds the types of columns for formats of Arrow (schema.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/decimal.h"
#include "base/minmax.h"
#include "table/arrow/schema.h"

static const struct {
	const char *format;
	struct sp__value_type type;
} plain[] = {
	{ "c", { 'i', 0, 1 } }, { "s", { 'i', 0, 2 } },	  { "i", { 'i', 0, 4 } },
	{ "l", { 'i', 0, 8 } }, { "C", { 'u', 0, 1 } },	  { "S", { 'u', 0, 2 } },
	{ "I", { 'u', 0, 4 } }, { "L", { 'u', 0, 8 } },	  { "f", { 'f', 0, 4 } },
	{ "g", { 'f', 0, 8 } }, { "tdD", { 'D', 0, 4 } },
};
#define PLAIN (sizeof(plain) / sizeof(*plain))
#define DIGITS_MAX 38 /* of a decimal of 16 bytes */

int64_t sp__arrow_time_unit(unsigned decimals)
{
	return decimals > 3 ? 1 : decimals ? 1000 : 1000000;
}

static bool decimal(const char *format, struct sp__value_type *type)
{
	unsigned precision, scale;
	char end;

	if (sscanf(format, "d:%u,%u%c", &precision, &scale, &end) != 2 || precision > DIGITS_MAX ||
	    scale > sp__min(precision, SP__DEC_PLACES))
		return false;
	*type = (struct sp__value_type){ 'd', (uint8_t)scale,
					 precision <= 2	  ? 1
					 : precision <= 4 ? 2
					 : precision <= 9 ? 4
							  : 8 };
	return true;
}

bool sp__arrow_type(const struct ArrowSchema *column, struct sp__value_type *type)
{
	static const char *const texts[] = { "u", "U", "vu", "z", "Z", "vz" };
	const struct ArrowSchema *s = column->dictionary ? column->dictionary : column;
	const char *f = s->format;

	for (size_t i = 0; i < PLAIN; i++)
		if (!strcmp(plain[i].format, f)) {
			*type = plain[i].type;
			return true;
		}
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (!strcmp(texts[i], f)) {
			*type = (struct sp__value_type){ 't', 0, 4 };
			return true;
		}
	if (!strcmp(f, "b")) {
		*type = (struct sp__value_type){ 'u', 0, 1 };
		return true;
	}
	if (!strncmp(f, "ts", 2) && f[2] && strchr("smun", f[2]) && !strcmp(f + 3, ":")) {
		*type = (struct sp__value_type){ 'T', f[2] == 's' ? 0 : f[2] == 'm' ? 3 : 6, 8 };
		return true;
	}
	return decimal(f, type);
}

/* Prints a format to 16 bytes. */
static void print_format(const struct sp__value_type *t, char *format)
{
	static const unsigned digits[] = { 0, 3, 5, 0, 10, 0, 0, 0, 19 };

	strcpy(format, "U");
	for (size_t i = 0; i < PLAIN; i++)
		if (plain[i].type.kind == t->kind && plain[i].type.bytes == t->bytes)
			strcpy(format, plain[i].format);
	if (t->kind == 'd')
		snprintf(format, 16, "d:%u,%u",
			 digits[t->bytes] > t->decimals ? digits[t->bytes] : t->decimals,
			 t->decimals);
	else if (t->kind == 'T')
		snprintf(format, 16, "ts%c:", t->decimals > 3 ? 'u' : t->decimals ? 'm' : 's');
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
	char format[16];

	if (!child)
		return false;
	s->children[s->n_children++] = child;
	print_format(&c->type, format);
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
