/* SPDX-License-Identifier: MIT */
/*
 * Reads the command line of dbmbench.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "dbmbench.h"
#include "gnuplot.h"
#include "number.h"
#include "outputs.h"

#define NOTES                                                                                      \
	"TIME takes us, ms, s, m or h; without one it is in seconds.\n"                            \
	"\n"                                                                                       \
	"Exit status: 0 for success, 1 if a system failed or a plan lacks what its query\n"        \
	"is about, 2 after an error.\n"

#define EXAMPLES                                                                                   \
	"\n"                                                                                       \
	"Examples:\n"                                                                              \
	"  dbmbench systems\n"                                                                     \
	"  dbmbench run -o result\n"                                                               \
	"  dbmbench run --systems=xtable-csm,./mine --selectivity=1,10,100 -o result\n"            \
	"  dbmbench compare before/report.json after/report.json\n"

enum command_bit { RUN = 1, SYSTEMS = 2, COMPARE = 4 };

/* Calls take() with each word of a list separated by commas. */
static void each_word(const char *option, const char *text, void *arg,
		      void (*take)(void *arg, const char *option, char *word))
{
	char *list = must_copy(text), *rest;
	char *word = strtok_r(list, ",", &rest);

	if (!word)
		die("%s argument %s has no word", option, quote(text));
	for (; word; word = strtok_r(NULL, ",", &rest))
		take(arg, option, word);
	free(list);
}

static void take_system(void *arg, const char *option, char *word)
{
	struct config *c = arg;

	if (c->run.nsystems == SP_DBM_SYSTEMS_MAX)
		die("%s: more than %d systems", option, SP_DBM_SYSTEMS_MAX);
	c->names[c->run.nsystems++] = must_copy(word);
}

static void take_query(void *arg, const char *option, char *word)
{
	struct config *c = arg;

	c->run.queries |= 1u << choice_option(option, word, sp_dbm_query_values());
}

static void take_selectivity(void *arg, const char *option, char *word)
{
	struct config *c = arg;
	double share = percent_value(option, word);

	if (c->run.nselectivities == SELECTIVITIES_MAX)
		die("%s: more than %d selectivities", option, SELECTIVITIES_MAX);
	if (share <= 0)
		die("%s: a selectivity is above 0", option);
	c->selectivities[c->run.nselectivities++] = share;
}

static void set_systems(void *to, const char *option, const char *text)
{
	((struct config *)to)->run.nsystems = 0;
	each_word(option, text, to, take_system);
}

static void set_queries(void *to, const char *option, const char *text)
{
	((struct config *)to)->run.queries = 0;
	each_word(option, text, to, take_query);
}

static void set_selectivities(void *to, const char *option, const char *text)
{
	((struct config *)to)->run.nselectivities = 0;
	each_word(option, text, to, take_selectivity);
}

#define TO(member) SETTING_TO(struct config, member)
#define ALL .offset = 0, .bytes = sizeof(struct config)

