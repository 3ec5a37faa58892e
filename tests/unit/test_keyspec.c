/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/rec.h>
#include "tap.h"

static bool same(const struct sp_key *k, size_t sword, size_t schar, size_t eword, size_t echar)
{
	return k->sword == sword && k->schar == schar && k->eword == eword && k->echar == echar;
}

static void good(const char *text, size_t sword, size_t schar, size_t eword, size_t echar)
{
	struct sp_key k;

	ok(sp_key_parse(text, &k, NULL) == 0 && same(&k, sword, schar, eword, echar),
	   "-k %s is from %zu.%zu to %zu.%zu", text, sword, schar, eword, echar);
}

static void bad(const char *text, const char *want, const char *want_where)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_key k;
	int rc = sp_key_parse(text, &k, &err);

	ok(rc == -EINVAL && !strcmp(err.text, want) && !strcmp(err.where, want_where),
	   "-k '%s' is refused: %s ‘%s’", text, want, want_where);
	if (strcmp(err.text, want) || strcmp(err.where, want_where))
		diag("%s ‘%s’", err.text, err.where);
}

static void obsolete(const char *plus, const char *minus, int want, size_t sword, size_t schar,
		     size_t eword, size_t echar)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_key k;
	int rc = sp_key_parse_obsolete(plus, minus, &k, &err);

	ok(rc == want && (rc || same(&k, sword, schar, eword, echar)),
	   "%s %s is from %zu.%zu to %zu.%zu (%d)", plus, minus ? minus : "", sword, schar, eword,
	   echar, want);
}

static void positions(void)
{
	good("1", 0, 0, SP_KEY_NOEND, 0);
	good("2,3", 1, 0, 2, 0);
	good("2.3,4.5", 1, 2, 3, 5);
	good("1,1.0", 0, 0, 0, 0);
	good("2nr,2", 1, 0, 1, 0);
	good("2,2nr", 1, 0, 1, 0);
	good(" +2.+3, 4", 1, 2, 3, 0);
	good("18446744073709551615", SIZE_MAX - 1, 0, SP_KEY_NOEND, 0);
	good("99999999999999999999999.99999999999999999999999", SIZE_MAX - 1, SIZE_MAX - 1,
	     SP_KEY_NOEND, 0);
	good("1,99999999999999999999999.99999999999999999999999", 0, 0, SIZE_MAX - 1, SIZE_MAX);
	obsolete("+1", NULL, 0, 1, 0, SP_KEY_NOEND, 0);
	obsolete("+1.2", "-3.4", 0, 1, 2, 3, 4);
	obsolete("+1", "-3", 0, 1, 0, 2, 0);
	obsolete("+0", "-0", 0, 0, 0, 0, 0);
	obsolete("+1nr", "-2b", 0, 1, 0, 1, 0);
	obsolete("+", NULL, 1, 0, 0, 0, 0);
	obsolete("+x", NULL, 1, 0, 0, 0, 0);
	obsolete("+1x", NULL, 1, 0, 0, 0, 0);
	obsolete("+1.", NULL, 1, 0, 0, 0, 0);
	obsolete("+1", "-2x", -EINVAL, 0, 0, 0, 0);
	obsolete("+1", "-2.", -EINVAL, 0, 0, 0, 0);
}

static void refusals(void)
{
	static const char field[] = ": invalid field specification";
	static const char count[] = ": invalid count at start of";
	char text[200];

#define BAD(spec, what, kind, where)                                                               \
	(snprintf(text, sizeof(text), "%s%s", what, kind), bad(spec, text, where))
	BAD("0", "field number is zero", field, "0");
	BAD("1,0", "field number is zero", field, "1,0");
	BAD("1.0", "character offset is zero", field, "1.0");
	BAD("", "invalid number at field start", count, "");
	BAD("x", "invalid number at field start", count, "x");
	BAD("-1", "invalid number at field start", count, "-1");
	BAD("n", "invalid number at field start", count, "n");
	BAD("1.", "invalid number after '.'", count, "");
	BAD("1.x", "invalid number after '.'", count, "x");
	BAD("1,", "invalid number after ','", count, "");
	BAD("1,x", "invalid number after ','", count, "x");
	BAD("1,1.x", "invalid number after '.'", count, "x");
	BAD("1z", "stray character in field spec", field, "1z");
	BAD("1,2z", "stray character in field spec", field, "1,2z");
	BAD("1,2,3", "stray character in field spec", field, "1,2,3");
	BAD("1nx", "stray character in field spec", field, "1nx");
#undef BAD
}

static void letters(void)
{
	struct sp_key k, global = SP_KEY_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc;

	rc = sp_key_parse("1b,2", &k, NULL);
	ok(!rc && k.skip_start_blanks && !k.skip_end_blanks && k.letters,
	   "b after the first position belongs to it");
	rc = sp_key_parse("1,2b", &k, NULL);
	ok(!rc && !k.skip_start_blanks && k.skip_end_blanks && k.letters,
	   "b after the second position belongs to that");
	rc = sp_key_parse("1fid,2r", &k, NULL);
	ok(!rc && k.fold && k.reverse && k.ignore == SP_IGNORE_NONDICT && k.type == SP_KEY_TEXT,
	   "other letters belong to the key, and d is more than i");
	rc = sp_key_parse("1VR", &k, NULL);
	ok(!rc && k.type == SP_KEY_RANDOM && !sp_key_check(&k, NULL), "V and R together are R");
	rc = sp_key_parse("3,3", &k, NULL);
	ok(!rc && !k.letters, "a key can be without letters");
	sp_key_letter(&global, 'n', SP_KEY_BOTH);
	sp_key_letter(&global, 'b', SP_KEY_BOTH);
	sp_key_inherit(&k, &global);
	ok(k.type == SP_KEY_NUMERIC && k.skip_start_blanks && k.skip_end_blanks && k.sword == 2,
	   "a key without letters takes the global ones");
	rc = sp_key_parse("1r", &k, NULL);
	sp_key_inherit(&k, &global);
	ok(!rc && k.type == SP_KEY_TEXT, "a key with a letter takes none");
	ok(!sp_key_letter(&k, 'x', SP_KEY_BOTH) && !sp_key_letter(&k, '\0', SP_KEY_BOTH),
	   "x is not an ordering letter");
	rc = sp_key_parse("2bgrfn", &k, NULL);
	ok(!rc && sp_key_check(&k, &err) == -EINVAL &&
		   !strcmp(err.text, "options '-fgn' are incompatible"),
	   "g and n are incompatible, in GNU's words");
	err.code = 0;
	rc = sp_key_parse("2dM", &k, NULL);
	ok(!rc && sp_key_check(&k, &err) == -EINVAL &&
		   !strcmp(err.text, "options '-dM' are incompatible"),
	   "d and M are incompatible");
	rc = sp_key_parse("2dfV", &k, NULL);
	ok(!rc && !sp_key_check(&k, NULL), "d, f and V go together");
}

int main(void)
{
	positions();
	refusals();
	letters();
	return done();
}
