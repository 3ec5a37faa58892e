/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include "base/err.h"
#include "join/balance.h"
#include "join/result_sort.h"
#include "join/plan.h"

#define TAGS_BYTES (2 * SP__TAG_BYTES)
#define PART_BYTES (64u << 10)
#define ESCAPE '\x01'
#define ITSELF "\x01\x02"
#define NEWLINE "\x01\x03"

/* Can a record contain line terminators?  Some fillers and separators do. */
static bool spans_lines(const struct sp_join_opts *opts)
{
	if (sp__join_format(opts, 0).kind != SP_REC_LINE)
		return true;
	return (opts->separator && memchr(opts->separator, opts->eol, opts->separator_bytes)) ||
	       (opts->filler && memchr(opts->filler, opts->eol, strlen(opts->filler)));
}

int sp__order_open(struct sp__order *o, const struct sp_join_opts *opts, uint64_t memory_bytes,
		   struct sp_errinfo *err)
{
	struct sp_key key = SP_KEY_INIT;
	struct sp_keyset_opts ko = { .format = { .kind = SP_REC_LINE, .eol = '\n' },
				     .keys = &key,
				     .nkeys = 1,
				     .separator = -1,
				     .stable = true,
				     .bytes = true };
	struct sp_sort_opts so = SP_SORT_OPTS_INIT;
	int rc;

	*o = (struct sp__order){ .err = err };
	o->escape = spans_lines(opts);
	if (!o->escape)
		ko.format.eol = opts->eol;
	o->eol = ko.format.eol;
	key.eword = 0;
	key.echar = TAGS_BYTES;
	rc = sp_keyset_new(&o->keys, &ko, err);
	if (rc < 0)
		return rc;
	so.format = ko.format;
	so.keys = o->keys;
	so.run = opts->run;
	so.run.memory_bytes = memory_bytes;
	so.run.page_bytes = 0;
	so.run.geometry = NULL;
	so.run.trace_path = NULL;
	return sp_sort_new(&o->sort, &so, err);
}

static int to_sort(struct sp__order *o, const char *data, size_t bytes)
{
	struct sp_batch batch = { data, bytes };
	int rc;

	o->bytes += bytes;
	if (!bytes)
		return 0;
	while ((rc = sp_sort_put(o->sort, &batch)) == SP_LATER) {
		rc = sp_sort_wait(o->sort);
		if (rc < 0)
			break;
	}
	return rc < 0 ? rc : 0;
}

static int no_memory(const struct sp__order *o)
{
	return sp__err(o->err, -ENOMEM, "allocate", NULL, -1);
}

static int put_part(struct sp__order *o)
{
	int rc = to_sort(o, o->part.data, o->part.bytes);

	sp__bytes_empty(&o->part, NULL);
	return rc;
}

/* Length of the prefix that needs no escape in a line. */
static size_t plain_bytes(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && p[i] != ESCAPE && p[i] != '\n')
		i++;
	return i;
}

static int put_escaped(struct sp__order *o, const char *data, size_t bytes, bool whole)
{
	int rc = 0;

	for (size_t n; bytes && !rc; data += n, bytes -= n) {
		n = plain_bytes(data, bytes);
		rc = sp__bytes_append(&o->part, data, n, NULL);
		if (!rc && n < bytes)
			rc = sp__bytes_append(&o->part, data[n++] == '\n' ? NEWLINE : ITSELF, 2,
					      NULL);
	}
	if (!rc && whole)
		rc = sp__bytes_append(&o->part, "\n", 1, NULL);
	if (rc < 0)
		return no_memory(o);
	return whole && o->part.bytes >= PART_BYTES ? put_part(o) : 0;
}

int sp__order_put(void *order, const char *data, size_t bytes, bool whole)
{
	struct sp__order *o = order;

	if (o->escape)
		return put_escaped(o, data, bytes, whole);
	if (whole && !o->part.bytes)
		return to_sort(o, data, bytes);
	if (sp__bytes_append(&o->part, data, bytes, NULL) < 0)
		return no_memory(o);
	return whole ? put_part(o) : 0;
}

static void write_escaped(struct sp__emit *emit, const char *p, size_t n)
{
	const char *end = p + n, *stop;

	for (; (stop = memchr(p, ESCAPE, (size_t)(end - p))); p = stop + 2) {
		sp__emit_raw(emit, p, (size_t)(stop - p));
		sp__emit_raw(emit, stop[1] == NEWLINE[1] ? "\n" : ITSELF, 1);
	}
	sp__emit_raw(emit, p, (size_t)(end - p));
}

static int write_batch(const struct sp__order *o, const struct sp_batch *batch,
		       struct sp__emit *emit)
{
	const char *at = batch->data, *end = at + batch->bytes, *stop;

	for (; at < end; at = stop + 1) {
		at += TAGS_BYTES;
		stop = sp__find_byte(at, end, o->eol);
		if (o->escape)
			write_escaped(emit, at, (size_t)(stop - at));
		else
			sp__emit_raw(emit, at, (size_t)(stop + 1 - at));
	}
	return emit->error;
}

int sp__order_write(struct sp__order *o, struct sp__join *j)
{
	struct sp_batch batch;
	uint64_t done = 0;
	int rc = put_part(o);

	if (!rc)
		rc = sp_sort_finish(o->sort);
	while (rc >= 0) {
		rc = sp_sort_get(o->sort, &batch);
		if (rc == SP_END)
			return sp__balance_bytes(j, "sort by numbers", o->bytes, done);
		if (rc < 0)
			break;
		if (rc == SP_LATER) {
			rc = sp_sort_wait(o->sort);
			continue;
		}
		rc = write_batch(o, &batch, &j->result.emit);
		done += batch.bytes;
		sp__progress_tell(&j->progress, SP_JOIN_PHASE_ORDER, done, o->bytes);
	}
	return rc;
}

void sp__order_close(struct sp__order *o)
{
	sp_sort_free(o->sort);
	sp_keyset_free(o->keys);
	sp__bytes_release(&o->part, NULL);
	*o = (struct sp__order){ 0 };
}
