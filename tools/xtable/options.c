/* SPDX-License-Identifier: MIT */
/*
 * Reads and checks the command line of xtable.
 */
#include <stdlib.h>
#include <string.h>
#include "number.h"
#include "autopack.h"
#include "outputs.h"
#include "packedwarn.h"
#include "volumes.h"
#include "xtable.h"

enum command_bit {
	LOAD = 1,
	SCAN = 2,
	GET = 4,
	INFO = 8,
	CHECK = 16,
	UPDATE = 32,
	DELETE = 64,
	CONVERT = 128,
	EXPLAIN = 256,
	COMPARE = 512,
	APPEND = 1024,
	INDEX = 2048,
	SCHEMA = 4096,
	CREATE = 8192,
	RUN = 16384,
	ALTER = 32768,
};

#define WRITERS (LOAD | CREATE | CONVERT)
#define PRINTERS (SCAN | GET)
#define CHOOSERS (GET | UPDATE | DELETE)
#define CHANGERS (UPDATE | DELETE | APPEND | ALTER)
#define POOLED (PRINTERS | UPDATE | RUN)
#define JUDGES (EXPLAIN | COMPARE)
#define TEXT_READERS (LOAD | SCHEMA | JUDGES)
#define MOVERS (LOAD | CONVERT | PRINTERS | CHANGERS | CHECK | INDEX)
#define WORKERS (MOVERS | RUN)

#define CHANGED_BYTES (UINT64_C(64) << 20) /* default of --changed-size */

static const struct sp_enum_value aims[] = { { "read", false }, { "write", true }, { 0 } };
static const struct sp_enum_value answers[] = { { "no", false }, { "yes", true }, { 0 } };

static uint64_t cell_size(const char *option, const char *text)
{
	uint64_t bytes = size_option(option, text);

	if (bytes < 512 || bytes > 65536 || (bytes & (bytes - 1)))
		number_die(NUMBER_INVALID, option, text, "a power of two from 512 to 65536");
	return bytes;
}

static void add_together(void *to, const char *option, const char *text)
{
	struct config *c = to;

	if (c->load.ntogether == LISTS_MAX)
		die("more than %d %s arguments", LISTS_MAX, option);
	c->together[c->load.ntogether++] = text;
}

static void set_volumes(void *to, const char *option, const char *text)
{
	struct config *c = to;

	c->load.placing.volumes = volumes_value(option, text, c->volumes, VOLUMES_MAX);
	c->load.placing.volume_names = c->volumes[0] ? c->volumes : NULL;
}

static void add_set(void *to, const char *option, const char *text)
{
	struct config *c = to;

	if (c->nset == LISTS_MAX)
		die("more than %d %s arguments", LISTS_MAX, option);
	c->set[c->nset++] = text;
}

static void add_rename(void *to, const char *option, const char *text)
{
	struct config *c = to;

	if (c->alter.nrename == LISTS_MAX)
		die("more than %d %s arguments", LISTS_MAX, option);
	c->renames[c->alter.nrename++] = text;
}

static void add_query(void *to, const char *option, const char *text)
{
	struct config *c = to;

	if (c->compare.nqueries == LISTS_MAX)
		die("more than %d %s arguments: write them to a file for --workload", LISTS_MAX,
		    option);
	c->queries[c->compare.nqueries++] = text;
}

#define TO(member) SETTING_TO(struct config, member)

