/* SPDX-License-Identifier: MIT */
/*
 * Checks batches of pages (leafcheck.h).
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/hash.h"
#include "index/leafcheck.h"
#include "index/leafrange.h"
#include "rec/key.h"

int sp__leafcheck_init(struct sp__leafcheck *b, uint32_t page_bytes)
{
	*b = (struct sp__leafcheck){ .page_bytes = page_bytes,
				     .pages = malloc(SP__LEAFCHECK_BYTES),
				     .list = calloc(SP__LEAFCHECK_BYTES / page_bytes,
						    sizeof(*b->list)) };
	return b->pages && b->list ? 0 : -ENOMEM;
}

void sp__leafcheck_free(struct sp__leafcheck *b)
{
	sp__task_join(&b->task);
	sp__bytes_release(&b->first, NULL);
	sp__bytes_release(&b->last, NULL);
	sp__bytes_release(&b->key, NULL);
	free(b->pages);
	free(b->list);
	*b = (struct sp__leafcheck){ 0 };
}

uint64_t sp__leafcheck_sum(const void *key, size_t bytes, const struct sp__keymatch *match)
{
	uint64_t parts[3] = { sp__checksum(key, bytes), match->offset, match->bytes };

	return sp__checksum(parts, sizeof(parts));
}

uint64_t sp__leafcheck_separator(const struct sp__bytes *key, size_t bytes, bool repeated)
{
	return sp__checksum(key->data, bytes) + repeated;
}

int sp__leafcheck_key(const struct sp__node *n, const struct sp__nodeentry *e,
		      struct sp__bytes *key)
{
	return sp__bytes_set(key, (const char *)n->prefix, n->prefix_bytes, NULL)
		       ?: sp__bytes_append(key, (const char *)e->rest, e->rest_bytes, NULL);
}

/* Sets the separator before the leaf that begins with b->key, as leafrange.c chooses it. */
static void set_separator(struct sp__leafcheck *b, struct sp__leafcheck_page *p, bool repeated)
{
	p->separator =
		sp__leafcheck_separator(&b->key, sp__separator_bytes(&b->last, &b->key), repeated);
}

/* Returns NULL, or the reason why the leaf is bad; *rc: -ENOMEM. */
static const char *check_leaf(struct sp__leafcheck *b, struct sp__leafcheck_page *p, int *rc)
{
	for (unsigned i = 0; i < p->node.count; i++) {
		struct sp__nodeentry e = sp__node_entry(&p->node, i);
		struct sp__keymatch match = { .offset = e.a, .bytes = e.b };
		struct sp__bytes swap = b->last;
		int order;

		*rc = sp__leafcheck_key(&p->node, &e, &b->key);
		if (!*rc && !b->entries)
			*rc = sp__bytes_set(&b->first, b->key.data, b->key.bytes, NULL);
		if (*rc)
			return NULL;
		order = !b->entries ? -1
				    : sp__order_bytes(b->last.data, b->last.bytes, b->key.data,
						      b->key.bytes);
		if (order > 0 || (!order && e.a <= b->last_offset))
			return "its keys are not in order";
		if (!b->entries)
			b->first_offset = e.a;
		else if (!i)
			set_separator(b, p, !order);
		b->keys += order < 0;
		b->entries++;
		b->sum += sp__leafcheck_sum(b->key.data, b->key.bytes, &match);
		b->last_offset = e.a;
		b->last = b->key;
		b->key = swap;
	}
	return NULL;
}

void sp__leafcheck_run(void *arg)
{
	struct sp__leafcheck *b = arg;
	int rc = 0;

	b->reason = NULL;
	b->first_leaf = b->n;
	b->entries = b->keys = b->sum = 0;
	b->last.bytes = 0;
	for (b->good = 0; b->good < b->n; b->good++) {
		struct sp__leafcheck_page *p = &b->list[b->good];

		b->reason = sp__node_open(&p->node, b->pages + b->good * b->page_bytes,
					  b->page_bytes, b->number + b->good);
		if (b->reason)
			return;
		if (p->node.level)
			continue;
		p->separator = sp__leafcheck_separator(&b->key, 0, false);
		if (b->first_leaf == b->n)
			b->first_leaf = b->good;
		b->reason = check_leaf(b, p, &rc);
		if (b->reason || rc)
			return;
	}
}
