/* SPDX-License-Identifier: MIT */
/*
 * Reads the inputs of a load, one after the other, so that an error can name the input and its
 * line.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "table/input/source.h"

static bool is_regular(const char *name)
{
	struct stat st;

	return (strcmp(name, "-") ? stat(name, &st) : fstat(STDIN_FILENO, &st)) == 0 &&
	       S_ISREG(st.st_mode);
}

int sp__tablesource_open(struct sp__tablesource *s, const struct sp__tablesource_opts *opts,
			 struct sp__env *env, struct sp_errinfo *err)
{
	*s = (struct sp__tablesource){ .opts = *opts, .env = env, .err = err, .again = true };
	for (size_t i = 0; i < opts->n; i++)
		s->again &= is_regular(opts->inputs[i]);
	s->begin = lseek(STDIN_FILENO, 0, SEEK_CUR);
	return 0;
}

static int open_scan(struct sp__tablesource *s)
{
	const struct sp__scan_opts o = { .format = s->opts.format,
					 .inputs = s->opts.inputs + s->input,
					 .ninputs = 1,
					 .header_records = s->opts.header,
					 .separator = s->opts.format.separator,
					 .stream = sp__env_reading(s->env),
					 .waits = &s->waits,
					 .err = s->err };

	return sp__scan_open(&s->scan, &o);
}

/* Notes facts about an input when it ends, or is closed. */
static int note_end(struct sp__tablesource *s)
{
	struct sp_batch header = { NULL, 0 };
	struct sp__io_counters io;
	uint64_t added;
	int rc = 0;

	sp__scan_header(s->scan, &header);
	if (!s->input)
		rc = sp__bytes_set(&s->header, header.data, header.bytes, NULL);
	else if (header.bytes != s->header.bytes ||
		 memcmp(header.data, s->header.data, header.bytes) != 0)
		s->other_header = true;
	added = sp__scan_owed(s->scan) + header.bytes - sp__scan_bytes(s->scan);
	s->no_newlines |= s->no_newline;
	s->no_newline = added != 0;
	s->bytes += sp__scan_bytes(s->scan);
	sp__scan_counters(s->scan, &io);
	sp__io_add(&s->io, &io);
	strcpy(s->engine, sp__scan_engine(s->scan));
	return rc ? sp__err(s->err, rc, "allocate", NULL, -1) : 0;
}

static void close_scan(struct sp__tablesource *s)
{
	sp__scan_close(s->scan);
	s->scan = NULL;
}

void sp__tablesource_close(struct sp__tablesource *s)
{
	close_scan(s);
	sp__bytes_release(&s->header, NULL);
}

/* Keeps the header as soon as it is known. */
static int note_header(struct sp__tablesource *s)
{
	struct sp_batch header;

	if (s->input || s->header.bytes)
		return 0;
	sp__scan_header(s->scan, &header);
	return sp__bytes_set(&s->header, header.data, header.bytes, NULL)
		       ? sp__err(s->err, -ENOMEM, "allocate", NULL, -1)
		       : 0;
}

int sp__tablesource_next(struct sp__tablesource *s, struct sp_batch *batch)
{
	struct sp__iter iter = { NULL, sp__scan_next };
	int rc = 0;

	while (!s->ended) {
		rc = s->scan ? 0 : open_scan(s);
		if (rc)
			return rc;
		iter.operator= s->scan;
		rc = sp__iter_next(&iter, &s->waits, batch);
		if (rc == SP_READY)
			rc = note_header(s) ? -ENOMEM : SP_READY;
		if (rc)
			return rc;
		rc = note_end(s);
		close_scan(s);
		if (rc)
			return rc;
		if (s->input + 1 == s->opts.n)
			s->ended = true;
		else
			s->input++;
	}
	return SP_END;
}

int sp__tablesource_rewind(struct sp__tablesource *s)
{
	if (!s->again)
		return SP_EUNSUP;
	close_scan(s);
	if (s->begin >= 0 && !strcmp(s->opts.inputs[0], "-"))
		(void)lseek(STDIN_FILENO, s->begin, SEEK_SET);
	s->input = 0;
	s->ended = s->other_header = s->no_newline = s->no_newlines = false;
	s->bytes = 0;
	return 0;
}