static const struct setting settings[] = {
	{ .doc = "Text of the records:", .by = TEXT_READERS },
	{ "field-separator", "SEP", "fields end at the byte SEP (a tab; with --csv a comma)",
	  TO(separator), .letter = 't' },
	{ "csv", NULL, "RFC 4180 records, with fields in quotes where needed", TO(csv) },
	{ "json", NULL, "lines of JSON, an object each; columns are named by paths such as a.b",
	  TO(json_lines) },
	{ "record-size", "N", "binary records of N bytes each; needs --types or --schema",
	  TO(load.record_bytes), .whole = record_size_option, .by = LOAD | JUDGES },
	{ "header", NULL, "the first record has the names of the columns (c1, c2, ...)",
	  TO(load.header) },
	{ "null", "TEXT", "fields without quotes that are TEXT are null (empty ones)",
	  TO(load.null_text), .once = "spellings of null" },
	{ "decompress", "FORMAT",
	  "inputs are compressed: gzip, zstd, lz4 or xz; without FORMAT, those recognised by "
	  "their first bytes",
	  TO(run.decompress), .values = sp_packed_values, .optional = true,
	  .absent = SP_PACKED_AUTO, .by = TEXT_READERS | APPEND },
	AUTOPACK_SETTING(struct config, "decompress inputs that are compressed",
			 TEXT_READERS | APPEND),
	{ .doc = "Columns:", .by = TEXT_READERS | CREATE | CONVERT | ALTER },
	{ "types", "NAME:TYPE,...",
	  "types of these columns; others are inferred (convert, alter: stay)", TO(load.types),
	  .once = "lists of types", .by = TEXT_READERS | CONVERT | ALTER },
	{ "add", "NAME:TYPE,...", "new columns at the end; --set gives their values (null)",
	  TO(alter.add), .once = "lists of new columns", .by = ALTER },
	{ "drop", "COL,...", "columns to drop", TO(alter.drop), .once = "lists of columns",
	  .by = ALTER },
	{ "rename", "OLD=NEW", "another name of a column; may be repeated", .call = add_rename,
	  .by = ALTER },
	{ "schema", "FILE", "names and types of all columns, as the command schema prints them",
	  TO(load.schema), .dash = SETTING_DASH_INPUT, .by = LOAD | CREATE | JUDGES },
	{ "exact", NULL, "infer types only that write each field as it was read", TO(load.exact),
	  .by = TEXT_READERS },
	{ "records", "N", "with --schema: records of the table", TO(records),
	  .number = { 0, UINT64_MAX }, .given = offsetof(struct config, records_given),
	  .by = CREATE | JUDGES },
	{ "no-data", NULL, "the cells of the table are never written; needs --volume", TO(no_data),
	  .by = CREATE },
	{ .doc = "The table:", .by = WRITERS | JUDGES },
	{ "layout", "NAME", "nsm, pax, dsm, csm or auto (csm); auto needs --workload",
	  TO(load.layout), .values = sp_table_layout_values, .by = WRITERS },
	{ "together", "COL,...", "keep these columns in the same cells; may be repeated",
	  .call = add_together, .by = WRITERS },
	{ "cell", "SIZE", "size of a cell, 512 to 64K (4K; nsm, pax and dsm: 8K)",
	  TO(load.cell_bytes), .whole = cell_size, .by = WRITERS },
	{ "records-per-page", "N", "records of an A-page (as many as fill its cells)",
	  TO(load.page_records), .count = 1 << 24, .by = WRITERS },
	{ "placement", "HOW",
	  "contiguous; semiseq: along tracks; mems: on a sled; with the layout auto, auto "
	  "(contiguous)",
	  TO(load.placing.how), .values = sp_placement_values },
	{ "volumes", "N|PATH,...",
	  "with semiseq: N drives, each as the volume, as parts of TABLE; or TABLE and the files "
	  "or devices PATH,... (1)",
	  .call = set_volumes },
	{ "depth-rows", "N", "with semiseq: N cells of an A-page on consecutive tracks (fastest)",
	  TO(load.placing.depth_rows), .count = 4096 },
	{ "aim", "OP",
	  "with semiseq: cells of an A-page are as far apart as hops of reads, or of writes, need "
	  "(read)",
	  TO(load.placing.aim_writes), .choices = aims },
	{ "empty-lane", NULL, "with semiseq or mems: an A-page has one more cell, which is empty",
	  TO(load.placing.empty_lane) },
	{ "skip-size", "SIZE", "with semiseq or mems: leave SIZE of each drive to other tables (0)",
	  TO(load.placing.skip_bytes), .whole = size_option },
	{ "overwrite", NULL, "allow the new table and volumes to exist, or to be block devices",
	  TO(run.overwrite), .by = WRITERS },
	{ .doc = "Workload:", .by = JUDGES | LOAD | CREATE | RUN },
	{ "workload", "FILE",
	  "queries, one per line: [WEIGHT] scan COLS [where COLS SHARE],\n[WEIGHT] get N COLS, "
	  "update N COLS or append N; of run: clients",
	  TO(compare.workload), .dash = SETTING_DASH_INPUT },
	{ "runtime", "TIME", "measure for TIME, virtual on a simulated volume (10s)",
	  TO(clients.runtime_ns), .whole = span_value, .by = RUN },
	{ "ramp-time", "TIME", "run for TIME before measuring (0)", TO(clients.ramp_ns),
	  .whole = span_value, .by = RUN },
	{ "journal", "YES|NO",
	  "no: changed cells of tables without data stay in memory, and are written when others "
	  "need their space (yes)",
	  TO(journal), .choices = answers, .by = RUN },
	{ "changed-size", "SIZE",
	  "with --journal=no: memory for changed cells (64M, or that of --pool)",
	  TO(clients.changed_bytes), .whole = size_option,
	  .given = offsetof(struct config, changed_given), .by = RUN },
	{ "query", "QUERY", "a query, such as 'scan a1,a2' or 'get 1000 *'; may be repeated",
	  .call = add_query, .letter = 'q', .by = JUDGES },
	{ "run", NULL, "also run scans and gets on TABLE as it is stored, and show their time",
	  TO(compare.measure_stored), .by = EXPLAIN },
	{ .doc = "Selection:", .by = CHOOSERS | ALTER },
	{ "columns", "COL,...", "columns to print, in this order (all)", TO(query.columns),
	  .once = "lists of columns", .by = PRINTERS },
	{ "where", "EXPR", "only the records for which EXPR is true", TO(query.where),
	  .once = "predicates", .by = SCAN | UPDATE | DELETE },
	{ "agg", "F(COL),...", "print count, sum, avg, min or max, not the records", TO(query.agg),
	  .once = "lists of aggregates", .by = SCAN },
	{ "lo", "N", "number of the first record, from 0 (0)", TO(query.lo),
	  .number = { 0, UINT64_MAX }, .by = SCAN },
	{ "hi", "N", "end before the record of this number (after the last one)", TO(query.hi),
	  .number = { 0, UINT64_MAX }, .by = SCAN },
	{ "ahead-size", "SIZE", "read SIZE of each column group ahead (as -S allows)",
	  TO(query.ahead_bytes), .whole = size_option, .by = SCAN },
	{ "limit", "N", "print at most N records", TO(query.limit), .number = { 0, UINT64_MAX },
	  .by = SCAN },
	{ "by", "COL", "find records by their values in this column", TO(by) },
	{ "keys", "FILE", "record numbers, or values, one per line; - is standard input", TO(keys),
	  .dash = SETTING_DASH_KEPT },
	{ "set", "COL=VALUE,...",
	  "new values: null, a text in single quotes, or bytes up to a comma; may be repeated",
	  .call = add_set, .by = UPDATE | ALTER },
	{ "from", "FILE",
	  "new values from FILE, whose header names the columns, for the records with its values "
	  "in the column of --by",
	  TO(from), .dash = SETTING_DASH_KEPT, .by = UPDATE },
	{ "access", "HOW",
	  "read all needed columns (s-scan), those of --where first (si-scan), or use an index "
	  "(index); auto chooses (auto)",
	  TO(query.access), .values = sp_table_access_values, .by = SCAN },
	{ "dsm-join", "HOW",
	  "joins of columns of the layout dsm that take virtual time: none, tuple (for each value) "
	  "or vector (for each 1024 values) (none)",
	  TO(dsm_join), .values = sp_table_dsm_join_values, .by = PRINTERS | RUN },
	{ "index", "FILE", "the index of the column (TABLE.COL.index)", TO(query.index),
	  .by = SCAN | CHOOSERS },
	{ .doc = "Output:", .by = PRINTERS },
	{ "format", "FORM", "text, csv, json or fixed (as the table was given)", TO(query.format),
	  .values = sp_table_format_values },
	{ "discard", NULL, "print nothing; needed by a table without data", TO(query.discard),
	  .by = PRINTERS | UPDATE },
	OUTPUT_SETTING(struct config, result, PRINTERS),
	{ "output", "INDEX", "write to INDEX, which appears when it is complete (TABLE.COL.index)",
	  TO(output), .letter = 'o', .once = "outputs", .by = INDEX },
	{ "json", NULL, "print JSON", TO(json), .by = INFO | RUN },
	{ .doc = "Resources:", .by = WORKERS | CREATE },
	{ "buffer-size", "SIZE", "memory to use", TO(run.memory_bytes), .whole = size_option,
	  .letter = 'S', .by = WORKERS | SCHEMA | JUDGES },
	{ "pool", "MANAGER",
	  "read through a buffer pool whose frames have all columns (F), those of the query (S), "
	  "or those of all scans that share one (D)",
	  TO(pool_opts.manager), .values = sp_pool_manager_values,
	  .given = offsetof(struct config, pool_given), .by = POOLED },
	{ "pool-size", "SIZE", "memory of the pool, a part of -S (a quarter)", TO(pool_opts.bytes),
	  .whole = size_option, .by = POOLED },
	{ "frame", "SIZE", "memory of a frame (4M or a sixteenth of the pool, but two A-pages)",
	  TO(pool_opts.frame_bytes), .whole = size_option, .by = POOLED },
	{ "update-unit", "UNIT",
	  "with --pool: change the cells that have new values (cells), or whole A-pages (page)",
	  TO(pool_opts.update_unit), .values = sp_pool_update_unit_values,
	  .given = offsetof(struct config, update_unit_given), .by = UPDATE | RUN },
	{ "temporary-directory", "DIR", "put temporary data in DIR; may be repeated", TO(common),
	  .call = tmpdir_add, .letter = 'T', .by = LOAD | APPEND | INDEX },
	{ "parallel", "N", "use N threads", TO(run.parallel), .count = 1024,
	  .by = WORKERS | JUDGES },
	{ "depth", "N", "requests outstanding, at most (128 reads, 64 writes; run: 4096)",
	  TO(load.depth), .count = 4096, .by = WORKERS & ~CHECK },
	{ "engine", "NAME", "io_uring, libaio, sync or auto (auto)", TO(run.engine),
	  .values = sp_engine_values, .call = data_engine_set },
	{ "direct", "WHEN", "bypass the page cache: auto, always or never", TO(run.direct),
	  .values = sp_direct_values, .optional = true, .absent = 1 },
	WAIT_SETTING(struct config, run, ~SCHEMA),
	{ "volume", "sim:MODEL",
	  "requests take the time of this simulated device; load and create keep it in TABLE",
	  TO(common), .choices = volume_kinds, .call = volume_set,
	  .by = WORKERS | JUDGES | CREATE },
	{ "to-volume", "sim:MODEL", "the volume of OUT, if it is another one (that of --volume)",
	  TO(to_volume), .by = CONVERT },
	{ "geometry", "FILE", "geometry of the device, from diskprobe", TO(common.geometry),
	  .dash = SETTING_DASH_INPUT, .by = WORKERS | JUDGES | CREATE },
	{ "seed", "N", "seed of all random choices", TO(run.seed), .number = { 0, UINT64_MAX },
	  .by = WORKERS | JUDGES | CREATE },
	{ .doc = "Report:", .by = WORKERS | JUDGES },
	STATS_SETTING(struct config, common.stats, 0),
	{ "trace", "FILE", "write every block request to FILE", TO(run.trace_path), .by = WORKERS },
	{ "trace-tasks", "FILE", "log how the work divides over threads to FILE",
	  TO(run.trace_tasks_path), .by = WORKERS },
	PROGRESS_SETTING(struct config, common.progress, MOVERS & ~GET),
	SETTING_ANSWERS,
	{ 0 },
};

