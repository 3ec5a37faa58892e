/* SPDX-License-Identifier: MIT */
/*
 * Reads and checks the command line of mmap-cube.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "gnuplot.h"
#include "mmap-cube.h"
#include "number.h"
#include "outputs.h"
#include "volumes.h"

/*
 * Refuses options without effect because of other options, or without them.
 */

static void refuse_if(bool is_void, const char *option, const char *reason)
{
	if (is_void)
		die("%s %s", option, reason);
}

void refuse_void_options(const struct config *c)
{
	const bool grid = !c->create.points, one_volume = c->create.volumes <= 1;
	const bool queries = c->workload_path || c->nqueries;
	const bool chosen = c->create.mapping == SP_CUBE_AUTO;
	const bool multimap = chosen || c->create.mapping == SP_CUBE_MULTIMAP;

	refuse_if(c->from && c->create.shape.ndims, "--dims", "and --from are incompatible");
	refuse_if(c->from && c->given.dtype, "--dtype", "and --from are incompatible");
	refuse_if(c->from && !grid, "--points", "and --from are incompatible");
	refuse_if(c->from && c->create.no_data, "--no-data", "and --from are incompatible");
	refuse_if(c->given.cell && grid, "--cell", "applies to --points only");
	refuse_if(c->given.fill_factor && grid, "--fill-factor", "applies to --points only");
	refuse_if(c->given.overflow && grid, "--overflow", "applies to --points only");
	refuse_if(c->given.underflow && grid, "--underflow", "applies to --points only");
	refuse_if(c->given.conservatism && !multimap, "--conservatism",
		  "applies to --mapping=multimap and auto only");
	refuse_if(c->given.waste && !chosen, "--waste", "applies to --mapping=auto only");
	refuse_if(c->given.positions && !queries, "--positions", "needs --workload or --query");
	refuse_if(c->given.seed && !queries, "--seed", "needs --workload or --query");
	refuse_if(c->given.decluster && one_volume, "--decluster", "needs --volumes");
	refuse_if(c->box && (c->lo || c->hi || c->stride), "--box",
		  "and --lo, --hi or --stride are incompatible");
	refuse_if(c->discard && c->output, "--output", "and --discard are incompatible");
	refuse_if(c->open.depth > 1 && c->run.engine && !strcmp(c->run.engine, "sync"), "--depth",
		  "is always 1 with --engine=sync");
	refuse_if(c->discard && c->format_given, "--format", "and --discard are incompatible");
}

enum command_bit {
	CREATE = 1,
	LOAD = 2,
	EXPORT = 4,
	GET = 8,
	PUT = 16,
	MAP = 32,
	INFO = 64,
	CHECK = 128,
	BEAM = 256,
	RANGE = 512,
	EXPLAIN = 1024,
	COMPARE = 2048,
	APPEND = 4096,
	REORGANISE = 8192,
	DELETE = 16384,
};

#define QUERIES (BEAM | RANGE)
#define READERS (EXPORT | GET | CHECK | QUERIES)
#define MOVERS (READERS | LOAD | APPEND | PUT | DELETE | REORGANISE)
#define LOADERS (LOAD | APPEND)
/* commands that sort points */
#define SORTERS (EXPORT | GET | QUERIES | LOAD | REORGANISE)
#define JUDGES (EXPLAIN | COMPARE)
#define LONG_ONES (CREATE | LOADERS | EXPORT | QUERIES | CHECK | REORGANISE)

unsigned list_option(const char *option, const char *text, char separator, uint64_t *values)
{
	unsigned n = 0;
	const char *at = text;
	char *end;

	for (;; at = end + 1) {
		values[n] = strtoull(at, &end, 10);
		if (end == at || *at < '0' || *at > '9' || values[n] == UINT64_MAX ||
		    (*end && *end != separator))
			die("invalid %s argument %s: valid is a list of numbers such as 8%c4%c4",
			    option, quote(text), separator, separator);
		n++;
		if (!*end)
			return n;
		if (n == SP_CUBE_DIMS_MAX)
			die("invalid %s argument %s: there are at most %u dimensions", option,
			    quote(text), SP_CUBE_DIMS_MAX);
	}
}

