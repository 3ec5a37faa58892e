/* SPDX-License-Identifier: MIT */
/*
 * Reads the command line of a tool with commands, and prints its help.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "commands.h"
#include "msg.h"
#include "outputs.h"

#define NAME_COLUMNS 8 /* minimum width of the list in --help */

static int name_columns(const struct command *list)
{
	size_t columns = NAME_COLUMNS;

	for (; list->name; list++)
		if (strlen(list->name) > columns)
			columns = strlen(list->name);
	return (int)columns;
}

static void write_about(FILE *f, const struct commands *all)
{
	int columns = name_columns(all->list);

	fprintf(f, "%s\n\n", all->about);
	for (const struct command *c = all->list; c->name; c++)
		fprintf(f, "  %-*s  %s\n", columns, c->name, c->about);
	fputs("\nCOMMAND --help lists its options.", f);
}

/* Returns the text above the options; the caller frees. */
static char *describe(const struct commands *all)
{
	size_t bytes;
	char *text;
	FILE *f = open_memstream(&text, &bytes);

	if (f) {
		write_about(f, all);
		if (!fclose(f))
			return text;
	}
	die("memory exhausted");
}

static bool is_command(const struct commands *all, const char *word)
{
	for (const struct command *c = all->list; c->name; c++)
		if (!strcmp(c->name, word))
			return true;
	return false;
}

static _Noreturn void unknown_command(const struct commands *all, const char *word)
{
	struct sp_enum_value *names = NULL;
	size_t n = 0;

	for (const struct command *c = all->list; c->name; c++) {
		names = must_alloc(names, n + 2, sizeof(*names));
		names[n++] = (struct sp_enum_value){ .name = c->name };
		names[n] = (struct sp_enum_value){ 0 };
	}
	msg("unknown command: %s", quote(word));
	if (n)
		say_nearest(names, "", word);
	usage_error();
}

static _Noreturn void without_command(const struct commands *all, int argc, char **argv)
{
	static const struct setting answers[] = { SETTING_ANSWERS, { 0 } };
	struct args args = { .settings = answers, .operands = "COMMAND", .notes = all->notes };
	struct operands operands;
	char *about;

	/* an option with a separate argument hides a command that comes after it */
	for (int i = 2; i < argc; i++)
		if (is_command(all, argv[i]))
			die_usage("the command comes before its options");
	if (argc == 2 && !strcmp(argv[1], ARGS_TABLE))
		for (const struct command *c = all->list; c->name; c++)
			printf("C\t%s\t%s\n", c->name, c->about);
	args.about = about = describe(all);
	args_read(&args, argc, argv, NULL, &operands);
	free(about);
	if (operands.n)
		unknown_command(all, operands.text[0]);
	die_usage("missing command");
}

/* Checks the number of operands; the first one is a file. */
static void check_operands(const struct command *command, const struct operands *operands)
{
	if (operands->n && !*operands->text[0])
		die_sys(ENOENT, "''");
	if (operands->n < command->min)
		die_usage("%s: missing operand", command->name);
	if (operands->n > command->max)
		die_usage("%s: extra operand: %s", command->name,
			  quote(operands->text[command->max]));
}

/*
 * Finds the command, argv[*at]: the first argument that is not an option.  Returns the end of the
 * list if it is not there.
 */
static const struct command *find(const struct commands *all, int argc, char **argv, int *at)
{
	const struct command *c = all->list;

	for (*at = 1; *at < argc && *argv[*at] == '-'; ++*at)
		;
	while (c->name && !(*at < argc && !strcmp(argv[*at], c->name)))
		c++;
	return c;
}

const struct command *commands_read(const struct commands *all, int argc, char **argv,
				    struct config *c, struct operands *operands)
{
	static char name[64];
	const struct command *command;
	struct args args;
	char **words;
	int at;

	command = find(all, argc, argv, &at);
	if (!command->name)
		without_command(all, argc, argv);
	snprintf(name, sizeof(name), "%s %s", msg_program(), command->name);
	program_invocation_name = name;
	words = must_alloc(NULL, (size_t)argc + 1, sizeof(*words));
	memcpy(words, argv, ((size_t)argc + 1) * sizeof(*words));
	memmove(&words[at], &words[at + 1], (size_t)(argc - at) * sizeof(*words));
	words[0] = name; /* messages and help begin with the name */
	args = (struct args){ .settings = all->settings,
			      .command = command->bit,
			      .commands = all->list,
			      .operands = command->operands,
			      .about = command->about,
			      .notes = all->command_notes };
	args_read(&args, argc - 1, words, c, operands);
	operands->text = memmove(words, operands->text, ((size_t)operands->n + 1) * sizeof(*words));
	check_operands(command, operands);
	return command;
}

/* Makes a new file standard output. */
static struct sp_outfile *begin_output(const char *name)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_outfile *out;
	int fd = -1;

	if (!sp_outfile_open(&out, name, 0, &err))
		fd = sp_outfile_begin(out, &err);
	if (fd < 0)
		output_die(&err);
	if (dup2(fd, STDOUT_FILENO) < 0)
		die_sys(errno, "%s", quote_file(name));
	return out;
}

int commands_run(const struct command *command, struct config *c, struct statsfile *file,
		 const char *stats, const char *output)
{
	struct sp_outfile *out = output ? begin_output(output) : NULL;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int status;

	if (stats)
		statsfile_open(file, stats);
	status = command->run(c);
	statsfile_close(file);
	stdio_finish();
	if (sp_outfile_commit(out, &err))
		output_die(&err);
	sp_outfile_close(out, NULL);
	return status;
}
