/* SPDX-License-Identifier: MIT */
/*
 * Encodes keys that are texts, months or times, or in random order; grows the buffers of keys.
 *
 * Text is in the order of its bytes, with -d, -i and -f.  Self-delimiting text ends with a zero
 * byte.  The bytes 0 and 1 are written as 1 followed by themselves plus one.  All others are
 * unchanged, so ordinary text grows only by the terminator.
 *
 * If only -f and the last resort apply, one bit per byte after the terminator shows if the byte was
 * folded.  Then records with equal keys are identical, and short records need not be read again.
 */
#include <ctype.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include "base/few.h"
#include "rec/calendar.h"
#include "rec/keyset.h"
#include "rec/value.h"

int sp__keybuf_grow(struct sp__keybuf *buf, size_t more)
{
	size_t want;
	unsigned char *data;

	if (__builtin_add_overflow(buf->bytes, more, &want))
		return -ENOMEM;
	if (want < SIZE_MAX / 2)
		want += want / 2 + 64;
	data = sp__block_resize(buf->data, buf->capacity, want);
	if (!data)
		return -ENOMEM;
	buf->data = data;
	buf->capacity = want;
	return 0;
}

void sp__keybuf_release_scratch(struct sp__keybuf *buf)
{
	if (!buf->scratch)
		return;
	sp__keybuf_release(buf->scratch);
	free(buf->scratch);
	buf->scratch = NULL;
}

void sp__keybuf_release(struct sp__keybuf *buf)
{
	sp__keybuf_release_scratch(buf);
	(void)sp__block_resize(buf->data, buf->capacity, 0);
	*buf = (struct sp__keybuf){ 0 };
}

/*
 * Random order is the MD5 of a salt and the key, so that equal keys stay together.  In
 * locales with a collation of their own the collation keys are hashed, each part between NULs
 * followed by a NUL, so that texts that collate as equal hash as equal.
 *
 * Not modelled: GNU sort compares the texts when two digests are equal, which needs a collision.
 * Here the digest alone is the key; carrying every text along would multiply the size of the keys.
 */

/* Hashes the NUL-terminated part at offset in scratch; its collation key is appended there. */
static int hash_part(MD5_CTX *ctx, struct sp__keybuf *scratch, size_t offset)
{
	size_t room = scratch->capacity - scratch->bytes;
	size_t need = strxfrm((char *)scratch->data + scratch->bytes,
			      (char *)scratch->data + offset, room);

	if (need >= room) {
		if (sp__keybuf_reserve(scratch, need + 1))
			return -ENOMEM;
		strxfrm((char *)scratch->data + scratch->bytes, (char *)scratch->data + offset,
			need + 1);
	}
	MD5Update(ctx, scratch->data + scratch->bytes, need + 1);
	return 0;
}

int sp__random_digest(const struct sp_keyset *ks, const char *s, size_t n,
		      struct sp__keybuf *scratch, unsigned char digest[16])
{
	MD5_CTX ctx = ks->salted;

	if (!ks->hard) {
		MD5Update(&ctx, (const unsigned char *)s, n);
		MD5Final(digest, &ctx);
		return 0;
	}
	scratch->bytes = 0;
	if (sp__keybuf_reserve(scratch, 4 * n + 2))
		return -ENOMEM;
	memcpy(scratch->data, s, n);
	scratch->data[n] = '\0';
	scratch->bytes = n + 1;
	for (size_t at = 0; at < n; at += strlen((char *)scratch->data + at) + 1)
		if (hash_part(&ctx, scratch, at))
			return -ENOMEM;
	MD5Final(digest, &ctx);
	return 0;
}

/*
 * Dates and times of ISO 8601 (SP_KEY_TIME).  A date is the time at its midnight.  A time is eight
 * bytes, most significant first: microseconds from the earliest one on, plus 1 << 56, so that the
 * first byte is not zero.  Any other text is one zero byte.
 */
#define FIRST_VALUE (UINT64_C(1) << 56)

bool sp__moment_read(const char *s, size_t n, int64_t *us)
{
	static const struct sp__value_type time = { 'T', SP__TIME_DECIMALS, sizeof(*us) };

	n = sp__trim(&s, n);
	return sp__value_read(&time, s, n, us) == SP__VALUE_OK;
}

unsigned char *sp__moment_encode(const char *s, size_t n, unsigned char *out)
{
	uint64_t value;
	int64_t us;

	if (!sp__moment_read(s, n, &us)) {
		*out = 0;
		return out + 1;
	}
	value = __builtin_bswap64((uint64_t)(us - SP__TIME_MIN) + FIRST_VALUE);
	memcpy(out, &value, SP__MOMENT_BYTES);
	return out + SP__MOMENT_BYTES;
}

int sp__moment_compare(const char *a, size_t an, const char *b, size_t bn)
{
	int64_t ua = INT64_MIN, ub = INT64_MIN;

	(void)sp__moment_read(a, an, &ua);
	(void)sp__moment_read(b, bn, &ub);
	return (ua > ub) - (ua < ub);
}

/*
 * Names of months for -M are the abbreviations of the locale in upper case without blanks.  The
 * text need only begin with one.  The table is in the order of its names.  A binary search decides,
 * as it does in GNU sort, which name matches in locales where one name begins with another.
 */
static int by_name(const void *a, const void *b)
{
	const struct sp__month *x = a, *y = b;

	return strcmp(x->name, y->name);
}

int sp__month_init(struct sp_keyset *ks)
{
	char *out;

	for (int i = 0; i < 12; i++) {
		const char *s = nl_langinfo(ABMON_1 + i);

		out = malloc(strlen(s) + 1);
		if (!out)
			return -ENOMEM;
		ks->month[i].name = out;
		ks->month[i].number = (unsigned char)(i + 1);
		for (; *s; s++)
			if (!isblank((unsigned char)*s))
				*out++ = (char)ks->ctab.fold[(unsigned char)*s];
		*out = '\0';
	}
	qsort(ks->month, 12, sizeof(ks->month[0]), by_name);
	return 0;
}

void sp__month_fini(struct sp_keyset *ks)
{
	for (int i = 0; i < 12; i++)
		free(ks->month[i].name);
}

/*
 * Compares a text with a name.  Negative: s is before name; 0: s begins with it and *end is after
 * it.
 */
static int match(const struct sp_keyset *ks, const char *s, const char *lim, const char *name,
		 const char **end)
{
	for (; *name; s++, name++) {
		int have = s < lim ? ks->ctab.fold[(unsigned char)*s] : -1;

		if (have != (unsigned char)*name)
			return have < (unsigned char)*name ? -1 : 1;
	}
	*end = s;
	return 0;
}

int sp__month_of(const struct sp_keyset *ks, const char *s, const char *lim, const char **end)
{
	int lo = 0, hi = 12;

	s = sp__skip_blanks(ks, s, lim);
	while (lo < hi) {
		int mid = (lo + hi) / 2;
		int diff = match(ks, s, lim, ks->month[mid].name, end);

		if (!diff)
			return ks->month[mid].number;
		if (diff < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return 0;
}

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
