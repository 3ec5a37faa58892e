/* SPDX-License-Identifier: MIT */
/*
 * Builds the document of a command on an index.
 */
#include <spindle/index.h>
#include "report/report_run.h"

static const struct sp_report_field fields[] = {
	MEMBER(index_stats, COUNT, keys,
	       "keys looked up; of an index that was built or checked, its different keys"),
	MEMBER(index_stats, COUNT, found, "keys looked up that have a record"),
	MEMBER(index_stats, COUNT, records, "records indexed, checked or matching"),
	MEMBER(index_stats, COUNT, levels, "levels of the index"),
	MEMBER(index_stats, COUNT, pages, "pages of the index"),
	MEMBER(index_stats, COUNT, nodes_read, "nodes that lookups read from the file"),
	MEMBER(index_stats, COUNT, nodes_in_memory,
	       "nodes that lookups found in memory or already requested"),
	{ 0 },
};

const struct sp_report_field sp__index_document[] = {
	GROUP("result", OBJECT, fields, "results of the command"),
	LATER("result.elapsed_s", REAL, "duration of the command"),
	INCLUDE(sp__used_fields),
	{ 0 },
};

struct sp_report *sp_report_index(const struct sp_index_stats *stats)
{
	return sp_report_run(sp__documents[SP__DOC_INDEX].schema, sp__documents[SP__DOC_INDEX].tool,
			     fields, stats, &stats->run);
}
