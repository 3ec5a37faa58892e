/* SPDX-License-Identifier: MIT */
/* Reads keys (keys.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "keys.h"
#include "msg.h"
#include "uncut.h"

/* the byte order mark at the beginning of a file of keys */
#define UTF8_MARK "\xEF\xBB\xBF"

void keys_open(struct keys *k, const struct operands *operands, unsigned first, const char *name)
{
	*k = (struct keys){ .operands = operands, .next = first, .name = name, .end = '\n' };
	if (!name)
		return;
	k->file = strcmp(name, "-") ? fopen(name, "re") : stdin;
	if (!k->file)
		die_sys(errno, "%s", quote_file(name));
	k->file_bytes = uncut_bytes(fileno(k->file));
}

/* Removes the mark, which precedes the first key, and the carriage return. */
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
	n = getdelim(&k->line, &k->room, k->end, k->file);
	if (n < 0 && ferror(k->file))
		die_sys(errno, "%s: read error", quote_file(k->name));
	if (n < 0 && errno == ENOMEM)
		die("memory exhausted");
	if (n <= 0) {
		uncut_check(fileno(k->file), k->file_bytes, k->name);
		return 0;
	}
	*key = k->line;
	*bytes = (size_t)n - (k->line[n - 1] == k->end);
	trim(k, key, bytes);
	return 1;
}

int keys_next(void *keys, const char **key, size_t *bytes)
{
	struct keys *k = keys;

	if (k->file)
		return next_line(k, key, bytes);
	if (k->next == k->operands->n)
		return 0;
	*key = k->operands->text[k->next++];
	*bytes = strlen(*key);
	return 1;
}

void keys_close(struct keys *k)
{
	if (k->file && k->file != stdin)
		fclose(k->file);
	free(k->line);
}
