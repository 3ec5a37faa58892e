/* SPDX-License-Identifier: MIT */
/*
 * Sorts requests by block: a treap with links in the requests.
 *
 * Algorithm.  A node is above those with a lower rank.  The rank is a hash of the order of
 * submission, so the shape is random and yet the same in every run.  Expected depth: 2 ln n.
 * Requests with equal starts are in order of submission.
 *
 * Rejected: a red-black tree, which needs a colour and three times the code; a sorted array, which
 * moves too much when a page cache writes thousands of pages.
 */
#include "base/rng.h"
#include "sim/sched.h"

static bool before(const struct sp__blockreq *a, const struct sp__blockreq *b)
{
	return a->start != b->start ? a->start < b->start : a->seq < b->seq;
}

void sp__reqtree_insert(struct sp__blockreq **root, struct sp__blockreq *r)
{
	struct sp__blockreq **link = root, **l = &r->left, **g = &r->right, *n;

	r->rank = sp__mix64(r->seq);
	while (*link && (*link)->rank >= r->rank)
		link = before(r, *link) ? &(*link)->left : &(*link)->right;
	n = *link;
	*link = r;
	while (n) {
		if (before(n, r)) {
			*l = n;
			l = &n->right;
			n = *l;
		} else {
			*g = n;
			g = &n->left;
			n = *g;
		}
	}
	*l = *g = NULL;
}

void sp__reqtree_erase(struct sp__blockreq **root, struct sp__blockreq *r)
{
	struct sp__blockreq **link = root, *l = r->left, *g = r->right;

	while (*link != r)
		link = before(r, *link) ? &(*link)->left : &(*link)->right;
	while (l && g) {
		if (l->rank >= g->rank) {
			*link = l;
			link = &l->right;
			l = *link;
		} else {
			*link = g;
			link = &g->left;
			g = *link;
		}
	}
	*link = l ? l : g;
}

struct sp__blockreq *sp__reqtree_ceil(struct sp__blockreq *root, uint64_t lbn)
{
	struct sp__blockreq *best = NULL;

	while (root) {
		if (root->start >= lbn) {
			best = root;
			root = root->left;
		} else {
			root = root->right;
		}
	}
	return best;
}

struct sp__blockreq *sp__reqtree_below(struct sp__blockreq *root, uint64_t lbn)
{
	struct sp__blockreq *best = NULL;

	while (root) {
		if (root->start < lbn) {
			best = root;
			root = root->right;
		} else {
			root = root->left;
		}
	}
	return best;
}
