/* SPDX-License-Identifier: MIT */
/*
 * Moves a cursor from record to record, over the borders of spans.
 *
 * Previous record: a merge codes each record after the previous one of the same run, and a spill
 * writer needs the last record that ends in a page.  Within a span both are adjacent.  When a
 * cursor leaves a span, it first copies its current record into the merge's saved buffer or, if the
 * record is in its carry, swaps the buffers.  One buffer is enough, because the cursor that moves
 * is always that of the record merged last.
 */
#include "base/err.h"
#include "sort/tree/merge.h"

/* In addition to enum sp_status: there is a new span, and no carry. */
#define LOOK_AGAIN 100

void sp__cursor_part(struct sp__cursor *c, const struct sp__runbuf *buf, size_t from, size_t to)
{
	c->buf = buf;
	c->entry = buf->entries + from - 1;
	c->entry_end = buf->entries + to;
}

void sp__cursor_release(struct sp__cursor *c, struct sp__budget *budget)
{
	sp__bytes_release(&c->carry, budget);
	sp__keybuf_release(&c->keybuf[0]);
	sp__keybuf_release(&c->keybuf[1]);
}

static int next_in_memory(struct sp__cursor *c)
{
	const struct sp__entry *e;

	c->same = c->buf->repeats && c->more;
	if (c->same) {
		c->more--;
		return SP_READY;
	}
	e = ++c->entry;
	if (e == c->entry_end)
		return SP_END;
	if (e + 6 < c->entry_end)
		sp__runbuf_prefetch(c->buf, e + 6);
	c->rec = sp__runbuf_record(c->buf, e, &c->bytes);
	c->reach = c->buf->used - sp__ref_offset(e->ref);
	c->more = sp__runbuf_number(c->buf, e) - 1;
	c->key = NULL;
	return SP_READY;
}

/* Prefetches the record after this one; the records of other cursors take long enough for that. */
static inline void prefetch_next(const struct sp__cursor *c)
{
	__builtin_prefetch(c->at + 64);
	__builtin_prefetch(c->at + 128);
	__builtin_prefetch(c->at + c->bytes + 64);
}

/* Finds the key within the record. */
static inline void slice_key(struct sp__cursor *c, const struct sp_keyset *keys, size_t bytes)
{
	const struct sp__keyset *ks = sp__ks(keys);
	const char *key = c->rec;
	size_t n = bytes;

	if (!ks->whole)
		sp__key_slice(keys, c->rec, bytes, &key, &n);
	c->key = (const unsigned char *)key;
	c->key_bytes = n;
	c->prefix = sp__key_prefix_near(key, n, c->reach - (size_t)(key - c->rec)) ^
		    (ks->descending ? ~UINT64_C(0) : 0);
}

/* Finds the current record's key, in the form of the key set. */
static inline int find_key(struct sp__cursor *c, const struct sp__cursor_env *env)
{
	const struct sp__keyset *ks = sp__ks(env->keys);
	size_t bytes = c->bytes - sp__rec_term(&ks->format);
	struct sp__keybuf *kb;
	int rc;

	if (c->feed.read)
		sp__tally_add(c->feed.read, c->rec, c->bytes);
	if (env->keyless || c->same) /* same: the key is known */
		return SP_READY;
	if (ks->form == SP__KEY_INPLACE) {
		slice_key(c, env->keys, bytes);
		return SP_READY;
	}
	kb = &c->keybuf[c->which ^= 1];
	kb->reach = c->reach;
	kb->json = env->json;
	rc = sp__key_encode(env->keys, c->rec, bytes, kb);
	if (rc < 0)
		return rc;
	c->key = rc ? NULL : kb->data;
	c->key_bytes = rc ? 0 : kb->bytes;
	c->prefix = rc ? 0 : sp__key_prefix_near(c->key, c->key_bytes, kb->capacity);
	return SP_READY;
}

