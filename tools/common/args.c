/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "args.h"
#include "msg.h"
#include "version.h"

#define FAILURE 2

static bool parsing;

/* argp ends the program after --help, so write errors are checked here. */
static void close_output(void)
{
	if (!parsing || fclose(stdout) == 0)
		return;
	msg_sys(errno, "write error");
	_exit(FAILURE);
}

void args_parse(const struct argp *argp, int argc, char **argv, void *input)
{
	argp_err_exit_status = FAILURE;
	argp_program_version_hook = version_print;
	parsing = true;
	atexit(close_output);
	argp_parse(argp, argc, argv, 0, 0, input);
	parsing = false;
}

struct reading {
	const struct args *args;
	void *input;
	struct operands *operands; /* NULL: args->operand takes them */
};

static void keep_operand(struct operands *o, const char *arg)
{
	o->text = must_alloc(o->text, o->n + 2, sizeof(*o->text));
	o->text[o->n++] = arg;
	o->text[o->n] = NULL;
}

static error_t read_one(int key, char *arg, struct argp_state *state)
{
	const struct reading *r = state->input;
	const struct setting *s;
	char option[64];

	if (key == ARGP_KEY_ARG || key == ARGP_KEY_END) {
		if (!r->operands)
			r->args->operand(state, r->input, arg);
		else if (arg)
			keep_operand(r->operands, arg);
		return 0;
	}
	s = setting_find(r->args->settings, key);
	if (!s)
		return ARGP_ERR_UNKNOWN;
	snprintf(option, sizeof(option), "--%s", s->name);
	setting_apply(s, option, arg, r->input);
	return 0;
}

/* Ends with a row of zeros, as the settings do. */
static struct argp_option *argp_table(const struct setting *settings)
{
	struct argp_option *table = NULL;
	const struct setting *s;
	size_t n = 0;

	do {
		s = &settings[n];
		table = must_alloc(table, n + 1, sizeof(*table));
		table[n] = (struct argp_option){
			.name = s->name,
			.key = s->name ? SETTING_CODE(settings, n) : 0,
			.arg = s->arg,
			.flags = s->optional ? OPTION_ARG_OPTIONAL : 0,
			.doc = s->doc,
			.group = s->group,
		};
	} while (settings[n++].doc);
	return table;
}

static void read_all(struct reading *r, int argc, char **argv)
{
	const struct args *args = r->args;
	struct argp_option *options = argp_table(args->settings);
	struct argp argp = { options, read_one, args->usage, args->doc, 0, 0, 0 };

	args_parse(&argp, argc, argv, r);
	free(options);
}

void args_read(const struct args *args, int argc, char **argv, void *input)
{
	read_all(&(struct reading){ args, input, NULL }, argc, argv);
}

void args_read_list(const struct args *args, int argc, char **argv, void *input,
		    struct operands *operands)
{
	read_all(&(struct reading){ args, input, operands }, argc, argv);
}
