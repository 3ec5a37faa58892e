/* SPDX-License-Identifier: MIT */
/*
 * The command line of a tool that has commands: TOOL COMMAND [OPTION...] OPERAND...  One table
 * names the commands, another the options of all of them.
 */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "args.h"

struct config; /* the tool's own: what the command line says */

struct command {
	const char *name, *args, *about; /* args as argp's */
	unsigned bit;
	unsigned min, max;	      /* operands */
	int (*run)(struct config *c); /* returns the exit status */
};

struct command_option {
	struct setting s;
	unsigned by; /* bits of the commands that take it */
};

/* Rows of zeros end both tables. */
struct commands {
	const char *about, *notes; /* of --help without a command */
	const struct command *list;
	const struct command_option *options;
};

/*
 * Reads what follows the command, the first word, and returns the command.  Without one, with
 * --help and after an error the program ends.  The caller frees operands->text.
 */
const struct command *commands_read(const struct commands *all, int argc, char **argv,
				    struct config *c, struct operands *operands);

#endif
