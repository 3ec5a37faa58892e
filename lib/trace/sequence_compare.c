/* SPDX-License-Identifier: MIT */
/*
 * Is one sequence a legal permutation of another?
 *
 * Equal requests are paired first: the k-th of a with the k-th of b.  Nothing
 * is lost by that: equal writes conflict with one another and have to keep
 * their order, and equal reads can change places for nothing.  Then b is
 * walked in its order.  Two conflicting requests have changed places if and
 * only if some request comes to bytes that an earlier one of b, which a has
 * later, had touched, one of the two writing.  So for each piece of a volume
 * the latest place in a of all reads so far is enough to know, and of all
 * writes so far: a request asks for the latest over its range, and then puts
 * its own place there.
 *
 * Pieces are what the ends of all requests cut volumes into; a segment tree
 * over them keeps the maxima.  For n requests: n log n time, some 100 bytes
 * for each.  Rejected: a table of blocks, which depends on their size.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "trace/sequence.h"
#include "trace/sequence_match.h"

#define READS 0
#define WRITES 1

/* Places are counted from 1; 0: none yet. */
struct node {
	size_t whole[2]; /* latest that covers all of the node */
	size_t part[2];	 /* latest that touches some of it */
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

	if (a->volume != b->volume)
		return a->volume < b->volume ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
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
	if (*to < place)
		*to = place;
}

/* The latest place of that kind over the pieces [from, to). */
static size_t latest(const struct tree *t, int kind, size_t from, size_t to)
{
	size_t l = from + t->leaves, r = to + t->leaves, most = 0;

	/* What covers the whole of an ancestor of a piece at either end. */
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

static struct sp_sequence_request request(const struct sp_sequence *seq, size_t i)
{
	const struct sp__seqreq *r = &seq->req[i];

	return (struct sp_sequence_request){ .write = r->write,
					     .volume = seq->volume[r->volume].name,
					     .offset = r->offset,
					     .bytes = r->bytes,
					     .line = r->line };
}

/* In a, first stands before second; b has them the other way round. */
static void violation(const struct sp_sequence *a, const struct sp_sequence *b,
		      const struct sp__seqmatch *m, size_t first, size_t second,
		      struct sp_sequence_comparison *c)
{
	c->first = request(a, first);
	c->second = request(a, second);
	c->first_line_b = b->req[m->b_of_a[first]].line;
	c->second_line_b = b->req[m->b_of_a[second]].line;
	c->verdict = !c->second.write  ? SP_SEQUENCE_READ_AFTER_WRITE
		     : !c->first.write ? SP_SEQUENCE_WRITE_AFTER_READ
				       : SP_SEQUENCE_WRITE_AFTER_WRITE;
}

/* Walks over b; the walk is over places of a, so that volumes are a's. */
static void walk(const struct sp_sequence *a, const struct sp_sequence *b,
		 const struct sp__seqmatch *m, struct tree *t, struct sp_sequence_comparison *c)
{
	for (size_t i = 0; i < b->n; i++) {
		size_t place = m->a_of_b[i], most;
		const struct sp__seqreq *r = &a->req[place];
		size_t from = find_cut(t, r->volume, r->offset);
		size_t to = find_cut(t, r->volume, r->offset + r->bytes);

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
	struct sp__seqmatch m;
	struct tree t;
	int rc = sp__sequence_match(a, b, &m);

	*result = (struct sp_sequence_comparison){ .verdict = SP_SEQUENCE_LEGAL };
	if (rc < 0)
		return rc;
	if (m.missing != SP__SEQ_NONE) {
		result->verdict = SP_SEQUENCE_MISSING;
		result->first = request(a, m.missing);
	} else if (m.extra != SP__SEQ_NONE) {
		result->verdict = SP_SEQUENCE_EXTRA;
		result->first = request(b, m.extra);
	} else {
		rc = make_tree(&t, a);
		if (rc == 0)
			walk(a, b, &m, &t, result);
		free_tree(&t);
	}
	sp__sequence_match_release(&m);
	return rc;
}
