/* SPDX-License-Identifier: MIT */
/*
 * Reads a sample of the records of a load, or all of them, from which names, types and style
 * follow.
 *
 * Algorithm: the text of the inputs is kept from the beginning, up to a limit, and loaded from
 * memory.  If that is not all of it, the rest of the sample depends on the inputs:
 * - If they can be read again, the sample also has records from the beginning of each other input,
 *   and from several places of large ones.  Then all of them are read from their beginnings.
 * - Otherwise the kept text grows while a column has no value, as far as there is memory for it.
 *
 * A place in the middle of CSV is used only if no quote has been found, since a quoted field can
 * have newlines.
 *
 * Memory: a quarter of it for the text that is kept.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/whole.h"
#include "rec/key.h"
#include "rec/recfmt.h"
#include "table/load.h"

#define SAMPLE_BYTES (UINT64_C(16) << 20) /* from the beginning */
#define OTHER_BYTES 65536		  /* minimum bytes of each other input */
#define PLACES 8			  /* of an input, and bytes of each: */
#define PLACE_BYTES 65536
#define KEPT_MAX (UINT64_C(1) << 30)

/* Begins a sample that has no records. */
static void begin_sample(struct sp__tableload *l)
{
	sp__sample_free(&l->sample);
	l->sample = (struct sp__sample){ .separator = l->format.separator,
					 .null_text = l->opts->null_text ? l->opts->null_text : "",
					 .csv = l->format.kind == SP_REC_CSV,
					 .json = l->format.json,
					 .described = &l->described,
					 .exact = l->opts->exact,
					 .words_bytes = l->memory / 32,
					 .budget = &l->env.budget,
					 .err = l->err };
}

void sp__tableload_drop_kept(struct sp__tableload *l)
{
	l->kept.bytes = l->kept_taken = 0;
	if (l->kept_ends)
		memset(l->kept_ends, 0, l->source.opts.n * sizeof(*l->kept_ends));
}

/* Decides on the schema.  whole: the sample has all records. */
static int resolve(struct sp__tableload *l, bool whole)
{
	const struct sp__resolve_opts o = {
		.format = l->format.kind,
		.separator = l->format.separator,
		.described = &l->described,
		.all = l->all,
		.has_header = l->opts->header,
		.null_text = l->opts->null_text,
		.header = { l->source.header.data, l->source.header.bytes },
		.input = l->format.kind == SP_REC_FIXED ? l->path : l->source.opts.inputs[0],
		.sample = l->format.kind == SP_REC_FIXED ? NULL : &l->sample,
		.whole = whole,
		.again = l->source.again,
		.exact = l->opts->exact,
	};

	sp__resolved_free(&l->resolved);
	return sp__resolve(&l->resolved, &o, l->err);
}

/* Appends records to the text that is kept. */
static int append(struct sp__tableload *l, const char *text, size_t bytes)
{
	int rc = sp__bytes_append(&l->kept, text, bytes, &l->env.budget);

	return rc ? sp__err(l->err, rc, "allocate", NULL, -1) : 0;
}

/*
 * Keeps text of the inputs until it has so many bytes, and adds it to the sample.  Returns
 * SP_READY; SP_END if there is no more; or an error.
 */
static int keep_text(struct sp__tableload *l, uint64_t bytes)
{
	const size_t from = l->kept.bytes;
	struct sp_batch batch;
	int rc = SP_READY, added;

	while (rc == SP_READY && l->kept.bytes < bytes) {
		rc = sp__columnsource_next(&l->source, &batch);
		if (rc != SP_READY)
			break;
		added = append(l, batch.data, batch.bytes);
		if (added)
			return added;
		l->kept_ends[l->source.input] = l->kept.bytes;
	}
	if (rc < 0)
		return rc;
	added = sp__sample_add(&l->sample, l->kept.data + from, (uint32_t)(l->kept.bytes - from));
	return added ? added : rc;
}

/* Adds text that is not kept. */
static int add_text(struct sp__tableload *l, const char *text, size_t bytes)
{
	int rc;

	l->kept.bytes = 0;
	rc = append(l, text, bytes);
	return rc ? rc : sp__sample_add(&l->sample, l->kept.data, (uint32_t)bytes);
}

