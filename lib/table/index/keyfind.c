/* SPDX-License-Identifier: MIT */
/*
 * Finds records by keys (keyfind.h): keys wait in a queue while the lookup reads pages for them.
 * The oldest one gives the matches of the index, leaf by leaf, then those of appended records.
 *
 * Memory: a sixteenth each for pages and for appended keys.
 */
#include <stdlib.h>
#include "base/array.h"
#include "base/bisect.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/minmax.h"
#include "rec/key.h"
#include "run/memory.h"
#include "table/file/file.h"
#include "table/file/directory.h"
#include "table/index/build.h"
#include "table/index/columnkey.h"
#include "table/index/keyfind.h"

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

/*
 * Reads the records from `first` on.  Returns 0; SP_EBUDGET if they need more than max_bytes, not
 * recorded; or an error of the scan, recorded.
 */
static int appended_read(struct sp__appended *a, struct sp__tablefile *f, uint32_t column,
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

static void appended_free(struct sp__appended *a)
{
	sp__bytes_release(&a->keys, NULL);
	free(a->list);
	*a = (struct sp__appended){ 0 };
}

/* Returns the first element whose key is not less. */
static size_t appended_find(const struct sp__appended *a, const char *key, size_t bytes)
{
	const struct sp__appended_key *list = a->list;

	return SP__BISECT(a->n, i,
			  sp__order_bytes(key_at(a, &list[i]), list[i].bytes, key, bytes) < 0);
}

/* True if element i exists and has this key. */
static bool appended_is(const struct sp__appended *a, size_t i, const char *key, size_t bytes)
{
	return i < a->n && a->list[i].bytes == bytes &&
	       (!bytes || !memcmp(key_at(a, &a->list[i]), key, bytes));
}

#define MEMORY_SHARE 16

static const struct sp__column *column_of(const struct sp__keyfind *k)
{
	return &k->opts.file->schema.columns[k->opts.column];
}

static int open_lookup(struct sp__keyfind *k, uint64_t bytes)
{
	const struct sp__queue_opts queue = sp__tablefile_queue(k->opts.file, SP__KEYFIND_KEYS);
	const struct sp__lookup_opts lookup = { .index = &k->index,
						.reads = &k->reads,
						.waits = &k->waits,
						.max = SP__KEYFIND_KEYS,
						.bytes = bytes,
						.ordered = true };
	int rc = sp__requests_open(&k->reads, &queue, k->opts.err);

	return rc ? rc : sp__lookup_open(&k->lookup, &lookup);
}

int sp__keyfind_open(struct sp__keyfind *k, const struct sp__keyfind_opts *opts)
{
	struct sp__tablefile *f = opts->file;
	const uint64_t share = sp__working_memory(&f->run, f->run.memory_bytes) / MEMORY_SHARE;
	int rc;

	*k = (struct sp__keyfind){ .opts = *opts, .appended = { .max_bytes = share } };
	rc = sp__tableindex_open(&k->index, f, opts->column, opts->path, opts->err);
	if (rc)
		return rc;
	if (k->index.header.table_records < f->superblock.records)
		rc = appended_read(&k->appended, f, opts->column, k->index.header.table_records,
				   opts->stats, opts->err);
	if (rc == SP_EBUDGET)
		return sp__tableindex_refuse(f, opts->column, opts->path, SP_EBUDGET,
					     "does not have the records appended since, too many "
					     "for this memory",
					     opts->err);
	return rc ? rc : open_lookup(k, share);
}

void sp__keyfind_close(struct sp__keyfind *k)
{
	if (k->reads.queue)
		sp__env_note_io(&k->opts.stats->run, sp__queue_counters(k->reads.queue));
	sp__requests_close(&k->reads);
	sp__lookup_close(k->lookup);
	appended_free(&k->appended);
	for (unsigned i = 0; i < SP__KEYFIND_KEYS; i++) {
		sp__bytes_release(&k->queue[i].text, NULL);
		sp__bytes_release(&k->queue[i].key, NULL);
	}
	sp__index_close(&k->index);
	if (!k->opts.stats)
		return;
	k->opts.stats->keys = k->keys;
	k->opts.stats->keys_found = k->keys_found;
}

static int no_memory(const struct sp__keyfind *k)
{
	return sp__err(k->opts.err, -ENOMEM, "get", k->opts.file->path, -1);
}

/* Adds keys while there is space for them. */
static int put_keys(struct sp__keyfind *k)
{
	while (!k->keys_end && k->nkeys < SP__KEYFIND_KEYS && sp__lookup_has_space(k->lookup)) {
		struct sp__keyfind_key *q = &k->queue[(k->head + k->nkeys) % SP__KEYFIND_KEYS];
		const char *text;
		size_t n;
		int rc = k->opts.keys(k->opts.keys_arg, &text, &n);

		k->keys_end = rc == 0;
		if (rc <= 0)
			return rc;
		rc = sp__bytes_set(&q->text, text, n, NULL);
		if (!rc)
			rc = sp__columnkey_of_text(column_of(k), text, n, &q->key);
		if (rc < 0)
			return no_memory(k);
		q->impossible = rc;
		if (!rc)
			rc = sp__lookup_put(k->lookup, q->key.data, q->key.bytes, k->keys);
		if (rc < 0)
			return rc;
		k->nkeys++;
		k->keys++;
	}
	return 0;
}

/* Takes the matches of the oldest key in the next leaf. */
static int take_found(struct sp__keyfind *k)
{
	int rc;

	while ((rc = sp__lookup_get(k->lookup, &k->found)) == SP_LATER) {
		rc = sp__waits_block(&k->waits);
		if (rc)
			return rc;
	}
	k->next = 0;
	k->step = SP__FIND_MATCHES;
	return rc == SP_READY ? 0 : rc == SP_END ? SP_ESTATE : rc;
}

/* Begins with the oldest key. */
static int begin_key(struct sp__keyfind *k)
{
	k->exists = false;
	k->least = 0;
	if (!k->queue[k->head].impossible)
		return take_found(k);
	k->step = SP__FIND_APPENDED;
	k->next = k->appended.n;
	return 0;
}

static int end_key(struct sp__keyfind *k)
{
	const struct sp__keyfind_key *q = &k->queue[k->head];
	int rc = 0;

	k->keys_found += k->exists;
	if (!k->exists && k->opts.absent)
		rc = k->opts.absent(k->opts.absent_arg, q->text.data, q->text.bytes);
	k->head = (k->head + 1) % SP__KEYFIND_KEYS;
	k->nkeys--;
	k->keys_ended++;
	k->step = SP__FIND_KEY;
	return rc;
}

/* Takes the next number of the oldest key.  Returns SP_READY, SP_END of the step, or an error. */
static int take_number(struct sp__keyfind *k, uint64_t *record)
{
	const struct sp__keyfind_opts *o = &k->opts;
	const struct sp__bytes *key = &k->queue[k->head].key;

	if (k->step == SP__FIND_MATCHES && k->next < k->found.n) {
		*record = k->found.matches[k->next++].offset;
		return sp__tableindex_number(&k->index, o->file, o->column, o->path, *record,
					     &k->least, o->err)
			       ?: SP_READY;
	}
	if (k->step == SP__FIND_APPENDED &&
	    appended_is(&k->appended, k->next, key->data, key->bytes)) {
		*record = k->appended.list[k->next++].record;
		return SP_READY;
	}
	return SP_END;
}

/* Goes on to the next leaf, to appended records, or to the end of the key. */
static int go_on(struct sp__keyfind *k)
{
	const struct sp__bytes *key = &k->queue[k->head].key;

	if (k->step == SP__FIND_APPENDED)
		return end_key(k);
	if (!k->found.last)
		return take_found(k);
	k->step = SP__FIND_APPENDED;
	k->next = appended_find(&k->appended, key->data, key->bytes);
	return 0;
}

int sp__keyfind_next(void *keyfind, uint64_t *record)
{
	struct sp__keyfind *k = keyfind;
	int rc = 0;

	while (!rc) {
		if (k->step == SP__FIND_KEY) {
			rc = put_keys(k);
			if (!rc && !k->nkeys)
				return SP_END;
			if (!rc)
				rc = begin_key(k);
			continue;
		}
		rc = take_number(k, record);
		if (rc == SP_READY) {
			rc = sp__tombstones_exists(k->opts.file, *record, k->opts.err);
			k->exists |= rc > 0;
		} else if (rc == SP_END) {
			rc = go_on(k);
		}
	}
	return rc < 0 ? rc : SP_READY;
}

/* Returns a hash of the key of the last record. */
static uint64_t found_by(const void *keyfind)
{
	const struct sp__keyfind *k = keyfind;
	const struct sp__bytes *key = &k->queue[k->head].key;

	return sp__checksum(key->data, key->bytes);
}

static int check(const void *keyfind, uint64_t hash, const struct sp__rows *rows,
		 struct sp_errinfo *err)
{
	const struct sp__keyfind_opts *o = &((const struct sp__keyfind *)keyfind)->opts;
	uint8_t space[SP__COLUMNKEY_SPACE];
	const struct sp__slice key = sp__columnkey(&o->file->schema.columns[o->column],
						   &rows->vectors[o->column], 0, space);

	if (key.p && sp__checksum(key.p, key.n) == hash)
		return 0;
	return sp__tableindex_misfit(o->file, o->column, o->path, rows->first, err);
}

struct sp__tableget_check sp__keyfind_check(const struct sp__keyfind *k)
{
	return (struct sp__tableget_check){
		.column = k->opts.column, .found_by = found_by, .check = check, .arg = k
	};
}
