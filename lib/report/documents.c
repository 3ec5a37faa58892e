/* SPDX-License-Identifier: MIT */
/*
 * Lists all kinds of documents.
 */
#include "report/documents.h"

#define BENCH "spindle.aiobench/1", "aiobench"

const struct sp__document sp__documents[SP__DOC_COUNT_] = {
	[SP__DOC_SORT] = { "spindle.sort/1", "xsort", NULL },
	[SP__DOC_SORT_PLAN] = { "spindle.sort-plan/1", "xsort", NULL },
	[SP__DOC_JOIN] = { "spindle.join/1", "xjoin", NULL },
	[SP__DOC_JOIN_PLAN] = { "spindle.join-plan/1", "xjoin", NULL },
	[SP__DOC_INDEX] = { "spindle.index/1", "xindex", NULL },
	[SP__DOC_CUBE] = { "spindle.cube/1", "mmap-cube", NULL },
	[SP__DOC_CUBE_COMPARISON] = { "spindle.cube-comparison/1", "mmap-cube", NULL },
	[SP__DOC_TABLE] = { "spindle.table/1", "xtable", NULL },
	[SP__DOC_TABLE_INFO] = { "spindle.table-info/1", "xtable", NULL },
	[SP__DOC_TABLE_COMPARISON] = { "spindle.table-comparison/1", "xtable", NULL },
	[SP__DOC_TABLE_RUN] = { "spindle.table-run/1", "xtable", NULL },
	[SP__DOC_DBM] = { "spindle.dbmbench/1", "dbmbench", NULL },
	[SP__DOC_DBM_COMPARE] = { "spindle.dbmbench-comparison/1", "dbmbench", NULL },
	[SP__DOC_SEQUENCE] = { "spindle.sequence/1", "blockseq", NULL },
	[SP__DOC_SEQUENCE_COMPARISON] = { "spindle.sequence-comparison/1", "blockseq", NULL },
	[SP__DOC_PROBE] = { "spindle.probe/1", "diskprobe", NULL },
	[SP__DOC_PROBE_VERIFY] = { "spindle.probe-verify/1", "diskprobe", NULL },
	[SP__DOC_RUN] = { BENCH, "run" },
	[SP__DOC_REPLAY] = { BENCH, "replay" },
	[SP__DOC_SWEEP] = { BENCH, "sweep" },
	[SP__DOC_MIX] = { BENCH, "mix" },
	[SP__DOC_COMPARE] = { BENCH, "compare" },
	[SP__DOC_POLICY] = { BENCH, "policy" },
	[SP__DOC_PREFLIGHT] = { BENCH, "preflight" },
	[SP__DOC_WATCH] = { BENCH, "watch" },
};
