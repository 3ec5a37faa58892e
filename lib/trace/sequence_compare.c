/* SPDX-License-Identifier: MIT */
/*
 * Decides whether one sequence is a legal permutation of another.
 *
 * Algorithm.  Equal requests are paired first: the k-th of a with the k-th of b, by merging the
 * requests of both sorted by volume (its name), offset, length, kind and position.  This is exact:
 * equal writes conflict with each other and have to keep their order, and exchanging equal reads
 * has no effect.
 *
 * Then b is walked in its order.  Two conflicting requests have exchanged their order if and only
 * if a request touches bytes that an earlier one of b, which is later in a, has touched, and one of
 * the two is a write.  So it suffices to know, for each segment of a volume, the last position in a
 * of all reads so far, and of all writes so far.  A request queries the maximum over its range, and
 * then stores its own position there.
 *
 * Segments are delimited by the ends of all requests.  A segment tree over them keeps the maxima.
 *
 * Memory: about 100 bytes per request.  Time: n log n for n requests.
 *
 * Rejected: a table of blocks, whose size depends on the block size.
 */
#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"
#include "trace/sequence.h"

#define NONE SIZE_MAX

/* Maps each request of one sequence to its partner in the other. */
struct match {
	size_t *a_of_b, *b_of_a; /* positions; NONE: none */
	size_t missing;		 /* first request of a that b lacks; NONE: none */
	size_t extra;		 /* first request of b that a lacks */
};

static void match_release(struct match *m)
{
	free(m->a_of_b);
	free(m->b_of_a);
	m->a_of_b = m->b_of_a = NULL;
}

/* A request without its time. place comes last, so that equal requests differ. */
struct key {
	uint64_t offset;
	size_t place;
	uint32_t bytes, volume;
	bool write;
};

struct name {
	const char *name;
	size_t number; /* in b: numbers after those of a */
};

static int by_name(const void *pa, const void *pb)
{
	const struct name *a = pa, *b = pb;
	int order = strcmp(a->name, b->name);

	return order ? order : SP__ORDER(a->number, b->number);
}

/* Numbers the volumes of both sequences together; equal names get the lowest number. */
static uint32_t *number_volumes(const struct sp_sequence *a, const struct sp_sequence *b)
{
	size_t n = a->nvolumes + b->nvolumes;
	struct name *names = malloc((n + 1) * sizeof(*names));
	uint32_t *number = malloc((n + 1) * sizeof(*number)), same = 0;

	for (size_t i = 0; names && i < n; i++) {
		names[i].name =
			i < a->nvolumes ? a->volume[i].name : b->volume[i - a->nvolumes].name;
		names[i].number = i;
	}
	if (names && number) {
		qsort(names, n, sizeof(*names), by_name);
		for (size_t i = 0; i < n; i++) {
			if (!i || strcmp(names[i].name, names[i - 1].name))
				same = (uint32_t)names[i].number;
			number[names[i].number] = same;
		}
	} else {
		free(number);
		number = NULL;
	}
	free(names);
	return number;
}

static int compare_requests(const struct key *a, const struct key *b)
{
	int order = SP__ORDER(a->volume, b->volume);

	if (!order)
		order = SP__ORDER(a->offset, b->offset);
	if (!order)
		order = SP__ORDER(a->bytes, b->bytes);
	return order ? order : a->write - b->write;
}

static int by_request(const void *pa, const void *pb)
{
	const struct key *a = pa, *b = pb;
	int order = compare_requests(a, b);

	return order ? order : SP__ORDER(a->place, b->place);
}

static struct key *sorted_keys(const struct sp_sequence *seq, const uint32_t *number)
{
	struct key *keys = malloc((seq->n + 1) * sizeof(*keys));

	if (!keys)
		return NULL;
	for (size_t i = 0; i < seq->n; i++) {
		const struct sp__seqreq *r = &seq->req[i];

		keys[i] = (struct key){ r->offset, i, r->bytes, number[r->volume], r->write };
	}
	qsort(keys, seq->n, sizeof(*keys), by_request);
	return keys;
}

