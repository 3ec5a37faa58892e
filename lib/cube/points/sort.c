/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "cube/points/sort.h"

#define BUFFER_BYTES (UINT32_C(64) << 10)

int sp__pointsort_open(struct sp__pointsort *s, const struct sp__cubefile *c, uint32_t record_bytes,
		       struct sp_errinfo *err)
{
	struct sp_keyset_opts ko = {
		.format = { .kind = SP_REC_FIXED, .fixed_bytes = record_bytes }, .bytes = true
	};
	int rc;

	*s = (struct sp__pointsort){ .err = err,
				     .record_bytes = record_bytes,
				     .opts = SP_SORT_OPTS_INIT };
	s->room = sp__max(BUFFER_BYTES / record_bytes, 1u);
	s->data = malloc(s->room * record_bytes);
	if (!s->data)
		return sp__err(err, -ENOMEM, "malloc", NULL, -1);
	rc = sp_keyset_new(&s->keys, &ko, err);
	if (rc)
		return rc;
	s->opts.format = ko.format;
	s->opts.keys = s->keys;
	s->opts.run.memory_bytes = sp__cube_slab_bytes(c);
	s->opts.run.parallel = c->opts.run.parallel;
	s->opts.run.tmpdirs = c->opts.run.tmpdirs;
	s->opts.run.ntmpdirs = c->opts.run.ntmpdirs;
	return sp_sort_new(&s->sort, &s->opts, err);
}

static int put(struct sp__pointsort *s)
{
	struct sp_batch batch = { (const char *)s->data, s->n * s->record_bytes };
	int rc = 0;

	while (s->n && (rc = sp_sort_put(s->sort, &batch)) == SP_LATER) {
		rc = sp_sort_wait(s->sort);
		if (rc < 0)
			break;
	}
	s->n = 0;
	return rc < 0 ? rc : 0;
}

uint8_t *sp__pointsort_next(struct sp__pointsort *s, int *rc)
{
	*rc = s->n == s->room ? put(s) : 0;
	return *rc ? NULL : s->data + s->n++ * s->record_bytes;
}

int sp__pointsort_drain(struct sp__pointsort *s, sp_cube_sink sink, void *arg)
{
	struct sp_batch batch;
	int rc = put(s);

	if (!rc)
		rc = sp_sort_finish(s->sort);
	while (!rc && (rc = sp_sort_get(s->sort, &batch)) != SP_END) {
		if (rc == SP_LATER)
			rc = sp_sort_wait(s->sort);
		else if (rc == SP_READY)
			rc = sink(arg, batch.data, batch.bytes);
	}
	return rc;
}

void sp__pointsort_close(struct sp__pointsort *s)
{
	sp_sort_free(s->sort);
	sp_keyset_free(s->keys);
	free(s->data);
}
