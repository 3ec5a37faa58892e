/* SPDX-License-Identifier: MIT */
/*
 * Texts of settings: what each kind of value takes, and how the rest is refused.
 */
#include <string.h>
#include "base/keyval.h"
#include "tap.h"

struct out {
	bool flag, word_flag;
	int word;
	uint32_t small;
	uint64_t number, size, time_ns;
	double real;
	char text[6];
	char set[16];
};

static const struct sp_enum_value colours[] = { { "red", -2 }, { "redder", 3 }, { NULL, 0 } };
static const struct sp_enum_value answers[] = { { "no", 0 }, { "yes", 1 }, { NULL, 0 } };

static bool set(void *out, const char *value)
{
	struct out *o = out;

	snprintf(o->set, sizeof(o->set), "%s", value ? value : "alone");
	return !value || *value != 'x';
}

#define AT(member) SP__KEY_AT(struct out, member)
static const struct sp__setting keys[] = {
	{ .name = "flag", "0 or 1", SP__KEY_FLAG, AT(flag) },
	{ .name = "answer", "yes or no", SP__KEY_WORD, AT(word_flag), .words = answers },
	{ .name = "word", "red or redder", SP__KEY_WORD, AT(word), .words = colours },
	{ .name = "small", "a number from 2 to 9", SP__KEY_NUMBER, AT(small), 2, 9 },
	{ .name = "number", "a number", SP__KEY_NUMBER, AT(number) },
	{ .name = "size", "a size, at most 1M", SP__KEY_SIZE, AT(size), 0, 1 << 20 },
	{ .name = "time", "a time", SP__KEY_NUMBER, AT(time_ns), .units = sp__unit_time },
	{ .name = "share",
	  "a percentage",
	  SP__KEY_REAL,
	  AT(real),
	  0,
	  1000000000,
	  sp__unit_percent },
	{ .name = "text", "at most 5 bytes", SP__KEY_TEXT, AT(text) },
	{ .name = "alone", "anything but x", .set = set, .alone = true },
	{ .name = "set", "anything but x", .set = set },
	{ .name = "list", "anything but x", .set = set, .list = true },
	{ NULL },
};

static struct out out;
static struct sp_errinfo err;

static int parse(const char *text, const char *only)
{
	out = (struct out){ .word = 77 };
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	return sp__keyval_parse(&(struct sp__keytext){ "test", ",/", keys, only }, &out, text,
				&err);
}

static bool takes(const char *text)
{
	return parse(text, NULL) == 0 && !err.code;
}

static bool refused(const char *text, const char *reason)
{
	int rc = parse(text, NULL);

	if (rc == SP_ESYNTAX && err.code == rc && !strcmp(err.text, reason))
		return true;
	diag("%s: %d %s", text, rc, err.text);
	return false;
}

static void kinds(void)
{
	ok(takes("flag") && out.flag && takes("flag=1") && out.flag && takes("flag=0") && !out.flag,
	   "a flag is 0 or 1, alone 1");
	ok(takes("answer=yes") && out.word_flag && takes("word=red") && out.word == -2 &&
		   takes("word=redder") && out.word == 3,
	   "words have their values, whatever the size of the member");
	ok(takes("small=9,number=18446744073709551615/size=64K") && out.small == 9 &&
		   out.number == UINT64_MAX && out.size == 65536,
	   "numbers and sizes, with either separator");
	ok(takes("share=2.5%") && out.real == 0.025 && takes("share=100") && out.real == 1,
	   "shares are real numbers");
	ok(takes("share=33.333333333333336%") && out.real == 0.333333333,
	   "digits of a real number beyond billionths are cut off");
	ok(takes("text=abcde") && !strcmp(out.text, "abcde"), "texts that fit are copied");
	ok(sp__word_among("b", 1, "a, b c") && sp__word_among("c", 1, "a, b c") &&
		   !sp__word_among("b", 1, "ab bc"),
	   "words of a list are found in full");
	ok(takes("alone") && !strcmp(out.set, "alone") && takes("set=a=b") &&
		   !strcmp(out.set, "a=b") && takes("set="),
	   "a key with its own parser gets the whole value");
	ok(takes("list=1/2,3,small=4") && !strcmp(out.set, "1/2,3") && out.small == 4,
	   "a list continues up to the next key");
	ok(takes("small=3,small=4") && out.small == 4, "of two the last one counts");
}

