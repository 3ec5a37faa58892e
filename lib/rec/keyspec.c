/* SPDX-License-Identifier: MIT */
/*
 * Parses key specifications of GNU sort: -k POS1[,POS2], +POS1 [-POS2], and the ordering letters.
 *
 * Assumptions: accepted input, and the messages for other input, are a contract.  Leading white
 * space and a plus sign before a number are accepted.  A number too large counts as SIZE_MAX, and
 * is then decremented like any other.
 */
#include <stdio.h>
#include <string.h>
#include "base/err.h"
#include <spindle/rec.h>

/* In the order in which GNU sort names several of them; then Spindle's own. */
static const char letters[] = "bdfghiMnRrVeE";
/* These go with every type. */
static const char any_type[] = "breE";

struct spec {
	const char *text;
	struct sp_errinfo *err;
};

static unsigned bit(char letter)
{
	const char *p = letter ? strchr(letters, letter) : NULL;

	return p ? 1u << (p - letters) : 0;
}

bool sp_key_has_letter(const struct sp_key *key, char letter)
{
	unsigned set = key->letters;

	if (set & bit('d'))
		set &= ~bit('i');
	return set & bit(letter);
}

static enum sp_key_type type_of(const struct sp_key *key)
{
	static const struct {
		char letter;
		enum sp_key_type type;
	} rank[] = {
		{ 'n', SP_KEY_NUMERIC }, { 'g', SP_KEY_GENERAL }, { 'h', SP_KEY_HUMAN },
		{ 'M', SP_KEY_MONTH },	 { 'R', SP_KEY_RANDOM },  { 'V', SP_KEY_VERSION },
	};

	for (size_t i = 0; i < sizeof(rank) / sizeof(rank[0]); i++)
		if (key->letters & bit(rank[i].letter))
			return rank[i].type;
	return SP_KEY_TEXT;
}

bool sp_key_letter(struct sp_key *key, char letter, enum sp_key_end end)
{
	if (!bit(letter))
		return false;
	key->letters |= bit(letter);
	if (letter == 'b') {
		key->skip_start_blanks |= end != SP_KEY_END;
		key->skip_end_blanks |= end != SP_KEY_START;
	}
	key->fold = key->letters & bit('f');
	key->reverse = key->letters & bit('r');
	key->type = type_of(key);
	if (sp_key_has_letter(key, 'd'))
		key->ignore = SP_IGNORE_NONDICT;
	else if (sp_key_has_letter(key, 'i'))
		key->ignore = SP_IGNORE_NONPRINT;
	key->empty = key->letters & bit('E')   ? SP_EMPTY_LAST
		     : key->letters & bit('e') ? SP_EMPTY_FIRST
					       : SP_EMPTY_ORDERED;
	return true;
}

void sp_key_inherit(struct sp_key *key, const struct sp_key *global)
{
	if (key->letters)
		return;
	key->letters = global->letters;
	key->skip_start_blanks = global->skip_start_blanks;
	key->skip_end_blanks = global->skip_end_blanks;
	key->type = global->type;
	key->ignore = global->ignore;
	key->empty = global->empty;
	key->fold = global->fold;
	key->reverse = global->reverse;
}

int sp_key_check(const struct sp_key *key, struct sp_errinfo *err)
{
	static const char *const classes[] = { "n", "g", "h", "M", "VRdi" };
	char given[sizeof(letters)], *p = given;
	int count = 0;

	if (sp_key_has_letter(key, 'e') && sp_key_has_letter(key, 'E'))
		return sp__invalid(err, NULL, "options '-eE' are incompatible");
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		for (const char *c = classes[i]; *c; c++)
			if (sp_key_has_letter(key, *c)) {
				count++;
				break;
			}
	if (count <= 1)
		return 0;
	for (const char *c = letters; *c; c++)
		if (!strchr(any_type, *c) && sp_key_has_letter(key, *c))
			*p++ = *c;
	*p = '\0';
	return sp__invalid(err, NULL, "options '-%s' are incompatible", given);
}

static const char *take_letters(const char *p, struct sp_key *key, enum sp_key_end end)
{
	while (sp_key_letter(key, *p, end))
		p++;
	return p;
}

static bool space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Reads a count; NULL if there is none. */
static const char *take_number(const char *p, size_t *value)
{
	size_t v = 0;
	bool over = false;

	while (space(*p))
		p++;
	if (*p == '+')
		p++;
	if (*p < '0' || *p > '9')
		return NULL;
	for (; *p >= '0' && *p <= '9'; p++)
		over |= __builtin_mul_overflow(v, (size_t)10, &v) ||
			__builtin_add_overflow(v, (size_t)(*p - '0'), &v);
	*value = over ? SIZE_MAX : v;
	return p;
}

static const char *need_number(const struct spec *s, const char *p, size_t *value,
			       const char *place)
{
	const char *rest = take_number(p, value);

	if (!rest)
		sp__invalid(s->err, p, "invalid number %s: invalid count at start of", place);
	return rest;
}

static int bad_spec(const struct spec *s, const char *what)
{
	return sp__invalid(s->err, s->text, "%s: invalid field specification", what);
}

/*
 * Parses the end of a key: POS2, or in the obsolescent form, whose fields count from 0, after a
 * '-'.
 */
static int parse_end(const struct spec *s, const char *p, bool obsolete, struct sp_key *key)
{
	p = need_number(s, p, &key->eword, obsolete ? "after '-'" : "after ','");
	if (!p)
		return -EINVAL;
	if (!obsolete && !key->eword--)
		return bad_spec(s, "field number is zero");
	if (*p == '.') {
		p = need_number(s, p + 1, &key->echar, "after '.'");
		if (!p)
			return -EINVAL;
	}
	/* Without characters, -N ends the key after the last whole field. */
	if (obsolete && !key->echar && key->eword)
		key->eword--;
	p = take_letters(p, key, SP_KEY_END);
	return *p ? bad_spec(s, "stray character in field spec") : 0;
}

int sp_key_parse(const char *text, struct sp_key *key, struct sp_errinfo *err)
{
	const struct spec s = { text, err };
	const char *p;
	int rc = 0;

	*key = (struct sp_key)SP_KEY_INIT;
	p = need_number(&s, text, &key->sword, "at field start");
	if (!p)
		return -EINVAL;
	if (!key->sword--)
		return bad_spec(&s, "field number is zero");
	if (*p == '.') {
		p = need_number(&s, p + 1, &key->schar, "after '.'");
		if (!p)
			return -EINVAL;
		if (!key->schar--)
			return bad_spec(&s, "character offset is zero");
	}
	p = take_letters(p, key, SP_KEY_START);
	if (*p == ',')
		rc = parse_end(&s, p + 1, false, key);
	else if (*p)
		rc = bad_spec(&s, "stray character in field spec");
	return rc;
}

int sp_key_parse_obsolete(const char *plus, const char *minus, struct sp_key *key,
			  struct sp_errinfo *err)
{
	const struct spec s = { minus, err };
	const char *p;
	int rc = 0;

	*key = (struct sp_key)SP_KEY_INIT;
	p = take_number(plus + 1, &key->sword);
	if (p && *p == '.')
		p = take_number(p + 1, &key->schar);
	if (!p || *take_letters(p, key, SP_KEY_START))
		return 1;
	if (minus)
		rc = parse_end(&s, minus + 1, true, key);
	return rc;
}
