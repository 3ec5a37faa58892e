/* SPDX-License-Identifier: MIT */
/*
 * Reads a command line by its table of settings, with getopt_long().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "commands.h"
#include "help.h"
#include "msg.h"
#include "outputs.h"
#include "version.h"

static bool is_gnu(const struct args *args, const char *name)
{
	for (const char *const *g = args->gnu; g && name && *g; g++)
		if (!strcmp(*g, name))
			return true;
	return false;
}

/* Returns the commands of the row, or of the heading above it. */
static unsigned commands_of(const struct args *args, const struct setting *s)
{
	if (s->by)
		return s->by;
	while (s > args->settings && !SETTING_HEADS(s))
		s--;
	return s->by;
}

bool args_take(const struct args *args, const struct setting *s)
{
	unsigned by = commands_of(args, s);

	if (!s->name && !s->letter)
		return false;
	if (args->only_gnu && s->name && !is_gnu(args, s->name))
		return false;
	return !args->command || !by || by & args->command;
}

/* Returns the row with a code of getopt; rows of several commands can have one letter. */
static const struct setting *row_of_code(const struct args *args, int code)
{
	size_t i = 0;

	while (SETTING_CODE(args->settings, i) != code || !args_take(args, &args->settings[i]))
		i++;
	return &args->settings[i];
}

static const struct setting *row_of(const struct args *args, const char *name)
{
	const struct setting *s = args->settings;

	while (!s->name || strcmp(s->name, name) != 0 || !args_take(args, s))
		s++;
	return s;
}

static void add_name(struct option **table, const char *name, const struct args *args,
		     const struct setting *s)
{
	size_t n = 0;

	while ((*table)[n].name)
		n++;
	*table = must_alloc(*table, n + 2, sizeof(**table));
	(*table)[n + 1] = (struct option){ 0 };
	/* getopt takes the names of one row, which have its code, for synonyms */
	(*table)[n] = (struct option){
		.name = name,
		.has_arg = !s->arg	 ? no_argument
			   : s->optional ? optional_argument
					 : required_argument,
		.val = SETTING_CODE(args->settings, s - args->settings),
	};
}

static void add_letter(char *letters, const struct setting *s)
{
	size_t n = strlen(letters);

	letters[n++] = (char)s->letter;
	if (s->arg)
		letters[n++] = ':';
	letters[n] = '\0';
}

void args_begin(struct args_reader *r, const struct args *args, int argc, char **argv, void *input)
{
	*r = (struct args_reader){ .args = args, .argc = argc, .argv = argv, .input = input };
	if (argc == 2 && !strcmp(argv[1], ARGS_TABLE))
		help_table(args);
	if (argc == 2 && !args->gnu && !strcmp(argv[1], "-?")) /* accepted as by argp */
		help_print(args, argv[0]);
	optind = 0; /* resets getopt */
	if (args->in_order)
		r->letters[0] = '-';
	for (int i = 0; i < 2; i++) {
		r->tables[i] = must_alloc(NULL, 1, sizeof(*r->tables[i]));
		r->tables[i][0] = (struct option){ 0 };
	}
	for (const char *const *g = args->gnu; g && *g; g++)
		add_name(&r->tables[0], *g, args, row_of(args, *g));
	for (const struct setting *s = args->settings; !SETTING_ENDS(s); s++) {
		if (!args_take(args, s))
			continue;
		if (s->letter)
			add_letter(r->letters, s);
		if (s->name && !is_gnu(args, s->name))
			add_name(&r->tables[args->gnu != NULL], s->name, args, s);
		if (s->former)
			add_name(&r->tables[args->gnu != NULL], s->former, args, s);
	}
}

void args_end(struct args_reader *r)
{
	free(r->tables[0]);
	free(r->tables[1]);
	setting_standard_output(r->args->settings, r->input);
}

/* True if a name of the table begins with the long option in word. */
static bool names(const struct option *table, const char *word)
{
	size_t len = strcspn(word + 2, "=");

	for (; table->name; table++)
		if (!strncmp(table->name, word + 2, len))
			return true;
	return false;
}

static const struct option *table_of(const struct args_reader *r)
{
	const char *word = optind ? r->argv[optind] : r->argv[1];
	bool other = r->args->gnu && word && !strncmp(word, "--", 2) && word[2] &&
		     !names(r->tables[0], word) && names(r->tables[1], word);

	return r->tables[other];
}

static void answer(const struct args_reader *r, enum setting_answer what)
{
	if (what == SETTING_HELP)
		help_print(r->args, r->argv[0]);
	if (what == SETTING_USAGE)
		usage_print(r->args, r->argv[0]);
	if (what == SETTING_VERSION)
		version_print();
}

