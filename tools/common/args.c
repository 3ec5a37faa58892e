/* SPDX-License-Identifier: MIT */
/*
 * Reads a command line by its table of settings, with getopt_long().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "args.h"
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

static void add_name(struct option **table, const char *name, const struct args *args)
{
	const struct setting *s = args->settings;
	size_t n = 0;

	while ((*table)[n].name)
		n++;
	*table = must_alloc(*table, n + 2, sizeof(**table));
	(*table)[n + 1] = (struct option){ 0 };
	while (!s->name || strcmp(s->name, name) != 0 || !args_take(args, s))
		s++;
	/* codes differ, since getopt takes names with equal codes for synonyms */
	(*table)[n] = (struct option){
		.name = s->name,
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
	if (argc == 2 && !args->gnu && !strcmp(argv[1], "-?")) /* as argp accepted it */
		help_print(args, argv[0]);
	optind = 0; /* resets getopt */
	if (args->in_order)
		r->letters[0] = '-';
	for (int i = 0; i < 2; i++) {
		r->tables[i] = must_alloc(NULL, 1, sizeof(*r->tables[i]));
		r->tables[i][0] = (struct option){ 0 };
	}
	for (const char *const *g = args->gnu; g && *g; g++)
		add_name(&r->tables[0], *g, args);
	for (const struct setting *s = args->settings; !SETTING_ENDS(s); s++) {
		if (!args_take(args, s))
			continue;
		if (s->letter)
			add_letter(r->letters, s);
		if (s->name && !is_gnu(args, s->name))
			add_name(&r->tables[args->gnu != NULL], s->name, args);
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

int args_next(struct args_reader *r)
{
	const struct option *table = table_of(r);
	const struct setting *s;
	char option[64];
	int index = -1, c;

	c = getopt_long(r->argc, r->argv, r->letters, table, &index);
	if (c == -1 || c == ARGS_OPERAND)
		return c;
	if (c == '?')
		usage_error();
	s = setting_find(r->args->settings, c);
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
