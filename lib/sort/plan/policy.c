/* SPDX-License-Identifier: MIT */
/*
 * Chooses the runs to merge by each policy.
 *
 * LAZY and EAGER use one list of runs, oldest first: both replace neighbours by their merge.
 * EAGER's levels descend along the list, since a level is filled from the level below: the list
 * ends with the runs of level 0, before them those of level 1, and so on.
 *
 * LAZY: with R runs and fan-in F, the minimum number of merges is ceil((R - 1) / (F - 1)).  All
 * merges except the first have full fan-in.  So the first, which moves the fewest bytes, is small:
 * it takes (R - 2) mod (F - 1) + 2 runs.  (R runs leave R - k + 1 after a merge of k; the last
 * merge must find F.)  The neighbours with the fewest bytes are merged.  The optimum needs a
 * dynamic program over intervals, cubic in R; for runs of about one size, the cheapest neighbours
 * give the same result.
 *
 * POLYPHASE merges with horizontal distribution (Knuth volume 3, section 5.4.2, algorithm D).
 * Tapes are queues of runs: fan_in tapes are read, one is written.  When a tape being read is
 * empty, it is written next.
 *
 * Distribution: the numbers of runs on the tapes approach the next generalised Fibonacci
 * distribution.  Missing runs are dummies, which are counted and spread as evenly as possible.
 * Merging: one run or dummy from each tape; only dummies make a dummy.  A single run among dummies
 * is moved to the output tape without a copy, which a disk permits, unlike tapes.  For the same
 * reason the final merge starts as soon as at most fan_in runs are left (except in PPMS, whose
 * result is a run).
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/minmax.h"
#include "sort/plan/policy.h"

struct run {
	unsigned id;
	unsigned level;
	uint64_t bytes;
};

/* Runs, oldest first; as a queue they leave at head. */
struct runs {
	struct run *run;
	size_t head, count, capacity; /* count: index after the last */
};

struct tape {
	uint64_t aim;	  /* A of algorithm D */
	uint64_t dummies; /* D of algorithm D */
	struct runs runs;
};

struct sp__policy {
	bool eager, polyphase; /* neither: LAZY */
	bool whole;	       /* MMS or PPMS: no early final merge */
	unsigned fan_in;
	unsigned level; /* level of the run being made */
	size_t merging; /* number of the runs being merged */
	/* LAZY and EAGER: all runs, and the first one being merged. */
	struct runs list;
	size_t first;
	/* POLYPHASE */
	struct tape *tape; /* fan_in + 1; the last is written */
	unsigned at;	   /* tape that gets the next initial run */
	bool started;	   /* merging has started */
};

static int push(struct runs *l, struct run run)
{
	if (!SP__ARRAY_GROW(l->run, l->capacity, l->count + 1))
		return -ENOMEM;
	l->run[l->count++] = run;
	return 0;
}

/* Returns the level of a run to be made, at least `level`, if this run is merged into it. */
static unsigned raised(unsigned level, const struct run *run)
{
	return level > run->level ? level : run->level + 1;
}

static uint64_t runs_on_tapes(const struct sp__policy *p)
{
	uint64_t n = 0;

	for (unsigned j = 0; j <= p->fan_in; j++)
		n += p->tape[j].runs.count - p->tape[j].runs.head;
	return n;
}

/* Step D4: the next perfect distribution. */
static void next_level(struct sp__policy *p)
{
	uint64_t first = p->tape[0].aim;

	for (unsigned j = 0; j < p->fan_in; j++) {
		struct tape *t = &p->tape[j];
		uint64_t aim = first + t[1].aim;

		t->dummies = aim - t->aim;
		t->aim = aim;
	}
	p->at = 0;
}

/*
 * Steps D2 and D3.  The tape for the next run is chosen when there is one, so that an input that
 * has ended keeps the smaller distribution.
 */
static int distribute(struct sp__policy *p, struct run run)
{
	struct tape *t;
	int rc;

	if (p->started)
		return SP_ESTATE;
	if (p->tape[0].runs.count) {
		t = &p->tape[p->at];
		if (t[0].dummies < t[1].dummies)
			p->at++;
		else if (t[0].dummies == 0)
			next_level(p);
		else
			p->at = 0;
	}
	t = &p->tape[p->at];
	rc = push(&t->runs, run);
	if (rc == 0)
		t->dummies--;
	return rc;
}

