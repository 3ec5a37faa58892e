/* SPDX-License-Identifier: MIT */
/* An array of JSON as lines (jsonarray.h). */
#include "rec/jsonarray.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Takes a byte of an element; returns the one to write. */
static char take_element(struct sp__json_array *a, char c)
{
	if (a->text) {
		a->text = a->escaped || c != '"';
		a->escaped = !a->escaped && c == '\\';
	} else if (c == '"') {
		a->text = true;
	} else if (c == '{' || c == '[') {
		a->depth++;
	} else if ((c == '}' || c == ']') && a->depth) {
		a->depth--;
	} else if (c == '\r') {
		return ' ';
	}
	/* A line end in a text is an error, so it must not end the line. */
	return c != '\n' ? c : a->text ? '\x01' : ' ';
}

/* Takes a byte between elements, or before or behind the array; true: a line ends. */
static bool take_border(struct sp__json_array *a, char c)
{
	const bool first = a->state == SP__ARRAY_FIRST;

	if (c == ']') {
		a->state = SP__ARRAY_AFTER;
		return !first;
	}
	a->state = SP__ARRAY_ELEMENT;
	return true;
}

const char *sp__json_array_feed(struct sp__json_array *a, const char *from, size_t bytes, char *to,
				size_t *n, size_t *at)
{
	char *out = to;

	for (size_t i = 0; i < bytes; i++) {
		const char c = from[i];

		*at = i;
		if (a->state == SP__ARRAY_ELEMENT &&
		    (a->depth || a->text || (c != ',' && c != ']'))) {
			*out++ = take_element(a, c);
		} else if (a->state == SP__ARRAY_ELEMENT ||
			   (a->state == SP__ARRAY_FIRST && c == ']')) {
			if (take_border(a, c))
				*out++ = '\n';
		} else if (is_blank(c)) {
			continue;
		} else if (a->state == SP__ARRAY_FIRST) {
			a->state = SP__ARRAY_ELEMENT;
			i--;
		} else if (a->state == SP__ARRAY_BEFORE && c == '[') {
			a->state = SP__ARRAY_FIRST;
		} else {
			return a->state == SP__ARRAY_BEFORE ? "[" : "the end of the input";
		}
	}
	*n = (size_t)(out - to);
	return NULL;
}

const char *sp__json_array_end(const struct sp__json_array *a)
{
	return a->state == SP__ARRAY_AFTER ? NULL : a->state == SP__ARRAY_BEFORE ? "[" : "]";
}
