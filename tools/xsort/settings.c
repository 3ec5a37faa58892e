/* SPDX-License-Identifier: MIT */
/*
 * The table of xsort's options: GNU sort's, with its messages, and Spindle's own, which are long;
 * sizes of the latter without a suffix are in bytes.
 */
#include <limits.h>
#include <stdlib.h>
#include <sys/resource.h>
#include "number.h"
#include "xsort.h"

static const struct sp_enum_value check_words[] = {
	{ "quiet", 'C' }, { "silent", 'C' }, { "diagnose-first", 'c' }, { NULL, 0 }
};

static const struct sp_enum_value json_forms[] = { { "lines", 0 }, { "array", 1 }, { NULL, 0 } };

/* Reads a name; an unknown one has an exit status of its own, as in GNU sort. */
static int gnu_word(const char *option, const char *text, const struct sp_enum_value *words)
{
	int value;

	msg_set_failure_status(EXIT_FAILURE);
	value = choice_option(option, text, words);
	msg_set_failure_status(XSORT_FAILURE);
	return value;
}

static void set_check(struct settings *set, char how)
{
	if (set->check && set->check != how)
		incompatible("cC");
	set->check = how;
}

/* Sets -c or -C. */
static void set_check_letter(void *settings, const char *option, const char *text)
{
	(void)text;
	set_check(settings, option[1]);
}

static void set_check_word(void *settings, const char *option, const char *text)
{
	set_check(settings, text ? (char)gnu_word(option, text, check_words) : 'c');
}

static void set_sort(void *settings, const char *option, const char *text)
{
	struct settings *set = settings;

	sp_key_letter(&set->order.global, (char)gnu_word(option, text, sp_order_sort_values()),
		      SP_KEY_BOTH);
}

static uint64_t batch_size(const char *option, const char *text)
{
	uintmax_t n = 0;
	enum number_status status = number_parse(text, &n);
	struct rlimit files;
	unsigned max = getrlimit(RLIMIT_NOFILE, &files) == 0 ? (unsigned)files.rlim_cur : 20;

	max -= 3; /* for the standard streams */
	if (status == NUMBER_OK && n < 2) {
		msg("invalid --batch-size argument %s", quote(text));
		die("minimum --batch-size argument is %s", quote("2"));
	}
	if (status == NUMBER_OVERFLOW || (status == NUMBER_OK && n > max)) {
		msg("--batch-size argument %s too large", quote(text));
		die("maximum --batch-size argument with current rlimit is %u", max);
	}
	if (status != NUMBER_OK)
		number_die(status, option, text, NULL);
	return n;
}

static uint64_t threads(const char *option, const char *text)
{
	uintmax_t n = 0;
	enum number_status status = number_parse(text, &n);

	if (status == NUMBER_OVERFLOW)
		n = UINT_MAX;
	else if (status != NUMBER_OK)
		number_die(status, option, text, NULL);
	if (!n)
		die("number in parallel must be nonzero");
	return n < UINT_MAX ? n : UINT_MAX;
}

/* Sets the memory; the largest of several sizes counts. */
static void set_memory(void *to, const char *option, const char *text)
{
	uint64_t bytes = 0, *memory = to;
	enum number_status status = size_parse(text, 1024, &bytes);

	if (status != NUMBER_OK)
		number_die(status, option, text, NULL);
	if (bytes == 0)
		bytes = 1; /* 0 would mean that the planner chooses */
	if (bytes > *memory)
		*memory = bytes;
}

static void set_recycle(void *to, const char *name, const char *text)
{
	uintmax_t level;
	int *recycle = to;

	if (number_parse(text, &level) == NUMBER_OK)
		*recycle = level < SP_RECYCLE_ALL ? (int)level : SP_RECYCLE_ALL;
	else if (sp_recycle_parse(text, recycle))
		number_die(NUMBER_INVALID, name, text,
			   "valid are none, all, auto and a merge level");
}

static void set_header(void *order, const char *name, const char *text)
{
	if (sp_order_set_header(order, text))
		number_die(NUMBER_INVALID, name, text, "valid are N and N,first");
}

static void set_json(void *to, const char *name, const char *text)
{
	struct sp_order *order = to;

	order->json = true;
	order->array = text && choice_option(name, text, json_forms);
}

static void set_count(void *settings, const char *name, const char *text)
{
	struct settings *set = settings;

	(void)name;
	set->opts.count = true;
	set->count_name = text;
}

static void add_bkey(void *order, const char *name, const char *text)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (sp_order_add_bkey(order, text, &err))
		die("%s %s: %s; valid is OFFSET:LENGTH[:TYPE][:r], TYPE one of " BKEY_TYPES, name,
		    quote(text), err.text);
}