static const struct command commands[] = {
	{ "load", "TABLE [FILE]...", "Makes a table of the records of files.", LOAD, 1, UINT32_MAX,
	  command_load },
	{ "create", "TABLE", "Makes a table without data, whose requests take only time.", CREATE,
	  1, 1, command_create },
	{ "scan", "TABLE", "Prints records, or aggregates of them.", SCAN, 1, 1, command_scan },
	{ "get", "TABLE ROW...\n--by=COL TABLE VALUE...\n--keys=FILE [--by=COL] TABLE",
	  "Prints records by number, from 0, or by value.", GET, 1, UINT32_MAX, command_get },
	{ "index", "TABLE COL", "Builds the index of a column.", INDEX, 2, 2, command_index },
	{ "update",
	  "--set=COL=VALUE,... TABLE ROW...\n--set=COL=VALUE,... --where=EXPR TABLE\n"
	  "--set=COL=VALUE,... --by=COL TABLE VALUE...\n--by=COL --from=FILE TABLE",
	  "Changes values of records.", UPDATE, 1, UINT32_MAX, command_update },
	{ "delete", "TABLE ROW...\n--where=EXPR TABLE\n--by=COL TABLE VALUE...",
	  "Deletes records; the numbers of the others stay.", DELETE, 1, UINT32_MAX,
	  command_delete },
	{ "append", "TABLE [FILE]...", "Adds records of files, in the form of those loaded.",
	  APPEND, 1, UINT32_MAX, command_append },
	{ "alter", "TABLE", "Adds, drops and renames columns, and changes their types.", ALTER, 1,
	  1, command_alter },
	{ "convert", "TABLE OUT", "Copies a table, without its deleted records.", CONVERT, 2, 2,
	  command_convert },
	{ "info", "TABLE", "Describes a table.", INFO, 1, 1, command_info },
	{ "check", "TABLE", "Verifies every cell of a table.", CHECK, 1, 1, command_check },
	{ "schema", "[FILE]...", "Prints the tightest types of all values of files.", SCHEMA, 0,
	  UINT32_MAX, command_schema },
	{ "run", "--workload=FILE TABLE...",
	  "Runs clients on tables, and measures their transactions.", RUN, 1, 256, command_run },
	{ "explain", "TABLE\nFILE\n--schema=FILE --records=N",
	  "Predicts queries under each layout.", EXPLAIN, 0, 1, command_explain },
	{ "compare", "TABLE\nFILE\n--schema=FILE --records=N",
	  "Measures queries under each layout, on the simulated volume.", COMPARE, 0, 1,
	  command_compare },
	{ 0 },
};

