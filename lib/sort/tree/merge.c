/* SPDX-License-Identifier: MIT */
/*
 * Merges cursors by a loser tree with offset-value codes (merge.h).
 *
 * The tree is an array: node 1 is the root, the children of node i are 2 i and 2 i + 1, and leaf i
 * of n is node n + i.  Node 0 has the winner.
 */
#include <limits.h>
#include <stdlib.h>
#include "base/array.h"
#include "base/err.h"
#include "sort/records/ovc.h"
#include "sort/tree/merge.h"

/* The code of every live record if codes are not in use, so that each ties with every other. */
#define UNCODED 1u
#define NOBODY UINT_MAX

struct sp__match {
	uint64_t code;
	unsigned cursor;
};

size_t sp__merge_memory(unsigned n)
{
	return n * (sizeof(struct sp__cursor) + sizeof(struct sp__match));
}

int sp__merge_init(struct sp__merge *m, const struct sp_keyset *keys, unsigned n,
		   struct sp__budget *budget, struct sp_errinfo *err)
{
	*m = (struct sp__merge){ .keys = keys, .n = n, .budget = budget, .err = err };
	m->coded = sp__ks(keys)->form != SP__KEY_COLLATED;
	m->cursors = calloc(n ? n : 1, sizeof(*m->cursors));
	m->tree = calloc(n ? n : 1, sizeof(*m->tree));
	if (!m->cursors || !m->tree) {
		sp__merge_release(m);
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	}
	return 0;
}

void sp__merge_release(struct sp__merge *m)
{
	for (unsigned i = 0; m->cursors && i < m->n; i++)
		sp__cursor_release(&m->cursors[i], m->budget);
	sp__bytes_release(&m->saved, m->budget);
	sp__json_reader_release(&m->json);
	free(m->cursors);
	free(m->tree);
	m->cursors = NULL;
	m->tree = NULL;
}

/* Returns the key; a memory cursor computes it when it is first needed. */
static inline const unsigned char *key_of(struct sp__cursor *c, size_t *bytes)
{
	if (c->buf && !c->key)
		c->key = sp__runbuf_key(c->buf, c->entry, &c->key_bytes);
	*bytes = c->key_bytes;
	return c->key;
}

static inline size_t content(const struct sp__merge *m, size_t bytes)
{
	return bytes - sp__rec_term(&sp__ks(m->keys)->format);
}

/* Decides which record is first if keys are equal, or if there are no codes. */
static bool decide(const struct sp__merge *m, const struct sp__match *a, const struct sp__match *b,
		   bool keys_equal)
{
	const struct sp__cursor *x = &m->cursors[a->cursor], *y = &m->cursors[b->cursor];
	int c;

	if (x->bytes == y->bytes && sp__same_bytes(x->rec, y->rec, x->bytes))
		return a->cursor < b->cursor;
	c = keys_equal ? sp__key_last_resort(m->keys, x->rec, content(m, x->bytes), y->rec,
					     content(m, y->bytes))
		       : sp_keyset_compare(m->keys, x->rec, content(m, x->bytes), y->rec,
					   content(m, y->bytes));

	return c ? c < 0 : a->cursor < b->cursor;
}

static bool tie_uncoded(struct sp__merge *m, struct sp__match *a, struct sp__match *b)
{
	const struct sp__keyset *ks = sp__ks(m->keys);
	const unsigned char *ka, *kb;
	size_t an, bn;
	int c;

	ka = key_of(&m->cursors[a->cursor], &an);
	kb = key_of(&m->cursors[b->cursor], &bn);
	if (!ka || !kb)
		return decide(m, a, b, false);
	c = sp__order_bytes(ka, an, kb, bn);
	if (c)
		return ks->descending ? c > 0 : c < 0;
	return decide(m, a, b, !sp__key_is_cut(ks, an));
}

