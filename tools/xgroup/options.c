/* SPDX-License-Identifier: MIT */
/*
 * The table of xgroup's options, and what follows from them.
 */
#include <string.h>
#include "autopack.h"
#include "number.h"
#include "outputs.h"
#include "packedwarn.h"
#include "xgroup.h"

#define THREADS_MAX 1024

static const char about[] =
	"Group the records of all FILEs by key, and write a row of aggregates for each\n"
	"group.  With no FILE, or when FILE is -, read standard input.  A single FILE\n"
	"can be a table of xtable: its columns have names, and the result is CSV.";

static const char notes[] =
	"KEYDEF is one column: its number, or with --header its name, and letters of\n"
	"sort, as in 3, 3n, name or name:f; or an expression, as in 'substr(day, 1, 7)'.\n"
	"Of binary records it is OFFSET:LENGTH[:TYPE][:r]; TYPE is bytes, u32, f64 ...\n"
	"Rows come in the order of the keys; texts compare by their bytes.\n"
	"\n"
	"LIST has FUNCTION(COLUMN) [as NAME], with commas between them; COLUMN can be an\n"
	"expression.  Functions:\n"
	"  count()               records; count(x): values of x\n"
	"  sum, mean, min, max   also of dates and texts: min and max\n"
	"  first, last           by the order of the input\n"
	"  distinct, mode        number of different values; the most frequent one\n"
	"  median, p0 to p100    exact percentiles, as p99.9(x)\n"
	"  ~median, ~p0 to ~p100 faster: they differ by at most 0.8 %\n"
	"  hist(x, 0, 10, 100)   a column of counts for each bin; also 0 to 100 by 10\n"
	"  var, stddev           of a sample\n"
	"  corr, slope, r2       of two columns: corr(x, y); slope is that of y over x\n"
	"  list                  all values, with semicolons between them\n"
	"Fields without a value do not count.\n"
	"\n"
	"Expressions and CONDITIONs have columns by name, \"quoted name\" or $NUMBER (of\n"
	"--having: of the result), numbers, 'texts', and:\n"
	"  + - * / % ||          arithmetic, exact where possible; joined texts\n"
	"  = != < <= > >= ^=     comparisons; x ^= y: x begins with y\n"
	"  between, in, like, is null, not, and, or\n"
	"  length, lower, upper, trim, substr, replace\n"
	"  number, abs, round, floor, ceil\n"
	"  if(CONDITION, x, y), coalesce(x, y, ...)\n"
	"  year, quarter, month, day, weekday, hour, minute, second, date\n"
	"\n"
	"SIZE takes the suffixes b (bytes), K, M, G, T, P, E (powers of 1024) and % (of\n"
	"the machine's memory); without one, -S is in KiB and other sizes in bytes.\n"
	"\n"
	"Exit status: 0 on success, 2 after an error.\n"
	"\n"
	"Examples, more of them in spindle-recipes(7):\n"
	"  xgroup --csv --header -k region --agg 'sum(price), mean(price)' sales.csv\n"
	"  xgroup -t'|' -k 5 --agg 'count(), sum(3) as total' orders.tbl\n"
	"  xgroup -k 1 --order='count():r' --limit=10 access.log\n"
	"  xgroup --csv --header -k endpoint --agg 'p50(ms), p99(ms), max(ms)' log.csv\n"
	"  xgroup --csv --header -k 'month(day)' --agg 'sum(price * n)' sales.csv\n"
	"  xgroup --csv --header -k city --where 'n > 5' --having 'count() > 9' x.csv\n"
	"  xgroup -k region --agg 'sum(price)' sales.table\n"
	"  xgroup --record-size=24 -k 0:4:u32 --agg 'mean(16:8:f64)' samples\n"
	"  xgroup --csv --header -k user --largest=2 -k amount:nr payments.csv\n"
	"  xgroup --csv --header -k city --split='by-%s.csv' people.csv\n"
	"  xgroup --csv --header -k region --pivot=year --agg 'sum(price)' sales.csv\n";

static void add_text(const char ***list, size_t *n, const char *text)
{
	*list = must_alloc(*list, *n + 1, sizeof(**list));
	(*list)[(*n)++] = text ? text : "";
}

static void add_key(void *settings, const char *option, const char *text)
{
	struct settings *set = settings;

	(void)option;
	if (set->largest)
		add_text(&set->by, &set->opts.nby, text);
	else
		add_text(&set->keys, &set->opts.nkeys, text);
	set->opts.by = set->by;
	set->opts.keys = set->keys;
}

static void add_percent(void *settings, const char *option, const char *text)
{
	struct settings *set = settings;

	(void)option;
	add_text(&set->percent, &set->opts.npercent, text);
	set->opts.percent = set->percent;
}

