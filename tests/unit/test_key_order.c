/* SPDX-License-Identifier: MIT */
/*
 * Tables of texts in ascending order; a text that begins with '=' is equal to
 * the one before it.  Every pair is compared directly and by encoded keys.
 */
#include <string.h>
#include "rec/key.h"
#include "tap.h"

static int sign(int d)
{
	return (d > 0) - (d < 0);
}

static int memcmp_keys(const struct sp__keybuf *a, const struct sp__keybuf *b)
{
	size_t n = a->bytes < b->bytes ? a->bytes : b->bytes;
	int d = n ? memcmp(a->data, b->data, n) : 0;

	return d ? d : (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* T, which is not a letter of keys, is for dates and times. */
static struct sp_keyset *keyset_of(const char *letters)
{
	const bool moments = strchr(letters, 'T');
	struct sp_keyset_opts o = { .format = { .kind = SP_REC_LINE, .eol = '\n' },
				    .nkeys = 1,
				    .separator = -1,
				    .stable = true };
	struct sp_key k = SP_KEY_INIT;
	struct sp_keyset *ks;

	for (; *letters; letters++)
		sp_key_letter(&k, *letters, SP_KEY_BOTH);
	if (moments)
		k.type = SP_KEY_TIME;
	o.keys = &k;
	return sp_keyset_new(&ks, &o, NULL) ? NULL : ks;
}

static int slices(const struct sp_keyset *ks, const char *a, const char *b)
{
	struct sp__keybuf ka, kb;
	const char *sa, *sb;
	int d;

	sp__key_slice(ks, a, strlen(a), &sa, &ka.bytes);
	sp__key_slice(ks, b, strlen(b), &sb, &kb.bytes);
	d = memcmp(sa, sb, ka.bytes < kb.bytes ? ka.bytes : kb.bytes);
	if (!d)
		d = (ka.bytes > kb.bytes) - (ka.bytes < kb.bytes);
	return sp__ks(ks)->descending ? -d : d;
}

static bool pair(const struct sp_keyset *ks, const char *a, const char *b, int want)
{
	struct sp__keybuf ka = { 0 }, kb = { 0 };
	int direct = sign(sp__key_compare(ks, a, strlen(a), b, strlen(b))), bytes;
	bool good;

	if (sp__ks(ks)->form == SP__KEY_INPLACE)
		bytes = sign(slices(ks, a, b));
	else if (sp__key_encode(ks, a, strlen(a), &ka) || sp__key_encode(ks, b, strlen(b), &kb))
		bytes = 2;
	else
		bytes = sign(memcmp_keys(&ka, &kb));
	good = direct == want && bytes == want;
	if (!good)
		diag("'%s' and '%s': want %d, direct %d, encoded %d", a, b, want, direct, bytes);
	sp__keybuf_release(&ka);
	sp__keybuf_release(&kb);
	return good;
}

static void ascending(const char *letters, const char *const *texts, size_t n)
{
	bool reverse = strchr(letters, 'r');
	struct sp_keyset *ks = keyset_of(letters);
	int rank[100] = { 0 };
	bool good = ks;

	for (size_t i = 1; i < n; i++)
		rank[i] = rank[i - 1] + (texts[i][0] != '=');
	for (size_t i = 0; i < n && ks; i++)
		for (size_t j = 0; j < n; j++) {
			int want = sign(rank[i] - rank[j]);

			good &= pair(ks, texts[i] + (texts[i][0] == '='),
				     texts[j] + (texts[j][0] == '='), reverse ? -want : want);
		}
	ok(good, "%zu texts are in the order of -%s", n, letters);
	sp_keyset_free(ks);
}

#define ASCENDING(letters, ...)                                                                    \
	do {                                                                                       \
		static const char *const texts[] = { __VA_ARGS__ };                                \
		ascending(letters, texts, sizeof(texts) / sizeof(texts[0]));                       \
		ascending(letters "r", texts, sizeof(texts) / sizeof(texts[0]));                   \
	} while (0)

#define Z20 "00000000000000000000"
#define Z200 Z20 Z20 Z20 Z20 Z20 Z20 Z20 Z20 Z20 Z20

static void moments(void)
{
	ASCENDING("T", "", "=x", "= ", "=2024-02-30", "=2024-1-1", "=24-01-01",
		  "=2024-01-01T24:00:00", "=2024-01-01 1", "=2024-01-01Z",
		  "=2024-01-01 00:00:00+01:00", "=2024-01-01 00:00:00.",
		  "=2024-01-01 00:00:00.1234567", "0000-01-01", "0000-01-01 00:00:00.000001",
		  "1969-12-31T23:59:59.9", "1970-01-01", "=1970-01-01 00:00:00",
		  "= 1970-01-01T00:00:00.000000Z\t", "=1970-01-01T00:00:00.0\r",
		  "1970-01-01 00:00:01", "2024-02-29", "2024-02-29 09:30:00.5",
		  "=2024-02-29T09:30:00.50Z", "2024-02-29 09:30:00.51", "2024-03-01",
		  "9999-12-31 23:59:59.999999");
}

static void numbers(void)
{
	ASCENDING("n", "-1" Z200, "-1" Z20, "-100000000", "-99999999.5", "-99999999", "-12.51",
		  "-12.5", "=-12.50", "-12", "-2", "-1.01", "-1", "=-01", "=-1.", "-.5", "=-0.5",
		  "-.05", "", "=0", "=-0", "=-", "=x", "=.", "=-.", "=.0", "=00.00", "=--1", "=+1",
		  "= ", "=- 1", "=K", ".001", ".01", "=0.010x", ".09", ".1", ".11", "0.9", "1",
		  "= \t1", "=001", "=1.000", "=1e5", "=1K", "1.0000000000000000000000001", "1.1",
		  "9", "10", "=10-", "11", "19", "99", "100", "=100.0", "101", "12345678",
		  "12345678.5", "12345679", "123456789", "123456789012345", "1234567890123456",
		  "1234567890123456.7", "1234567890123457", "1" Z20, "1" Z20 "00000000001",
		  "1" Z200, "1" Z200 ".1", "2" Z200);
	ASCENDING("h", "-2M", "-1M", "-5K", "-1k", "=-1K", "-1000", "-1", "=-1x", "0", "=-0M",
		  "=0K", "=", "=x", "=.M", "=-", ".5", "1", "5", "6000", "1K", "=1Ki", "=1k",
		  "1.5K", "6000K", "1M", "1G", "1T", "1P", "1E", "1Z", "1Y", "1R", ".5Q", "1Q",
		  "=1.0QB");
	ASCENDING("hf", "1", "=1x", "1k", "1m");
	ASCENDING("g", "", "=x", "= ", "=.", "=-", "=e5", "nan", "=NaN", "=nanx", "-nan", "-inf",
		  "=-infinity", "=-1e9999", "-1e100", "-3", "-2.5", "-1e-400", "0", "=-0", "=0e5",
		  "=0x", "=.0", "1e-4930", "1e-400", ".1", "=1e-1", "=0.10", "1", "=1x", "= 1",
		  "=\v1", "=+1", "=1e", "=0x1", "=0x.8p1", "2", "1e1", "=10", "=10.", "16", "=0x10",
		  "=1.6E1", "123456789012345678", "1234567890123456789", "12345678901234567890",
		  "123456789012345678901", "1e300", "inf", "=INFINITY", "=1e5000");
}

static void words(void)
{
	ASCENDING("M", "", "=x", "=ja", "=anuary", "=1", "jan", "= JANUARY", "=\tJan1", "Feb",
		  "MAR", "apr", "may", "jun", "=june", "jul", "aug", "sep", "oct", "nov", "dec");
	ASCENDING("V", "", ".", "..", ".~", ".a", ".a1", ".jul", ".0", "..~", ".1", "0~", "0",
		  "=00", "1~", "1", "=01", "1.a", "1.2", "2", "10", "a~", "a", "=a0", "=a00",
		  "a0.c", "a.c", "a1", "=a01", "a2", "a10", "a255", "a256", "aa", "b", "b-1",
		  "b-1.2", "b-1.10", "b.1", "z", "-", "_");
	ASCENDING("d", "", "=..", " ", "a", "=-a", "=a.", "a b", "ab", "=a-b", "=a.b!", "b");
	ASCENDING("f", "", "1", "a", "=A", "aB", "=Ab", "b", "c", "_", "~");
	ASCENDING("df", "", "=.", "a", "=-A", "ab", "=A-B", "b");
	ASCENDING("i", "", "=\x01", "a",
		  "=\x01"
		  "a",
		  "a b", "=a\x02 b", "ab");
	ASCENDING("b", "", "=  ", "a", "= a", "a b", "b");
	ASCENDING("s", "", "\x01", "\x01\x01", " ", "A", "a", "a\x01", "ab", "b", "\xff");
}

int main(void)
{
	numbers();
	moments();
	words();
	return done();
}
