/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <spindle/rec.h>
#include "tap.h"

/* -1 as the separator: runs of blanks. */
static void is(const char *spec, int sep, const char *rec, const char *want)
{
	struct sp_keyset_opts o = { .format = { .kind = SP_REC_LINE, .eol = '\n' },
				    .nkeys = 1,
				    .separator = sep };
	struct sp_keyset *ks = NULL;
	struct sp_key k;
	size_t begin = 0, end = 0;
	char name[3] = { '-', sep < 0 ? '-' : (char)sep };

	o.keys = &k;
	if (sp_key_parse(spec, &k, NULL) || sp_keyset_new(&ks, &o, NULL)) {
		ok(false, "-k %s is understood", spec);
		return;
	}
	sp_keyset_extent(ks, 0, rec, strlen(rec), &begin, &end);
	ok(end >= begin && end - begin == strlen(want) && !memcmp(rec + begin, want, end - begin),
	   "-t%s -k %s of '%s' is '%s'", name + 1, spec, rec, want);
	if (end - begin != strlen(want))
		diag("it is '%.*s'", (int)(end - begin), rec + begin);
	sp_keyset_free(ks);
}

static void separated(void)
{
	is("1", '|', "a|b|c", "a|b|c");
	is("1,1", '|', "a|b|c", "a");
	is("2,2", '|', "a|b|c", "b");
	is("2", '|', "a|b|c", "b|c");
	is("2,3", '|', "a|b|c|d", "b|c");
	is("3,3", '|', "a||c", "c");
	is("2,2", '|', "a||c", "");
	is("2,2", '|', "a|", "");
	is("3,3", '|', "a|b", "");
	is("9,12", '|', "a|b", "");
	is("2,2", '|', "", "");
	is("2.2,2.3", '|', "a|bcdef|g", "cd");
	is("2.2,2", '|', "a|b|g", "");
	is("2.5,2", '|', "a|b|cde", "");
	is("2.3", '|', "a|b|cde", "cde");
	is("1,2.9", '|', "a|b|c", "a|b|c");
	is("3,2", '|', "a|b|c", "");
	is("3,2.3", '|', "a||bcd", "bc");
	is("2,2.0", '|', "a|b|c", "b");
	is("2b,2", '|', "a|  b|c", "b");
	is("2b,2.1", '|', "a|  b|c", "");
	is("2b,2.1b", '|', "a|  b|c", "b");
	is("2b,2", '|', "a|  |c", "");
	is("20,20", '|', "0|1|2|3|4|5|6|7|8|9|a|b|c|d|e|f|g|h|i|jjj|k", "jjj");
	is("2,2", '|', "0123456789012345678901234567890123456789|x|y", "x");
	is("1.18446744073709551615,1", '|', "abc|d", "");
	is("1,1.18446744073709551615", '|', "abc|d", "abc|d");
	is("1,18446744073709551615", '|', "abc|d", "abc|d");
	is("2,2", ' ', "a  b", "");
}

static void blanks(void)
{
	is("1,1", -1, "  a b", "  a");
	is("2,2", -1, "  a \tb  c", " \tb");
	is("2,2", -1, "a\nb c", "\nb");
	is("2b,2", -1, "a   b c", "b");
	is("2", -1, "a b c", " b c");
	is("2.2,2", -1, "a bcd e", "bcd");
	is("2.2b,2.2b", -1, "a   bcd e", "c");
	is("2,2.2", -1, "a bcd e", " b");
	is("3,3", -1, "a b", "");
	is("3,3", -1, "a b  ", "  ");
	is("1,1", -1, "", "");
	is("2,1.4", -1, "a bcd e", " bc");
}

static void understood(void)
{
	is("1n", -1, "  -12.5x", "-12.5");
	is("1n", -1, "x", "");
	is("1n", -1, " 5K", "5");
	is("1h", -1, " 5Ki", "5K");
	is("1g", -1, " -1e3e", "-1e3");
	is("1g", -1, " e", "");
	is("1M", -1, " januar", "jan");
	is("1M", -1, " x", "");
	is("2n,2", '|', "1| 23|4", "23");
}

int main(void)
{
	separated();
	blanks();
	understood();
	return done();
}
