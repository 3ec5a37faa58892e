/* SPDX-License-Identifier: MIT */
#ifndef ARGS_H
#define ARGS_H

#include <argp.h>
#include "setting.h"

/*
 * argp_parse(), and what it leaves out: the status of usage errors is 2, and
 * --help, --usage and --version that cannot be written are errors too.
 */
void args_parse(const struct argp *argp, int argc, char **argv, void *input);

/* A command line of settings and operands. */
struct args {
	const struct setting *settings;
	const char *usage, *doc; /* as argp's */
	/* Takes an operand, or, at the end, NULL. */
	void (*operand)(struct argp_state *state, void *input, char *arg);
};

void args_read(const struct args *args, int argc, char **argv, void *input);

/* In the sequence of the command line, then NULL if there is any; texts are borrowed. */
struct operands {
	const char **text;
	unsigned n;
};

/* Operands go to a list instead of args->operand; the caller frees operands->text. */
void args_read_list(const struct args *args, int argc, char **argv, void *input,
		    struct operands *operands);

#endif
