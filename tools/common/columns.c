/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "columns.h"
#include "msg.h"
#include "quote.h"

/* What some programs put before the first byte of UTF-8. */
#define BYTE_ORDER_MARK "\xEF\xBB\xBF"
#define MARK_BYTES 3
/* A name that differs from it in more bytes is not what was meant. */
#define NEAREST_SHARE 2
/* Of a compressed file that are read at a time. */
#define PACKED_BYTES 65536

bool columns_is_name(const char *text)
{
	/* strtoumax() takes blanks and a sign before a number. */
	while (isspace((unsigned char)*text) || *text == '+' || *text == '-')
		text++;
	return *text && !isdigit((unsigned char)*text) && *text != '.' && *text != ',';
}

/* Reading. */

struct text {
	char *data;
	size_t bytes, room;
};

static void append(struct text *t, char byte)
{
	if (t->bytes + 1 >= t->room) {
		t->room = t->room ? 2 * t->room : 256;
		t->data = must_alloc(t->data, t->room, 1);
	}
	t->data[t->bytes++] = byte;
	t->data[t->bytes] = '\0';
}

/* How much of the header has been seen. */
struct progress {
	uint64_t left; /* records */
	bool quoted;
};

static void take(const struct columns *c, struct progress *p, struct text *t, char byte)
{
	append(t, byte);
	p->quoted ^= c->csv && byte == '"';
	p->left -= byte == c->eol && !p->quoted;
}

/* Bytes read, or 0 at the end. */
static size_t read_some(const struct columns *c, int fd, char *data, size_t bytes)
{
	ssize_t n;

	while ((n = read(fd, data, bytes)) < 0 && errno == EINTR)
		;
	if (n < 0)
		die_sys(errno, "read failed: %s", quote_file(c->input));
	return (size_t)n;
}

/* Byte by byte: what follows the header is the sort's. */
static struct progress read_plain(const struct columns *c, int fd, struct text *t)
{
	struct progress p = { .left = c->header_records };
	char byte;

	while (p.left && read_some(c, fd, &byte, 1))
		take(c, &p, t, byte);
	return p;
}

/* The records with which the file begins as far as it was read; room: for text of that length. */
static struct progress unpack(const struct columns *c, const struct text *packed, size_t room,
			      struct text *t)
{
	struct progress p = { .left = c->header_records };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	char *text = must_alloc(NULL, room, 1);
	size_t n;

	if (sp_packed_beginning(c->decompress, c->input, packed->data, packed->bytes, text, room,
				&n, &err) < 0)
		die("%s: %s", quote_file(c->input), err.text[0] ? err.text : sp_strerror(err.code));
	t->bytes = 0;
	for (size_t i = 0; p.left && i < n; i++)
		take(c, &p, t, text[i]);
	free(text);
	return p;
}

/* More and more of a compressed file, until what it begins with has the whole header. */
static struct progress read_packed(const struct columns *c, int fd, struct text *packed,
				   struct text *t)
{
	struct progress p = { .left = c->header_records };
	size_t room = PACKED_BYTES, n = 1;

	while (p.left && (n || t->bytes == room)) {
		room *= 2;
		packed->data = must_alloc(packed->data, packed->bytes + PACKED_BYTES, 1);
		n = read_some(c, fd, packed->data + packed->bytes, PACKED_BYTES);
		packed->bytes += n;
		p = unpack(c, packed, room, t);
	}
	return p;
}

static void read_records(const struct columns *c, int fd, struct text *packed, struct text *t)
{
	struct progress p = c->decompress ? read_packed(c, fd, packed, t) : read_plain(c, fd, t);

	if (p.quoted)
		die("%s: the quotes of the header do not end", quote_file(c->input));
	if (p.left && t->bytes)
		append(t, c->eol);
}

static void add_name(struct columns *c, const char *name, size_t bytes)
{
	c->names = must_alloc(c->names, c->n + 1, sizeof(*c->names));
	c->names[c->n] = must_alloc(NULL, bytes + 1, 1);
	memcpy(c->names[c->n], name, bytes);
	c->names[c->n++][bytes] = '\0';
}

/* Words between blanks. */
static void split_blanks(struct columns *c, const char *p)
{
	for (;;) {
		size_t bytes;

		p += strspn(p, " \t\n");
		bytes = strcspn(p, " \t\n");
		if (!bytes)
			return;
		add_name(c, p, bytes);
		p += bytes;
	}
}

static void split_fields(struct columns *c, const char *p, const char *end)
{
	const char separator = (char)c->separator;
	struct text name = { 0 };
	bool quoted = false;

	for (; p <= end; p++) {
		if (p < end && c->csv && *p == '"') {
			/* Two of them in quotes are one. */
			if (quoted && p + 1 < end && p[1] == '"')
				append(&name, *p++);
			else
				quoted = !quoted;
		} else if (p < end && (quoted || *p != separator)) {
			append(&name, *p);
		} else {
			add_name(c, name.data ? name.data : "", name.bytes);
			name.bytes = 0;
		}
	}
	free(name.data);
}