void coordinate(const char *option, const char *text, unsigned ndims, uint64_t *x)
{
	unsigned n = list_option(option, text, ',', x);

	if (n != ndims)
		die("invalid %s argument %s: the cube has %u dimensions", option, quote(text),
		    ndims);
}

static void set_dims(void *to, const char *option, const char *text)
{
	struct sp_cube_shape *s = to;

	s->ndims = list_option(option, text, 'x', s->dims);
}

static void set_tile(void *to, const char *option, const char *text)
{
	uint64_t values[SP_CUBE_DIMS_MAX] = { 0 };
	struct sp_cube_shape *s = to;

	list_option(option, text, 'x', values);
	for (unsigned i = 0; i < SP_CUBE_DIMS_MAX; i++)
		s->tile[i] = values[i] > UINT32_MAX ? UINT32_MAX : (uint32_t)values[i];
}

static void set_basic(void *to, const char *option, const char *text)
{
	list_option(option, text, 'x', to);
}

static void set_type(void *to, const char *option, const char *text)
{
	struct sp_cube_shape *s = to;
	uint64_t bytes;

	if (strncmp(text, "bytes:", 6) == 0) {
		s->type = SP_CUBE_BYTES;
		bytes = size_option(option, text + 6);
		s->element_bytes = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
		return;
	}
	s->type = (enum sp_cube_type)choice_option(option, text, sp_cube_type_values());
	s->element_bytes = sp_cube_type_bytes(s->type);
	if (s->type == SP_CUBE_BYTES)
		die("invalid %s argument %s: say how many, such as bytes:512", option, quote(text));
}

static void add_rollup(void *to, const char *option, const char *text)
{
	uint64_t values[SP_CUBE_DIMS_MAX], *by = to;

	if (list_option(option, text, ':', values) != 2 || values[0] >= SP_CUBE_DIMS_MAX ||
	    !values[1])
		die("invalid %s argument %s: valid is DIM:N", option, quote(text));
	by[values[0]] = values[1];
}

static void add_attribute(void *to, const char *option, const char *text)
{
	struct config *c = to;
	char *key = must_copy(text), *equals = strchr(key, '=');

	if (!equals || equals == key)
		die("invalid %s argument %s: valid is KEY=VALUE", option, quote(text));
	if (c->create.nattributes == ATTRIBUTES_MAX)
		die("more than %u attributes", ATTRIBUTES_MAX);
	*equals = '\0';
	c->attributes[c->create.nattributes++] = (struct sp_cube_attribute){ key, equals + 1 };
}

static void set_volumes(void *to, const char *option, const char *text)
{
	struct config *c = to;

	c->create.volumes = volumes_value(option, text, c->volumes, SP_CUBE_VOLUMES_MAX);
	c->create.volume_names = c->volumes[0] ? c->volumes : NULL;
}

static void add_query(void *to, const char *option, const char *text)
{
	struct config *c = to;

	if (c->nqueries == QUERIES_MAX)
		die("more than %u %s arguments: write them to a file for --workload", QUERIES_MAX,
		    option);
	c->queries[c->nqueries++] = text;
}

static const struct sp_enum_value coalesce_values[] = { { "auto", 0 }, { "off", 1 }, { NULL, 0 } };

#define TO(member) SETTING_TO(struct config, member)
#define GIVEN(member) .given = offsetof(struct config, given.member)

