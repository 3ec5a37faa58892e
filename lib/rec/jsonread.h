/* SPDX-License-Identifier: MIT */
/*
 * Finds values in records of JSON (RFC 8259).
 *
 * A record is a line with one value.  It is read once, without a tree in memory: all values at the
 * paths of a set are found on the way.  If a name is there more than once in an object, the last
 * member counts.
 *
 * A path is ".a.b", ".a[0]" or ".\"odd name\"", or "." for the whole value.  Names are compared by
 * their characters, so "\u00e9" is the name é.
 *
 * Thread rule: a set of paths is immutable once all paths are added; any number of threads may use
 * it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/error.h>

/* In the order of values of different kinds. */
enum sp__json_kind {
	SP__JSON_MISSING, /* no such member */
	SP__JSON_NULL,
	SP__JSON_FALSE,
	SP__JSON_TRUE,
	SP__JSON_NUMBER,
	SP__JSON_TEXT,
	SP__JSON_ARRAY,
	SP__JSON_OBJECT,
};

/* Depth of arrays and objects that are read, and of paths. */
#define SP__JSON_DEPTH 2048
#define SP__JSON_PATH_DEPTH 64

/* A value as it is written, in a record; a text with its quotes. */
struct sp__json_value {
	const char *p;
	size_t n;
	enum sp__json_kind kind;
	bool escaped; /* a text that contains a backslash */
};

/* Why a record is not JSON. */
struct sp__json_error {
	size_t at;	    /* offset in the record */
	const char *wanted; /* what is expected there */
};

enum sp__json_check {
	SP__JSON_CHECK_FOUND, /* characters of the values that are found must be valid */
	SP__JSON_CHECK_ALL,   /* ... and those of all names and values */
};

struct sp__json_paths;

SP_MUST_CHECK int sp__json_paths_new(struct sp__json_paths **paths);
void sp__json_paths_free(struct sp__json_paths *paths); /* accepts NULL */
/*
 * Adds the path that begins a text; a name without quotes ends before a byte of `ends`.  *number:
 * of the path, from 0; one that is there already keeps its number.  *rest: behind the path.
 * Returns 0; -EINVAL with the reason; or -ENOMEM.
 */
SP_MUST_CHECK int sp__json_paths_add(struct sp__json_paths *paths, const char *text,
				     const char *ends, size_t *number, const char **rest,
				     struct sp_errinfo *err);
/* Returns true if a path is a member of the whole value; *name: its name, owned by the set. */
bool sp__json_paths_member(const struct sp__json_paths *paths, size_t number, const char **name,
			   size_t *bytes);
/*
 * Writes the name of a path of one member to `name`, which has room for the path, without the point
 * and quotes; the text of a longer path without its first point.
 */
void sp__json_path_name(const char *path, char *name);
/* Returns the number of paths. */
size_t sp__json_paths_count(const struct sp__json_paths *paths);

/*
 * Finds the values of all paths of a set, in the order of their numbers.  NULL paths: only checks
 * the record.  Returns 0, or SP_EFORMAT with *error.
 */
SP_MUST_CHECK int sp__json_find(const struct sp__json_paths *paths, const char *rec, size_t bytes,
				enum sp__json_check check, struct sp__json_value *values,
				struct sp__json_error *error);

/*
 * Reads records one after the other, which is faster if many have the same shape (jsonshape.h).
 * The owner sets paths and check, and may change them between records; it releases the reader.  One
 * thread uses it.
 */
struct sp__json_reader {
	const struct sp__json_paths *paths;
	enum sp__json_check check;
	struct sp__json_shapes *shapes; /* NULL at the beginning */
};

void sp__json_reader_release(struct sp__json_reader *reader);
/*
 * Does the work of sp__json_find().  reach: bytes that can be loaded from the record on; 0: those
 * of the record.
 */
SP_MUST_CHECK int sp__json_find_next(struct sp__json_reader *reader, const char *rec, size_t bytes,
				     size_t reach, struct sp__json_value *values,
				     struct sp__json_error *error);

/* The members of an object, or the elements of an array, that was read before and is valid. */
struct sp__json_items {
	const char *p, *end;
	bool object;
};

static inline struct sp__json_items sp__json_items(const struct sp__json_value *v)
{
	return (struct sp__json_items){ v->p + 1, v->p + v->n - 1, v->kind == SP__JSON_OBJECT };
}
/* Returns the next one; false: there are no more.  name: set for objects. */
bool sp__json_item(struct sp__json_items *in, struct sp__json_value *name,
		   struct sp__json_value *value);

/* A visitor of the members of a record; returns 0, or an error that ends the visit. */
typedef int sp__json_visit(void *arg, const char *path, size_t path_bytes,
			   const struct sp__json_value *value);

#define SP__JSON_PATH_BYTES 4096
/*
 * Visits all members of a valid value that are not objects with members, with their paths, in their
 * order.  A member whose path is too long or too deep is visited as a part of the object it is in.
 * Returns 0 or the error of the visitor.
 */
int sp__json_walk(const struct sp__json_value *value, sp__json_visit *visit, void *arg);

/*
 * Writes the characters of a text, without quotes and escapes, at most room bytes; returns the
 * bytes written, at most those of the value.  Each \u0000 is a NUL byte.
 */
size_t sp__json_text(const struct sp__json_value *value, char *out, size_t room);

/* True if a text has these characters, given without escapes. */
bool sp__json_is(const struct sp__json_value *v, const char *name, size_t bytes);
/* Compares two texts by their characters, as bytes of UTF-8. */
int sp__json_compare_texts(const struct sp__json_value *a, const struct sp__json_value *b);

/* Returns the text of a value as a slice of the record; *decode: it has escapes. */
static inline const char *sp__json_slice(const struct sp__json_value *v, size_t *n, bool *decode)
{
	const bool text = v->kind == SP__JSON_TEXT, none = v->kind <= SP__JSON_NULL;

	*decode = text && v->escaped;
	*n = none ? 0 : v->n - 2 * text;
	return none ? "" : v->p + text;
}