/* Step D6: the tape just emptied is written, and the one written before is read. */
static void rotate(struct sp__policy *p)
{
	struct tape written = p->tape[p->fan_in];
	struct runs *empty = &p->tape[p->fan_in - 1].runs;

	empty->head = empty->count = 0;
	for (unsigned j = p->fan_in; j > 0; j--)
		p->tape[j] = p->tape[j - 1];
	p->tape[0] = written;
}

static bool emptied(const struct tape *t)
{
	return t->dummies == 0 && t->runs.head == t->runs.count;
}

/*
 * Takes a run or a dummy from each tape; returns the number of runs.  *last receives the last one.
 */
static unsigned draw(struct sp__policy *p, unsigned *ids, struct run *last)
{
	unsigned n = 0;

	p->level = 0;
	for (unsigned j = 0; j < p->fan_in; j++) {
		struct tape *t = &p->tape[j];

		if (t->dummies) {
			t->dummies--;
			continue;
		}
		*last = t->runs.run[t->runs.head++];
		ids[n++] = last->id;
		p->level = raised(p->level, last);
	}
	return n;
}

static unsigned draw_all(struct sp__policy *p, unsigned *ids)
{
	unsigned n = 0;

	p->level = 1;
	for (unsigned j = 0; j <= p->fan_in; j++) {
		struct runs *r = &p->tape[j].runs;

		for (; r->head < r->count; r->head++) {
			p->level = raised(p->level, &r->run[r->head]);
			ids[n++] = r->run[r->head].id;
		}
	}
	return n;
}

static unsigned next_of_tapes(struct sp__policy *p, unsigned *ids, bool *final)
{
	struct run only;
	unsigned n;

	p->started = true;
	*final = runs_on_tapes(p) <= (p->whole ? 1 : p->fan_in);
	if (*final)
		return draw_all(p, ids);
	for (;;) {
		while (emptied(&p->tape[p->fan_in - 1]))
			rotate(p);
		n = draw(p, ids, &only);
		if (n > 1)
			break;
		if (n == 0)
			p->tape[p->fan_in].dummies++;
		else if (push(&p->tape[p->fan_in].runs, only))
			break; /* there is no memory: the run is copied */
	}
	p->merging = n;
	return n;
}

int sp__policy_new(struct sp__policy **policy, enum sp_merge_policy kind, unsigned fan_in,
		   bool stable)
{
	struct sp__policy *p;

	*policy = NULL;
	if (fan_in < 2 || kind < SP_MERGE_LAZY || kind > SP_MERGE_PPMS)
		return -EINVAL;
	if (sp__policy_polyphase(kind) && stable)
		return SP_EUNSUP;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->eager = sp__policy_eager(kind);
	p->polyphase = sp__policy_polyphase(kind);
	p->whole = kind == SP_MERGE_MMS || kind == SP_MERGE_PPMS;
	p->fan_in = fan_in;
	if (p->polyphase) {
		p->tape = calloc(fan_in + 1, sizeof(*p->tape));
		if (!p->tape) {
			free(p);
			return -ENOMEM;
		}
		for (unsigned j = 0; j < fan_in; j++)
			p->tape[j].aim = p->tape[j].dummies = 1;
	}
	*policy = p;
	return 0;
}

void sp__policy_free(struct sp__policy *policy)
{
	if (!policy)
		return;
	for (unsigned j = 0; policy->tape && j <= policy->fan_in; j++)
		free(policy->tape[j].runs.run);
	free(policy->tape);
	free(policy->list.run);
	free(policy);
}

int sp__policy_add(struct sp__policy *policy, unsigned run_id, uint64_t bytes)
{
	struct run run = { run_id, 0, bytes };

	if (policy->polyphase)
		return distribute(policy, run);
	return push(&policy->list, run);
}

void sp__policy_narrow(struct sp__policy *policy, unsigned fan_in)
{
	if (!policy->polyphase)
		policy->fan_in = sp__min(policy->fan_in, fan_in);
}

