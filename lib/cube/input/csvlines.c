/* SPDX-License-Identifier: MIT */
/*
 * Reads points from lines of CSV.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/err.h"
#include "base/utf8mark.h"
#include "base/whole.h"
#include "cube/input/csvlines.h"
#include "cube/input/input.h"
#include "rec/recfmt.h"

static int line_error(const struct sp__csvlines *l, int code, const char *reason)
{
	return sp__errf(l->err, code, "read", l->name, -1, "line %" PRIu64 ": %s", l->number,
			reason);
}

/* Appends the next line, without its end, to n bytes of text.  Returns 1 if there is none. */
static int next_line(struct sp__csvlines *l, size_t n)
{
	const size_t before = n;
	int c;

	l->number++;
	while ((c = getc_unlocked(l->in)) != EOF && c != '\n') {
		if (!c || n + 1 == l->capacity)
			return line_error(l, SP_EFORMAT, c ? "it is too long" : "it is not text");
		l->text[n++] = (char)c;
	}
	if (ferror(l->in))
		return sp__err(l->err, errno ? -errno : -EIO, "read", l->name, -1);
	if (c == EOF) {
		int rc = sp__check_uncut(fileno(l->in), l->file_bytes, l->name, l->err);

		if (rc || n == before)
			return rc ? rc : 1;
	}
	while (n > before && strchr("\r \t", l->text[n - 1]))
		n--;
	l->text[n] = '\0';
	return 0;
}

/* Parses a coordinate and its comma. */
static int parse_coordinate(struct sp__csvlines *l, unsigned dim, const char **at, uint64_t *x)
{
	uint64_t size = l->file->superblock.shape.dims[dim], by = l->rollup[dim], n = 0;
	const char *text = *at + strspn(*at, " \t"), *end = text;
	bool over = false;

	for (; *end >= '0' && *end <= '9'; end++)
		over |= __builtin_mul_overflow(n, 10, &n) ||
			__builtin_add_overflow(n, (uint64_t)(*end - '0'), &n);
	*at = end + strspn(end, " \t");
	if (end == text || (**at && **at != ','))
		return sp__errf(l->err, SP_EFORMAT, "read", l->name, -1,
				"line %" PRIu64 ": coordinate %u is not a number", l->number, dim);
	if (**at != ',')
		return line_error(l, SP_EFORMAT, "it has too few fields");
	++*at;
	*x = by ? n / by : n;
	if (over || *x >= size)
		return sp__errf(l->err, -ERANGE, "read", l->name, -1,
				"line %" PRIu64 ": coordinate %.*s of dimension %u is not below "
				"%" PRIu64 "%s%.0" PRIu64,
				l->number, (int)(end - text), text, dim, size, by ? " x " : "", by);
	return 0;
}

static int parse_point(struct sp__csvlines *l, uint64_t *x, uint8_t *value)
{
	const struct sp_cube_shape *s = &l->file->superblock.shape;
	const char *at = l->text;
	int rc = 0;

	for (unsigned i = 0; !rc && i < s->ndims; i++)
		rc = parse_coordinate(l, i, &at, &x[i]);
	if (rc)
		return rc;
	at += strspn(at, " \t");
	if (sp_cube_value_parse(s, at, value))
		return sp__errf(l->err, SP_EFORMAT, "read", l->name, -1,
				"line %" PRIu64 ": its value is no %s", l->number,
				sp_cube_type_name(s->type));
	return 0;
}

/* True if the first line is a header; numbers in quotes are an error, not names. */
static bool is_header(const char *text)
{
	return !strchr("0123456789+-.", text[strspn(text, " \t\"")]);
}

/* Adds the lines of a header with a newline in quotes. */
static int rest_of_header(struct sp__csvlines *l)
{
	uint64_t first = l->number, scanned = 0;
	size_t n;
	int rc = 0;

	for (;;) {
		n = strlen(l->text);
		if (n + 2 > l->capacity)
			return line_error(l, SP_EFORMAT, "it is too long");
		l->text[n] = '\n';
		if (sp__rec_end_csv(l->text, n + 1, ',', &scanned))
			break;
		rc = next_line(l, n + 1);
		if (rc) {
			l->number = first;
			return rc < 0 ? rc
				      : line_error(l, SP_EFORMAT, "a quoted field is not closed");
		}
	}
	l->text[n] = '\0';
	return 0;
}

int sp__csvlines_next(struct sp__csvlines *l, uint64_t *x, uint8_t *value)
{
	int rc;

	while (!(rc = next_line(l, 0))) {
		bool first = !l->begun;
		size_t bytes = strlen(l->text), mark = 0;

		if (l->number == 1)
			mark = sp__utf8_mark(l->text, bytes);
		memmove(l->text, l->text + mark, bytes - mark + 1);
		if (!l->text[0]) {
			l->blank++;
			continue;
		}
		l->begun = true;
		if (!first || !is_header(l->text))
			return parse_point(l, x, value);
		rc = rest_of_header(l);
		if (rc)
			break;
	}
	return rc;
}

int sp__cubeinput_stream(FILE **in, const struct sp__cubefile *c, const char *name,
			 struct sp_errinfo *err)
{
	int fd = sp__cubeinput_open(c, name, err);

	*in = fd < 0 ? NULL : fdopen(fd, "r");
	if (*in || fd < 0)
		return *in ? 0 : fd;
	close(fd);
	return sp__err(err, -ENOMEM, "open", name, -1);
}

int sp__csvlines_open(struct sp__csvlines *l)
{
	int rc = sp__cubeinput_stream(&l->in, l->file, l->name, l->err);

	if (rc)
		return rc;
	l->file_bytes = sp__file_bytes(fileno(l->in));
	/* Enough for numbers with some spaces and zeros before them. */
	l->capacity = l->file->superblock.shape.ndims * 64 + 1024 +
		      2 * (size_t)l->file->superblock.shape.element_bytes;
	l->text = malloc(l->capacity);
	return l->text ? 0 : sp__err(l->err, -ENOMEM, "malloc", NULL, -1);
}

int sp__csvlines_keep(struct sp__csvlines *l)
{
	int rc;

	l->begin = ftell(l->in);
	if (l->begin >= 0)
		return 0;
	l->begin = 0;
	rc = sp__cubeinput_spool(l->file, fileno(l->in), l->name, NULL, 0, UINT64_MAX, l->err);
	return rc ? rc : sp__csvlines_rewind(l);
}

int sp__csvlines_rewind(struct sp__csvlines *l)
{
	l->number = l->blank = 0;
	l->begun = false;
	return fseek(l->in, l->begin, SEEK_SET) ? sp__err(l->err, -errno, "seek", l->name, -1) : 0;
}

void sp__csvlines_close(struct sp__csvlines *l)
{
	if (l->in)
		fclose(l->in);
	free(l->text);
}