static const struct setting settings[] = {
	{ .doc = "Dataset:", .by = CREATE },
	{ "dims", "SxSx...", "elements along each dimension", TO(create.shape), .call = set_dims },
	{ "dtype", "TYPE", "i8 to u64, f32, f64, or bytes:N (f32)", TO(create.shape),
	  .values = sp_cube_type_values, .call = set_type, GIVEN(dtype) },
	{ "from", "FILE.npy", "take the sizes, the type and all elements from an array of NumPy",
	  TO(from), .dash = SETTING_DASH_KEPT },
	{ "tile", "SxSx...", "elements in a cell (as many as fit in 4096 bytes)", TO(create.shape),
	  .call = set_tile },
	{ "fill", "VALUE", "value of elements that were never written (0)", TO(fill) },
	{ "attribute", "KEY=VALUE", "keep this text with the data; may be repeated",
	  .call = add_attribute },
	{ "no-data", NULL,
	  "make a file without space for cells; it serves queries with --discard only",
	  TO(create.no_data) },
	{ "points", NULL,
	  "store points with coordinates instead of a grid; each line or item of the input is a "
	  "point",
	  TO(create.points) },
	{ "cell", "SIZE", "with --points: bytes of a cell (4096)", TO(cell), .whole = size_option,
	  GIVEN(cell) },
	{ "fill-factor", "SHARE", "with --points: share of a cell that a load fills (0.8)",
	  TO(create.fill_factor), .real = { 0.001, 1 }, GIVEN(fill_factor) },
	{ "overflow", "SHARE",
	  "with --points: overflow cells per cell from which on put recommends reorganise (0.2)",
	  TO(create.overflow), .real = { 0, 1000 }, GIVEN(overflow) },
	{ "underflow", "SHARE",
	  "with --points: share of the loaded points below which delete recommends reorganise "
	  "(0.5)",
	  TO(create.underflow), .real = { 0, 1 }, GIVEN(underflow) },
	{ .doc = "Placement:", .by = CREATE },
	{ "mapping", "NAME", "multimap, naive, zorder, hilbert, gray, auto (auto)",
	  TO(create.mapping), .values = sp_cube_mapping_values },
	{ "order", "D,D,...",
	  "create: dimensions, the one along tracks first; load, append: dimensions of INPUT, the "
	  "one that varies fastest first",
	  TO(order), .by = CREATE | LOADERS },
	{ "basic-cube", "KxKx...", "cells of a basic cube (chosen from the geometry)",
	  TO(create.basic), .call = set_basic },
	{ "conservatism", "DEG",
	  "multimap: degrees, 0 to 360, by which a hop lands later than the fastest one would (20)",
	  TO(create.conservatism_deg), .real = { 0, 360 }, GIVEN(conservatism),
	  .by = CREATE | JUDGES },
	{ "waste", "PERCENT", "auto: maximum share of space left unused (50; with queries: 100)",
	  TO(create.waste_max_percent), .real = { 0.001, 100 }, GIVEN(waste),
	  .by = CREATE | JUDGES },
	{ "decluster", "NAME",
	  "distribution of basic cubes over volumes: disk-modulo or round-robin (disk-modulo)",
	  TO(create.decluster), .values = sp_cube_decluster_values, GIVEN(decluster) },
	{ "volumes", "N|PATH,...",
	  "use N volumes, FILE, FILE.1 and so on; or FILE and the volumes PATH,... (1)",
	  .call = set_volumes },
	{ .doc = "Workload:", .by = CREATE | JUDGES },
	{ "workload", "FILE", "queries, one per line: [WEIGHT] beam K, or\n[WEIGHT] range SxS...",
	  TO(workload_path), .dash = SETTING_DASH_INPUT },
	{ "query", "QUERY", "a query, such as 'beam 1' or 'range 8x8x8'; may be repeated",
	  .call = add_query, .letter = 'q' },
	{ "positions", "N", "random positions of a query that names none (20)",
	  TO(workload.positions), .count = 1000000, GIVEN(positions), .former = "places" },
	{ "seed", "N", "seed of these positions (0)", TO(workload.seed),
	  .number = { 0, UINT64_MAX }, GIVEN(seed) },
	{ "run", NULL, "also make the requests, on the simulated volume", TO(measure),
	  .by = EXPLAIN },
	{ "measure", NULL, "without a geometry: measure the device of FILE for two seconds",
	  TO(measure_device), .by = JUDGES },
	{ "plot", "FILE", "draw the result with gnuplot to FILE.png, .svg or .pdf", TO(plot),
	  .call = gnuplot_set, .by = COMPARE },
	{ .doc = "Input and output:", .by = LOADERS },
	{ "format", "FORM", "raw, npy or csv (by the suffix of the file, or raw)", TO(format),
	  .values = sp_cube_format_values, .given = offsetof(struct config, format_given),
	  .by = LOADERS | EXPORT | QUERIES | JUDGES },
	{ "offset", "SIZE", "bytes before the first element of INPUT (0)", TO(load.offset),
	  .whole = size_option },
	{ "big-endian", NULL, "elements of INPUT are big-endian", TO(load.big_endian) },
	{ "count", "N",
	  "elements to add along the dimension (as many as INPUT has); without INPUT they have the "
	  "fill value",
	  TO(count), .number = { 1, UINT64_MAX }, .by = APPEND },
	{ "resume", NULL, "continue an interrupted load", TO(load.resume), .by = LOAD },
	{ "rollup", "DIM:N",
	  "csv: divide coordinates of DIM by N, and add up values of equal coordinates; may be "
	  "repeated",
	  TO(load.rollup), .call = add_rollup, .by = LOAD },
	OUTPUT_SETTING(struct config, output, EXPORT | QUERIES),
	{ .doc = "Selection:", .by = RANGE },
	{ "dim", "K", "dimension, from 0, of the beam, or at whose end to append", TO(dim),
	  .number = { 0, SP_CUBE_DIMS_MAX - 1 }, .given = offsetof(struct config, dim_given),
	  .by = BEAM | APPEND },
	{ "at", "X,X,...", "position of the beam; the coordinate of dimension K has no effect",
	  TO(at), .by = BEAM },
	{ "box", "SLICE,...", "elements of the box, as in NumPy: 0:10,:,5", TO(box) },
	{ "lo", "X,X,...", "first element (0,0,...)", TO(lo) },
	{ "hi", "X,X,...", "end of the box, not included (that of the dataset)", TO(hi) },
	{ "stride", "N,N,...", "every Nth element of each dimension (1,1,...)", TO(stride) },
	{ "discard", NULL, "only make the requests, and write no result", TO(discard),
	  .by = QUERIES },
	{ "block", "LBN", "print the coordinates of this block", TO(block), .by = MAP },
	{ .doc = "Requests:", .by = MOVERS },
	{ "verify", NULL, "compare the checksums of all data read", TO(open.verify),
	  .by = EXPORT | GET | QUERIES },
	{ "repair", NULL, "finish an interrupted put, and rewrite a damaged superblock", TO(repair),
	  .by = CHECK },
	{ "coalesce", "auto|off", "read across gaps that cost less than a request (auto)",
	  TO(coalesce), .choices = coalesce_values, .by = READERS | CREATE | JUDGES },
	{ "depth", "N", "outstanding requests per volume (1 if simulated, otherwise 16)",
	  TO(open.depth), .count = 4096, .by = MOVERS | CREATE | JUDGES },
	{ "request-size", "SIZE", "maximum size of a request (1M)", TO(request),
	  .whole = size_option },
	{ "engine", "NAME", "io_uring, libaio, sync or auto (auto)", TO(run.engine),
	  .values = sp_engine_values, .call = data_engine_set },
	{ "direct", "WHEN", "bypass the page cache: auto, always or never", TO(run.direct),
	  .values = sp_direct_values, .optional = true, .absent = 1 },
	WAIT_SETTING(struct config, run, ~0u),
	{ .doc = "Volume and report:", .by = MOVERS },
	{ "volume", "sim:MODEL", "requests take the time of this simulated device", TO(run.volume),
	  .by = MOVERS | CREATE | JUDGES },
	{ "geometry", "FILE", "geometry of the volume, from diskprobe", TO(common.geometry),
	  .dash = SETTING_DASH_INPUT, .by = CREATE | JUDGES },
	{ "overwrite", NULL, "allow FILE to exist, or to be a block device", TO(run.overwrite),
	  .by = CREATE },
	{ "buffer-size", "SIZE", "memory to use", TO(run.memory_bytes), .whole = size_option,
	  .letter = 'S', .by = MOVERS | JUDGES },
	{ "temporary-directory", "DIR",
	  "put the copy of a piped INPUT, and points while they are sorted, in DIR", TO(common),
	  .call = tmpdir_add, .letter = 'T', .by = SORTERS | APPEND | JUDGES },
	{ "parallel", "N", "use N threads", TO(run.parallel), .count = 1024,
	  .by = LOADERS | EXPORT | QUERIES | CHECK | REORGANISE },
	STATS_SETTING(struct config, common.stats,
		      LOADERS | EXPORT | QUERIES | CHECK | REORGANISE | JUDGES),
	PROGRESS_SETTING(struct config, common.progress, LONG_ONES),
	{ "trace", "FILE", "write every block request to FILE", TO(run.trace_path) },
	PLOT_SETTING(struct config, MOVERS),
	SETTING_ANSWERS,
	{ 0 },
};

