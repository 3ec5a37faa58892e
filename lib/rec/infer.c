/* SPDX-License-Identifier: MIT */
/*
 * Infers the types of keys from a sample, and checks texts against them.
 *
 * A text has a type only if the encoder of the type reads all of it, so that no part of a text is
 * ignored.  A text that is too large or too small for SP_KEY_GENERAL does not have it.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/order.h>
#include "base/err.h"
#include "rec/keyset.h"
#include "rec/recfmt.h"

/* Maximum bytes of a text, and of its column, in a message. */
#define SHOWN_BYTES 40

static const enum sp_key_type candidates[] = { SP_KEY_NUMERIC, SP_KEY_GENERAL, SP_KEY_TIME };
#define CANDIDATES (sizeof(candidates) / sizeof(candidates[0]))

static const char *skip_digits(const char *s, const char *lim, size_t *digits, bool *nonzero)
{
	for (; s < lim && sp__digit(*s); s++) {
		++*digits;
		*nonzero |= *s != '0';
	}
	return s;
}

/* Returns the end of digits with a decimal point, or NULL; *nonzero: their value is not 0. */
static const char *skip_decimal(const struct sp_keyset *ks, const char *s, const char *lim,
				bool *nonzero)
{
	size_t digits = 0;

	*nonzero = false;
	s = skip_digits(s, lim, &digits, nonzero);
	if (s < lim && (unsigned char)*s == ks->numfmt.decimal)
		s = skip_digits(s + 1, lim, &digits, nonzero);
	return digits ? s : NULL;
}

static bool is_sign(char c)
{
	return c == '+' || c == '-';
}

static bool is_decimal(const struct sp_keyset *ks, const char *s, const char *lim)
{
	bool nonzero;

	return skip_decimal(ks, s + (*s == '-'), lim, &nonzero) == lim;
}

static bool is_general(const struct sp_keyset *ks, const char *s, const char *lim)
{
	bool nonzero, unused = false;
	const char *p = skip_decimal(ks, s + is_sign(*s), lim, &nonzero);
	long double value;
	size_t digits = 0;

	if (p && p < lim && (*p == 'e' || *p == 'E')) {
		p++;
		p += p < lim && is_sign(*p);
		p = skip_digits(p, lim, &digits, &unused);
		if (!digits)
			return false;
	}
	return p == lim && sp__general_value(s, (size_t)(lim - s), &value) == (size_t)(lim - s) &&
	       isfinite(value) && (value != 0) == nonzero;
}

/* True if a text that sp__trim() has shortened, and that is not empty, has the type. */
static bool has_type(const struct sp_keyset *ks, enum sp_key_type type, const char *s, size_t n)
{
	int64_t us;

	switch (type) {
	case SP_KEY_NUMERIC:
		return is_decimal(ks, s, s + n);
	case SP_KEY_GENERAL:
		return is_general(ks, s, s + n);
	case SP_KEY_TIME:
		return sp__moment_read(s, n, &us);
	default:
		return false; /* no sample had a text */
	}
}

/* Checking. */

/* Returns true if a valid record is not an object. */
static bool is_no_object(const char *rec, size_t bytes, struct sp__json_error *error)
{
	size_t at = 0;

	while (at < bytes && strchr(" \t\r\n", rec[at]))
		at++;
	*error = (struct sp__json_error){ at, "an object" };
	return rec[at] != '{';
}

/* Returns 1 if a record is not JSON, or not an object where that is required. */
static int find_bad_json(const struct sp_keyset *ks, const char *rec, size_t bytes,
			 const struct sp__keybuf *buf, struct sp__badtext *m)
{
	struct sp__json_value values[SP__JSON_KEYS];
	struct sp__json_error error;

	m->object = false;
	if (!sp__json_values(ks, rec, bytes, buf, values, &error)) {
		if (!ks->pub.format.objects || !is_no_object(rec, bytes, &error))
			return 0;
		m->object = true;
	}
	m->wanted = error.wanted;
	m->at = error.at;
	return 1;
}

