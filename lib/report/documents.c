/* SPDX-License-Identifier: MIT */
/*
 * Lists all kinds of documents, and reads a document from a file.
 */
#include <errno.h>
#include <jansson.h>
#include <string.h>
#include "base/err.h"
#include "base/loaded.h"
#include "base/utf8mark.h"
#include "report/documents.h"
#include "report/read.h"

int sp__report_load(json_t **doc, enum sp__document_kind kind, const char *path,
		    struct sp_errinfo *err)
{
	const struct sp__document *d = &sp__documents[kind];
	int rc = sp__library_load(SP__LIB_JANSSON, err);
	json_error_t error;
	FILE *f;

	if (rc)
		return rc;
	f = fopen(path, "re");
	if (!f)
		return sp__err(err, -errno, "open", path, -1);
	errno = 0;
	sp__skip_mark(f);
	*doc = json_loadf(f, 0, &error);
	if (!*doc && ferror(f))
		rc = errno ? -errno : -EIO;
	fclose(f);
	if (rc)
		return sp__err(err, rc, "read", path, -1);
	if (!*doc)
		return sp__errf(err, SP_EFORMAT, "read", path, -1, "line %d: %s", error.line,
				error.text);
	if (strcmp(word(*doc, "schema"), d->schema) != 0 ||
	    (d->kind && strcmp(word(*doc, "kind"), d->kind) != 0) ||
	    !json_is_object(json_object_get(*doc, "config")) ||
	    !json_is_object(json_object_get(*doc, "result")))
		return sp__errf(err, SP_EFORMAT, "read", path, -1, "is not a report of %s run",
				d->tool);
	return 0;
}

#define BENCH "spindle.aiobench/1", "aiobench"

const struct sp__document sp__documents[SP__DOC_COUNT_] = {
	[SP__DOC_SORT] = { "spindle.sort/1", "xsort", NULL },
	[SP__DOC_SORT_PLAN] = { "spindle.sort-plan/1", "xsort", NULL },
	[SP__DOC_JOIN] = { "spindle.join/1", "xjoin", NULL },
	[SP__DOC_JOIN_PLAN] = { "spindle.join-plan/1", "xjoin", NULL },
	[SP__DOC_GROUP] = { "spindle.group/1", "xgroup", NULL },
	[SP__DOC_GROUP_PLAN] = { "spindle.group-plan/1", "xgroup", NULL },
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