/* Adds the table that a command writes, or standard output. */
static void add_output(const struct command *command, const struct config *c,
		       struct sp_output_set *set)
{
	if (command->bit & (LOAD | CREATE))
		outputs_add(set, c->operands.text[0], "TABLE", false);
	else if (command->bit == CONVERT)
		outputs_add(set, c->operands.text[1], "OUT", false);
	else if (command->bit == INDEX || c->result)
		outputs_add(set, c->result ? c->result : c->output, "--output", false);
	else
		outputs_add_stdout(set, false);
}

static void check_inputs(const struct command *command, const struct config *c,
			 const struct sp_output_set *set)
{
	outputs_check_input(set, c->load.schema);
	outputs_check_input(set, c->common.geometry);
	outputs_check_input(set, c->compare.workload);
	outputs_check_input(set, c->keys);
	outputs_check_input(set, c->from);
	outputs_check_input(set, c->query.index);
	outputs_check_volume(set, c->run.volume);
	if (!(command->bit & (LOAD | CREATE)) && c->operands.n)
		outputs_check_input(set, c->operands.text[0]);
	for (unsigned i = 1; command->bit & (LOAD | APPEND | SCHEMA | RUN) && i < c->operands.n;
	     i++)
		outputs_check_input(set, c->operands.text[i]);
	if (command->bit & (LOAD | APPEND) && c->operands.n == 1)
		outputs_check_input(set, "-");
}

