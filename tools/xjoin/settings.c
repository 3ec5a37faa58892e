/* SPDX-License-Identifier: MIT */
/*
 * The table of xjoin's options: GNU join's, and Spindle's own.
 */
#include <stdlib.h>
#include <string.h>
#include "number.h"
#include "xjoin.h"

/*
 * Reads --then=FILE,left=N.F,key=F[,index=FILE]: files 3 and up.
 */

static _Noreturn void bad(const char *name, const char *text)
{
	die("%s %s: valid is FILE,left=N.F,key=F[,index=FILE]", name, quote(text));
}

/* Sets F: a field number, or the name of a column. */
static void set_field(const char *text, size_t *field, const char **name)
{
	*name = sp_columns_is_name(text) ? text : NULL;
	*field = *name ? 0 : field_number(text);
}

/* Sets N.F. */
static bool set_left(struct sp_join_then *t, const char *text, const char **name)
{
	char *end;
	unsigned long file = strtoul(text, &end, 10);

	if (end == text || *end != '.' || !file || file > SP_JOIN_FILES_MAX)
		return false;
	t->left = (unsigned)file;
	set_field(end + 1, &t->left_field, name);
	return true;
}

static bool set_item(struct sp_join_then *t, const char *item, const char **left_name,
		     const char **key_name)
{
	if (!strncmp(item, "left=", 5))
		return set_left(t, item + 5, left_name);
	if (!strncmp(item, "key=", 4)) {
		set_field(item + 4, &t->key, key_name);
		return true;
	}
	if (strncmp(item, "index=", 6) != 0 || !item[6])
		return false;
	t->index = item + 6;
	return true;
}

/* Cuts the next item between commas, which can be in quotes; NULL: no more items. */
static char *next_item(char **rest)
{
	char *item = *rest, *p = item;
	bool quoted = false;

	for (; p && *p && (quoted || *p != ','); p++)
		quoted ^= *p == '"';
	*rest = p && *p ? p + 1 : NULL;
	if (p)
		*p = '\0';
	return item;
}

void then_add(void *settings, const char *name, const char *text)
{
	struct settings *set = settings;
	struct sp_join_opts *o = &set->opts;
	char *rest = must_copy(text), *item;
	struct sp_join_then t = { .key = SIZE_MAX };
	const size_t n = o->nthen;

	if (n == SP_JOIN_FILES_MAX - 2)
		die("%s: at most %d files are joined", name, SP_JOIN_FILES_MAX);
	t.input = strsep(&rest, ",");
	while ((item = next_item(&rest)))
		if (!set_item(&t, item, &set->form.left_name[n], &set->form.key_name[n]))
			bad(name, text);
	if (!*t.input || !t.left || t.key == SIZE_MAX)
		bad(name, text);
	if (t.index && !strcmp(t.index, "-"))
		die("%s: index=- is accessed at any offset, so it is not a standard stream: give "
		    "a name, or ./- for a file called -",
		    name);
	set->then[o->nthen++] = t;
	o->then = set->form.then = set->then;
}

#define THREADS_MAX 1024
#define OUTSTANDING_MAX 2048

static const struct sp_enum_value build_words[] = {
	{ "1", 1 }, { "2", 2 }, { "auto", 0 }, { NULL, 0 }
};
static const struct sp_enum_value rows_words[] = { { "csv", SP_JOIN_ROWS_CSV },
						   { "json", SP_JOIN_ROWS_JSON },
						   { NULL, 0 } };
static const struct sp_enum_value ordered_words[] = { { "1", 1 }, { "2", 2 }, { NULL, 0 } };

static void set_type(void *to, const char *name, const char *text)
{
	struct settings *set = to;

	sp_join_form_set_type(&set->form, choice_option(name, text, sp_join_type_values()));
}

static uint64_t threads(const char *name, const char *text)
{
	uint64_t n = number_option(name, text, 1);

	return n < THREADS_MAX ? n : THREADS_MAX;
}

static uint64_t memory(const char *name, const char *text)
{
	uint64_t bytes = 0;
	enum number_status status = size_parse(text, 1024, &bytes);

	if (status != NUMBER_OK)
		number_die(status, name, text, SIZE_FORMS);
	return bytes ? bytes : 1; /* 0 would mean the default */
}

#define TO(member) SETTING_TO(struct settings, member)