static const struct command commands[] = {
	{ "create", "FILE", "Makes a cube.", CREATE, 1, 1, command_create },
	{ "load", "FILE INPUT", "Loads elements from INPUT (- is standard input).", LOAD, 2, 2,
	  command_load },
	{ "append", "FILE INPUT\nFILE", "Adds elements from INPUT at the end of a dimension.",
	  APPEND, 1, 2, command_append },
	{ "export", "FILE", "Writes all elements.", EXPORT, 1, 1, command_export },
	{ "get", "FILE X,X,...", "Prints an element.", GET, 2, 2, command_get },
	{ "put", "FILE X,X,... VALUE", "Changes an element.", PUT, 3, 3, command_put },
	{ "delete", "FILE X,X,...\nFILE X,X,... VALUE",
	  "Deletes points, or sets an element to the fill value.", DELETE, 2, 3, command_delete },
	{ "beam", "FILE", "Reads a line along a dimension.", BEAM, 1, 1, command_beam },
	{ "range", "FILE", "Reads a box.", RANGE, 1, 1, command_range },
	{ "explain", "FILE\nFILE INPUT", "Predicts queries under each mapping.", EXPLAIN, 1, 2,
	  command_explain },
	{ "compare", "FILE\nFILE INPUT", "Measures queries under each mapping.", COMPARE, 1, 2,
	  command_compare },
	{ "map", "FILE X,X,...\nFILE --block=LBN",
	  "Prints the block of an element, or the reverse.", MAP, 1, 2, command_map },
	{ "info", "FILE", "Describes a cube.", INFO, 1, 1, command_info },
	{ "check", "FILE", "Compares all checksums.", CHECK, 1, 1, command_check },
	{ "reorganise", "FILE", "Packs points into cells again.", REORGANISE, 1, 1,
	  command_reorganise },
	{ 0 },
};

