/* SPDX-License-Identifier: MIT */
/*
 * Reads the names of columns from a header, and finds columns by name.
 */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/columns.h>
#include "base/array.h"
#include "base/edits.h"
#include "base/err.h"
#include "base/minmax.h"
#include "base/utf8mark.h"
#include "rec/fields.h"

/* A name is suggested if at most one byte in two differs. */
#define NEAREST_SHARE 2
/* Bytes of a compressed file read in one call. */
#define PACKED_BYTES 65536

/* Maximum length of a name in a message, without quote(). */
#define SHOWN_MAX 104

bool sp_columns_is_name(const char *text)
{
	/* strtoumax() takes blanks and a sign before a number. */
	while (isspace((unsigned char)*text) || *text == '+' || *text == '-')
		text++;
	return *text && !isdigit((unsigned char)*text) && *text != '.' && *text != ',';
}

static const char *shown(const struct sp_columns *c, const char *name, char buffer[SHOWN_MAX])
{
	if (c->quote)
		return c->quote(name);
	snprintf(buffer, SHOWN_MAX, "'%.100s'", name);
	return buffer;
}

static int no_memory(struct sp_errinfo *err)
{
	return sp__err(err, -ENOMEM, "allocate", NULL, -1);
}

/* Reading. */

struct text {
	char *data;
	size_t bytes, room;
	bool failed; /* out of memory; the text is incomplete */
};

static void append(struct text *t, char byte)
{
	t->failed |= !SP__ARRAY_GROW(t->data, t->room, t->bytes + 2);
	if (t->failed)
		return;
	t->data[t->bytes++] = byte;
	t->data[t->bytes] = '\0';
}

/* Progress in reading the header. */
struct progress {
	uint64_t left;	  /* records */
	size_t begin;	  /* beginning of the present record in the text */
	uint64_t scanned; /* scan state of the present record (rec/recfmt.h) */
	size_t first_end; /* end of the first record, terminator included */
};

static struct sp_recfmt format(const struct sp_columns *c)
{
	return (struct sp_recfmt){ .kind = c->csv ? SP_REC_CSV : SP_REC_LINE,
				   .eol = c->eol,
				   .separator = (char)c->separator };
}

/* True if the present record ends with the last byte. */
static bool ends(const struct sp_columns *c, struct progress *p, const struct text *t)
{
	if (!c->csv)
		return t->data[t->bytes - 1] == c->eol;
	return sp__rec_end_csv(t->data + p->begin, t->bytes - p->begin, (char)c->separator,
			       &p->scanned);
}

static void take(const struct sp_columns *c, struct progress *p, struct text *t, char byte)
{
	append(t, byte);
	if (t->failed)
		return;
	if (t->bytes == SP__UTF8_MARK_BYTES && sp__utf8_mark(t->data, t->bytes)) {
		p->begin = t->bytes;
		p->scanned = 0;
	} else if (ends(c, p, t)) {
		p->begin = t->bytes;
		p->scanned = 0;
		if (!p->first_end)
			p->first_end = t->bytes;
		p->left--;
	}
}

/* Returns the bytes read, 0 at the end. */
static ssize_t read_some(const struct sp_columns *c, int fd, char *data, size_t bytes,
			 struct sp_errinfo *err)
{
	ssize_t n;

	while ((n = read(fd, data, bytes)) < 0 && errno == EINTR)
		;
	return n < 0 ? sp__err(err, -errno, "read", c->input, -1) : n;
}

/* True if the header and the bytes of the sample have been read. */
static bool complete(const struct sp_columns *c, const struct text *t, const struct progress *p)
{
	return !p->left && t->bytes >= c->sample_max;
}

static bool make_room(struct text *t, size_t bytes)
{
	t->failed |= !SP__ARRAY_GROW(t->data, t->room, bytes + 2);
	return !t->failed;
}

/* Reads bytes after the header. */
static int read_rest(const struct sp_columns *c, int fd, struct text *t, struct sp_errinfo *err)
{
	ssize_t n = 1;

	while (n > 0 && t->bytes < c->sample_max && make_room(t, c->sample_max)) {
		n = read_some(c, fd, t->data + t->bytes, c->sample_max - t->bytes, err);
		t->bytes += n > 0 ? (size_t)n : 0;
	}
	return n < 0 ? (int)n : 0;
}

/* Reads the header byte by byte, since bytes after it can be for another reader. */
static int read_plain(const struct sp_columns *c, int fd, struct text *t, struct progress *p,
		      struct sp_errinfo *err)
{
	ssize_t n = 1;
	char byte;

	while (p->left && !t->failed && (n = read_some(c, fd, &byte, 1, err)) > 0)
		take(c, p, t, byte);
	return n < 0 ? (int)n : p->left ? 0 : read_rest(c, fd, t, err);
}