/* options.c takes -j and -o, whose arguments can be others. */
const struct setting xjoin_settings[] = {
	{ .doc = "GNU join's options:" },
	{ NULL, "FILENUM", "also write unpaired lines of file FILENUM (1 or 2)",
	  .call = unpaired_set, .letter = 'a' },
	{ NULL, "STRING", "write STRING for empty or missing fields", .call = filler_set,
	  .letter = 'e' },
	{ "ignore-case", NULL, "ignore case in keys", TO(opts.ignore_case), .letter = 'i' },
	{ NULL, "FIELD", "the key is field FIELD of both files; as -1 FIELD -2 FIELD",
	  .letter = 'j' },
	{ NULL, "FORMAT", "write these fields, or with --json members: 1.user.id,2.name",
	  .letter = 'o' },
	{ NULL, "CHAR", "separate fields by CHAR, in input and result", .call = separator_set,
	  .letter = 't' },
	{ NULL, "FILENUM", "as -a FILENUM, but do not write pairs", .call = unpaired_set,
	  .letter = 'v' },
	{ NULL, "FIELD", "the key is this field of file 1", .call = key_set, .letter = '1' },
	{ NULL, "FIELD", "the key is this field of file 2", .call = key_set, .letter = '2' },
	{ "check-order", NULL, "disorder in a file is an error, even if all lines pair",
	  TO(opts.order), .absent = SP_JOIN_CHECK },
	{ "nocheck-order", NULL, "do not check the order", TO(opts.order),
	  .absent = SP_JOIN_NOCHECK },
	{ "header", NULL, "join the first lines of the files whatever the keys", TO(opts.header) },
	{ "zero-terminated", NULL, "lines end with NUL, not newline", TO(opts.eol), .clear = true,
	  .letter = 'z' },
	{ "help", NULL, "print this and exit", .answer = SETTING_HELP },
	{ "version", NULL, "print the version and what was built in", .answer = SETTING_VERSION },
	{ .doc = "Spindle's own options, records and result:" },
	{ "type", "WORD",
	  "inner (default); left, right, full: as -a 1, -a 2, both; semi: lines of file 1 with a "
	  "partner, each once; anti: as -v 1",
	  .values = sp_join_type_values, .call = set_type },
	{ "csv", NULL, "RFC 4180 records; fields end at -t CHAR, or comma", TO(opts.csv) },
	{ "json", NULL,
	  "lines that are values of JSON; FIELD is a path, as in .user.id or .tags[0], and the "
	  "objects of a pair are merged",
	  TO(opts.json) },
	{ "nested", "NAME,NAME",
	  "with --json: a pair is an object of two members with these names (left,right)",
	  .call = nested_set, .optional = true },
	{ "strict", NULL, "with --json: check all of a line, not only what is read of it",
	  TO(opts.strict) },
	{ "format", "WORD",
	  "write the result as csv, of JSON with -o, or as json, of lines with --header",
	  TO(opts.rows), .choices = rows_words },
	{ "suffixes", "TEXT,TEXT",
	  "with --header: append these to names that several columns of the result have (_1,_2)",
	  .call = suffixes_set, .optional = true },
	{ "record-size", "N[,N]", "binary records of N bytes, in each file",
	  .call = record_size_set },
	{ "bkey", "SPEC[,SPEC]",
	  "their key, in each file: OFFSET:LENGTH[:TYPE]; TYPE is bytes, or u8 to u64, i8 to i64, "
	  "f32, f64 with le or be; if repeated, all must be equal",
	  .call = bkey_add },
	{ "output", "FILE", "write to FILE, which appears when it is complete", TO(output),
	  .once = "output files", .dash = SETTING_DASH_OUTPUT },
	PACKED_SETTINGS(struct settings, opts.run),
	{ "ordered", "FILE", "write the result in the order of file 1 or 2", TO(opts.ordered),
	  .choices = ordered_words },
	{ "where", "CONDITION",
	  "leave out lines of the result for which this is not true, as in 'price > 5', or "
	  "'\"2.3\" > 5' for a field, or with --json '2.price > 5'",
	  TO(opts.where), .once = "conditions of records" },
	{ "limit", "N", "stop after N lines of the result", TO(opts.limit),
	  .number = { 0, UINT64_MAX }, .given = offsetof(struct settings, opts.limited) },
	{ .doc = "Spindle's own options, how to join:" },
	{ "algorithm", "WORD", "hybrid, grace, shj, nested, merge, inl, async-inl or auto (auto)",
	  TO(opts.algorithm), .values = sp_join_algorithm_values },
	{ "build", "FILE", "read file 1 or 2 first; or auto, the smaller (auto)", TO(opts.build),
	  .choices = build_words },
	{ "join-memory", "SIZE", "memory for lines of the file read first", TO(opts.join_bytes),
	  .whole = size_option },
	{ "index1", "FILE", "inl, async-inl: the index of file 1, from xindex", TO(opts.index[0]),
	  .once = "indexes of file 1" },
	{ "index2", "FILE", "inl, async-inl: the index of file 2, from xindex", TO(opts.index[1]),
	  .once = "indexes of file 2" },
	{ "then", "FILE,left=N.F,key=F,index=INDEX",
	  "join file 3, 4 and so on by its field F, which equals field F of file N",
	  .call = then_add },
	{ "max-outstanding", "N", "async-inl: outstanding keys and reads (128)",
	  TO(opts.max_outstanding), .number = { 1, OUTSTANDING_MAX } },
	{ "buffer-size", "SIZE",
	  "memory for the whole program, plus up to 16 MiB and three times the longest huge line",
	  TO(opts.run.memory_bytes), .whole = memory, .letter = 'S' },
	{ "parallel", "N", "use at most N threads", TO(opts.run.parallel), .whole = threads },
	{ .doc = "Spindle's own options, temporary space:" },
	{ "temporary-directory", "DIR",
	  "put temporary data in DIR, not in $TMPDIR or /tmp; may be repeated", TO(common),
	  .call = tmpdir_add, .letter = 'T' },
	SPACE_SETTINGS(struct settings, opts.run),
	{ .doc = "Spindle's own options, reporting:" },
	REPORT_SETTINGS(struct settings, opts.run),
	PLOT_SETTING(struct settings, 0),
	{ "usage", NULL, "print a short usage message and exit", .answer = SETTING_USAGE },
	{ "timeline", "FILE", "write the time of each line of the result to FILE", TO(timeline) },
	{ 0 },
};
