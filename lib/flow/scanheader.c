/* SPDX-License-Identifier: MIT */
/* Takes headers out of the records of a scan, and compares those of several inputs. */
#include "base/err.h"
#include "flow/scan_impl.h"
#include "rec/fields.h"

/* Compares a header record of a further input with the names of the first header. */
static int repeat_header(struct sp__scan *s, const char *rec, size_t bytes)
{
	const struct sp_recfmt *f = &s->opts.format;
	const size_t at = s->mark_bytes + s->repeated, term = sp__rec_term(f);
	const char *head = s->header.data + at;
	const char *end = sp__rec_end(f, head, s->header.bytes - at);
	const struct sp__header_record own = { s->opts.inputs[s->from], { rec, bytes - term } };
	const struct sp__header_record first = { s->opts.inputs[s->header_from],
						 { head, (size_t)(end - head) - term } };

	s->repeated += (size_t)(end - head);
	return sp__header_compare(f, s->opts.separator, &own, &first, s->opts.err);
}

int sp__scan_take_header(struct sp__scan *s, struct sp_batch *batch)
{
	int rc = 0;

	for (; !rc && batch->bytes && s->header_left; s->header_left--) {
		const char *end = sp__rec_end(&s->opts.format, batch->data, batch->bytes);
		size_t bytes = (size_t)(end - batch->data);

		if (s->header.bytes == s->mark_bytes)
			s->header_from = s->from;
		if (s->mark_bytes + s->repeated < s->header.bytes)
			rc = repeat_header(s, batch->data, bytes);
		else if (sp__bytes_append(&s->header, batch->data, bytes, NULL) < 0)
			rc = sp__err(s->opts.err, -ENOMEM, "allocate", NULL, -1);
		else
			s->repeated += bytes;
		s->place += sp__count_bytes(batch->data, bytes, sp__scan_line_end(s));
		s->header_bytes += bytes;
		batch->data += bytes;
		batch->bytes -= bytes;
	}
	return rc < 0 ? rc : SP_READY;
}