/* Adds records from the beginning of each further input. */
static int add_others(struct sp__tableload *l)
{
	const uint64_t each = sp__max(SAMPLE_BYTES / l->source.opts.n, OTHER_BYTES);
	struct sp_batch batch;
	size_t input = l->source.input;
	uint64_t bytes = 0;
	int rc;

	sp__columnsource_skip(&l->source);
	while ((rc = sp__columnsource_next(&l->source, &batch)) == SP_READY && !l->sample.wrong) {
		bytes = (l->source.input == input ? bytes : 0) + batch.bytes;
		input = l->source.input;
		rc = add_text(l, batch.data, batch.bytes);
		if (rc)
			return rc;
		if (bytes >= each)
			sp__columnsource_skip(&l->source);
	}
	return rc < 0 ? rc : 0;
}

/* True if all lines have as many fields as the sample, and no quote. */
static bool has_plain_records(const struct sp__sample *s, const char *p, const char *end)
{
	uint32_t fields = 1;

	for (; p < end; p++) {
		fields += *p == s->separator;
		if (*p == '"' || (*p == '\n' && fields != s->fields))
			return false;
		if (*p == '\n')
			fields = 1;
	}
	return true;
}

/* Adds the whole lines of a text from the middle of an input. */
static int add_place(struct sp__tableload *l, const char *text, size_t bytes)
{
	const char *begin = memchr(text, '\n', bytes), *end = memrchr(text, '\n', bytes);

	if (!begin || begin == end ||
	    (!l->format.json && !has_plain_records(&l->sample, begin + 1, end + 1)))
		return 0;
	return add_text(l, begin + 1, (size_t)(end - begin));
}

/* Adds records from several places of an input, if it is large. */
static int add_places(struct sp__tableload *l, const char *name)
{
	int fd = sp__input_open(name, l->err), rc = 0;
	uint64_t bytes = fd < 0 ? 0 : sp__file_bytes(fd);
	char *text = malloc(PLACE_BYTES);
	ssize_t n;

	if (fd >= 0 && !text)
		rc = sp__err(l->err, -ENOMEM, "allocate", NULL, -1);
	for (unsigned i = 1; !rc && i <= PLACES && bytes > PLACES * SP__PART_MIN_BYTES; i++) {
		n = sp__read_whole(fd, text, PLACE_BYTES, bytes / PLACES * i - PLACE_BYTES);
		rc = n < 0 ? sp__err(l->err, (int)n, "read", name, -1)
			   : add_place(l, text, (size_t)n);
	}
	free(text);
	if (fd < 0)
		return fd;
	sp__input_close(name, fd);
	return rc;
}

/* True if records can be found in the middle of inputs. */
static bool has_places(const struct sp__tableload *l)
{
	const struct sp__sample *a = &l->sample;
	uint64_t quoted = 0;

	for (uint32_t i = 0; i < a->fields && !a->json; i++)
		quoted += a->quotes[i].quoted;
	return a->fields && !quoted && l->env.opts->decompress == SP_PACKED_NONE;
}

/* Adds records of the rest of the inputs, which begin again afterwards. */
static int add_rest(struct sp__tableload *l)
{
	int rc = add_others(l);

	for (size_t i = 0; !rc && i < l->source.opts.n && has_places(l) && !l->sample.wrong; i++)
		if (strcmp(l->source.opts.inputs[i], "-") != 0)
			rc = add_places(l, l->source.opts.inputs[i]);
	sp__tableload_drop_kept(l);
	return rc ? rc : sp__columnsource_rewind(&l->source);
}