static void add_cumulative(void *settings, const char *option, const char *text)
{
	struct settings *set = settings;

	(void)option;
	add_text(&set->cumulative, &set->opts.ncumulative, text);
	set->opts.cumulative = set->cumulative;
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

static const struct sp_enum_value formats[] = { { "text", SP_CALL_ROWS_TEXT },
						{ "csv", SP_CALL_ROWS_CSV },
						{ "json", SP_CALL_ROWS_JSON },
						{ "table", ROWS_TABLE },
						{ NULL, 0 } };
static const struct sp_enum_value json_forms[] = { { "lines", 0 }, { "array", 1 }, { NULL, 0 } };

static void set_json(void *format, const char *option, const char *text)
{
	struct sp_recfmt *f = format;

	f->json = true;
	f->array = text && choice_option(option, text, json_forms);
}

#define TO(member) SETTING_TO(struct settings, member)

static const struct setting settings[] = {
	{ .doc = "Groups:" },
	{ "key", "KEYDEF", "group by this column or expression; may be repeated", .call = add_key,
	  .letter = 'k' },
	{ "agg", "LIST", "aggregates of each group (count())", TO(opts.aggregates), .letter = 'a',
	  .once = "lists of aggregates" },
	{ "largest", "N",
	  "instead of aggregates: the first N records of each group, whole, in the order of the "
	  "keys "
	  "that follow this option",
	  TO(opts.largest), .number = { 1, UINT64_MAX },
	  .given = offsetof(struct settings, largest) },
	{ "split", "FORM",
	  "instead of aggregates: write the records of each group, whole, to a file of its own, "
	  "FORM "
	  "with a key for each %s",
	  TO(opts.split), .once = "names of files" },
	{ "pivot", "KEYDEF", "a column of the result for each value of this key", TO(opts.pivot),
	  .once = "pivots" },
	{ "percent", "COLUMN [as NAME]",
	  "add a column: the share of the total, in percent, of this count or sum (the first one); "
	  "may be repeated",
	  .call = add_percent, .optional = true },
	{ "cumulative", "COLUMN [as NAME]",
	  "add a column: the sum of this column of all rows up to this one (the first one); may be "
	  "repeated",
	  .call = add_cumulative, .optional = true },
	{ "having", "CONDITION", "write only the rows for which this is true", TO(opts.having),
	  .once = "conditions of rows" },
	{ "order", "HOW",
	  "key; first, the order of the first records; or a column of the result, NAME or NAME:r "
	  "for descending (key)",
	  TO(opts.order), .once = "orders" },
	{ "format", "FORM",
	  "write rows in the format of the records (text; of JSON, json), as CSV, as JSON, one "
	  "object a line, or, with -o, as a table of xtable",
	  TO(format), .choices = formats },
	{ "limit", "N", "write only the first N rows of the result", TO(opts.top),
	  .number = { 0, UINT64_MAX }, .given = offsetof(struct settings, opts.limited) },
	{ .doc = "Records:" },
	{ "where", "CONDITION", "group only the records for which this is true", TO(opts.where),
	  .once = "conditions of records" },
	{ "csv", NULL, "RFC 4180 records; fields end at SEP of -t, or comma", TO(csv) },
	{ "json", "FORM",
	  "values of JSON, as lines (lines) or in arrays (array); columns are paths, as in "
	  ".user.id "
	  "or .tags[0]",
	  TO(opts.format), .call = set_json, .choices = json_forms, .optional = true },
	{ "strict", NULL, "with --json: check all of a record, not only what is read of it",
	  TO(opts.format.strict) },
	{ "record-size", "N",
	  "binary records of N bytes each; columns are OFFSET:LENGTH[:TYPE], as in 8:4:u32",
	  TO(record_bytes), .whole = record_size_option },
	{ "field-separator", "SEP", "fields end at the byte SEP, not at runs of blanks",
	  TO(separator), .letter = 't' },
	{ "header", NULL, "the first record of each input has the names of the columns",
	  TO(opts.header) },
	{ "zero-terminated", NULL, "lines end with NUL, not newline", TO(zero), .letter = 'z' },
	{ "null", "TEXT", "fields with this text have no value, as empty ones", TO(opts.null_text),
	  .once = "texts without a value" },
	{ "skip-invalid", NULL,
	  "leave out records whose value is not a number or a date, or that are not JSON, and "
	  "count "
	  "them, instead of an error",
	  TO(opts.skip_invalid) },
	{ "output", "FILE", "write to FILE, which may be an input and appears when it is complete",
	  TO(output), .once = "output files", .letter = 'o', .dash = SETTING_DASH_OUTPUT },
	PACKED_SETTINGS(struct settings, opts.run),
	{ .doc = "Resources:" },
	{ "buffer-size", "SIZE", "memory for the whole program, plus up to 16 MiB",
	  TO(opts.run.memory_bytes), .whole = memory, .letter = 'S' },
	{ "parallel", "N", "use at most N threads", TO(opts.run.parallel), .whole = threads },
	{ "temporary-directory", "DIR",
	  "put temporary data in DIR, not in $TMPDIR or /tmp; may be repeated", TO(common),
	  .call = tmpdir_add, .letter = 'T' },
	SPACE_SETTINGS(struct settings, opts.run),
	{ .doc = "Reporting:" },
	{ "explain", NULL,
	  "print the plan, estimated from a sample, on standard error, and do no more",
	  TO(common.explain) },
	{ "stats", "FILE",
	  "write a report as JSON to FILE; without FILE, as text to standard error", TO(common),
	  .call = stats_set, .optional = true },
	{ "details", NULL, "with --stats or --explain: print all values, too", TO(common.details) },
	{ "trace", "FILE", "write every block request to FILE", TO(opts.run.trace_path) },
	{ "trace-tasks", "FILE", "log how the work divides over threads to FILE",
	  TO(opts.run.trace_tasks_path) },
	PROGRESS_SETTING(struct settings, common.progress, 0),
	PLOT_SETTING(struct settings, 0),
	SETTING_ANSWERS,
	{ 0 },
};

/* Refuses an output that is another output or an input; only the result may be an input. */
static void check_files(const struct settings *set)
{
	struct sp_output_set out = { 0 };
	bool warned = set->opts.run.decompress != SP_PACKED_NONE;

	outputs_common(&out, &set->common, set->output);
	outputs_check_inputs(&out, set->files, set->nfiles);
	for (size_t i = 0; i < set->nfiles && !warned; i++)
		warned = packedwarn_input(set->files[i], "--decompress");
	if (set->opts.run.compress_output == SP_PACKED_NONE && set->format != ROWS_TABLE)
		packedwarn_output(set->output, "--compress-output compresses it");
}

static char separator_byte(const char *text)
{
	if (!strcmp(text, "\\0"))
		return '\0';
	if (!strcmp(text, "\\t"))
		return '\t';
	if (!text[0] || text[1])
		die("-t %s: a separator is one byte", quote(text));
	return text[0];
}

/* Sets the format of records of JSON. */
static void set_format_json(struct settings *set)
{
	struct sp_recfmt *f = &set->opts.format;
	static const char json[] = "--json";

	args_exclude(set->csv, "--csv", true, json);
	args_exclude(set->zero, "-z", true, json);
	args_exclude(set->separator, "-t", true, json);
	f->kind = SP_REC_LINE;
	f->eol = '\n';
}

/* Returns the format in which rows are written. */
static enum sp_call_rows written(const struct settings *set)
{
	if (set->format != ROWS_TABLE)
		return (enum sp_call_rows)set->format;
	return set->opts.format.json || set->record_bytes ? SP_CALL_ROWS_CSV : SP_CALL_ROWS_AS_READ;
}

/* Sets the format of rows, and what of it follows from that of records. */
static void set_rows(struct settings *set)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (sp_call_group_rows(&set->opts, set->csv, written(set), &err))
		die_argument(&err);
}

