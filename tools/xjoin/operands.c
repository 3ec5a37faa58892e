/* SPDX-License-Identifier: MIT */
/*
 * Collects operands.
 *
 * Algorithm: old forms of the command have option arguments that look like operands: "-j1 FIELD",
 * "-j2 FIELD" and "-o LIST LIST...".  Only a third operand decides: then the first one that can be
 * an argument is an argument.
 */
#include <string.h>
#include "xjoin.h"

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