int sp__tableload_sample(struct sp__tableload *l)
{
	const uint64_t most = sp__min(l->memory / 4, KEPT_MAX);
	uint64_t bytes = sp__min(most, SAMPLE_BYTES);
	int rc;

	begin_sample(l);
	if (l->format.kind == SP_REC_FIXED)
		return resolve(l, false);
	if (!l->kept_ends)
		l->kept_ends = calloc(l->source.opts.n, sizeof(*l->kept_ends));
	if (!l->kept_ends)
		return sp__err(l->err, -ENOMEM, "allocate", NULL, -1);
	rc = keep_text(l, bytes);
	while (rc == SP_READY && !l->source.again && bytes < most &&
	       sp__sample_lacks_values(&l->sample)) {
		bytes = sp__min(2 * bytes, most);
		rc = keep_text(l, bytes);
	}
	if (rc == SP_READY && l->source.again) {
		rc = add_rest(l);
		rc = rc ? rc : SP_READY;
	}
	if (rc < 0)
		return rc;
	return resolve(l, rc == SP_END && !l->sample.wrong);
}

void sp__tableload_tell_types(const struct sp__tableload *l)
{
	const struct sp__schema *s = l->file ? &l->file->schema : &l->resolved.schema;
	char type[SP__VALUE_TYPE_TEXT + 1], text[SP__COLUMN_NAME_MAX + 256];

	if (l->opts->note && l->resolved.last_named) {
		snprintf(text, sizeof(text),
			 "the last column has no name in the header: its name is '%s'",
			 s->columns[s->n - 1].name);
		l->opts->note(l->opts->note_arg, text);
	}
	for (uint32_t i = 0; l->opts->note && l->resolved.notes && i < s->n; i++) {
		const struct sp__column *c = &s->columns[i];

		type[sp__value_type_print(&c->type, type)] = '\0';
		if (l->resolved.notes[i] == SP__INFER_RESPELLED)
			snprintf(text, sizeof(text),
				 "column '%s' is stored as %s: spellings of its values are not "
				 "kept; --exact keeps text",
				 c->name, type);
		else if (l->resolved.notes[i] == SP__INFER_TOO_LONG)
			snprintf(text, sizeof(text),
				 "column '%s' is stored as %s: its numbers have too many digits "
				 "for f64 and dec64; --types NAME:f64 rounds them",
				 c->name, type);
		else
			continue;
		l->opts->note(l->opts->note_arg, text);
	}
}

void sp__tableload_tell_members(const struct sp__tableload *l)
{
	const struct sp__schema *s = &l->file->schema;
	char text[SP__COLUMN_NAME_MAX + 256];

	for (uint32_t i = 0; l->opts->note && l->mixed && i < s->n; i++) {
		if (!l->mixed[i])
			continue;
		snprintf(text, sizeof(text),
			 "member '%s' has texts and other values: all are stored as texts; "
			 "--types '%s:text json' keeps them apart",
			 s->columns[i].name, s->columns[i].name);
		l->opts->note(l->opts->note_arg, text);
	}
}

/* Records the error of a record in a text, the last one added to the sample. */
static int wrong_fields(const struct sp__tableload *l, const char *text)
{
	const struct sp__sample *a = &l->sample;
	const uint32_t n = a->wrong > a->fields ? a->fields : a->wrong;
	uint64_t line = l->lines + l->opts->header + 1;

	line += sp__count_lines(text, a->wrong_at);
	if (a->json)
		return sp__tableload_member_error(l, &a->reader.error, l->source.input, line);
	return sp__errf(l->err, SP_EFORMAT, "load", l->source.opts.inputs[l->source.input], -1,
			a->wrong > n ? "line %" PRIu64 ": more than %" PRIu32 " field%s"
				     : "line %" PRIu64 ": %" PRIu32 " field%s, too few",
			line, n, n == 1 ? "" : "s");
}

int sp__tableload_types(struct sp__tableload *l)
{
	struct sp_batch batch;
	size_t input = 0;
	int rc = 0;

	begin_sample(l);
	l->lines = 0;
	while (!rc && (rc = sp__columnsource_next(&l->source, &batch)) == SP_READY) {
		if (l->source.input != input)
			l->lines = 0;
		input = l->source.input;
		rc = sp__sample_add(&l->sample, batch.data, (uint32_t)batch.bytes);
		if (!rc && l->sample.wrong)
			rc = wrong_fields(l, batch.data);
		l->lines += sp__count_lines(batch.data, batch.bytes);
	}
	sp__tableload_drop_kept(l);
	return rc ? rc : resolve(l, true);
}
