/* SPDX-License-Identifier: MIT */
/* Values as JSON (json.h). */
#include <string.h>
#include "base/utf8.h"
#include "rec/json.h"

/* Returns the letter of a short escape; 0: there is none. */
static char short_escape(unsigned char c)
{
	static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
	const char *at = c ? strchr(from, c) : NULL;

	return at ? to[at - from] : '\0';
}

char *sp__json_put_text(char *to, const char *p, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	const char *end = p + n;

	if (!sp__is_utf8(p, n))
		return NULL;
	*to++ = '"';
	for (; p < end; p++) {
		const unsigned char c = (unsigned char)*p;
		const char escape = short_escape(c);

		if (escape) {
			*to++ = '\\';
			*to++ = escape;
		} else if (c < 0x20) {
			memcpy(to, "\\u00", 4);
			to[4] = digits[c >> 4];
			to[5] = digits[c & 15];
			to += 6;
		} else {
			*to++ = (char)c;
		}
	}
	*to++ = '"';
	return to;
}

/* Skips digits.  Returns their end; NULL: there are none. */
static const char *skip_digits(const char *p, const char *end)
{
	const char *begin = p;

	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p > begin ? p : NULL;
}

bool sp__json_is_number(const char *p, size_t n)
{
	const char *end = p + n, *whole;

	p += n && *p == '-';
	whole = p;
	p = skip_digits(p, end);
	if (!p || (*whole == '0' && p > whole + 1))
		return false;
	if (p < end && *p == '.')
		p = skip_digits(p + 1, end);
	if (p && p < end && (*p == 'e' || *p == 'E')) {
		p++;
		p += p < end && (*p == '-' || *p == '+');
		p = skip_digits(p, end);
	}
	return p == end;
}
