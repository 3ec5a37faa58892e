/* SPDX-License-Identifier: MIT */
/* Names and types of columns as text: both forms, quoted names, refused texts. */
#include <string.h>
#include "base/rng.h"
#include "columns/schema_text.h"
#include "tap.h"

static int parse(struct sp__schema *s, bool lines, const char *text, struct sp_errinfo *err)
{
	*s = (struct sp__schema){ 0 };
	return lines ? sp__schema_lines_parse(s, text, strlen(text), "FILE", err)
		     : sp__schema_list_parse(s, text, err);
}

/* True if the text gives columns that are printed as `want`. */
static bool gives(bool lines, const char *text, const char *want)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__schema s;
	struct sp__bytes got = { 0 };
	bool good = !parse(&s, lines, text, &err) && !sp__schema_lines_print(&s, &got) &&
		    got.bytes == strlen(want) && !memcmp(got.data ? got.data : "", want, got.bytes);

	if (!good)
		diag("%s gives %.*s (%s)", text, (int)got.bytes, got.data ? got.data : "",
		     err.text);
	sp__bytes_release(&got, NULL);
	sp__schema_free(&s);
	return good;
}

static bool refused(bool lines, const char *text, const char *reason)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__schema s;
	bool good = parse(&s, lines, text, &err) == SP_ESYNTAX && err.code == SP_ESYNTAX &&
		    strstr(err.text, reason);

	if (!good)
		diag("%s: %s", text, err.text);
	sp__schema_free(&s);
	return good;
}

static void lists(void)
{
	ok(gives(false, "a:i32,b:dec16(2),c:text not null",
		 "a i32\nb dec16(2)\nc text not null\n") &&
		   gives(false, "a:i8, b :u8", "a i8\nb u8\n"),
	   "a list has names and types");
	ok(gives(false, "first name:text,\"a,b\":i8,\"a:b\":i8,\"say \"\"x\"\"\":i8,\" \":i8",
		 "\"first name\" text\n\"a,b\" i8\n\"a:b\" i8\n\"say \"\"x\"\"\" i8\n\" \" i8\n") &&
		   gives(false, "a\"b:i8", "\"a\"\"b\" i8\n"),
	   "names can be quoted");
	ok(refused(false, "", "has no type: a column is NAME:TYPE") &&
		   refused(false, "a", "'a' has no type") &&
		   refused(false, "a:i8,", "has no type") &&
		   refused(false, "a:", "'' is not a type; types are i8") &&
		   refused(false, "a:i9", "'i9' is not a type") &&
		   refused(false, ":i8", "'' is not a name") &&
		   refused(false, "\"a:i8", "'\"a:i8' has no closing quote") &&
		   refused(false, "\"a\"b:i8", "'\"a\"' has no type") &&
		   refused(false, "a:i8,b:i8,a:i8", "'a' is named twice") &&
		   refused(false, "a:i8 null", "'null' is not 'not null'") &&
		   refused(false, "a:i8 not null x", "'not' is not 'not null'"),
	   "other lists are refused, with the reason");
}

static void lines(void)
{
	ok(gives(true, "a i32\nb\tchar(3)  not  null\n", "a i32\nb char(3) not null\n") &&
		   gives(true, "\xEF\xBB\xBF# x\r\n\r\n  a i32 \r\n#", "a i32\n") &&
		   gives(true, "", "") && gives(true, "a:b i8", "\"a:b\" i8\n") &&
		   gives(true, "\"#a\" i8\n\"two\nlines\" i8\n", "\"#a\" i8\n\"two\nlines\" i8\n"),
	   "a schema has a line for each column");
	ok(refused(true, "a i8\n\nb\n", "line 3: 'b' has no type: a line is NAME TYPE") &&
		   refused(true, "a i8 b i8", "line 1: 'b' is not 'not null'") &&
		   refused(true, "a i8\nb x\n", "line 2: 'x' is not a type") &&
		   refused(true, "a i8\na i8\n", "'a' is named twice") &&
		   refused(true, "\n\"\n", "line 2: '\"\n' has no closing quote"),
	   "other lines are refused, with the reason and the line");
}

static void limits(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__schema s = { 0 };
	char text[400], many[40000], *p = many;

	memset(text, 'n', sizeof(text));
	strcpy(text + 255, ":i8");
	ok(!parse(&s, false, text, &err) && s.n == 1, "a name can have 255 bytes");
	sp__schema_free(&s);
	memset(text, 'n', sizeof(text));
	strcpy(text + 256, ":i8");
	ok(refused(false, text, "is longer than 255 bytes") && (text[0] = '"') &&
		   refused(false, text, "is longer than 255 bytes"),
	   "a longer name is refused");
	ok(sp__schema_lines_parse(&s, "a\0b i8", 6, "FILE", &err) == SP_ESYNTAX,
	   "a zero byte is not part of a name");
	sp__schema_free(&s);
	for (unsigned i = 0; i < SP__COLUMNS_MAX; i++)
		p += sprintf(p, "%s%x:u8", i ? "," : "", i);
	ok(!parse(&s, false, many, &err) && s.n == SP__COLUMNS_MAX, "4096 columns are possible");
	sp__schema_free(&s);
	strcpy(p, ",x:i8");
	ok(refused(false, many, "would be column 4097"), "4097 columns are not");
}

/* Random names and types come back from their lines. */
static void round_trips(void)
{
	static const char bytes[] = "ab \t\n\r\",:#'\xEF\xBB\xBF\xFF";
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__rng rng = { 5 };
	bool good = true;

	for (int i = 0; i < 2000; i++) {
		struct sp__schema s = { 0 }, back = { 0 };
		struct sp__bytes text = { 0 };

		for (unsigned k = 0; k < 4; k++) {
			char name[12];
			size_t n = sp__rng_below(&rng, 8);
			struct sp__value_type t = { 'd', (uint8_t)sp__rng_below(&rng, 19),
						    1u << sp__rng_below(&rng, 4) };

			for (size_t b = 0; b < n; b++)
				name[b] = bytes[sp__rng_below(&rng, sizeof(bytes) - 1)];
			name[n++] = (char)('0' + k);
			good = good && !sp__schema_add(&s, name, n, &t);
			s.columns[k].not_null = sp__rng_below(&rng, 2);
		}
		good = good && !sp__schema_lines_print(&s, &text) &&
		       !sp__schema_lines_parse(&back, text.data, text.bytes, "FILE", &err) &&
		       back.n == s.n;
		for (unsigned k = 0; good && k < s.n; k++)
			good = !strcmp(s.columns[k].name, back.columns[k].name) &&
			       s.columns[k].not_null == back.columns[k].not_null &&
			       sp__value_type_same(&s.columns[k].type, &back.columns[k].type);
		sp__bytes_release(&text, NULL);
		sp__schema_free(&s);
		sp__schema_free(&back);
	}
	ok(good, "names of any bytes come back");
}

int main(void)
{
	lists();
	lines();
	limits();
	round_trips();
	return done();
}
