/* SPDX-License-Identifier: MIT */
/*
 * Reads JSON, and finds values in it (jsonread.h).
 *
 * Objects and arrays on the way to a path are walked by calls of read_value(); all others are
 * skipped by a loop that keeps one bit for each open one.  A record that has the shape of one read
 * before (jsonshape.h) is read by follow_shape() instead.
 */
#include <string.h>
#include "base/err.h"
#include "base/few.h"
#include "base/minmax.h"
#include "base/utf8.h"
#include "rec/jsonscan.h"
#include "rec/jsonshape.h"

#define NONE SP__JSON_NO_NODE
#define EXPONENT_DIGITS 15 /* sums of exponents and lengths fit into 64 bits */

struct reading {
	const struct sp__json_paths *paths;
	const char *end;
	struct sp__json_value *values;
	struct sp__json_error *error;
	const char *begin;
	const char *reach; /* bytes up to there, the end or behind it, can be loaded */
	bool all;	   /* check all characters */
	unsigned depth;
	struct sp__json_shapes *shapes; /* note scalar values there; or NULL */
};

static const char *fail(struct reading *r, const char *at, const char *wanted)
{
	*r->error = (struct sp__json_error){ (size_t)(at - r->begin), wanted };
	return NULL;
}

static inline const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'))
		p++;
	return p;
}

/* Texts. */

/* Skips the backslash at p and what it escapes. */
static const char *skip_escape(struct reading *r, const char *p)
{
	if (r->end - p < 2 || !p[1] || !strchr("\"\\/bfnrtu", p[1]))
		return fail(r, p, "an escape such as \\n or \\u00e9");
	if (p[1] != 'u')
		return p + 2;
	return sp__json_hex4(p + 2, r->end) < 0 ? fail(r, p, "four hexadecimal digits behind \\u")
						: p + 6;
}

/* True if the characters between the quotes are UTF-8, and surrogates come in pairs. */
static bool valid_characters(const char *p, const char *end, bool escaped, bool high)
{
	if (high && !sp__is_utf8(p, (size_t)(end - p)))
		return false;
	while (escaped && (p = memchr(p, '\\', (size_t)(end - p)))) {
		const int unit = p[1] == 'u' ? sp__json_hex4(p + 2, end) : 0;
		const int next =
			end - p > 7 && p[6] == '\\' && p[7] == 'u' ? sp__json_hex4(p + 8, end) : 0;

		if (unit >= 0xDC00 && unit < 0xE000)
			return false;
		if (unit >= 0xD800 && unit < 0xDC00 && (next < 0xDC00 || next >= 0xE000))
			return false;
		p += p[1] != 'u' ? 2 : unit >= 0xD800 && unit < 0xDC00 ? 12 : 6;
	}
	return true;
}

/* Reads the text that begins with the quote at p; returns its end, behind the quote. */
static inline const char *read_text(struct reading *r, const char *p, bool check, bool *escaped)
{
	const char *const begin = ++p;
	bool high = false;

	*escaped = false;
	for (;;) {
		p = sp__json_plain_end(p, r->end, r->reach, &high);
		if (__builtin_expect(p < r->end && *p == '"', 1))
			break;
		if (p == r->end)
			return fail(r, p, "a closing quote");
		if (*p != '\\')
			return fail(r, p, "an escape, instead of a control character");
		*escaped = true;
		p = skip_escape(r, p);
		if (!p)
			return NULL;
	}
	if ((check || r->all) && (high || *escaped) && !valid_characters(begin, p, *escaped, high))
		return fail(r, begin, "a text of valid characters (UTF-8)");
	return p + 1;
}

/* Numbers and words. */

static inline const char *skip_digits(const char *p, const char *end)
{
	while (p < end && (unsigned char)(*p - '0') < 10)
		p++;
	return p;
}

static const char *read_exponent(struct reading *r, const char *p)
{
	const char *digits;

	p += p < r->end && (*p == '+' || *p == '-');
	digits = p;
	p = skip_digits(p, r->end);
	if (p == digits)
		return fail(r, p, "a digit");
	while (digits < p && *digits == '0')
		digits++;
	if (p - digits > EXPONENT_DIGITS)
		return fail(r, digits, "an exponent of at most 15 digits");
	return p;
}

