/* SPDX-License-Identifier: MIT */
/*
 * Lists the fields of all kinds of documents.  It is apart from the list of the kinds, so that a
 * program linked with the static library contains only the tables of the documents it makes.
 */
#include "report/documents.h"

const struct sp_report_field *const sp__document_fields[SP__DOC_COUNT_] = {
	[SP__DOC_SORT] = sp__sort_document,
	[SP__DOC_SORT_PLAN] = sp__sort_plan_document,
	[SP__DOC_JOIN] = sp__join_document,
	[SP__DOC_JOIN_PLAN] = sp__join_plan_document,
	[SP__DOC_GROUP] = sp__group_document,
	[SP__DOC_GROUP_PLAN] = sp__group_plan_document,
	[SP__DOC_INDEX] = sp__index_document,
	[SP__DOC_CUBE] = sp__cube_document,
	[SP__DOC_CUBE_COMPARISON] = sp__cube_comparison_document,
	[SP__DOC_TABLE] = sp__table_document,
	[SP__DOC_TABLE_INFO] = sp__table_info_document,
	[SP__DOC_TABLE_COMPARISON] = sp__table_comparison_document,
	[SP__DOC_TABLE_RUN] = sp__table_run_document,
	[SP__DOC_DBM] = sp__dbm_document,
	[SP__DOC_DBM_COMPARE] = sp__dbm_compare_document,
	[SP__DOC_SEQUENCE] = sp__sequence_document,
	[SP__DOC_SEQUENCE_COMPARISON] = sp__sequence_comparison_document,
	[SP__DOC_PROBE] = sp__probe_document,
	[SP__DOC_PROBE_VERIFY] = sp__probe_verify_document,
	[SP__DOC_RUN] = sp__run_document,
	[SP__DOC_REPLAY] = sp__replay_document,
	[SP__DOC_SWEEP] = sp__sweep_document,
	[SP__DOC_MIX] = sp__mix_document,
	[SP__DOC_COMPARE] = sp__compare_document,
	[SP__DOC_POLICY] = sp__policy_document,
	[SP__DOC_PREFLIGHT] = sp__preflight_document,
	[SP__DOC_WATCH] = sp__watch_document,
};
