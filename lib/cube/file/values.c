/* SPDX-License-Identifier: MIT */
/*
 * Names the types of elements, and converts elements from and to text.
 */
#include <ctype.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/cube.h>
#include "base/enum.h"
#include "cube/file/file.h"

SP__ENUM_TABLE(sp_cube_type, { "bytes", SP_CUBE_BYTES }, { "i8", SP_CUBE_I8 }, { "u8", SP_CUBE_U8 },
	       { "i16", SP_CUBE_I16 }, { "u16", SP_CUBE_U16 }, { "i32", SP_CUBE_I32 },
	       { "u32", SP_CUBE_U32 }, { "i64", SP_CUBE_I64 }, { "u64", SP_CUBE_U64 },
	       { "f32", SP_CUBE_F32 }, { "f64", SP_CUBE_F64 })

uint32_t sp_cube_type_bytes(enum sp_cube_type type)
{
	static const uint32_t bytes[] = { 0, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8 };

	return bytes[type];
}

char sp__cube_type_kind(enum sp_cube_type type)
{
	static const char kinds[] = { 'V', 'i', 'u', 'i', 'u', 'i', 'u', 'i', 'u', 'f', 'f' };

	return kinds[type];
}

static int parse_bytes(const char *text, uint8_t *to, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++, text += 2) {
		char pair[3] = { text[0], text[0] ? text[1] : 0, 0 }, *end;

		to[i] = (uint8_t)strtoul(pair, &end, 16);
		if (end != pair + 2 || !isxdigit((unsigned char)pair[0]))
			return SP_ESYNTAX;
	}
	return *text ? SP_ESYNTAX : 0;
}

/* Selects a decimal point for numbers.  Returns the locale before, which the caller restores. */
static locale_t use_c_locale(void)
{
	return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static int parse_float(enum sp_cube_type type, const char *text, void *to)
{
	locale_t locale = use_c_locale();
	char *end;
	double wide;
	float narrow;

	errno = 0;
	wide = strtod(text, &end);
	uselocale(locale);
	narrow = (float)wide;
	if (end == text || *end || (isinf(wide) && errno == ERANGE) ||
	    (type == SP_CUBE_F32 && isinf(narrow) && !isinf(wide)))
		return SP_ESYNTAX;
	if (type == SP_CUBE_F32)
		memcpy(to, &narrow, sizeof(narrow));
	else
		memcpy(to, &wide, sizeof(wide));
	return 0;
}

int sp_cube_value_parse(const struct sp_cube_shape *s, const char *text, void *element)
{
	unsigned bits = sp_cube_type_bytes(s->type) * 8;
	char *end;

	if (s->type == SP_CUBE_BYTES)
		return parse_bytes(text, element, s->element_bytes);
	if (sp__cube_type_kind(s->type) == 'f')
		return parse_float(s->type, text, element);
	errno = 0;
	if (sp__cube_type_kind(s->type) == 'i') {
		int64_t v = strtoll(text, &end, 10), max = INT64_MAX >> (64 - bits);

		if (errno || end == text || *end || v > max || v < -max - 1)
			return SP_ESYNTAX;
		memcpy(element, &v, bits / 8);
	} else {
		uint64_t v = strtoull(text, &end, 10);

		if (errno || end == text || *end || strchr(text, '-') ||
		    v > UINT64_MAX >> (64 - bits))
			return SP_ESYNTAX;
		memcpy(element, &v, bits / 8);
	}
	return 0;
}

static void print_float(enum sp_cube_type type, const void *element, char *text)
{
	locale_t locale = use_c_locale();
	float narrow;
	double wide;

	if (type == SP_CUBE_F32) {
		memcpy(&narrow, element, sizeof(narrow));
		snprintf(text, SP_CUBE_VALUE_MAX, "%.9g", (double)narrow);
	} else {
		memcpy(&wide, element, sizeof(wide));
		snprintf(text, SP_CUBE_VALUE_MAX, "%.17g", wide);
	}
	uselocale(locale);
}

void sp_cube_value_print(const struct sp_cube_shape *s, const void *element, char *text)
{
	unsigned bits = sp_cube_type_bytes(s->type) * 8;
	const uint8_t *bytes = element;
	uint64_t v = 0;

	if (s->type == SP_CUBE_BYTES) {
		for (uint32_t i = 0; i < s->element_bytes; i++)
			text += sprintf(text, "%02x", bytes[i]);
		return;
	}
	if (sp__cube_type_kind(s->type) == 'f') {
		print_float(s->type, element, text);
		return;
	}
	memcpy(&v, element, bits / 8);
	if (sp__cube_type_kind(s->type) == 'i')
		snprintf(text, SP_CUBE_VALUE_MAX, "%" PRId64,
			 (int64_t)(v << (64 - bits)) >> (64 - bits));
	else
		snprintf(text, SP_CUBE_VALUE_MAX, "%" PRIu64, v);
}
