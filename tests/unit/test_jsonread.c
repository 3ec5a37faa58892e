/* SPDX-License-Identifier: MIT */
/*
 * Reading JSON: what is accepted, compared with jansson; values at paths; the characters of texts;
 * keys in the order of values.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "rec/jsonshape.h"
#include "rec/keyset.h"
#include "tap.h"

static const char *const accepted[] = {
	"null",
	"true",
	"false",
	"0",
	"-0",
	"12",
	"-1.5",
	"1e5",
	"1E+5",
	"1.5e-7",
	"\"\"",
	"\"a\\\"b\"",
	"\"\\\\\"",
	"\"\\/\\b\\f\\n\\r\\t\"",
	"\"\\u00e9\"",
	"\"\\uD83D\\uDE00\"",
	"\"\xC3\xA9\"",
	"[]",
	"[ ]",
	"[1]",
	"[1,2 , 3]",
	"{}",
	"{ }",
	"{\"a\":1}",
	"{\"a\" : [ { } , [ ] , \"]\" ] }",
	"{\"\":0}",
	"{\"a\":1,\"a\":2}",
	" \t[1]\r ",
	"\"0123456789abcdef\\n0123456789abcdef\"",
	"[[[[[[[[]]]]]]]]",
	"{\"a\":{\"b\":{}}}",
	"[null,true,false]",
	"\"\\u0000\"",
	/* The last one is not changed: jansson refuses larger numbers. */
	"123456789012345678901234567890e-10",
};

static const char *const refused[] = {
	"",
	" ",
	"nul",
	"nulll",
	"True",
	"+1",
	"01",
	"-",
	"-a",
	"1.",
	".5",
	"1e",
	"1e+",
	"1.e5",
	"0x10",
	"NaN",
	"Infinity",
	"-Infinity",
	"\"",
	"\"\\",
	"\"\\\"",
	"\"\\x41\"",
	"\"\\u12\"",
	"\"\\u12g4\"",
	"\"\t\"",
	"\"a\x01\"",
	"'a'",
	"a",
	"[",
	"[1",
	"[1,",
	"[1,]",
	"[,1]",
	"[1 2]",
	"]",
	"[1}",
	"{",
	"{\"a\"",
	"{\"a\":",
	"{\"a\":1",
	"{\"a\":1,",
	"{\"a\":1,}",
	"{a:1}",
	"{\"a\" 1}",
	"{\"a\":1 \"b\":2}",
	"{1:2}",
	"{\"a\":1]",
	"1 2",
	"[] []",
	"{}}",
	"[1]]",
	"{\"a\":1}x",
	"\"\xFF\"",
	"\"\xC3\"",
	"\"\xED\xA0\x80\"",
	"\"\xC0\x80\"",
	"\"\\uD800\"",
	"\"\\uDC00\"",
	"\"\\uD800\\u0041\"",
	"\"\\uD800x\"",
	"//",
	"/**/1",
	"[1,//\n2]",
	"\xEF\xBB\xBF"
	"1",
	"1e9999999999999999",
};

static bool reads(const char *s, size_t n, enum sp__json_check check)
{
	struct sp__json_error e = { 0 };
	char *copy = malloc(n + !n);
	bool good;

	/* In memory of its own, so that a sanitizer sees its ends. */
	memcpy(copy, s, n);
	good = !sp__json_find(NULL, copy, n, check, NULL, &e);
	free(copy);
	return good && !e.wanted ? true : !(e.wanted && e.at <= n);
}

