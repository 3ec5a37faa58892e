/* SPDX-License-Identifier: MIT */
/*
 * Reads the command line in order, since operands can be arguments of old options.
 */
#include <stdio.h>
#include <string.h>
#include "autopack.h"
#include "xjoin.h"

/*
 * Collects operands.
 *
 * Algorithm: old forms of the command have option arguments that look like operands: "-j1 FIELD",
 * "-j2 FIELD" and "-o LIST LIST...".  Only a third operand decides: then the first one that can be
 * an argument is an argument.
 */

/* Makes operand i the argument of an option. */
static void take_as_argument(struct settings *set, size_t i)
{
	struct operand o = set->operands[i];

	if (o.doubt == MAYBE_LIST) {
		columns_add(set, o.text);
	} else {
		bool second = o.doubt == MAYBE_J2;

		set->lone_j[second]--;
		key_set(set, second ? "-2" : "-1", o.text);
	}
	set->noperands--;
	if (i == 0)
		set->operands[0] = set->operands[1];
}

enum doubt operand_add(struct settings *set, char *text, enum doubt doubt)
{
	if (set->noperands == 2) {
		size_t i = set->operands[0].doubt == SURELY_FILE;

		if (set->operands[i].doubt == SURELY_FILE) {
			die_usage("extra operand %s", quote_file_always(text));
		}
		take_as_argument(set, i);
	}
	set->operands[set->noperands++] = (struct operand){ text, doubt };
	return doubt == MAYBE_LIST ? MAYBE_LIST : SURELY_FILE;
}

void operands_finish(struct settings *set, int argc, char **argv)
{
	if (set->noperands < 2) {
		if (set->noperands)
			die_usage("missing operand after %s", quote(argv[argc - 1]));
		die_usage("missing operand");
	}
	/* -j1 without an argument is -j 1 */
	for (int i = 0; i < 2; i++) {
		if (!set->lone_j[i])
			continue;
		key_set(set, "-1", i ? "2" : "1");
		key_set(set, "-2", i ? "2" : "1");
	}
	for (int i = 0; i < 2; i++)
		set->inputs[i] = set->operands[i].text;
}

/*
 * Refuses incompatible options, and completes the others.
 */

/* Refuses options that the algorithm does not use; auto can choose an index. */
static void check_unused(const struct settings *set)
{
	const struct sp_join_opts *o = &set->opts;
	bool check = o->order == SP_JOIN_CHECK;
	bool loops = o->algorithm == SP_JOIN_INL || o->algorithm == SP_JOIN_ASYNC_INL;
	bool no_index = check || (o->algorithm != SP_JOIN_AUTO && !loops);
	bool no_hash = check || loops || o->algorithm == SP_JOIN_MERGE;
	char by[40] = "--check-order";

	if (!check)
		snprintf(by, sizeof(by), "--algorithm=%s", sp_join_algorithm_name(o->algorithm));
	args_exclude(o->index[0], "--index1", no_index, by);
	args_exclude(o->index[1], "--index2", no_index, by);
	args_exclude(o->nthen, "--then", no_index, by);
	args_exclude(o->max_outstanding, "--max-outstanding",
		     no_index || o->algorithm == SP_JOIN_INL, by);
	args_exclude(o->build, "--build", no_hash, by);
	args_exclude(o->join_bytes, "--join-memory", no_hash, by);
	args_exclude(set->common.seeded, "--seed", no_hash, by);
}

void tuning_finish(struct settings *set)
{
	struct sp_join_opts *o = &set->opts;
	bool check = o->order == SP_JOIN_CHECK;

	check_unused(set);
	suffixes_check(set);
	if (o->algorithm == SP_JOIN_AUTO && (set->form.plain || check))
		o->algorithm = SP_JOIN_MERGE;
	if (o->algorithm == SP_JOIN_MERGE) {
		args_exclude(o->csv, "--csv", true, "--algorithm=merge");
		args_exclude(o->semi, "--type=semi", true, "--algorithm=merge");
		args_exclude(true, "--algorithm=merge", o->fixed_bytes[0], "--record-size");
		for (int i = 0; i < 2; i++)
			if (set->form.key[i].n > 1 || set->form.typed)
				die("invalid field number: %s", quote(set->form.key[i].text));
	}
	args_exclude(check, "--check-order", o->algorithm != SP_JOIN_MERGE, "--algorithm");
	form_finish(set);
	common_options_finish(&set->common);
	common_options_packed(&set->common, set->output, "--output");
}

static const char about[] =
	"For each pair of lines with equal keys, one from each file, write a line to\n"
	"standard output.  One FILE can be -, standard input.";

