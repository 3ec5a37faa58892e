/* SPDX-License-Identifier: MIT */
/*
 * LAZY and EAGER use one list of runs, oldest first: both replace neighbours by their
 * merge.  EAGER's levels descend along it, since a level is filled from the level
 * below: the list ends with the runs of level 0, before them those of level 1, and so
 * on.
 *
 * LAZY.  With R runs and fan-in F the fewest merges are ceil((R - 1) / (F - 1));
 * giving all but the first full fan-in makes the first, which
 * moves the fewest bytes, the small one: (R - 2) mod (F - 1) + 2 runs.  (R runs
 * leave R - k + 1 after a merge of k; the last merge must find F.)  Which
 * neighbours: those with the fewest bytes.  The optimum needs a dynamic program over
 * intervals, cubic in R; for runs of about one size the cheapest neighbours give the
 * same result.
 *
 * POLYPHASE keeps a queue for each tape (policy_polyphase.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "sort/policy_impl.h"

int sp__policy_new(struct sp__policy **policy, enum sp_merge_policy kind, unsigned fan_in,
		   bool stable)
{
	struct sp__policy *p;
	int rc = 0;

	*policy = NULL;
	if (fan_in < 2 || kind <= SP_MERGE_AUTO || kind > SP_MERGE_POLYPHASE)
		return -EINVAL;
	if (kind == SP_MERGE_POLYPHASE && stable)
		return SP_EUNSUP;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->kind = kind;
	p->fan_in = fan_in;
	if (kind == SP_MERGE_POLYPHASE)
		rc = sp__polyphase_init(p);
	if (rc) {
		sp__policy_free(p);
		return rc;
	}
	*policy = p;
	return 0;
}

void sp__policy_free(struct sp__policy *policy)
{
	if (!policy)
		return;
	sp__polyphase_release(policy);
	free(policy->list.run);
	free(policy);
}

int sp__runs_push(struct sp__runs *l, struct sp__policy_run run)
{
	if (!SP__ARRAY_ROOM(l->run, l->room, l->count + 1))
		return -ENOMEM;
	l->run[l->count++] = run;
	return 0;
}

int sp__policy_add(struct sp__policy *policy, unsigned run_id, uint64_t bytes)
{
	struct sp__policy_run run = { run_id, 0, bytes };

	if (policy->kind == SP_MERGE_POLYPHASE)
		return sp__polyphase_add(policy, run);
	return sp__runs_push(&policy->list, run);
}

/* Announces the merge of count neighbours from first on. */
static unsigned choose(struct sp__policy *p, size_t first, size_t count, unsigned level,
		       unsigned *ids, struct sp__policy_step *step)
{
	for (size_t i = 0; i < count; i++)
		ids[i] = p->list.run[first + i].id;
	p->first = first;
	p->merging = count;
	p->level = level;
	step->level = level;
	return (unsigned)count;
}

static unsigned top_level(const struct sp__policy *p, size_t first, size_t count)
{
	unsigned level = 0;

	for (size_t i = 0; i < count; i++)
		if (p->list.run[first + i].level > level)
			level = p->list.run[first + i].level;
	return level;
}

/* The k neighbours with the fewest bytes. */
static unsigned merge_cheapest(struct sp__policy *p, size_t k, unsigned *ids,
			       struct sp__policy_step *step)
{
	const struct sp__policy_run *run = p->list.run;
	size_t best = 0;
	uint64_t sum = 0, least;

	for (size_t i = 0; i < k; i++)
		sum += run[i].bytes;
	least = sum;
	for (size_t i = k; i < p->list.count; i++) {
		sum += run[i].bytes - run[i - k].bytes;
		if (sum < least) {
			least = sum;
			best = i - k + 1;
		}
	}
	return choose(p, best, k, top_level(p, best, k) + 1, ids, step);
}

static unsigned merge_lazily(struct sp__policy *p, unsigned *ids, struct sp__policy_step *step)
{
	return merge_cheapest(p, (p->list.count - 2) % (p->fan_in - 1) + 2, ids, step);
}

/* The runs of the lowest level, which end the list. */
static size_t lowest_level(const struct sp__policy *p, unsigned *level)
{
	size_t n = 0;

	*level = p->list.count ? p->list.run[p->list.count - 1].level : 0;
	while (n < p->list.count && p->list.run[p->list.count - 1 - n].level == *level)
		n++;
	return n;
}

static unsigned merge_eagerly(struct sp__policy *p, bool input_ended, unsigned *ids,
			      struct sp__policy_step *step)
{
	unsigned level;
	size_t n = lowest_level(p, &level);

	if (n < p->fan_in && !input_ended)
		return 0;
	/* One run left over on a level moves up as it is. */
	while (n == 1) {
		p->list.run[p->list.count - 1].level++;
		n = lowest_level(p, &level);
	}
	return choose(p, p->list.count - n, n < p->fan_in ? n : p->fan_in, level + 1, ids, step);
}

unsigned sp__policy_next(struct sp__policy *policy, bool input_ended, unsigned *ids, unsigned max,
			 struct sp__policy_step *step)
{
	size_t n = policy->list.count;

	memset(step, 0, sizeof(*step));
	if (max < policy->fan_in)
		return 0;
	if (policy->kind == SP_MERGE_POLYPHASE)
		return input_ended ? sp__polyphase_next(policy, ids, step) : 0;
	if (input_ended && n <= policy->fan_in) {
		step->final = true;
		return choose(policy, 0, n, top_level(policy, 0, n) + 1, ids, step);
	}
	if (policy->kind == SP_MERGE_EAGER)
		return merge_eagerly(policy, input_ended, ids, step);
	return input_ended ? merge_lazily(policy, ids, step) : 0;
}

unsigned sp__policy_relieve(struct sp__policy *policy, unsigned *ids, unsigned max,
			    struct sp__policy_step *step)
{
	size_t n = policy->list.count;

	memset(step, 0, sizeof(*step));
	if (n > policy->fan_in)
		n = policy->fan_in;
	if (n > max)
		n = max;
	if (policy->kind == SP_MERGE_POLYPHASE || n < 2)
		return 0;
	return merge_cheapest(policy, n, ids, step);
}

int sp__policy_merged(struct sp__policy *policy, unsigned new_run_id, uint64_t bytes)
{
	struct sp__policy_run made = { new_run_id, policy->level, bytes };
	struct sp__runs *l = &policy->list;
	size_t after = policy->first + policy->merging;

	if (policy->kind == SP_MERGE_POLYPHASE)
		return sp__polyphase_merged(policy, made);
	if (!policy->merging)
		return SP_ESTATE;
	l->run[policy->first] = made;
	memmove(&l->run[policy->first + 1], &l->run[after], (l->count - after) * sizeof(*l->run));
	l->count -= policy->merging - 1;
	policy->merging = 0;
	return 0;
}

uint64_t sp__policy_runs(const struct sp__policy *policy)
{
	return policy->kind == SP_MERGE_POLYPHASE ? sp__polyphase_runs(policy) : policy->list.count;
}