/* Sets the format of records of a fixed length. */
static void set_format_binary(struct settings *set)
{
	static const char binary[] = "--record-size";

	args_exclude(set->csv, "--csv", true, binary);
	args_exclude(set->zero, "-z", true, binary);
	args_exclude(set->separator, "-t", true, binary);
	set->opts.format =
		(struct sp_recfmt){ .kind = SP_REC_FIXED, .fixed_bytes = set->record_bytes };
}

/* Sets the format of records. */
static void set_format(struct settings *set)
{
	struct sp_recfmt *f = &set->opts.format;

	args_exclude(f->json, "--json", set->record_bytes, "--record-size");
	if (f->json)
		set_format_json(set);
	else if (set->record_bytes)
		set_format_binary(set);
	set_rows(set);
	if (f->json || set->record_bytes)
		return;
	args_exclude(set->csv, "--csv", set->zero, "-z");
	*f = (struct sp_recfmt){ .kind = set->csv ? SP_REC_CSV : SP_REC_LINE,
				 .eol = set->zero ? '\0' : '\n',
				 .separator = ',' };
	if (!set->separator)
		return;
	set->opts.separator = (unsigned char)separator_byte(set->separator);
	f->separator = (char)set->opts.separator;
	if (set->csv && strchr("\"\r\n", f->separator))
		die("-t %s: quotes, line ends and NUL cannot separate the fields of CSV",
		    quote(set->separator));
	if (!set->csv && f->separator == f->eol)
		die("-t %s: this byte ends a line", quote(set->separator));
}

void options_parse(struct settings *set, int argc, char **argv)
{
	static const struct args args = {
		.settings = settings, .operands = "[FILE]...", .about = about, .notes = notes
	};
	static const char *const standard_input[] = { "-" };
	struct operands operands;

	args_read(&args, argc, argv, set, &operands);
	set->files = operands.n ? (const char *const *)operands.text : standard_input;
	set->nfiles = operands.n ? operands.n : 1;
	set_format(set);
	args_exclude(set->opts.split, "--split", set->output, "--output");
	common_options_finish(&set->common);
	if (!common_options_simulated(&set->common))
		autopack(&set->common, set->files, set->nfiles,
			 set->format == ROWS_TABLE ? NULL : set->output);
	common_options_packed(&set->common, set->output, "--output");
	runplot_begin(&set->common);
	check_files(set);
}
