/* SPDX-License-Identifier: MIT */
/* Finds how values of a format of Arrow are read, and makes schemas of Arrow. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "columns/arrow_formats.h"
#include "columns/vector.h"

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

void sp__arrow_column_format(const struct sp__column *c, char text[SP__ARROW_FORMAT_TEXT],
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

static bool add_child(struct ArrowSchema *s, const struct sp__column *c)
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

int sp__arrow_schema(struct ArrowSchema *out, const struct sp__schema *s, const uint32_t *columns,
		     uint32_t n)
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

static const struct {
	const char *format;
	struct sp__arrow_format f;
} fixed[] = {
	{ "c", { .bytes = 1, .type = { 'i', 0, 1 } } },
	{ "s", { .bytes = 2, .type = { 'i', 0, 2 } } },
	{ "i", { .bytes = 4, .type = { 'i', 0, 4 } } },
	{ "l", { .bytes = 8, .type = { 'i', 0, 8 } } },
	{ "C", { .bytes = 1, .type = { 'u', 0, 1 } } },
	{ "S", { .bytes = 2, .type = { 'u', 0, 2 } } },
	{ "I", { .bytes = 4, .type = { 'u', 0, 4 } } },
	{ "L", { .bytes = 8, .type = { 'u', 0, 8 } } },
	{ "f", { .bytes = 4, .type = { 'f', 0, 4 } } },
	{ "g", { .bytes = 8, .type = { 'f', 0, 8 } } },
	{ "b", { SP__ARROW_BITS, .type = { 'u', 0, 1 }, .kept = "b" } },
	{ "e", { SP__ARROW_HALF, .bytes = 2, .type = { 'f', 0, 4 } } },
	{ "tdD", { .bytes = 4, .type = { 'D', 0, 4 } } },
	{ "tdm", { SP__ARROW_DAYS_MS, .bytes = 8, .type = { 'D', 0, 4 } } },
	{ "u", { SP__ARROW_TEXT, true, .bytes = 4, .type = { 't', 0, 4 } } },
	{ "U", { SP__ARROW_TEXT, true, .bytes = 8, .type = { 't', 0, 4 } } },
	{ "vu", { SP__ARROW_VIEW, true, .bytes = 16, .type = { 't', 0, 4 } } },
	{ "z", { SP__ARROW_TEXT, .bytes = 4, .type = { 't', 0, 4 }, .kept = "Z" } },
	{ "Z", { SP__ARROW_TEXT, .bytes = 8, .type = { 't', 0, 4 }, .kept = "Z" } },
	{ "vz", { SP__ARROW_VIEW, .bytes = 16, .type = { 't', 0, 4 }, .kept = "Z" } },
	{ "Zx", { SP__ARROW_TEXT, false, true, 8, .type = { 't', 0, 4 }, .kept = "Zx" } },
	{ "n", { SP__ARROW_NULLS, .type = { 't', 0, 4 } } },
};
#define FIXED (sizeof(fixed) / sizeof(*fixed))
#define POWER_MAX 76 /* digits of a decimal of 32 bytes */

/* Returns the bytes of an integer of so many digits. */
static uint32_t digits_bytes(int digits)
{
	return digits <= 2 ? 1 : digits <= 4 ? 2 : digits <= 9 ? 4 : 8;
}

static bool decimal(const char *format, struct sp__arrow_format *f)
{
	long long digits, scale, bits = 128; /* a number that is too large is the largest one */
	int kept;
	char end;
	int n = sscanf(format, "d:%lld,%lld%c%lld%c", &digits, &scale, &end, &bits, &end);

	if ((n != 2 && (n != 4 || end != ',')) || digits < 1 || digits > POWER_MAX ||
	    scale < -POWER_MAX || scale > POWER_MAX ||
	    (bits != 32 && bits != 64 && bits != 128 && bits != 256))
		return false;
	kept = scale < 0 ? 0 : scale > SP__DEC_PLACES ? SP__DEC_PLACES : (int)scale;
	*f = (struct sp__arrow_format){ .form = SP__ARROW_DECIMAL,
					.bytes = (uint32_t)bits / 8,
					.power = kept - (int)scale };
	f->type =
		(struct sp__value_type){ 'd', (uint8_t)kept, digits_bytes((int)digits + f->power) };
	return true;
}

