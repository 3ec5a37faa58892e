/* SPDX-License-Identifier: MIT */
/*
 * Text in the order of its bytes, with -d, -i and -f.
 *
 * Self-delimiting text ends with a zero byte.  The bytes 0 and 1 are written
 * as 1 followed by themselves plus one; all others stand for themselves, so
 * ordinary text grows by the terminator alone.
 */
#include <string.h>
#include "rec/keyset.h"

unsigned char *sp__text_filter(const struct sp__comp *c, const char *s, size_t n,
			       unsigned char *out)
{
	const unsigned char *p = (const unsigned char *)s, *lim = p + n;
	/* In variables: what is written to out might be a part of c. */
	const unsigned char *fold = c->fold;
	const bool *drop = c->drop;

	if (!fold && !drop) {
		if (n)
			memcpy(out, s, n);
		return out + n;
	}
	if (!drop)
		for (; p < lim; p++)
			*out++ = fold[*p];
	else
		for (; p < lim; p++) {
			*out = fold ? fold[*p] : *p;
			out += !drop[*p];
		}
	return out;
}

/* Is one of eight bytes 0 or 1? */
static inline bool any_low(uint64_t v)
{
	return (v - 0x0202020202020202u) & ~v & 0x8080808080808080u;
}

static unsigned char *escape(const unsigned char *p, const unsigned char *lim, unsigned char *out)
{
	uint64_t v;

	while (p < lim) {
		if (lim - p >= 8) {
			memcpy(&v, p, 8);
			memcpy(out, &v, 8);
			if (!any_low(v)) {
				p += 8;
				out += 8;
				continue;
			}
		}
		if (*p <= 1) {
			*out++ = 1;
			*out++ = (unsigned char)(*p++ + 1);
		} else {
			*out++ = *p++;
		}
	}
	return out;
}

unsigned char *sp__text_delimit(const struct sp__comp *c, const char *s, size_t n,
				unsigned char *out)
{
	const unsigned char *p = (const unsigned char *)s, *lim = p + n;

	if (!c->fold && !c->drop) {
		out = escape(p, lim, out);
	} else {
		for (; p < lim; p++) {
			unsigned char b = c->fold ? c->fold[*p] : *p;

			if (c->drop && c->drop[*p])
				continue;
			if (b <= 1) {
				*out++ = 1;
				b++;
			}
			*out++ = b;
		}
	}
	*out++ = 0;
	return out;
}

/* The next byte that counts, or -1 at the end. */
static int next_byte(const struct sp__comp *c, const char **p, const char *lim)
{
	unsigned char b;

	while (*p < lim) {
		b = (unsigned char)*(*p)++;
		if (!c->drop || !c->drop[b])
			return c->fold ? c->fold[b] : b;
	}
	return -1;
}

int sp__text_compare(const struct sp__comp *c, const char *a, size_t an, const char *b, size_t bn)
{
	const char *alim = a + an, *blim = b + bn;
	int ca, cb;

	if (!c->fold && !c->drop)
		return sp__order_bytes(a, an, b, bn);
	do {
		ca = next_byte(c, &a, alim);
		cb = next_byte(c, &b, blim);
	} while (ca == cb && ca >= 0);
	return ca - cb;
}
