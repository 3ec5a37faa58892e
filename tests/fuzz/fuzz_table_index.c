/* SPDX-License-Identifier: MIT */
/*
 * Indexes of tables in which pages were changed and have right checksums: a get, a scan, a sum, an
 * update or a delete through such an index is an error, or concerns records that have the value,
 * each once and in order.  (That an index lacks a record can be seen only by reading the table.)
 *
 * An input is a byte that chooses the column and the change of the table, and a list of changes of
 * 4 bytes: page (1), offset (2), and the byte there.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/table.h>
#include "base/hash.h"
#include "base/mem.h"
#include "index/node.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define RECORDS 1500
#define APPENDED 40
#define SUM_AT 16  /* of the header */
#define PAGE_AT 32 /* the bytes of a page, in the header */

/* A column with an index, keys, and a range of them. */
static struct column {
	const char *name, *range;
	const char *keys[8];
	char *index, *found, *ranged, *sum, *after[2];
	size_t index_bytes;
} columns[] = {
	{ .name = "a",
	  .range = "a >= 40 and a < 55",
	  .keys = { "7", "41", "54", "96", "-3", "1000" } },
	{ .name = "b",
	  .range = "b ^= 'x4'",
	  .keys = { "x4", "x41", "x9", "x4 and a longer text", "none" } },
};
#define COLUMNS (sizeof(columns) / sizeof(*columns))

static char folder[40], path[64], index_path[64];
static char *table, *all;
static size_t table_bytes, page_bytes;

static void require(bool cond)
{
	if (!cond)
		abort();
}

static char *read_file(const char *name, size_t *bytes)
{
	int fd = open(name, O_RDONLY);
	struct stat st;
	char *data;

	require(fd >= 0 && !fstat(fd, &st));
	*bytes = (size_t)st.st_size;
	data = malloc(*bytes + 1);
	require(data && read(fd, data, *bytes) == (ssize_t)*bytes);
	close(fd);
	data[*bytes] = '\0';
	return data;
}

static void write_file(const char *name, const void *data, size_t bytes)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	require(fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes);
	close(fd);
}

static int append(void *arg, const char *data, size_t bytes)
{
	return sp__bytes_append(arg, data, bytes, NULL);
}

struct key_list {
	const char *const *at;
};

static int next_key(void *arg, const char **key, size_t *bytes)
{
	struct key_list *k = arg;

	if (!*k->at)
		return 0;
	*key = *k->at++;
	*bytes = strlen(*key);
	return 1;
}

static struct sp_table *open_table(bool write)
{
	struct sp_table_opts o = SP_TABLE_OPTS_INIT;
	struct sp_table *t;

	o.run.memory_bytes = 8 << 20;
	o.run.parallel = 1;
	o.run.engine = "sync";
	o.write = write;
	require(!sp_table_open(&t, path, &o, NULL));
	return t;
}

/* Returns the text of an answer, which the caller frees; NULL after an error, which has a text. */
static char *answer(struct sp__bytes *b, int rc, const struct sp_errinfo *err)
{
	require(!rc || err->text[0] || err->code);
	require(!sp__bytes_append(b, "", 1, NULL));
	if (!rc)
		return b->data;
	sp__bytes_release(b, NULL);
	return NULL;
}

static char *get(struct sp_table *t, const struct column *c, const char *index)
{
	struct key_list keys = { c->keys };
	struct sp_table_get g = {
		.by = c->name, .index = index, .keys = next_key, .keys_arg = &keys
	};
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__bytes b = { 0 };

	return answer(&b, sp_table_get(t, &g, append, &b, NULL, &err), &err);
}

static char *scan(struct sp_table *t, const char *where, const char *index, const char *agg,
		  enum sp_table_access access)
{
	struct sp_table_query q = SP_TABLE_QUERY_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__bytes b = { 0 };

	q.where = where;
	q.index = index;
	q.agg = agg;
	q.access = access;
	return answer(&b, sp_table_scan(t, &q, append, &b, NULL, &err), &err);
}

