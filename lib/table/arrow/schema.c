/* SPDX-License-Identifier: MIT */
/* Finds the types of columns for formats of Arrow (schema.h). */
#include <stdio.h>
#include <string.h>
#include "table/arrow/schema.h"

static const struct {
	const char *format;
	struct sp__value_type type;
} plain[] = {
	{ "c", { 'i', 0, 1 } }, { "s", { 'i', 0, 2 } },	  { "i", { 'i', 0, 4 } },
	{ "l", { 'i', 0, 8 } }, { "C", { 'u', 0, 1 } },	  { "S", { 'u', 0, 2 } },
	{ "I", { 'u', 0, 4 } }, { "L", { 'u', 0, 8 } },	  { "f", { 'f', 0, 4 } },
	{ "g", { 'f', 0, 8 } }, { "tdD", { 'D', 0, 4 } }, { "u", { 't', 0, 4 } },
};
#define PLAIN (sizeof(plain) / sizeof(*plain))

int64_t sp__arrow_time_unit(unsigned decimals)
{
	return decimals > 3 ? 1 : decimals ? 1000 : 1000000;
}

static bool decimal(const char *format, struct sp__value_type *type)
{
	unsigned precision, scale;
	char end;

	if (sscanf(format, "d:%u,%u%c", &precision, &scale, &end) != 2 || precision > 18 ||
	    scale > precision)
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
	static const char *const texts[] = { "u", "U", "vu" };
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
	if (!strncmp(f, "ts", 2) && f[2] && strchr("smu", f[2]) && !strcmp(f + 3, ":")) {
		*type = (struct sp__value_type){ 'T', f[2] == 's' ? 0 : f[2] == 'm' ? 3 : 6, 8 };
		return true;
	}
	return decimal(f, type);
}
