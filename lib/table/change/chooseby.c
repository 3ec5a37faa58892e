/* SPDX-License-Identifier: MIT */
/*
 * Takes the numbers of all records from the index (index/keyfind.h), key by key, and sorts them:
 * changes need them in ascending order.
 *
 * Memory: 16 bytes for each record (numbers.h), at most half of it.
 */
#include <stdlib.h>
#include <unistd.h>
#include "base/err.h"
#include "table/change/chooseby.h"
#include "table/change/numbers.h"
#include "table/index/build.h"
#include "table/index/keyfind.h"

/* The keys of a choice, given one after the other. */
struct given {
	const struct sp__key_set *keys;
	uint32_t next;
};

static int next_key(void *given, const char **text, size_t *bytes)
{
	struct given *g = given;
	struct sp__slice key;

	if (g->next == g->keys->n)
		return 0;
	key = sp__key_text(g->keys, g->next++);
	*text = key.p;
	*bytes = key.n;
	return 1;
}

bool sp__choose_has_index(const struct sp__tablefile *f, const struct sp__chosen_by *choice)
{
	char *path;
	bool there;

	if (!choice->keys || choice->index)
		return choice->keys;
	if (choice->keys->n > choice->max_lookups)
		return false;
	path = sp__tableindex_path(f, choice->column);
	there = path && !access(path, F_OK);
	free(path);
	return there;
}

/* Adds the number of each record, and the key that it has. */
static int find(struct sp__keyfind *k, struct sp__chosen_records *found, struct sp_errinfo *err)
{
	uint64_t record;
	int rc;

	while ((rc = sp__keyfind_next(k, &record)) == SP_READY) {
		rc = sp__chosen_add(found, record, err);
		if (rc)
			return rc;
		found->list[found->n - 1].position = k->keys_ended;
	}
	return rc == SP_END ? 0 : rc;
}

static int find_all(struct sp__tablefile *f, const struct sp__chosen_by *choice,
		    struct sp__chosen_records *found, struct sp_table_stats *stats,
		    struct sp_errinfo *err)
{
	struct given given = { .keys = choice->keys };
	const struct sp__keyfind_opts opts = { .file = f,
					       .column = choice->column,
					       .path = choice->index,
					       .keys = next_key,
					       .keys_arg = &given,
					       .stats = stats,
					       .err = err };
	struct sp__keyfind *k = calloc(1, sizeof(*k));
	int rc;

	if (!k)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	rc = sp__keyfind_open(k, &opts);
	if (!rc)
		rc = find(k, found, err);
	sp__keyfind_close(k);
	free(k);
	return rc;
}

int sp__choose_by_index(struct sp__tablefile *f, const struct sp__chosen_by *choice,
			struct sp_table_stats *stats, struct sp_errinfo *err)
{
	struct sp__chosen_records found = { .budget = &f->env.budget };
	const uint64_t keys = stats->keys;
	int rc = find_all(f, choice, &found, stats, err);

	stats->keys = keys; /* the caller counts them */
	stats->keys_found = 0;
	sp__chosen_sort(&found);
	for (size_t i = 0; !rc && i < found.n; i++) {
		const uint32_t key = (uint32_t)found.list[i].position;

		stats->records_matched++;
		choice->keys->keys[key].found = true;
		rc = choice->put(choice->arg, found.list[i].record, key);
	}
	sp__chosen_free(&found);
	return rc;
}
