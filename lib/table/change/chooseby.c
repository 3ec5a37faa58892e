/* SPDX-License-Identifier: MIT */
/*
 * Takes the numbers of all records from the index (index/keyfind.h), key by key, and sorts them:
 * changes need them in ascending order.  Before the first change the records are got, and their
 * values compared with the keys.
 *
 * Memory: 16 bytes for each record (numbers.h), at most half of it.
 */
#include <stdlib.h>
#include <unistd.h>
#include "base/err.h"
#include "table/change/chooseby.h"
#include "table/change/numbers.h"
#include "table/index/attach.h"
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

/* Records that are compared with their keys. */
struct compare {
	const struct sp__tablefile *file;
	const struct sp__chosen_by *choice;
	const struct sp__chosen_records *found;
	size_t next;
};

static int next_record(void *compare, uint64_t *record)
{
	struct compare *c = compare;

	if (c->next == c->found->n)
		return SP_END;
	*record = c->found->list[c->next++].record;
	return SP_READY;
}

static uint64_t found_by(const void *compare)
{
	const struct compare *c = compare;

	return c->found->list[c->next - 1].position;
}

static int check(const void *compare, uint64_t key, const struct sp__rows *rows,
		 struct sp_errinfo *err)
{
	const struct compare *c = compare;
	const struct sp__chosen_by *choice = c->choice;

	if (sp__key_set_find(choice->keys, &rows->vectors[choice->column], 0) == key)
		return 0;
	return sp__tableindex_misfit(c->file, choice->column, choice->index, rows->first, err);
}

/* Compares the values of all records that were found with their keys. */
static int compare_all(struct sp__tablefile *f, const struct sp__chosen_by *choice,
		       const struct sp__chosen_records *found, struct sp_table_stats *stats,
		       struct sp_errinfo *err)
{
	struct compare c = { .file = f, .choice = choice, .found = found };
	const struct sp__tableget_check fits = {
		.column = choice->column, .found_by = found_by, .check = check, .arg = &c
	};
	const struct sp__table_output nothing = { .schema = &f->schema, .discard = true };
	struct sp__tableget_opts get = { .next = next_record,
					 .arg = &c,
					 .exist = true,
					 .parts = 2, /* changes have memory, too */
					 .output = &nothing,
					 .check = &fits };
	const struct sp__reading to = { .stats = stats, .err = err };
	const uint64_t matched = stats->records_matched;
	bool *columns = calloc(f->schema.n, sizeof(*columns));
	int rc;

	if (!columns)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	columns[choice->column] = true;
	get.columns = columns;
	rc = found->n ? sp__tableget(f, &get, &to) : 0;
	stats->records_matched = matched; /* put() counts them */
	free(columns);
	return rc;
}

int sp__choose_by_index(struct sp__tablefile *f, const struct sp__chosen_by *choice,
			struct sp_table_stats *stats, struct sp_errinfo *err)
{
	struct sp__chosen_records found = { .budget = &f->env.budget };
	const uint64_t keys = stats->keys;
	int rc = find_all(f, choice, &found, stats, err);

	sp__chosen_sort(&found);
	if (!rc)
		rc = compare_all(f, choice, &found, stats, err);
	stats->keys = keys; /* the caller counts them */
	stats->keys_found = 0;
	for (size_t i = 0; !rc && i < found.n; i++) {
		const uint32_t key = (uint32_t)found.list[i].position;

		stats->records_matched++;
		choice->keys->keys[key].found = true;
		rc = choice->put(choice->arg, found.list[i].record, key);
	}
	sp__chosen_free(&found);
	return rc;
}
