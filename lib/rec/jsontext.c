/* SPDX-License-Identifier: MIT */
/* The characters of texts in JSON (jsonread.h). */
#include <string.h>
#include "rec/fields.h"
#include "rec/jsonpath.h"

int sp__json_hex4(const char *p, const char *end)
{
	int value = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		const int c = (unsigned char)p[i], lower = c | 32;

		if (c >= '0' && c <= '9')
			value = value << 4 | (c - '0');
		else if (lower >= 'a' && lower <= 'f')
			value = value << 4 | (lower - 'a' + 10);
		else
			return -1;
	}
	return value;
}

static char *put_utf8(char *out, unsigned c)
{
	if (c < 0x80) {
		*out++ = (char)c;
	} else if (c < 0x800) {
		*out++ = (char)(0xC0 | c >> 6);
		*out++ = (char)(0x80 | (c & 63));
	} else if (c < 0x10000) {
		*out++ = (char)(0xE0 | c >> 12);
		*out++ = (char)(0x80 | (c >> 6 & 63));
		*out++ = (char)(0x80 | (c & 63));
	} else {
		*out++ = (char)(0xF0 | c >> 18);
		*out++ = (char)(0x80 | (c >> 12 & 63));
		*out++ = (char)(0x80 | (c >> 6 & 63));
		*out++ = (char)(0x80 | (c & 63));
	}
	return out;
}

/*
 * Decodes the escape at *p; writes at most four bytes.  A surrogate without its other half, which
 * is only met in what is not checked, becomes U+FFFD.
 */
static char *decode_escape(const char **p, const char *end, char *out)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	const char letter = (*p)[1], *short_one = strchr(from, letter);
	unsigned c;

	*p += 2;
	if (letter != 'u') {
		*out = short_one ? to[short_one - from] : letter;
		return out + 1;
	}
	c = (unsigned)sp__json_hex4(*p, end);
	*p += 4;
	if (c >= 0xD800 && c < 0xE000) {
		const int low = end - *p > 5 && (*p)[0] == '\\' && (*p)[1] == 'u' && c < 0xDC00
					? sp__json_hex4(*p + 2, end)
					: -1;

		if (low < 0xDC00 || low >= 0xE000)
			return put_utf8(out, 0xFFFD);
		c = 0x10000 + ((c - 0xD800) << 10) + (unsigned)(low - 0xDC00);
		*p += 6;
	}
	return put_utf8(out, c);
}

size_t sp__json_text(const struct sp__json_value *v, char *out, size_t room)
{
	const char *p = v->p + 1, *end = v->p + v->n - 1, *plain;
	char four[4], *to = out;
	size_t n;

	while (p < end && room) {
		plain = v->escaped ? memchr(p, '\\', (size_t)(end - p)) : end;
		plain = plain ? plain : end;
		n = (size_t)(plain - p) < room ? (size_t)(plain - p) : room;
		memmove(to, p, n);
		to += n;
		room -= n;
		p = plain;
		if (p == end)
			break;
		n = (size_t)(decode_escape(&p, end, four) - four);
		if (n > room)
			break;
		memcpy(to, four, n);
		to += n;
		room -= n;
	}
	return (size_t)(to - out);
}

/* The characters of a text, decoded one after the other. */
struct characters {
	const char *p, *end; /* in the record */
	char bytes[4];
	size_t at, n;
};

static struct characters characters_of(const struct sp__json_value *v)
{
	return (struct characters){ .p = v->p + 1, .end = v->p + v->n - 1 };
}

/* Returns the next byte, or -1. */
static int next_byte(struct characters *c)
{
	if (c->at < c->n)
		return (unsigned char)c->bytes[c->at++];
	if (c->p == c->end)
		return -1;
	if (*c->p != '\\')
		return (unsigned char)*c->p++;
	c->n = (size_t)(decode_escape(&c->p, c->end, c->bytes) - c->bytes);
	c->at = 1;
	return (unsigned char)c->bytes[0];
}

bool sp__json_is(const struct sp__json_value *v, const char *name, size_t bytes)
{
	struct characters c = characters_of(v);

	for (size_t i = 0; i < bytes; i++)
		if (next_byte(&c) != (unsigned char)name[i])
			return false;
	return next_byte(&c) < 0;
}

int sp__json_compare_texts(const struct sp__json_value *a, const struct sp__json_value *b)
{
	struct characters ca = characters_of(a), cb = characters_of(b);
	int byte, other;

	do {
		byte = next_byte(&ca);
		other = next_byte(&cb);
	} while (byte == other && byte >= 0);
	return byte - other;
}

int sp__json_fields(const struct sp__json_value *found, const size_t *numbers, size_t n,
		    size_t record_bytes, struct sp__bytes *text, struct sp__slice *fields)
{
	bool decode;

	/* The texts of different values are at most the record. */
	text->bytes = 0;
	if (sp__bytes_reserve(text, record_bytes, NULL))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct sp__json_value *v = &found[numbers[i]];
		struct sp__slice *to = &fields[i];

		to->p = sp__json_slice(v, &to->n, &decode);
		if (!decode)
			continue;
		to->p = text->data + text->bytes;
		to->n = sp__json_text(v, text->data + text->bytes, to->n);
		text->bytes += to->n;
	}
	return 0;
}
