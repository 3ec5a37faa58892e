/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include "help.h"
#include "stdio_end.h"

#define DOC_COLUMN 28
#define WIDTH 79

/* Each line of text, after what stands before the first one, or the others. */
static void print_lines(const char *text, const char *first, const char *other)
{
	const char *before = first;

	while (*text) {
		int n = (int)strcspn(text, "\n");

		printf("%s%.*s\n", before, n, text);
		text += n + (text[n] != '\0');
		before = other;
	}
}

/* As in --help: "-k, --key=KEYDEF"; as in --usage, with one of the names. */
static void spell(char *to, size_t bytes, const struct setting *s, bool letter, bool name)
{
	int n = snprintf(to, bytes, "%s%.1s%s", letter ? "-" : "",
			 letter ? (const char[]){ (char)s->letter, '\0' } : "",
			 letter && name ? ", " : "");

	if (name)
		n += snprintf(to + n, bytes - (size_t)n, "--%s", s->name);
	if (s->arg)
		snprintf(to + n, bytes - (size_t)n,
			 s->optional ? "[=%s]"
			 : name	     ? "=%s"
				     : " %s",
			 s->arg);
}

static void print_setting(const struct setting *s)
{
	char spelled[80], other[DOC_COLUMN + 1];
	int columns;

	spell(spelled, sizeof(spelled), s, s->letter != 0, s->name != NULL);
	snprintf(other, sizeof(other), "%*s", DOC_COLUMN, "");
	columns = printf("%s%s", s->letter ? "  " : "      ", spelled);
	if (columns <= DOC_COLUMN - 2)
		printf("%*s", DOC_COLUMN - columns, "");
	else if (columns + 2 + (int)strcspn(s->doc, "\n") <= WIDTH)
		printf("  ");
	else
		printf("\n%s", other);
	print_lines(s->doc, "", other);
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

static void print_forms(const char *operands, const char *me)
{
	char first[96], other[96];

	snprintf(first, sizeof(first), "Usage: %s [OPTION]... ", me);
	snprintf(other, sizeof(other), "  or:  %s [OPTION]... ", me);
	print_lines(operands, first, other);
}

void help_print(const struct args *args, const char *me)
{
	print_forms(args->operands, me);
	printf("%s\n", args->about);
	print_settings(args);
	if (args->notes)
		printf("\n%s", args->notes);
	stdio_leave();
}

static void put_word(int *column, const char *word)
{
	if (*column + (int)strlen(word) >= WIDTH) {
		fputs("\n       ", stdout);
		*column = 7;
	}
	*column += printf(" %s", word);
}

/* Letters without arguments in one word. */
static void put_flags(int *column, const struct args *args)
{
	char flags[132] = "[-";
	size_t n = 2;

	for (const struct setting *s = args->settings; !SETTING_ENDS(s); s++)
		if (s->doc && s->letter && !s->arg && args_take(args, s))
			flags[n++] = (char)s->letter;
	if (n == 2)
		return;
	flags[n] = ']';
	put_word(column, flags);
}

static void put_setting(int *column, const struct setting *s, bool letter)
{
	char spelled[80], word[84];

	spell(spelled, sizeof(spelled), s, letter, !letter);
	snprintf(word, sizeof(word), "[%s]", spelled);
	put_word(column, word);
}

void usage_print(const struct args *args, const char *me)
{
	int column = printf("Usage: %s", me);
	char form[80];

	put_flags(&column, args);
	for (const struct setting *s = args->settings; !SETTING_ENDS(s); s++)
		if (s->doc && s->letter && s->arg && args_take(args, s))
			put_setting(&column, s, true);
	for (const struct setting *s = args->settings; !SETTING_ENDS(s); s++)
		if (s->doc && !s->letter && args_take(args, s))
			put_setting(&column, s, false);
	snprintf(form, sizeof(form), "%.*s", (int)strcspn(args->operands, "\n"), args->operands);
	put_word(&column, form);
	putchar('\n');
	stdio_leave();
}

static void print_words(const struct sp_word *w)
{
	for (const char *before = ""; w && w->word; w++, before = " ")
		printf("%s%s", before, w->word);
}

static void print_row(const struct setting *s)
{
	printf("O\t%s\t%s\t%s\t%d\t", s->letter ? (const char[]){ (char)s->letter, '\0' } : "",
	       s->name ? s->name : "", s->arg ? s->arg : "", s->optional);
	for (const char *c = s->doc; *c; c++)
		putchar(*c == '\n' ? ' ' : *c);
	putchar('\t');
	print_words(s->words ? s->words() : s->choices);
	putchar('\n');
}

void help_table(const struct args *args)
{
	if (args->operand_words) {
		putchar('W');
		putchar('\t');
		print_words(args->operand_words());
		putchar('\n');
	}
	for (const struct setting *s = args->settings; !SETTING_ENDS(s); s++)
		if (s->doc && args_take(args, s))
			print_row(s);
	stdio_leave();
}
