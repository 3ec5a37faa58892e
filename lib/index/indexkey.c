/* SPDX-License-Identifier: MIT */
/*
 * Parses the key of an index; converts records and texts into normalised bytes.
 */
#include <ctype.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "index/indexkey.h"
#include "rec/json.h"
#include "rec/jsonread.h"

#define NUMBER_TEXT_MAX 400 /* length of a number; the longest f64 in decimal fits */

static int parse(struct sp_key *key, const char *spec, const struct sp_recfmt *format,
		 struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	int rc = 0;

	*key = (struct sp_key)SP_KEY_INIT;
	if (format->kind == SP_REC_FIXED && !*spec) {
		key->type = SP_KEY_BYTES;
		key->length = format->fixed_bytes;
	} else if (format->kind == SP_REC_FIXED) {
		rc = sp_bkey_parse(spec, key, &own);
	} else if (format->json) {
		rc = sp_key_parse_path(*spec ? spec : ".", key, &own);
		if (!rc)
			rc = sp_key_check(key, &own);
	} else if (*spec) {
		rc = sp_key_parse(spec, key, &own);
		if (!rc)
			rc = sp_key_check(key, &own);
	}
	if (!rc && key->type == SP_KEY_RANDOM)
		rc = sp__errf(&own, SP_EUNSUP, "key", NULL, -1,
			      "keys in random order cannot be looked up");
	return rc ? sp__errf(err, rc, "key", NULL, -1, "key '%.64s': %.150s", spec, own.text) : 0;
}

static int make_set(struct sp_keyset **set, const struct sp_key *key,
		    const struct sp_recfmt *format, int separator, struct sp_errinfo *err)
{
	struct sp_keyset_opts o = { .format = *format,
				    .keys = key,
				    .nkeys = 1,
				    .separator = separator,
				    .stable = true,
				    .bytes = true };

	return sp_keyset_new(set, &o, err);
}

int sp__indexkey_init(struct sp__indexkey *k, const char *spec, const struct sp_recfmt *format,
		      int separator, struct sp_errinfo *err)
{
	struct sp_recfmt text = { .kind = SP_REC_LINE, .eol = '\n' };
	struct sp_key alone;
	int rc;

	*k = (struct sp__indexkey){ 0 };
	rc = parse(&k->key, spec, format, err);
	if (rc)
		return rc;
	rc = make_set(&k->records, &k->key, format, separator, err);
	alone = k->key;
	alone.sword = alone.schar = alone.echar = alone.offset = 0;
	alone.eword = SP_KEY_NOEND;
	if (format->kind == SP_REC_FIXED)
		text = (struct sp_recfmt){ .kind = SP_REC_FIXED, .fixed_bytes = k->key.length };
	text.json = format->json;
	alone.path = format->json ? "." : NULL;
	return rc ? rc : make_set(&k->texts, &alone, &text, -1, err);
}

void sp__indexkey_free(struct sp__indexkey *k)
{
	sp_keyset_free(k->records);
	sp_keyset_free(k->texts);
	*k = (struct sp__indexkey){ 0 };
}

int sp__indexkey_of_record(const struct sp__indexkey *k, const char *rec, size_t bytes,
			   struct sp__keybuf *buf)
{
	return sp__key_encode(k->records, rec, bytes, buf);
}

static bool hex_digits(const char *text, size_t bytes, char *out)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < bytes; i++) {
		const char *high = memchr(digits, tolower((unsigned char)text[2 * i]), 16);
		const char *low = memchr(digits, tolower((unsigned char)text[2 * i + 1]), 16);

		if (!high || !low)
			return false;
		out[i] = (char)((high - digits) << 4 | (low - digits));
	}
	return true;
}

/* Reads a whole text as a number, with the decimal separator of the locale or with a point. */
static bool read_real(const char *text, double *real)
{
	char *end;
	locale_t locale;

	*real = strtod(text, &end);
	if (end > text && !*end)
		return true;
	locale = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
	*real = strtod(text, &end);
	uselocale(locale);
	return end > text && !*end;
}

