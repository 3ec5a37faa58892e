/* SPDX-License-Identifier: MIT */
/*
 * Collation against strcoll() of the C library, in the locales that
 * scripts/build-locales makes; SP_TEST_SEED gives other random texts.
 */
#include <dirent.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "rec/collate_table.h"
#include "tap.h"

#define PAIRS 100000
#define TEXT_MAX 64

struct coded {
	char text[TEXT_MAX];
	struct sp__keybuf key;
};

static int sign(int v)
{
	return (v > 0) - (v < 0);
}

static int compare_keys(const void *pa, const void *pb)
{
	const struct sp__keybuf *a = &((const struct coded *)pa)->key;
	const struct sp__keybuf *b = &((const struct coded *)pb)->key;
	int diff = memcmp(a->data, b->data, a->bytes < b->bytes ? a->bytes : b->bytes);

	return sign(diff ? diff : (a->bytes > b->bytes) - (a->bytes < b->bytes));
}

/* False if the text has no encoding. */
static bool encode(const struct sp__collate_table *c, struct coded *t)
{
	t->key.bytes = 0;
	return sp__collate_encode_by(c, t->text, strlen(t->text), &t->key) == 0;
}

/* Different encodings must not be prefixes of each other. */
static bool delimits(const struct coded *a, const struct coded *b)
{
	size_t n = a->key.bytes < b->key.bytes ? a->key.bytes : b->key.bytes;

	return memcmp(a->key.data, b->key.data, n) != 0 || a->key.bytes == b->key.bytes;
}

/* Words, capitals, digits; some with punctuation; some with accents. */
static const char *const alphabets[] = {
	"abcdefghijklmnopqrstuvwxyz",
	"aabbcCHhsSzZdDeEyYnNlLgGtT",
	"abcXYZ0123456789",
	"aAbB' -.,chCH",
	"ab -_;:!?/()[]@$#&%*+<>=^~|`\"\\{}01",
};

/* Takes characters from the alphabet, or from all of the table. */
static void put_any(const struct sp__collate_table *c, struct sp__rng *rng, size_t kind, char *to)
{
	unsigned code;

	if (kind < sizeof(alphabets) / sizeof(*alphabets)) {
		snprintf(to, 4, "%c", alphabets[kind][sp__rng_below(rng, strlen(alphabets[kind]))]);
		return;
	}
	code = (unsigned)sp__rng_below(rng, 4) ? 'a' + (unsigned)sp__rng_below(rng, 26)
					       : 0xA0 + (unsigned)sp__rng_below(rng, 0xE0);
	if (code < 0x80)
		snprintf(to, 4, "%c", code);
	else if (c->utf8)
		snprintf(to, 4, "%c%c", 0xC0 | code >> 6, 0x80 | (code & 63));
	else
		snprintf(to, 4, "%c", code & 255);
}

static void random_text(const struct sp__collate_table *c, struct sp__rng *rng, size_t kind,
			char *text)
{
	size_t n = sp__rng_below(rng, 13);

	for (text[0] = '\0'; n; n--)
		put_any(c, rng, kind, text + strlen(text));
}

/* A text much like another: the start shared, a capital, a character more. */
static void similar_text(const struct sp__collate_table *c, struct sp__rng *rng, size_t kind,
			 const char *like, char *text)
{
	size_t n = strlen(like), at = sp__rng_below(rng, n + 1);
	char any[4] = "";

	/* Characters are not cut: only ASCII ones are compared. */
	while (at > 0 && at < n && like[at] < 0)
		at--;
	if (at < n && like[at] < 0)
		at = n;
	put_any(c, rng, kind, any);
	switch (sp__rng_below(rng, 4)) {
	case 0:
		snprintf(text, TEXT_MAX, "%.*s%s%s", (int)at, like, any, like + at);
		break;
	case 1:
		snprintf(text, TEXT_MAX, "%.*s%s", (int)at, like, at < n ? like + at + 1 : "");
		break;
	case 2:
		snprintf(text, TEXT_MAX, "%s", like);
		if (at < n && like[at] >= 'A' && (like[at] | 32) >= 'a' && (like[at] | 32) <= 'z')
			text[at] ^= 32;
		break;
	default:
		snprintf(text, TEXT_MAX, "%.*s", (int)at, like);
		random_text(c, rng, kind, text + at);
	}
}

