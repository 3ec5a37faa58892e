/* SPDX-License-Identifier: MIT */
/*
 * Reports the order in effect for --debug, and warns about questionable keys.  Messages and
 * conditions are GNU sort's.
 */
#include <ctype.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include "xsort.h"

#define NO_CHAR (CHAR_MAX + 1)

/* The number format of the locale, limited to single bytes. */
struct number_locale {
	int decimal, group; /* group: NO_CHAR if missing */
	bool group_ignored; /* the separator has more than one byte */
};

/* Findings over all keys. */
struct findings {
	bool basic, general;	       /* keys with -n or -h; with -g */
	bool basic_span, general_span; /* such keys that span several fields */
};

static struct number_locale number_locale(void)
{
	const struct lconv *l = localeconv();
	struct number_locale n = { '.', NO_CHAR, false };

	if (l->decimal_point[0] && !l->decimal_point[1])
		n.decimal = (unsigned char)l->decimal_point[0];
	if (l->thousands_sep[0] && !l->thousands_sep[1])
		n.group = (unsigned char)l->thousands_sep[0];
	n.group_ignored = l->thousands_sep[0] && l->thousands_sep[1];
	return n;
}

static const char *quote_byte(int c)
{
	const char text[] = { (char)c, '\0' };

	return quote(text);
}

static void collation(void)
{
	const char *name = setlocale(LC_COLLATE, "");

	if (!name)
		msg("failed to set locale");
	name = setlocale(LC_COLLATE, NULL);
	if (name && strcmp(name, "C") && strcmp(name, "POSIX"))
		msg("text ordering performed using %s sorting rules", quote(name));
	else
		msg("text ordering performed using simple byte comparison");
}

static void obsolescent_key(const struct sp_key *pos)
{
	char old[64], new[64], old_end[32] = "", new_end[32] = "";

	if (pos->eword != SP_KEY_NOEND) {
		snprintf(old_end, sizeof(old_end), " -%zu", pos->eword + 1);
		snprintf(new_end, sizeof(new_end), ",%zu",
			 pos->eword + 1 + (pos->echar == SIZE_MAX));
	}
	snprintf(old, sizeof(old), "+%zu%s", pos->sword, old_end);
	snprintf(new, sizeof(new), "-k %zu%s", pos->sword + 1, new_end);
	msg("obsolescent key %s used; consider %s instead", quote(old), quote(new));
}

static bool is_number(const struct sp_key *k)
{
	return k->type == SP_KEY_NUMERIC || k->type == SP_KEY_GENERAL || k->type == SP_KEY_HUMAN;
}

static void leading_blanks(const struct settings *set, const struct sp_key *k, size_t number)
{
	bool within_line = k->eword == 0 && k->echar != 0;
	bool skips = is_number(k) || k->type == SP_KEY_MONTH;

	if (set->order.global_only || set->order.separator != -1 || within_line)
		return;
	if ((!k->skip_start_blanks && (!skips || k->schar)) || (!k->skip_end_blanks && k->echar))
		msg("leading blanks are significant in key %zu; consider also specifying 'b'",
		    number);
}

static void numeric_span(const struct settings *set, const struct sp_key *k, size_t number,
			 struct findings *f)
{
	bool general = k->type == SP_KEY_GENERAL;

	if (!is_number(k))
		return;
	f->general |= general;
	f->basic |= !general;
	if (set->order.global_only || (k->eword != SP_KEY_NOEND && k->sword >= k->eword))
		return;
	msg("key %zu is numeric and spans multiple fields", number);
	f->general_span |= general;
	f->basic_span |= !general;
}

static void one_key(const struct settings *set, size_t i, struct findings *f)
{
	const struct sp_key *k = &set->order.keys[i].spec;

	if (set->order.keys[i].obsolescent)
		obsolescent_key(k);
	if ((k->sword || k->schar) && k->eword < k->sword)
		msg("key %zu has zero width and will be ignored", i + 1);
	else
		leading_blanks(set, k, i + 1);
	numeric_span(set, k, i + 1, f);
}

/* Warns if the separator is also part of numbers.  True: the warning named the decimal point. */
static bool separators(int tab, const struct number_locale *l, const struct findings *f)
{
	bool named = false;

	if (f->basic_span &&
	    (tab == -1 ? l->group != NO_CHAR && isblank(l->group) : tab == l->group)) {
		msg("field separator %s is treated as a group separator in numbers",
		    quote_byte(l->group));
		named = true;
	}
	if (!f->basic_span && !f->general_span)
		return named;
	if (tab == -1 ? l->group != NO_CHAR && isblank(l->decimal) : tab == l->decimal) {
		msg("field separator %s is treated as a decimal point in numbers",
		    quote_byte(l->decimal));
		named = true;
	} else if (tab == '-') {
		msg("field separator %s is treated as a minus sign in numbers", quote_byte(tab));
	} else if (f->general_span && tab == '+') {
		msg("field separator %s is treated as a plus sign in numbers", quote_byte(tab));
	}
	return named;
}

/* True if b has no effect: it applies to both ends, but a key can use it at its start only. */
static bool blanks_unused(const struct settings *set)
{
	bool start = set->order.global.skip_start_blanks, end = set->order.global.skip_end_blanks;

	for (size_t i = 0; i < set->order.nkeys; i++) {
		start &= !set->order.keys[i].spec.skip_start_blanks;
		end &= !set->order.keys[i].spec.skip_end_blanks;
	}
	return start || end;
}

/* True if no key inherits the global letter. */
static bool letter_unused(const struct settings *set, char letter)
{
	bool unused = sp_key_has_letter(&set->order.global, letter);

	for (size_t i = 0; i < set->order.nkeys; i++)
		unused &= !sp_key_has_letter(&set->order.keys[i].spec, letter);
	return unused;
}

static void unused_letters(const struct settings *set)
{
	bool no_last_resort = set->order.stable || set->order.unique;
	bool reverse = set->order.nkeys && letter_unused(set, 'r');
	char letters[sizeof(ORDER_LETTERS)];
	size_t n = 0;

	for (const char *c = ORDER_LETTERS; *c; c++)
		if (*c == 'r'	? reverse && no_last_resort
		    : *c == 'b' ? blanks_unused(set)
				: letter_unused(set, *c))
			letters[n++] = *c;
	letters[n] = '\0';
	if (n)
		msg(n > 1 ? "options '-%s' are ignored" : "option '-%s' is ignored", letters);
	if (reverse && !no_last_resort)
		msg("option '-r' only applies to last-resort comparison");
}

void warn_about_keys(const struct settings *set)
{
	struct number_locale l = number_locale();
	struct findings f = { 0 };
	bool named;

	if (!set->debug)
		return;
	if (set->check || set->output) {
		char letters[] = { set->check ? set->check : 'o', '\0' };

		die("options '-%s --debug' are incompatible", letters);
	}
	collation();
	for (size_t i = 0; i < set->order.nkeys; i++)
		one_key(set, i, &f);
	named = separators(set->order.separator, &l, &f);
	if ((f.basic || f.general) && !named)
		msg("numbers use %s as a decimal point in this locale", quote_byte(l.decimal));
	if (f.basic && l.group_ignored)
		msg("the multi-byte number group separator in this locale is not supported");
	unused_letters(set);
}
