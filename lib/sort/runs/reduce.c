/* SPDX-License-Identifier: MIT */
/*
 * Merges runs in the order of the policy, until the final merge can take all remaining ones.  It
 * merges earlier if each run holds a descriptor and there are too many.
 */
#include <sys/resource.h>
#include "base/minmax.h"
#include "sort/plan/readplan.h"
#include "sort/runs/step.h"

/* Descriptors besides those of runs: 0 to 2, input, output, report, and those of one merge. */
#define OTHER_DESCRIPTORS 16
#define MIN_RUNS 4

/* Returns the maximum number of runs of a compress program, each of which holds a descriptor. */
static uint64_t runs_allowed(unsigned files)
{
	uint64_t others = OTHER_DESCRIPTORS + (uint64_t)files;
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) < 0)
		return UINT64_MAX;
	return rl.rlim_cur > others + MIN_RUNS ? rl.rlim_cur - others : MIN_RUNS;
}

/* Each run of a program holds a descriptor.  True if there are too many, next to `files` others. */
static bool crowded(const struct sp__spilled *spilled, unsigned files)
{
	return spilled->store && spilled->store->opts.program &&
	       sp__policy_runs(spilled->policy) >= runs_allowed(files);
}

int sp__runs_relieve(struct sp__spilled *spilled, unsigned files, struct sp__freemem where)
{
	const struct sp_sort_plan *plan = &spilled->sort->plan;
	size_t pages = where.bytes / plan->page_bytes;
	struct sp__policy_step step;

	while (crowded(spilled, files)) {
		/* The merge needs the write buffers, so no run can be continued. */
		int rc = sp__runs_end(spilled);
		unsigned n;

		if (rc < 0)
			return rc;
		n = sp__policy_relieve(spilled->policy, spilled->ids,
				       pages < plan->fan_in ? (unsigned)pages : plan->fan_in,
				       &step);
		if (!n)
			return 0;
		rc = sp__merge_step(spilled, spilled->ids, n, step.level, where);
		if (rc < 0)
			return rc;
	}
	return 0;
}

uint64_t sp__runs_current(const struct sp__spilled *spilled, uint64_t n)
{
	uint64_t largest = 0, all = 0;

	for (size_t i = 0; i < spilled->nruns; i++)
		if (spilled->runs[i]) {
			largest = sp__max(largest, spilled->runs[i]->largest);
			all += spilled->runs[i]->long_bytes;
		}
	return sp__min(n * largest, all);
}

/* True if the current records of a merge of all runs fit into half of the memory. */
static bool all_fit(const struct sp__spilled *spilled)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < spilled->nruns; i++)
		sum += spilled->runs[i] ? spilled->runs[i]->largest : 0;
	return sum <= spilled->sort->plan.memory_bytes / 2;
}

/* Chooses up to `most` runs whose current records fit into half of the memory, or two runs. */
static unsigned choose_light(const struct sp__spilled *spilled, unsigned most,
			     struct sp__policy_step *step)
{
	for (;; most = sp__max(most / 2, 2)) {
		unsigned n = sp__policy_relieve(spilled->policy, spilled->ids, most, step);
		uint64_t sum = 0;

		for (unsigned i = 0; i < n; i++)
			sum += spilled->runs[spilled->ids[i]]->largest;
		if (n <= 2 || sum <= spilled->sort->plan.memory_bytes / 2)
			return n;
	}
}

/*
 * Merges until the current records of all runs, of which each has one in memory, fit into half of
 * it, or until two runs are left.  Slots that stay in memory can leave no pages for that.
 */
static int lighten(struct sp__spilled *spilled, struct sp__freemem where)
{
	const struct sp_sort_plan *plan = &spilled->sort->plan;
	const enum sp_readahead strategy = spilled->sort->opts.readahead;
	struct sp__policy_step step;
	unsigned most = plan->fan_in, n;
	int rc = 0;

	while (most && sp__readplan_min(strategy, most) > where.bytes / plan->page_bytes)
		most--;
	if (most < 2)
		return 0;
	while (!rc && !all_fit(spilled) && sp__policy_runs(spilled->policy) > 2 &&
	       (n = choose_light(spilled, most, &step)))
		rc = sp__merge_step(spilled, spilled->ids, n, step.level, where);
	return rc;
}

int sp__runs_reduce(struct sp__spilled *spilled, bool input_ended, struct sp__freemem where)
{
	unsigned *ids = spilled->ids, n;
	struct sp__policy_step step;
	int rc = input_ended ? lighten(spilled, where) : 0;

	if (rc)
		return rc;
	if (!input_ended && !all_fit(spilled))
		sp__policy_narrow(spilled->policy, 2);
	do {
		n = sp__policy_next(spilled->policy, input_ended, ids, spilled->sort->plan.fan_in,
				    &step);
		if (!n || step.final)
			return (int)n;
		rc = sp__merge_step(spilled, ids, n, step.level, where);
	} while (!rc);
	return rc;
}
