/* SPDX-License-Identifier: MIT */
/*
 * A stream of record batches of Arrow that a test makes of its own arrays, and loads as the file
 * SOURCE_TABLE, which differs for programs that run at the same time.
 */
#pragma once

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/tablearrow.h>
#include "base/decimal.h"
#include "base/mem.h"
#include "columns/arrow_formats.h"
#include "tap.h"

#define ROWS 4
#define COLUMNS_MAX 12

/* A stream of one batch, without memory of its own. */
struct source {
	struct ArrowSchema root, schemas[COLUMNS_MAX], words_schema, *children[COLUMNS_MAX];
	struct ArrowArray arrays[COLUMNS_MAX], words, *columns[COLUMNS_MAX];
	struct ArrowArray batch;
	const void *buffers[COLUMNS_MAX][4], *words_buffers[3], *none[1];
	int64_t n;
	unsigned batches, released;
	int code; /* of get_next() */
};

static void release_schema(struct ArrowSchema *s)
{
	s->release = NULL;
}

static void release_array(struct ArrowArray *a)
{
	a->release = NULL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	const struct source *s = stream->private_data;

	*out = s->root;
	return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	struct source *s = stream->private_data;

	*out = (struct ArrowArray){ 0 };
	if (s->code || !s->batches)
		return s->code;
	s->batches--;
	*out = s->batch;
	return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	(void)stream;
	return "the source is dry";
}

static void release_stream(struct ArrowArrayStream *stream)
{
	((struct source *)stream->private_data)->released++;
	stream->release = NULL;
}

/* Adds a column; its values begin at `offset` of the buffers. */
static struct ArrowArray *add(struct source *s, const char *name, const char *format,
			      const void *valid, const void *values, const void *more,
			      int64_t offset)
{
	int64_t i = s->n++;

	s->buffers[i][0] = valid;
	s->buffers[i][1] = values;
	s->buffers[i][2] = more;
	s->schemas[i] = (struct ArrowSchema){ .format = format,
					      .name = name,
					      .flags = ARROW_FLAG_NULLABLE };
	s->children[i] = &s->schemas[i];
	s->arrays[i] = (struct ArrowArray){ .length = ROWS,
					    .null_count = valid ? -1 : 0,
					    .offset = offset,
					    .n_buffers = more ? 3 : 2,
					    .buffers = s->buffers[i] };
	s->columns[i] = &s->arrays[i];
	s->root = (struct ArrowSchema){ .format = "+s",
					.name = "",
					.n_children = s->n,
					.children = s->children,
					.release = release_schema };
	s->batch = (struct ArrowArray){ .length = ROWS,
					.n_buffers = 1,
					.n_children = s->n,
					.buffers = s->none,
					.children = s->columns,
					.release = release_array };
	return &s->arrays[i];
}

static int append(void *arg, const char *data, size_t bytes)
{
	return sp__bytes_append(arg, data, bytes, NULL);
}

/* Loads a stream, and returns the table as CSV in `text`, or the error in err. */
static int load(struct source *s, struct sp__bytes *text, struct sp_errinfo *err)
{
	struct sp_table_load_opts o = SP_TABLE_LOAD_OPTS_INIT;
	struct sp_table_opts open = SP_TABLE_OPTS_INIT;
	struct sp_table_query q = SP_TABLE_QUERY_INIT;
	struct ArrowArrayStream stream = { get_schema, get_next, get_last_error, release_stream,
					   s };
	struct sp_table *t = NULL;
	int rc;

	o.run.memory_bytes = open.run.memory_bytes = 4 << 20;
	rc = sp_table_load_arrow(SOURCE_TABLE, &stream, &o, NULL, err);
	if (!rc)
		rc = sp_table_open(&t, SOURCE_TABLE, &open, err);
	if (!rc)
		rc = sp_table_scan(t, &q, append, text, NULL, err);
	(void)sp_table_close(t);
	(void)unlink(SOURCE_TABLE);
	return rc;
}

static bool loads(struct source *s, const char *want)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__bytes text = { 0 };
	int rc;
	bool same;

	s->batches = s->batches ? s->batches : 1;
	rc = load(s, &text, &err);
	same = !rc && text.bytes == strlen(want) && !memcmp(text.data, want, text.bytes) &&
	       s->released == 1;
	if (!same)
		diag("%s%.*s", rc ? err.text : "", (int)text.bytes, text.data);
	sp__bytes_release(&text, NULL);
	return same;
}

static bool refused(struct source *s, int code, const char *reason)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__bytes text = { 0 };
	int rc;
	bool good;

	s->batches = 1;
	rc = load(s, &text, &err);
	good = rc == code && strstr(err.text, reason) && s->released == 1 &&
	       access(SOURCE_TABLE, F_OK) < 0;
	if (!good)
		diag("%d: %s", rc, err.text);
	sp__bytes_release(&text, NULL);
	return good;
}