static const char *read_any_number(struct reading *r, const char *p)
{
	const char *const end = r->end, *digits;

	p += *p == '-';
	digits = p;
	p = skip_digits(p, end);
	if (p == digits)
		return fail(r, p, "a digit");
	if (*digits == '0' && p > digits + 1)
		return fail(r, digits, "a number without a leading zero");
	if (p < end && *p == '.') {
		digits = ++p;
		p = skip_digits(p, end);
		if (p == digits)
			return fail(r, p, "a digit");
	}
	return p < end && (*p | 32) == 'e' ? read_exponent(r, p + 1) : p;
}

static inline const char *read_number(struct reading *r, const char *p)
{
	const char *end = sp__json_short_number_end(p, r->end, r->reach);

	if (__builtin_expect(end != NULL, 1))
		return end;
	return read_any_number(r, p);
}

static const char *read_word(struct reading *r, const char *p, enum sp__json_kind *kind)
{
	const size_t left = (size_t)(r->end - p);

	if (left >= 4 && !memcmp(p, "true", 4)) {
		*kind = SP__JSON_TRUE;
		return p + 4;
	}
	if (left >= 5 && !memcmp(p, "false", 5)) {
		*kind = SP__JSON_FALSE;
		return p + 5;
	}
	if (left >= 4 && !memcmp(p, "null", 4)) {
		*kind = SP__JSON_NULL;
		return p + 4;
	}
	return fail(r, p, "a JSON value");
}

static inline __attribute__((always_inline)) const char *
take_scalar(struct reading *r, const char *p, bool check, struct sp__json_value *v)
{
	const char *end;

	v->escaped = false;
	if (*p == '"') {
		v->kind = SP__JSON_TEXT;
		end = sp__json_plain_text_end(p + 1, r->end, r->reach, check || r->all);
		if (__builtin_expect(end != NULL, 1))
			return end;
		return read_text(r, p, check, &v->escaped);
	}
	if (*p == '-' || (unsigned char)(*p - '0') < 10) {
		v->kind = SP__JSON_NUMBER;
		return read_number(r, p);
	}
	return read_word(r, p, &v->kind);
}

/* Reads a value that is neither an object nor an array. */
static inline const char *read_scalar(struct reading *r, const char *p, bool check,
				      struct sp__json_value *v)
{
	const char *end;

	if (p == r->end)
		return fail(r, p, "a JSON value");
	end = take_scalar(r, p, check, v);
	if (r->shapes && end)
		sp__json_shapes_note(r->shapes, p, end, check);
	return end;
}

/* Objects and arrays that contain no path. */

/* Reads a name and its colon; returns the beginning of the value. */
static inline const char *read_name(struct reading *r, const char *p, struct sp__json_value *name,
				    bool check)
{
	if (p == r->end || *p != '"')
		return fail(r, p, "a name in quotes");
	name->p = p;
	p = read_text(r, p, check, &name->escaped);
	if (!p)
		return NULL;
	name->n = (size_t)(p - name->p);
	p = skip_blanks(p, r->end);
	if (p == r->end || *p != ':')
		return fail(r, p, "a colon");
	return skip_blanks(p + 1, r->end);
}

static const char *too_deep(struct reading *r, const char *p)
{
	return fail(r, p, "a value that is not inside 2048 arrays and objects");
}

/* What is open around a value: a bit for each object or array. */
struct nest {
	uint64_t objects[SP__JSON_DEPTH / 64];
	unsigned depth;
};

static inline bool in_object(const struct nest *n)
{
	return n->objects[(n->depth - 1) / 64] >> (n->depth - 1) % 64 & 1;
}

/* Opens the object or array at p. */
static inline void open_nest(struct nest *n, bool object)
{
	const uint64_t bit = (uint64_t)1 << n->depth % 64;

	if (object)
		n->objects[n->depth / 64] |= bit;
	else
		n->objects[n->depth / 64] &= ~bit;
	n->depth++;
}

