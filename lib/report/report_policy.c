/* SPDX-License-Identifier: MIT */
/*
 * The document of several policies on one target; its keys are those of
 * spindle-report(5).
 */
#include <math.h>
#include "report/report_bench.h"
#include "report/doc.h"

static void put_config(struct sp__doc doc, const struct sp_bench_opts *t,
		       const struct sp_policy_opts *o)
{
	struct sp__doc c = sp__doc_object(doc, "config");
	char prio[16];

	sp__doc_text(c, "target", t->targets[0]);
	sp__doc_text(c, "engine", t->engine ? t->engine : "auto");
	sp__doc_bool(c, "direct", !t->buffered);
	sp__doc_bool(c, "fixed_buffers", t->fixed_buffers);
	sp__doc_bool(c, "register_files", t->register_files);
	sp__doc_count(c, "depth", t->depth);
	sp__doc_real(c, "runtime_s", t->runtime_ns ? (double)t->runtime_ns / 1e9 : NAN);
	sp__doc_real(c, "ramp_s", (double)t->ramp_ns / 1e9);
	sp__doc_count(c, "offset_bytes", t->offset_bytes);
	sp__doc_count(c, "seed", t->seed);
	sp__doc_text(c, "high_prio", sp_bench_prio_name(o->high_prio, prio));
	sp__doc_text(c, "low_prio", sp_bench_prio_name(o->low_prio, prio));
	sp__doc_count(c, "page_bytes", o->page_bytes);
	sp__doc_count(c, "extent_pages", o->extent_pages);
	sp__doc_count(c, "ahead", o->ahead);
	sp__doc_count(c, "clients", o->clients);
	sp__doc_count(c, "query_pages", o->query_pages);
	sp__doc_count(c, "batch", o->batch);
	sp__doc_real(c, "buffer", o->buffer);
	sp__doc_count(c, "steal", o->steal);
	sp__doc_count(c, "flow", o->flow);
	sp__doc_real(c, "preflush_s", (double)o->preflush_ns / 1e9);
	sp__doc_real(c, "compute_s", (double)o->compute_ns / 1e9);
	sp__doc_real(c, "critical_rate_iops", o->critical_rate);
	sp__doc_known(c, "passes", o->passes);
}

static void put_run(struct sp__doc row, const struct sp_policy_result *r)
{
	sp__doc_text(row, "load", sp_policy_load_name(r->opts.load));
	sp__doc_text(row, "submission", sp_policy_submission_name(r->opts.submission));
	sp__doc_bool(row, "priorities", r->opts.priorities);
	sp__doc_count(row, "table_bytes", r->table_bytes);
	sp__doc_count(row, "pages", r->pages);
	sp__doc_count(row, "queries", r->queries);
	sp__doc_real(row, "pages_per_s", r->pages_per_s);
	sp__doc_real(row, "page_bandwidth_bytes_per_s", r->bandwidth_bytes_per_s);
	sp__doc_real(row, "idle_share", r->idle);
	sp__report_bench_result(row, r->bench);
}

struct sp_report *sp_report_policy(const struct sp_bench_opts *target,
				   const struct sp_policy *const *policies, size_t n)
{
	struct sp__doc doc;
	bool failed;
	struct sp_report *report = sp__report_new("spindle.aiobench/1", "aiobench", &failed, &doc);
	json_t *runs;

	if (!report)
		return NULL;
	sp__doc_text(doc, "kind", "policy");
	if (n)
		put_config(doc, target, &sp_policy_result(policies[0])->opts);
	runs = sp__doc_array(doc, "runs");
	for (size_t i = 0; i < n; i++)
		put_run(sp__doc_element(doc, runs), sp_policy_result(policies[i]));
	return sp__report_done(report, failed);
}
