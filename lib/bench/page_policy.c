/* SPDX-License-Identifier: MIT */
/*
 * Measures a page load (pageload.h) while critical reads arrive at random times.
 *
 * Each kind of request is a class.  The page load fills the slots of one group (load_fill.c); the
 * critical reads have a group of their own.
 */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/enum.h"
#include "bench/state.h"

#define CRITICAL_DEPTH 64
#define THREAD_BYTES_MAX (16u << 20)

struct sp_policy {
	struct sp_bench_class classes[SP__PAGE_CLASSES + 1];
	size_t nclasses;
	struct sp__bench_feed feed;
	struct sp_bench *bench;
	struct sp_policy_result result;
};

void sp_policy_defaults(struct sp_policy_opts *o)
{
	*o = (struct sp_policy_opts){ .load = SP_POLICY_SCAN,
				      .submission = SP_POLICY_CONSERVATIVE,
				      .high_prio = SP_BENCH_PRIO(SP_BENCH_BE, 0),
				      .low_prio = SP_BENCH_PRIO(SP_BENCH_IDLE, 0),
				      .page_bytes = 16384,
				      .extent_pages = 64,
				      .ahead = 2,
				      .clients = 4,
				      .query_pages = 1000,
				      .batch = 16,
				      .buffer = 0.75,
				      .steal = 5,
				      .flow = 32,
				      .preflush_ns = 1000000000,
				      .compute_ns = 50000,
				      .critical_rate = 20 };
}

SP__ENUM_TABLE(sp_policy_load, { "scan", SP_POLICY_SCAN }, { "range", SP_POLICY_RANGE },
	       { "update", SP_POLICY_UPDATE })

SP__ENUM_TABLE(sp_policy_victims, { "random", SP_POLICY_VICTIMS_RANDOM },
	       { "oldest", SP_POLICY_VICTIMS_OLDEST })

SP__ENUM_TABLE(sp_policy_frames, { "usual", SP_POLICY_FRAMES_USUAL },
	       { "page", SP_POLICY_FRAMES_PAGE }, { "extent", SP_POLICY_FRAMES_EXTENT })

SP__ENUM_TABLE(sp_policy_submission, { "conservative", SP_POLICY_CONSERVATIVE },
	       { "aggressive", SP_POLICY_AGGRESSIVE }, { "adaptive", SP_POLICY_ADAPTIVE })

static int check(const struct sp_bench_opts *t, const struct sp_policy_opts *o,
		 struct sp_errinfo *err)
{
	if (t->ntargets != 1)
		return SP__REFUSE(err, "a policy needs exactly one target");
	if (t->engine && !strcmp(t->engine, "sync"))
		return SP__REFUSE(err, "the engine \"sync\" cannot keep requests outstanding");
	if (!t->runtime_ns && !o->passes)
		return SP__REFUSE(err, "a policy needs a duration or a number of passes");
	if (o->threads && (uint64_t)o->extent_pages * o->page_bytes > THREAD_BYTES_MAX)
		return SP__REFUSE(err, "an extent is too large for one request of a thread");
	if (!(o->critical_rate >= 0) || !(o->critical_rate <= 1e9))
		return SP__REFUSE(err, "the rate is negative");
	if (t->depth > SP_BENCH_DEPTH_MAX - CRITICAL_DEPTH)
		return SP__REFUSE(err, "at most %d requests can be outstanding",
				  SP_BENCH_DEPTH_MAX - CRITICAL_DEPTH);
	return 0;
}

static struct sp_bench_class *add_class(struct sp_policy *p, const char *name, bool high)
{
	const struct sp_policy_opts *o = &p->result.opts;
	struct sp_bench_class *c = &p->classes[p->nclasses++];

	*c = (struct sp_bench_class){ .name = name,
				      .depth = 1,
				      .reads = 1,
				      .bytes = o->page_bytes,
				      .pattern = SP_BENCH_RANDOM };
	if (o->priorities)
		c->prio = high ? o->high_prio : o->low_prio;
	return c;
}

static void make_classes(struct sp_policy *p)
{
	const struct sp_policy_opts *o = &p->result.opts;
	bool single = o->load == SP_POLICY_RANGE && o->submission != SP_POLICY_AGGRESSIVE;
	struct sp_bench_class *c;

	if (o->critical_rate > 0) {
		c = add_class(p, "critical", true);
		c->rate = o->critical_rate;
		c->depth = CRITICAL_DEPTH;
	}
	add_class(p, "read", single)->bytes *= sp__pageload_max(o, SP__PAGE_READ);
	if (o->load != SP_POLICY_UPDATE)
		return;
	c = add_class(p, "write", false);
	c->reads = 0;
	c->bytes *= sp__pageload_max(o, SP__PAGE_WRITE);
	add_class(p, "urgent", true)->reads = 0;
	if (o->log_bytes) {
		c = add_class(p, "log", true);
		c->reads = 0;
		c->bytes = SP__PAGELOG_MAX_BYTES;
	}
}

/* Divides the used part of the target into table and log.  Returns NULL, or why it cannot. */
static const char *divide(struct sp_policy *p, uint64_t begin, uint64_t bytes, uint64_t *table)
{
	const struct sp_policy_opts *o = &p->result.opts;
	uint64_t log = o->load == SP_POLICY_UPDATE && o->log_bytes ? SP__PAGELOG_BYTES : 0;

	if (bytes < log || (o->table_bytes && o->table_bytes > bytes - log))
		return "the target is too small for table and log";
	*table = o->table_bytes ? o->table_bytes : bytes - log;
	p->feed.log_offset =
		(begin + bytes - log) / SP__PAGELOG_BLOCK_BYTES * SP__PAGELOG_BLOCK_BYTES;
	return NULL;
}

