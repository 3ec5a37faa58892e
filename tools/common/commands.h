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
	const char *name, *operands, *about; /* operands as in struct args */
	unsigned bit;
	unsigned min, max;	      /* number of operands */
	int (*run)(struct config *c); /* returns the exit status */
};

struct commands {
	const char *about, *notes;  /* of --help without a command */
	const char *command_notes;  /* of --help with one, or NULL */
	const struct command *list; /* a row of zeros ends it */
	const struct setting *settings;
};

/*
 * Reads the options and operands of a command line, and returns its command.  Without one, with
 * --help and after an error the program ends.  The caller frees operands->text.
 */
const struct command *commands_read(const struct commands *all, int argc, char **argv,
				    struct config *c, struct operands *operands);

#endif