/* Truncated keys are equal: the rest, which has no code, decides. */
static bool tie_cut(const struct sp__merge *m, struct sp__match *a, struct sp__match *b)
{
	const struct sp__cursor *x = &m->cursors[a->cursor], *y = &m->cursors[b->cursor];
	int c = sp__key_compare(m->keys, x->rec, content(m, x->bytes), y->rec,
				content(m, y->bytes));
	bool first = c ? c < 0 : decide(m, a, b, true);

	*(first ? &b->code : &a->code) = c ? SP__OVC_BEYOND : 0;
	return first;
}

/* Equal codes: returns true if a is first, and codes the loser after the winner. */
static bool __attribute__((noinline))
tie(struct sp__merge *m, struct sp__match *a, struct sp__match *b)
{
	const struct sp__keyset *ks = sp__ks(m->keys);
	const unsigned char *ka, *kb;
	size_t an, bn, at;
	bool first;
	int c;

	if (a->code == SP__OVC_ENDED)
		return a->cursor < b->cursor;
	if (!m->coded)
		return tie_uncoded(m, a, b);
	if (!a->code)
		return decide(m, a, b, true);
	ka = key_of(&m->cursors[a->cursor], &an);
	kb = key_of(&m->cursors[b->cursor], &bn);
	at = sp__mismatch(ka, an, kb, bn, sp__ovc_offset(a->code));
	c = sp__order_at(ka, an, kb, bn, at);
	if (!c && sp__key_is_cut(ks, an))
		return tie_cut(m, a, b);
	if (!c) {
		first = decide(m, a, b, true);
		*(first ? &b->code : &a->code) = 0;
		return first;
	}
	first = ks->descending ? c > 0 : c < 0;
	at /= SP__OVC_UNIT_BYTES;
	if (first)
		b->code = sp__ovc_make(kb, bn, at, ks->descending);
	else
		a->code = sp__ovc_make(ka, an, at, ks->descending);
	return first;
}

static bool wins(struct sp__merge *m, struct sp__match *a, struct sp__match *b)
{
	return a->code != b->code ? a->code < b->code : tie(m, a, b);
}

/*
 * Plays the matches from a leaf up to the root.  This is the hottest loop of a merge.  The winner
 * is unpredictable, so loser and winner are exchanged under a mask, which compilers do not turn
 * into a branch.
 */
static inline void replay(struct sp__merge *m, struct sp__match leaf)
{
	uint64_t code = leaf.code;
	unsigned cursor = leaf.cursor;

	for (unsigned at = (cursor + m->n) / 2; at > 0; at /= 2) {
		struct sp__match *node = &m->tree[at];
		uint64_t lost = -(uint64_t)(node->code < code), codes;
		unsigned cursors;

		if (__builtin_expect(node->code == code, 0)) {
			struct sp__match now = { code, cursor };

			lost = -(uint64_t)tie(m, node, &now);
			code = now.code;
		}
		codes = (node->code ^ code) & lost;
		cursors = (node->cursor ^ cursor) & (unsigned)lost;
		/* The loser stays in the node. */
		node->code ^= codes;
		node->cursor ^= cursors;
		code ^= codes;
		cursor ^= cursors;
	}
	m->tree[0] = (struct sp__match){ code, cursor };
}

/* Plays all matches in the subtree below a node, and returns its winner. */
static struct sp__match play(struct sp__merge *m, const struct sp__match *leaves, unsigned node)
{
	struct sp__match a, b;

	if (node >= m->n)
		return leaves[node - m->n];
	a = play(m, leaves, 2 * node);
	b = play(m, leaves, 2 * node + 1);
	if (wins(m, &a, &b)) {
		m->tree[node] = b;
		return a;
	}
	m->tree[node] = a;
	return b;
}

/* Returns the code of a first record, after the empty key. */
static uint64_t first_code(struct sp__merge *m, struct sp__cursor *c)
{
	const unsigned char *key;
	size_t bytes;

	if (!m->coded)
		return UNCODED;
	key = key_of(c, &bytes);
	return sp__ovc_make(key, bytes, 0, sp__ks(m->keys)->descending);
}

