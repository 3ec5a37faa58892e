/* SPDX-License-Identifier: MIT */
/*
 * Reads lines of CSV in slots, which tasks parse.
 *
 * A slot is filled with whole lines; the start of the next line goes to the next slot.  A task
 * stops at the first invalid line of its slot.  The line is parsed again to describe its error when
 * the number of its first line is known: when all slots before it have been returned.
 *
 * With one thread there is one slot, which the caller parses.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/err.h"
#include "base/floats.h"
#include "base/minmax.h"
#include "base/utf8mark.h"
#include "base/whole.h"
#include "cube/file/file.h"
#include "cube/input/csvlines.h"
#include "cube/input/input.h"
#include "rec/recfmt.h"

/* A line of CSV. */
struct sp__csvline {
	const struct sp_cube_shape *shape;
	const uint64_t *rollup; /* divisors of coordinates; 0: none */
	const char *name;	/* name of the input */
	uint64_t number;	/* number of the line */
	size_t max;		/* bytes of a line and its end */
	struct sp_errinfo *err; /* NULL: the error is not described */
};

/* Records that a line is not valid, for this reason.  Returns SP_EFORMAT. */
static int csvline_invalid(const struct sp__csvline *l, const char *reason)
{
	return l->err ? sp__errf(l->err, SP_EFORMAT, "read", l->name, -1, "line %" PRIu64 ": %s",
				 l->number, reason)
		      : SP_EFORMAT;
}

