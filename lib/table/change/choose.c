/* SPDX-License-Identifier: MIT */
/*
 * Reads the columns of the predicate, or that of the keys, ahead in windows; tasks select records.
 * Directory rows whose bounds exclude all records are not read.
 *
 * Few keys are found through an index, if there is one.
 *
 * Rejected: the hits of an SI-scan for predicates.  It reads tombstones ahead, with the windows,
 * and a delete writes them meanwhile: a cell that was passed would be changed twice by one journal.
 */
#include <stdlib.h>
#include <unistd.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "run/charge.h"
#include "table/change/choose.h"
#include "table/file/directory.h"
#include "table/file/file.h"
#include "table/index/build.h"
#include "table/index/keyfind.h"
#include "table/read/choice.h"

#define FIRST 1024 /* numbers */

int sp__chosen_add(struct sp__chosen_records *c, uint64_t record, struct sp_errinfo *err)
{
	size_t capacity = c->capacity ? 2 * c->capacity : FIRST;
	struct sp__chosen *list;

	if (c->n == c->capacity) {
		if (capacity > FIRST && capacity * sizeof(*list) > c->budget->limit_bytes / 2)
			return sp__errf(err, SP_EBUDGET, "choose", NULL, -1,
					"more than %zu keys: give more memory", c->n);
		list = reallocarray(c->list, capacity, sizeof(*list));
		if (!list)
			return sp__err(err, -ENOMEM, "allocate", NULL, -1);
		sp__budget_charge(c->budget, (capacity - c->capacity) * sizeof(*list));
		c->list = list;
		c->capacity = capacity;
	}
	c->list[c->n] = (struct sp__chosen){ record, c->n };
	c->n++;
	return 0;
}

static int by_record(const void *a, const void *b)
{
	const struct sp__chosen *x = a, *y = b;

	return SP__ORDER(x->record, y->record) ?: SP__ORDER(x->position, y->position);
}

void sp__chosen_sort(struct sp__chosen_records *c)
{
	if (c->n)
		qsort(c->list, c->n, sizeof(*c->list), by_record);
}

void sp__chosen_free(struct sp__chosen_records *c)
{
	if (c->list)
		sp__budget_credit(c->budget, c->capacity * sizeof(*c->list));
	free(c->list);
	*c = (struct sp__chosen_records){ 0 };
}

/*
 * Takes the numbers of all records from the index (index/keyfind.h), key by key, and sorts them:
 * changes need them in ascending order.  Before the first change the records are got, and their
 * values compared with the keys.
 *
 * Memory: 16 bytes for each record, at most half of it.
 */

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

/*
 * True if the keys of a choice are to be found through an index: one is named; or the default one
 * is there, and reading the column takes more time.
 */
static bool choose_has_index(const struct sp__tablefile *f, const struct sp__chosen_by *choice)
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

/*
 * Does what sp__choose_records() does.  All records are found, and compared with their keys, before
 * the first put().  Errors as there, and: -ESTALE or SP_EFORMAT if the index cannot be used, and
 * SP_ECORRUPT if a record does not have its key.
 */
