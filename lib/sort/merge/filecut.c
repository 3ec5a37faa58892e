/* SPDX-License-Identifier: MIT */
/*
 * Locates keys in sorted files, and reads parts of them.
 *
 * Search: a window of the file is read near the guess, and its records are compared with the key.
 * If the wanted offset is not in the window, the next window is four times as far away as the one
 * before, until the offset is between two of them.
 *
 * Invariant: `low` is the start of a record, or of the file; the record before it precedes the key.
 */
#include <stdlib.h>
#include <unistd.h>
#include "base/err.h"
#include "base/whole.h"
#include "sort/merge/cut.h"

#define WINDOW ((size_t)8 << 10)

static const struct sp_recfmt *format_of(const struct sp__finder *f)
{
	return &sp__ks(f->keys)->format;
}

static int changed(const struct sp__cut_file *f, struct sp_errinfo *err)
{
	return sp__file_changed(f->bytes, sp__file_bytes(f->fd), f->name, err);
}

int sp__cut_file_describe(struct sp__cut_file *f, const struct sp_recfmt *format, const char *name,
			  int fd, struct sp_errinfo *err)
{
	char last;

	*f = (struct sp__cut_file){ .name = name, .fd = fd };
	if (fstat(fd, &f->st) < 0)
		return sp__err(err, -errno, "read", name, -1);
	f->bytes = (uint64_t)f->st.st_size;
	if (!S_ISREG(f->st.st_mode) || fd == STDIN_FILENO || format->kind == SP_REC_CSV)
		return 0;
	if (format->kind == SP_REC_FIXED)
		return f->bytes % format->fixed_bytes == 0;
	if (!f->bytes)
		return 1;
	if (sp__read_whole(fd, &last, 1, f->bytes - 1) != 1)
		return 0;
	f->unended = last != format->eol;
	return 1;
}

int sp__cut_file_check(const struct sp__cut_file *f, struct sp_errinfo *err)
{
	return sp__check_continues(f->fd, &f->st, f->name, err);
}

/* The window. */

int sp__finder_open(struct sp__finder *f, const struct sp_keyset *keys, struct sp_errinfo *err)
{
	*f = (struct sp__finder){ .keys = keys, .err = err, .capacity = WINDOW };
	f->window = malloc(WINDOW);
	return f->window ? 0 : sp__err(err, -ENOMEM, "allocate", NULL, -1);
}

void sp__finder_release(struct sp__finder *f)
{
	sp__keybuf_release(&f->keybuf);
	free(f->window);
}

static int read_window(struct sp__finder *f, uint64_t from)
{
	size_t want = sp__min(f->capacity, f->file->bytes - from);
	ssize_t n = sp__read_whole(f->file->fd, f->window, want, from);

	f->from = from;
	f->filled = want;
	if (n < 0)
		return sp__err(f->err, (int)n, "read", f->file->name, (long long)from);
	return (size_t)n < want ? changed(f->file, f->err) : 0;
}

static int grow_window(struct sp__finder *f)
{
	char *more = realloc(f->window, 2 * f->capacity);

	if (!more)
		return sp__err(f->err, -ENOMEM, "allocate", NULL, -1);
	f->window = more;
	f->capacity *= 2;
	return 0;
}

static const char *window_end(const struct sp__finder *f)
{
	return f->window + f->filled;
}

/* Returns the end of a record; the last one ends with the file.  NULL: beyond the window. */
static const char *end_of(const struct sp__finder *f, const char *rec)
{
	const char *end = sp__rec_end(format_of(f), rec, (size_t)(window_end(f) - rec));

	if (!end && rec < window_end(f) && f->from + f->filled == f->file->bytes)
		end = window_end(f);
	return end;
}

/*
 * Reads the window at an offset, and finds the first record that starts there or later.  Returns 1,
 * 0 if the window has no whole one, or an error.
 */
static int first_record(struct sp__finder *f, uint64_t at, bool starts, const char **rec)
{
	const struct sp_recfmt *format = format_of(f);
	int rc;

	if (format->kind == SP_REC_FIXED)
		at += (format->fixed_bytes - at % format->fixed_bytes) % format->fixed_bytes;
	starts = starts || !at || format->kind == SP_REC_FIXED;
	if (at >= f->file->bytes)
		return 0;
	/* Otherwise it starts after the terminator of another record. */
	rc = read_window(f, starts ? at : at - 1);
	if (rc < 0)
		return rc;
	*rec = starts ? f->window : sp__rec_end(format, f->window, f->filled);
	return *rec && *rec < window_end(f) && end_of(f, *rec);
}

