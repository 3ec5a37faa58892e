/* SPDX-License-Identifier: MIT */
/*
 * Lists the options of a measurement that had no effect because of its engine, the kernel or a
 * limit.
 */
#include <string.h>
#include <sys/resource.h>
#include "bench/state.h"

static bool is(const struct sp_bench *b, const char *engine)
{
	return !strcmp(b->loads[0].port->engine, engine);
}

/* Adds an option with the reason why the kernel did not register buffers or files. */
static void add_refused(struct sp_bench *b, const char *option, int rc)
{
	struct sp_no_effects *to = &b->result.no_effects;
	struct rlimit limit;

	if (b->device)
		sp_no_effects_add(to, option, "a simulated target registers nothing");
	else if (rc == -ENOTSUP)
		sp_no_effects_add(to, option, "the engine %s cannot register, only io_uring",
				  b->loads[0].port->engine);
	else if (rc == -ENOMEM && getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
		 limit.rlim_cur != RLIM_INFINITY)
		sp_no_effects_add(
			to, option,
			"locked memory is limited to %llu bytes (ulimit -l), %llu are needed",
			(unsigned long long)limit.rlim_cur,
			(unsigned long long)b->loads[0].pool_bytes);
	else
		sp_no_effects_add(to, option, "%s", sp_strerror(rc));
}

static void registered(struct sp_bench *b)
{
	const struct sp__port *p = b->loads[0].port;

	if (b->opts.fixed_buffers && (b->device || p->pool_rc))
		add_refused(b, "--fixedbufs", p->pool_rc);
	if (b->opts.register_files && (b->device || p->files_rc))
		add_refused(b, "--registerfiles", p->files_rc);
}

/* True if a class shares the depth and the rate of the run. */
static bool any_sharing(const struct sp_bench *b)
{
	for (size_t i = 0; i < b->nclasses; i++)
		if (!b->classes[i]->spec.depth && b->classes[i]->spec.rate <= 0)
			return true;
	return false;
}

static void rates(struct sp_bench *b)
{
	struct sp_no_effects *to = &b->result.no_effects;

	if (b->opts.rate > 0 && !any_sharing(b))
		sp_no_effects_add(to, "--rate_iops", "each class has a depth or rate of its own");
	if (b->opts.replay && b->opts.replay->no_stall && b->opts.replay->time_scale > 0 &&
	    b->opts.replay->time_scale != 1)
		sp_no_effects_add(to, "--replay_time_scale",
				  "with --replay_no_stall the recorded times are ignored");
}

/*
 * Adds options without effect on the engine of threads, which has one request per class at a time.
 */
static void threads(struct sp_bench *b)
{
	static const char reason[] = "sync has one request at a time for each class";
	struct sp_no_effects *to = &b->result.no_effects;
	bool depth = b->opts.depth > 1, shares = false;

	for (size_t i = 0; i < b->nclasses; i++) {
		depth |= b->classes[i]->spec.depth > 1;
		shares |= b->classes[i]->spec.share != b->classes[0]->spec.share;
	}
	for (size_t i = 0; !b->threaded && i < b->nclasses; i++)
		if (b->classes[i]->spec.prio)
			sp_no_effects_add(to, "prio of --class",
					  "neither io_uring nor libaio is available");
	if (depth)
		sp_no_effects_add(to, "--iodepth", reason);
	if (shares)
		sp_no_effects_add(to, "share of --class", reason);
	if (b->opts.batch_submit > 1)
		sp_no_effects_add(to, "--iodepth_batch", reason);
	if (b->opts.batch_min > 1)
		sp_no_effects_add(to, "--iodepth_batch_complete_min", reason);
	if (b->opts.batch_max > 1)
		sp_no_effects_add(to, "--iodepth_batch_complete_max", reason);
}

/* Adds options without effect on a target without a file, which has nothing to cache. */
static void unreal(struct sp_bench *b, const char *what)
{
	struct sp_no_effects *to = &b->result.no_effects;

	if (b->opts.buffered)
		sp_no_effects_add(to, "--direct=0", "%s has no page cache of the system", what);
	if (!b->device)
		for (size_t i = 0; i < b->nclasses; i++)
			if (b->classes[i]->spec.prio)
				sp_no_effects_add(to, "prio of --class", "%s sends no requests",
						  what);
}

void sp__bench_no_effects(struct sp_bench *b)
{
	const struct sp_no_effects *callers = b->opts.no_effects;

	for (size_t i = 0; callers && i < callers->n; i++)
		sp_no_effects_add(&b->result.no_effects, callers->list[i].option, "%s",
				  callers->list[i].reason);
	registered(b);
	rates(b);
	if (is(b, "sync"))
		threads(b);
	if (b->device)
		unreal(b, "a simulated target");
	else if (is(b, "null"))
		unreal(b, "the engine null");
}