/* Computes the number of pages in the used part of the target, and checks it for the load. */
static int survey(struct sp_policy *p, const char *target, uint64_t begin, uint64_t bytes,
		  uint64_t *pages, struct sp_errinfo *err)
{
	const struct sp_policy_opts *o = &p->result.opts;
	const char *reason = divide(p, begin, bytes, &bytes);

	*pages = bytes / o->page_bytes;
	if (!reason)
		reason = sp__pageload_check(o, *pages);
	return reason ? sp__errf(err, -EINVAL, "check", target, -1, "%s", reason) : 0;
}

/* Plans the groups once the targets are open. */
static int plan(struct sp_bench *b, void *arg, struct sp_errinfo *err)
{
	struct sp_policy *p = arg;
	const struct sp_policy_opts *o = &p->result.opts;
	struct sp__load *l = sp__bench_load(b);
	size_t first = o->critical_rate > 0;
	uint64_t pages;
	int rc = survey(p, b->opts.targets[0], b->files[0].begin, b->files[0].bytes, &pages, err);

	if (rc)
		return rc;
	if (sp__pageload_open(&p->feed.load, o, pages, b->opts.depth, b->opts.seed))
		return sp__err(err, -ENOMEM, "open", "", -1);
	p->result.table_bytes = (uint64_t)p->feed.load.pages * o->page_bytes;
	for (size_t i = 0; i < b->nclasses; i++)
		l->classes[i] = b->classes[i];
	p->feed.classes[SP__PAGE_READ] = b->classes[first];
	if (o->load == SP_POLICY_UPDATE) {
		p->feed.classes[SP__PAGE_WRITE] = b->classes[first + 1];
		p->feed.classes[SP__PAGE_URGENT] = b->classes[first + 2];
		if (o->log_bytes)
			p->feed.classes[SP__PAGE_LOG] = b->classes[first + 3];
	}
	if (first) {
		sp__walk_init(&b->classes[0]->walks[0], &b->classes[0]->spec, b->files[0].begin,
			      p->result.table_bytes);
		sp__bench_add_group(l, 0, 1, CRITICAL_DEPTH, o->critical_rate);
	}
	sp__bench_add_group(l, first, b->nclasses - first, b->opts.depth, 0)->feed = &p->feed;
	return 0;
}

static void figures(struct sp_policy *p)
{
	struct sp_policy_result *r = &p->result;
	const struct sp_bench_result *b = &p->bench->result;
	double seconds = (double)b->elapsed_ns / 1e9;

	r->bench = b;
	r->pages = p->feed.load.accessed - p->feed.accessed;
	r->queries = p->feed.load.queries - p->feed.queries;
	if (!b->elapsed_ns)
		return;
	r->pages_per_s = (double)r->pages / seconds;
	r->bandwidth_bytes_per_s = r->pages_per_s * r->opts.page_bytes;
	r->idle = (double)b->total.depth_ns[0] / (double)b->elapsed_ns;
}

/* Converts the options of a policy into options of a measurement. */
static int prepare(struct sp_policy *p, struct sp_bench_opts *bench,
		   const struct sp_bench_opts *target, const struct sp_policy_opts *opts,
		   struct sp_errinfo *err)
{
	int rc = check(target, opts, err);

	if (rc)
		return rc;
	p->result.opts = *opts;
	make_classes(p);
	*bench = *target;
	bench->classes = p->classes;
	bench->nclasses = p->nclasses;
	bench->rate = 0;
	bench->poisson = true;
	bench->batch_submit = bench->batch_max = bench->depth; /* the page load forms batches */
	bench->total_bytes = 0;
	bench->interval_ns = bench->steady_ns = 0;
	return sp__bench_check(bench, err);
}

int sp_policy_check(const struct sp_bench_opts *target, const struct sp_policy_opts *opts,
		    struct sp_errinfo *err)
{
	struct sp_policy p = { 0 };
	struct sp_bench_opts bench;
	struct sp_bench *b;
	uint64_t pages;
	int rc = prepare(&p, &bench, target, opts, err);

	if (rc)
		return rc;
	if (bench.create)
		bench.ntargets = 0; /* the file does not exist yet */
	rc = sp__bench_hold(&b, &bench, err);
	if (rc == 0)
		rc = sp__bench_settle_prios(b, err);
	if (rc == 0)
		rc = survey(&p, target->targets[0], b->files[0].begin,
			    bench.create ? bench.size_bytes : b->files[0].bytes, &pages, err);
	sp_bench_free(b);
	return rc;
}

int sp_policy_run(struct sp_policy **out, const struct sp_bench_opts *target,
		  const struct sp_policy_opts *opts, struct sp_errinfo *err)
{
	struct sp_policy *p = calloc(1, sizeof(*p));
	struct sp_bench_opts bench;
	int rc;

	*out = NULL;
	if (!p)
		return sp__err(err, -ENOMEM, "open", "", -1);
	rc = prepare(p, &bench, target, opts, err);
	if (rc == 0)
		rc = sp__bench_run(&p->bench, &bench, plan, p, err);
	if (p->bench) {
		sp__bench_close(p->bench);
		figures(p);
		*out = p;
	}
	sp__pageload_close(&p->feed.load);
	if (!p->bench)
		free(p);
	return rc;
}

const struct sp_policy_result *sp_policy_result(const struct sp_policy *policy)
{
	return &policy->result;
}

void sp_policy_free(struct sp_policy *p)
{
	if (!p)
		return;
	sp_bench_free(p->bench);
	free(p);
}