/* Closes all that ends behind a value; returns the beginning of the next name or value. */
static inline const char *close_nests(struct reading *r, struct nest *n, const char *p)
{
	while (n->depth) {
		const bool object = in_object(n);

		p = skip_blanks(p, r->end);
		if (p == r->end)
			return fail(r, p, object ? "a comma or }" : "a comma or ]");
		if (*p == ',')
			return skip_blanks(p + 1, r->end);
		if (*p != (object ? '}' : ']'))
			return fail(r, p, object ? "a comma or }" : "a comma or ]");
		n->depth--;
		p++;
	}
	return p;
}

/* Skips the object or array at p; returns its end. */
static const char *skip_nested(struct reading *r, const char *p, bool check)
{
	struct sp__json_value v;
	struct nest n;

	n.depth = 0;
	do {
		if (p < r->end && (*p == '{' || *p == '[')) {
			const bool object = *p == '{';

			if (r->depth + n.depth == SP__JSON_DEPTH)
				return too_deep(r, p);
			open_nest(&n, object);
			p = skip_blanks(p + 1, r->end);
			if (p == r->end || *p != (object ? '}' : ']')) {
				if (object && !(p = read_name(r, p, &v, check)))
					return NULL;
				continue;
			}
			n.depth--;
			p++;
		} else {
			p = read_scalar(r, p, check, &v);
		}
		if (p)
			p = close_nests(r, &n, p);
		if (p && n.depth && in_object(&n))
			p = read_name(r, p, &v, check);
	} while (p && n.depth);
	return p;
}

/* Reads the value at p, in which no path continues; sets its kind.  Returns its end. */
static inline const char *read_any(struct reading *r, const char *p, bool check,
				   struct sp__json_value *v)
{
	if (p == r->end || (*p != '{' && *p != '['))
		return read_scalar(r, p, check, v);
	v->kind = *p == '{' ? SP__JSON_OBJECT : SP__JSON_ARRAY;
	return skip_nested(r, p, check);
}

/* Objects and arrays on the way to a path. */

static const char *read_value(struct reading *r, const char *p, unsigned node);

/* Forgets the values below a node, since another member has the name of an earlier one. */
static void forget(struct reading *r, unsigned node)
{
	const struct sp__json_node *n = &r->paths->nodes[node];

	for (unsigned c = n->child; c != NONE; c = r->paths->nodes[c].next)
		forget(r, c);
	if (n->path != NONE)
		r->values[n->path] = (struct sp__json_value){ .p = "" };
}

static unsigned find_name(const struct sp__json_paths *t, unsigned node,
			  const struct sp__json_value *name)
{
	unsigned c = t->nodes[node].child;

	for (; c != NONE; c = t->nodes[c].next) {
		const struct sp__json_node *n = &t->nodes[c];

		if (!n->name)
			continue;
		if (name->escaped ? sp__json_is(name, n->name, n->bytes)
				  : n->bytes == name->n - 2 &&
					    sp__same_bytes(n->name, name->p + 1, n->bytes))
			break;
	}
	return c;
}

static unsigned find_index(const struct sp__json_paths *t, unsigned node, uint64_t index)
{
	unsigned c = t->nodes[node].child;

	while (c != NONE && (t->nodes[c].name || t->nodes[c].index != index))
		c = t->nodes[c].next;
	return c;
}

/* Reads the object or array at p, in which paths continue at a node. */
static const char *read_nested(struct reading *r, const char *p, unsigned node)
{
	const bool object = *p == '{';
	const char close = object ? '}' : ']';
	struct sp__json_value name = { 0 };
	unsigned child;

	if (r->depth == SP__JSON_DEPTH)
		return too_deep(r, p);
	r->depth++;
	p = skip_blanks(p + 1, r->end);
	for (uint64_t i = 0; p == r->end || *p != close || i; i++) {
		if (object) {
			p = read_name(r, p, &name, false);
			if (!p)
				return NULL;
			child = find_name(r->paths, node, &name);
		} else {
			child = find_index(r->paths, node, i);
		}
		if (child != NONE && object)
			forget(r, child);
		p = read_value(r, p, child);
		if (!p)
			return NULL;
		p = skip_blanks(p, r->end);
		if (p < r->end && *p == close)
			break;
		if (p == r->end || *p != ',')
			return fail(r, p, object ? "a comma or }" : "a comma or ]");
		p = skip_blanks(p + 1, r->end);
	}
	r->depth--;
	return p + 1;
}