static void random_pairs(const struct sp__collate_table *c, const char *name, size_t kind,
			 uint64_t seed)
{
	struct sp__rng rng = { seed + kind };
	struct coded a = { 0 }, b = { 0 };
	unsigned both = 0, wrong = 0;

	for (int i = 0; i < PAIRS / 5; i++) {
		random_text(c, &rng, kind, a.text);
		if (sp__rng_below(&rng, 8))
			similar_text(c, &rng, kind, a.text, b.text);
		else
			random_text(c, &rng, kind, b.text);
		if (!encode(c, &a) || !encode(c, &b))
			continue;
		both++;
		if (compare_keys(&a, &b) == sign(strcoll(a.text, b.text)) && delimits(&a, &b))
			continue;
		if (!wrong++)
			diag("'%s' against '%s': strcoll says %d", a.text, b.text,
			     strcoll(a.text, b.text));
	}
	ok(!wrong, "%s: random texts of kind %zu order as strcoll() orders them", name, kind);
	/* Marks next to digits or currency signs are refused: kind 4 has few. */
	if (kind < 4)
		ok(both > PAIRS / 5 / 3, "%s: most texts of kind %zu are encoded (%u of %d)", name,
		   kind, both, PAIRS / 5);
	free(a.key.data);
	free(b.key.data);
}

/* Puts something that is in no table anywhere into a text, or not. */
static void put_foreign(struct sp__rng *rng, char *text)
{
	static const char *const foreign[] = { "\xcc\x81",     "\xe0\xb8\x81", "\xff", "\x01",
					       "\xe6\x97\xa5", "\xe0\xb9\x80", "\xc3", "" };
	const char *what = foreign[sp__rng_below(rng, sizeof(foreign) / sizeof(*foreign))];
	size_t n = strlen(text), at = sp__rng_below(rng, n + 1), bytes = strlen(what);

	if (n + bytes >= TEXT_MAX)
		return;
	memmove(text + at + bytes, text + at, n - at + 1);
	memcpy(text + at, what, bytes);
}

/* Orders that letters decide, with any other characters in the texts. */
static void decided_by_letters(const struct sp__collate_table *c, const char *name, size_t kind,
			       uint64_t seed)
{
	struct sp__rng rng = { seed + kind };
	char a[TEXT_MAX], b[TEXT_MAX];
	unsigned decided = 0, wrong = 0;

	for (int i = 0; i < PAIRS / 5; i++) {
		int order;

		random_text(c, &rng, kind, a);
		similar_text(c, &rng, kind, a, b);
		put_foreign(&rng, a);
		put_foreign(&rng, b);
		order = sp__collate_order_letters(c, a, strlen(a), b, strlen(b));
		decided += order != 0;
		if (order && sign(order) != sign(strcoll(a, b)) && !wrong++)
			diag("'%s' against '%s': strcoll says %d", a, b, strcoll(a, b));
	}
	ok(!wrong && decided > PAIRS / 5 / 200,
	   "%s: letters decide as strcoll() does, before what is not text (%u of %d, kind %zu)",
	   name, decided, PAIRS / 5, kind);
}

/* Every text of two encodable characters. */
static void two_characters(const struct sp__collate_table *c, const char *name)
{
	char chars[SP__COLLATE_SYMS][4];
	struct coded *all;
	struct sp__keybuf key = { 0 };
	size_t n = 0, count = 0, wrong = 0;

	for (unsigned code = 1; code < 0x180; code++) {
		char *to = chars[n];

		if (code >= 0x100 && !c->utf8)
			break;
		if (code < 0x80 || !c->utf8)
			snprintf(to, 4, "%c", code);
		else
			snprintf(to, 4, "%c%c", 0xC0 | code >> 6, 0x80 | (code & 63));
		n += sp__collate_encode_by(c, to, strlen(to), &key) == 0;
	}
	free(key.data);
	all = calloc(n * n, sizeof(*all));
	for (size_t i = 0; all && i < n * n; i++) {
		snprintf(all[count].text, TEXT_MAX, "%s%s", chars[i / n], chars[i % n]);
		count += encode(c, &all[count]);
	}
	if (count)
		qsort(all, count, sizeof(*all), compare_keys);
	for (size_t i = 1; i < count; i++)
		wrong += strcoll(all[i - 1].text, all[i].text) >= 0;
	ok(count > n && !wrong, "%s: all %zu texts of two of %zu characters are in order", name,
	   count, n);
	for (size_t i = 0; all && i < n * n; i++)
		free(all[i].key.data);
	free(all);
}

