/* SPDX-License-Identifier: MIT */
/*
 * Reads the command line in order, since operands can be arguments of old options.
 */
#include <string.h>
#include "autopack.h"
#include "xjoin.h"

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
