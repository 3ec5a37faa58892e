/* SPDX-License-Identifier: MIT */
/*
 * Reads the command line of a tool with commands: TOOL COMMAND [OPTION...] OPERAND... One table
 * lists the commands, another the options of all of them.
 */
#pragma once

#include "args.h"
#include "statsfile.h"

struct config; /* the tool's own struct */

struct command {
	const char *name, *operands, *about; /* operands as in struct args */
	unsigned bit;
	unsigned min, max;	      /* number of operands */
	int (*run)(struct config *c); /* returns the exit status */
};

struct commands {
	const char *about, *notes;  /* texts of --help without a command */
	const char *command_notes;  /* text of --help with one, or NULL */
	const struct command *list; /* ends with a row of zeros */
	const struct setting *settings;
};

/*
 * Reads the options and operands of a command line, and returns its command.  A missing command,
 * --help and errors end the program.  The caller frees operands->text.
 */
const struct command *commands_read(const struct commands *all, int argc, char **argv,
				    struct config *c, struct operands *operands);
/*
 * Runs a command, with the file of --stats open, and closes standard output.  stats: its name, or
 * NULL.  output: a file that takes what the command writes to standard output, or NULL.  Returns
 * the exit status.
 */
int commands_run(const struct command *command, struct config *c, struct statsfile *file,
		 const char *stats, const char *output);
