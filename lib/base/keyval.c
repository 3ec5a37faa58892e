/* SPDX-License-Identifier: MIT */
/*
 * Parses sizes, shares of the memory, and settings KEY=VALUE by a table of keys.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <spindle/enum.h>
#include <spindle/size.h>
#include "base/edits.h"
#include "base/err.h"
#include "base/keyval.h"

static int percent_of_memory(uint64_t percent, uint64_t *bytes)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	unsigned __int128 v;

	if (pages <= 0 || page <= 0)
		return -EINVAL;
	v = (unsigned __int128)pages * (uint64_t)page * percent / 100;
	if (v > UINT64_MAX)
		return -ERANGE;
	*bytes = (uint64_t)v;
	return 0;
}

static int power_of(char suffix)
{
	static const char letters[] = "KMGTPEZYRQ", small[] = "kmgt";
	const char *p;

	p = suffix ? strchr(small, suffix) : NULL;
	if (p)
		return (int)(p - small) + 1;
	p = suffix ? strchr(letters, suffix) : NULL;
	return p ? (int)(p - letters) + 1 : -1;
}

int sp_size_parse(const char *text, uint64_t default_unit, uint64_t *bytes)
{
	uint64_t v = 0;
	bool over = false;
	const char *p = text;
	int power;

	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (; isdigit((unsigned char)*p); p++)
		over |= __builtin_mul_overflow(v, 10, &v) ||
			__builtin_add_overflow(v, (uint64_t)(*p - '0'), &v);
	if (p[0] && p[1])
		return -EINVAL;
	if (*p == '%')
		return over ? -ERANGE : percent_of_memory(v, bytes);
	if (!*p) {
		over |= __builtin_mul_overflow(v, default_unit, &v);
	} else if (*p != 'b') {
		power = power_of(*p);
		if (power < 0)
			return -EINVAL;
		for (; power > 0; power--)
			over |= __builtin_mul_overflow(v, 1024, &v);
	}
	if (over)
		return -ERANGE;
	*bytes = v;
	return 0;
}

#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ%"

const struct sp__unit sp__unit_none[] = { { "", 1 }, { NULL, 0 } };
const struct sp__unit sp__unit_time[] = { { "", 1000000000 }, { "s", 1000000000 },
					  { "ms", 1000000 },  { "us", 1000 },
					  { "ns", 1 },	      { NULL, 0 } };
const struct sp__unit sp__unit_real[] = { { "", 1000000000 }, { NULL, 0 } };
const struct sp__unit sp__unit_percent[] = { { "", 10000000 }, { "%", 10000000 }, { NULL, 0 } };

bool sp__number_take(const char **text, const struct sp__unit *units, uint64_t *n)
{
	const char *p, *point = *text + strspn(*text, DIGITS);
	const char *unit = *point == '.' ? point + 1 + strspn(point + 1, DIGITS) : point;
	size_t len = strspn(unit, LETTERS);
	bool rough = units == sp__unit_real || units == sp__unit_percent;
	uint64_t v = 0, scale;

	if (point == *text || unit == point + 1)
		return false;
	while (units->name && (strncasecmp(units->name, unit, len) || units->name[len]))
		units++;
	scale = units->scale;
	if (!scale)
		return false;
	for (p = *text; p < point; p++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return false;
	if (__builtin_mul_overflow(v, scale, &v))
		return false;
	while (++p < unit) {
		scale = scale % 10 ? 0 : scale / 10;
		if ((!scale && *p != '0' && !rough) ||
		    __builtin_add_overflow(v, scale * (uint64_t)(*p - '0'), &v))
			return false;
	}
	*text = unit + len;
	*n = v;
	return true;
}

bool sp__number_parse(const char *text, const struct sp__unit *units, uint64_t min, uint64_t max,
		      uint64_t *n)
{
	uint64_t v;

	if (!sp__number_take(&text, units, &v) || *text || v < min || v > max)
		return false;
	*n = v;
	return true;
}

bool sp__word_take(const char **text, const char *end, const struct sp_enum_value *words,
		   int *value)
{
	size_t len = strcspn(*text, end);

	while (words->name && (strncmp(words->name, *text, len) || words->name[len]))
		words++;
	if (!words->name)
		return false;
	*text += len;
	*value = words->value;
	return true;
}

/* Parses the value as an integer. */
static bool integer(const struct sp__setting *k, const char *value, uint64_t *n)
{
	uint64_t max = k->max ? k->max : UINT64_MAX;
	int word;

	switch (k->kind) {
	case SP__KEY_FLAG:
		return sp__number_parse(value, sp__unit_none, 0, 1, n);
	case SP__KEY_SIZE:
		/* A share of this computer's memory differs between computers, so it is refused. */
		return !strchr(value, '%') && !sp_size_parse(value, 1, n) && *n >= k->min &&
		       *n <= max;
	case SP__KEY_WORD:
		if (!sp__word_take(&value, "", k->words, &word))
			return false;
		*n = (uint64_t)word;
		return true;
	default:
		return sp__number_parse(value, k->units ? k->units : sp__unit_none, k->min, max, n);
	}
}