/* Nothing is encoded until it pays; then the table, or nothing, for good. */
static void beginning(const char *name, bool table)
{
	struct sp__collate *c, *reported;
	struct sp__keybuf key = { 0 };
	size_t before = 0;

	if (!ok(!sp__collate_new(&c) && !sp__collate_new(&reported), "%s: two encoders", name))
		return;
	while (before < 1000000 && sp__collate_encode(c, "word", 4, &key) == 1)
		before++;
	ok(before > 1000 && (before == 1000000) == !table,
	   "%s: encoding begins after some text, if at all", name);
	sp__collate_expect(reported, 1 << 20);
	ok(sp__collate_encode(reported, "word", 4, &key) == !table,
	   "%s: encoding begins immediately if much text is expected", name);
	sp__collate_free(c);
	sp__collate_free(reported);
	free(key.data);
}

static void encodings(const char *name, uint64_t seed)
{
	struct sp__collate_table *c = sp__collate_learn();
	struct sp__keybuf key = { 0 };

	beginning(name, c != NULL);
	if (!c) {
		skip("texts order as strcoll() orders them", "this locale has no table");
		return;
	}
	for (size_t kind = 0; kind <= sizeof(alphabets) / sizeof(*alphabets); kind++) {
		random_pairs(c, name, kind, seed);
		decided_by_letters(c, name, kind, seed);
	}
	two_characters(c, name);
	ok(sp__collate_encode_by(c, "a\0b", 3, &key) == 1 &&
		   sp__collate_encode_by(c, "\x01", 1, &key) == 1,
	   "%s: texts with NULs or unknown characters are refused", name);
	free(c);
	free(key.data);
}

static void comparing(void)
{
	static char big[3][300000];

	ok(!sp__collate_compare("", 0, "", 0) && !sp__collate_compare("ab", 2, "ab", 2),
	   "identical texts are equal");
	ok(sp__collate_compare("a\0b", 3, "a", 1) > 0 && sp__collate_compare("a", 1, "a\0b", 3) < 0,
	   "the text with fewer parts between NULs comes first");
	ok(sp__collate_compare("a\0b", 3, "a\0c", 3) < 0 &&
		   sp__collate_compare("a\0b\0", 4, "a\0b", 3) > 0 &&
		   sp__collate_compare("b\0a", 3, "a\0b", 3) > 0,
	   "parts are compared one after the other");
	memset(big, 'x', sizeof(big));
	big[1][sizeof(big[1]) - 1] = 'y';
	ok(sp__collate_compare(big[0], sizeof(big[0]), big[1], sizeof(big[1])) < 0 &&
		   sp__collate_compare(big[1], 2000, big[0], 1999) > 0 &&
		   sp__collate_compare(big[0], sizeof(big[0]), big[2], sizeof(big[2])) == 0 &&
		   !sp__collate_starved(),
	   "texts of any length are compared");
}

static void english(void)
{
	ok(sp__collate_hard(), "en_US.UTF-8 has an order of its own");
	ok(sp__collate_compare("a", 1, "B", 1) < 0 && sp__collate_compare("a", 1, "A", 1) < 0,
	   "en_US.UTF-8: letters come before their capitals");
	ok(sp__collate_compare("\xff", 1, "\xfe", 1) == 0,
	   "en_US.UTF-8: bytes that are not characters are equal, so they must not be encoded");
}

/* The folder of locales, or NULL. */
static const char *find_locales(void)
{
	static char dir[4096];
	const char *build = getenv("SP_BUILD");
	const char *const from[] = { build ? build : "build", build ? build : "build", "build" };
	const char *const to[] = { "locale", "../locale", "locale" };

	if (getenv("LOCPATH"))
		return getenv("LOCPATH");
	for (int i = 0; i < 3; i++) {
		DIR *d;

		snprintf(dir, sizeof(dir), "%s/%s", from[i], to[i]);
		d = opendir(dir);
		if (!d)
			continue;
		closedir(d);
		setenv("LOCPATH", dir, 1);
		return dir;
	}
	return NULL;
}

int main(void)
{
	const char *dir = find_locales(), *seed = getenv("SP_TEST_SEED");
	struct dirent *e;
	DIR *d = dir ? opendir(dir) : NULL;
	int found = 0;

	ok(!sp__collate_hard(), "the C locale orders by bytes");
	comparing();
	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.' || !setlocale(LC_ALL, e->d_name))
			continue;
		found++;
		comparing();
		if (!strcmp(e->d_name, "en_US.UTF-8"))
			english();
		encodings(e->d_name, seed ? strtoull(seed, NULL, 0) : 1);
	}
	if (d)
		closedir(d);
	if (!found)
		skip("texts order as strcoll() orders them", "needs the locales of build/locale");
	return done();
}
