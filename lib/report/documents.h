/* SPDX-License-Identifier: MIT */
/*
 * Lists all kinds of documents.
 */
#pragma once

#include <jansson.h>
#include <spindle/report.h>

enum sp__document_kind {
	SP__DOC_SORT,
	SP__DOC_SORT_PLAN,
	SP__DOC_JOIN,
	SP__DOC_JOIN_PLAN,
	SP__DOC_GROUP,
	SP__DOC_GROUP_PLAN,
	SP__DOC_INDEX,
	SP__DOC_CUBE,
	SP__DOC_CUBE_COMPARISON,
	SP__DOC_TABLE,
	SP__DOC_TABLE_INFO,
	SP__DOC_TABLE_COMPARISON,
	SP__DOC_TABLE_RUN,
	SP__DOC_DBM,
	SP__DOC_DBM_COMPARE,
	SP__DOC_SEQUENCE,
	SP__DOC_SEQUENCE_COMPARISON,
	SP__DOC_PROBE,
	SP__DOC_PROBE_VERIFY,
	SP__DOC_RUN,
	SP__DOC_REPLAY,
	SP__DOC_SWEEP,
	SP__DOC_MIX,
	SP__DOC_COMPARE,
	SP__DOC_POLICY,
	SP__DOC_PREFLIGHT,
	SP__DOC_WATCH,
	SP__DOC_COUNT_
};

/* Members of struct sp_table_stats. */
extern const struct sp_report_field sp__pool_fields[];

/* A kind of document.  Documents of one schema with different keys have a member "kind". */
struct sp__document {
	const char *schema, *tool, *kind; /* kind: can be NULL */
};

extern const struct sp__document sp__documents[SP__DOC_COUNT_];
/* The fields of the whole document, in order; for schemas. */
extern const struct sp_report_field *const sp__document_fields[SP__DOC_COUNT_];

/* Their tables; each is next to its constructor. */
extern const struct sp_report_field sp__sort_document[], sp__sort_plan_document[],
	sp__join_document[], sp__join_plan_document[], sp__group_document[],
	sp__group_plan_document[], sp__index_document[], sp__cube_document[],
	sp__cube_comparison_document[], sp__table_document[], sp__table_info_document[],
	sp__table_comparison_document[], sp__table_run_document[], sp__dbm_document[],
	sp__dbm_compare_document[], sp__sequence_document[], sp__sequence_comparison_document[],
	sp__probe_document[], sp__probe_verify_document[], sp__run_document[],
	sp__replay_document[], sp__sweep_document[], sp__mix_document[], sp__compare_document[],
	sp__policy_document[], sp__preflight_document[], sp__watch_document[];

/*
 * Reads a document of a kind.  The caller releases it, also after an error.  Returns 0; SP_EFORMAT
 * if the file is not such a document; or -errno.
 */
SP_MUST_CHECK int sp__report_load(json_t **doc, enum sp__document_kind kind, const char *path,
				  struct sp_errinfo *err);
