/* SPDX-License-Identifier: MIT */
/*
 * Parses the box of mmap-cube range: slices as those of an array of NumPy.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "mmap-cube.h"

#define ITEMS "valid is an item such as 0:10, : or 5 for each dimension"

/* The box of --box while it is parsed, for messages. */
struct slices {
	const char *text;
	const struct sp_cube_shape *shape;
	unsigned dim; /* of the current item */
};

static _Noreturn void refuse(const struct slices *s, const char *reason)
{
	die("invalid --box argument %s: %s", quote(s->text), reason);
}

/* Parses a number.  Returns false if there is none. */
static bool parse_number(const struct slices *s, const char **at, int64_t *number)
{
	char *end;

	if (!**at || !strchr("-0123456789", **at))
		return false;
	errno = 0;
	*number = strtoll(*at, &end, 10);
	if (end == *at || errno)
		refuse(s, ITEMS);
	*at = end;
	return true;
}

/* Parses an index; a negative one counts from the end of the dimension. */
static bool parse_index(const struct slices *s, const char **at, int64_t *index)
{
	bool given = parse_number(s, at, index);

	if (given && *index < 0)
		*index += (int64_t)s->shape->dims[s->dim];
	return given;
}

/* Parses the step after a second colon: 1, or none. */
static void parse_step(const struct slices *s, const char **at)
{
	int64_t step = 1;

	if (**at != ':')
		return;
	++*at;
	if (parse_number(s, at, &step) && step != 1)
		refuse(s, "the step must be 1; --lo, --hi and --stride select every Nth element");
}

/* Parses the stop after a colon; like NumPy, start and stop end with the dimension. */
static void parse_stop(const struct slices *s, const char **at, int64_t start,
		       struct sp_cube_box *box)
{
	const int64_t size = (int64_t)s->shape->dims[s->dim];
	int64_t stop = size;

	++*at;
	(void)parse_index(s, at, &stop);
	parse_step(s, at);
	start = start < 0 ? 0 : start;
	stop = stop > size ? size : stop;
	if (start >= stop)
		die("invalid --box argument %s: no element of dimension %u is selected, which has "
		    "%" PRIi64,
		    quote(s->text), s->dim, size);
	box->lo[s->dim] = (uint64_t)start;
	box->hi[s->dim] = (uint64_t)stop - 1;
}

static void parse_item(const struct slices *s, const char **at, struct sp_cube_box *box)
{
	const int64_t size = (int64_t)s->shape->dims[s->dim];
	int64_t start = 0;
	bool given = parse_index(s, at, &start);

	if (**at == ':') {
		parse_stop(s, at, start, box);
		return;
	}
	if (!given)
		refuse(s, ITEMS);
	if (start < 0 || start >= size)
		die("invalid --box argument %s: an index of dimension %u is not within its %" PRIi64
		    " elements",
		    quote(s->text), s->dim, size);
	box->lo[s->dim] = box->hi[s->dim] = (uint64_t)start;
	box->indexed |= UINT32_C(1) << s->dim;
}

void slice_box(const char *text, const struct sp_cube_shape *shape, struct sp_cube_box *box)
{
	struct slices s = { text, shape, 0 };
	const char *at = text;

	for (;; at++, s.dim++) {
		if (s.dim == shape->ndims)
			die("invalid --box argument %s: the cube has %u dimensions", quote(text),
			    shape->ndims);
		parse_item(&s, &at, box);
		if (!*at)
			return;
		if (*at != ',')
			refuse(&s, ITEMS);
	}
}
