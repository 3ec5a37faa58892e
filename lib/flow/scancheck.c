/* SPDX-License-Identifier: MIT */
/* Checks the records of a scan, and leaves out those that do not fit the keys. */
#include "base/err.h"
#include "flow/scan_impl.h"

int sp__scan_add_before(const struct sp__scan *s, uint64_t *lines)
{
	const struct sp__scan_part *part = s->opts.part;
	int rc = part ? sp__lines_before(part->fd, part->from, sp__scan_line_end(s), lines) : 0;

	return rc ? sp__err(s->opts.err, rc, "read", s->opts.inputs[s->from], -1) : 0;
}

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

/*
 * Refuses the record of a batch behind those that fit.  It is left out, or the final error is set.
 */
static void refuse(struct sp__scan *s, const struct sp_batch *batch, size_t fitting,
		   const struct sp__badtext *bad)
{
	const uint64_t lines = sp__count_bytes(batch->data, fitting, sp__scan_line_end(s));
	uint64_t line;

	if (s->opts.skip_invalid) {
		s->unchecked = (struct sp_batch){ batch->data + fitting, batch->bytes - fitting };
		sp__scan_leave_out(s, &s->unchecked, lines, bad);
		return;
	}
	s->error = sp__scan_line_number(s, lines, &line);
	if (!s->error)
		s->error = sp__badtext_error(bad, s->opts.inputs[s->from], line, s->opts.err);
}

/* Checks records.  *fitting: bytes of those before the first one that does not fit. */
static int find_bad(struct sp__scan *s, const char *data, size_t bytes, size_t *fitting,
		    struct sp__badtext *bad)
{
	int rc = sp__key_fitting(s->opts.keys, data, bytes, &s->text, fitting, bad);

	return rc ? sp__err(s->opts.err, rc, "allocate", NULL, -1) : 0;
}

int sp__scan_check(struct sp__scan *s, struct sp_batch *batch)
{
	struct sp__badtext bad;
	size_t fitting;
	int rc = find_bad(s, batch->data, batch->bytes, &fitting, &bad);

	if (rc)
		return rc;
	if (fitting == batch->bytes)
		return SP_READY;
	refuse(s, batch, fitting, &bad);
	batch->bytes = fitting;
	return fitting || !s->error ? SP_READY : s->error;
}

int sp__scan_refuse(struct sp__scan *s, const char *rec)
{
	const char *end = s->last.data + s->last.bytes;
	struct sp__badtext bad;
	size_t fitting;
	int rc = find_bad(s, rec, (size_t)(end - rec), &fitting, &bad);

	if (rc)
		return rc;
	if (fitting)
		return sp__errf(s->opts.err, SP_ESTATE, "check", s->opts.inputs[s->from], -1,
				"a record that fits its keys was refused");
	refuse(s, &s->last, (size_t)(rec - s->last.data), &bad);
	sp__scan_pass(s, s->last.data, end);
	return s->error;
}

void sp__scan_pass(struct sp__scan *s, const char *data, const char *end)
{
	if (s->unchecked.bytes)
		end = s->unchecked.data;
	else if (s->opts.where)
		end = s->chosen.rest.data;
	if (s->opts.count_lines || s->opts.where || s->checks)
		s->passed = sp__count_bytes(data, (size_t)(end - data), sp__scan_line_end(s));
}