/* Names the commands that have an option which this one does not have.  False: there are none. */
static bool suggest_commands(const struct args *args, const char *name)
{
	const char *before = " is an option of ";
	unsigned by = 0;

	for (const struct setting *s = args->settings; args->commands && !SETTING_ENDS(s); s++)
		if (s->name && s->doc && !strcmp(s->name, name))
			by |= commands_of(args, s);
	if (!by)
		return false;
	fprintf(stderr, "--%s", name);
	for (const struct command *c = args->commands; c->name; c++) {
		if (!(c->bit & by))
			continue;
		fprintf(stderr, "%s%s", before, c->name);
		before = ", ";
	}
	putc('\n', stderr);
	return true;
}

/* After getopt's message: suggests the option nearest to a long one that does not exist. */
static void suggest(const struct args_reader *r)
{
	const struct setting *s = r->args->settings;
	const char *word = r->argv[optind - 1];
	struct sp_enum_value *list = NULL;
	char name[64];
	size_t n = 0;

	if (optopt || names(r->tables[0], word) || names(r->tables[1], word))
		return; /* a letter, an argument that is missing or too many, or ambiguous */
	for (; !SETTING_ENDS(s); s++) {
		if (!s->name || !s->doc || !args_take(r->args, s))
			continue;
		list = must_alloc(list, n + 2, sizeof(*list));
		list[n++] = (struct sp_enum_value){ .name = s->name };
		list[n] = (struct sp_enum_value){ 0 };
	}
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	if (!suggest_commands(r->args, name) && n)
		say_nearest(list, "--", name);
	free(list);
}

int args_next(struct args_reader *r)
{
	const struct option *table = table_of(r);
	const struct setting *s;
	char option[64];
	int index = -1, c;

	c = getopt_long(r->argc, r->argv, r->letters, table, &index);
	if (c == -1 || c == ARGS_OPERAND)
		return c;
	if (c == '?') {
		suggest(r);
		usage_error();
	}
	s = row_of_code(r->args, c);
	answer(r, s->answer);
	if (!s->bytes && !s->call)
		return s->letter;
	if (index < 0)
		snprintf(option, sizeof(option), "-%c", c);
	else
		snprintf(option, sizeof(option), "--%s", table[index].name);
	setting_apply(s, option, optarg, r->input);
	return 0;
}

/* Returns the next word of the first form of the operands, or NULL. */
static const char *next_word(const char **form, size_t *bytes)
{
	const char *word = *form + strspn(*form, " ");

	*bytes = strcspn(word, " \n");
	*form = word + *bytes;
	return *bytes ? word : NULL;
}

/* Refuses "-" if the word is the name of an operand that cannot be a standard stream. */
static void refuse_dash(const char *word, size_t bytes)
{
	static const char *const names[] = { "MOUNT", "FILE",	"INDEX",      "TABLE",
					     "OUT",   "DEVICE", "DEVICE|PID", "TARGET" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == bytes && !memcmp(word, names[i], bytes))
			die("-: %s %s, so it is not a standard stream: give a name, or ./- for "
			    "a file called -",
			    names[i], i ? "is accessed at any offset" : "is a folder");
}

/* Refuses operands "-" that cannot be a standard stream; of a report, it is standard input. */
static void check_dashes(const char *form, const struct operands *operands)
{
	const char *word = NULL;
	size_t bytes = 0;
	bool more = false, dash;

	for (unsigned i = 0; form && i < operands->n; i++) {
		if (!more)
			do
				word = next_word(&form, &bytes);
			while (word && *word == '-' && word[1] == '-');
		if (!word || *word == '-')
			return;
		more |= bytes > 3 && !memcmp(word + bytes - 3, "...", 3);
		dash = !strcmp(operands->text[i], "-");
		if (dash)
			refuse_dash(word, bytes - 3 * more);
		if (bytes != 6 || memcmp(word, "REPORT", 6) != 0)
			continue;
		if (dash)
			operands->text[i] = must_copy("/dev/stdin");
		outputs_claim_input(operands->text[i]);
	}
}

void args_read(const struct args *args, int argc, char **argv, void *input,
	       struct operands *operands)
{
	struct args_reader r;

	args_begin(&r, args, argc, argv, input);
	while (args_next(&r) != -1)
		;
	args_end(&r);
	*operands = (struct operands){ argv + optind, (unsigned)(argc - optind) };
	check_dashes(args->operands, operands);
}

void args_exclude(bool a, const char *name_a, bool b, const char *name_b)
{
	if (a && b)
		die("options %s and %s are incompatible", quote(name_a), quote(name_b));
}
