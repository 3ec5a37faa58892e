/* SPDX-License-Identifier: MIT */
/*
 * Writes a file for each group (split.h).
 */
#include <ctype.h>
#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/outfile.h>
#include "base/err.h"
#include "base/mem.h"
#include "base/whole.h"
#include "group/split.h"

#define SHOWN 40 /* bytes of a name in a message */

/* A file that must stay: an input, or the file of another group. */
struct taken {
	dev_t dev;
	ino_t ino;
	bool input;
};

struct sp__group_split {
	const char *form, *rest; /* rest: behind the last key that was put into the name */
	size_t nkeys;
	void *taken; /* tree of struct taken */
	struct sp__bytes name;
	struct sp_outfile *file; /* the open one; or NULL */
	int fd;
	uint64_t at, files;
	struct sp_errinfo *err;
};

static int no_memory(struct sp__group_split *s)
{
	return sp__err(s->err, -ENOMEM, "allocate", NULL, -1);
}

/* Letters, digits, underscore and point: all that several keys can have in a name. */
static bool is_plain(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || (unsigned char)c >= 0x80;
}

/* Returns the next "%s" of a form, or its end. */
static const char *next_key(const char *form)
{
	while (*form && strncmp(form, "%s", 2) != 0)
		form += strncmp(form, "%%", 2) ? 1 : 2;
	return form;
}

/* True if the text between two keys has a byte that no key has. */
static bool separates(const char *from, const char *to)
{
	for (; from < to; from++)
		if (!is_plain(*from) && *from != '%')
			return true;
	return false;
}

static int check_form(const char *form, size_t nkeys, struct sp_errinfo *err)
{
	const char *at = next_key(form), *next;
	size_t n = 0;

	if (!nkeys)
		return sp__invalid(err, NULL, "--split needs a key: -k");
	for (const char *p = form; *p; p += 1 + (p[1] != '\0' && *p == '%'))
		if (*p == '%' && p[1] != 's' && p[1] != '%')
			return sp__invalid(err, form,
					   "--split: 's' or '%%' is expected behind each '%%' of");
	for (; *at; at = next, n++) {
		next = next_key(at + 2);
		if (*next && !separates(at + 2, next))
			return sp__invalid(
				err, form,
				"--split: a byte such as '-' is needed between two %%s of");
	}
	return n == nkeys ? 0
			  : sp__invalid(err, form,
					"--split: a %%s for each key, %zu of them, is expected in",
					nkeys);
}

static int order_taken(const void *a, const void *b)
{
	const struct taken *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return (x->ino > y->ino) - (x->ino < y->ino);
}

static int note_taken(struct sp__group_split *s, const struct stat *st, bool input)
{
	struct taken *t = malloc(sizeof(*t)), **node;

	if (!t)
		return no_memory(s);
	*t = (struct taken){ st->st_dev, st->st_ino, input };
	node = tsearch(t, &s->taken, order_taken);
	if (!node || *node != t)
		free(t);
	return node ? 0 : no_memory(s);
}

int sp__group_split_new(struct sp__group_split **split, const char *form, size_t nkeys,
			const char *const *inputs, size_t ninputs, struct sp_errinfo *err)
{
	struct sp__group_split *s;
	struct stat st;
	int rc = check_form(form, nkeys, err);

	if (rc)
		return rc;
	s = *split = calloc(1, sizeof(*s));
	if (!s)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	*s = (struct sp__group_split){ .form = form, .rest = form, .nkeys = nkeys, .err = err };
	for (size_t i = 0; !rc && i < ninputs; i++)
		if (!(strcmp(inputs[i], "-") ? stat(inputs[i], &st) : fstat(STDIN_FILENO, &st)))
			rc = note_taken(s, &st, true);
	return rc;
}

void sp__group_split_free(struct sp__group_split *s)
{
	if (!s)
		return;
	sp_outfile_close(s->file, NULL);
	sp__bytes_release(&s->name, NULL);
	tdestroy(s->taken, free);
	free(s);
}

/* Names. */

