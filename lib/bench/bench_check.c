/* SPDX-License-Identifier: MIT */
/*
 * Checks options for contradictions, and replaces priority class RT where it is not allowed.
 */
#include <stdio.h>
#include <string.h>
#include "base/err.h"
#include "bench/state.h"
#include "io/engine.h"

/*
 * Class RT needs a capability.  Without it, RT becomes BE and all lower classes become IDLE; these
 * need no capability, and the order stays.  If a class is IDLE already, three ranks cannot become
 * two, and the run is refused.
 */

static unsigned class_of(uint16_t prio)
{
	return prio >> 13;
}

static const struct sp_enum_value classes[] = {
	{ "default", SP_BENCH_NONE }, { "none", SP_BENCH_NONE }, { "rt", SP_BENCH_RT },
	{ "be", SP_BENCH_BE },	      { "idle", SP_BENCH_IDLE }, { NULL, 0 }
};

static bool has_levels(int class)
{
	return class == SP_BENCH_RT || class == SP_BENCH_BE;
}

const char *sp_bench_prio_name(uint16_t prio, char text[16])
{
	int class = prio >> 13 & 3;

	if (has_levels(class))
		snprintf(text, 16, "%s/%u", sp_enum_name(classes, class), prio & 7u);
	else
		snprintf(text, 16, "%s", sp_enum_name(classes, class));
	return text;
}

int sp_bench_prio_parse(const char *text, uint16_t *prio)
{
	size_t len = strcspn(text, "/");
	const char *level = text + len;

	for (const struct sp_enum_value *c = classes; c->name; c++) {
		bool levels = has_levels(c->value);

		if (strncmp(c->name, text, len) != 0 || c->name[len])
			continue;
		if (*level && (!levels || level[1] < '0' || level[1] > '7' || level[2]))
			break;
		*prio = SP_BENCH_PRIO(c->value, *level ? level[1] - '0' : levels ? 4 : 0);
		return 0;
	}
	return -EINVAL;
}

int sp__bench_settle_prios(struct sp_bench *b, struct sp_errinfo *err)
{
	bool rt = false, idle = false;

	for (size_t i = 0; i < b->nclasses; i++) {
		rt |= class_of(b->classes[i]->spec.prio) == SP_BENCH_RT;
		idle |= class_of(b->classes[i]->spec.prio) == SP_BENCH_IDLE;
	}
	if (!rt || b->device || sp__ioprio_rt_allowed())
		return 0;
	if (b->opts.no_fallback || idle)
		return sp__errf(err, -EPERM, "check", "", -1,
				"priority class rt needs CAP_SYS_NICE%s",
				idle ? ", and no class is below idle, the other one" : "");
	for (size_t i = 0; i < b->nclasses; i++) {
		struct sp_bench_class *c = &b->classes[i]->spec;

		if (class_of(c->prio) == SP_BENCH_RT)
			c->prio = SP_BENCH_PRIO(SP_BENCH_BE, c->prio & 7);
		else
			c->prio = SP_BENCH_PRIO(SP_BENCH_IDLE, 0);
	}
	b->result.prio_fallback = true;
	sp_no_effects_add(&b->result.no_effects, "prio of --class",
			  "class rt needs CAP_SYS_NICE; be and idle were used instead");
	return 0;
}

#define BYTES_MAX (1u << 30)

static int refuse(struct sp_errinfo *err, const struct sp_bench_class *c, const char *reason)
{
	return SP__REFUSE(err, "class %s: %s", c->name, reason);
}

static int check_class(const struct sp_bench_opts *o, const struct sp_bench_class *c,
		       struct sp_errinfo *err)
{
	if (!c->bytes || c->bytes > BYTES_MAX)
		return refuse(err, c, "the request size is not from 1 byte to 1 GiB");
	if (!(c->reads >= 0 && c->reads <= 1))
		return refuse(err, c, "the share of reads is not from 0 to 1");
	if (!(c->share >= 0 && c->share <= 1))
		return refuse(err, c, "the share is not from 0 to 1");
	if (!(c->rate >= 0))
		return refuse(err, c, "the rate is negative");
	if (!(c->range_share >= 0 && c->range_share <= 1))
		return refuse(err, c, "the share of its range is not from 0 to 1");
	if (c->offset_percent > 99 || (c->offset_percent && c->offset_bytes))
		return refuse(err, c, "the offset is above 99 % or given twice");
	if (c->target > o->ntargets)
		return refuse(err, c, "its target does not exist");
	if (c->pattern == SP_BENCH_STRIDED && (!c->stride_bytes || c->stride_bytes % c->bytes))
		return refuse(err, c, "the stride is not a multiple of the request size");
	if (c->pattern == SP_BENCH_ZIPF && !(c->theta > 0 && c->theta <= 10))
		return refuse(err, c, "theta is not above 0 and at most 10");
	if (c->prio >> 13 > SP_BENCH_IDLE || (c->prio & 0x1ff8))
		return refuse(err, c, "the priority is invalid");
	return 0;
}