/* Checks that no output is a volume of a table that the command uses. */
static void check_tables(const struct command *command, const struct config *c,
			 const struct sp_output_set *set)
{
	const unsigned n = command->bit == RUN			     ? c->operands.n
			   : command->bit & (LOAD | CREATE | SCHEMA) ? 0
								     : 1;

	for (unsigned i = 0; set->n && i < n && i < c->operands.n; i++)
		check_table_volumes(c, c->operands.text[i], set);
}

/* Checks that a volume of the new table is no other file. */
static void check_volume(const struct command *command, const struct config *c, const char *name)
{
	struct sp_output_set set = { 0 };
	char *path = volumes_path(c->operands.text[command->bit == CONVERT], name);

	outputs_add(&set, path, "--volumes", false);
	outputs_add_stats(&set, c->common.stats);
	outputs_add(&set, c->run.trace_path, "--trace", false);
	outputs_add(&set, c->run.trace_tasks_path, "--trace-tasks", false);
	check_inputs(command, c, &set);
	check_tables(command, c, &set);
	free(path);
}

/* Checks that no output is an input or the table. */
static void check_files(const struct command *command, const struct config *c)
{
	struct sp_output_set set = { 0 };

	add_output(command, c, &set);
	outputs_add_stats(&set, c->common.stats);
	outputs_add(&set, c->run.trace_path, "--trace", false);
	outputs_add(&set, c->run.trace_tasks_path, "--trace-tasks", false);
	check_inputs(command, c, &set);
	for (unsigned i = 0; command->bit & WRITERS && c->load.placing.volume_names &&
			     i + 1 < c->load.placing.volumes;
	     i++)
		check_volume(command, c, c->volumes[i]);
	check_tables(command, c, &set);
}

