/* SPDX-License-Identifier: MIT */
/*
 * Cutting sorted runs: the parts, merged each by itself, are the result of the sort; no key is in
 * two of them; and they are as even as pages and groups of equal keys allow.
 */
#define TAP_THREADS

#include <spindle/sort.h>
#include "keysets.h"
#include "sort/merge/cut.h"
#include "sort/state.h"
#include "tap.h"

#define PAGE 4096u
#define PARTS_MAX 8

static const char *const tmp[] = { "/tmp" };
static struct sp__rng rng = { 5 };

enum lengths { SHORT, SOME_LONG, LENGTHS };
static const char *const lengths[] = { "short", "some longer than a page" };

struct text {
	char *data;
	size_t bytes;
	enum lengths lengths;
	bool one_key, alike;
};

/* Lines of a shape, now and then one of up to three pages. */
static struct text make_text(enum line_shape shape, enum lengths l, unsigned n)
{
	struct text t = { malloc((size_t)n * 1400 + n / 40 * 3 * PAGE + PAGE), 0, l,
			  shape == LINE_SHAPES, shape == LINE_PREFIX };

	if (!t.data)
		abort();
	for (unsigned i = 0; i < n; i++) {
		size_t bytes = 0, more = sp__rng_below(&rng, 3 * PAGE);

		if (t.one_key)
			bytes = (size_t)sprintf(t.data + t.bytes, "7 same\n");
		else
			bytes = line_make(t.data + t.bytes, shape, &rng, i);
		if (l == SOME_LONG && i % 40 == 7) {
			memset(t.data + t.bytes + bytes - 1, 'a' + (int)(i % 3), more);
			t.data[t.bytes + bytes - 1 + more] = '\n';
			bytes += more;
		}
		t.bytes += bytes;
	}
	return t;
}

static struct sp_sort *formed(const struct sp_sort_opts *o, const struct text *t,
			      struct sp_errinfo *err)
{
	struct sp_batch b = { t->data, t->bytes };
	struct sp_sort *s;

	if (sp_sort_new(&s, o, err) || sp__sort_put_all(s, &b) != SP_READY || sp_sort_finish(s))
		abort();
	return s;
}

/* The result of the sort as it is; malloc()ed. */
static char *whole(const struct sp_sort_opts *o, const struct text *t)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_sort *s = formed(o, t, &err);
	char *result = malloc(t->bytes), *at = result;
	struct sp_batch b;

	while (sp__sort_get_next(s, &b) == SP_READY) {
		memcpy(at, b.data, b.bytes);
		at += b.bytes;
	}
	if (at != result + t->bytes)
		abort();
	sp_sort_free(s);
	return result;
}

struct check {
	struct sp_sort *sort;
	struct sp__cuts cuts;
	uint64_t *from, *to; /* positions of the cuts around a part */
	uint64_t bytes[PARTS_MAX];
	struct sp__spill *reader;
	struct sp__freemem where;
	char *want;
	size_t at, last, last_bytes; /* offsets of what was compared, and of the record before */
	uint64_t group, max_group;   /* bytes of records with one key */
	bool parted;		     /* a key is in two parts */
	unsigned wanted;	     /* number of parts */
};

/* The next record of part `part`; compares it with the result wanted. */
static bool take(struct check *c, const struct sp__merge *m, bool first)
{
	const struct sp_keyset *ks = c->sort->shared.opts.keys;
	bool same = !memcmp(c->want + c->at, m->rec, m->bytes), equal;

	equal = c->at && !(sp__ks(ks)->exact ? sp_keyset_compare : sp__key_compare)(
				 ks, c->want + c->last, c->last_bytes - 1, m->rec, m->bytes - 1);
	c->parted |= first && equal;
	c->group = equal ? c->group + m->bytes : m->bytes;
	if (c->group > c->max_group)
		c->max_group = c->group;
	c->last = c->at;
	c->last_bytes = m->bytes;
	c->at += m->bytes;
	return same;
}

static bool part_is_right(struct check *c, unsigned part)
{
	const struct sp__cuts *k = &c->cuts;
	struct sp__run_span *spans = calloc(k->n + 1, sizeof(*spans));
	struct sp__step_inputs in = { 0 };
	size_t begin = c->at;
	struct sp__merge m;
	bool right = true, first = true;
	int rc = sp__merge_init(&m, c->sort->shared.opts.keys, k->n + k->nbufs,
				&c->sort->shared.env.budget, NULL);

	if (!rc)
		rc = sp__cuts_find(k, part, c->reader, c->where, c->from, NULL);
	if (!rc)
		rc = sp__cuts_find(k, part + 1, c->reader, c->where, c->to, NULL);
	for (unsigned j = 0; !rc && j < k->n + k->nbufs; j++) {
		if (j < k->n)
			spans[j] = (struct sp__run_span){ c->from[j], c->to[j] };
		else
			sp__cursor_part(&m.cursors[j], k->bufs[j - k->n], c->from[j], c->to[j]);
	}
	if (!rc && k->n)
		rc = sp__step_open(&c->sort->spilled, c->reader, &in, k->ids, spans, k->n, c->where,
				   m.cursors);
	for (; rc >= 0 && right && (rc = sp__merge_next(&m, true)) == SP_READY; first = false)
		right = take(c, &m, first);
	sp__step_close(&c->sort->spilled, &in);
	sp__merge_release(&m);
	free(spans);
	c->bytes[part] = c->at - begin;
	return right && rc == SP_END && c->bytes[part] == sp__cuts_bytes(k, c->from, c->to);
}