/* Reads a record's number, then finds its end.  NULL: it does not end in this span. */
static inline const char *find_end(struct sp__cursor *c, const struct sp_recfmt *f,
				   const char *data, size_t bytes)
{
	uint64_t number;

	if (__builtin_expect(!c->feed.counted, 1))
		return sp__rec_end(f, data, bytes);
	c->head = sp__count_get(data, bytes, &number);
	if (!c->head)
		return NULL;
	c->more = number - 1;
	return sp__rec_end(f, data + c->head, bytes - c->head);
}

/* Returns the length of a number that is partly in the carry, partly in the new span. */
static size_t carried_head(const struct sp__cursor *c)
{
	const char *at = c->at;
	size_t n = 0;
	char last = 0;

	if (!c->feed.counted)
		return 0;
	do {
		if (n >= c->carry.bytes && at == c->end)
			return n + 1;
		last = n < c->carry.bytes ? c->carry.data[n] : *at++;
		n++;
	} while (last & SP__COUNT_MORE);
	return n;
}

/* Takes the record in the carry, which is complete. */
static int take_carried(struct sp__cursor *c, const struct sp__cursor_env *env)
{
	uint64_t number = 1;

	c->partial = false;
	c->head = c->feed.counted ? sp__count_get(c->carry.data, c->carry.bytes, &number) : 0;
	c->more = number - 1;
	c->rec = c->carry.data + c->head;
	c->bytes = c->reach = c->carry.bytes - c->head;
	return find_key(c, env);
}

/*
 * Appends the rest of the record in the carry from the new span.  *whole: it ends there.  For CSV
 * the whole span is appended and searched together with the carry.
 */
static int take_tail(struct sp__cursor *c, const struct sp__cursor_env *env, bool *whole)
{
	const struct sp_recfmt *f = &sp__ks(env->keys)->format;
	size_t have = (size_t)(c->end - c->at), part = have, before = c->carry.bytes;
	size_t head = carried_head(c), want = head + f->fixed_bytes;
	const char *end;

	*whole = false;
	if (f->kind == SP_REC_FIXED) {
		if (part > want - before)
			part = want - before;
		*whole = before + part == want;
	} else if (f->kind == SP_REC_LINE) {
		end = memchr(c->at, f->eol, have);
		if (end)
			part = (size_t)(end + 1 - c->at);
		*whole = end != NULL;
	}
	if (sp__bytes_append(&c->carry, c->at, part, env->budget) < 0)
		return -ENOMEM;
	if (f->kind == SP_REC_CSV && c->carry.bytes > head) {
		end = sp__rec_end_csv(c->carry.data + head, c->carry.bytes - head, f->separator,
				      &c->scanned);
		if (end) {
			part = (size_t)(end - c->carry.data) - before;
			c->carry.bytes = before + part;
			*whole = true;
		}
	}
	c->at += part;
	return 0;
}

/* At the end of the feed, the bytes in the carry are the last record. */
static int last_record(struct sp__cursor *c, const struct sp__cursor_env *env)
{
	const struct sp_recfmt *f = &sp__ks(env->keys)->format;
	char eol = f->kind == SP_REC_LINE ? f->eol : '\n';

	c->partial = false;
	if (!c->carry.bytes)
		return SP_END;
	if (f->kind == SP_REC_FIXED)
		return sp__errf(env->err, SP_EFORMAT, "read", c->feed.name, -1,
				"length is not a multiple of the record size %zu", f->fixed_bytes);
	if (sp__bytes_append(&c->carry, &eol, 1, env->budget) < 0)
		return -ENOMEM;
	if (!sp__rec_end(f, c->carry.data, c->carry.bytes))
		return sp__rec_unclosed(f, c->carry.data, c->carry.bytes - 1, c->feed.name,
					c->newlines, env->err);
	c->rec = c->carry.data;
	c->bytes = c->reach = c->carry.bytes;
	return find_key(c, env);
}

