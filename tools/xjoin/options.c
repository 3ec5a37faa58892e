/* SPDX-License-Identifier: MIT */
/*
 * Option parsing.  GNU's names and all their abbreviations resolve first: a
 * name is looked up in Spindle's table only if no GNU name begins with it, and
 * never under the name join.  Operands are returned in place ("-" before the
 * letters), because they may be arguments of old options.
 */
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "longopt.h"
#include "msg.h"
#include "stdio_end.h"
#include "version.h"
#include "xjoin.h"

static const char short_options[] = "-a:e:i1:2:j:o:t:v:z";
static const char more_short_options[] = "-a:e:i1:2:j:o:t:v:zS:T:";

enum { OPT_CHECK = CHAR_MAX + 1, OPT_NOCHECK, OPT_HEADER, OPT_HELP, OPT_VERSION };

/* The order matters: getopt lists the candidates of an ambiguous name in it. */
static const struct option gnu_options[] = {
	{ "ignore-case", no_argument, NULL, 'i' },
	{ "check-order", no_argument, NULL, OPT_CHECK },
	{ "nocheck-order", no_argument, NULL, OPT_NOCHECK },
	{ "zero-terminated", no_argument, NULL, 'z' },
	{ "header", no_argument, NULL, OPT_HEADER },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

/* -j FIELD, or the old -j1 and -j2, whose argument may be the next one. */
static enum doubt set_both_keys(struct settings *set, char **argv)
{
	bool glued = optarg == argv[optind - 1] + 2;

	if (glued && (optarg[0] == '1' || optarg[0] == '2') && !optarg[1]) {
		set->lone_j[optarg[0] - '1']++;
		return optarg[0] == '1' ? MAYBE_J1 : MAYBE_J2;
	}
	key_set(set, 0, optarg);
	key_set(set, 1, optarg);
	return SURELY_FILE;
}

static void apply(struct settings *set, int c)
{
	switch (c) {
	case 'a':
	case 'v':
		unpaired_set(set, optarg, c == 'a');
		break;
	case 'e':
		filler_set(set, optarg);
		break;
	case 'i':
		set->opts.ignore_case = true;
		break;
	case '1':
	case '2':
		key_set(set, c - '1', optarg);
		break;
	case 't':
		separator_set(set, optarg);
		break;
	case 'z':
		set->opts.eol = '\0';
		break;
	case 'S':
	case 'T':
		setting_apply(setting_find(tuning_settings, c), c == 'S' ? "-S" : "-T", optarg,
			      set);
		break;
	case OPT_CHECK:
		set->opts.order = SP_JOIN_CHECK;
		break;
	case OPT_NOCHECK:
		set->opts.order = SP_JOIN_NOCHECK;
		break;
	case OPT_HEADER:
		set->opts.header = true;
		break;
	case OPT_HELP:
		help_print(set->form.plain);
		stdio_leave();
	case OPT_VERSION:
		version_leave();
	default:
		usage_error();
	}
}

/* One option or operand; returns what it makes of the next operand. */
static enum doubt step(struct settings *set, int c, char **argv, enum doubt doubt)
{
	if (c == 1)
		return operand_add(set, optarg, doubt);
	if (c == 'j')
		return set_both_keys(set, argv);
	if (c == 'o') {
		if (!strcmp(optarg, "auto")) {
			set->opts.auto_columns = true;
			return SURELY_FILE;
		}
		columns_add(set, optarg);
		return MAYBE_LIST;
	}
	apply(set, c);
	return SURELY_FILE;
}

/* An option of Spindle's; false: it is none. */
static bool own_option(struct settings *set, int argc, char **argv)
{
	const struct longopt l = { more_short_options, gnu_options, tuning_settings };
	bool own = !set->form.plain && longopt_own(&l, argc, argv, set);

	if (set->common.usage) {
		usage_print();
		stdio_leave();
	}
	return own;
}

void options_parse(struct settings *set, int argc, char **argv)
{
	enum doubt doubt = SURELY_FILE;
	int c;

	set->opts.algorithm = SP_JOIN_AUTO;
	set->form.opts = &set->opts;
	for (;;) {
		if (own_option(set, argc, argv)) {
			doubt = SURELY_FILE;
			continue;
		}
		c = getopt_long(argc, argv, set->form.plain ? short_options : more_short_options,
				gnu_options, NULL);
		if (c == -1)
			break;
		doubt = step(set, c, argv, doubt);
	}
	while (optind < argc)
		operand_add(set, argv[optind++], SURELY_FILE);
	operands_finish(set, argc, argv);
	tuning_finish(set);
}
