/* SPDX-License-Identifier: MIT */
/* Shapes of records of JSON (jsonshape.h). */
#include <stdlib.h>
#include "rec/jsonshape.h"

#define PAUSE 1024
#define CREDIT 32 /* at the beginning */
#define COST 4	  /* of a record of a new shape, in records of known ones */

static void clear(struct sp__json_shapes *s)
{
	s->n = 1;
	s->text_bytes = 0;
	s->shapes[0] = (struct sp__json_shape){ .path = SP__JSON_NO_NODE };
}

struct sp__json_shapes *sp__json_shapes_of(struct sp__json_reader *r)
{
	struct sp__json_shapes *s = r->shapes;

	if (!s) {
		s = r->shapes = malloc(sizeof(*s));
		if (!s)
			return NULL;
		s->paths = 0;
	}
	if (s->paths != r->paths->id || s->check != r->check) {
		s->paths = r->paths->id;
		s->check = r->check;
		s->pause = 0;
		s->credit = CREDIT;
		clear(s);
	}
	if (!s->pause)
		return s;
	s->pause--;
	return NULL;
}

void sp__json_reader_release(struct sp__json_reader *r)
{
	free(r->shapes);
	r->shapes = NULL;
}

void sp__json_shapes_begin(struct sp__json_shapes *s)
{
	s->nscalars = 0;
	s->credit -= COST;
	if (s->credit >= 0)
		return;
	s->credit = CREDIT;
	s->pause = PAUSE;
	clear(s);
}

/* Returns the path of a value; SP__JSON_NO_NODE: it is not the one that counts. */
static unsigned path_of(const struct sp__json_paths *paths, const char *p,
			const struct sp__json_value *values)
{
	for (unsigned i = 0; i < paths->npaths; i++)
		if (values[i].p == p)
			return i;
	return SP__JSON_NO_NODE;
}

static bool can_learn(const struct sp__json_shapes *s, const struct sp__json_paths *paths,
		      const struct sp__json_value *values)
{
	if (s->pause || !s->nscalars || s->nscalars > SP__JSON_SHAPE_SCALARS)
		return false;
	for (size_t i = 0; i < paths->npaths; i++)
		if (values[i].kind >= SP__JSON_ARRAY)
			return false;
	for (unsigned i = 0; i < s->nscalars; i++)
		if (s->scalars[i].wanted &&
		    path_of(paths, s->scalars[i].p, values) == SP__JSON_NO_NODE)
			return false;
	return true;
}

/* Returns the child of an entry that has these bytes, which is added if necessary; 0: no room. */
static unsigned descend(struct sp__json_shapes *s, unsigned parent, const char *p, size_t n,
			unsigned path, bool last)
{
	unsigned i = s->shapes[parent].child;

	while (i && (s->shapes[i].last != last || s->shapes[i].bytes != n ||
		     memcmp(s->text + s->shapes[i].at, p, n) != 0))
		i = s->shapes[i].next;
	if (i)
		return i;
	if (s->n == SP__JSON_SHAPES || n > SP__JSON_SHAPE_BYTES - s->text_bytes)
		return 0;
	i = s->n++;
	s->shapes[i] = (struct sp__json_shape){ .at = (uint16_t)s->text_bytes,
						.bytes = (uint16_t)n,
						.next = s->shapes[parent].child,
						.path = path,
						.last = last };
	s->shapes[parent].child = (uint16_t)i;
	memcpy(s->text + s->text_bytes, p, n);
	s->text_bytes += (unsigned)n;
	return i;
}

void sp__json_shapes_learn(struct sp__json_shapes *s, const struct sp__json_paths *paths,
			   const char *rec, const char *end, const struct sp__json_value *values)
{
	unsigned at = 0;

	if (!can_learn(s, paths, values))
		return;
	for (unsigned i = 0; i < s->nscalars; i++) {
		const struct sp__json_scalar *v = &s->scalars[i];

		at = descend(s, at, rec, (size_t)(v->p - rec),
			     v->wanted ? path_of(paths, v->p, values) : SP__JSON_NO_NODE, false);
		if (!at)
			break;
		rec = v->end;
	}
	if (!at || !descend(s, at, rec, (size_t)(end - rec), SP__JSON_NO_NODE, true))
		clear(s);
}