/* Checks that no output is a further volume of the cube. */
static void check_volumes(const struct config *c, const struct sp_output_set *set)
{
	const char *path = c->operands.text[0];
	struct sp_cube_opts o = c->open;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_cube_info info;
	struct sp_cube *cube;

	o.run = c->run;
	o.run.trace_path = NULL;
	o.run.wait_ns = 0;
	o.describe = true;
	if (sp_cube_open(&cube, path, &o, &err))
		return;
	sp_cube_info(cube, &info);
	for (unsigned i = 1; !info.no_data && i < info.volumes; i++) {
		char *name = info.volume_names ? volumes_path(path, info.volume_names[i - 1])
					       : volumes_numbered(path, i);

		outputs_check_input(set, name);
		free(name);
	}
	(void)sp_cube_close(cube);
}

/* Checks that no output is an input or the cube. */
static void check_files(const struct command *command, const struct config *c)
{
	struct sp_output_set set = { 0 };

	if (command->bit == CREATE)
		outputs_add(&set, c->operands.text[0], "FILE", false);
	if (c->output)
		outputs_add(&set, c->output, "--output", false);
	else
		outputs_add_stdout(&set, false);
	outputs_add_stats(&set, c->common.stats);
	outputs_add(&set, c->run.trace_path, "--trace", false);
	outputs_add(&set, c->plot, "--plot", false);
	outputs_add(&set, c->common.plot, "--plot", false);
	outputs_check_input(&set, c->common.geometry);
	outputs_check_input(&set, c->workload_path);
	outputs_check_input(&set, c->from);
	outputs_check_volume(&set, c->run.volume);
	if (command->bit != CREATE)
		outputs_check_input(&set, c->operands.text[0]);
	if (command->bit & (LOADERS | JUDGES) && c->operands.n > 1)
		outputs_check_input(&set, c->operands.text[1]);
	if (command->bit != CREATE && set.n)
		check_volumes(c, &set);
}