/* Announces the merge of count neighbours from first on. */
static unsigned choose(struct sp__policy *p, size_t first, size_t count, unsigned *ids)
{
	p->level = 1;
	for (size_t i = 0; i < count; i++) {
		ids[i] = p->list.run[first + i].id;
		p->level = raised(p->level, &p->list.run[first + i]);
	}
	p->first = first;
	p->merging = count;
	return (unsigned)count;
}

/* Chooses the k neighbours with the fewest bytes. */
static unsigned merge_cheapest(struct sp__policy *p, size_t k, unsigned *ids)
{
	const struct run *run = p->list.run;
	size_t best = 0;
	uint64_t sum = 0, min;

	for (size_t i = 0; i < k; i++)
		sum += run[i].bytes;
	min = sum;
	for (size_t i = k; i < p->list.count; i++) {
		sum += run[i].bytes - run[i - k].bytes;
		if (sum < min) {
			min = sum;
			best = i - k + 1;
		}
	}
	return choose(p, best, k, ids);
}

/* Returns the number of runs of the lowest level, which end the list. */
static size_t lowest_level(const struct sp__policy *p)
{
	size_t n = 0, count = p->list.count;

	while (n < count && p->list.run[count - 1 - n].level == p->list.run[count - 1].level)
		n++;
	return n;
}

static unsigned merge_eagerly(struct sp__policy *p, bool input_ended, unsigned *ids)
{
	size_t n = lowest_level(p);

	if (n < p->fan_in && !input_ended)
		return 0;
	return choose(p, p->list.count - n, sp__min(n, p->fan_in), ids);
}

/* At the end, a single run left on a level moves up unchanged. */
static void move_up(struct sp__policy *p)
{
	while (p->list.count > 1 && lowest_level(p) == 1)
		p->list.run[p->list.count - 1].level++;
}

/* True if all runs may be merged into the result. */
static bool is_final(const struct sp__policy *p)
{
	return p->list.count <= p->fan_in && (!p->whole || lowest_level(p) == p->list.count);
}

static unsigned next_of_list(struct sp__policy *p, bool input_ended, unsigned *ids, bool *final)
{
	size_t n = p->list.count;

	if (input_ended && p->eager)
		move_up(p);
	*final = input_ended && is_final(p);
	if (*final)
		return choose(p, 0, n, ids);
	if (p->eager)
		return merge_eagerly(p, input_ended, ids);
	return input_ended ? merge_cheapest(p, (n - 2) % (p->fan_in - 1) + 2, ids) : 0;
}

unsigned sp__policy_next(struct sp__policy *policy, bool input_ended, unsigned *ids, unsigned max,
			 struct sp__policy_step *step)
{
	unsigned n = 0;

	*step = (struct sp__policy_step){ 0 };
	if (max < policy->fan_in)
		return 0;
	if (!policy->polyphase)
		n = next_of_list(policy, input_ended, ids, &step->final);
	else if (input_ended)
		n = next_of_tapes(policy, ids, &step->final);
	step->level = policy->level;
	return n;
}

unsigned sp__policy_relieve(struct sp__policy *policy, unsigned *ids, unsigned max,
			    struct sp__policy_step *step)
{
	size_t n = sp__min(sp__min(policy->list.count, policy->fan_in), max);

	*step = (struct sp__policy_step){ 0 };
	if (policy->polyphase || n < 2)
		return 0;
	n = merge_cheapest(policy, n, ids);
	step->level = policy->level;
	return (unsigned)n;
}

int sp__policy_merged(struct sp__policy *policy, unsigned new_run_id, uint64_t bytes)
{
	struct run made = { new_run_id, policy->level, bytes };
	struct runs *l = &policy->list;
	size_t merged = policy->merging, after = policy->first + merged;

	if (!merged)
		return SP_ESTATE;
	policy->merging = 0;
	if (policy->polyphase)
		return push(&policy->tape[policy->fan_in].runs, made);
	l->run[policy->first] = made;
	memmove(&l->run[policy->first + 1], &l->run[after], (l->count - after) * sizeof(*l->run));
	l->count -= merged - 1;
	return 0;
}

uint64_t sp__policy_runs(const struct sp__policy *policy)
{
	return policy->polyphase ? runs_on_tapes(policy) : policy->list.count;
}