/* Reads the value at p, and sets it if it is wanted.  Returns its end. */
static const char *read_value(struct reading *r, const char *p, unsigned node)
{
	const struct sp__json_node *n = node == NONE ? NULL : &r->paths->nodes[node];
	struct sp__json_value v = { .p = p };

	if (n && n->child != NONE && p < r->end && (*p == '{' || *p == '[')) {
		v.kind = *p == '{' ? SP__JSON_OBJECT : SP__JSON_ARRAY;
		p = read_nested(r, p, node);
	} else {
		p = read_any(r, p, n && n->path != NONE, &v);
	}
	if (!p || !n)
		return p;
	v.n = (size_t)(p - v.p);
	if (n->path != NONE)
		r->values[n->path] = v;
	return p;
}

static void forget_all(const struct sp__json_paths *paths, struct sp__json_value *values)
{
	for (size_t i = 0; paths && i < paths->npaths; i++)
		values[i] = (struct sp__json_value){ .p = "" };
}

static int read_record(struct reading *r)
{
	const char *p = skip_blanks(r->begin, r->end);

	forget_all(r->paths, r->values);
	p = read_value(r, p, r->paths ? 0 : NONE);
	if (p)
		p = skip_blanks(p, r->end);
	if (p && p < r->end)
		p = fail(r, p, "the end of the line");
	return p ? 0 : SP_EFORMAT;
}

int sp__json_find(const struct sp__json_paths *paths, const char *rec, size_t bytes,
		  enum sp__json_check check, struct sp__json_value *values,
		  struct sp__json_error *error)
{
	struct reading r = { .paths = paths,
			     .begin = rec,
			     .end = rec + bytes,
			     .reach = rec + bytes,
			     .values = values,
			     .error = error,
			     .all = check == SP__JSON_CHECK_ALL };

	return read_record(&r);
}

/* Reads a record that has one of the shapes.  False: it has another one, or an error. */
static bool follow_shape(struct reading *r, const struct sp__json_shapes *s)
{
	const struct sp__json_shape *at = s->shapes;
	const char *p = r->begin;

	for (;;) {
		struct sp__json_value v = { 0 };

		at = sp__json_shapes_next(s, at, p, r->end, r->reach);
		if (!at || at->last)
			return at;
		v.p = p + at->bytes;
		p = take_scalar(r, v.p, at->path != NONE, &v);
		if (!p)
			return false;
		v.n = (size_t)(p - v.p);
		if (at->path != NONE)
			r->values[at->path] = v;
	}
}

int sp__json_find_next(struct sp__json_reader *reader, const char *rec, size_t bytes, size_t reach,
		       struct sp__json_value *values, struct sp__json_error *error)
{
	struct sp__json_shapes *shapes = sp__json_shapes_of(reader);
	struct reading r = { .paths = reader->paths,
			     .begin = rec,
			     .end = rec + bytes,
			     .reach = rec + sp__max(bytes, reach),
			     .values = values,
			     .error = error,
			     .all = reader->check == SP__JSON_CHECK_ALL };
	int rc;

	if (!shapes)
		return read_record(&r);
	forget_all(r.paths, values);
	if (follow_shape(&r, shapes)) {
		sp__json_shapes_known(shapes);
		return 0;
	}
	r.shapes = shapes;
	sp__json_shapes_begin(shapes);
	rc = read_record(&r);
	if (!rc)
		sp__json_shapes_learn(shapes, reader->paths, rec, rec + bytes, values);
	return rc;
}

bool sp__json_item(struct sp__json_items *in, struct sp__json_value *name,
		   struct sp__json_value *value)
{
	struct sp__json_error unused;
	struct reading r = { .begin = in->p, .end = in->end, .reach = in->end, .error = &unused };
	const char *p = skip_blanks(in->p, in->end);

	if (p < in->end && *p == ',')
		p = skip_blanks(p + 1, in->end);
	name->kind = SP__JSON_TEXT;
	if (p < in->end && *p == '"' && in->object)
		p = read_name(&r, p, name, false);
	else if (in->object)
		return false;
	if (!p || p == in->end)
		return false;
	*value = (struct sp__json_value){ .p = p };
	p = read_any(&r, p, false, value);
	if (!p)
		return false;
	value->n = (size_t)(p - value->p);
	in->p = p;
	return true;
}