static const struct setting settings[] = {
	{ .doc = "What is measured:", .by = RUN },
	{ "systems", "LIST", "names of systems, or paths of adapters (all that work here)", ALL,
	  .call = set_systems, .by = RUN },
	{ "queries", "LIST", "queries to measure: uss, unj and uidx (all)", ALL,
	  .call = set_queries, .by = RUN },
	{ "selectivity", "LIST", "percentages of the records (20 for uss and unj, 0.1 for uidx)",
	  ALL, .call = set_selectivities, .by = RUN },
	{ "clients", "N", "clients that query at the same time (1)", TO(run.clients), .count = 1000,
	  .by = RUN },
	{ "unit", "N", "queries of a work unit (10)", TO(run.unit), .count = SP_DBM_UNIT_MAX,
	  .by = RUN },
	{ "repeat", "N", "rounds, each with a unit of each query (5)", TO(run.rounds),
	  .count = 1000, .by = RUN },
	{ "cold", NULL, "files leave the page cache before each unit", TO(cold), .by = RUN },
	{ "warm", NULL, "files stay in the page cache (default)", TO(warm), .by = RUN },
	{ "counters", "HOW", "count events of the processor: auto, hw, sim or none (auto)",
	  TO(run.counters), .values = sp_dbm_counters_values, .by = RUN },
	{ .doc = "The tables:", .by = RUN },
	{ "scale", "F", "scale; 1: 150,000 records in T2, 600,000 in T1 (1)", TO(run.scale),
	  .real = { 1e-5, 1000 }, .by = RUN },
	{ "record-size", "SIZE", "bytes of a record (100)", TO(run.record_bytes),
	  .number = { 13, 32768 }, .by = RUN },
	{ "shuffle", NULL, "records in random order instead of that of a1", TO(run.shuffle),
	  .by = RUN },
	{ "seed", "N", "seed of all random choices (1)", TO(run.seed), .number = { 0, UINT64_MAX },
	  .by = RUN },
	{ .doc = "Resources and results:", .by = RUN | SYSTEMS },
	{ "output", "DIR", "folder for results, tables and databases", TO(run.folder),
	  .letter = 'o', .by = RUN },
	{ "parallel", "N", "processors of a system (all)", TO(run.parallel), .count = 4096,
	  .by = RUN },
	{ "timeout", "TIME", "of one call of an adapter (10m)", TO(run.timeout_ns),
	  .whole = span_value, .by = RUN },
	{ "adapters", "DIR", "folder of the adapters that have names", TO(adapters),
	  .by = RUN | SYSTEMS },
	{ "plot", "FILE", "draw time against selectivity to FILE.png, .svg or .pdf", TO(plot),
	  .call = gnuplot_set, .by = RUN },
	PROGRESS_SETTING(struct config, progress, RUN),
	STATS_SETTING(struct config, stats, RUN | COMPARE),
	/* its former form: prints JSON instead of the table */
	{ "json", NULL, NULL, TO(json), .by = RUN | COMPARE },
	SETTING_ANSWERS,
	{ 0 },
};

static const struct command list[] = {
	{ "run", "", "Makes the tables, loads the systems, and measures them.", RUN, 0, 0,
	  command_run },
	{ "systems", "", "Lists the systems, and why some do not work here.", SYSTEMS, 0, 0,
	  command_systems },
	{ "compare", "REPORT REPORT", "Compares two reports of run.", COMPARE, 2, 2,
	  command_compare },
	{ 0 },
};

static const struct commands commands = {
	.about = "Compares systems that store tables by the three queries of DBmbench.",
	.notes = NOTES EXAMPLES,
	.command_notes = NOTES,
	.list = list,
	.settings = settings,
};

/* Sets path to the folder that the program is in. */
static void find_own(char path[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *slash;

	path[n > 0 ? n : 0] = 0;
	slash = strrchr(path, '/');
	if (slash)
		*slash = 0;
}

/* Lets adapters find the tools of this program's own folder first, and sets the default folder. */
static void set_adapters(struct config *c)
{
	char own[PATH_MAX], *shipped = NULL, *paths;
	const char *others = getenv("PATH");

	find_own(own);
	if (asprintf(&paths, "%s:%s", own, others ? others : "/usr/bin:/bin") < 0 ||
	    setenv("PATH", paths, 1) ||
	    (!c->adapters && asprintf(&shipped, "%s/../share/spindle/dbmbench", own) < 0))
		die_sys(ENOMEM, "adapters");
	free(paths);
	c->run.adapters = c->adapters ? c->adapters : shipped;
}

/* Checks that the report of --stats does not overwrite an input, the picture or standard output. */
static void check_files(const struct config *c)
{
	struct sp_output_set set = { 0 };

	outputs_add_stdout(&set, false);
	outputs_add_stats(&set, c->stats);
	outputs_add(&set, c->plot, "--plot", false);
	for (size_t i = 0; i < c->operands.n; i++)
		outputs_check_input(&set, c->operands.text[i]);
}

const struct command *options_parse(struct config *c, int argc, char **argv)
{
	const struct command *command;

	c->run = (struct sp_dbm_opts)SP_DBM_OPTS_INIT;
	command = commands_read(&commands, argc, argv, c, &c->operands);
	if (c->cold && c->warm)
		die("--cold and --warm are incompatible");
	c->run.cold = c->cold;
	c->run.systems = c->names;
	c->run.selectivities = c->selectivities;
	set_adapters(c);
	check_files(c);
	if (command->bit == RUN && !c->run.folder)
		die_usage("run: a folder is expected: -o DIR");
	return command;
}
