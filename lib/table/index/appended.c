/* SPDX-License-Identifier: MIT */
/*
 * Reads and sorts the keys of appended records (appended.h).
 */
#include <stdlib.h>
#include "base/array.h"
#include "base/bisect.h"
#include "base/err.h"
#include "base/minmax.h"
#include "rec/key.h"
#include "table/index/appended.h"
#include "table/index/columnscan.h"

static const char *key_at(const struct sp__appended *a, const struct sp__appended_key *k)
{
	return a->keys.data + k->at;
}

static int add(void *appended, uint64_t record, const char *key, size_t bytes)
{
	struct sp__appended *a = appended;

	if (a->keys.bytes + bytes + (a->n + 1) * sizeof(*a->list) > a->max_bytes)
		return SP_EBUDGET;
	if (!SP__ARRAY_GROW(a->list, a->capacity, a->n + 1))
		return -ENOMEM;
	a->list[a->n++] = (struct sp__appended_key){ record, a->keys.bytes, (uint32_t)bytes };
	return sp__bytes_append(&a->keys, key, bytes, NULL);
}

static int compare(const void *x, const void *y, void *appended)
{
	const struct sp__appended_key *k = x, *l = y;
	int order = sp__order_bytes(key_at(appended, k), k->bytes, key_at(appended, l), l->bytes);

	return order ? order : SP__ORDER(k->record, l->record);
}

int sp__appended_read(struct sp__appended *a, struct sp__tablefile *f, uint32_t column,
		      uint64_t first, struct sp_table_stats *stats, struct sp_errinfo *err)
{
	const struct sp__columnscan_opts o = {
		.column = column, .first = first, .memory_share = 1, .each = add, .arg = a
	};
	int rc = sp__columnscan(f, &o, stats, err);

	if (rc == -ENOMEM)
		return sp__err(err, rc, "get", f->path, -1);
	if (!rc && a->n)
		qsort_r(a->list, a->n, sizeof(*a->list), compare, a);
	return rc;
}

void sp__appended_free(struct sp__appended *a)
{
	sp__bytes_release(&a->keys, NULL);
	free(a->list);
	*a = (struct sp__appended){ 0 };
}

size_t sp__appended_find(const struct sp__appended *a, const char *key, size_t bytes)
{
	const struct sp__appended_key *list = a->list;

	return SP__BISECT(a->n, i,
			  sp__order_bytes(key_at(a, &list[i]), list[i].bytes, key, bytes) < 0);
}

bool sp__appended_is(const struct sp__appended *a, size_t i, const char *key, size_t bytes)
{
	return i < a->n && a->list[i].bytes == bytes &&
	       (!bytes || !memcmp(key_at(a, &a->list[i]), key, bytes));
}