static void earlier(size_t *to, size_t place)
{
	*to = sp__min(*to, place);
}

/* Pairs requests.  Both lists are sorted: equal keys at their heads are a pair. */
static void pair(const struct key *a, size_t na, const struct key *b, size_t nb, struct match *m)
{
	size_t i = 0, j = 0;

	m->missing = m->extra = NONE;
	while (i < na || j < nb) {
		int order = i == na ? 1 : j == nb ? -1 : compare_requests(&a[i], &b[j]);

		if (order < 0) {
			earlier(&m->missing, a[i++].place);
		} else if (order > 0) {
			earlier(&m->extra, b[j++].place);
		} else {
			m->b_of_a[a[i].place] = b[j].place;
			m->a_of_b[b[j++].place] = a[i++].place;
		}
	}
}

static int match(const struct sp_sequence *a, const struct sp_sequence *b, struct match *m)
{
	uint32_t *number = number_volumes(a, b);
	struct key *ka = number ? sorted_keys(a, number) : NULL;
	struct key *kb = number ? sorted_keys(b, number + a->nvolumes) : NULL;
	int rc = -ENOMEM;

	m->b_of_a = malloc((a->n + 1) * sizeof(*m->b_of_a));
	m->a_of_b = malloc((b->n + 1) * sizeof(*m->a_of_b));
	if (ka && kb && m->b_of_a && m->a_of_b) {
		memset(m->b_of_a, 0xff, a->n * sizeof(*m->b_of_a));
		memset(m->a_of_b, 0xff, b->n * sizeof(*m->a_of_b));
		pair(ka, a->n, kb, b->n, m);
		rc = 0;
	} else {
		match_release(m);
	}
	free(ka);
	free(kb);
	free(number);
	return rc;
}

#define READS 0
#define WRITES 1

/* Positions count from 1; 0: none yet. */
struct node {
	size_t whole[2]; /* last position that covers all of the node */
	size_t part[2];	 /* last position that touches a part of it */
};

struct place {
	uint64_t at;
	uint32_t volume;
};

struct tree {
	struct place *cut;
	size_t ncut;
	struct node *node;
	size_t leaves; /* a power of 2 */
};

static int by_place(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;

	int order = SP__ORDER(a->volume, b->volume);

	return order ? order : SP__ORDER(a->at, b->at);
}

static int make_tree(struct tree *t, const struct sp_sequence *seq)
{
	size_t n = 0;

	t->node = NULL;
	t->cut = malloc((seq->n + 1) * 2 * sizeof(*t->cut));
	if (!t->cut)
		return -ENOMEM;
	for (size_t i = 0; i < seq->n; i++) {
		const struct sp__seqreq *r = &seq->req[i];

		t->cut[n++] = (struct place){ r->offset, r->volume };
		t->cut[n++] = (struct place){ r->offset + r->bytes, r->volume };
	}
	qsort(t->cut, n, sizeof(*t->cut), by_place);
	t->ncut = 0;
	for (size_t i = 0; i < n; i++)
		if (!i || by_place(&t->cut[i], &t->cut[t->ncut - 1]))
			t->cut[t->ncut++] = t->cut[i];
	for (t->leaves = 1; t->leaves < t->ncut; t->leaves *= 2)
		;
	t->node = calloc(t->leaves * 2, sizeof(*t->node));
	return t->node ? 0 : -ENOMEM;
}

static void free_tree(struct tree *t)
{
	free(t->cut);
	free(t->node);
}

static size_t find_cut(const struct tree *t, uint32_t volume, uint64_t at)
{
	struct place p = { at, volume };
	const struct place *found = bsearch(&p, t->cut, t->ncut, sizeof(p), by_place);

	return (size_t)(found - t->cut);
}

static void later(size_t *to, size_t place)
{
	*to = sp__max(*to, place);
}

