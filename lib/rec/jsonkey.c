/* SPDX-License-Identifier: MIT */
/*
 * Encodes values of JSON as keys.
 *
 * A value begins with a byte for its kind, in the order of kinds.  A text is followed by its
 * characters, delimited; an array by its elements and a 0, so that it is ordered by its elements;
 * an object by its names, ordered, a 0, and its values in the order of the names.  What is inside
 * DEPTH others is followed by its bytes, which bounds the stack and the time.  A number is
 * followed by its sign, its decimal exponent and its digits, two in a byte, without zeros at either
 * end, and a 0; all behind the sign is complemented if it is negative.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/minmax.h"
#include "rec/json.h"
#include "rec/jsonread.h"
#include "rec/keyset.h"

enum { END, EMPTY, FALSE_VALUE, TRUE_VALUE, NUMBER, TEXT, ARRAY, OBJECT };
enum { NEGATIVE = 1, ZERO, POSITIVE };

#define DEPTH 64
#define SHORT_EXPONENT 100
#define CHARACTER_BYTES 4
#define LARGE_EXPONENT ((int64_t)1000000000000000)
#define NUMBER_BEYOND 16 /* bytes of a number besides its digits */

static bool full(const struct sp__keybuf *buf)
{
	return buf->bytes >= SP__KEY_MAX && !buf->uncut;
}

static int put(struct sp__keybuf *buf, unsigned char byte)
{
	if (sp__keybuf_reserve(buf, 1))
		return -ENOMEM;
	buf->data[buf->bytes++] = byte;
	return 0;
}

static int encode(const struct sp__json_value *v, unsigned depth, struct sp__keybuf *buf);

/* Numbers. */

/* A number as its sign, 0.DIGITS and a power of ten. */
struct decimal {
	bool negative;
	const char *from, *to; /* digits from the first to the last that is not 0, with the point */
	int64_t exponent;
};

static int64_t read_exponent(const char *p, const char *end)
{
	const bool negative = p < end && *p == '-';
	int64_t value = 0;

	/* Texts, whose exponents are not checked, can have a larger one. */
	for (p += p < end && (*p == '-' || *p == '+'); p < end; p++)
		value = sp__min(value * 10 + (*p - '0'), LARGE_EXPONENT);
	return negative ? -value : value;
}

static bool is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

/* Returns false if the value is 0. */
static bool read_decimal(const char *p, const char *end, struct decimal *d)
{
	const char *point = NULL;
	int64_t whole = 0;

	*d = (struct decimal){ .negative = p < end && *p == '-' };
	for (p += d->negative; p < end && (is_digit(*p) || *p == '.'); p++) {
		if (*p == '.') {
			point = p;
			continue;
		}
		if (*p != '0') {
			d->from = d->from ? d->from : p;
			d->to = p + 1;
		}
		if (!point && d->from)
			whole++;
		else if (point && !d->from)
			whole--;
	}
	d->exponent = whole + (p < end ? read_exponent(p + 1, end) : 0);
	return d->from;
}

static unsigned char *put_exponent(unsigned char *out, int64_t e)
{
	uint64_t word;

	if (e >= -SHORT_EXPONENT && e <= SHORT_EXPONENT) {
		*out = (unsigned char)(e + 128);
		return out + 1;
	}
	*out = e > 0 ? 0xFF : 0;
	word = htobe64((uint64_t)e ^ (uint64_t)1 << 63);
	memcpy(out + 1, &word, sizeof(word));
	return out + 1 + sizeof(word);
}

/* Writes at most room pairs of digits. */
static unsigned char *put_digits(unsigned char *out, const struct decimal *d, size_t room)
{
	unsigned pair = 0;
	bool odd = false;

	for (const char *p = d->from; p < d->to && room; p++) {
		if (*p == '.')
			continue;
		pair = odd ? pair + (unsigned)(*p - '0') : 10 * (unsigned)(*p - '0');
		if (odd) {
			*out++ = (unsigned char)(pair + 1);
			room--;
		}
		odd = !odd;
	}
	if (odd && room)
		*out++ = (unsigned char)(pair + 1);
	*out++ = END;
	return out;
}