#define TO(member) SETTING_TO(struct settings, member)

/* Rows of ORDER_LETTERS set nothing; options.c passes the letters to the order. */
const struct setting xsort_settings[] = {
	{ .doc = "GNU sort's options, ordering:" },
	{ "ignore-leading-blanks", NULL, "ignore blanks at the start of keys", .letter = 'b' },
	{ "dictionary-order", NULL, "compare blanks, letters and digits only", .letter = 'd' },
	{ "ignore-case", NULL, "treat lower case as upper case", .letter = 'f' },
	{ "general-numeric-sort", NULL, "by value of floating-point numbers", .letter = 'g' },
	{ "human-numeric-sort", NULL, "by value of numbers such as 2K and 1G", .letter = 'h' },
	{ "ignore-nonprinting", NULL, "compare printable characters only", .letter = 'i' },
	{ "month-sort", NULL, "by month: unknown, then JAN to DEC", .letter = 'M' },
	{ "numeric-sort", NULL, "by value of decimal numbers", .letter = 'n' },
	{ "random-sort", NULL, "in random order, equal keys together", .letter = 'R' },
	{ "random-source", "FILE", "read the random bytes from FILE", TO(random_source),
	  .once = "random sources", .dash = SETTING_DASH_INPUT },
	{ "reverse", NULL, "reverse the order", .letter = 'r' },
	{ "sort", "WORD",
	  "one of general-numeric (-g), human-numeric (-h), month (-M), numeric (-n), random (-R), "
	  "version (-V)",
	  .values = sp_order_sort_values, .call = set_sort },
	{ "version-sort", NULL, "by value of numbers within text", .letter = 'V' },
	{ .doc = "GNU sort's options, other:" },
	{ "batch-size", "N", "merge at most N runs at once", TO(opts.batch_size),
	  .whole = batch_size },
	{ NULL, NULL, "check that the input is in order; do not sort", .call = set_check_letter,
	  .letter = 'c' },
	{ NULL, NULL, "as -c, but report by exit status only", .call = set_check_letter,
	  .letter = 'C' },
	{ "check", "WORD", "diagnose-first (as -c), quiet or silent (as -C)",
	  .choices = check_words, .call = set_check_word, .optional = true },
	{ "compress-program", "PROG",
	  "compress temporary data with PROG, and decompress it with PROG -d",
	  TO(opts.compress_program), .once = "compress programs" },
	{ "debug", NULL, "underline the keys in each line; warn about keys", TO(debug) },
	{ "files0-from", "F", "read input names from F, each terminated by NUL", TO(files_from) },
	{ "key", "KEYDEF", "sort by this part of the record; may be repeated",
	  .call = order_add_key, .letter = 'k' },
	{ "merge", NULL, "merge inputs that are already sorted", TO(merge), .letter = 'm' },
	{ "output", "FILE", "write to FILE, which may be an input", TO(output),
	  .once = "output files", .letter = 'o', .dash = SETTING_DASH_OUTPUT },
	{ "stable", NULL, "keep records with equal keys in input order", TO(order.stable),
	  .letter = 's' },
	{ "buffer-size", "SIZE",
	  "memory for the whole program, plus up to 16 MiB and three times the longest huge record",
	  TO(opts.run.memory_bytes), .call = set_memory, .letter = 'S' },
	{ "field-separator", "SEP", "fields end at SEP, not where blanks start", TO(order),
	  .call = order_set_separator, .letter = 't' },
	{ "temporary-directory", "DIR",
	  "put temporary data in DIR, not in $TMPDIR or /tmp; may be repeated", TO(common),
	  .call = tmpdir_add, .letter = 'T' },
	{ "parallel", "N", "use N threads", TO(opts.run.parallel), .whole = threads },
	{ "unique", NULL,
	  "write only the first record of equal keys; with -c, treat equal keys as disorder",
	  TO(order.unique), .letter = 'u' },
	{ NULL, "N", NULL, .letter = 'y' }, /* an option of Solaris */
	{ "zero-terminated", NULL, "records end with NUL, not newline", TO(order.eol),
	  .clear = true, .letter = 'z' },
	{ "help", NULL, "print this and exit", .answer = SETTING_HELP },
	{ "version", NULL, "print the version and what was built in", .answer = SETTING_VERSION },
	{ .doc = "Spindle's own options, records:" },
	{ "header", "N",
	  "the first N records (1) of each input, or of the first one (N,first), are a header: "
	  "written once, first",
	  TO(order), .call = set_header, .optional = true },
	{ "infer-types", NULL,
	  "with --header: a key that is one column, without a letter except b, r, e or E, compares "
	  "numbers, dates or times if all its values in the first MiB are such; a value that is "
	  "not "
	  "is an error",
	  TO(infer) },
	{ "csv", NULL, "RFC 4180 records; fields end at SEP of -t, or comma", TO(order.csv) },
	{ "json", "FORM",
	  "values of JSON, as lines (lines) or in arrays (array); KEYDEF is PATH[:OPTS], as in "
	  ".user.id:nr or .tags[0]",
	  TO(order), .choices = json_forms, .call = set_json, .optional = true },
	{ "strict", NULL, "with --json: check all of a record, not only what is read of it",
	  TO(order.strict) },
	{ "skip-invalid", NULL,
	  "with --json or --infer-types: leave out records that are not JSON, or have a value that "
	  "is not of its key's type, and say how many",
	  TO(skip_invalid) },
	{ "record-size", "N", "binary records of N bytes each", TO(order.record_bytes),
	  .whole = record_size_option },
	{ "bkey", "SPEC",
	  "key of binary records, OFFSET:LENGTH[:TYPE][:r]; TYPE is bytes, or u8 to u64, i8 to "
	  "i64, f32, f64 with le or be; may be repeated",
	  TO(order), .call = add_bkey },
	{ "limit", "N", "write only the first N records of the result", TO(opts.top),
	  .number = { 0, UINT64_MAX }, .given = offsetof(struct settings, top), .former = "top" },
	{ "where", "CONDITION",
	  "leave out the records for which this is not true, as in 'price > 5', or '$3 > 5' "
	  "without "
	  "--header",
	  TO(where), .once = "conditions of records" },
	{ "keep-order", NULL, "with -u: in the order of the first occurrences, not sorted",
	  TO(keep_order) },
	{ "count", "NAME",
	  "with -u: prefix each record with its number of occurrences; with --csv: a column NAME "
	  "(count)",
	  .call = set_count, .optional = true },
	{ "split", "FILE",
	  "cut the result at the records of FILE, which are in order; the parts go to the names of "
	  "-o, in which %d is their number from 0",
	  TO(split), .once = "files of splitters", .dash = SETTING_DASH_KEPT },
	{ "splitters", "P",
	  "do not sort; write P - 1 records, found by sampling, for P parts of about equal size",
	  TO(splitters), .number = { 1, 1000000 } },
	{ "parts", "P",
	  "cut the result into P parts of about equal size, as --splitters and --split with one "
	  "command",
	  TO(cut_into), .number = { 1, 1000000 } },
	{ "resume", "DIR",
	  "with -o: checkpoints in DIR, instead of -T; after a crash the same command continues "
	  "from there",
	  TO(resume), .once = "directories of checkpoints" },
	PACKED_SETTINGS(struct settings, opts.run),
	{ .doc = "Spindle's own options, reporting:" },
	REPORT_SETTINGS(struct settings, opts.run),
	PLOT_SETTING(struct settings, 0),
	{ "usage", NULL, "print a short usage message and exit", .answer = SETTING_USAGE },
	{ .doc = "Spindle's own options, by default chosen from a cost model:" },
	{ "run-formation", "HOW", "load, replacement or auto", TO(opts.formation),
	  .values = sp_run_formation_values },
	{ "run-size", "SIZE", "memory for one run", TO(opts.run_bytes), .whole = size_option },
	{ "merge-policy", "HOW", "lazy, eager, polyphase, mms, ppms or auto", TO(opts.policy),
	  .values = sp_merge_policy_values },
	{ "fan-in", "N", "merge N runs at a time", TO(opts.fan_in), .number = { 2, INT_MAX } },
	{ "merge-buffer", "SIZE", "memory for the read buffers of one merge", TO(opts.merge_bytes),
	  .whole = size_option },
	{ "readahead", "HOW", "none, double, equal, forecast, extended, cluster or auto",
	  TO(opts.readahead), .values = sp_readahead_values },
	{ .doc = "Spindle's own options, temporary space:" },
	SPACE_SETTINGS(struct settings, opts.run),
	{ "recycle", "WHICH",
	  "reuse space of merged runs: none, all, or of merge levels 0 to WHICH", TO(opts.recycle),
	  .values = sp_recycle_values, .call = set_recycle },
	{ "require-space", NULL, "fail before sorting if -T might lack the space",
	  TO(require_space) },
	{ "spill-compression", "HOW", "lz4, zstd or none", TO(opts.run.compression),
	  .values = sp_spill_compression_values },
	{ 0 },
};