/* Appends the form up to its next key. */
static int put_form(struct sp__group_split *s)
{
	const char *to = next_key(s->rest);

	for (; s->rest < to; s->rest++) {
		if (*s->rest == '%')
			s->rest++;
		if (sp__bytes_append(&s->name, s->rest, 1, NULL))
			return no_memory(s);
	}
	s->rest += *s->rest ? 2 : 0;
	return 0;
}

/* True if a byte of a key can be in the name as it is; first: no byte of the name is before. */
static bool stays(const struct sp__group_split *s, char c, bool first)
{
	if (s->nkeys > 1 && !is_plain(c))
		return false;
	return c != '/' && c != '%' && !iscntrl((unsigned char)c) && !(first && c == '.');
}

int sp__group_split_key(struct sp__group_split *s, const char *p, size_t n)
{
	static const char digits[] = "0123456789ABCDEF";
	bool first;

	if (put_form(s))
		return -ENOMEM;
	first = !s->name.bytes || s->name.data[s->name.bytes - 1] == '/';
	for (size_t i = 0; i < n; i++, first = false) {
		const unsigned char c = (unsigned char)p[i];
		const char code[] = { '%', digits[c >> 4], digits[c & 15] };

		if (stays(s, p[i], first) ? sp__bytes_append(&s->name, p + i, 1, NULL)
					  : sp__bytes_append(&s->name, code, sizeof(code), NULL))
			return no_memory(s);
	}
	/* No other key is written as a percent sign alone. */
	return n || !sp__bytes_append(&s->name, "%", 1, NULL) ? 0 : no_memory(s);
}

/* Files. */

/* Refuses a name that is too long; it is not shown as a whole. */
static int too_long(struct sp__group_split *s)
{
	return sp__errf(s->err, -ENAMETOOLONG, "group", NULL, -1,
			"--split: the name '%.*s...' of the file of a group has %zu bytes, which "
			"are too many; a key of fewer bytes is substr(KEY, 1, 50)",
			SHOWN, s->name.data, s->name.bytes - 1);
}

/* Refuses a file that would be lost. */
static int check_old(struct sp__group_split *s)
{
	struct taken key, *const *found;
	struct stat st;

	/* Opening it has any other error. */
	if (stat(s->name.data, &st))
		return errno == ENAMETOOLONG ? too_long(s) : 0;
	key = (struct taken){ .dev = st.st_dev, .ino = st.st_ino };
	found = tfind(&key, &s->taken, order_taken);
	if (!found)
		return 0;
	return sp__errf(
		s->err, SP_EUNSUP, "group", s->name.data, -1, "%s",
		(*found)->input
			? "the file of a group is an input; --split=FORM can name another "
			  "directory"
			: "two groups have this file: the file system takes their names for "
			  "the same");
}

int sp__group_split_begin(struct sp__group_split *s)
{
	int rc = put_form(s);

	if (!rc && sp__bytes_append(&s->name, "", 1, NULL))
		rc = no_memory(s);
	if (!rc)
		rc = check_old(s);
	if (!rc)
		rc = sp_outfile_open(&s->file, s->name.data, 0, s->err);
	if (rc)
		return rc;
	s->at = 0;
	s->fd = sp_outfile_begin(s->file, s->err);
	return s->fd < 0 ? s->fd : 0;
}

int sp__group_split_put(struct sp__group_split *s, const struct sp_batch *records)
{
	int rc = sp__write_whole(s->fd, records->data, records->bytes, s->at);

	s->at += records->bytes;
	return rc ? sp__err(s->err, rc, "write", s->name.data, -1) : 0;
}

int sp__group_split_end(struct sp__group_split *s)
{
	struct stat st;
	int rc = fstat(s->fd, &st) ? sp__err(s->err, -errno, "fstat", s->name.data, -1) : 0;

	if (!rc && S_ISREG(st.st_mode))
		rc = note_taken(s, &st, false);
	if (!rc)
		rc = sp_outfile_commit(s->file, s->err);
	if (rc)
		return rc;
	sp_outfile_close(s->file, NULL);
	s->file = NULL;
	s->rest = s->form;
	s->name.bytes = 0;
	s->files++;
	return 0;
}

uint64_t sp__group_split_files(const struct sp__group_split *s)
{
	return s ? s->files : 0;
}