/* The length of the first record, without its terminator. */
static size_t first_record(const struct columns *c, const struct text *t)
{
	bool quoted = false;
	size_t i = 0;

	for (; i < t->bytes && (quoted || t->data[i] != c->eol); i++)
		quoted ^= c->csv && t->data[i] == '"';
	return i && c->csv && t->data[i - 1] == '\r' ? i - 1 : i;
}

void columns_read(struct columns *c)
{
	const bool standard = strcmp(c->input, "-") == 0;
	int fd = standard ? STDIN_FILENO : open(c->input, O_RDONLY | O_CLOEXEC);
	struct text t = { 0 }, packed = { 0 };
	struct stat st;
	size_t bytes, mark;

	if (fd < 0)
		die_sys(errno, "%s", quote_file(c->input));
	read_records(c, fd, &packed, &t);
	c->empty = !t.bytes;
	bytes = first_record(c, &t);
	mark = bytes >= MARK_BYTES && !memcmp(t.data, BYTE_ORDER_MARK, MARK_BYTES) ? MARK_BYTES : 0;
	if (c->separator >= 0 && !c->empty) {
		split_fields(c, t.data + mark, t.data + bytes);
	} else {
		char *record = must_alloc(NULL, bytes + 1, 1);

		if (bytes)
			memcpy(record, t.data, bytes);
		record[bytes] = '\0';
		split_blanks(c, record + mark);
		free(record);
	}
	if (!standard && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		close(fd);
		free(t.data);
		free(packed.data);
		return;
	}
	c->taken = c->decompress ? packed.data : t.data;
	c->taken_bytes = c->decompress ? packed.bytes : t.bytes;
	free(c->decompress ? t.data : packed.data);
}

/* Finding. */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How many bytes must be inserted, removed or changed to make the one of the other. */
static size_t distance(const char *a, const char *b)
{
	size_t n = strlen(b), *row = must_alloc(NULL, n + 1, sizeof(*row)), result;

	for (size_t k = 0; k <= n; k++)
		row[k] = k;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t k = 0; k < n; k++) {
			size_t change = diagonal + (a[i] != b[k]);

			diagonal = row[k + 1];
			row[k + 1] = least(change, 1 + least(row[k], diagonal));
		}
	}
	result = row[n];
	free(row);
	return result;
}

static _Noreturn void unknown(const struct columns *c, const char *name)
{
	size_t best = 0, best_distance = SIZE_MAX;

	for (size_t i = 0; i < c->n; i++) {
		size_t d = distance(name, c->names[i]);

		if (d < best_distance) {
			best = i;
			best_distance = d;
		}
	}
	if (best_distance > (strlen(name) + 1) / NEAREST_SHARE)
		die("%s: the header has no column %s", quote_file(c->input), quote(name));
	die("%s: the header has no column %s; the nearest is %s", quote_file(c->input), quote(name),
	    quote(c->names[best]));
}

static size_t number_of(const struct columns *c, const char *name)
{
	size_t found = 0;

	if (c->empty)
		die("%s: there is no header to name columns", quote_file(c->input));
	for (size_t i = 0; i < c->n; i++) {
		if (strcmp(c->names[i], name) != 0)
			continue;
		if (found)
			die("%s: the header has two columns %s", quote_file(c->input), quote(name));
		found = i + 1;
	}
	if (!found)
		unknown(c, name);
	return found;
}

size_t columns_find(const struct columns *c, const char *text, const char *ends, const char **rest)
{
	struct text name = { 0 };
	const char *p = text;
	size_t number;

	append(&name, '\0');
	name.bytes = 0;
	if (*p == '"') {
		for (p++; *p && (*p != '"' || p[1] == '"'); p++)
			append(&name, *p == '"' ? *p++ : *p);
		if (*p++ != '"' || (*p && !strchr(ends, *p)))
			die("the quotes of a column's name do not end: %s", quote(text));
	} else {
		for (; *p && !strchr(ends, *p); p++)
			append(&name, *p);
	}
	*rest = p;
	number = number_of(c, name.data);
	free(name.data);
	return number;
}

char *columns_key(const struct columns *c, const char *text)
{
	const char *options;
	size_t number = columns_find(c, text, ":", &options);
	char *key = NULL;

	if (*options == ':')
		options++;
	if (asprintf(&key, "%zu,%zu%s", number, number, options) < 0)
		die("memory exhausted");
	return key;
}

void columns_check(const struct columns *c, size_t number)
{
	if (!c->empty && number > c->n)
		die("%s: the header has %zu columns, not %zu", quote_file(c->input), c->n, number);
}

void columns_close(struct columns *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->names[i]);
	free(c->names);
	free(c->taken);
}
