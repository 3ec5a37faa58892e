/* SPDX-License-Identifier: MIT */
/* Collects the records of another capability and puts them into a sort, 64 KiB per batch. */
#include "base/err.h"
#include "run/env.h"
#include "sort/sort.h"

#define PART_BYTES ((size_t)64 << 10)

int sp__sorter_open(struct sp__sorter *s, const struct sp_keyset_opts *order,
		    struct sp_sort_opts *opts, const struct sp__env *plan, struct sp_errinfo *err)
{
	int rc;

	*s = (struct sp__sorter){ 0 };
	rc = sp_keyset_new(&s->keys, order, err);
	opts->format = order->format;
	opts->keys = s->keys;
	return rc < 0 ? rc : sp__sort_new(&s->sort, opts, plan, err);
}

int sp__sorter_close(struct sp__sorter *s)
{
	int rc = sp__sort_free(s->sort);

	sp_keyset_free(s->keys);
	sp__bytes_release(&s->part, NULL);
	*s = (struct sp__sorter){ 0 };
	return rc;
}

void *sp__sorter_space(struct sp__sorter *s, size_t bytes)
{
	if (!sp__bytes_reserve(&s->part, s->part.bytes + bytes, NULL))
		return s->part.data + s->part.bytes;
	(void)!sp__err(sp__sort_env(s->sort)->err, -ENOMEM, "allocate", NULL, -1);
	return NULL;
}

int sp__sorter_add(struct sp__sorter *s, size_t bytes)
{
	s->part.bytes += bytes;
	return s->part.bytes >= PART_BYTES ? sp__sorter_flush(s) : 0;
}

int sp__sorter_flush(struct sp__sorter *s)
{
	struct sp_batch batch = { s->part.data, s->part.bytes };
	int rc = batch.bytes ? sp__sort_put_all(s->sort, &batch) : 0;

	sp__bytes_empty(&s->part, NULL);
	return rc < 0 ? rc : 0;
}

int sp__sorter_finish(struct sp__sorter *s)
{
	int rc = sp__sorter_flush(s);

	return rc ? rc : sp_sort_finish(s->sort);
}
