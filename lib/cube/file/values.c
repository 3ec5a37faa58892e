/* SPDX-License-Identifier: MIT */
/* Names the types of elements, and converts elements from and to text (rec/value.h). */
#include <string.h>
#include <spindle/cube.h>
#include "base/enum.h"
#include "rec/value.h"

#define NAME(id, name, kind, bytes) [SP__VALUE_##id] = { name, SP_CUBE_##id }
SP__ENUM_TABLE(sp_cube_type, SP__VALUE_TYPES(NAME))

uint32_t sp_cube_type_bytes(enum sp_cube_type type)
{
	return sp__value_types[type].bytes;
}

static struct sp__value_type type_of(const struct sp_cube_shape *s)
{
	const struct sp__value_type *t = &sp__value_types[s->type];

	return (struct sp__value_type){ t->kind, 0, t->bytes ? t->bytes : s->element_bytes };
}

int sp_cube_value_parse(const struct sp_cube_shape *s, const char *text, void *element)
{
	struct sp__value_type t = type_of(s);

	return sp__value_parse(&t, text, strlen(text), element) ? 0 : SP_ESYNTAX;
}

void sp_cube_value_print(const struct sp_cube_shape *s, const void *element, char *text)
{
	struct sp__value_type t = type_of(s);

	sp__value_print(&t, element, text);
}
