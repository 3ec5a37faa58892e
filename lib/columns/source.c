/* SPDX-License-Identifier: MIT */
/*
 * Reads the inputs of a load, one after the other, so that an error can name the input and its
 * line.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/utf8mark.h"
#include "base/whole.h"
#include "columns/source.h"

/* Adds the size of an input; false: it is not a regular file. */
static bool add_size(const char *name, uint64_t *bytes)
{
	struct stat st;

	if ((strcmp(name, "-") ? stat(name, &st) : fstat(STDIN_FILENO, &st)) ||
	    !S_ISREG(st.st_mode))
		return false;
	*bytes += (uint64_t)st.st_size;
	return true;
}

int sp__columnsource_open(struct sp__columnsource *s, const struct sp__columnsource_opts *opts,
			  struct sp__env *env, struct sp_errinfo *err)
{
	*s = (struct sp__columnsource){ .opts = *opts, .env = env, .err = err, .again = true };
	for (size_t i = 0; i < opts->n; i++)
		s->again &= add_size(opts->inputs[i], &s->total);
	if (!s->again || env->opts->decompress != SP_PACKED_NONE)
		s->total = 0;
	s->begin = lseek(STDIN_FILENO, 0, SEEK_CUR);
	return 0;
}

/* Lines of JSON keep blank ones, so that lines can be counted. */
static bool removes_blank(const struct sp__columnsource *s)
{
	return s->opts.format.kind != SP_REC_FIXED && !s->opts.format.json;
}

static int open_scan(struct sp__columnsource *s)
{
	const struct sp__scan_opts o = { .format = s->opts.format,
					 .inputs = s->opts.inputs + s->input,
					 .ninputs = 1,
					 .header_records = s->opts.header,
					 .separator = s->opts.format.separator,
					 .remove_blank = removes_blank(s),
					 .drop_mark = s->opts.format.kind != SP_REC_FIXED,
					 .stream = sp__env_reading(s->env),
					 .waits = &s->waits,
					 .err = s->err };

	return sp__scan_open(&s->scan, &o);
}

/* Adds the requests of the input that is open. */
static void note_io(struct sp__columnsource *s)
{
	struct sp__io_counters io;

	sp__scan_counters(s->scan, &io);
	sp__io_add(&s->io, &io);
	strcpy(s->engine, sp__scan_engine(s->scan));
}

/* Notes facts about an input when it ends. */
static void note_end(struct sp__columnsource *s)
{
	struct sp_batch header = { NULL, 0 };
	uint64_t added;

	sp__scan_header(s->scan, &header);
	added = sp__scan_owed(s->scan) + header.bytes + sp__scan_blank_bytes(s->scan) -
		sp__scan_bytes(s->scan);
	s->no_newlines |= s->no_newline;
	s->no_newline = added != 0;
	s->bytes += sp__scan_bytes(s->scan);
	s->blank_lines += sp__scan_blank_lines(s->scan);
	s->empty_inputs += sp__scan_bytes(s->scan) == sp__utf8_mark(header.data, header.bytes);
	note_io(s);
}

static void close_scan(struct sp__columnsource *s)
{
	sp__scan_close(s->scan);
	s->scan = NULL;
}

void sp__columnsource_close(struct sp__columnsource *s)
{
	close_scan(s);
	sp__bytes_release(&s->header, NULL);
}

/* Removes the mark from a header, and notes it. */
static void drop_mark(struct sp__columnsource *s, struct sp_batch *header)
{
	const size_t mark = sp__utf8_mark(header->data, header->bytes);

	header->data += mark;
	header->bytes -= mark;
	s->marked |= mark > 0;
}

/*
 * Keeps the header of the first input that is not empty as soon as it is known, and compares the
 * others with it.
 */
static int note_header(struct sp__columnsource *s)
{
	struct sp_batch header = { NULL, 0 };

	sp__scan_header(s->scan, &header);
	drop_mark(s, &header);
	if (!header.bytes)
		return 0;
	if (s->header_known && s->input != s->header_input &&
	    (header.bytes != s->header.bytes ||
	     memcmp(header.data, s->header.data, header.bytes) != 0))
		return sp__errf(s->err, SP_EFORMAT, "load", s->opts.inputs[s->input], -1,
				"its header differs from that of %s",
				s->opts.inputs[s->header_input]);
	if (s->header_known)
		return 0;
	s->header_known = true;
	s->header_input = s->input;
	return sp__bytes_set(&s->header, header.data, header.bytes, NULL)
		       ? sp__err(s->err, -ENOMEM, "allocate", NULL, -1)
		       : 0;
}

