/* SPDX-License-Identifier: MIT */
/*
 * Finds the first leaf of a range by a lookup, then takes matches from a stream of nodes.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/err.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "flow/iter.h"
#include "index/nodecache.h"
#include "index/indexfile.h"
#include "index/leafscan.h"

/* A range can end soon after it begins. */
#define FIRST_BYTES ((size_t)64 << 10)

static int until(void *stream, int64_t timeout_ns)
{
	return sp__rstream_wait(((struct sp__nodestream *)stream)->stream, timeout_ns);
}

static int descriptor(void *stream)
{
	return sp__rstream_fd(((struct sp__nodestream *)stream)->stream);
}

int sp__nodestream_open(struct sp__nodestream *s, const struct sp__index *ix,
			struct sp__waits *waits, uint64_t page, bool whole)
{
	static const struct sp__wait_ops ops = { until, descriptor };
	struct sp__rstream_opts o = sp__env_reading(ix->env);

	*s = (struct sp__nodestream){
		.index = ix, .waits = waits, .wait = { .ops = &ops, .source = s }, .page = page
	};
	if (lseek(ix->fd, (off_t)(page * ix->header.page_bytes), SEEK_SET) < 0)
		return sp__err(ix->env->err, -errno, "read", ix->path, -1);
	o.unpack = SP_PACKED_NONE;
	if (ix->header.of_table)
		o.device = ix->env->device;
	o.sim_file = ix->nodes->sim_file;
	o.whole = whole;
	if (!whole) {
		o.depth *= (unsigned)(o.chunk_bytes / sp__min(o.chunk_bytes, FIRST_BYTES));
		o.chunk_bytes = sp__min(o.chunk_bytes, FIRST_BYTES);
	}
	return sp__rstream_open(&s->stream, ix->fd, ix->path, &o, ix->env->err);
}

void sp__nodestream_close(struct sp__nodestream *s)
{
	if (!s->index)
		return;
	sp__waits_withdraw(&s->wait);
	sp__rstream_close(s->stream);
	sp__bytes_release(&s->cut, &s->index->env->budget);
	*s = (struct sp__nodestream){ 0 };
}

void sp__nodestream_note(const struct sp__nodestream *s, struct sp_run_stats *st)
{
	struct sp__io_counters c;

	if (!s->stream)
		return;
	sp__rstream_counters(s->stream, &c);
	sp__env_note_io(st, &c);
}

static int read_span(struct sp__nodestream *s)
{
	int rc = sp__rstream_next(s->stream, &s->span, &s->span_bytes, false);

	if (rc == SP_LATER)
		sp__waits_add(s->waits, &s->wait);
	else
		sp__waits_withdraw(&s->wait);
	if (rc == SP_END)
		return sp__index_page_err(s->index, SP_ECORRUPT, s->page, NULL);
	return rc;
}

/* Returns the next page: in the span, or joined from several spans. */
static int next_page(struct sp__nodestream *s, const char **page)
{
	const struct sp__index *ix = s->index;
	size_t bytes = ix->header.page_bytes, n;
	int rc;

	if (s->cut.bytes == bytes)
		s->cut.bytes = 0;
	while (s->cut.bytes || s->span_bytes < bytes) {
		n = sp__min(s->span_bytes, bytes - s->cut.bytes);
		if (n && sp__bytes_append(&s->cut, s->span, n, &ix->env->budget))
			return sp__err(ix->env->err, -ENOMEM, "read", ix->path, -1);
		s->span += n;
		s->span_bytes -= n;
		*page = s->cut.data;
		if (s->cut.bytes == bytes)
			return SP_READY;
		rc = read_span(s);
		if (rc != SP_READY)
			return rc;
	}
	*page = s->span;
	s->span += bytes;
	s->span_bytes -= bytes;
	return SP_READY;
}

int sp__nodestream_page(struct sp__nodestream *s, const char **page)
{
	int rc = next_page(s, page);

	s->page += rc == SP_READY;
	return rc;
}

/*
 * Returns the next node, valid until the next call; s->page is the page after it.  SP_READY;
 * SP_LATER, with a registered wait; or an error, at the end of the file too.
 */
static int nodestream_next(struct sp__nodestream *s, struct sp__node *node)
{
	const char *page = NULL, *reason;
	int rc = sp__nodestream_page(s, &page);

	if (rc != SP_READY)
		return rc;
	reason = sp__node_open(node, (const uint8_t *)page, s->index->header.page_bytes,
			       s->page - 1);
	if (!reason)
		return SP_READY;
	s->page--;
	return sp__index_page_err(s->index, 0, s->page, reason);
}

struct sp__leafscan {
	struct sp__leafscan_opts opts;
	struct sp__keybuf lo, hi;
	bool has_lo, has_hi;
	struct sp__lookup *lookup; /* NULL: the first leaf is known */
	uint64_t first;		   /* first leaf, then known */
	struct sp__nodestream stream;
	bool begun; /* entries before lo have been skipped */
	struct sp__keymatch *matches;
	uint8_t *key; /* key of an entry; NULL: no sums are wanted */
	size_t charged;
	int status; /* SP_READY, then the end or an error, which is kept */
};

