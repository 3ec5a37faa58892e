/* SPDX-License-Identifier: MIT */
/*
 * Encodes keys of binary records.
 *
 * A number becomes the big-endian bytes of an unsigned number of its width that has the same order.
 * Signed integers have their sign bit inverted.  Negative floats have all bits inverted, other
 * floats the sign bit alone; -0 becomes 0 before.  The order is -NaN < -inf < ... < -0 = +0 < ... <
 * +inf < NaN, NaNs by their payload.  Reversed keys are complemented.
 *
 * sp__bkey_compare() shares no line with the encoder, so that each can be tested against the other.
 */
#include <ctype.h>
#include <endian.h>
#include <math.h>
#include <string.h>
#include "base/err.h"
#include "rec/keyset.h"

static uint64_t load(const char *p, size_t bytes, bool big_endian)
{
	uint64_t v = 0;

	for (size_t i = 0; i < bytes; i++)
		v = v << 8 | (unsigned char)p[big_endian ? i : bytes - 1 - i];
	return v;
}

static uint64_t ordered(const struct sp_key *k, uint64_t v)
{
	uint64_t sign = 1ull << (8 * k->length - 1);

	if (k->type == SP_KEY_INT)
		return v ^ sign;
	if (k->type == SP_KEY_FLOAT)
		return v > sign ? ~v : v | sign; /* sign alone is -0 */
	return v;
}

int sp__bkey_encode(const struct sp_key *k, const char *rec, struct sp__keybuf *out)
{
	const char *p = rec + k->offset;
	unsigned char *to;
	uint64_t v;

	if (sp__keybuf_reserve(out, k->length))
		return -ENOMEM;
	to = out->data + out->bytes;
	out->bytes += k->length;
	if (k->type == SP_KEY_BYTES) {
		memcpy(to, p, k->length);
		for (size_t i = 0; k->reverse && i < k->length; i++)
			to[i] = (unsigned char)~to[i];
		return 0;
	}
	v = ordered(k, load(p, k->length, k->big_endian));
	if (k->reverse)
		v = ~v;
	for (size_t i = k->length; i--; v >>= 8)
		to[i] = (unsigned char)v;
	return 0;
}

#define THREE_WAY(x, y) (((x) > (y)) - ((x) < (y)))

/* Returns the bits of the field as an unsigned number. */
static uint64_t bits_of(const struct sp_key *k, const char *p)
{
	uint64_t v = 0;

	memcpy(&v, p, k->length);
	return k->big_endian ? be64toh(v) >> (64 - 8 * k->length) : le64toh(v);
}

static int compare_ints(size_t length, uint64_t a, uint64_t b)
{
	const unsigned above = 64 - 8 * (unsigned)length;
	int64_t x = (int64_t)(a << above), y = (int64_t)(b << above);

	return THREE_WAY(x, y);
}

/* Compares floats; nan: the payload, 0 for a number.  NaNs are distinguished by sign. */
static int compare_floats(double a, double b, uint64_t nan_a, uint64_t nan_b)
{
	int sign_a = signbit(a) ? -1 : 1, sign_b = signbit(b) ? -1 : 1;

	if (nan_a || nan_b) {
		if (nan_a && nan_b && sign_a == sign_b)
			return sign_a * THREE_WAY(nan_a, nan_b);
		return THREE_WAY(nan_a ? sign_a : 0, nan_b ? sign_b : 0);
	}
	return THREE_WAY(a, b);
}

static double float_of(size_t length, uint64_t bits)
{
	uint32_t low = (uint32_t)bits;
	float narrow;
	double wide;

	memcpy(&narrow, &low, sizeof(narrow));
	memcpy(&wide, &bits, sizeof(wide));
	return length == 4 ? narrow : wide;
}

static int compare_bits(const struct sp_key *k, uint64_t a, uint64_t b)
{
	const uint64_t payload = k->length == 4 ? 0x7fffffull : 0xfffffffffffffull;
	double x, y;

	if (k->type == SP_KEY_UINT)
		return THREE_WAY(a, b);
	if (k->type == SP_KEY_INT)
		return compare_ints(k->length, a, b);
	x = float_of(k->length, a);
	y = float_of(k->length, b);
	return compare_floats(x, y, isnan(x) ? a & payload : 0, isnan(y) ? b & payload : 0);
}

int sp__bkey_compare(const struct sp_key *k, const char *a, const char *b)
{
	int order;

	a += k->offset;
	b += k->offset;
	if (k->type == SP_KEY_BYTES)
		order = memcmp(a, b, k->length);
	else
		order = compare_bits(k, bits_of(k, a), bits_of(k, b));
	return k->reverse ? (order < 0) - (order > 0) : order;
}

