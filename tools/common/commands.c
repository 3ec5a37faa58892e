/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "commands.h"
#include "msg.h"
#include "quote.h"

#define NAME_COLUMNS 8 /* of the list in --help, at least */

static int name_columns(const struct command *list)
{
	size_t most = NAME_COLUMNS;

	for (; list->name; list++)
		if (strlen(list->name) > most)
			most = strlen(list->name);
	return (int)most;
}

static void write_doc(FILE *f, const struct commands *all)
{
	int columns = name_columns(all->list);

	fprintf(f, "%s\n\n", all->about);
	for (const struct command *c = all->list; c->name; c++)
		fprintf(f, "  %-*s  %s\n", columns, c->name, c->about);
	fprintf(f, "\nCOMMAND --help lists its options.\n\v%s", all->notes);
}

/* The text above and below argp's list of options; the caller frees. */
static char *describe(const struct commands *all)
{
	size_t bytes;
	char *text;
	FILE *f = open_memstream(&text, &bytes);

	if (f) {
		write_doc(f, all);
		if (!fclose(f))
			return text;
	}
	die("memory exhausted");
}

static _Noreturn void without_command(const struct commands *all, int argc, char **argv)
{
	struct argp argp = { NULL, NULL, "COMMAND [OPTION...]", NULL, 0, 0, 0 };
	char *doc;

	if (argc > 1 && argv[1][0] != '-') {
		msg("unknown command: %s", quote(argv[1]));
		usage_error();
	}
	argp.doc = doc = describe(all);
	args_parse(&argp, argc, argv, NULL);
	free(doc);
	msg("missing command");
	usage_error();
}

/* The rows of a command, as a table of settings; the caller frees. */
static struct setting *choose(const struct command_option *options, unsigned bit)
{
	struct setting *chosen = NULL;
	size_t n = 0;

	for (; options->s.doc; options++) {
		if (!(options->by & bit))
			continue;
		chosen = must_alloc(chosen, n + 1, sizeof(*chosen));
		chosen[n++] = options->s;
	}
	chosen = must_alloc(chosen, n + 1, sizeof(*chosen));
	chosen[n] = (struct setting){ 0 };
	return chosen;
}

/* The first one is a file. */
static void check_operands(const struct command *command, const struct operands *operands)
{
	if (operands->n && !*operands->text[0])
		die_sys(ENOENT, "''");
	if (operands->n >= command->min && operands->n <= command->max)
		return;
	if (operands->n < command->min)
		msg("%s: missing operand", command->name);
	else
		msg("%s: extra operand: %s", command->name, quote(operands->text[command->max]));
	usage_error();
}

const struct command *commands_read(const struct commands *all, int argc, char **argv,
				    struct config *c, struct operands *operands)
{
	const struct command *command = all->list;
	struct setting *chosen;
	char name[64];

	while (command->name && !(argc > 1 && !strcmp(argv[1], command->name)))
		command++;
	if (!command->name)
		without_command(all, argc, argv);
	chosen = choose(all->options, command->bit);
	snprintf(name, sizeof(name), "%s %s", msg_program(), command->name);
	argv[1] = name; /* argp's messages and help begin with it */
	args_read_list(&(struct args){ chosen, command->args, command->about, NULL }, argc - 1,
		       argv + 1, c, operands);
	free(chosen);
	check_operands(command, operands);
	return command;
}
