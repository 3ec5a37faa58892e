/* SPDX-License-Identifier: MIT */
/*
 * Reads and checks the command line of xindex.
 */
#include <string.h>
#include "columns.h"
#include "number.h"
#include "outputs.h"
#include "packedwarn.h"
#include "xindex.h"

enum command_bit { BUILD = 1, LOOKUP = 2, RANGE = 4, STAT = 8, CHECK = 16 };

#define QUERIES (LOOKUP | RANGE)
#define READERS (QUERIES | CHECK)
#define MOVERS (BUILD | READERS)

static uint64_t page_size(const char *option, const char *text)
{
	uint64_t bytes = size_option(option, text);

	if (bytes < 512 || bytes > 65536 || (bytes & (bytes - 1)))
		number_die(NUMBER_INVALID, option, text, "a power of two from 512 to 65536");
	return bytes;
}

static void set_header(void *to, const char *option, const char *text)
{
	uint64_t *records = to;

	*records = text ? number_option(option, text, 0) : 1;
}

#define TO(member) SETTING_TO(struct config, member)

static const struct setting settings[] = {
	{ .doc = "Records and key:", .by = BUILD },
	{ "key", "KEYDEF",
	  "the key, as for xsort -k (the whole record); with --header it may be NAME[:OPTS]",
	  TO(build.key), .letter = 'k', .once = "keys" },
	{ "field-separator", "SEP", "fields of lines end at SEP, as for xsort -t", TO(separator),
	  .letter = 't' },
	{ "zero-terminated", NULL, "lines end with NUL, not newline", TO(zero), .letter = 'z' },
	{ "csv", NULL, "RFC 4180 records; fields end at SEP of -t, or comma", TO(csv) },
	{ "json", NULL, "lines that are values of JSON; KEYDEF is PATH[:OPTS], as in .user.id:n",
	  TO(json) },
	{ "strict", NULL, "with --json: check all of a record, not only what is read of it",
	  TO(strict) },
	{ "record-size", "N", "binary records of N bytes each; KEYDEF is OFFSET:LENGTH[:TYPE][:r]",
	  TO(record_bytes), .whole = record_size_option },
	{ "header", "N", "do not index the first N records (1)", TO(build.header_records),
	  .call = set_header, .optional = true },
	{ .doc = "The index:", .by = BUILD },
	{ "output", "INDEX", "write to INDEX, which appears when it is complete", TO(output),
	  .letter = 'o', .once = "outputs" },
	{ "page-size", "SIZE", "size of its pages, 512 to 64K (4K)", TO(build.page_bytes),
	  .whole = page_size },
	{ .doc = "What to find:", .by = QUERIES },
	{ "keys", "FILE", "keys, one per line; - is standard input", TO(keys),
	  .dash = SETTING_DASH_KEPT, .by = LOOKUP },
	{ "lo", "KEY", "the first key (the first one of the index)", TO(lo), .by = RANGE },
	{ "hi", "KEY", "end before this key (after the last one of the index)", TO(hi),
	  .by = RANGE },
	OUTPUT_SETTING(struct config, result, QUERIES),
	{ "offsets", NULL, "print the offsets of the records, not the records", TO(offsets) },
	{ .doc = "Resources:", .by = MOVERS },
	{ "buffer-size", "SIZE", "memory to use", TO(run.memory_bytes), .whole = size_option,
	  .letter = 'S' },
	{ "temporary-directory", "DIR", "put temporary data in DIR; may be repeated", TO(common),
	  .call = tmpdir_add, .letter = 'T' },
	{ "parallel", "N", "use N threads", TO(run.parallel), .count = 1024, .by = BUILD | CHECK },
	{ "depth", "N", "outstanding lookups, and reads of records (128)", TO(depth), .count = 1024,
	  .by = QUERIES },
	{ "engine", "NAME", "io_uring, libaio, sync or auto (auto)", TO(run.engine),
	  .values = sp_engine_values, .call = data_engine_set },
	{ "direct", "WHEN", "bypass the page cache: auto, always or never", TO(run.direct),
	  .values = sp_direct_values, .optional = true, .absent = 1 },
	{ "volume", "WHERE", "sim:MODEL,files=both: time of this simulated device", TO(common),
	  .choices = volume_kinds, .call = volume_set },
	{ .doc = "Report:", .by = MOVERS },
	STATS_SETTING(struct config, common.stats, 0),
	PROGRESS_SETTING(struct config, common.progress, BUILD | CHECK),
	{ "trace", "FILE", "write every block request to FILE", TO(run.trace_path) },
	{ "trace-tasks", "FILE", "log how the work divides over threads to FILE",
	  TO(run.trace_tasks_path), .by = BUILD },
	SETTING_ANSWERS,
	{ 0 },
};

