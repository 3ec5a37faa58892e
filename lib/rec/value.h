/* SPDX-License-Identifier: MIT */
/*
 * The types of values in files: names, sizes, and conversion from and to text.  Cubes have the
 * types of the table below, and sp__value_parse(), _print() and _add().  Tables have these without
 * "bytes", and more:
 *
 *	dec8(S) dec16(S) dec32(S) dec64(S)  integers of this many bits in units of 10^-S; S is 0
 *		to 18; dec(S) is dec64(S)
 *	date	days since 1970-01-01, years 0000 to 9999
 *	time, time(D)	microseconds since 1970-01-01, printed with D decimals of the second (0)
 *	char(N)	a text of at most N bytes; zero bytes follow a shorter one, and do not end a text
 *	text	a text of any length; its bytes are stored elsewhere, the value is its end offset
 *	dict8 dict16	the code of a text in a dictionary of at most 255 or 65,535 texts
 *
 * NULL is a reserved value of each of these types: the least signed and the greatest unsigned
 * integer, one NaN, code 0.  A text is NULL if its first byte is 0xFF.
 *
 * Values are little-endian and can be unaligned.
 */
#pragma once

#include <spindle/error.h>
#include "base/few.h"
#include "rec/fields.h"

/*
 * A row X(IDENTIFIER, name, kind, bytes) for each type of cubes.  A kind is NumPy's letter: opaque,
 * signed, unsigned, floating point.  Files store the number of a row.
 */
#define SP__VALUE_TYPES(X)                                                                         \
	X(BYTES, "bytes", 'V', 0), X(I8, "i8", 'i', 1), X(U8, "u8", 'u', 1),                       \
		X(I16, "i16", 'i', 2), X(U16, "u16", 'u', 2), X(I32, "i32", 'i', 4),               \
		X(U32, "u32", 'u', 4), X(I64, "i64", 'i', 8), X(U64, "u64", 'u', 8),               \
		X(F32, "f32", 'f', 4), X(F64, "f64", 'f', 8)

#define SP__VALUE_ID(id, name, kind, bytes) SP__VALUE_##id
enum { SP__VALUE_TYPES(SP__VALUE_ID) };