/* Returns the last position of that kind over the segments [from, to). */
static size_t latest(const struct tree *t, int kind, size_t from, size_t to)
{
	size_t l = from + t->leaves, r = to + t->leaves, most = 0;

	/* The nodes that cover an ancestor of a segment at either end. */
	for (size_t i = l; i; i /= 2)
		later(&most, t->node[i].whole[kind]);
	for (size_t i = r - 1; i; i /= 2)
		later(&most, t->node[i].whole[kind]);
	for (; l < r; l /= 2, r /= 2) {
		if (l & 1)
			later(&most, t->node[l++].part[kind]);
		if (r & 1)
			later(&most, t->node[--r].part[kind]);
	}
	return most;
}

static void put(struct tree *t, int kind, size_t from, size_t to, size_t place)
{
	size_t l = from + t->leaves, r = to + t->leaves;

	for (size_t i = l; i; i /= 2)
		later(&t->node[i].part[kind], place);
	for (size_t i = r - 1; i; i /= 2)
		later(&t->node[i].part[kind], place);
	for (; l < r; l /= 2, r /= 2) {
		if (l & 1) {
			later(&t->node[l].whole[kind], place);
			later(&t->node[l++].part[kind], place);
		}
		if (r & 1) {
			later(&t->node[--r].whole[kind], place);
			later(&t->node[r].part[kind], place);
		}
	}
}

/* Reports two requests: first precedes second in a, and follows it in b. */
static void violation(const struct sp_sequence *a, const struct sp_sequence *b,
		      const struct match *m, size_t first, size_t second,
		      struct sp_sequence_comparison *c)
{
	c->first = sp__sequence_request(a, first);
	c->second = sp__sequence_request(a, second);
	c->first_line_b = b->req[m->b_of_a[first]].line;
	c->second_line_b = b->req[m->b_of_a[second]].line;
	c->verdict = !c->second.write  ? SP_SEQUENCE_READ_AFTER_WRITE
		     : !c->first.write ? SP_SEQUENCE_WRITE_AFTER_READ
				       : SP_SEQUENCE_WRITE_AFTER_WRITE;
}

/* Walks over b by positions in a, so that volumes are a's. */
static void walk(const struct sp_sequence *a, const struct sp_sequence *b, const struct match *m,
		 struct tree *t, struct sp_sequence_comparison *c)
{
	struct sp__progress progress = sp__sequence_progress(a);

	for (size_t i = 0; i < b->n; i++) {
		size_t place = m->a_of_b[i], most;
		const struct sp__seqreq *r = &a->req[place];
		size_t from = find_cut(t, r->volume, r->offset);
		size_t to = find_cut(t, r->volume, r->offset + r->bytes);

		sp__sequence_report(&progress, SP_SEQUENCE_PHASE_COMPARE, i, i, b->n);
		c->moved += place != i;
		if (c->verdict != SP_SEQUENCE_LEGAL)
			continue;
		most = latest(t, WRITES, from, to);
		if (r->write)
			later(&most, latest(t, READS, from, to));
		if (most > place + 1)
			violation(a, b, m, place, most - 1, c);
		put(t, r->write ? WRITES : READS, from, to, place + 1);
	}
}

int sp_sequence_compare(const struct sp_sequence *a, const struct sp_sequence *b,
			struct sp_sequence_comparison *result)
{
	struct match m;
	struct tree t;
	int rc = match(a, b, &m);

	*result = (struct sp_sequence_comparison){ .verdict = SP_SEQUENCE_LEGAL };
	if (rc < 0)
		return rc;
	if (m.missing != NONE) {
		result->verdict = SP_SEQUENCE_MISSING;
		result->first = sp__sequence_request(a, m.missing);
	} else if (m.extra != NONE) {
		result->verdict = SP_SEQUENCE_EXTRA;
		result->first = sp__sequence_request(b, m.extra);
	} else {
		rc = make_tree(&t, a);
		if (rc == 0)
			walk(a, b, &m, &t, result);
		free_tree(&t);
	}
	match_release(&m);
	return rc;
}