static int build(struct sp__merge *m)
{
	struct sp__match *leaves = malloc(m->n * sizeof(*leaves));

	if (!leaves)
		return -ENOMEM;
	for (unsigned i = 0; i < m->n; i++) {
		struct sp__cursor *c = &m->cursors[i];

		leaves[i] = (struct sp__match){ c->rec ? first_code(m, c) : SP__OVC_ENDED, i };
	}
	m->tree[0] = m->n > 1 ? play(m, leaves, 1) : leaves[0];
	free(leaves);
	return 0;
}

/* True if a single cursor is passed through. */
static bool alone(const struct sp__merge *m)
{
	return m->n == 1 && m->plain;
}

static struct sp__cursor_env env_of(struct sp__merge *m)
{
	return (struct sp__cursor_env){ m->keys, m->budget, &m->saved, m->err, alone(m), &m->json };
}

static int start(struct sp__merge *m, bool wait)
{
	struct sp__cursor_env env = env_of(m);

	for (; m->starting < m->n; m->starting++) {
		int rc = sp__cursor_next(&m->cursors[m->starting], &env, wait);

		if (rc != SP_READY && rc != SP_END)
			return rc;
		if (rc == SP_END)
			m->cursors[m->starting].rec = NULL;
	}
	m->started = true;
	m->passed = NOBODY;
	if (alone(m))
		m->coded = false;
	return m->n ? build(m) : 0;
}

/* The previous record is the previous winner, since only one cursor moves at a time. */
static uint64_t code_after_cut(const struct sp__merge *m, const struct sp__cursor *c)
{
	int order = sp__key_compare(m->keys, m->prev, content(m, m->prev_bytes), c->rec,
				    content(m, c->bytes));

	return order > 0 ? SP__OVC_ENDED : order ? SP__OVC_BEYOND : 0;
}

/* The winner's cursor has a new record: codes it after the previous one. */
static uint64_t code_after(struct sp__merge *m, struct sp__cursor *c)
{
	bool down = sp__ks(m->keys)->descending;
	uint64_t prefix = c->buf ? c->entry[0].prefix : c->prefix;
	uint64_t prev_prefix = c->buf ? c->entry[-1].prefix : c->prev_prefix;
	const unsigned char *key, *before = c->prev_key;
	size_t bytes, before_bytes = c->prev_key_bytes, at;
	int order;

	if (c->same)
		return 0;
	if ((prefix ^ prev_prefix) >> (64 - SP__OVC_VALUE_BITS))
		return prefix < prev_prefix ? SP__OVC_ENDED : sp__ovc_of_prefix(prefix);
	if (!c->buf && c->key_bytes >= SP__OVC_UNIT_BYTES &&
	    c->prev_key_bytes >= SP__OVC_UNIT_BYTES && prefix != prev_prefix)
		return prefix < prev_prefix ? SP__OVC_ENDED
					    : sp__ovc_make(c->key, c->key_bytes, 1, down);
	if (c->buf)
		before = sp__runbuf_key(c->buf, c->entry - 1, &before_bytes);
	key = key_of(c, &bytes);
	at = sp__mismatch(before, before_bytes, key, bytes, 0);
	order = sp__order_at(before, before_bytes, key, bytes, at);
	if (!order && sp__key_is_cut(sp__ks(m->keys), bytes))
		return code_after_cut(m, c);
	if (!order)
		return 0;
	if ((order > 0) != down)
		return SP__OVC_ENDED;
	return sp__ovc_make(key, bytes, at / SP__OVC_UNIT_BYTES, down);
}

/*
 * True if the winner's cursor continues with an equal key, and so wins again: all records that were
 * equal to its last one lost by their position, or by a last resort to which this record is the
 * same.
 */
static bool wins_again(const struct sp__merge *m, const struct sp__cursor *c)
{
	return !sp__ks(m->keys)->last_resort || c->same ||
	       (m->prev_bytes == c->bytes && !memcmp(m->prev, c->rec, c->bytes));
}