static const char *skip_spaces(const char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

static int coordinate_range(const struct sp__csvline *l, unsigned dim, const char *text,
			    const char *end)
{
	uint64_t by = l->rollup[dim];

	return l->err ? sp__errf(l->err, -ERANGE, "read", l->name, -1,
				 "line %" PRIu64 ": coordinate %.*s of dimension %u is not below "
				 "%" PRIu64 "%s%.0" PRIu64,
				 l->number, (int)(end - text), text, dim, l->shape->dims[dim],
				 by ? " x " : "", by)
		      : -ERANGE;
}

/* Parses a coordinate and its comma. */
static int parse_coordinate(const struct sp__csvline *l, unsigned dim, const char **at, uint64_t *x)
{
	uint64_t by = l->rollup[dim], n = 0;
	const char *text = skip_spaces(*at), *end = text;
	bool over = false;

	for (; *end >= '0' && *end <= '9'; end++)
		over |= __builtin_mul_overflow(n, 10, &n) ||
			__builtin_add_overflow(n, (uint64_t)(*end - '0'), &n);
	*at = skip_spaces(end);
	if (end == text || (**at && **at != ','))
		return l->err ? sp__errf(l->err, SP_EFORMAT, "read", l->name, -1,
					 "line %" PRIu64 ": coordinate %u is not a number",
					 l->number, dim)
			      : SP_EFORMAT;
	if (**at != ',')
		return csvline_invalid(l, "it has too few fields");
	++*at;
	*x = by ? n / by : n;
	return over || *x >= l->shape->dims[dim] ? coordinate_range(l, dim, text, end) : 0;
}

/* Parses text that ends with a zero byte. */
static int parse_fields(const struct sp__csvline *l, const char *text, uint64_t *x, uint8_t *value)
{
	const char *at = text;
	int rc = 0;

	for (unsigned i = 0; !rc && i < l->shape->ndims; i++)
		rc = parse_coordinate(l, i, &at, &x[i]);
	if (rc || !sp_cube_value_parse(l->shape, skip_spaces(at), value))
		return rc;
	return l->err ? sp__errf(l->err, SP_EFORMAT, "read", l->name, -1,
				 "line %" PRIu64 ": its value is no %s", l->number,
				 sp_cube_type_name(l->shape->type))
		      : SP_EFORMAT;
}

/*
 * Parses `bytes` of text, and uses the byte after them; after an error the text is unchanged.
 * Returns 0; 1: the line is blank; -ERANGE or SP_EFORMAT.
 */
static int csvline_parse(const struct sp__csvline *l, char *text, size_t bytes, uint64_t *x,
			 uint8_t *value)
{
	char *end = text + bytes, after;
	int rc;

	if (bytes + 1 >= l->max)
		return csvline_invalid(l, "it is too long");
	if (memchr(text, 0, bytes))
		return csvline_invalid(l, "it is not text");
	while (end > text && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	if (end == text)
		return 1;
	after = *end;
	*end = '\0';
	rc = parse_fields(l, text, x, value);
	if (rc)
		*end = after;
	return rc;
}

#define TEXT_MAX ((size_t)256 << 10) /* maximum bytes of a slot, unless a line is longer */
#define TEXT_MIN ((size_t)16 << 10)  /* minimum bytes of each of several slots */

/* Enough for numbers with some spaces and zeros before them. */
static size_t line_max(const struct sp_cube_shape *s)
{
	return s->ndims * 64 + 1024 + 2 * (size_t)s->element_bytes;
}

/* Returns the maximum number of points in a slot: a field has a character and its end. */
static size_t points_max(const struct sp_cube_shape *s, size_t text_bytes)
{
	return text_bytes / (2 * (size_t)s->ndims + 2) + 1;
}

static uint64_t slot_memory(const struct sp__csvlines *l, size_t text_bytes)
{
	const struct sp_cube_shape *s = &l->file->superblock.shape;

	return text_bytes + 2 + points_max(s, text_bytes) * (l->place_bytes + s->element_bytes);
}

static struct sp__csvline line_of(const struct sp__csvlines *l, uint64_t number,
				  struct sp_errinfo *err)
{
	return (struct sp__csvline){
		&l->file->superblock.shape, l->rollup, l->name, number, l->line_max, err
	};
}

/* The task: parses the lines of a slot. */
static void parse_slot(void *arg)
{
	struct sp__csvslot *s = arg;
	const struct sp__csvlines *l = s->all;
	struct sp__csvline line = line_of(l, 0, NULL);
	size_t element = line.shape->element_bytes;
	uint64_t x[SP_CUBE_DIMS_MAX] = { 0 };
	char *end = s->text + s->bytes, *newline;

	for (char *at = s->text + s->from; at < end; at = newline + 1, s->lines++) {
		int rc;

		newline = memchr(at, '\n', (size_t)(end - at));
		rc = csvline_parse(&line, at, (size_t)(newline - at), x,
				   s->values + s->n * element);
		if (rc < 0) {
			s->bad = at;
			s->bad_bytes = (size_t)(newline - at);
			return;
		}
		if (rc)
			s->blank++;
		else
			l->place(l->file, x, s->places + s->n++ * l->place_bytes);
	}
}

static ssize_t read_some(int fd, char *to, size_t bytes)
{
	ssize_t got;

	do {
		got = read(fd, to, bytes);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/* Ends the input, with an error of reading it or without. */
static void end_input(struct sp__csvlines *l, int rc)
{
	l->ended = true;
	l->read_err = (struct sp_errinfo)SP_ERRINFO_INIT;
	l->read_rc = rc ? sp__err(&l->read_err, rc, "read", l->name, -1)
			: sp__check_uncut(l->fd, l->file_bytes, l->name, &l->read_err);
}

/*
 * Fills a slot with whole lines.  A line that does not end within a full slot is too long; it gets
 * an end there, so that the task finds it.
 */
static void fill(struct sp__csvlines *l, struct sp__csvslot *s)
{
	size_t n = l->nrest;
	const char *last;
	ssize_t got;

	memcpy(s->text, l->rest, n);
	l->nrest = 0;
	while (!l->ended && n < l->text_bytes) {
		got = read_some(l->fd, s->text + n, l->text_bytes - n);
		if (got <= 0) {
			end_input(l, (int)got);
		} else {
			n += (size_t)got;
			sp__progress_add(&l->file->progress, (uint64_t)got);
		}
	}
	last = n ? memrchr(s->text, '\n', n) : NULL;
	s->bytes = last ? (size_t)(last - s->text) + 1 : 0;
	if (!l->ended && last && n - s->bytes < l->line_max) {
		l->nrest = n - s->bytes;
		memcpy(l->rest, s->text + s->bytes, l->nrest);
	} else if (s->bytes < n && !l->read_rc) {
		s->text[n] = '\n';
		s->bytes = n + 1;
	}
	s->text[s->bytes] = '\0';
	s->from = s->lines = s->blank = s->n = 0;
	s->bad = NULL;
}

/* True if the field is a number, or an element as opaque types have them; in quotes, too. */
static bool is_value(const struct sp__csvlines *l, const char *text, size_t bytes)
{
	char field[SP_CUBE_VALUE_MAX];
	double v;

	for (; bytes && strchr(" \t\"", *text); bytes--)
		text++;
	while (bytes && strchr(" \t\r\n\"", text[bytes - 1]))
		bytes--;
	if (!bytes || bytes >= sizeof(field))
		return false;
	memcpy(field, text, bytes);
	field[bytes] = '\0';
	return sp__read_f64(field, bytes, &v) != -EINVAL ||
	       !sp_cube_value_parse(&l->file->superblock.shape, field, l->header_value);
}

/* True if a record is a header: it has no number. */
static bool is_header(const struct sp__csvlines *l, const char *at, const char *end)
{
	for (const char *next; at < end; at = next + 1) {
		next = memchr(at, ',', (size_t)(end - at));
		next = next ? next : end;
		if (is_value(l, at, (size_t)(next - at)))
			return false;
	}
	return true;
}

/* True if a record can be a header: it does not begin like a number. */
static bool begins_with_name(const char *text)
{
	return !strchr("0123456789+-.\r\n", text[strspn(text, " \t\"")]);
}

/* Skips the first record if it is a header, which can have a newline in quotes. */
static int skip_record(struct sp__csvlines *l, struct sp__csvslot *s, const char *at)
{
	struct sp__csvline line = line_of(l, l->number + s->lines + 1, l->err);
	size_t bytes = (size_t)(s->text + s->bytes - at);
	uint64_t scanned = 0;
	const char *end = sp__rec_end_csv(at, bytes, ',', &scanned);

	if (!end && l->ended)
		return csvline_invalid(&line, "a quoted field is not closed");
	if (!end || (size_t)(end - at) >= l->line_max)
		return csvline_invalid(&line, "it is too long");
	if (memchr(at, 0, (size_t)(end - at)))
		return csvline_invalid(&line, "it is not text");
	if (!is_header(l, at, end))
		return 0;
	l->header = true;
	for (; at < end; at++)
		s->lines += *at == '\n';
	s->from = (size_t)(end - s->text);
	return 0;
}

/* Skips a byte order mark, blank lines, and a header. */
static int skip_header(struct sp__csvlines *l, struct sp__csvslot *s)
{
	const bool first = !l->number && l->slots == s;
	const char *at = s->text + (first ? sp__utf8_mark(s->text, s->bytes) : 0);
	const char *end = s->text + s->bytes;

	while (at < end) {
		const char *after = at + strspn(at, " \t\r");

		if (*after != '\n') {
			l->begun = true;
			s->from = (size_t)(at - s->text);
			return begins_with_name(at) ? skip_record(l, s, at) : 0;
		}
		s->lines++;
		s->blank++;
		at = after + 1;
	}
	s->from = s->bytes;
	return 0;
}

/* Fills slots that are free, the oldest first, and starts their tasks. */
static int fill_slots(struct sp__csvlines *l)
{
	for (unsigned i = 0; !l->ended && i < l->nslots; i++) {
		struct sp__csvslot *s = &l->slots[(l->next + i) % l->nslots];
		int rc = 0;

		if (s->busy)
			continue;
		fill(l, s);
		s->busy = true;
		if (!l->begun)
			rc = skip_header(l, s);
		if (rc)
			return rc;
		if (l->nslots == 1)
			parse_slot(s);
		else
			sp__task_start(&s->task, parse_slot, s);
		if (!l->begun)
			break; /* the number of the header's line must be known */
	}
	return 0;
}

/* Describes the first invalid line of a slot, and returns its error. */
static int describe(const struct sp__csvlines *l, const struct sp__csvslot *s)
{
	struct sp__csvline line = line_of(l, l->number + s->lines + 1, l->err);
	uint64_t x[SP_CUBE_DIMS_MAX];

	return csvline_parse(&line, s->text + (s->bad - s->text), s->bad_bytes, x, s->values);
}

/* The slot that was returned is free. */
static void release(struct sp__csvlines *l)
{
	if (!l->held)
		return;
	l->held->busy = false;
	l->held = NULL;
	l->next = (l->next + 1) % l->nslots;
}

int sp__csvlines_next(struct sp__csvlines *l, struct sp__csvpoints *points)
{
	for (;;) {
		struct sp__csvslot *s;
		int rc;

		release(l);
		rc = fill_slots(l);
		if (rc)
			return rc;
		s = &l->slots[l->next];
		if (!s->busy)
			break;
		sp__task_join(&s->task);
		l->held = s;
		if (s->bad)
			return describe(l, s);
		l->number += s->lines;
		l->blank += s->blank;
		*points = (struct sp__csvpoints){ s->n, s->places, s->values };
		if (s->n)
			return 0;
	}
	if (l->read_rc)
		*l->err = l->read_err;
	return l->read_rc ? l->read_rc : 1;
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

/* Sets the number and the size of slots. */
static void set_sizes(struct sp__csvlines *l)
{
	const size_t unit = TEXT_MAX;
	unsigned threads = sp__cube_threads(l->file);
	uint64_t memory = sp__cube_slab_bytes(l->file) / 8;
	/* bytes of text in all slots */
	uint64_t all = memory / slot_memory(l, unit) * unit +
		       memory % slot_memory(l, unit) * unit / slot_memory(l, unit);

	l->line_max = line_max(&l->file->superblock.shape);
	l->nslots = threads > 1 ? threads + 1 : 1;
	l->nslots = (unsigned)sp__min(l->nslots, all / sp__max(TEXT_MIN, 4 * l->line_max));
	l->nslots = sp__max(l->nslots, 1u);
	l->text_bytes = sp__max(sp__min(all / l->nslots, TEXT_MAX), 4 * l->line_max);
	l->charged = l->nslots * slot_memory(l, l->text_bytes) + l->line_max;
}

static int open_slots(struct sp__csvlines *l)
{
	const size_t points = points_max(&l->file->superblock.shape, l->text_bytes);
	size_t element = l->file->superblock.shape.element_bytes;
	bool opened;

	l->slots = calloc(l->nslots, sizeof(*l->slots));
	l->rest = malloc(l->line_max);
	l->header_value = malloc(element);
	opened = l->slots && l->rest && l->header_value;
	for (unsigned i = 0; opened && i < l->nslots; i++) {
		struct sp__csvslot *s = &l->slots[i];

		s->all = l;
		s->text = malloc(l->text_bytes + 2); /* an end of the last line, and a zero byte */
		s->places = malloc(points * l->place_bytes);
		s->values = malloc(points * element);
		opened = s->text && s->places && s->values;
	}
	return opened ? 0 : sp__err(l->err, -ENOMEM, "malloc", NULL, -1);
}

int sp__csvlines_open(struct sp__csvlines *l)
{
	l->fd = sp__cubeinput_open(l->file, l->name, l->err);
	if (l->fd < 0)
		return l->fd;
	l->begin = lseek(l->fd, 0, SEEK_CUR);
	l->file_bytes = sp__file_bytes(l->fd);
	set_sizes(l);
	sp__budget_charge(&l->file->env.budget, l->charged);
	return open_slots(l);
}

int sp__csvlines_keep(struct sp__csvlines *l)
{
	int rc;

	if (l->begin >= 0)
		return 0;
	l->begin = 0;
	rc = sp__cubeinput_spool(l->file, l->fd, l->name, NULL, 0, UINT64_MAX, l->err);
	return rc ? rc : sp__csvlines_rewind(l);
}

/* Waits for the tasks, and forgets the lines of all slots. */
static void drop_slots(struct sp__csvlines *l)
{
	for (unsigned i = 0; l->slots && i < l->nslots; i++) {
		sp__task_join(&l->slots[i].task);
		l->slots[i].busy = false;
	}
	l->held = NULL;
	l->next = 0;
	l->nrest = 0;
}

int sp__csvlines_rewind(struct sp__csvlines *l)
{
	drop_slots(l);
	l->number = l->blank = 0;
	l->begun = l->ended = l->header = false;
	l->read_rc = 0;
	return lseek(l->fd, l->begin, SEEK_SET) < 0 ? sp__err(l->err, -errno, "seek", l->name, -1)
						    : 0;
}

void sp__csvlines_close(struct sp__csvlines *l)
{
	drop_slots(l);
	for (unsigned i = 0; l->slots && i < l->nslots; i++) {
		free(l->slots[i].text);
		free(l->slots[i].places);
		free(l->slots[i].values);
	}
	free(l->slots);
	free(l->rest);
	free(l->header_value);
	if (l->fd >= 0)
		close(l->fd);
	sp__budget_credit(&l->file->env.budget, l->charged);
}