/* Converts a text to the bits of an integer or float.  False: not a number, or out of range. */
static bool number_bits(const struct sp_key *k, const char *text, uint64_t *bits)
{
	unsigned unused = 64 - 8 * (unsigned)k->length;
	char *end;
	double real;
	float narrow;
	uint32_t narrow_bits;

	if (!isdigit((unsigned char)text[*text == '-' || *text == '+']) && k->type != SP_KEY_FLOAT)
		return false;
	errno = 0;
	if (k->type == SP_KEY_FLOAT) {
		if (!read_real(text, &real))
			return false;
		memcpy(bits, &real, sizeof(real));
		narrow = (float)real;
		memcpy(&narrow_bits, &narrow, sizeof(narrow));
		if (k->length == 4)
			*bits = narrow_bits;
		return true;
	}
	if (k->type == SP_KEY_INT) {
		int64_t v = strtoll(text, &end, 10), max = INT64_MAX >> unused;

		*bits = (uint64_t)v;
		return !*end && !errno && v <= max && v >= -max - 1;
	}
	*bits = strtoull(text, &end, 10);
	return !*end && !errno && *text != '-' && (!unused || !(*bits >> (64 - unused)));
}

/* Makes the field of a fixed-length record that has this value. */
static bool field_of_text(const struct sp_key *k, const char *text, size_t bytes, char *field)
{
	char copy[NUMBER_TEXT_MAX];
	uint64_t bits;

	if (k->type == SP_KEY_BYTES) {
		if (bytes == k->length) {
			memcpy(field, text, bytes);
			return true;
		}
		return bytes == 2 + 2 * k->length && !memcmp(text, "0x", 2) &&
		       hex_digits(text + 2, k->length, field);
	}
	if (bytes >= sizeof(copy) || memchr(text, 0, bytes))
		return false;
	memcpy(copy, text, bytes);
	copy[bytes] = 0;
	if (!number_bits(k, copy, &bits))
		return false;
	for (size_t i = 0; i < k->length; i++)
		field[k->big_endian ? k->length - 1 - i : i] = (char)(bits >> 8 * i);
	return true;
}

/* Makes a value of JSON: the text itself, if it is one, or else as a text in quotes. */
static int value_of_text(const char **text, size_t *bytes, char **made, struct sp_errinfo *err)
{
	struct sp__json_error unused;
	char *end;

	if (!sp__json_find(NULL, *text, *bytes, SP__JSON_CHECK_ALL, NULL, &unused))
		return 0;
	*made = *bytes < SIZE_MAX / 8 ? malloc(SP__JSON_TEXT(*bytes)) : NULL;
	if (!*made)
		return sp__err(err, -ENOMEM, "key", NULL, -1);
	end = sp__json_put_text(*made, *text, *bytes);
	if (!end)
		return sp__errf(err, -EINVAL, "key", NULL, -1,
				"'%.*s' is not a key: texts of JSON are UTF-8",
				*bytes > 64 ? 64 : (int)*bytes, *text);
	*text = *made;
	*bytes = (size_t)(end - *made);
	return 0;
}

int sp__indexkey_of_text(const struct sp__indexkey *k, const char *text, size_t bytes,
			 struct sp__keybuf *buf, struct sp_errinfo *err)
{
	char *field = NULL;
	int rc = 0;

	if (k->key.type >= SP_KEY_BYTES) {
		field = malloc(k->key.length);
		if (!field)
			return sp__err(err, -ENOMEM, "key", NULL, -1);
		if (!field_of_text(&k->key, text, bytes, field))
			rc = sp__errf(err, -EINVAL, "key", NULL, -1,
				      k->key.type == SP_KEY_BYTES
					      ? "'%.*s' is not a key: give %zu bytes, or 0x and "
						"two hexadecimal digits for each"
					      : "'%.*s' is not a key: give a number of %zu bytes",
				      bytes > 64 ? 64 : (int)bytes, text, k->key.length);
		text = field;
		bytes = k->key.length;
	}
	if (k->key.path)
		rc = value_of_text(&text, &bytes, &field, err);
	if (!rc && sp__key_encode(k->texts, text, bytes, buf))
		rc = sp__err(err, -ENOMEM, "key", NULL, -1);
	free(field);
	return rc;
}
