/* SPDX-License-Identifier: MIT */
/* Checks the records of a scan, and leaves out those that do not fit the keys. */
#include "base/err.h"
#include "flow/scan_impl.h"

int sp__scan_line_number(const struct sp__scan *s, uint64_t lines, uint64_t *number)
{
	*number = s->place + lines + 1;
	return sp__scan_add_before(s, number);
}

void sp__scan_leave_out(struct sp__scan *s, struct sp_batch *rest, uint64_t lines,
			const struct sp__badtext *bad)
{
	const char *end = sp__rec_end(&s->opts.format, rest->data, rest->bytes);
	const size_t bytes = (size_t)(end - rest->data);

	if (!s->skipped.skipped++) {
		s->skipped.input = s->from;
		s->skipped.from = s->opts.part ? s->opts.part->from : 0;
		s->skipped.line = s->place + lines + 1;
		sp__badtext_reason(bad, s->skipped.reason);
	}
	s->skipped_bytes += bytes;
	*rest = (struct sp_batch){ end, rest->bytes - bytes };
}

int sp__scan_check(struct sp__scan *s, struct sp_batch *batch)
{
	struct sp__badtext bad;
	const size_t bytes = batch->bytes;
	uint64_t line, lines;
	size_t fitting;

	if (sp__key_fitting(s->opts.keys, batch->data, batch->bytes, &s->text, &fitting, &bad))
		return sp__err(s->opts.err, -ENOMEM, "allocate", NULL, -1);
	if (fitting == batch->bytes)
		return SP_READY;
	batch->bytes = fitting;
	lines = sp__count_bytes(batch->data, fitting, sp__scan_line_end(s));
	if (s->opts.skip_invalid) {
		s->unchecked = (struct sp_batch){ batch->data + fitting, bytes - fitting };
		sp__scan_leave_out(s, &s->unchecked, lines, &bad);
		return SP_READY;
	}
	s->error = sp__scan_line_number(s, lines, &line);
	if (!s->error)
		s->error = sp__badtext_error(&bad, s->opts.inputs[s->from], line, s->opts.err);
	return fitting ? SP_READY : s->error;
}
