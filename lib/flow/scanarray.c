/* SPDX-License-Identifier: MIT */
/* Inputs that are arrays of JSON, for a scan: their elements become lines (rec/jsonarray.h). */
#include "base/err.h"
#include "flow/scan_impl.h"

static int refuse(const struct sp__scan *s, const char *expected)
{
	return sp__errf(s->opts.err, SP_EFORMAT, "read", s->opts.inputs[s->input], -1,
			"value %llu: not an array of JSON: expected %s",
			(unsigned long long)(s->newlines + 1), expected);
}

int sp__scan_take_array(struct sp__scan *s, const char *data, size_t bytes)
{
	const char *expected;
	size_t n, at;

	s->lines.bytes = 0;
	if (sp__bytes_reserve(&s->lines, bytes, NULL) < 0)
		return sp__err(s->opts.err, -ENOMEM, "allocate", NULL, -1);
	expected = sp__json_array_feed(&s->array, data, bytes, s->lines.data, &n, &at);
	if (expected)
		return refuse(s, expected);
	s->bytes += n;
	s->newlines += sp__count_bytes(s->lines.data, n, '\n');
	(void)sp__splitter_feed(&s->splitter, s->lines.data, n);
	return SP_READY;
}

int sp__scan_end_array(const struct sp__scan *s)
{
	const char *expected = sp__json_array_end(&s->array);

	return expected ? refuse(s, expected) : 0;
}
