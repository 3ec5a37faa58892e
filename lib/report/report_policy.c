/* SPDX-License-Identifier: MIT */
/*
 * The document of several policies on one target; its keys are those of
 * spindle-report(5).
 */
#include <math.h>
#include "report/report_bench.h"

static const struct sp_report_field opts_fields[] = {
	FIELD(policy_opts, "config.high_prio", PRIO, high_prio),
	FIELD(policy_opts, "config.low_prio", PRIO, low_prio),
	FIELD(policy_opts, "config.page_bytes", COUNT, page_bytes),
	FIELD(policy_opts, "config.extent_pages", COUNT, extent_pages),
	FIELD(policy_opts, "config.ahead", COUNT, ahead),
	FIELD(policy_opts, "config.clients", COUNT, clients),
	FIELD(policy_opts, "config.query_pages", COUNT, query_pages),
	FIELD(policy_opts, "config.batch", COUNT, batch),
	FIELD(policy_opts, "config.buffer", REAL, buffer),
	FIELD(policy_opts, "config.steal", COUNT, steal),
	FIELD(policy_opts, "config.flow", COUNT, flow),
	FIELD(policy_opts, "config.preflush_s", SECONDS, preflush_ns),
	FIELD(policy_opts, "config.victims", WORD, victims, .name = sp_policy_victims_name),
	FIELD(policy_opts, "config.room", WORD, room, .name = sp_policy_room_name),
	FIELD(policy_opts, "config.threads", COUNT, threads),
	FIELD(policy_opts, "config.crowd", COUNT, crowd),
	FIELD(policy_opts, "config.table_bytes", KNOWN, table_bytes),
	FIELD(policy_opts, "config.log_bytes", COUNT, log_bytes),
	FIELD(policy_opts, "config.compute_s", SECONDS, compute_ns),
	FIELD(policy_opts, "config.critical_rate_iops", REAL, critical_rate),
	FIELD(policy_opts, "config.passes", KNOWN, passes),
	{ 0 },
};

static void put_config(struct sp__doc doc, const struct sp_bench_opts *t,
		       const struct sp_policy_opts *o)
{
	sp__doc_text(doc, "config.target", t->targets[0]);
	sp__doc_text(doc, "config.engine", t->engine ? t->engine : "auto");
	sp__doc_bool(doc, "config.direct", !t->buffered);
	sp__doc_bool(doc, "config.fixed_buffers", t->fixed_buffers);
	sp__doc_bool(doc, "config.register_files", t->register_files);
	sp__doc_count(doc, "config.depth", t->depth);
	sp__doc_real(doc, "config.runtime_s", t->runtime_ns ? (double)t->runtime_ns / 1e9 : NAN);
	sp__doc_real(doc, "config.ramp_s", (double)t->ramp_ns / 1e9);
	sp__doc_count(doc, "config.offset_bytes", t->offset_bytes);
	sp__doc_count(doc, "config.seed", t->seed);
	sp__doc_fields(doc, opts_fields, o);
}

static const struct sp_report_field run_fields[] = {
	FIELD(policy_result, "load", WORD, opts.load, .name = sp_policy_load_name),
	FIELD(policy_result, "submission", WORD, opts.submission,
	      .name = sp_policy_submission_name),
	FIELD(policy_result, "priorities", BOOL, opts.priorities),
	FIELD(policy_result, "table_bytes", COUNT, table_bytes),
	FIELD(policy_result, "pages", COUNT, pages),
	FIELD(policy_result, "queries", COUNT, queries),
	FIELD(policy_result, "pages_per_s", REAL, pages_per_s),
	FIELD(policy_result, "page_bandwidth_bytes_per_s", REAL, bandwidth_bytes_per_s),
	FIELD(policy_result, "idle_share", REAL, idle),
	{ 0 },
};

struct sp_report *sp_report_policy(const struct sp_bench_opts *target,
				   const struct sp_policy *const *policies, size_t n)
{
	struct sp__doc doc = sp__report_bench_new("policy");
	json_t *runs;

	if (n)
		put_config(doc, target, &sp_policy_result(policies[0])->opts);
	runs = sp__doc_array(doc, "runs");
	for (size_t i = 0; i < n; i++) {
		const struct sp_policy_result *r = sp_policy_result(policies[i]);
		struct sp__doc row = sp__doc_element(doc, runs);

		sp__doc_fields(row, run_fields, r);
		sp__report_bench_result(row, r->bench);
	}
	return sp__report_done(doc);
}