static const struct command commands[] = {
	{ "build", "-o INDEX FILE", "Builds the index of a file.", BUILD, 1, 1, command_build },
	{ "lookup", "INDEX KEY...\nINDEX --keys=FILE", "Prints the records that have a key.",
	  LOOKUP, 1, UINT32_MAX, command_lookup },
	{ "range", "INDEX", "Prints the records between two keys, in their order.", RANGE, 1,
	  UINT32_MAX, command_range },
	{ "stat", "INDEX", "Describes an index.", STAT, 1, 1, command_stat },
	{ "check", "INDEX", "Compares all of an index with all of its source.", CHECK, 1, 1,
	  command_check },
	{ 0 },
};

/* Converts the options of records for the library. */
static void set_format(struct config *c)
{
	struct sp_recfmt *f = &c->build.format;

	if (c->separator && (!c->separator[0] || (c->separator[1] && strcmp(c->separator, "\\0"))))
		die("invalid -t argument %s: valid is one byte, or \\0", quote(c->separator));
	if (c->separator)
		c->build.separator = c->separator[1] ? 0 : (unsigned char)c->separator[0];
	if (c->record_bytes && (c->csv || c->zero || c->separator))
		die("--record-size does not go with %s", c->csv ? "--csv" : c->zero ? "-z" : "-t");
	if (c->csv && c->zero)
		die("--csv does not go with -z");
	if (c->json &&
	    (c->csv || c->zero || c->separator || c->record_bytes || c->build.header_records))
		die("--json does not go with %s", c->csv	    ? "--csv"
						  : c->zero	    ? "-z"
						  : c->separator    ? "-t"
						  : c->record_bytes ? "--record-size"
								    : "--header");
	if (c->strict && !c->json)
		die("--strict needs --json");
	if (c->record_bytes) {
		*f = (struct sp_recfmt){ .kind = SP_REC_FIXED, .fixed_bytes = c->record_bytes };
	} else if (c->csv) {
		c->build.separator = c->separator ? c->build.separator : ',';
		*f = (struct sp_recfmt){ .kind = SP_REC_CSV,
					 .separator = (char)c->build.separator };
	} else {
		*f = (struct sp_recfmt){ .kind = SP_REC_LINE,
					 .eol = c->zero ? '\0' : '\n',
					 .json = c->json,
					 .strict = c->strict };
	}
}

/* Replaces the name of a column in the key by its number. */
static void resolve_name(struct config *c)
{
	struct sp_columns columns = {
		.input = c->operands.text[0],
		.csv = c->csv,
		.separator = c->build.separator,
		.eol = c->build.format.eol,
		.header_records = c->build.header_records,
	};

	if (c->csv)
		columns.eol = '\n';
	if (!c->build.key || c->record_bytes || !sp_columns_is_name(c->build.key))
		return;
	if (c->json)
		die("-k %s: with --json a key is a path, such as .user.id", quote(c->build.key));
	if (!c->build.header_records)
		die("-k %s: to name columns, add --header", quote(c->build.key));
	if (!strcmp(columns.input, "-"))
		return;
	columns_read(&columns);
	c->build.key = columns_key(&columns, c->build.key);
	sp_columns_close(&columns);
}