/* Unpacks the beginning of the file, as far as it was read, into at most room bytes of text. */
static int unpack(const struct sp_columns *c, const struct text *packed, size_t room,
		  struct text *t, struct progress *p, struct sp_errinfo *err)
{
	char *text = malloc(room);
	size_t n = 0, i = 0;
	int rc = text ? sp_packed_beginning(c->decompress, c->input, packed->data, packed->bytes,
					    text, room, &n, err)
		      : no_memory(err);

	t->bytes = 0;
	*p = (struct progress){ .left = c->header_records };
	while (p->left && i < n && rc >= 0)
		take(c, p, t, text[i++]);
	n = sp__min(n, c->sample_max);
	if (rc >= 0 && i < n && make_room(t, n)) {
		memcpy(t->data + i, text + i, n - i);
		t->bytes = n;
	}
	free(text);
	return rc < 0 ? rc : 0;
}

/*
 * Reads more and more of a compressed file until its unpacked beginning contains the whole header
 * and the sample.
 */
static int read_packed(const struct sp_columns *c, int fd, struct text *packed, struct text *t,
		       struct progress *p, struct sp_errinfo *err)
{
	size_t room = PACKED_BYTES;
	ssize_t n = 1;
	int rc = 0;

	while (!rc && !complete(c, t, p) && !t->failed && (n || t->bytes == room)) {
		room *= 2;
		if (!SP__ARRAY_GROW(packed->data, packed->room, packed->bytes + PACKED_BYTES))
			return no_memory(err);
		n = read_some(c, fd, packed->data + packed->bytes, PACKED_BYTES, err);
		if (n < 0)
			return (int)n;
		packed->bytes += (size_t)n;
		rc = unpack(c, packed, room, t, p, err);
	}
	return rc;
}

/* Copies the records after the header, which has end_bytes. */
static int copy_sample(struct sp_columns *c, const struct text *t, size_t end_bytes,
		       struct sp_errinfo *err)
{
	const struct sp_recfmt f = format(c);
	const size_t bytes = t->bytes - end_bytes;
	char *copy = malloc(bytes + 1), *p = copy;
	const char *end;
	size_t left;

	if (!copy)
		return no_memory(err);
	memcpy(copy, t->data + end_bytes, bytes);
	/* The last record of the input can lack its terminator. */
	copy[bytes] = c->csv ? '\n' : c->eol;
	left = bytes + (t->bytes < c->sample_max && copy[bytes - 1] != copy[bytes]);
	while (left && (end = sp__rec_end(&f, p, left))) {
		left -= (size_t)(end - p);
		p += end - p;
	}
	c->sample = copy;
	c->sample_bytes = (size_t)(p - copy);
	return 0;
}

/* Reads the records of the header; *first_end: end of the first one's terminator in t; 0: none. */
static int read_records(struct sp_columns *c, int fd, struct text *packed, struct text *t,
			size_t *first_end, struct sp_errinfo *err)
{
	struct progress p = { .left = c->header_records };
	int rc = c->decompress ? read_packed(c, fd, packed, t, &p, err)
			       : read_plain(c, fd, t, &p, err);

	if (rc)
		return rc;
	/* The last record can lack its terminator. */
	if (p.left && t->bytes > p.begin) {
		uint64_t left = p.left;

		take(c, &p, t, c->csv ? '\n' : c->eol);
		if (p.left == left && !t->failed)
			return sp__errf(err, -EINVAL, "parse", c->input, -1,
					"a quoted name of the header is not closed");
	}
	*first_end = p.first_end;
	if (t->failed)
		return no_memory(err);
	if (t->bytes == p.begin || t->bytes > c->sample_max)
		return 0;
	return copy_sample(c, t, p.begin, err);
}

/* Splits the first record of a text, which ends there, into names. */
static int split(struct sp_columns *c, const struct text *t, size_t end, struct sp_errinfo *err)
{
	const struct sp_recfmt f = format(c);
	struct sp_batch record = { t->data, end - 1 };

	c->empty = !end;
	if (c->empty)
		return 0;
	return sp__header_names(&f, c->separator, &record, &c->names, &c->n) < 0 ? no_memory(err)
										 : 0;
}

