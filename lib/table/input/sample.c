/* SPDX-License-Identifier: MIT */
/*
 * Collects facts on fields: for the inference of types, and for the style of quotes.
 */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "rec/key.h"
#include "table/input/sample.h"
#include "table/schema/columntext.h"

#define ENDS 8192

void sp__sample_free(struct sp__sample *s)
{
	free(s->ends.ends);
	free(s->quotes);
	sp__inference_free(&s->inference);
	sp__bytes_release(&s->unquoted, NULL);
}

/* Counts the fields of the record that begins at text, whose terminator is part of it. */
static uint32_t count_fields(const struct sp__sample *s, const char *text, size_t bytes)
{
	const char *end = text + bytes - 1, *p = text;
	uint32_t n = 1;

	for (;; p++, n++) {
		p = s->csv ? sp__csv_field_end(p, end, s->separator)
			   : sp__find_byte(p, end, s->separator);
		if (p == end)
			return n;
	}
}

static int no_memory(const struct sp__sample *s)
{
	return sp__err(s->err, -ENOMEM, "allocate", NULL, -1);
}

/* Learns the number of fields from the first record. */
static int begin(struct sp__sample *s, const char *text, uint32_t bytes)
{
	const struct sp_recfmt format = { .kind = s->csv ? SP_REC_CSV : SP_REC_LINE,
					  .eol = '\n',
					  .separator = s->separator };
	size_t n = (size_t)(sp__rec_end(&format, text, bytes) - text);

	s->fields = count_fields(s, text, n);
	s->cr = n > 1 && text[n - 2] == '\r';
	n -= 1 + s->cr;
	s->last_empty = n && text[n - 1] == s->separator;
	s->ends.max_ends = s->fields > ENDS ? s->fields : ENDS;
	s->ends.ends = calloc(s->ends.max_ends + 1 + SP__FIELDENDS_SLACK, sizeof(*s->ends.ends));
	s->quotes = calloc(s->fields, sizeof(*s->quotes));
	if (!s->ends.ends || !s->quotes ||
	    sp__inference_init(&s->inference, s->fields, s->words_bytes, s->budget))
		return no_memory(s);
	s->inference.exact = s->exact;
	return 0;
}

/* True if the text would be NULL without quotes. */
static bool is_null(const struct sp__sample *s, const struct sp__slice *field)
{
	return field->n == strlen(s->null_text) && !memcmp(field->p, s->null_text, field->n);
}

/* Removes the quotes of a field, and notes whether it needs them. */
static int unquote(struct sp__sample *s, uint32_t column, struct sp__slice *field)
{
	struct sp__sample_quotes *q = &s->quotes[column];
	char *to;

	if (sp__bytes_reserve(&s->unquoted, field->n, NULL))
		return no_memory(s);
	to = s->unquoted.data;
	field->n = (size_t)((char *)sp__csv_unquote(field->p, field->p + field->n,
						    (unsigned char *)to) -
			    to);
	field->p = to;
	q->needless += !is_null(s, field) && !memchr(to, s->separator, field->n) &&
		       !memchr(to, '"', field->n) && !memchr(to, '\n', field->n) &&
		       !memchr(to, '\r', field->n);
	return 0;
}

/* True if a field that is not NULL is so but for its quotes. */
static bool is_blank(const struct sp__sample *s, const struct sp__slice *field, bool quoted)
{
	if (!s->csv)
		return false;
	return quoted ? is_null(s, field) : !field->n && !strcmp(s->null_text, SP__NULL_QUOTED);
}

static int add_field(struct sp__sample *s, uint32_t column, struct sp__slice field)
{
	const bool null = is_null(s, &field);
	const bool quoted = s->csv && field.n && *field.p == '"' && !null;
	int rc = quoted ? unquote(s, column, &field) : 0;

	s->quotes[column].quoted += quoted;
	s->quotes[column].none += field.n && !quoted && !null;
	if (rc || null)
		return rc;
	if (is_blank(s, &field, quoted))
		sp__inference_add_blank(&s->inference, column);
	else if (sp__inference_add(&s->inference, column, &field))
		return no_memory(s);
	return 0;
}

int sp__sample_add(struct sp__sample *s, const char *text, uint32_t bytes)
{
	int rc = s->fields || !bytes ? 0 : begin(s, text, bytes);
	const struct sp__fieldends_opts o = { s->separator, s->csv, s->fields };
	uint32_t at = 0;

	while (!rc && at < bytes && !s->wrong) {
		const uint32_t *ends = s->ends.ends;

		sp__fieldends_find(&s->ends, &o, text, at, bytes);
		for (uint32_t r = 0; !rc && r < s->ends.records; r++)
			for (uint32_t i = 0; !rc && i < s->fields; i++, ends++) {
				uint32_t from = ends[0] + 1, n = ends[1] - from;

				if (i + 1 == s->fields && (s->csv || s->cr) && n &&
				    text[from + n - 1] == '\r')
					n--;
				rc = add_field(s, i, (struct sp__slice){ text + from, n });
			}
		s->records += s->ends.records;
		s->wrong = s->ends.wrong;
		s->bytes += *ends + 1 - at;
		at = *ends + 1;
		s->wrong_at = at;
	}
	return rc;
}

bool sp__sample_is_text(const struct sp__sample *s, uint32_t column)
{
	uint64_t none = 0;

	for (uint32_t i = 0; i < s->fields; i++)
		none += s->quotes[i].none;
	return none && s->quotes[column].needless && !s->quotes[column].none;
}

enum sp__table_quoting sp__sample_quoting(const struct sp__sample *s,
					  const struct sp__table_schema *schema)
{
	uint64_t needless = 0, none = 0, texts_none = 0, others_quoted = 0;

	for (uint32_t i = 0; i < schema->n && i < s->fields; i++) {
		const struct sp__sample_quotes *q = &s->quotes[i];
		bool text = sp__type_is_text(&schema->columns[i].type);

		needless += q->needless;
		none += q->none;
		texts_none += text ? q->none : 0;
		others_quoted += text ? 0 : q->needless;
	}
	if (!needless)
		return SP__QUOTES_NEEDED;
	if (!none)
		return SP__QUOTES_ALL;
	return !texts_none && !others_quoted ? SP__QUOTES_TEXT : SP__QUOTES_NEEDED;
}
