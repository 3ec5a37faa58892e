/* SPDX-License-Identifier: MIT */
/* Values of members in records of JSON (members.h). */
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "join/result/emit.h"

#define SHOWN 40 /* bytes of a record in a message */

static int no_memory(struct sp_errinfo *err)
{
	return sp__err(err, -ENOMEM, "allocate", NULL, -1);
}

int sp__joinpaths_add(struct sp__joinpaths *p, unsigned file, const char *path, size_t *number,
		      struct sp_errinfo *err)
{
	const char *rest;

	if (!p->of[file] && sp__json_paths_new(&p->of[file]))
		return no_memory(err);
	return sp__json_paths_add(p->of[file], path, "", number, &rest, err);
}

void sp__joinpaths_release(struct sp__joinpaths *p)
{
	for (unsigned i = 0; i < SP_JOIN_FILES_MAX; i++)
		sp__json_paths_free(p->of[i]);
	*p = (struct sp__joinpaths){ 0 };
}

int sp__joinpaths_same(const char *a, const char *b, bool *same, struct sp_errinfo *err)
{
	struct sp__joinpaths both = { 0 };
	size_t first = 0, second = 0;
	int rc = sp__joinpaths_add(&both, 0, a, &first, err);

	if (!rc)
		rc = sp__joinpaths_add(&both, 0, b, &second, err);
	*same = !rc && first == second;
	sp__joinpaths_release(&both);
	return rc;
}

void sp__joinmembers_release(struct sp__joinmembers *m)
{
	for (unsigned i = 0; i < SP_JOIN_FILES_MAX; i++)
		free(m->values[i]);
	*m = (struct sp__joinmembers){ 0 };
}

static int not_json(const struct sp__emit *e, unsigned file, const struct sp__line *line,
		    const struct sp__json_error *bad)
{
	return sp__errf(e->err, SP_EFORMAT, "read", e->inputs[file], -1,
			"byte %zu of a record is not JSON: expected %s; --strict names the line; "
			"the record begins with '%.*s'",
			bad->at + 1, bad->wanted, (int)sp__min(line->bytes, SHOWN), line->data);
}

int sp__joinmembers_find(struct sp__emit *e, const struct sp__line *const *of)
{
	struct sp__joinmembers *m = &e->members;

	for (unsigned i = 0; i < e->nfiles; i++) {
		const struct sp__json_paths *paths = e->paths->of[i];
		struct sp__json_error bad;

		if (!paths || !of[i])
			continue;
		if (!m->values[i])
			m->values[i] = calloc(sp__json_paths_count(paths), sizeof(*m->values[i]));
		if (!m->values[i])
			return no_memory(e->err);
		if (sp__json_find(paths, of[i]->data, of[i]->bytes, SP__JSON_CHECK_FOUND,
				  m->values[i], &bad))
			return not_json(e, i, of[i], &bad);
	}
	return 0;
}

const struct sp__json_value *sp__joinmembers_value(const struct sp__emit *e,
						   const struct sp__line *const *of, unsigned file,
						   size_t number)
{
	static const struct sp__json_value missing;

	return of[file] ? &e->members.values[file][number] : &missing;
}

struct sp__slice sp__joinmembers_key(const struct sp__emit *e, const struct sp__line *const *of)
{
	const unsigned file = of[0] ? 0 : 1;
	struct sp__joinpaths key = { 0 };
	struct sp__slice text = { sp__no_field, 0 };
	struct sp__json_value value;
	struct sp__json_error unused;
	size_t number;

	if (!sp__joinpaths_add(&key, 0, e->opts->paths[file][0], &number, NULL) &&
	    !sp__json_find(key.of[0], of[file]->data, of[file]->bytes, SP__JSON_CHECK_FOUND, &value,
			   &unused) &&
	    value.kind)
		text = (struct sp__slice){ value.p, value.n };
	sp__joinpaths_release(&key);
	return text;
}