/* Appends a number; n bytes with a sign, digits, a point and an exponent. */
static int put_number(struct sp__keybuf *buf, const char *p, size_t n)
{
	size_t room = buf->uncut ? n : sp__min(n, 2 * SP__KEY_MAX);
	unsigned char *out, *begin;
	struct decimal d;

	if (sp__keybuf_reserve(buf, room / 2 + NUMBER_BEYOND))
		return -ENOMEM;
	out = buf->data + buf->bytes;
	if (!read_decimal(p, p + n, &d)) {
		*out++ = ZERO;
	} else {
		*out++ = d.negative ? NEGATIVE : POSITIVE;
		begin = out;
		out = put_digits(put_exponent(out, d.exponent), &d, room / 2 + 1);
		for (unsigned char *b = begin; d.negative && b < out; b++)
			*b ^= 0xFF;
	}
	buf->bytes = (size_t)(out - buf->data);
	return 0;
}

/*
 * Finds a number in a text: the one it is, with an exponent, or the decimal number at its
 * beginning, as GNU sort reads it.
 */
size_t sp__json_numeric(const char **text, size_t n)
{
	const char *s = *text, *end = s + n, *p;

	for (; s < end && (*s == ' ' || *s == '\t'); s++)
		;
	*text = s;
	if (sp__json_is_number(s, (size_t)(end - s)))
		return (size_t)(end - s);
	for (p = s + (s < end && *s == '-'); p < end && is_digit(*p); p++)
		;
	for (p += p < end && *p == '.'; p < end && is_digit(*p); p++)
		;
	return (size_t)(p - s);
}

int sp__json_encode_numeric(const char *s, size_t n, struct sp__keybuf *buf)
{
	n = sp__json_numeric(&s, n);
	return put_number(buf, s, n);
}

/* Texts. */

static int put_text(struct sp__keybuf *buf, const struct sp__json_value *v)
{
	static const struct sp__comp plain;
	const size_t n = buf->uncut ? v->n : sp__min(v->n, SP__KEY_MAX);
	unsigned char *out;
	size_t length;
	bool decode;
	const char *s = sp__json_slice(v, &length, &decode);

	length = sp__min(length, n);
	/* With room for a character that is cut, so that its first bytes are there. */
	if (sp__keybuf_reserve(buf, SP__TEXT_MAX(n) + (decode ? n + CHARACTER_BYTES : 0)))
		return -ENOMEM;
	out = buf->data + buf->bytes;
	if (decode) {
		s = (char *)out + SP__TEXT_MAX(n);
		length = sp__min(
			sp__json_text(v, (char *)out + SP__TEXT_MAX(n), n + CHARACTER_BYTES), n);
	}
	buf->bytes = (size_t)(sp__text_delimit(&plain, s, length, out) - buf->data);
	return 0;
}

/* Arrays and objects. */

static int put_array(struct sp__keybuf *buf, const struct sp__json_value *v, unsigned depth)
{
	struct sp__json_items items = sp__json_items(v);
	struct sp__json_value none, element;
	int rc = 0;

	while (!rc && !full(buf) && sp__json_item(&items, &none, &element))
		rc = encode(&element, depth + 1, buf);
	return rc ? rc : put(buf, END);
}

struct member {
	struct sp__json_value name, value;
};

static int compare_members(const void *a, const void *b)
{
	const struct member *ma = a, *mb = b;
	int diff = sp__json_compare_texts(&ma->name, &mb->name);

	return diff ? diff : (ma->name.p > mb->name.p) - (ma->name.p < mb->name.p);
}

/* Keeps the last member of each name; returns their number. */
static size_t unite(struct member *m, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (i + 1 == n || sp__json_compare_texts(&m[i].name, &m[i + 1].name) != 0)
			m[kept++] = m[i];
	return kept;
}