static void warn_packed(const struct command *command, const struct config *c)
{
	for (unsigned i = 1; command->bit & (LOAD | APPEND) && i < c->operands.n; i++)
		if (c->run.decompress == SP_PACKED_NONE)
			packedwarn_input(c->operands.text[i], "--decompress");
	if (c->keys)
		packedwarn_input(c->keys, NULL);
}

/* Checks the operands of a command on chosen records, and that they are chosen in one way. */
static void check_choice(const struct command *command, const struct config *c)
{
	const char *by_where = command->bit == GET ? NULL : c->query.where;
	const int ways =
		(c->operands.n > 1) + (c->keys != NULL) + (by_where != NULL) + (c->from != NULL);

	if (!ways)
		die_usage("%s: missing %s; --keys=FILE reads them, --keys=- from standard input",
			  command->name, c->by ? "VALUE" : "ROW");
	if (ways > 1)
		die_usage("%s: %s, --keys, --where and --from do not go together", command->name,
			  c->by ? "VALUE" : "ROW");
	if (c->by && by_where)
		die("--by does not go with --where");
	if (c->from && !c->by)
		die("--from needs --by");
	if (c->from && c->nset)
		die("--from does not go with --set");
	if (command->bit == UPDATE && !c->nset && !c->from)
		die_usage("update: --set=COL=VALUE or --from=FILE is missing");
	if (c->query.index && !c->by)
		die("--index needs --by");
}

/* Checks the options of a scan. */
static void check_scan(const struct config *c)
{
	const struct sp_table_query *q = &c->query;

	if (q->agg && (q->columns || q->format != SP_TABLE_AS_LOADED))
		die("--agg does not go with %s", q->columns ? "--columns" : "--format");
	if (q->agg && q->limit != UINT64_MAX)
		die("--agg does not go with --limit");
	args_exclude(c->result, "--output", q->discard, "--discard");
	if (q->agg && q->discard)
		die("--agg does not go with --discard");
	if (q->lo > q->hi)
		die("--lo is greater than --hi");
	if (q->index && !q->where)
		die("--index needs --where");
	if (q->access != SP_TABLE_ACCESS_AUTO && !q->where)
		die("--access needs --where");
}

/* Sets how cells that clients change are kept. */
static void check_run(struct config *c)
{
	if (!c->compare.workload)
		die_usage("run: --workload=FILE is missing");
	if (c->journal && c->clients.changed_bytes)
		die("--changed-size needs --journal=no");
	if (!c->journal && !c->clients.changed_bytes)
		c->clients.changed_bytes = CHANGED_BYTES;
}

static void check_judge(const struct command *command, const struct config *c)
{
	if (!c->operands.n && !c->records_given)
		die_usage("%s: missing TABLE or FILE; --schema=FILE --records=N describe one",
			  command->name);
	if (c->operands.n && c->records_given)
		die_usage("%s: --records goes with --schema, and not with a file", command->name);
	if (c->records_given && !c->load.schema)
		die_usage("%s: --records needs --schema", command->name);
	if (!c->compare.workload && !c->compare.nqueries)
		die("%s needs --workload or --query", command->name);
}

