/* SPDX-License-Identifier: MIT */
/*
 * Writes the file of an index (indexwrite.h).
 */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/mem.h"
#include "base/minmax.h"
#include "base/whole.h"
#include "index/indexwrite.h"
#include "index/lookup.h"
#include "run/memory.h"
#include "sort/sort.h"

/*
 * Entries are encoded as lines that the sort compares as bytes.  A line ends with a zero byte:
 *
 *	the key  1  the offset  the length  0
 *
 * In the key and in numbers, a byte b of 0, 1 or 2 is written as 2, b + 1.  This keeps the order:
 * the end of a key is less than any byte that follows in a longer key.  A number is its count of
 * bytes, plus 3, and those bytes, the highest first.  So numbers are in order too, and entries with
 * equal keys are in the order of the source.
 */
#define KEY_END 1
#define ESCAPE 2
#define COUNT_0 3
/* KEY_END, two numbers of up to 17 bytes, and the terminator. */
#define NUMBERS_BYTES (1 + 2 * 17 + 1)

int sp__entrysort_open(struct sp__entrysort *s, const struct sp_run_opts *run,
		       const struct sp__env *plan, struct sp_errinfo *err)
{
	struct sp_keyset_opts ko = { .format = { .kind = SP_REC_LINE, .eol = '\0' },
				     .separator = -1,
				     .bytes = true };
	struct sp_sort_opts so = SP_SORT_OPTS_INIT;

	*s = (struct sp__entrysort){ 0 };
	so.run = *run;
	return sp__sorter_open(&s->sorter, &ko, &so, plan, err);
}

int sp__entrysort_close(struct sp__entrysort *s)
{
	sp__bytes_release(&s->key, NULL);
	return sp__sorter_close(&s->sorter);
}

static uint8_t *escape(uint8_t *to, const uint8_t *from, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (from[i] <= ESCAPE) {
			*to++ = ESCAPE;
			*to++ = (uint8_t)(from[i] + 1);
		} else {
			*to++ = from[i];
		}
	}
	return to;
}

static uint8_t *put_number(uint8_t *to, uint64_t v)
{
	uint8_t bytes[8];
	size_t n = 0;

	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = (uint8_t)(v >> (56 - 8 * i));
		if (!bytes[i] && n == i)
			n++;
	}
	*to++ = (uint8_t)(COUNT_0 + sizeof(bytes) - n);
	return escape(to, bytes + n, sizeof(bytes) - n);
}

/* Writes an entry, and returns its length. */
static size_t encode(uint8_t *entry, const uint8_t *key, size_t bytes,
		     const struct sp__keymatch *match)
{
	uint8_t *end = escape(entry, key, bytes);

	*end++ = KEY_END;
	end = put_number(put_number(end, match->offset), match->bytes);
	*end++ = 0;
	return (size_t)(end - entry);
}

int sp__entrysort_put(struct sp__entrysort *s, const uint8_t *key, size_t bytes,
		      const struct sp__keymatch *match)
{
	uint8_t *entry = sp__sorter_space(&s->sorter, 2 * bytes + NUMBERS_BYTES);

	return entry ? sp__sorter_add(&s->sorter, encode(entry, key, bytes, match)) : -ENOMEM;
}

int sp__entry_append(struct sp__bytes *lines, const uint8_t *key, size_t bytes,
		     const struct sp__keymatch *match)
{
	if (sp__bytes_reserve(lines, lines->bytes + 2 * bytes + NUMBERS_BYTES, NULL))
		return -ENOMEM;
	lines->bytes += encode((uint8_t *)lines->data + lines->bytes, key, bytes, match);
	return 0;
}

/* Returns the next byte of an entry, unescaped. */
static uint8_t take_byte(const char **at)
{
	uint8_t b = (uint8_t) * (*at)++;

	return b == ESCAPE ? (uint8_t)(*(*at)++ - 1) : b;
}

static uint64_t take_number(const char **at)
{
	unsigned n = (unsigned)(uint8_t) * (*at)++ - COUNT_0;
	uint64_t v = 0;

	while (n--)
		v = v << 8 | take_byte(at);
	return v;
}

static int take_key(struct sp__bytes *key, const char **at)
{
	uint8_t part[256];
	size_t n;
	int rc = 0;

	key->bytes = 0;
	while (!rc && **at != KEY_END) {
		for (n = 0; n < sizeof(part) && **at != KEY_END; n++)
			part[n] = take_byte(at);
		rc = sp__bytes_append(key, (char *)part, n, NULL);
	}
	++*at;
	return rc;
}

int sp__entry_decode(const char **at, struct sp__bytes *key, struct sp__keymatch *match)
{
	int rc = take_key(key, at);

	if (rc)
		return rc;
	match->offset = take_number(at);
	match->bytes = take_number(at);
	++*at;
	return 0;
}

/* Gets lines of sorted entries, if none are left. */
static int get_lines(struct sp__entrysort *s)
{
	return s->batch.bytes ? SP_READY : sp__sort_get_next(s->sorter.sort, &s->batch);
}

int sp__entrysort_get(struct sp__entrysort *s, struct sp__keymatch *match)
{
	const char *at;
	int rc = get_lines(s);

	if (rc != SP_READY)
		return rc;
	at = s->batch.data;
	rc = sp__entry_decode(&at, &s->key, match);
	if (rc)
		return rc;
	s->batch.bytes -= (size_t)(at - s->batch.data);
	s->batch.data = at;
	return SP_READY;
}

/*
 * Takes the lines of the next entries: up to the first one that ends at or after this number of
 * bytes.  Returns SP_READY, SP_END or an error.
 */
