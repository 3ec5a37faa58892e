/* SPDX-License-Identifier: MIT */
/*
 * Prints --help, --usage and the table for completions.
 */
#include <stdio.h>
#include <string.h>
#include "help.h"
#include "msg.h"

#define WIDTH 79
#define DOC_COLUMN 28
#define SPELLED 96

/* Spells an option as in --help, "-k, --key=KEYDEF", or as in --usage, with its first name only. */
static void spell(char to[SPELLED], const struct setting *s, bool both)
{
	const char *name = s->letter && !both ? NULL : s->name;
	const char *mark = !s->arg ? "" : s->optional ? "[=" : name ? "=" : " ";
	size_t n = 0;

	if (s->letter)
		n = (size_t)snprintf(to, SPELLED, "-%c%s", s->letter, name ? ", " : "");
	if (name)
		n += (size_t)snprintf(to + n, SPELLED - n, "--%s", name);
	snprintf(to + n, SPELLED - n, "%s%s%s", mark, s->arg ? s->arg : "", s->optional ? "]" : "");
}

/*
 * Returns the bytes up to the next possible line break; parentheses that fit a line are not broken.
 */
static int unit(const char *text)
{
	int n = 0, depth = 0;

	for (; text[n] && text[n] != '\n' && (depth || text[n] != ' '); n++)
		depth += (text[n] == '(') - (text[n] == ')');
	return n <= WIDTH - DOC_COLUMN ? n : (int)strcspn(text, " \n");
}

static void print_doc(const char *text)
{
	int column = DOC_COLUMN;

	while (*text) {
		int n = unit(text);

		if (column > DOC_COLUMN && (text[-1] == '\n' || column + 1 + n > WIDTH)) {
			printf("\n%*s", DOC_COLUMN, "");
			column = DOC_COLUMN;
		}
		column += printf("%s%.*s", column > DOC_COLUMN ? " " : "", n, text);
		text += n + (text[n] != '\0');
	}
	putchar('\n');
}

static void print_setting(const struct setting *s)
{
	char spelled[SPELLED];
	int columns;

	spell(spelled, s, true);
	columns = printf("%s%s", s->letter ? "  " : "      ", spelled);
	if (columns <= DOC_COLUMN - 2)
		printf("%*s", DOC_COLUMN - columns, "");
	else if (columns + 2 + (int)strlen(s->doc) <= WIDTH)
		fputs("  ", stdout);
	else
		printf("\n%*s", DOC_COLUMN, "");
	print_doc(s->doc);
}

static void print_settings(const struct args *args)
{
	const struct setting *heading = NULL;

	for (const struct setting *s = args->settings; !SETTING_ENDS(s); s++) {
		if (SETTING_HEADS(s))
			heading = s;
		if (!s->doc || !args_take(args, s))
			continue;
		if (heading)
			printf("\n%s\n", heading->doc);
		heading = NULL;
		print_setting(s);
	}
}

void help_print(const struct args *args, const char *me)
{
	const char *before = "Usage:";

	for (const char *form = args->operands; form; before = "  or: ") {
		printf("%s %s [OPTION]... %.*s\n", before, me, (int)strcspn(form, "\n"), form);
		form = strchr(form, '\n');
		form += form != NULL;
	}
	printf("%s\n", args->about);
	print_settings(args);
	if (args->notes)
		printf("\n%s", args->notes);
	stdio_leave();
}

static void put_word(int *column, const char *before, const char *word, const char *after)
{
	if (*column + (int)strlen(word) + 3 > WIDTH)
		*column = printf("\n       ") - 1;
	*column += printf(" %s%s%s", before, word, after);
}

void usage_print(const struct args *args, const char *me)
{
	int column = printf("Usage: %s", me);
	char word[SPELLED];

	for (const struct setting *s = args->settings; !SETTING_ENDS(s); s++) {
		if (!s->doc || !args_take(args, s))
			continue;
		spell(word, s, false);
		put_word(&column, "[", word, "]");
	}
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(args->operands, "\n"), args->operands);
	put_word(&column, "", word, "");
	putchar('\n');
	stdio_leave();
}

/* Prints the names of the values; of adjacent synonyms, the first or all. */
static void print_names(const struct sp_enum_value *values, bool synonyms)
{
	const struct sp_enum_value *v = values;

	for (; v && v->name; v++)
		if (synonyms || v == values || v->value != v[-1].value)
			printf("%s%s", v == values ? "" : " ", v->name);
}

static void print_row(const struct setting *s)
{
	printf("O\t%s\t%s\t%s\t%d\t", s->letter ? (const char[]){ (char)s->letter, '\0' } : "",
	       s->name ? s->name : "", s->arg ? s->arg : "", s->optional);
	for (const char *c = s->doc; *c; c++)
		putchar(*c == '\n' ? ' ' : *c);
	putchar('\t');
	print_names(s->choices ? s->choices : s->values ? s->values() : NULL, s->choices != NULL);
	putchar('\n');
}

void help_table(const struct args *args)
{
	if (args->operand_words) {
		putchar('W');
		putchar('\t');
		print_names(args->operand_words(), false);
		putchar('\n');
	}
	for (const struct setting *s = args->settings; !SETTING_ENDS(s); s++)
		if (s->doc && args_take(args, s))
			print_row(s);
	stdio_leave();
}