/* Deletes or updates the records of the keys, and returns all records then. */
static char *change(const struct column *c, unsigned what, const char *index, int *rc)
{
	static const char *const set[] = { "d=9" };
	struct key_list keys = { c->keys };
	struct sp_table_choice choice = {
		.by = c->name, .index = index, .keys = next_key, .keys_arg = &keys
	};
	struct sp_table *t = open_table(true);
	char *records;

	*rc = what ? sp_table_update(t, &choice, set, 1, NULL, NULL)
		   : sp_table_delete(t, &choice, NULL, NULL);
	(void)sp_table_close(t);
	t = open_table(false);
	records = scan(t, NULL, NULL, NULL, SP_TABLE_S_SCAN);
	(void)sp_table_close(t);
	require(records);
	return records;
}

/* Writes records from a number on: values that repeat, NULLs, texts, and the number. */
static void write_records(const char *name, int from, int n)
{
	FILE *out = fopen(name, "w");

	require(out);
	for (int i = from; i < from + n; i++) {
		if (i % 11)
			fprintf(out, "%d", i * 31 % 97);
		fprintf(out, ",x%d%s,%d,%d\n", i % 60, i % 7 ? "" : " and a longer text", i, i % 5);
	}
	require(!fclose(out));
}

static void load(const char *input)
{
	struct sp_table_load_opts o = SP_TABLE_LOAD_OPTS_INIT;

	o.run.memory_bytes = 8 << 20;
	o.run.parallel = 1;
	o.format = SP_TABLE_CSV;
	o.layout = SP_TABLE_NSM;
	o.types = "a:i32,b:text,c:u32,d:u8";
	require(!sp_table_load(path, &input, 1, &o, NULL, NULL));
}

static void make_index(struct column *c)
{
	struct sp_table *t = open_table(false);

	require(!sp_table_index(t, c->name, index_path, NULL, NULL) && !sp_table_close(t));
	c->index = read_file(index_path, &c->index_bytes);
	page_bytes = (uint8_t)c->index[PAGE_AT] | (size_t)(uint8_t)c->index[PAGE_AT + 1] << 8;
	require(page_bytes >= SP__NODE_MIN && c->index_bytes / page_bytes >= 4);
}

/* Finds the right answers, which the index that was not changed must give. */
static void ask(struct column *c)
{
	struct sp_table *t = open_table(false);
	char *through;
	int rc;

	write_file(index_path, c->index, c->index_bytes);
	c->found = get(t, c, index_path);
	c->ranged = scan(t, c->range, NULL, NULL, SP_TABLE_S_SCAN);
	through = scan(t, c->range, index_path, NULL, SP_TABLE_BY_INDEX);
	c->sum = scan(t, c->range, NULL, "sum(c)", SP_TABLE_S_SCAN);
	require(c->found && *c->found && c->ranged && *c->ranged && c->sum && through);
	require(!strcmp(through, c->ranged) && !sp_table_close(t));
	free(through);
	for (unsigned what = 0; what < 2; what++) {
		c->after[what] = change(c, what, index_path, &rc);
		require(!rc && strcmp(c->after[what], all) != 0);
		write_file(path, table, table_bytes);
	}
}

static void forget(void)
{
	unlink(path);
	unlink(index_path);
	rmdir(folder);
}

static void make(void)
{
	char input[80];
	const char *const inputs[] = { input };
	struct sp_table *t;

	/* In memory, where a change of the table need not wait for a device. */
	snprintf(folder, sizeof(folder), "%s/fuzz_table_index.XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	require(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/t", folder);
	snprintf(index_path, sizeof(index_path), "%s/x", folder);
	snprintf(input, sizeof(input), "%s/in", folder);
	atexit(forget);
	write_records(input, 0, RECORDS);
	load(input);
	for (size_t i = 0; i < COLUMNS; i++)
		make_index(&columns[i]);
	write_records(input, RECORDS, APPENDED);
	t = open_table(true);
	require(!sp_table_append(t, inputs, 1, NULL, NULL) && !sp_table_close(t));
	unlink(input);
	t = open_table(false);
	all = scan(t, NULL, NULL, NULL, SP_TABLE_S_SCAN);
	require(all && !sp_table_close(t));
	table = read_file(path, &table_bytes);
	for (size_t i = 0; i < COLUMNS; i++)
		ask(&columns[i]);
}