/* Returns 1 if a record has a text that is not of its type, 0, or -ENOMEM. */
static int find_bad(const struct sp_keyset *ks, const char *rec, size_t bytes,
		    struct sp__keybuf *buf, struct sp__badtext *m)
{
	m->wanted = NULL;
	if (ks->pub.format.json)
		return find_bad_json(ks, rec, bytes, buf, m);
	for (size_t i = 0; i < ks->nkeys; i++) {
		const struct sp_key *k = &ks->comp[i].key;

		if (!k->checked)
			continue;
		if (sp__key_text(ks, &ks->comp[i], rec, bytes, buf, &m->text, &m->bytes))
			return -ENOMEM;
		m->bytes = sp__trim(&m->text, m->bytes);
		m->column = k->checked;
		m->type = k->type;
		if (m->bytes && !has_type(ks, k->type, m->text, m->bytes))
			return 1;
	}
	return 0;
}

int sp__key_fitting(const struct sp_keyset *ks, const char *data, size_t bytes,
		    struct sp__keybuf *buf, size_t *fitting, struct sp__badtext *bad)
{
	const struct sp_recfmt *f = &ks->pub.format;
	const char *p = data, *end = data + bytes, *next;
	int rc = 0;

	for (; p < end; p = next) {
		next = sp__rec_end(f, p, (size_t)(end - p));
		buf->reach = (size_t)(end - p);
		rc = find_bad(ks, p, (size_t)(next - p) - sp__rec_term(f), buf, bad);
		if (rc)
			break;
	}
	*fitting = (size_t)(p - data);
	return rc < 0 ? rc : 0;
}

/* Makes the beginning of a text printable. */
static const char *shown(const char *s, size_t n, char to[4 * SHOWN_BYTES + 1])
{
	char text[SHOWN_BYTES + 1];

	n = n < SHOWN_BYTES ? n : SHOWN_BYTES;
	memcpy(text, s, n);
	text[n] = '\0';
	sp_printable(to, 4 * SHOWN_BYTES + 1, text, 0);
	return to;
}

void sp__badtext_reason(const struct sp__badtext *m, char reason[SP__BADTEXT_BYTES])
{
	char text[4 * SHOWN_BYTES + 1], column[4 * SHOWN_BYTES + 1];

	if (m->wanted && m->object)
		snprintf(reason, SP__BADTEXT_BYTES,
			 ", byte %zu: not an object, and only objects can be merged; --nested "
			 "takes any value",
			 m->at + 1);
	else if (m->wanted)
		snprintf(reason, SP__BADTEXT_BYTES, ", byte %zu: not JSON: expected %s", m->at + 1,
			 m->wanted);
	else
		snprintf(reason, SP__BADTEXT_BYTES, ": column %s: '%s%s' %s",
			 shown(m->column, strlen(m->column), column),
			 shown(m->text, m->bytes, text), m->bytes > SHOWN_BYTES ? "..." : "",
			 m->type == SP_KEY_NUMERIC   ? "is not a decimal number"
			 : m->type == SP_KEY_GENERAL ? "is not a floating-point number"
			 : m->type == SP_KEY_TIME    ? "is not a date or time"
						     : "comes after samples without values");
}

int sp__badtext_error(const struct sp__badtext *m, const char *input, uint64_t line,
		      struct sp_errinfo *err)
{
	char reason[SP__BADTEXT_BYTES];

	sp__badtext_reason(m, reason);
	sp__errf(err, SP_EFORMAT, m->wanted ? "read" : "check", input, -1, "line %" PRIu64 "%s",
		 line, reason);
	/* Unless another thread has described its error. */
	if (err && err->op && !strcmp(err->op, "check"))
		err->where = m->column;
	return SP_EFORMAT;
}

/* Inferring. */

static bool is_wanted(const struct sp_key *k)
{
	if (k->schar || k->echar || k->eword != k->sword)
		return false;
	for (const char *c = "dfghiMnRV"; *c; c++)
		if (sp_key_has_letter(k, *c))
			return false;
	return true;
}