/* Reads a decimal number.  False: there is none, or it is too large. */
static bool read_size(const char **s, size_t *value)
{
	size_t v = 0;

	if (!isdigit((unsigned char)**s))
		return false;
	for (; isdigit((unsigned char)**s); (*s)++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (size_t)(**s - '0'), &v))
			return false;
	*value = v;
	return true;
}

static const struct {
	const char *name;
	enum sp_key_type type;
	unsigned char bytes; /* 0: any length */
	bool big_endian;
} types[] = {
	{ "bytes", SP_KEY_BYTES, 0, false }, { "u8", SP_KEY_UINT, 1, false },
	{ "u16", SP_KEY_UINT, 2, false },    { "u16le", SP_KEY_UINT, 2, false },
	{ "u16be", SP_KEY_UINT, 2, true },   { "u32", SP_KEY_UINT, 4, false },
	{ "u32le", SP_KEY_UINT, 4, false },  { "u32be", SP_KEY_UINT, 4, true },
	{ "u64", SP_KEY_UINT, 8, false },    { "u64le", SP_KEY_UINT, 8, false },
	{ "u64be", SP_KEY_UINT, 8, true },   { "i8", SP_KEY_INT, 1, false },
	{ "i16", SP_KEY_INT, 2, false },     { "i16le", SP_KEY_INT, 2, false },
	{ "i16be", SP_KEY_INT, 2, true },    { "i32", SP_KEY_INT, 4, false },
	{ "i32le", SP_KEY_INT, 4, false },   { "i32be", SP_KEY_INT, 4, true },
	{ "i64", SP_KEY_INT, 8, false },     { "i64le", SP_KEY_INT, 8, false },
	{ "i64be", SP_KEY_INT, 8, true },    { "f32", SP_KEY_FLOAT, 4, false },
	{ "f32le", SP_KEY_FLOAT, 4, false }, { "f32be", SP_KEY_FLOAT, 4, true },
	{ "f64", SP_KEY_FLOAT, 8, false },   { "f64le", SP_KEY_FLOAT, 8, false },
	{ "f64be", SP_KEY_FLOAT, 8, true },
};

static int find_type(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (strlen(types[i].name) == n && !memcmp(types[i].name, name, n))
			return (int)i;
	return -1;
}

/* Reads [:TYPE][:r] at s, in text, into key, whose offset and length are set. */
static int parse_type(const char *text, const char *s, struct sp_key *key, struct sp_errinfo *err)
{
	size_t n;
	int t;

	key->type = SP_KEY_BYTES;
	if (*s == ':' && strcmp(s, ":r") != 0) {
		n = strcspn(++s, ":");
		t = find_type(s, n);
		if (t < 0)
			return sp__invalid(err, text, "unknown type '%.*s'", n > 64 ? 64 : (int)n,
					   s);
		if (types[t].bytes && types[t].bytes != key->length)
			return sp__invalid(err, text, "type %s has a length of %d, not %zu",
					   types[t].name, types[t].bytes, key->length);
		key->type = types[t].type;
		key->big_endian = types[t].big_endian;
		s += n;
	}
	if (*s && strcmp(s, ":r") != 0)
		return sp__invalid(err, text, "stray text '%.64s'", s);
	key->reverse = *s != '\0';
	return 0;
}

const char *sp__bkey_type(const struct sp_key *k)
{
	size_t i = 0;

	while (types[i].type != k->type || types[i].big_endian != k->big_endian ||
	       (types[i].bytes && types[i].bytes != k->length))
		i++;
	return types[i].name;
}

int sp_bkey_parse(const char *text, struct sp_key *key, struct sp_errinfo *err)
{
	struct sp_key k = SP_KEY_INIT;
	const char *s = text;
	size_t end;
	int rc;

	if (!read_size(&s, &k.offset))
		return sp__invalid(err, text, "invalid offset");
	if (*s++ != ':')
		return sp__invalid(err, text, "expected OFFSET:LENGTH[:TYPE][:r]");
	if (!read_size(&s, &k.length))
		return sp__invalid(err, text, "invalid length");
	if (!k.length)
		return sp__invalid(err, text, "length is zero");
	if (__builtin_add_overflow(k.offset, k.length, &end))
		return sp__invalid(err, text, "offset is too large");
	rc = parse_type(text, s, &k, err);
	if (!rc)
		*key = k;
	return rc;
}
