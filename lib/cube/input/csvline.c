/* SPDX-License-Identifier: MIT */
/*
 * Parses lines of CSV (csvline.h).
 */
#include <inttypes.h>
#include <string.h>
#include "base/err.h"
#include "cube/input/csvline.h"

int sp__csvline_invalid(const struct sp__csvline *l, const char *reason)
{
	return l->err ? sp__errf(l->err, SP_EFORMAT, "read", l->name, -1, "line %" PRIu64 ": %s",
				 l->number, reason)
		      : SP_EFORMAT;
}

static const char *skip_spaces(const char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

static int coordinate_range(const struct sp__csvline *l, unsigned dim, const char *text,
			    const char *end)
{
	uint64_t by = l->rollup[dim];

	return l->err ? sp__errf(l->err, -ERANGE, "read", l->name, -1,
				 "line %" PRIu64 ": coordinate %.*s of dimension %u is not below "
				 "%" PRIu64 "%s%.0" PRIu64,
				 l->number, (int)(end - text), text, dim, l->shape->dims[dim],
				 by ? " x " : "", by)
		      : -ERANGE;
}

/* Parses a coordinate and its comma. */
static int parse_coordinate(const struct sp__csvline *l, unsigned dim, const char **at, uint64_t *x)
{
	uint64_t by = l->rollup[dim], n = 0;
	const char *text = skip_spaces(*at), *end = text;
	bool over = false;

	for (; *end >= '0' && *end <= '9'; end++)
		over |= __builtin_mul_overflow(n, 10, &n) ||
			__builtin_add_overflow(n, (uint64_t)(*end - '0'), &n);
	*at = skip_spaces(end);
	if (end == text || (**at && **at != ','))
		return l->err ? sp__errf(l->err, SP_EFORMAT, "read", l->name, -1,
					 "line %" PRIu64 ": coordinate %u is not a number",
					 l->number, dim)
			      : SP_EFORMAT;
	if (**at != ',')
		return sp__csvline_invalid(l, "it has too few fields");
	++*at;
	*x = by ? n / by : n;
	return over || *x >= l->shape->dims[dim] ? coordinate_range(l, dim, text, end) : 0;
}

/* Parses text that ends with a zero byte. */
static int parse_fields(const struct sp__csvline *l, const char *text, uint64_t *x, uint8_t *value)
{
	const char *at = text;
	int rc = 0;

	for (unsigned i = 0; !rc && i < l->shape->ndims; i++)
		rc = parse_coordinate(l, i, &at, &x[i]);
	if (rc || !sp_cube_value_parse(l->shape, skip_spaces(at), value))
		return rc;
	return l->err ? sp__errf(l->err, SP_EFORMAT, "read", l->name, -1,
				 "line %" PRIu64 ": its value is no %s", l->number,
				 sp_cube_type_name(l->shape->type))
		      : SP_EFORMAT;
}

int sp__csvline_parse(const struct sp__csvline *l, char *text, size_t bytes, uint64_t *x,
		      uint8_t *value)
{
	char *end = text + bytes, after;
	int rc;

	if (bytes + 1 >= l->max)
		return sp__csvline_invalid(l, "it is too long");
	if (memchr(text, 0, bytes))
		return sp__csvline_invalid(l, "it is not text");
	while (end > text && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	if (end == text)
		return 1;
	after = *end;
	*end = '\0';
	rc = parse_fields(l, text, x, value);
	if (rc)
		*end = after;
	return rc;
}
