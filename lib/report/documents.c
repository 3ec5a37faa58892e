/* SPDX-License-Identifier: MIT */
/*
 * Lists all kinds of documents.
 */
#include "report/documents.h"

#define BENCH "spindle.aiobench/1", "aiobench"

const struct sp__document sp__documents[SP__DOC_COUNT_] = {
	[SP__DOC_SORT] = { "spindle.sort/1", "xsort", NULL, sp__sort_document },
	[SP__DOC_SORT_PLAN] = { "spindle.sort-plan/1", "xsort", NULL, sp__sort_plan_document },
	[SP__DOC_JOIN] = { "spindle.join/1", "xjoin", NULL, sp__join_document },
	[SP__DOC_JOIN_PLAN] = { "spindle.join-plan/1", "xjoin", NULL, sp__join_plan_document },
	[SP__DOC_INDEX] = { "spindle.index/1", "xindex", NULL, sp__index_document },
	[SP__DOC_CUBE] = { "spindle.cube/1", "mmap-cube", NULL, sp__cube_document },
	[SP__DOC_CUBE_COMPARISON] = { "spindle.cube-comparison/1", "mmap-cube", NULL,
				      sp__cube_comparison_document },
	[SP__DOC_TABLE] = { "spindle.table/1", "xtable", NULL, sp__table_document },
	[SP__DOC_TABLE_INFO] = { "spindle.table-info/1", "xtable", NULL, sp__table_info_document },
	[SP__DOC_TABLE_COMPARISON] = { "spindle.table-comparison/1", "xtable", NULL,
				       sp__table_comparison_document },
	[SP__DOC_TABLE_RUN] = { "spindle.table-run/1", "xtable", NULL, sp__table_run_document },
	[SP__DOC_DBM] = { "spindle.dbmbench/1", "dbmbench", NULL, sp__dbm_document },
	[SP__DOC_DBM_COMPARE] = { "spindle.dbmbench-comparison/1", "dbmbench", NULL,
				  sp__dbm_compare_document },
	[SP__DOC_SEQUENCE] = { "spindle.sequence/1", "blockseq", NULL, sp__sequence_document },
	[SP__DOC_SEQUENCE_COMPARISON] = { "spindle.sequence-comparison/1", "blockseq", NULL,
					  sp__sequence_comparison_document },
	[SP__DOC_PROBE] = { "spindle.probe/1", "diskprobe", NULL, sp__probe_document },
	[SP__DOC_PROBE_VERIFY] = { "spindle.probe-verify/1", "diskprobe", NULL,
				   sp__probe_verify_document },
	[SP__DOC_RUN] = { BENCH, "run", sp__run_document },
	[SP__DOC_REPLAY] = { BENCH, "replay", sp__replay_document },
	[SP__DOC_SWEEP] = { BENCH, "sweep", sp__sweep_document },
	[SP__DOC_MIX] = { BENCH, "mix", sp__mix_document },
	[SP__DOC_COMPARE] = { BENCH, "compare", sp__compare_document },
	[SP__DOC_POLICY] = { BENCH, "policy", sp__policy_document },
	[SP__DOC_PREFLIGHT] = { BENCH, "preflight", sp__preflight_document },
	[SP__DOC_WATCH] = { BENCH, "watch", sp__watch_document },
};
