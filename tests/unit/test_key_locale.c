/* SPDX-License-Identifier: MIT */
/*
 * Keys in a locale with a decimal comma, thousands points, month names and a
 * collation of its own: German, built here.
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/rng.h"
#include "german.h"
#include "rec/key.h"
#include "tap.h"

static struct sp_keyset *keyset_of(const char *spec)
{
	struct sp_keyset_opts o = { .format = { .kind = SP_REC_LINE, .eol = '\n' },
				    .nkeys = 1,
				    .separator = '|' };
	struct sp_keyset *ks = NULL;
	struct sp_key k;

	o.keys = &k;
	if (sp_key_parse(spec, &k, NULL) || sp_keyset_new(&ks, &o, NULL))
		return NULL;
	/* Byte keys from the first text on. */
	sp__key_expect(ks, 1 << 20);
	return ks;
}

static int sign(int d)
{
	return (d > 0) - (d < 0);
}

/* -1, 0, 1; 2 if one of them has no byte key. */
static int by_bytes(const struct sp_keyset *ks, const char *a, const char *b)
{
	struct sp__keybuf ka = { 0 }, kb = { 0 };
	int d = 2;

	if (!sp__key_encode(ks, a, strlen(a), &ka) && !sp__key_encode(ks, b, strlen(b), &kb)) {
		d = memcmp(ka.data, kb.data, ka.bytes < kb.bytes ? ka.bytes : kb.bytes);
		d = sign(d ? d : (ka.bytes > kb.bytes) - (ka.bytes < kb.bytes));
	}
	sp__keybuf_release(&ka);
	sp__keybuf_release(&kb);
	return d;
}

static void is(const char *spec, const char *a, const char *b, int want)
{
	struct sp_keyset *ks = keyset_of(spec);
	int direct, bytes;

	if (!ks) {
		ok(false, "-k %s is understood", spec);
		return;
	}
	direct = sign(sp__key_compare(ks, a, strlen(a), b, strlen(b)));
	bytes = by_bytes(ks, a, b);
	ok(direct == want && (bytes == want || bytes == 2), "-k %s: '%s' and '%s' are %d", spec, a,
	   b, want);
	if (direct != want || bytes != want)
		diag("direct %d, encoded %d", direct, bytes);
	sp_keyset_free(ks);
}

static void numbers(void)
{
	is("1n", "1,5", "1,25", 1);
	is("1n", "1.000", "999", 1);
	is("1n", "1.0.0.0,5", "1000,50", 0);
	is("1n", ".5", "5", 0);
	is("1n", "-1.000", "-999", -1);
	is("1n", "1.234.567.890.123.456.789.012,5", "1234567890123456789012,4", 1);
	is("1g", "1,5", "1,25", 1);
	is("1g", "1.9", "1,1", -1);
	is("1h", "1,5K", "1,25K", 1);
	is("1h", "1.000K", "999K", 1);
	is("1h", "1..000K", "999K", -1);
}

static void words(void)
{
	is("1M", "mai", "Okt", -1);
	is("1M", "dez", "okt", 1);
	is("1M", "dec", "jan", -1);
	is("1", "a", "B", -1);
	is("1", "\303\244", "b", -1);
	is("1r", "\303\244", "b", 1);
	is("1f", "a", "A", 0);
	is("1d", "a-b", "ab", 0);
}

static void random_text(struct sp__rng *rng, char *out)
{
	static const char *const pieces[] = { "a", "A", "b", "B", " ", "-",	   "1",
					      "|", "z", "e", "_", ".", "\303\244", "\303\237" };

	out[0] = '\0';
	for (unsigned n = (unsigned)sp__rng_below(rng, 8); n; n--)
		strcat(out, pieces[sp__rng_below(rng, sizeof(pieces) / sizeof(pieces[0]))]);
}

static void agreement(const char *spec)
{
	struct sp_keyset *ks = keyset_of(spec);
	struct sp__rng rng = { 3 };
	unsigned wrong = 0, encoded = 0;
	char a[64], b[64];

	for (int i = 0; i < 8000 && ks; i++) {
		int d;

		random_text(&rng, a);
		random_text(&rng, b);
		d = by_bytes(ks, a, b);
		encoded += d != 2;
		wrong += d != 2 && d != sign(sp__key_compare(ks, a, strlen(a), b, strlen(b)));
	}
	ok(ks && !wrong, "-k %s: where there are byte keys (%u of 8000 pairs) they agree", spec,
	   encoded);
	sp_keyset_free(ks);
}

static void bytes_only(void)
{
	struct sp_keyset_opts o = { .format = { .kind = SP_REC_LINE, .eol = '\n' },
				    .separator = -1 };
	struct sp_keyset *locale = NULL, *bytes = NULL;
	bool made = !sp_keyset_new(&locale, &o, NULL);

	o.bytes = true;
	made &= !sp_keyset_new(&bytes, &o, NULL);
	ok(made && sp_keyset_compare(locale, "\303\244", 2, "z", 1) < 0 &&
		   sp_keyset_compare(bytes, "\303\244", 2, "z", 1) > 0 &&
		   sp__ks(bytes)->form == SP__KEY_INPLACE,
	   "where bytes are wanted the locale does not count");
	sp_keyset_free(locale);
	sp_keyset_free(bytes);
}

int main(void)
{
	if (!german_set()) {
		german_remove();
		skip("keys in a German locale", "needs localedef and the source of de_DE");
		return done();
	}
	numbers();
	words();
	bytes_only();
	agreement("1");
	agreement("1r");
	agreement("2f,2");
	agreement("1,1d");
	german_remove();
	return done();
}