/* A time with a zone, ts; of a day, tt; or between two, tD. */
static bool time_format(const char *format, struct sp__arrow_format *f)
{
	static const char units[] = "smun";
	const bool known = format[0] == 't' && format[1] && format[2];
	const char *unit = known ? strchr(units, format[2]) : NULL;
	static const uint64_t multiply[] = { 1000000, 1000, 1, 1 };
	static const uint8_t decimals[] = { 0, 3, 6, 6 };
	const bool in_day = format[1] == 't';

	if (!unit)
		return false;
	if (format[1] == 's' && format[3] == ':') {
		*f = (struct sp__arrow_format){ .form = SP__ARROW_TIME,
						.bytes = 8,
						.multiply = multiply[unit - units],
						.divide = format[2] == 'n' ? 1000 : 1 };
		f->type = (struct sp__value_type){ 'T', decimals[unit - units], 8 };
		f->kept = format[4] ? format : NULL;
		return strlen(format) <= SP__COLUMN_ARROW_MAX;
	}
	if ((!in_day && format[1] != 'D') || format[3])
		return false;
	*f = (struct sp__arrow_format){ .bytes = in_day && unit - units < 2 ? 4 : 8,
					.kept = format };
	f->type = (struct sp__value_type){ 'i', 0, f->bytes };
	return true;
}

static bool bytes_format(const char *format, struct sp__arrow_format *f)
{
	long long n;
	char end;

	if (sscanf(format, "w:%lld%c", &n, &end) != 1 || n < 0 || n > INT32_MAX)
		return false;
	*f = (struct sp__arrow_format){
		.form = SP__ARROW_FIXED, .bytes = (uint32_t)n, .type = { 't', 0, 4 }, .kept = "Z"
	};
	return true;
}

bool sp__arrow_format(const char *format, struct sp__arrow_format *f)
{
	for (size_t i = 0; i < FIXED; i++)
		if (!strcmp(fixed[i].format, format)) {
			*f = fixed[i].f;
			return true;
		}
	return decimal(format, f) || time_format(format, f) || bytes_format(format, f);
}

bool sp__arrow_codes(const char *format, struct sp__arrow_format *f)
{
	return sp__arrow_format(format, f) && f->form == SP__ARROW_PLAIN && strlen(format) == 1 &&
	       f->type.kind != 'f';
}

bool sp__arrow_wider(const char *format, struct sp__arrow_format *f)
{
	struct sp__value_type *t = &f->type;

	switch (t->kind) {
	case 'i':
	case 'u':
	case 'd':
		if (t->bytes == 8)
			return false;
		t->bytes *= 2;
		return true;
	case 'D':
	case 'T':
		*t = (struct sp__value_type){ 'i', 0, f->bytes };
		f->form = SP__ARROW_PLAIN;
		f->kept = format;
		return true;
	case 't':
		if (f->is_utf8 || f->escaped)
			return false;
		f->escaped = true;
		f->kept = "Zx";
		return true;
	default:
		return false;
	}
}

const char *sp__arrow_noun(const char *format)
{
	static const struct {
		const char *prefix, *noun;
	} nouns[] = {
		{ "+l", "list" },
		{ "+L", "large_list" },
		{ "+vl", "list_view" },
		{ "+vL", "large_list_view" },
		{ "+w", "fixed_size_list" },
		{ "+s", "struct" },
		{ "+m", "map" },
		{ "+ud", "dense_union" },
		{ "+us", "sparse_union" },
		{ "+r", "run_end_encoded" },
		{ "tiM", "interval" },
		{ "tiD", "interval" },
		{ "tin", "interval" },
		{ "d:", "decimal" },
		{ "b", "bool" },
		{ "td", "date" },
		{ "tt", "time" },
		{ "ts", "timestamp" },
		{ "tD", "duration" },
	};

	for (size_t i = 0; i < sizeof(nouns) / sizeof(*nouns); i++)
		if (!strncmp(format, nouns[i].prefix, strlen(nouns[i].prefix)))
			return nouns[i].noun;
	return "";
}