static int next_span(struct sp__cursor *c, const struct sp__cursor_env *env, bool wait)
{
	const char *data;
	size_t bytes;
	int rc;

	if (c->holding && c->feed.release) {
		c->holding = false;
		rc = c->feed.release(c->feed.ctx, c->feed.index);
		if (rc < 0)
			return rc;
	}
	rc = c->feed.get(c->feed.ctx, c->feed.index, wait, &data, &bytes);
	if (rc == SP_READY) {
		c->at = data;
		c->end = data + bytes;
		c->holding = true;
		if (c->feed.name && sp__ks(env->keys)->format.kind == SP_REC_CSV)
			c->newlines += sp__count_lines(data, bytes);
	}
	return rc;
}

static int save(struct sp__cursor *c, const struct sp__cursor_env *env)
{
	ptrdiff_t key_at = env->keyless ? 0 : (const char *)c->prev_key - c->rec;

	if (c->rec == c->carry.data) {
		struct sp__bytes t = *env->saved;

		*env->saved = c->carry;
		c->carry = t;
	} else if (sp__bytes_set(env->saved, c->rec, c->bytes, env->budget) < 0) {
		return -ENOMEM;
	}
	if (!env->keyless && sp__ks(env->keys)->form == SP__KEY_INPLACE)
		c->prev_key = (const unsigned char *)env->saved->data + key_at;
	return 0;
}

/* Moves to the next span if no whole record is left. */
static int cross(struct sp__cursor *c, const struct sp__cursor_env *env, bool wait)
{
	bool whole;
	int rc;

	if (!c->partial) {
		if (c->rec && !c->moved && save(c, env) < 0)
			return -ENOMEM;
		c->moved = true;
		c->partial = true;
		c->scanned = 0;
		if (sp__bytes_set(&c->carry, c->at, (size_t)(c->end - c->at), env->budget) < 0)
			return -ENOMEM;
		c->at = c->end;
	}
	do {
		rc = next_span(c, env, wait);
		if (rc == SP_END)
			return last_record(c, env);
		if (rc != SP_READY)
			return rc;
		if (!c->carry.bytes)
			break;
		rc = take_tail(c, env, &whole);
		if (rc < 0)
			return rc;
		if (whole)
			return take_carried(c, env);
	} while (true);
	c->partial = false;
	return LOOK_AGAIN;
}

/* True if the record that follows in the span is identical to the current one. */
static inline bool repeats(const struct sp__cursor *c, const char *rec, size_t bytes)
{
	return c->rec && !c->moved && c->bytes == bytes && sp__same_bytes(c->rec, rec, bytes);
}

static inline void take_record(struct sp__cursor *c, const struct sp__cursor_env *env,
			       const char *next)
{
	const char *rec = c->at + c->head;
	size_t bytes = (size_t)(next - rec);

	c->same = sp__ks(env->keys)->form != SP__KEY_INPLACE && repeats(c, rec, bytes);
	c->rec = rec;
	c->bytes = bytes;
	c->reach = (size_t)(c->end - rec);
	c->at = next;
}

int sp__cursor_next(struct sp__cursor *c, const struct sp__cursor_env *env, bool wait)
{
	const struct sp_recfmt *f = &sp__ks(env->keys)->format;
	const char *next;
	int rc;

	if (c->buf)
		return next_in_memory(c);
	if (!c->partial) {
		c->moved = false;
		c->same = false;
		c->prev_key = c->key;
		c->prev_key_bytes = c->key_bytes;
		c->prev_prefix = c->prefix;
	}
	for (;;) {
		if (!c->partial && c->at < c->end) {
			next = find_end(c, f, c->at, (size_t)(c->end - c->at));
			if (next) {
				take_record(c, env, next);
				prefetch_next(c);
				return find_key(c, env);
			}
		}
		rc = cross(c, env, wait);
		if (rc != LOOK_AGAIN)
			return rc;
	}
}