static int open_input(const struct sp_columns *c, bool standard, struct sp_errinfo *err)
{
	struct stat st;
	int fd;

	/* Checked before opening: a pipe without a writer would wait. */
	if (c->only_regular && (standard || (stat(c->input, &st) == 0 && !S_ISREG(st.st_mode))))
		return sp__errf(err, SP_EUNSUP, "parse", c->input, -1,
				"columns have names in regular files only");
	fd = standard ? STDIN_FILENO : open(c->input, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? sp__err(err, -errno, "open", c->input, -1) : fd;
}

/* True if the input can be opened again, and read from its beginning. */
static bool is_regular(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

int sp_columns_read(struct sp_columns *c, struct sp_errinfo *err)
{
	const bool standard = strcmp(c->input, "-") == 0;
	struct text t = { 0 }, packed = { 0 };
	struct text *kept = c->decompress ? &packed : &t;
	int fd = open_input(c, standard, err), rc;
	size_t first_end = 0;

	c->taken_fd = -1;
	if (fd < 0)
		return fd;
	rc = read_records(c, fd, &packed, &t, &first_end, err);
	if (!rc)
		rc = split(c, &t, first_end, err);
	if (!rc && kept->data && (standard || !is_regular(fd))) {
		c->taken = kept->data;
		c->taken_bytes = kept->bytes;
		c->taken_fd = standard ? -1 : fd;
		kept->data = NULL;
	} else if (!standard) {
		close(fd);
	}
	free(t.data);
	free(packed.data);
	return rc;
}

/* Finding. */

/* Returns the most similar name, or NULL. */
static const char *nearest(const struct sp_columns *c, const char *name)
{
	struct sp__near_name near = { 0 };

	for (size_t i = 0; i < c->n; i++)
		sp__near_name_try(&near, name, strlen(name), c->names[i], NEAREST_SHARE);
	return near.name;
}

static int wrong_name(const struct sp_columns *c, const char *name, const char *format,
		      const char *other, struct sp_errinfo *err)
{
	char own[SHOWN_MAX], near[SHOWN_MAX], uncut[SP__UNCUT_BYTES];

	return sp__errf(err, -EINVAL, "parse", c->input, -1, "%s %s%s%s%s", format,
			shown(c, name, own), other ? "; the nearest is " : "",
			other ? shown(c, other, near) : "",
			sp__header_uncut(c->n, c->separator, uncut));
}

static int number_of(const struct sp_columns *c, const char *name, size_t *number,
		     struct sp_errinfo *err)
{
	size_t found = 0;

	if (c->empty)
		return sp__errf(err, -EINVAL, "parse", c->input, -1,
				"there is no header to name columns");
	for (size_t i = 0; i < c->n; i++) {
		if (strcmp(c->names[i], name) != 0)
			continue;
		if (found)
			return wrong_name(c, name, "the header has two columns", NULL, err);
		found = i + 1;
	}
	*number = found;
	return found ? 0 : wrong_name(c, name, "the header has no column", nearest(c, name), err);
}

/* Takes the name at the beginning of a text, without its quotes; -EINVAL: the quotes do not end. */
static int take_name(const char *p, const char *ends, struct text *name, const char **rest)
{
	bool quoted = *p == '"';

	append(name, '\0');
	name->bytes = 0;
	for (p += quoted; *p; p++) {
		if (quoted ? *p == '"' && p[1] != '"' : strchr(ends, *p) != NULL)
			break;
		append(name, quoted && *p == '"' ? *p++ : *p);
	}
	if (quoted && (*p++ != '"' || (*p && !strchr(ends, *p))))
		return -EINVAL;
	*rest = p;
	return name->failed ? -ENOMEM : 0;
}

int sp_columns_find(const struct sp_columns *c, const char *text, const char *ends, size_t *number,
		    const char **rest, struct sp_errinfo *err)
{
	struct text name = { 0 };
	char buffer[SHOWN_MAX];
	int rc = take_name(text, ends, &name, rest);

	if (rc == -EINVAL)
		sp__errf(err, rc, "parse", NULL, -1,
			 "the quoted name of a column is not closed: %s", shown(c, text, buffer));
	else if (rc)
		no_memory(err);
	else
		rc = number_of(c, name.data, number, err);
	free(name.data);
	return rc;
}

int sp_columns_key(const struct sp_columns *c, const char *text, char **key, struct sp_errinfo *err)
{
	const char *options;
	char buffer[SHOWN_MAX];
	size_t number;
	int rc = sp_columns_find(c, text, ":", &number, &options, err);

	*key = NULL;
	if (rc)
		return rc;
	/* Only letters can follow; anything else would become part of the number. */
	if (*options == ':' && options[1] && !isalpha((unsigned char)options[1]))
		return sp__errf(err, -EINVAL, "parse", NULL, -1,
				"stray character in field spec: invalid field specification %s",
				shown(c, text, buffer));
	options += *options == ':';
	/* At the end of a field the letter b alone would not apply to its beginning. */
	if (asprintf(key, "%zu%s,%zu%s", number, strchr(options, 'b') ? "b" : "", number,
		     options) >= 0)
		return 0;
	*key = NULL;
	return no_memory(err);
}

int sp_columns_check(const struct sp_columns *c, size_t number, struct sp_errinfo *err)
{
	char uncut[SP__UNCUT_BYTES];

	if (c->empty || number <= c->n)
		return 0;
	return sp__errf(err, -EINVAL, "parse", c->input, -1,
			"the header has %zu columns, not %zu%s", c->n, number,
			sp__header_uncut(c->n, c->separator, uncut));
}

void sp_columns_close(struct sp_columns *c)
{
	free(c->names);
	if (c->taken && c->taken_fd >= 0)
		close(c->taken_fd);
	free(c->taken);
	free(c->sample);
	c->sample = NULL;
	c->names = NULL;
	c->taken = NULL;
	c->n = 0;
}