/* Refuses options without effect because of other options, or without them. */
static void check_options(const struct command *command, struct config *c)
{
	const bool shares = c->load.layout == SP_TABLE_NSM || c->load.layout == SP_TABLE_PAX;

	if (c->load.ntogether && shares)
		die("--together does not go with --layout=%s, whose columns share all cells",
		    sp_table_layout_name((int)c->load.layout));
	if (command->bit & (LOAD | CREATE) &&
	    (c->load.layout == SP_TABLE_AUTO) != (c->compare.workload != NULL))
		die(c->compare.workload ? "--workload applies to --layout=auto only"
					: "--layout=auto needs --workload");
	if (command->bit == CONVERT && c->load.layout == SP_TABLE_AUTO)
		die("convert: --layout=auto needs a workload: explain tells what it would choose");
	if (c->to_volume && c->common.geometry)
		die("--to-volume does not go with --geometry, which is that of one device");
	if (command->bit == CREATE && (!c->no_data || !c->load.schema || !c->records_given))
		die_usage(
			"create: needs --no-data, --schema=FILE and --records=N; load makes tables "
			"with data");
	if (!c->pool_given && (c->pool_opts.bytes || c->pool_opts.frame_bytes))
		die("--%s needs --pool", c->pool_opts.bytes ? "pool-size" : "frame");
	if (!c->pool_given && c->update_unit_given)
		die("--update-unit needs --pool");
	if (command->bit == SCAN)
		check_scan(c);
	if (command->bit & CHOOSERS)
		check_choice(command, c);
	if (command->bit & JUDGES)
		check_judge(command, c);
	if (command->bit == RUN)
		check_run(c);
}

/* Shows the progress of a command, unless its result goes to a terminal or a pipe. */
static void show_progress(const struct command *command, struct config *c)
{
	static const char *phase;
	static const double weight = 1;

	c->apart = !(command->bit & (PRINTERS | CHECK)) || progress_apart(c->result);
	if (!(command->bit & MOVERS) || !common_options_progress(&c->common, c->apart))
		return;
	phase = command->name;
	c->progress = (struct progress){
		.phases = &phase, .weights = &weight, .nphases = 1, .result_phase = -1
	};
	progress_begin(&c->progress);
	c->load.progress = progress_update;
	c->load.progress_arg = &c->progress;
}

/* Sets the volume of the table that convert makes. */
static void set_to_volume(struct config *c, struct sp_errinfo *err)
{
	struct sp_geometry *g;

	if (!c->to_volume)
		return;
	if (sp_run_geometry(&g, c->to_volume, err))
		die_of(err->code, err);
	c->load.run.volume = c->to_volume;
	c->load.run.geometry = g;
}

static void check(const struct command *command, struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	set_format(c);
	check_options(command, c);
	common_options_finish(&c->common);
	c->run.keep_lock = true;
	if (command->bit & (TEXT_READERS | APPEND))
		autopack(&c->common, (const char *const *)c->operands.text, c->operands.n, NULL);
	if (common_options_resources(&c->common, NULL, 0, true, &err))
		die_of(err.code, &err);
	check_files(command, c);
	warn_packed(command, c);
	c->load.run = c->compare.run = c->run;
	if (command->bit == CONVERT) /* the log of the old table has the tasks of both */
		c->load.run.trace_tasks_path = NULL;
	set_to_volume(c, &err);
	c->load.workload = c->clients.workload = c->compare.workload;
	c->compare.placing = c->load.placing;
	c->clients.depth = c->load.depth;
	show_progress(command, c);
	c->compare.queries = c->queries;
}

static const char notes[] =
	"Examples:\n"
	"  xtable load -t'|' orders.table orders.tbl\n"
	"  xtable scan orders.table --columns c1,c4 --where \"c5 >= '1995-01-01'\"\n"
	"  xtable scan orders.table --agg 'avg(c4),count()'\n"
	"  xtable get orders.table 0 4711\n"
	"  xtable index orders.table c1 && xtable get orders.table --by=c1 4711\n"
	"  xtable update orders.table --set c3=F 4711\n"
	"  xtable explain orders.table -q 'scan c4' -q 'get 100 *'\n"
	"\n"
	"Exit status: 0 for success, 1 if a record is not there or check finds damage,\n"
	"2 after an error.\n";

const struct command *options_parse(struct config *c, int argc, char **argv)
{
	static const struct commands all = {
		.about = "Tables stored for the questions that they answer.",
		.notes = notes,
		.list = commands,
		.settings = settings,
	};
	const struct command *command;

	*c = (struct config){ .run = SP_RUN_OPTS_INIT,
			      .load = SP_TABLE_LOAD_OPTS_INIT,
			      .query = SP_TABLE_QUERY_INIT,
			      .compare = SP_TABLE_COMPARE_OPTS_INIT,
			      .clients = SP_TABLE_RUN_OPTS_INIT,
			      .journal = true };
	c->common.run = &c->run;
	command = commands_read(&all, argc, argv, c, &c->operands);
	check(command, c);
	return command;
}
