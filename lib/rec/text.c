/* SPDX-License-Identifier: MIT */
/*
 * Encodes text in the order of its bytes, with -d, -i and -f.
 *
 * Self-delimiting text ends with a zero byte.  The bytes 0 and 1 are written as 1 followed by
 * themselves plus one.  All others are unchanged, so ordinary text grows only by the terminator.
 *
 * If only -f and the last resort apply, one bit per byte after the terminator shows if the byte was
 * folded.  Then records with equal keys are identical, and short records need not be read again.
 */
#include <string.h>
#include "base/few.h"
#include "rec/keyset.h"

unsigned char *sp__text_filter(const struct sp__comp *c, const char *s, size_t n,
			       unsigned char *out)
{
	const unsigned char *p = (const unsigned char *)s, *lim = p + n;
	/* In local variables, because out could alias c. */
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

/* True if one of eight bytes is 0 or 1. */
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

bool sp__fold_reversible(const unsigned char fold[256])
{
	bool taken[256] = { false };

	for (int b = 0; b < 256; b++) {
		unsigned char upper = fold[b];

		if (upper == b)
			continue;
		if (upper > b || fold[upper] != upper || taken[upper])
			return false;
		taken[upper] = true;
	}
	return true;
}

bool sp__fold_ascii(const unsigned char fold[256])
{
	for (int b = 0; b < 256; b++)
		if (fold[b] != (b >= 'a' && b <= 'z' ? b - 0x20 : b))
			return false;
	return true;
}

#define BYTES(b) ((b)*UINT64_C(0x0101010101010101))

/* Returns the high bits of those of eight bytes that are ASCII lower-case letters. */
static inline uint64_t lower_of(uint64_t v)
{
	uint64_t low = v & BYTES(0x7F);

	return (low + BYTES(0x80 - 'a')) & ~(low + BYTES(0x7F - 'z')) & ~v & BYTES(0x80);
}

/* Folds eight bytes at a time, the last first, so that later stores overwrite bytes beyond n. */
static bool case_words(const char *s, size_t n, size_t reach, unsigned char *out)
{
	unsigned char *bits = out + n + 1;

	out[n] = 0;
	for (size_t i = n ? (n - 1) / 8 + 1 : 0; i-- > 0;) {
		uint64_t v = sp__load_near(s + 8 * i, n - 8 * i, reach - 8 * i), lower;
		uint64_t none = n - 8 * i < 8 ? ~UINT64_C(0) << 8 * (n - 8 * i) : 0;

		if (any_low(v | none))
			return false;
		lower = lower_of(v);
		v = htole64(v - (lower >> 2));
		memcpy(out + 8 * i, &v, 8);
		/* The first byte's bit is the highest. */
		bits[i] = (unsigned char)((lower >> 7) * UINT64_C(0x8040201008040201) >> 56);
	}
	return true;
}

unsigned char *sp__text_cased(const struct sp__comp *c, bool ascii, const char *s, size_t n,
			      size_t reach, unsigned char *out)
{
	const unsigned char *p = (const unsigned char *)s;

	if (ascii && case_words(s, n, reach, out))
		return out + n + 1 + (n + 7) / 8;
	out = sp__text_delimit(c, s, n, out);
	for (size_t i = 0; i < n; i += 8) {
		unsigned bits = 0;

		for (size_t j = i; j < i + 8; j++)
			bits = bits << 1 | (j < n && c->fold[p[j]] != p[j]);
		*out++ = (unsigned char)bits;
	}
	return out;
}

/* Returns the next byte that is not dropped, or -1 at the end. */
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