static bool shares(const struct sp_bench_class *c)
{
	return !c->depth && c->rate <= 0;
}

static int check_depths(const struct sp_bench_opts *o, struct sp_errinfo *err)
{
	uint64_t all = 0;
	double share = 0;
	bool any = false;

	for (size_t i = 0; i < o->nclasses; i++) {
		const struct sp_bench_class *c = &o->classes[i];

		any |= shares(c);
		share += shares(c) ? c->share : 0;
		all += shares(c) ? 0 : c->depth ? c->depth : o->depth;
	}
	all += any ? o->depth : 0;
	if (any && (share < 0.999 || share > 1.001))
		return SP__REFUSE(err,
				  "the shares of the classes add up to %g %% instead of 100 %%",
				  share * 100);
	if (!o->depth || all > SP_BENCH_DEPTH_MAX)
		return SP__REFUSE(err, "1 to %d requests can be outstanding, not %llu",
				  SP_BENCH_DEPTH_MAX, o->depth ? (unsigned long long)all : 0ull);
	if (o->batch_min > o->depth || (o->batch_max && o->batch_max < o->batch_min))
		return SP__REFUSE(err,
				  "batches of completions must fit into the depth, and batch_min "
				  "into batch_max");
	return 0;
}

/* Returns why there can be no simulated target, or NULL. */
static const char *refused_sim(const struct sp_bench_opts *o)
{
	if (o->ntargets > 1)
		return "a simulated target must be the only one";
	if (o->engine && strcmp(o->engine, "auto") != 0)
		return "a simulated target cannot be used with an engine";
	return o->create ? "a simulated target cannot be created" : NULL;
}

static int check_targets(const struct sp_bench_opts *o, struct sp_errinfo *err)
{
	bool null = o->engine && !strcmp(o->engine, "null");

	if (!o->ntargets || o->ntargets > SP_BENCH_TARGETS_MAX)
		return SP__REFUSE(err, "the number of targets is not from 1 to %d",
				  SP_BENCH_TARGETS_MAX);
	for (size_t i = 0; i < o->ntargets; i++) {
		const char *reason = refused_sim(o);

		if (reason && strncmp(o->targets[i], "sim:", 4) == 0)
			return sp__errf(err, -EINVAL, "check", o->targets[i], -1, "%s", reason);
	}
	if (o->create && o->create != SP_BENCH_CREATE_MISSING &&
	    ((!o->size_bytes && !o->replay) || o->offset_bytes))
		return SP__REFUSE(err, "a file to create needs a size, and no offset");
	if (o->remove && !o->create)
		return SP__REFUSE(err, "only created files can be removed");
	if (null && o->create)
		return SP__REFUSE(err, "the engine \"null\" opens no target, and creates none");
	return 0;
}

static int check_end(const struct sp_bench_opts *o, struct sp_errinfo *err)
{
	if (o->steady_ns && o->runtime_ns && o->runtime_ns / SP_BENCH_STEADY_WINDOW < o->steady_ns)
		return SP__REFUSE(err,
				  "a steady state takes %d rounds of %g s, and the run ends after "
				  "%g s",
				  SP_BENCH_STEADY_WINDOW, (double)o->steady_ns / 1e9,
				  (double)o->runtime_ns / 1e9);
	return 0;
}

static int check_replay(const struct sp_bench_opts *o, struct sp_errinfo *err)
{
	if (o->nclasses || o->rate > 0)
		return SP__REFUSE(err, "a replay takes classes and times from its trace");
	if (o->depth > SP_BENCH_DEPTH_MAX || !(o->replay->time_scale >= 0))
		return SP__REFUSE(
			err, "a replay has at most %d requests outstanding, and a scale above 0",
			SP_BENCH_DEPTH_MAX);
	if (o->steady_ns)
		return SP__REFUSE(err, "a replay ends with its trace, not at a steady state");
	if (o->ramp_ns)
		return SP__REFUSE(err, "a replay measures all requests: it has no ramp");
	return check_targets(o, err);
}

int sp__bench_check(const struct sp_bench_opts *o, struct sp_errinfo *err)
{
	int rc = 0;

	if (o->replay)
		return check_replay(o, err);
	if (!o->nclasses || o->nclasses > SP_BENCH_CLASSES_MAX)
		return SP__REFUSE(err, "the number of classes is not from 1 to %d",
				  SP_BENCH_CLASSES_MAX);
	for (size_t i = 0; rc == 0 && i < o->nclasses; i++)
		rc = check_class(o, &o->classes[i], err);
	if (rc == 0)
		rc = check_depths(o, err);
	if (rc == 0)
		rc = check_end(o, err);
	return rc ? rc : check_targets(o, err);
}