/* Has the library show the progress, unless the result goes to a terminal or a pipe. */
static void show_progress(const struct command *command, struct config *c)
{
	static const char *const names[] = { "reading", "cells" };
	static const double weights[] = { 0, 1 };
	bool apart =
		!(command->bit & (EXPORT | QUERIES)) || c->discard || progress_apart(c->output);

	if (!(command->bit & LONG_ONES) || !common_options_progress(&c->common, apart))
		return;
	c->progress = (struct progress){
		.phases = names, .weights = weights, .nphases = 2, .result_phase = -1
	};
	progress_begin(&c->progress);
	c->open.progress = progress_update;
	c->open.progress_arg = &c->progress;
}

static void check(const struct command *command, struct config *c)
{
	common_options_finish(&c->common);
	c->run.keep_lock = true;
	runplot_begin(&c->common);
	refuse_void_options(c);
	check_files(command, c);
	c->open.no_coalesce = c->coalesce;
	c->open.request_bytes =
		c->request > UINT32_C(1) << 30 ? UINT32_C(1) << 30 : (uint32_t)c->request;
	c->open.describe = command->bit & (INFO | MAP);
	c->create.run = c->open.run = c->run;
	show_progress(command, c);
	c->create.cell_bytes = c->cell > UINT32_MAX ? UINT32_MAX : (uint32_t)c->cell;
	c->workload.depth = c->open.depth;
	c->workload.no_coalesce = c->coalesce;
	c->create.attributes = c->attributes;
}

static const char notes[] =
	"FILE is a plain file or a block device.  With --volume=sim:MODEL, which create\n"
	"keeps in the cube, requests take the time of that simulated device.\n"
	"\n"
	"Examples:\n"
	"  mmap-cube create sea.cube --from=sea.npy --volume sim:atlas10k3-like\n"
	"  mmap-cube beam sea.cube --dim 2 --at 40,300,0 --format csv\n"
	"  mmap-cube range sea.cube --box 0:64,0:64,5 -o corner.npy\n"
	"\n"
	"Exit status: 0 for success, 1 if check finds damage, 2 after an error.\n";

#define ARGS_MAX 64 /* arguments of a command line that changes an element */

static bool is_negative(const char *text)
{
	return text[0] == '-' && ((text[1] >= '.' && text[1] <= '9') ||
				  !strcasecmp(text + 1, "inf") || !strcasecmp(text + 1, "nan"));
}

/* Inserts "--" before a negative number at the end, which is an operand. */
static char **spare_number(char **argv, int *argc, char **args, int capacity)
{
	static char dashes[] = "--";

	if (!is_negative(argv[*argc - 1]) || *argc + 2 > capacity)
		return argv;
	for (int i = 1; i < *argc; i++)
		if (!strcmp(argv[i], dashes))
			return argv;
	memcpy(args, argv, (size_t)*argc * sizeof(*args));
	args[*argc] = args[*argc - 1];
	args[*argc - 1] = dashes;
	args[++*argc] = NULL;
	return args;
}

const struct command *options_parse(struct config *c, int argc, char **argv)
{
	static const struct commands all = {
		.about = "Multidimensional datasets on disk: lines along every dimension, and "
			 "boxes.",
		.notes = notes,
		.list = commands,
		.settings = settings,
	};
	const struct command *command;
	char *args[ARGS_MAX];

	*c = (struct config){ .run = SP_RUN_OPTS_INIT, .create = SP_CUBE_CREATE_OPTS_INIT };
	c->create.shape.type = SP_CUBE_F32;
	c->create.shape.element_bytes = sp_cube_type_bytes(SP_CUBE_F32);
	c->common.run = &c->run;
	if (argc > 1 && (!strcmp(argv[1], "put") || !strcmp(argv[1], "delete")))
		argv = spare_number(argv, &argc, args, ARGS_MAX);
	command = commands_read(&all, argc, argv, c, &c->operands);
	check(command, c);
	return command;
}