/* Gives the header, or a node, the right checksum. */
static void seal(uint8_t *index, uint64_t page)
{
	const size_t from = SUM_AT + 8;
	const uint64_t sum = sp__checksum(index + from, page_bytes - from);

	if (page)
		sp__node_seal(index + page * page_bytes, (uint32_t)page_bytes, page);
	else
		memcpy(index + SUM_AT, &sum, sizeof(sum));
}

/* Writes an index with changed pages.  Returns true if it is as it was. */
static bool write_changed(const struct column *c, const uint8_t *data, size_t bytes)
{
	uint8_t *index = calloc(1, c->index_bytes);
	const uint64_t pages = c->index_bytes / page_bytes;
	bool same;

	require(index);
	memcpy(index, c->index, c->index_bytes);
	for (; bytes >= 4; data += 4, bytes -= 4) {
		const uint64_t page = data[0] % pages;

		index[page * page_bytes + (data[1] | (size_t)data[2] << 8) % page_bytes] = data[3];
		seal(index, page);
	}
	same = !memcmp(index, c->index, c->index_bytes);
	write_file(index_path, index, c->index_bytes);
	free(index);
	return same;
}

/* True if the lines are some of the right ones, in their order. */
static bool some_of(const char *lines, const char *right)
{
	while (*lines) {
		const size_t n = strcspn(lines, "\n") + 1;

		while (*right && strncmp(right, lines, n) != 0)
			right += strcspn(right, "\n") + 1;
		if (!*right)
			return false;
		right += n;
		lines += n;
	}
	return true;
}

/* True if each record is as before or as after; what: 0: deleted, 1: updated. */
static bool between(const char *now, const char *after, unsigned what)
{
	if (!what)
		return some_of(after, now) && some_of(now, all);
	for (size_t i = 0; all[i] && now[i]; i++)
		if (now[i] != all[i] && now[i] != after[i])
			return false;
	return strlen(now) == strlen(all);
}

/* Asks through the index, by its name or by that of the table. */
static void try_questions(const struct column *c, bool same)
{
	struct sp_table *t = open_table(false);
	char *found = get(t, c, index_path), *sum;
	char *ranged = scan(t, c->range, index_path, NULL, SP_TABLE_BY_INDEX);

	require(found ? some_of(found, c->found) : !same);
	require(ranged ? some_of(ranged, c->ranged) : !same);
	require(!same || (!strcmp(found, c->found) && !strcmp(ranged, c->ranged)));
	sum = scan(t, c->range, index_path, "sum(c)", SP_TABLE_BY_INDEX);
	require(sum ? strtoull(sum, NULL, 10) <= strtoull(c->sum, NULL, 10) : !same);
	require(!sp_table_close(t));
	free(found);
	free(ranged);
	free(sum);
}

static void try_change(const struct column *c, unsigned what, bool same)
{
	int rc;
	char *now = change(c, what, index_path, &rc);

	require(rc ? !strcmp(now, all) && !same : between(now, c->after[what], what));
	require(!same || !strcmp(now, c->after[what]));
	free(now);
	write_file(path, table, table_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const struct column *c;
	bool same;

	if (!table)
		make();
	if (!bytes)
		return 0;
	c = &columns[data[0] & 1];
	same = write_changed(c, data + 1, bytes - 1);
	try_questions(c, same);
	try_change(c, data[0] >> 1 & 1, same);
	return 0;
}