/* Moves the cursor of the record returned last, and plays its matches. */
static int advance(struct sp__merge *m, bool wait)
{
	struct sp__cursor_env env = env_of(m);
	struct sp__match now = { SP__OVC_ENDED, m->tree[0].cursor };
	struct sp__cursor *c = &m->cursors[now.cursor];
	int rc = sp__cursor_next(c, &env, wait);

	if (rc != SP_READY && rc != SP_END)
		return rc;
	m->prev = c->moved ? m->saved.data : m->rec;
	m->prev_bytes = m->bytes;
	m->passed = m->tree[0].cursor;
	if (rc == SP_END) {
		c->rec = NULL;
	} else if (!m->coded) {
		now.code = UNCODED;
	} else {
		now.code = code_after(m, c);
		/* The input is not sorted: continues without codes. */
		m->coded = now.code != SP__OVC_ENDED;
		if (!m->coded)
			return build(m);
	}
	if (m->n > 1 && (now.code || !wins_again(m, c)))
		replay(m, now);
	else
		m->tree[0] = now;
	return 0;
}

/* Moves the live cursors to the front, in order, and returns their number. */
static unsigned gather(struct sp__merge *m)
{
	unsigned live = 0, starting = m->starting;

	for (unsigned i = 0; i < m->n; i++) {
		if (i < starting && !m->cursors[i].rec) {
			sp__cursor_release(&m->cursors[i], m->budget);
			m->starting--;
			continue;
		}
		if (i != live)
			m->cursors[live] = m->cursors[i];
		live++;
	}
	return live;
}

int sp__merge_more(struct sp__merge *m, unsigned n)
{
	unsigned live, total;
	int rc = 0;

	if (m->started && m->n && m->tree[0].code != SP__OVC_ENDED)
		rc = advance(m, true);
	if (rc)
		return rc;
	m->n = live = gather(m);
	m->started = false;
	total = live + n ? live + n : 1;
	if (!SP__ARRAY_RESIZE(m->cursors, total) || !SP__ARRAY_RESIZE(m->tree, total))
		return -ENOMEM;
	memset(m->cursors + live, 0, n * sizeof(*m->cursors));
	m->n = live + n;
	return 0;
}

/* Returns the key of the record that the cursor passed last. */
static const unsigned char *passed_key(const struct sp__cursor *c, size_t *bytes)
{
	if (c->buf)
		return sp__runbuf_key(c->buf, c->entry - 1, bytes);
	*bytes = c->prev_key_bytes;
	return c->prev_key;
}

static bool equals_prev(struct sp__merge *m)
{
	const unsigned char *key, *before;
	size_t bytes, before_bytes;

	if (m->coded)
		return !m->tree[0].code;
	if (m->passed == NOBODY)
		return false;
	key = key_of(&m->cursors[m->tree[0].cursor], &bytes);
	before = passed_key(&m->cursors[m->passed], &before_bytes);
	if (key && before && (bytes != before_bytes || memcmp(key, before, bytes)))
		return false;
	if (key && before && !sp__key_is_cut(sp__ks(m->keys), bytes))
		return true;
	return !sp__key_compare(m->keys, m->prev, content(m, m->prev_bytes), m->rec,
				content(m, m->bytes));
}

const struct sp__cursor *sp__merge_current(const struct sp__merge *m)
{
	return &m->cursors[m->tree[0].cursor];
}

int sp__merge_next(struct sp__merge *m, bool wait)
{
	const struct sp__cursor *c;
	int rc = 0;

	if (!m->started)
		rc = start(m, wait);
	else if (m->n && m->tree[0].code != SP__OVC_ENDED)
		rc = advance(m, wait);
	if (rc)
		return rc;
	if (!m->n || m->tree[0].code == SP__OVC_ENDED)
		return SP_END;
	c = &m->cursors[m->tree[0].cursor];
	m->rec = c->rec;
	m->bytes = c->bytes;
	m->reach = c->reach;
	m->equal = !m->plain && m->prev && equals_prev(m);
	return SP_READY;
}
