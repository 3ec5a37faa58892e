/* SPDX-License-Identifier: MIT */
/*
 * The types of values in files: their names and sizes in one table, and conversion from and to
 * text.  Values are little-endian and can be unaligned.
 */
#pragma once

#include <spindle/api.h>

/*
 * A row X(IDENTIFIER, name, kind, bytes) for each type.  A kind is NumPy's letter: opaque, signed,
 * unsigned, floating point.  Files store the number of a row.
 */
#define SP__VALUE_TYPES(X)                                                                         \
	X(BYTES, "bytes", 'V', 0), X(I8, "i8", 'i', 1), X(U8, "u8", 'u', 1),                       \
		X(I16, "i16", 'i', 2), X(U16, "u16", 'u', 2), X(I32, "i32", 'i', 4),               \
		X(U32, "u32", 'u', 4), X(I64, "i64", 'i', 8), X(U64, "u64", 'u', 8),               \
		X(F32, "f32", 'f', 4), X(F64, "f64", 'f', 8)

#define SP__VALUE_ID(id, name, kind, bytes) SP__VALUE_##id
enum { SP__VALUE_TYPES(SP__VALUE_ID) };

struct sp__value_type {
	char kind;
	uint32_t bytes; /* of opaque values 0 in the table: their owner sets it in a copy */
};

extern const struct sp__value_type sp__value_types[];

/* Maximum bytes of a printed number, with a 0 byte. */
#define SP__VALUE_TEXT 32

/*
 * Parses a number in the range of the type, or 2 hexadecimal digits per byte.  The byte after the
 * text is readable, and cannot continue a number.  False: the text is not such a value.
 */
bool sp__value_parse(const struct sp__value_type *type, const char *text, size_t bytes,
		     void *value);
/*
 * Writes text that sp__value_parse() accepts, and a 0 byte, to SP__VALUE_TEXT bytes, or 2 bytes
 * per byte of an opaque value and 1.
 */
void sp__value_print(const struct sp__value_type *type, const void *value, char *text);
/* Adds a number to the one at sum.  False: the sum does not fit the integer type. */
bool sp__value_add(const struct sp__value_type *type, void *sum, const void *value);