static int key_of(struct sp__finder *f, const char *rec, const char *end, const void **key,
		  size_t *bytes)
{
	const struct sp__keyset *ks = sp__ks(f->keys);
	const char *slice = rec;
	size_t n = (size_t)(end - rec);
	int rc;

	/* The last record may have no terminator. */
	if (f->from + (uint64_t)(end - f->window) < f->file->bytes || !f->file->unended)
		n -= sp__rec_term(&ks->format);
	*bytes = n;
	if (ks->form == SP__KEY_INPLACE) {
		if (!ks->whole)
			sp__key_slice(f->keys, rec, n, &slice, bytes);
		*key = slice;
		return 0;
	}
	f->keybuf.reach = (size_t)(window_end(f) - rec);
	rc = sp__key_encode(f->keys, rec, n, &f->keybuf);
	*key = f->keybuf.data;
	*bytes = f->keybuf.bytes;
	return rc < 0 ? sp__err(f->err, rc, "allocate", NULL, -1) : 0;
}

int sp__finder_sample(struct sp__finder *f, const struct sp__cut_file *file, uint64_t at,
		      const void **key, size_t *bytes)
{
	const char *rec;
	int rc;

	f->file = file;
	rc = first_record(f, at, false, &rec);
	if (rc <= 0)
		return rc;
	rc = key_of(f, rec, end_of(f, rec), key, bytes);
	return rc < 0 ? rc : *key != NULL;
}

/* The search. */

struct search {
	const void *key;
	size_t key_bytes;
	uint64_t low;	/* see above */
	uint64_t upper; /* windows are read below it */
	bool found;	/* it is at low */
};

/*
 * Passes the records in the window from rec on that precede the key.  Returns their number (0: the
 * first one does not precede it), or an error.
 */
static int pass(struct sp__finder *f, struct search *s, const char *rec)
{
	const bool down = sp__ks(f->keys)->descending;
	const void *key;
	const char *end;
	size_t bytes;
	int passed = 0, order, rc;

	while (rec < window_end(f) && (end = end_of(f, rec))) {
		rc = key_of(f, rec, end, &key, &bytes);
		if (rc < 0)
			return rc;
		order = sp__order_bytes(key, bytes, s->key, s->key_bytes);
		if (down ? order <= 0 : order >= 0) {
			s->found = passed > 0;
			return passed;
		}
		passed++;
		rec = end;
		s->low = f->from + (uint64_t)(rec - f->window);
	}
	return passed;
}

/* Reads the window at low, which becomes larger if no record ends in it.  Returns 0 or an error. */
static int step_at_low(struct sp__finder *f, struct search *s)
{
	const char *rec;
	int rc = first_record(f, s->low, true, &rec);

	if (!rc)
		return grow_window(f);
	if (rc > 0)
		rc = pass(f, s, rec);
	if (!rc)
		s->found = true;
	return rc < 0 ? rc : 0;
}

/* Reads the window at probe.  Returns 1 if records there precede the key, 0, or an error. */
static int step_at(struct sp__finder *f, struct search *s, uint64_t probe)
{
	const char *rec;
	int rc = first_record(f, probe, false, &rec);

	if (rc > 0)
		rc = pass(f, s, rec);
	if (!rc)
		s->upper = probe;
	return rc < 0 ? rc : rc > 0;
}

int sp__finder_find(struct sp__finder *f, const struct sp__cut_file *file, const void *key,
		    size_t key_bytes, uint64_t guess, uint64_t *at)
{
	struct search s = { .key = key, .key_bytes = key_bytes, .upper = file->bytes };
	uint64_t probe = sp__min(guess, file->bytes), step = WINDOW, middle;
	int rc = 0;

	f->file = file;
	probe -= sp__min(probe, WINDOW / 2);
	while (rc >= 0 && !s.found && s.low < file->bytes) {
		if (probe <= s.low || s.upper <= s.low + WINDOW / 2)
			rc = step_at_low(f, &s);
		else
			rc = step_at(f, &s, probe);
		middle = s.low + (s.upper - sp__min(s.low, s.upper)) / 2;
		probe = rc > 0 ? sp__min(s.low + step, middle)
			       : sp__max(s.upper - sp__min(s.upper, step), middle);
		step *= 4;
	}
	*at = s.low;
	return rc < 0 ? rc : 0;
}

/* Spans. */

static int get_span(void *ctx, size_t index, bool wait, const char **data, size_t *bytes)
{
	struct sp__file_span *span = (struct sp__file_span *)ctx + index;
	size_t want = sp__min(span->bytes, span->to - span->at);
	ssize_t n;

	(void)wait;
	if (!want)
		return SP_END;
	n = sp__read_whole(span->file->fd, span->mem, want, span->at);
	span->io->read_requests++;
	if (n < 0)
		return sp__err(span->err, (int)n, "read", span->file->name, (long long)span->at);
	if ((size_t)n < want)
		return changed(span->file, span->err);
	span->io->read_bytes += want;
	span->at += want;
	*data = span->mem;
	*bytes = want;
	return SP_READY;
}

void sp__file_cursor(struct sp__cursor *c, struct sp__file_span *spans, size_t index,
		     struct sp__tally *read)
{
	c->feed = (struct sp__feed){ .ctx = spans,
				     .index = index,
				     .get = get_span,
				     .name = spans[index].file->name,
				     .read = read };
}