/* Kinds of tables alone: 'd' dec, 'D' date, 'T' time, 'c' char, 't' text, 'w' dictionary. */
struct sp__value_type {
	char kind;
	uint8_t decimals; /* dec: S; time: digits that are printed */
	uint32_t bytes;	  /* bytes of a value; 0: opaque, the owner sets it in a copy */
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

/* The names of types for messages and manuals. */
#define SP__VALUE_TYPE_NAMES                                                                       \
	"i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 dec8(S) dec16(S) dec32(S) dec64(S) date time(D) "   \
	"char(N) text dict8 dict16"
#define SP__VALUE_TYPE_TEXT 24 /* maximum bytes of a printed type */
#define SP__DEC_PLACES 18
#define SP__CHAR_MAX 65528 /* payload of the largest cell */

/* Parses a type of tables, of n bytes.  Returns 0 or SP_ESYNTAX. */
SP_MUST_CHECK int sp__value_type_parse(struct sp__value_type *t, const char *name, size_t n);
/* Prints a name that sp__value_type_parse() takes, without a 0 byte.  Returns its length. */
size_t sp__value_type_print(const struct sp__value_type *t, char text[SP__VALUE_TYPE_TEXT]);
/* True if a table has the type: its kind, bytes and decimals belong together. */
bool sp__value_type_possible(const struct sp__value_type *t);
bool sp__value_type_same(const struct sp__value_type *a, const struct sp__value_type *b);
/*
 * Chooses the smallest type that holds all values of t and the value of this text, which t does
 * not hold.
 */
struct sp__value_type sp__value_type_wider(const struct sp__value_type *t, const char *text,
					   size_t n);

#define SP__TEXT_NULL 0xFF
static inline bool sp__text_null(const void *text, size_t n)
{
	return n && *(const uint8_t *)text == SP__TEXT_NULL;
}

/* True if a value is NULL; not for text. */
bool sp__value_null(const struct sp__value_type *t, const void *value);
/* Stores NULL; not for text. */
void sp__value_set_null(const struct sp__value_type *t, void *value);

enum sp__value_fit {
	SP__VALUE_OK,
	SP__VALUE_MALFORMED, /* the text is not a number, a date, ... */
	SP__VALUE_RANGE,     /* the type does not have this value */
	SP__VALUE_RESERVED,  /* the value is the type's NULL */
};

/*
 * Reads a text as a value of type t, unless t is text or a dictionary.  Any spelling is accepted:
 * blanks around the text, a plus sign, zeros before a number or after its decimals, a T between
 * date and time, a Z after them, a date as a time.  *canonical becomes false, and otherwise stays,
 * if sp__value_write() would give another text.  The value is stored only if the result is OK.
 */
enum sp__value_fit sp__value_take(const struct sp__value_type *t, const char *text, size_t n,
				  void *value, bool *canonical);

static inline enum sp__value_fit sp__value_read(const struct sp__value_type *t, const char *text,
						size_t n, void *value)
{
	bool canonical = true;

	return sp__value_take(t, text, n, value, &canonical);
}

/*
 * True if a text is a number that f64 holds: printed with the digits of the text, at most 17, it is
 * the same number.  Blanks can be around the text.
 */
bool sp__value_f64_holds(const char *text, size_t n);
/*
 * Reads a date, or a date and a time with a T between them or a Z after them, as a time, and the
 * number of its decimals.  *canonical becomes false, and otherwise stays, if it would be printed in
 * another way.  False: the text is no time.
 */
bool sp__value_moment(const char *text, size_t n, int64_t *us, unsigned *decimals, bool *canonical);
/* Returns the text without the blanks around it. */
struct sp__slice sp__value_trim(const char *text, size_t n);

/* Checks a value that was not read from text, such as one of a binary record; not for text. */
enum sp__value_fit sp__value_check(const struct sp__value_type *t, const void *value);

#define SP__VALUE_SPACE 48
/*
 * Writes a value that is not NULL, without a 0 byte; not for text and dictionaries.  Returns the
 * length.  text has SP__VALUE_SPACE bytes, which can all be overwritten, or the N bytes of a
 * longer char(N).
 */
size_t sp__value_write(const struct sp__value_type *t, const void *value, char *text);

/* Returns a value that is not NULL as a number, perhaps rounded; not for texts. */
double sp__value_number(const struct sp__value_type *t, const void *value);

/*
 * Orders two values that are not NULL, by < 0, 0, > 0.  NaN is equal to itself and follows all
 * numbers.  Codes of a dictionary are compared, not their texts; not for text.
 */
int sp__value_compare(const struct sp__value_type *t, const void *a, const void *b);

/* NULL of floats: quiet NaNs whose payload no computation makes. */
#define SP__NULL_F64 0x7FF800004E554C4Cu
#define SP__NULL_F32 0x7FC04E55u

/* Returns the value's bits, extended with zeros. */
static inline uint64_t sp__value_bits(const struct sp__value_type *t, const void *value)
{
	return sp__load_few(value, t->bytes);
}

static inline int64_t sp__value_signed(const struct sp__value_type *t, const void *value)
{
	unsigned unused = 64 - t->bytes * 8;

	return (int64_t)(sp__value_bits(t, value) << unused) >> unused;
}

/* Stores the lower 1, 2, 4 or 8 bytes; a copy of a constant length needs no call. */
static inline void sp__value_put(void *value, uint64_t bits, uint32_t bytes)
{
	if (bytes == 1)
		memcpy(value, &bits, 1);
	else if (bytes == 2)
		memcpy(value, &bits, 2);
	else if (bytes == 4)
		memcpy(value, &bits, 4);
	else
		memcpy(value, &bits, 8);
}

/* Returns the bits of NULL. */
static inline uint64_t sp__value_null_bits(const struct sp__value_type *t)
{
	unsigned unused = 64 - t->bytes * 8;

	if (t->kind == 'w')
		return 0;
	if (t->kind == 'f')
		return t->bytes == 8 ? SP__NULL_F64 : SP__NULL_F32;
	return t->kind == 'u' ? UINT64_MAX >> unused : UINT64_C(1) << 63 >> unused;
}

/* Returns 10^n, n <= 19. */
static inline uint64_t sp__value_power(unsigned n)
{
	static const uint64_t power[] = { UINT64_C(1),
					  UINT64_C(10),
					  UINT64_C(100),
					  UINT64_C(1000),
					  UINT64_C(10000),
					  UINT64_C(100000),
					  UINT64_C(1000000),
					  UINT64_C(10000000),
					  UINT64_C(100000000),
					  UINT64_C(1000000000),
					  UINT64_C(10000000000),
					  UINT64_C(100000000000),
					  UINT64_C(1000000000000),
					  UINT64_C(10000000000000),
					  UINT64_C(100000000000000),
					  UINT64_C(1000000000000000),
					  UINT64_C(10000000000000000),
					  UINT64_C(100000000000000000),
					  UINT64_C(1000000000000000000),
					  UINT64_C(10000000000000000000) };

	return power[n];
}