bool sp__keyval_set(const struct sp__setting *k, void *out, const char *value)
{
	void *at = (char *)out + k->at;
	uint64_t n;

	if (!value && k->kind == SP__KEY_FLAG)
		value = "1";
	if (!value && !k->alone)
		return false;
	if (k->set)
		return k->set(out, value);
	if (k->kind == SP__KEY_TEXT)
		return *value && strlen(value) < k->bytes && strcpy(at, value);
	if (!integer(k, value, &n))
		return false;
	if (k->kind == SP__KEY_REAL)
		*(double *)at = (double)n / 1e9;
	else if (k->bytes == sizeof(bool))
		*(bool *)at = n;
	else if (k->bytes == sizeof(uint32_t))
		*(uint32_t *)at = (uint32_t)n;
	else
		*(uint64_t *)at = n;
	return true;
}

bool sp__word_among(const char *word, size_t len, const char *list)
{
	for (size_t n; *list; list += n + strspn(list + n, ", ")) {
		n = strcspn(list, ", ");
		if (n == len && !memcmp(list, word, n))
			return true;
	}
	return false;
}

static bool is_known(const struct sp__keytext *t, const char *name)
{
	return !t->only || sp__word_among(name, strlen(name), t->only);
}

const struct sp__setting *sp__keyval_find(const struct sp__keytext *t, const char *name, size_t len)
{
	for (const struct sp__setting *k = t->keys; k->name; k++)
		if (strlen(k->name) == len && !memcmp(k->name, name, len) && is_known(t, k->name))
			return k;
	return NULL;
}

static int unknown(const struct sp__keytext *t, const char *setting, int len,
		   struct sp_errinfo *err)
{
	char known[160] = "none";
	size_t n = 0;

	for (const struct sp__setting *k = t->keys; k->name; k++)
		if (is_known(t, k->name) && n < sizeof(known))
			n += (size_t)snprintf(known + n, sizeof(known) - n, "%s%s", n ? ", " : "",
					      k->name);
	return sp__errf(err, SP_ESYNTAX, "parse", "", -1, "%s: '%.*s' is not known; known are %s",
			t->subject, len, setting, known);
}

/* Returns the length of the setting that text begins with. */
static size_t setting_bytes(const struct sp__keytext *t, const struct sp__setting *k,
			    const char *text)
{
	size_t n = strcspn(text, t->separators), next;

	for (; k && k->list && text[n]; n += 1 + next) {
		next = strcspn(text + n + 1, t->separators);
		if (memchr(text + n + 1, '=', next))
			break;
	}
	return n;
}

int sp__keyval_parse(const struct sp__keytext *t, void *out, const char *text,
		     struct sp_errinfo *err)
{
	char setting[SP__KEYVAL_MAX], *value;
	const struct sp__setting *k;
	size_t n;
	int shown;

	for (;; text += n + 1) {
		n = setting_bytes(t, NULL, text);
		value = memchr(text, '=', n);
		k = sp__keyval_find(t, text, value ? (size_t)(value - text) : n);
		n = setting_bytes(t, k, text);
		shown = n < 40 ? (int)n : 40;
		if (!k)
			return unknown(t, text, shown, err);
		snprintf(setting, sizeof(setting), "%.*s", (int)n, text);
		if (n >= sizeof(setting) ||
		    !sp__keyval_set(k, out, value ? setting + (value - text) + 1 : NULL))
			return sp__errf(err, SP_ESYNTAX, "parse", "", -1, "%s: '%.*s': %s is %s",
					t->subject, shown, text, k->name, k->form);
		if (!text[n])
			return 0;
	}
}
