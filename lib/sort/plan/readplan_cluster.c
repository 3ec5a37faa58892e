/* SPDX-License-Identifier: MIT */
/*
 * Plans clusters by the heuristic of Zhang & Larson 1998, section 3.3, in T log T steps instead of
 * T times the number of clusters.
 *
 * The heuristic: pages come in consumption order.  Each page is added to the last cluster of its
 * run if the read sequence stays feasible; otherwise it starts a new cluster at the end of the
 * sequence.  Feasible means F[i] >= L[i + 1] for all i: L[i] is the length of cluster i, F[i] is
 * the number of pages that are free once cluster i has been read.  F starts as b - n; adding a page
 * to cluster k takes one from F[k] ... F[last].  Clusters that do not exist yet count as L = 1.
 *
 * The speed-up: let slack[i] = F[i] - L[i + 1].  Adding a page to cluster k lowers slack[k - 1]
 * (L[k] grows) and slack[k] ... slack[last] (F shrinks).  So it lowers one suffix, slack[k - 1] ...
 * slack[last], by one.  It is feasible if none of these is 0.  A new cluster appends slack b - n -
 * 1 and changes nothing else.  Therefore:
 *
 * - A slack that has reached 0 stays 0.  Only the last such cluster, `zero`, matters: adding to k
 *   is feasible if and only if k - 1 > zero.
 * - To detect which slacks reach 0, only suffix minima are needed: each step that lowers slack[i]
 *   lowers every later one, so i is irrelevant once a later one is not larger.  The minima form a
 *   stack of clusters with rising slack, each stored as the gap to the one below it.  Lowering a
 *   suffix takes one from one gap, that of the first minimum in it, found by path halving.  A gap
 *   of 0 removes the minimum below.  Each cluster is pushed and removed once.
 *
 * With b <= n + 1 every slack is 0 from the start, and the result is the consumption sequence,
 * which is feasible for b >= n.
 *
 * Rejected: a segment tree over F and L, with ten times the memory and log T steps per page; the
 * backward scan of the paper, which is quadratic if the sequence leaves slack for long, as with
 * sorted input.
 */
#include <stdlib.h>
#include "base/array.h"
#include "sort/plan/readplan_impl.h"

/* Clusters are numbered from 1; 0 is below the stack. */
struct slack {
	uint32_t *next;	 /* itself if on the stack, else a later cluster */
	uint32_t *below; /* next smaller minimum */
	uint32_t *gap;	 /* slack minus that of the one below */
	uint32_t zero;	 /* last cluster without slack, the stack's floor */
	uint32_t top;	 /* last cluster */
	uint32_t top_slack;
	uint32_t fresh; /* slack of a new cluster */
};

size_t sp__cluster_scratch(uint64_t pages, unsigned runs)
{
	return 3 * (pages + 1) * sizeof(uint32_t) + runs * sizeof(uint32_t);
}

static uint32_t first_minimum(struct slack *s, uint32_t i)
{
	while (s->next[i] != i) {
		s->next[i] = s->next[s->next[i]];
		i = s->next[i];
	}
	return i;
}

/* Removes the minimum below i, which slack i has reached. */
static void absorb(struct slack *s, uint32_t i)
{
	uint32_t gone = s->below[i];

	if (gone == s->zero) {
		s->zero = i;
		return;
	}
	s->next[gone] = i;
	s->gap[i] = s->gap[gone];
	s->below[i] = s->below[gone];
}

static void append(struct slack *s)
{
	uint32_t i = s->top + 1;

	s->next[i] = i;
	s->below[i] = s->top;
	s->gap[i] = s->fresh - s->top_slack;
	s->top = i;
	s->top_slack = s->fresh;
	if (s->gap[i] == 0)
		absorb(s, i);
}

/* Adds a page to cluster k if that is feasible. */
static bool lengthen(struct slack *s, uint32_t k)
{
	/* Cluster 1 is the first: its length is bounded by slack[1] on. */
	uint32_t i = k > 1 ? k - 1 : 1;

	if (i <= s->zero)
		return false;
	i = first_minimum(s, i);
	s->top_slack--;
	if (--s->gap[i] == 0)
		absorb(s, i);
	return true;
}

static void cluster(struct sp__readplan *p, const uint32_t *sequence, struct slack *s,
		    uint32_t *last)
{
	for (uint64_t i = 0; i < p->pages; i++) {
		uint32_t run = sequence[i];

		if (last[run] && lengthen(s, last[run])) {
			p->steps[last[run] - 1].pages++;
			continue;
		}
		append(s);
		p->steps[p->nsteps].run = run;
		p->steps[p->nsteps].pages = 1;
		last[run] = (uint32_t)++p->nsteps;
	}
}

static void fit_list(struct sp__readplan *p)
{
	if (p->nsteps)
		(void)SP__ARRAY_RESIZE(p->steps, p->nsteps);
	for (uint64_t i = 0; i < p->nsteps; i++)
		if (p->largest < p->steps[i].pages)
			p->largest = p->steps[i].pages;
}

int sp__cluster_plan(struct sp__readplan *p, const uint32_t *sequence)
{
	struct slack s = { .fresh = p->buffers > p->live ? p->buffers - p->live - 1 : 0 };
	uint32_t *last = calloc(p->runs, sizeof(*last));
	int rc = -ENOMEM;

	p->steps = malloc(p->pages * sizeof(*p->steps) + 1);
	s.next = malloc(3 * (p->pages + 1) * sizeof(uint32_t));
	if (p->steps && s.next && last) {
		s.below = s.next + p->pages + 1;
		s.gap = s.below + p->pages + 1;
		cluster(p, sequence, &s, last);
		fit_list(p);
		rc = 0;
	}
	free(s.next);
	free(last);
	return rc;
}

uint32_t sp__cluster_turn(struct sp__readplan *p)
{
	for (;; p->head++) {
		struct sp__step *step = &p->steps[p->head];
		uint32_t *debt = &p->run[step->run].debt;
		uint32_t paid = *debt < step->pages ? *debt : step->pages;

		step->pages -= paid;
		*debt -= paid;
		if (step->pages)
			return step->run;
	}
}

unsigned sp__cluster_next(struct sp__readplan *p, unsigned free_pages, unsigned *run)
{
	uint32_t r = sp__cluster_turn(p), want = p->steps[p->head].pages;

	if (want > free_pages && sp__starves(p, r))
		want = free_pages;
	if (want > free_pages)
		return 0;
	p->steps[p->head].pages -= want;
	*run = r;
	return sp__readplan_take(p, r, want);
}