/*
 * True if a text begins like a date: three groups of digits, or two and a word, with the same byte
 * between them: a slash, or a point or a hyphen if a group is a year.
 */
static bool like_date(const char *s, const char *lim)
{
	const char *group;
	bool year = false;
	char by = '\0';

	for (int i = 0; i < 3; i++) {
		for (group = s; s < lim && sp__digit(*s);)
			s++;
		year |= s - group == 4;
		if (i == 1 && s == group)
			while (s < lim && ((*s | 32) >= 'a' && (*s | 32) <= 'z'))
				s++;
		if (s == group || s - group > (i == 1 ? 9 : 4))
			return false;
		if (i == 2)
			break;
		if (s == lim || (by ? *s != by : !strchr("/.-", *s)))
			return false;
		by = *s++;
	}
	return (year || by == '/') && (s == lim || *s == ' ' || *s == 'T');
}

/* Excludes the types that a text does not have. */
static void narrow(struct sp_order_key *k, const struct sp_keyset *ks, const char *s, size_t n)
{
	n = sp__trim(&s, n);
	if (!n)
		return;
	k->valued = true;
	for (unsigned i = 0; i < CANDIDATES; i++)
		if (!(k->excluded & 1u << i) && !has_type(ks, candidates[i], s, n))
			k->excluded |= 1u << i;
	k->no_date = k->no_date || !like_date(s, s + n);
}

static int read_sample(struct sp_order *order, const struct sp_keyset *ks,
		       const struct sp_columns *columns, uint64_t *records)
{
	const struct sp_recfmt *f = &ks->pub.format;
	const char *p = columns->sample, *end = p + columns->sample_bytes, *next, *s;
	struct sp__keybuf buf = { 0 };
	size_t n;
	int rc = 0;

	for (; !rc && p < end; p = next, ++*records) {
		next = sp__rec_end(f, p, (size_t)(end - p));
		for (size_t i = 0; !rc && i < ks->nkeys; i++) {
			if (!order->keys[i].inferred)
				continue;
			rc = sp__key_text(ks, &ks->comp[i], p, (size_t)(next - p) - sp__rec_term(f),
					  &buf, &s, &n);
			if (!rc)
				narrow(&order->keys[i], ks, s, n);
		}
	}
	sp__keybuf_release(&buf);
	return rc;
}

static void choose(struct sp_order_key *key, const struct sp_columns *columns)
{
	size_t i = 0;

	while (i < CANDIDATES && key->excluded & 1u << i)
		i++;
	key->other_dates = key->valued && i == CANDIDATES && !key->no_date;
	if (i == CANDIDATES)
		return;
	key->spec.checked = columns->names[key->spec.sword];
	if (!key->valued)
		return;
	key->spec.type = candidates[i];
	if (candidates[i] != SP_KEY_TIME)
		sp_key_letter(&key->spec, candidates[i] == SP_KEY_NUMERIC ? 'n' : 'g', SP_KEY_BOTH);
}

/* Prepares a key for a first or further sample. */
static void begin(struct sp_order_key *key, const struct sp_columns *columns)
{
	if (key->inferred) {
		key->spec = key->given;
		return;
	}
	key->inferred = key->spec.sword < columns->n && is_wanted(&key->spec);
	key->given = key->spec;
}

int sp_order_infer(struct sp_order *order, const struct sp_columns *columns, uint64_t *records,
		   struct sp_errinfo *err)
{
	struct sp_keyset *ks = NULL;
	int rc;

	*records = 0;
	for (size_t i = 0; i < order->nkeys; i++)
		begin(&order->keys[i], columns);
	rc = sp_order_keyset(&ks, order, NULL, err);
	if (!rc && order->nkeys && read_sample(order, ks, columns, records))
		rc = sp__err(err, -ENOMEM, "allocate", NULL, -1);
	for (size_t i = 0; !rc && i < order->nkeys; i++)
		if (order->keys[i].inferred)
			choose(&order->keys[i], columns);
	sp_keyset_free(ks);
	return rc;
}