static bool jansson_reads(const char *s, size_t n)
{
	json_t *j = json_loadb(s, n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

	json_decref(j);
	return j;
}

static void syntax(void)
{
	for (size_t i = 0; i < sizeof(accepted) / sizeof(*accepted); i++)
		ok(reads(accepted[i], strlen(accepted[i]), SP__JSON_CHECK_ALL) &&
			   jansson_reads(accepted[i], strlen(accepted[i])),
		   "accepted: case %zu", i);
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		ok(!reads(refused[i], strlen(refused[i]), SP__JSON_CHECK_ALL) &&
			   !jansson_reads(refused[i], strlen(refused[i])),
		   "refused: case %zu", i);
	ok(reads("\"\xFF\"", 3, SP__JSON_CHECK_FOUND),
	   "without strict, what is passed is not checked");
	ok(!reads("\"a\0\"", 4, SP__JSON_CHECK_FOUND), "a NUL in a text is refused");
}

/* Nested n times. */
static bool nested_reads(size_t n, char open, char close)
{
	char *text = malloc(6 * n + 1), *p = text;
	bool good;

	for (size_t i = 0; i < n; i++) {
		*p++ = open;
		if (open == '{')
			p = memcpy(p, "\"a\":", 4) + 4;
	}
	*p++ = '1';
	for (size_t i = 0; i < n; i++)
		*p++ = close;
	good = reads(text, (size_t)(p - text), SP__JSON_CHECK_ALL);
	free(text);
	return good;
}

static void depths(void)
{
	ok(nested_reads(SP__JSON_DEPTH, '[', ']') && nested_reads(SP__JSON_DEPTH, '{', '}'),
	   "2048 levels are read");
	ok(!nested_reads(SP__JSON_DEPTH + 1, '[', ']') && !nested_reads(1000000, '{', '}'),
	   "more are refused");
}

/* Valid values with bytes changed: both readers must agree. */
static void mutations(void)
{
	static const char spare[] = "{}[]\",:\\ue0129.-+ntfl \xC3\xA9\x80\t";
	struct sp__rng rng = { 7 };
	unsigned differ = 0, good = 0;

	for (unsigned i = 0; i < tap_times(200000); i++) {
		const char *from =
			accepted[sp__rng_below(&rng, sizeof(accepted) / sizeof(*accepted) - 1)];
		char text[128];
		size_t n = strlen(from);

		memcpy(text, from, n);
		for (unsigned k = 0; n && k < 1 + i % 3; k++) {
			size_t at = sp__rng_below(&rng, n);

			if (sp__rng_below(&rng, 4) == 0)
				memmove(text + at, text + at + 1, --n - at);
			else
				text[at] = spare[sp__rng_below(&rng, sizeof(spare) - 1)];
		}
		bool own = reads(text, n, SP__JSON_CHECK_ALL), other = jansson_reads(text, n);

		good += own;
		if (own != other && differ++ < 5)
			diag("own %d, jansson %d: %.*s", own, other, (int)n, text);
	}
	ok(good > tap_times(10000) && !differ,
	   "jansson agrees on changed values (%u valid, %u differ)", good, differ);
}

static void value_is(const char *rec, const char *path, const char *want)
{
	struct sp__json_paths *paths;
	struct sp__json_value v[1];
	struct sp__json_error e;
	const char *rest, *s;
	char text[64];
	size_t number, n;
	bool decode, good;

	good = !sp__json_paths_new(&paths) &&
	       !sp__json_paths_add(paths, path, ":", &number, &rest, NULL) && !*rest && !number &&
	       !sp__json_find(paths, rec, strlen(rec), SP__JSON_CHECK_FOUND, v, &e);
	s = good ? sp__json_slice(v, &n, &decode) : "";
	if (good && decode) {
		n = sp__json_text(v, text, sizeof(text));
		s = text;
	}
	if (!ok(good && (want ? v->kind > SP__JSON_MISSING && n == strlen(want) &&
					 !memcmp(s, want, n)
			      : v->kind == SP__JSON_MISSING),
		"%s of %s is %s", path, rec, want ? want : "missing"))
		diag("got '%.*s'", good ? (int)n : 0, s);
	sp__json_paths_free(paths);
}

static void values(void)
{
	static const char rec[] =
		"{\"a\":{\"b\":[1,{\"c\":\"x\\ty\"},[7]],\"d\":null},\"e.f\":true,"
		"\"\\u00e9\":2,\"g\":1,\"g\":{\"h\":3},\"q\\\"\":4,\"\":5}";

	value_is(rec, ".a.b[0]", "1");
	value_is(rec, ".a.b[1].c", "x\ty");
	value_is(rec, ".a.b[2][0]", "7");
	value_is(rec, ".a.b[3]", NULL);
	value_is(rec, ".a.b.c", NULL);
	value_is(rec, ".a[0]", NULL);
	value_is(rec, ".a.d", "");
	value_is(rec, ".a.b", "[1,{\"c\":\"x\\ty\"},[7]]");
	value_is(rec, ".\"e.f\"", "true");
	value_is(rec, ".e.f", NULL);
	value_is(rec, ".\"\\u00e9\"", "2");
	value_is(rec, ".\xC3\xA9", "2");
	value_is(rec, ".g", "{\"h\":3}");
	value_is(rec, ".g.h", "3");
	value_is(rec, ".\"q\\\"\"", "4");
	value_is(rec, ".\"\"", "5");
	value_is("{\"g\":{\"h\":3},\"g\":1}", ".g.h", NULL);
	value_is("[[0,1],2]", ".[0][1]", "1");
	value_is("\"\\uD83D\\uDE00\"", ".", "\xF0\x9F\x98\x80");
	value_is(" 12 ", ".", "12");
}

static void paths_refused(void)
{
	static const char *const bad[] = { "",	      "a",    ".a.",	".a[",
					   ".a[x]",   ".a[1", ".\"a",	"..a",
					   ".a\"b\"", ".a]",  ".a[-1]", ".a[99999999999999999999]",
					   ".\"\\x\"" };
	struct sp__json_paths *paths;
	const char *rest;
	size_t n;

	if (sp__json_paths_new(&paths))
		return;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(sp__json_paths_add(paths, bad[i], ":", &n, &rest, NULL) == -EINVAL,
		   "%s is no path", bad[i]);
	sp__json_paths_free(paths);
}

struct visits {
	char text[512];
	size_t n;
};

static int note(void *arg, const char *path, size_t bytes, const struct sp__json_value *v)
{
	struct visits *to = arg;

	to->n += (size_t)snprintf(to->text + to->n, sizeof(to->text) - to->n, "%.*s=%.*s;",
				  (int)bytes, path, (int)v->n, v->p);
	return 0;
}

static void walks(void)
{
	static const char rec[] = "{\"a\":1,\"b\":{\"c\":[1,2],\"x y\":{}},\"d\":\"t\"}";
	struct sp__json_value v = { rec, sizeof(rec) - 1, SP__JSON_OBJECT, false };
	struct visits to = { 0 };

	ok(!sp__json_walk(&v, note, &to), "a record is visited");
	if (!ok(!strcmp(to.text, ".a=1;.b.c=[1,2];.b.\"x y\"={};.d=\"t\";"),
		"... all of its members"))
		diag("got %s", to.text);
}

/* In ascending order; equal ones are on one line, divided by a tab. */
static const char *const ordered[] = {
	"null",
	"false",
	"true",
	"-1e300",
	"-10",
	"-9.5\t-95e-1",
	"-1e-300",
	"0\t-0\t0e5\t0.000",
	"1e-300",
	"0.5\t5e-1\t0.50",
	"1\t1.0\t1e0\t10e-1",
	"9",
	"10\t1e1",
	"123456789012345678901",
	"123456789012345678902",
	"1e200",
	"\"\"",
	"\"\\u0000\"",
	"\"1\"",
	"\"a\"\t\"\\u0061\"",
	"\"aa\"",
	"\"\xC3\xA9\"\t\"\\u00e9\"",
	"[]",
	"[null]",
	"[1]\t[ 1.0 ]",
	"[1,0]",
	"[2]",
	"[[]]",
	"{}",
	"{\"a\":1}\t{\"a\":2,\"a\":1.0}",
	"{\"a\":2}",
	"{\"a\":1,\"b\":2}\t{\"b\":2,\"a\":1}",
	"{\"b\":0}",
};

static int compare_values(const struct sp_keyset *ks, const char *a, const char *b, bool *agree)
{
	struct sp__keybuf ka = { 0 }, kb = { 0 };
	int slow = sp_keyset_compare(ks, a, strlen(a), b, strlen(b)), fast;

	*agree &= !sp__key_encode(ks, a, strlen(a), &ka) && !sp__key_encode(ks, b, strlen(b), &kb);
	fast = sp__order_bytes(ka.data, ka.bytes, kb.data, kb.bytes);
	*agree &= (slow > 0) - (slow < 0) == (fast > 0) - (fast < 0);
	sp__keybuf_release(&ka);
	sp__keybuf_release(&kb);
	return slow;
}

static void order_of_values(void)
{
	enum { ROWS = sizeof(ordered) / sizeof(*ordered) };
	struct sp_key key = SP_KEY_INIT;
	struct sp_keyset_opts o = { .format = { .kind = SP_REC_LINE, .eol = '\n', .json = true },
				    .keys = &key,
				    .nkeys = 1,
				    .separator = -1,
				    .stable = true };
	struct sp_keyset *ks = NULL;
	bool agree = true, right = true;
	char row[ROWS][64];

	key.path = ".";
	if (!ok(!sp_keyset_new(&ks, &o, NULL), "a key set of JSON"))
		return;
	for (size_t i = 0; i < ROWS; i++) {
		char *one, *save = NULL, first[64];

		snprintf(row[i], sizeof(row[i]), "%s", ordered[i]);
		snprintf(first, sizeof(first), "%s", ordered[i]);
		row[i][strcspn(row[i], "\t")] = '\0';
		for (one = strtok_r(first, "\t", &save); one; one = strtok_r(NULL, "\t", &save))
			if (compare_values(ks, row[i], one, &agree)) {
				diag("%s differs from %s", row[i], one);
				right = false;
			}
	}
	for (size_t i = 0; i < ROWS; i++)
		for (size_t j = 0; j < ROWS; j++)
			if ((compare_values(ks, row[i], row[j], &agree) > 0) != (i > j)) {
				diag("%s and %s", row[i], row[j]);
				right = false;
			}
	ok(right, "values are in the order of kinds and values");
	ok(agree, "encoded keys have the order of compared ones");
	sp_keyset_free(ks);
}

/* Writes a scalar, an array or an object; returns its end.  depth 0: a valid scalar. */
static char *put_some(struct sp__rng *rng, char *to, unsigned depth)
{
	static const char *const scalars[] = { "1",
					       "-20.5",
					       "1234567890123456",
					       "0.25e3",
					       "true",
					       "null",
					       "\"\"",
					       "\"text\"",
					       "\"a\\nb\"",
					       "\"caf\xC3\xA9\"",
					       "\"a text of more than 16 bytes\"",
					       "\"\xFF\"" };
	const uint64_t kind = sp__rng_below(rng, depth ? 8 : 6);

	if (kind < 6 || depth > 3)
		return stpcpy(
			to,
			scalars[sp__rng_below(rng, sizeof(scalars) / sizeof(*scalars) - !depth)]);
	*to++ = kind == 6 ? '[' : '{';
	for (uint64_t i = 0, n = sp__rng_below(rng, 3); i < n; i++) {
		to = stpcpy(to, !i ? "" : sp__rng_below(rng, 9) ? "," : " , ");
		if (kind == 7)
			to = stpcpy(to, i ? "\"c\":" : "\"x\": ");
		to = put_some(rng, to, depth + 1);
	}
	*to++ = kind == 6 ? ']' : '}';
	return to;
}

/* Writes an object with one of a number of sets of members; of few, none has a name twice. */
static char *put_record(struct sp__rng *rng, char *to, unsigned sets)
{
	static const char *const names[] = { "\"a\":", "\"b\": ", "\"d\":",
					     "\"long name of a member\":", "\"\\u0061\":" };
	const uint64_t set = sp__rng_below(rng, sets);
	const uint64_t members = sets < 9 ? (set * 4 + 11) & 15 : set * 37 + 11;
	const char *separator = "{";

	for (unsigned i = 0; i < 8; i++) {
		if (!(members >> i & 1))
			continue;
		to = stpcpy(stpcpy(to, separator), names[i % 5]);
		to = i == 2 && sets < 9 ? stpcpy(stpcpy(to, "[true,"), "17]")
					: put_some(rng, to, sets < 9 ? 0 : 1);
		separator = ",";
	}
	return stpcpy(to, *separator == '{' ? "{}" : "}");
}

static bool same_values(const struct sp__json_value *a, const struct sp__json_value *b, size_t n)
{
	bool same = true;

	for (size_t i = 0; i < n; i++)
		same &= a[i].kind == b[i].kind &&
			(!a[i].kind ||
			 (a[i].p == b[i].p && a[i].n == b[i].n &&
			  (a[i].kind != SP__JSON_TEXT || a[i].escaped == b[i].escaped)));
	return same;
}

/* Reads a record in both ways, in memory that ends with it or not.  True if they agree. */
static bool alike(struct sp__json_reader *reader, const char *rec, size_t n, bool beyond,
		  bool *good)
{
	struct sp__json_value v[4], w[4];
	struct sp__json_error e = { 0 }, f = { 0 };
	char *copy = malloc(n + 1 + 64 * (size_t)beyond);
	bool same;
	int rc;

	memset(copy + n, beyond ? '7' : '\n', 1 + 64 * (size_t)beyond);
	memcpy(copy, rec, n);
	copy[n] = '\n';
	rc = sp__json_find(reader->paths, copy, n, reader->check, v, &e);
	same = rc == sp__json_find_next(reader, copy, n, n + 1 + 64 * (size_t)beyond, w, &f);
	same = same && (rc ? e.at == f.at && e.wanted == f.wanted : same_values(v, w, 4));
	*good = !rc;
	free(copy);
	return same;
}

/* Records of the same shape, of others, and invalid ones: both ways of reading agree. */
static void shapes(void)
{
	static const char *const wanted[] = { ".a", ".b.c", ".d[1]", ".\"long name of a member\"" };
	struct sp__json_reader reader = { 0 };
	struct sp__rng rng = { 11 };
	struct sp__json_paths *set;
	unsigned differ = 0, valid = 0, known = 0;
	const char *rest;
	size_t number;
	bool good = !sp__json_paths_new(&set);

	for (size_t i = 0; i < 4; i++)
		good = good && !sp__json_paths_add(set, wanted[i], ":", &number, &rest, NULL);
	reader.paths = set;
	for (unsigned i = 0; good && i < tap_times(200000); i++) {
		char text[4096];
		size_t n = (size_t)(put_record(&rng, text, i / 5000 % 2 ? 200 : 3) - text);
		bool fine;

		reader.check = i / 20000 % 2 ? SP__JSON_CHECK_ALL : SP__JSON_CHECK_FOUND;
		if (sp__rng_below(&rng, 20) == 0)
			text[sp__rng_below(&rng, n)] =
				"{}[]\",:\\0-.e \xC3"[sp__rng_below(&rng, 14)];
		known += reader.shapes && !reader.shapes->pause;
		if (!alike(&reader, text, n, i % 2, &fine) && differ++ < 5)
			diag("%.*s", (int)n, text);
		valid += fine;
	}
	ok(good && !differ && valid > tap_times(100000) && known > tap_times(50000),
	   "known shapes do not change what is found (%u valid, %u differ, %u by shapes)", valid,
	   differ, known);
	sp__json_reader_release(&reader);
	sp__json_paths_free(set);
}

int main(void)
{
	syntax();
	depths();
	mutations();
	values();
	paths_refused();
	walks();
	order_of_values();
	shapes();
	return done();
}