#define FIELDS                                                                                     \
	"Fields count from 1.  Without -t they are separated by blanks, and by one space\n"        \
	"in the result; -t '' makes the whole line one field, -t '\\0' separates them by\n"        \
	"NUL.\n"                                                                                   \
	"\n"                                                                                       \
	"FORMAT is a list of FILENUM.FIELD, or 0 for the key, separated by commas or\n"            \
	"blanks; or auto: as many fields as the first line of each file has.  The\n"               \
	"default is the key, the other fields of file 1, those of file 2.  Columns of\n"           \
	"binary records are FILENUM.OFFSET:LENGTH.\n"                                              \
	"\n"
#define STATUS "\nExit status: 0 on success, 1 after an error or if disorder was found.\n"

static const char notes[] =
	FIELDS "The files need not be sorted, and without --ordered neither is the result.\n"
	       "Keys are equal if their bytes are.  A key can have several fields, -1 2,3\n"
	       "-2 1,4; a letter after a field compares it by value: n, g, h, M, V as for sort,\n"
	       "f folding case, l by the locale.  Files that prove to be sorted are merged.\n"
	       "\n"
	       "With --algorithm=merge or --check-order, and under the name join, both files\n"
	       "must be sorted on the key as sort -b does with the same locale, as for GNU\n"
	       "join.\n" STATUS "\n"
	       "Examples, more of them in spindle-recipes(7):\n"
	       "  xjoin left.txt right.txt\n"
	       "  xjoin --type=anti left.txt right.txt\n"
	       "  xjoin --type=left -j 1,2 sales prices\n"
	       "  xjoin -t: -1 4 -2 3 -o 1.1,2.1 passwd group\n"
	       "  xjoin --csv --header -1 article -2 id sales.csv articles.csv\n";

static const char plain_notes[] = FIELDS
	"Both files must be sorted on the key, as sort -b does with the same locale.\n" STATUS;

/* in the order in which getopt of GNU join lists the candidates of an ambiguous name */
static const char *const gnu_names[] = { "ignore-case",	    "check-order", "nocheck-order",
					 "zero-terminated", "header",	   "help",
					 "version",	    NULL };

/* Sets -j FIELD, or the old -j1 and -j2, whose argument can be the next operand. */
static enum doubt set_both_keys(struct settings *set, const char *text, char **argv)
{
	bool glued = text == argv[optind - 1] + 2;

	if (glued && (text[0] == '1' || text[0] == '2') && !text[1]) {
		set->lone_j[text[0] - '1']++;
		return text[0] == '1' ? MAYBE_J1 : MAYBE_J2;
	}
	key_set(set, "-1", text);
	key_set(set, "-2", text);
	return SURELY_FILE;
}

static enum doubt add_columns(struct settings *set, char *text)
{
	if (!strcmp(text, "auto")) {
		set->opts.auto_columns = true;
		return SURELY_FILE;
	}
	columns_add(set, text);
	return MAYBE_LIST;
}

/* Applies c, a result of args_next().  Returns what the next operand can be. */
static enum doubt step(struct settings *set, int c, char **argv, enum doubt doubt)
{
	switch (c) {
	case ARGS_OPERAND:
		return operand_add(set, optarg, doubt);
	case 'j':
		return set_both_keys(set, optarg, argv);
	case 'o':
		return add_columns(set, optarg);
	default:
		return SURELY_FILE;
	}
}

static void choose_compression(struct settings *set)
{
	if (!set->form.plain && !common_options_simulated(&set->common))
		autopack(&set->common, set->inputs, 2, set->output);
}

void options_parse(struct settings *set, int argc, char **argv)
{
	const struct args args = { .settings = xjoin_settings,
				   .operands = "FILE1 FILE2",
				   .about = about,
				   .notes = set->form.plain ? plain_notes : notes,
				   .gnu = gnu_names,
				   .only_gnu = set->form.plain,
				   .in_order = true };
	enum doubt doubt = SURELY_FILE;
	struct args_reader reader;
	int c;

	set->opts.algorithm = SP_JOIN_AUTO;
	set->form.opts = &set->opts;
	args_begin(&reader, &args, argc, argv, set);
	while ((c = args_next(&reader)) != -1)
		doubt = step(set, c, argv, doubt);
	args_end(&reader);
	while (optind < argc)
		operand_add(set, argv[optind++], SURELY_FILE);
	operands_finish(set, argc, argv);
	choose_compression(set);
	keys_finish(set);
	tuning_finish(set);
}