static int put_object(struct sp__keybuf *buf, const struct sp__json_value *v, unsigned depth)
{
	struct sp__json_items items = sp__json_items(v);
	struct member *members = NULL, next;
	size_t n = 0;
	int rc = 0;

	while (!rc && sp__json_item(&items, &next.name, &next.value)) {
		if (!SP__ARRAY_GROW_BY_ONE(members, n))
			rc = -ENOMEM;
		else
			members[n++] = next;
	}
	if (n)
		qsort(members, n, sizeof(*members), compare_members);
	n = unite(members, n);
	for (size_t i = 0; !rc && i < n && !full(buf); i++) {
		rc = put(buf, TEXT);
		if (!rc)
			rc = put_text(buf, &members[i].name);
	}
	if (!rc)
		rc = put(buf, END);
	for (size_t i = 0; !rc && i < n && !full(buf); i++)
		rc = encode(&members[i].value, depth + 1, buf);
	free(members);
	return rc;
}

/* Appends an object or array as its bytes. */
static int put_written(struct sp__keybuf *buf, const struct sp__json_value *v)
{
	static const struct sp__comp plain;
	const size_t n = buf->uncut ? v->n : sp__min(v->n, SP__KEY_MAX);

	if (sp__keybuf_reserve(buf, SP__TEXT_MAX(n)))
		return -ENOMEM;
	buf->bytes =
		(size_t)(sp__text_delimit(&plain, v->p, n, buf->data + buf->bytes) - buf->data);
	return 0;
}

static int encode(const struct sp__json_value *v, unsigned depth, struct sp__keybuf *buf)
{
	static const unsigned char of_kind[] = {
		[SP__JSON_MISSING] = EMPTY,	[SP__JSON_NULL] = EMPTY,
		[SP__JSON_FALSE] = FALSE_VALUE, [SP__JSON_TRUE] = TRUE_VALUE,
		[SP__JSON_NUMBER] = NUMBER,	[SP__JSON_TEXT] = TEXT,
		[SP__JSON_ARRAY] = ARRAY,	[SP__JSON_OBJECT] = OBJECT
	};
	int rc = put(buf, of_kind[v->kind]);

	if (rc)
		return rc;
	switch (v->kind) {
	case SP__JSON_NUMBER:
		return put_number(buf, v->p, v->n);
	case SP__JSON_TEXT:
		return put_text(buf, v);
	case SP__JSON_ARRAY:
		return depth < DEPTH ? put_array(buf, v, depth) : put_written(buf, v);
	case SP__JSON_OBJECT:
		return depth < DEPTH ? put_object(buf, v, depth) : put_written(buf, v);
	default:
		return 0;
	}
}

int sp__json_values(const struct sp_keyset *ks, const char *rec, size_t bytes,
		    const struct sp__keybuf *buf, struct sp__json_value *values,
		    struct sp__json_error *error)
{
	const enum sp__json_check check =
		ks->pub.format.strict ? SP__JSON_CHECK_ALL : SP__JSON_CHECK_FOUND;

	if (!buf->json)
		return sp__json_find(ks->json, rec, bytes, check, values, error);
	buf->json->paths = ks->json;
	buf->json->check = check;
	return sp__json_find_next(buf->json, rec, bytes, buf->reach, values, error);
}

int sp__json_encode(const struct sp__json_value *v, struct sp__keybuf *buf)
{
	return encode(v, 0, buf);
}

/* Compares numbers without memory. */
static int compare_decimals(const struct decimal *a, const struct decimal *b)
{
	const char *p = a->from, *q = b->from;
	int diff = (a->exponent > b->exponent) - (a->exponent < b->exponent);

	while (!diff && (p < a->to || q < b->to)) {
		p += p < a->to && *p == '.';
		q += q < b->to && *q == '.';
		diff = (p < a->to ? *p++ : '0') - (q < b->to ? *q++ : '0');
	}
	return a->negative ? -diff : diff;
}

int sp__json_compare_numbers(const char *a, size_t an, const char *b, size_t bn)
{
	struct decimal x, y;
	const bool some = read_decimal(a, a + an, &x), other = read_decimal(b, b + bn, &y);
	const int sign = !some ? 0 : x.negative ? -1 : 1;
	const int other_sign = !other ? 0 : y.negative ? -1 : 1;

	if (sign != other_sign || !sign)
		return sign - other_sign;
	return compare_decimals(&x, &y);
}
