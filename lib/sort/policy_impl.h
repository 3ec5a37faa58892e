/* SPDX-License-Identifier: MIT */
/*
 * Internals of the merge policies.
 */
#ifndef SP__SORT_POLICY_IMPL_H
#define SP__SORT_POLICY_IMPL_H

#include <stddef.h>
#include "sort/policy.h"

struct sp__policy_run {
	unsigned id;
	unsigned level;
	uint64_t bytes;
};

/* Runs, oldest first; as a queue they leave at head. */
struct sp__runs {
	struct sp__policy_run *run;
	size_t head, count, room; /* count: index after the last */
};

struct sp__tape;

struct sp__policy {
	enum sp_merge_policy kind;
	unsigned fan_in;
	unsigned level; /* of the run being made */
	/* LAZY and EAGER: all runs, and those being merged. */
	struct sp__runs list;
	size_t first, merging;
	/* POLYPHASE */
	struct sp__tape *tape; /* fan_in + 1; the last is written to */
	unsigned at;	       /* tape that gets the next initial run */
	bool started;	       /* merging has begun */
	bool open;	       /* a merge has been requested */
};

int sp__runs_push(struct sp__runs *l, struct sp__policy_run run);

int sp__polyphase_init(struct sp__policy *p);
void sp__polyphase_release(struct sp__policy *p);
int sp__polyphase_add(struct sp__policy *p, struct sp__policy_run run);
unsigned sp__polyphase_next(struct sp__policy *p, unsigned *ids, struct sp__policy_step *step);
int sp__polyphase_merged(struct sp__policy *p, struct sp__policy_run made);
uint64_t sp__polyphase_runs(const struct sp__policy *p);

#endif