/* Makes the key of a bound.  Returns 0, also without a bound, or an error. */
static int encode(const struct sp__index *ix, const char *text, struct sp__slice key,
		  struct sp__keybuf *buf, bool *bound)
{
	*bound = text || key.p;
	if (text)
		return sp__indexkey_of_text(&ix->key, text, strlen(text), buf, ix->env->err);
	if (!key.n)
		return 0;
	if (sp__keybuf_reserve(buf, key.n))
		return sp__err(ix->env->err, -ENOMEM, "allocate", NULL, -1);
	memcpy(buf->data, key.p, key.n);
	buf->bytes = key.n;
	return 0;
}

int sp__leafscan_open(struct sp__leafscan **scan, const struct sp__leafscan_opts *opts)
{
	const struct sp__index *ix = opts->index;
	struct sp__leafscan *s = calloc(1, sizeof(*s));
	/* Descending needs one node at a time. */
	struct sp__lookup_opts lo = {
		.index = ix, .reads = opts->reads, .waits = opts->waits, .max = 1
	};
	int rc;

	*scan = s;
	if (!s)
		return sp__err(ix->env->err, -ENOMEM, "allocate", NULL, -1);
	s->opts = *opts;
	s->status = SP_READY;
	s->first = ix->header.header_bytes / ix->header.page_bytes;
	s->charged = sp__node_entries_max(ix->header.page_bytes) * sizeof(*s->matches);
	s->matches = malloc(s->charged);
	/* A prefix and the rest of a key are each shorter than a page. */
	if (opts->sums) {
		s->key = malloc(2 * (size_t)ix->header.page_bytes);
		s->charged += 2 * (size_t)ix->header.page_bytes;
	}
	sp__budget_charge(&ix->env->budget, s->charged);
	if (!s->matches || (opts->sums && !s->key))
		return sp__err(ix->env->err, -ENOMEM, "allocate", NULL, -1);
	rc = encode(ix, opts->lo, opts->lo_key, &s->lo, &s->has_lo);
	if (!rc)
		rc = encode(ix, opts->hi, opts->hi_key, &s->hi, &s->has_hi);
	if (rc || !s->has_lo)
		return rc;
	rc = sp__lookup_open(&s->lookup, &lo);
	return rc ? rc : sp__lookup_put(s->lookup, s->lo.data, s->lo.bytes, 0);
}

void sp__leafscan_close(struct sp__leafscan *s)
{
	if (!s)
		return;
	sp__lookup_close(s->lookup);
	sp__nodestream_close(&s->stream);
	sp__budget_credit(&s->opts.index->env->budget, s->charged);
	sp__keybuf_release(&s->lo);
	sp__keybuf_release(&s->hi);
	free(s->matches);
	free(s->key);
	free(s);
}

void sp__leafscan_note(const struct sp__leafscan *s, struct sp_run_stats *st)
{
	sp__nodestream_note(&s->stream, st);
}

/* Finds the first leaf. */
static int descend(struct sp__leafscan *s)
{
	struct sp__found found;
	int rc = sp__lookup_get(s->lookup, &found);

	if (rc != SP_READY)
		return rc;
	s->first = found.leaf;
	sp__lookup_close(s->lookup);
	s->lookup = NULL;
	return SP_READY;
}

/* Returns the sum of the key of an entry, or 0 if sums are not wanted. */
static uint64_t sum_of(const struct sp__leafscan *s, const struct sp__node *n,
		       const struct sp__nodeentry *e)
{
	if (!s->key)
		return 0;
	memcpy(s->key, n->prefix, n->prefix_bytes);
	memcpy(s->key + n->prefix_bytes, e->rest, e->rest_bytes);
	return sp__checksum(s->key, n->prefix_bytes + e->rest_bytes);
}

/* Takes the entries of a leaf that are in the range; detects the end of the range. */
static size_t take(struct sp__leafscan *s, const struct sp__node *n)
{
	unsigned first = 0, last = n->count;

	if (!s->begun && s->has_lo)
		first = sp__node_below(n, s->lo.data, s->lo.bytes, false);
	if (s->has_hi)
		last = sp__node_below(n, s->hi.data, s->hi.bytes, !s->opts.hi_open);
	s->begun = true;
	if (last < n->count || s->stream.page > s->opts.index->header.last_leaf)
		s->status = SP_END;
	for (unsigned i = first; i < last; i++) {
		struct sp__nodeentry e = sp__node_entry(n, i);

		s->matches[i - first] = (struct sp__keymatch){ e.a, e.b, sum_of(s, n, &e) };
	}
	return last > first ? last - first : 0;
}

static int next_matches(struct sp__leafscan *s, size_t *n)
{
	struct sp__node node;

	*n = 0;
	while (!*n && s->status == SP_READY) {
		int rc = nodestream_next(&s->stream, &node);

		if (rc != SP_READY)
			return rc;
		if (!node.level)
			*n = take(s, &node);
		else if (s->stream.page > s->opts.index->header.last_leaf)
			return sp__index_page_err(s->opts.index, 0, s->stream.page - 1,
						  "it is not the last leaf");
	}
	return *n ? SP_READY : SP_END;
}

int sp__leafscan_find(void *scan, const struct sp__keymatch **matches, size_t *n)
{
	struct sp__leafscan *s = scan;
	int rc = s->status;

	if (rc == SP_READY && s->lookup)
		rc = descend(s);
	if (rc == SP_READY && !s->stream.index)
		rc = sp__nodestream_open(&s->stream, s->opts.index, s->opts.waits, s->first, false)
			     ?: SP_READY;
	if (rc == SP_READY)
		rc = next_matches(s, n);
	if (rc < 0)
		s->status = rc;
	*matches = s->matches;
	return rc;
}