/* Checks that no output is the source of the index; a damaged index is reported later. */
static void check_source(const struct sp_output_set *set, const char *path)
{
	const struct sp_index_opts o = { .run = SP_RUN_OPTS_INIT, .any_source = true };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_index_info info;
	struct sp_index *index;

	if (sp_index_open(&index, path, &o, &err))
		return;
	sp_index_info(index, &info);
	outputs_check_input(set, info.source);
	(void)sp_index_close(index);
}

/* Checks that no output is an input. */
static void check_files(const struct command *command, const struct config *c)
{
	struct sp_output_set set = { 0 };

	if (command->bit == BUILD || c->result)
		outputs_add(&set, c->result ? c->result : c->output, "--output", false);
	else
		outputs_add_stdout(&set, false);
	outputs_add_stats(&set, c->common.stats);
	outputs_add(&set, c->run.trace_path, "--trace", false);
	outputs_add(&set, c->run.trace_tasks_path, "--trace-tasks", false);
	outputs_check_input(&set, c->operands.text[0]);
	outputs_check_input(&set, c->keys);
	outputs_check_volume(&set, c->run.volume);
	if (command->bit != BUILD && (c->result || c->common.stats || c->run.trace_path))
		check_source(&set, c->operands.text[0]);
}

static void warn_packed(const struct command *command, const struct config *c)
{
	if (command->bit == BUILD) {
		packedwarn_input(c->operands.text[0], NULL);
		packedwarn_output(c->output, "lookups read it as it is");
	}
	if (c->keys)
		packedwarn_input(c->keys, NULL);
}

/* Has the library show the progress. */
static void show_progress(const struct command *command, struct config *c)
{
	static const char *const build[] = { "reading", "writing the index" };
	static const char *const check[] = { "reading the index", "comparing with the source" };
	static const double weights[2][2] = { { 3, 1 }, { 1, 3 } };

	if (!(command->bit & (BUILD | CHECK)) || !common_options_progress(&c->common, true))
		return;
	c->progress = (struct progress){ .phases = command->bit == BUILD ? build : check,
					 .weights = weights[command->bit == CHECK],
					 .nphases = 2,
					 .result_phase = -1 };
	progress_begin(&c->progress);
	c->show = progress_update;
}

static void check(const struct command *command, struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (command->bit == BUILD && !c->output)
		die_usage("build: -o INDEX is missing");
	if (command->bit == LOOKUP && (c->operands.n > 1) == (c->keys != NULL))
		die_usage(c->keys ? "lookup: KEY does not go with --keys"
				  : "lookup: missing KEY; --keys=FILE reads keys, --keys=- those "
				    "of standard input");
	if (command->bit == RANGE && c->operands.n > 1)
		die_usage("range: extra operand: %s; --lo=KEY and --hi=KEY are the keys",
			  quote(c->operands.text[1]));
	common_options_finish(&c->common);
	check_files(command, c);
	warn_packed(command, c);
	set_format(c);
	if (command->bit == BUILD)
		resolve_name(c);
	if (common_options_resources(&c->common, NULL, 0, true, &err))
		die_of(err.code, &err);
	show_progress(command, c);
	c->build.run = c->run;
	c->build.progress = c->show;
	c->build.progress_arg = &c->progress;
}

static const char notes[] =
	"Examples:\n"
	"  xindex build -t, -k3,3n -o orders.idx orders.txt\n"
	"  xindex lookup orders.idx 4711 4712\n"
	"  xindex range orders.idx --lo 4700 --hi 4800 --offsets\n"
	"\n"
	"Exit status: 0 for success, 1 if nothing is found or check finds a fault, 2\n"
	"after an error.\n";

const struct command *options_parse(struct config *c, int argc, char **argv)
{
	static const struct commands all = {
		.about = "An index over one key of a file.",
		.notes = notes,
		.list = commands,
		.settings = settings,
	};
	const struct command *command;

	*c = (struct config){ .run = SP_RUN_OPTS_INIT, .build = SP_INDEX_BUILD_OPTS_INIT };
	c->common.run = &c->run;
	command = commands_read(&all, argc, argv, c, &c->operands);
	check(command, c);
	return command;
}