/* Closes an input; the next one is opened later. */
static void leave(struct sp__columnsource *s)
{
	close_scan(s);
	if (s->input + 1 == s->opts.n)
		s->ended = true;
	else
		s->input++;
}

int sp__columnsource_next(struct sp__columnsource *s, struct sp_batch *batch)
{
	struct sp__iter iter = { NULL, sp__scan_next };
	int rc = 0, header;

	while (!s->ended) {
		rc = s->scan ? 0 : open_scan(s);
		if (rc)
			return rc;
		iter.operator= s->scan;
		rc = sp__iter_next(&iter, &s->waits, batch);
		if (rc < 0)
			return rc;
		header = note_header(s);
		if (header || rc == SP_READY)
			return header ? header : rc;
		note_end(s);
		leave(s);
	}
	return SP_END;
}

void sp__columnsource_skip(struct sp__columnsource *s)
{
	if (!s->scan)
		return;
	note_io(s);
	leave(s);
}

uint64_t sp__columnsource_done(const struct sp__columnsource *s)
{
	return s->bytes + (s->scan ? sp__scan_bytes(s->scan) : 0);
}

int sp__columnsource_rewind(struct sp__columnsource *s)
{
	if (!s->again)
		return SP_EUNSUP;
	close_scan(s);
	if (s->begin >= 0 && !strcmp(s->opts.inputs[0], "-"))
		(void)lseek(STDIN_FILENO, s->begin, SEEK_SET);
	s->input = 0;
	s->ended = s->no_newline = s->no_newlines = false;
	s->bytes = s->blank_lines = s->empty_inputs = 0;
	return 0;
}

int sp__columnsource_divide(struct sp__columnsource *s, uint64_t part_bytes,
			    struct sp__scan_opts *opts, struct sp__parts **parts)
{
	/* Headers of several inputs are compared byte by byte. */
	if ((s->opts.header && s->opts.n > 1) || sp__columnsource_rewind(s))
		return SP_EUNSUP;
	*opts = (struct sp__scan_opts){ .format = s->opts.format,
					.inputs = s->opts.inputs,
					.ninputs = s->opts.n,
					.header_records = s->opts.header,
					.separator = s->opts.format.separator,
					.remove_blank = removes_blank(s),
					.drop_mark = s->opts.format.kind != SP_REC_FIXED,
					.stream = sp__env_reading(s->env),
					.err = s->err };
	opts->stream.chunk_bytes = sp__min(opts->stream.chunk_bytes, SP__PART_MIN_BYTES);
	opts->stream.depth = sp__min(opts->stream.depth,
				     (unsigned)(SP__COLUMNSOURCE_STREAM / SP__PART_MIN_BYTES));
	/* Another error comes again. */
	if (sp__parts_open(parts, opts, part_bytes))
		*parts = NULL;
	if (!*parts)
		*s->err = (struct sp_errinfo)SP_ERRINFO_INIT;
	return 0;
}

/* Finds whether the last line of an input of this length has an end. */
static int note_newline(struct sp__columnsource *s, const char *name, uint64_t bytes)
{
	int fd = sp__input_open(name, s->err);
	ssize_t n = 0;
	char last = '\n';

	if (fd < 0)
		return fd;
	if (bytes)
		n = sp__read_whole(fd, &last, 1, bytes - 1);
	sp__input_close(name, fd);
	s->no_newlines |= s->no_newline;
	s->no_newline = last != '\n';
	return n < 0 ? sp__err(s->err, (int)n, "read", name, -1) : 0;
}

int sp__columnsource_end_parts(struct sp__columnsource *s, struct sp__parts *parts)
{
	struct sp_batch header = { NULL, 0 };
	struct sp__io_counters io;
	int rc = sp__parts_end(parts);

	for (size_t i = 0; !rc && s->opts.format.kind != SP_REC_FIXED && i < s->opts.n; i++)
		rc = note_newline(s, s->opts.inputs[i], sp__parts_length(parts, i));
	if (rc)
		return rc;
	for (size_t i = 0; i < s->opts.n; i++)
		s->empty_inputs += !sp__parts_length(parts, i);
	s->blank_lines = sp__parts_blank_lines(parts);
	sp__parts_header(parts, &header);
	drop_mark(s, &header);
	if (!s->header_known && sp__bytes_set(&s->header, header.data, header.bytes, NULL))
		return sp__err(s->err, -ENOMEM, "allocate", NULL, -1);
	s->header_known = s->ended = true;
	s->bytes = sp__parts_bytes(parts);
	sp__parts_counters(parts, &io);
	sp__io_add(&s->io, &io);
	snprintf(s->engine, sizeof(s->engine), "%s", sp__parts_engine(parts));
	return 0;
}
