/* SPDX-License-Identifier: MIT */
/*
 * Reads keys, from the command line or from a file with one key per line, and names those that no
 * record has.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "uncut.h"
#include "xtable.h"

/* the byte order mark at the beginning of a file of keys */
#define UTF8_MARK "\xEF\xBB\xBF"
#define FIRST_KEY 1 /* operand */

void keys_open(struct keys *k, const struct config *c)
{
	*k = (struct keys){ .c = c, .next = FIRST_KEY };
	if (!c->keys)
		return;
	k->mark = true;
	k->cr = !c->by || c->info.format == SP_TABLE_CSV;
	k->file = strcmp(c->keys, "-") ? fopen(c->keys, "re") : stdin;
	if (!k->file)
		die_sys(errno, "%s", quote_file(c->keys));
	k->file_bytes = uncut_bytes(fileno(k->file));
}

/* Removes the mark, which precedes the first key of a file, and the carriage return. */
static void trim(struct keys *k, const char **key, size_t *bytes)
{
	const size_t mark = sizeof(UTF8_MARK) - 1;

	if (k->mark && *bytes >= mark && !memcmp(*key, UTF8_MARK, mark)) {
		*key += mark;
		*bytes -= mark;
	}
	k->mark = false;
	*bytes -= k->cr && *bytes && (*key)[*bytes - 1] == '\r';
}

static int next_line(struct keys *k, const char **key, size_t *bytes)
{
	ssize_t n;

	errno = 0;
	n = getline(&k->line, &k->capacity, k->file);
	if (n < 0 && ferror(k->file))
		die_sys(errno, "%s: read error", quote_file(k->c->keys));
	if (n < 0 && errno == ENOMEM)
		die("memory exhausted");
	if (n <= 0) {
		uncut_check(fileno(k->file), k->file_bytes, k->c->keys);
		return 0;
	}
	*key = k->line;
	*bytes = (size_t)n - (k->line[n - 1] == '\n');
	trim(k, key, bytes);
	return 1;
}

int keys_next(void *keys, const char **key, size_t *bytes)
{
	struct keys *k = keys;

	if (k->file)
		return next_line(k, key, bytes);
	if (k->next == k->c->operands.n)
		return 0;
	*key = k->c->operands.text[k->next++];
	*bytes = strlen(*key);
	return 1;
}

int keys_absent(void *keys, const char *key, size_t bytes)
{
	struct keys *k = keys;
	char *text = strndup(key, bytes);

	if (!text)
		die("memory exhausted");
	k->absent++;
	if (k->c->by)
		msg("%s: no record has the %s %s", quote_file(k->c->operands.text[0]),
		    quote_bare(k->c->by), quote(text));
	else
		msg("%s: there is no record %s", quote_file(k->c->operands.text[0]), quote(text));
	free(text);
	return 0;
}

void keys_close(struct keys *k)
{
	if (k->file && k->file != stdin)
		fclose(k->file);
	free(k->line);
}