/*
 * True if no part has more than three times its share, and a page of each run and the largest
 * records or groups in addition.
 */
static bool even(const struct check *c, const struct text *t)
{
	uint64_t slack = (uint64_t)(c->cuts.n + c->cuts.nbufs) * PAGE + 4 * c->max_group +
			 (t->lengths == SOME_LONG ? 4 * 3 * PAGE * (c->cuts.n + c->cuts.nbufs) : 0);

	/* Longer beginnings than last keys have are one group. */
	if (t->alike || t->one_key)
		return true;
	for (unsigned i = 0; i < c->cuts.parts; i++)
		if (c->bytes[i] > 3 * t->bytes / c->wanted + slack)
			return false;
	return true;
}

/* 1: right, 0: wrong, -1: is not cut. */
static int cut(const struct sp_sort_opts *o, const struct text *t, unsigned parts)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct check c = { .sort = formed(o, t, &err), .want = whole(o, t), .wanted = parts };
	unsigned n;
	int rc = sp__sort_reduce(c.sort), right = -1;

	n = c.sort->merging.runs_left;
	c.where = sp__free_region(&c.sort->forming, true);
	if (rc < 0 || (n && sp__spill_reader_open(&c.reader, c.sort->spilled.store, &err)))
		abort();
	if (sp__cuts_possible(&c.sort->spilled, c.sort->spilled.ids, n)) {
		rc = sp__cuts_choose(&c.cuts, &c.sort->forming, c.sort->spilled.ids, n, parts);
		c.from = calloc(2 * (n + c.cuts.nbufs) + 1, sizeof(*c.from));
		c.to = c.from + n + c.cuts.nbufs;
		right = rc == 0;
		for (unsigned i = 0; right && i < c.cuts.parts; i++)
			right = part_is_right(&c, i);
		right = right && c.at == t->bytes && !c.parted && c.cuts.parts <= parts &&
			even(&c, t);
		if (right && c.cuts.parts == 1)
			right = -1;
		free(c.from);
		sp__cuts_release(&c.cuts);
	}
	if (c.reader)
		sp__spill_reader_close(c.reader, c.sort->spilled.store);
	free(c.want);
	sp_sort_free(c.sort);
	return right;
}

static void try_order(const struct order *order, enum sp_spill_compression codec)
{
	struct sp_sort_opts o = SP_SORT_OPTS_INIT;
	struct sp_keyset *ks = order_open(order);
	int wrong = 0, none = 0, right = 0;

	if (!ks) {
		skip(order->name, "needs its locale in build/locale");
		return;
	}
	o.format = sp__ks(ks)->format;
	o.keys = ks;
	o.run = (struct sp_run_opts)SP_RUN_OPTS_INIT;
	o.run.tmpdirs = tmp;
	o.run.ntmpdirs = 1;
	o.run.compression = codec;
	o.run.page_bytes = PAGE;
	o.readahead = SP_READ_CLUSTER;
	for (unsigned shape = 0; shape <= LINE_SHAPES; shape++)
		for (unsigned l = 0; l < LENGTHS; l++) {
			unsigned parts = 2 + (unsigned)sp__rng_below(&rng, PARTS_MAX - 1);
			struct text t =
				make_text(shape, l, 200 + (unsigned)sp__rng_below(&rng, 1600));
			int rc;

			o.run.memory_bytes = sp__rng_below(&rng, 4) ? 512 << 10 : 4 << 20;
			o.run_bytes = o.run.memory_bytes > 1 << 20
					      ? 0
					      : 16 << 10 << sp__rng_below(&rng, 3);
			o.run.parallel = 1 + (unsigned)sp__rng_below(&rng, 2);
			rc = cut(&o, &t, parts);
			if (!rc)
				printf("# shape %u, %s, %u parts\n", shape, lengths[l], parts);
			wrong += !rc;
			right += rc > 0;
			none += rc < 0;
			free(t.data);
		}
	ok(!wrong && right >= 5, "%s, %s: parts are the sort, and even (%d of %d cut)", order->name,
	   sp_spill_compression_name(codec), right, right + none);
	sp_keyset_free(ks);
}

int main(void)
{
	locales_here();
	for (size_t i = 0; i < ORDERS; i++) {
		try_order(&orders[i], SP_SPILL_RAW);
		if (i % 4 == 0)
			try_order(&orders[i], SP_SPILL_LZ4);
	}
	return done();
}