static int choose_by_index(struct sp__tablefile *f, const struct sp__chosen_by *choice,
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

/* Of a slot. */
struct chosen {
	struct record {
		uint64_t number;
		uint32_t key;
	} * records; /* the chosen records, s->matched of them */
	size_t capacity;
};

struct choose {
	struct sp__window_ring ring;
	struct chosen slots[SP__RING_SLOTS];
	struct sp__record_choice rows; /* by the predicate, if there is one */
	const struct sp__chosen_by *choice;
	bool *columns; /* columns that are read */
	struct sp_table_stats *stats;
};

/* True if no record of a directory row has a key. */
static bool excluded(const void *choose, struct sp__tablefile *f, uint8_t *row)
{
	const struct choose *c = choose;

	return sp__key_set_excludes(c->choice->keys,
				    sp__directory_entry(f, row, c->choice->column));
}

/* Adds the records of rows whose value is a key.  Returns 0 or -ENOMEM. */
static int select_keys(const struct choose *c, struct sp__window_slot *s,
		       const struct sp__rows *rows)
{
	const struct sp__vector *v = &rows->vectors[c->choice->column];
	struct chosen *own = s->own;

	for (uint32_t i = 0; i < rows->n; i++) {
		uint32_t key = sp__key_set_find(c->choice->keys, v, i);

		if (key == SP__NO_KEY)
			continue;
		if (!SP__ARRAY_GROW(own->records, own->capacity, s->matched + 1))
			return -ENOMEM;
		own->records[s->matched++] = (struct record){ rows->first + i, key };
	}
	return 0;
}

/* Adds the records of rows for which the predicate is true.  Errors: of sp__choice_select(). */
static int select_rows(struct choose *c, struct sp__window_slot *s, const struct sp__rows *rows)
{
	struct sp__choice_slot *d = &c->rows.slots[s - c->ring.slots];
	struct chosen *own = s->own;
	uint32_t n;
	int rc;

	if (c->choice->keys)
		return select_keys(c, s, rows);
	rc = sp__choice_select(&c->rows, d, rows, &n, &s->err);
	if (rc)
		return rc;
	if (n && !SP__ARRAY_GROW(own->records, own->capacity, s->matched + n))
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		own->records[s->matched++] =
			(struct record){ rows->first + d->selected[i], SP__NO_KEY };
	return 0;
}

static int work(void *choose, struct sp__window_slot *s)
{
	struct sp__rows rows;
	int rc = 0;

	while (!rc && sp__window_next(&s->window, &rows)) {
		s->records += rows.n;
		rc = select_rows(choose, s, &rows);
	}
	return rc ? sp__err(&s->err, rc, "allocate", NULL, -1) : 0;
}

static int give(void *choose, struct sp__window_slot *s)
{
	struct choose *c = choose;
	const struct chosen *own = s->own;
	const bool any = c->ring.file->superblock.deleted;
	uint64_t known = UINT64_MAX; /* byte of the tombstones */
	uint8_t bits = 0;
	int rc = 0;

	for (uint64_t i = 0; !rc && i < s->matched; i++) {
		const uint64_t record = own->records[i].number;
		const uint32_t key = own->records[i].key;

		if (any && known != record / 8) {
			known = record / 8;
			rc = sp__tombstones_read(c->ring.file, known * 8, 8, &bits, c->ring.err);
		}
		if (!rc && !(bits >> record % 8 & 1)) {
			c->stats->records_matched++;
			if (key != SP__NO_KEY)
				c->choice->keys->keys[key].found = true;
			rc = c->choice->put(c->choice->arg, record, key);
		}
	}
	c->stats->records_read += s->records;
	c->stats->cells_read += s->window.cells_read;
	sp__charge_work(&c->ring.file->env, s->records, 0, 0);
	return rc;
}

/* Chooses the columns to read. */
static void choose_columns(struct choose *c)
{
	if (c->choice->keys)
		c->columns[c->choice->column] = true;
	else
		sp__predicate_columns(c->choice->predicate, c->columns);
	if (!memchr(c->columns, 1, c->ring.file->schema.n))
		c->columns[0] = true;
}

/* Makes the ranges skip directory rows if bounds can exclude them, and opens them. */
static int open_ranges(struct choose *c)
{
	struct sp__scan_ranges *r = &c->ring.ranges;

	r->window_bytes /= 2; /* changes have memory, too */
	if (!c->choice->keys)
		return sp__choice_open(&c->rows, &c->ring);
	if (c->ring.file->schema.columns[c->choice->column].bounds) {
		r->rows_needed = true;
		r->skip = excluded;
		r->skip_arg = c;
	}
	return sp__ranges_open(r, SP__RANGES_BYTES);
}

static int run(struct choose *c)
{
	int rc;

	c->columns = calloc(c->ring.file->schema.n, sizeof(*c->columns));
	if (!c->columns)
		return sp__err(c->ring.err, -ENOMEM, "allocate", NULL, -1);
	choose_columns(c);
	rc = sp__ring_open(&c->ring, c->columns, c->slots, sizeof(*c->slots));
	if (rc)
		return rc;
	rc = open_ranges(c);
	return rc ? sp__err(c->ring.err, rc, "allocate", NULL, -1) : sp__ring_run(&c->ring);
}

int sp__choose_records(struct sp__tablefile *f, const struct sp__chosen_by *choice,
		       struct sp_table_stats *stats, struct sp_errinfo *err)
{
	static const struct sp__window_ring_ops ops = { sp__ring_fill, work, give };
	struct choose c = { .ring = { .file = f,
				      .ops = &ops,
				      .arg = &c,
				      .err = err,
				      .ranges = { .end = f->superblock.records } },
			    .rows = { .where = choice->predicate },
			    .choice = choice,
			    .stats = stats };
	int rc;

	if (choose_has_index(f, choice))
		return choose_by_index(f, choice, stats, err);
	rc = run(&c);
	sp__ring_close(&c.ring, stats);
	sp__choice_close(&c.rows);
	for (unsigned i = 0; i < SP__RING_SLOTS; i++)
		free(c.slots[i].records);
	free(c.columns);
	return rc;
}