static void times(void)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = { { "time=3", 3000000000 },	{ "time=1.5s", 1500000000 },
		     { "time=0.25ms", 250000 }, { "time=20us", 20000 },
		     { "time=7ns", 7 },		{ "time=2MS", 2000000 },
		     { "time=1.500us", 1500 },	{ "time=0.000000001", 1 } };
	static const char *const bad[] = { "time=",	"time=s",     "time=.5",
					   "time=1.s",	"time=1.5ns", "time=0.0000000001",
					   "time=3min", "time=-1",    "time= 1",
					   "time=1 s",	"time=1.2.3", "time=18446744074",
					   "time=3m",	"time=1e3" };

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		ok(takes(good[i].text) && out.time_ns == good[i].ns, "%s is understood",
		   good[i].text);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(parse(bad[i], NULL) == SP_ESYNTAX && !out.time_ns, "%s is not", bad[i]);
}

static void refusals(void)
{
	char large[SP__KEYVAL_MAX + 8];

	ok(refused("small=1", "test: 'small=1': small is a number from 2 to 9") &&
		   refused("number=1,small=10", "test: 'small=10': small is a number from 2 to 9"),
	   "a value beyond its limits is named with its key and the reason");
	ok(refused("small", "test: 'small': small is a number from 2 to 9") &&
		   refused("set", "test: 'set': set is anything but x"),
	   "so is a key without a value");
	ok(refused("word=re", "test: 'word=re': word is red or redder"),
	   "words are not abbreviated");
	ok(refused("size=10%", "test: 'size=10%': size is a size, at most 1M") &&
		   refused("size=2M", "test: 'size=2M': size is a size, at most 1M"),
	   "a size is not a share of the memory");
	ok(refused("number=18446744073709551616", "test: 'number=18446744073709551616': number is "
						  "a number") &&
		   refused("number=2.5", "test: 'number=2.5': number is a number"),
	   "a number that does not fit, or is not whole");
	ok(refused("share=100.1%", "test: 'share=100.1%': share is a percentage"), "a large share");
	ok(refused("text=abcdef", "test: 'text=abcdef': text is at most 5 bytes") &&
		   refused("text=", "test: 'text=': text is at most 5 bytes") && !*out.text,
	   "a text that does not fit, or is none");
	ok(takes("list=1/x") && refused("list=x/1", "test: 'list=x/1': list is anything but x"),
	   "a list that its parser refuses");
	ok(parse("colour=3", NULL) == SP_ESYNTAX &&
		   strstr(err.text, "test: 'colour=3' is not known; known are flag, answer, word,"),
	   "an unknown key is named with those that are known");
	ok(parse("", NULL) == SP_ESYNTAX && parse("flag,", NULL) == SP_ESYNTAX &&
		   parse("fla", NULL) == SP_ESYNTAX && parse("=1", NULL) == SP_ESYNTAX,
	   "so is an empty setting, and a part of a key");
	ok(parse("small=3", "small size") == 0 && parse("number=3", "small size") == SP_ESYNTAX &&
		   !strcmp(err.text, "test: 'number=3' is not known; known are small, size") &&
		   parse("small=3", "") == SP_ESYNTAX &&
		   !strcmp(err.text, "test: 'small=3' is not known; known are none"),
	   "of a table some keys alone may be known");
	snprintf(large, sizeof(large), "set=%0*d", SP__KEYVAL_MAX - 4, 0);
	ok(parse(large, NULL) == SP_ESYNTAX && strstr(err.text, "set is anything"),
	   "a setting that is too long is refused");
	large[SP__KEYVAL_MAX - 1] = '\0';
	ok(takes(large), "one byte less is not");
}

static void names_are_suggested(void)
{
	ok(!strcmp(sp_enum_nearest(colours, "erd"), "red") &&
		   !strcmp(sp_enum_nearest(colours, "reder"), "redder") &&
		   !strcmp(sp_enum_nearest(answers, "yse"), "yes"),
	   "the nearest name is found");
	ok(!sp_enum_nearest(colours, "blue") && !sp_enum_nearest(answers, "n") &&
		   !sp_enum_nearest(answers, ""),
	   "a name of which a third differs is not suggested");
}

int main(void)
{
	kinds();
	times();
	refusals();
	names_are_suggested();
	return done();
}