static int entrysort_lines(struct sp__entrysort *s, struct sp__bytes *lines, size_t bytes)
{
	int rc = SP_READY;

	lines->bytes = 0;
	while (lines->bytes < bytes && (rc = get_lines(s)) == SP_READY) {
		size_t left = bytes - lines->bytes, n = s->batch.bytes;

		if (n > left)
			n = (size_t)((const char *)memchr(s->batch.data + left - 1, 0,
							  n - left + 1) +
				     1 - s->batch.data);
		if (sp__bytes_append(lines, s->batch.data, n, NULL))
			return -ENOMEM;
		s->batch.data += n;
		s->batch.bytes -= n;
	}
	return rc < 0 || lines->bytes == 0 ? rc : SP_READY;
}

static struct sp__env *env_of(const struct sp__indexwrite *w)
{
	return sp__sort_env(w->sort->sorter.sort);
}

/* Opens ranges: several if there are threads, and memory for their entries and leaves. */
static int open_ranges(struct sp__indexwrite *w)
{
	const struct sp__env *env = env_of(w);
	uint64_t n = env->device ? 1 : sp__threads(env->opts->parallel);
	int rc = 0;

	n = n > 1 ? sp__min(n + 2, env->budget.limit_bytes / 16 / (2 * SP__LEAFRANGE_BYTES)) : 1;
	n = sp__max(n, 1);
	w->ranges = calloc(n, sizeof(*w->ranges));
	for (; w->ranges && !rc && w->nranges < n; w->nranges++)
		rc = sp__leafrange_init(&w->ranges[w->nranges].leaves, w->header->page_bytes);
	return w->ranges ? rc : -ENOMEM;
}

static int put_range(struct sp__indexwrite *w, struct sp__indexwrite_range *r)
{
	sp__task_join(&r->task);
	if (!r->busy)
		return 0;
	r->busy = false;
	return r->leaves.rc ? r->leaves.rc : sp__tree_put(&w->tree, &r->leaves);
}

/* Fills ranges with entries; while tasks make leaves of others, puts the oldest into the tree. */
static int write_leaves(struct sp__indexwrite *w)
{
	unsigned i = 0;
	int rc = 0, end = SP_READY;

	for (; !rc && end == SP_READY; i = (i + 1) % w->nranges) {
		struct sp__indexwrite_range *r = &w->ranges[i];

		rc = put_range(w, r);
		if (rc)
			return rc;
		end = entrysort_lines(w->sort, &r->leaves.entries, SP__LEAFRANGE_BYTES);
		r->busy = end == SP_READY;
		sp__progress_add(w->progress, r->leaves.entries.bytes);
		if (r->busy && w->nranges > 1)
			sp__task_start(&r->task, sp__leafrange_make, &r->leaves);
		else if (r->busy)
			sp__leafrange_make(&r->leaves);
	}
	for (unsigned k = 0; !rc && end == SP_END && k < w->nranges; k++)
		rc = put_range(w, &w->ranges[(i + k) % w->nranges]);
	return end < 0 ? end : rc;
}

/* Writes the tree after the space of the header. */
static int write_tree(struct sp__indexwrite *w)
{
	uint8_t *nothing = calloc(1, w->header->header_bytes);
	int rc = nothing ? sp__wstream_put(w->stream, nothing, w->header->header_bytes) : -ENOMEM;

	free(nothing);
	if (!rc)
		rc = sp__tree_init(&w->tree, w->stream, w->header);
	if (!rc)
		rc = open_ranges(w);
	if (!rc)
		rc = write_leaves(w);
	if (!rc)
		rc = sp__tree_finish(&w->tree);
	if (!rc)
		rc = sp__wstream_finish(w->stream);
	if (!rc && w->header->records != w->records)
		rc = SP_EBALANCE;
	return rc;
}

static int write_header(const struct sp__indexwrite *w, int fd)
{
	struct sp__index_header *h = w->header;
	uint8_t *data = malloc(h->header_bytes);
	int rc;

	if (!data)
		return -ENOMEM;
	sp__index_header_encode(h, data);
	rc = sp__write_whole(fd, data, h->header_bytes, 0);
	free(data);
	return rc;
}

int sp__indexwrite_run(struct sp__indexwrite *w)
{
	struct sp__wstream_opts o = sp__env_writing(env_of(w));
	struct sp_sort_stats sorted;
	int fd = sp_outfile_begin(w->out, w->err), rc;

	if (fd < 0)
		return fd;
	/* The tree is about as long as its entries. */
	sp_sort_stats(w->sort->sorter.sort, &sorted);
	o.expected_bytes = w->header->header_bytes + sorted.input_bytes;
	rc = sp__wstream_open(&w->stream, fd, w->path, &o, w->err);
	if (!rc)
		rc = write_tree(w);
	if (!rc)
		rc = write_header(w, fd);
	if (rc)
		return sp__err(w->err, rc, "write", w->path, -1);
	sp__sort_sync(w->sort->sorter.sort);
	return sp_outfile_commit(w->out, w->err);
}

void sp__indexwrite_note(const struct sp__indexwrite *w, struct sp_run_stats *st)
{
	struct sp__io_counters c;

	if (!w->stream)
		return;
	sp__wstream_counters(w->stream, &c);
	sp__env_note_io(st, &c);
}

void sp__indexwrite_close(struct sp__indexwrite *w)
{
	for (unsigned i = 0; i < w->nranges; i++) {
		sp__task_join(&w->ranges[i].task);
		sp__leafrange_free(&w->ranges[i].leaves);
	}
	free(w->ranges);
	sp__wstream_close(w->stream);
	sp__tree_free(&w->tree);
	sp_outfile_close(w->out, w->err);
}
