/* SPDX-License-Identifier: MIT */
#include <spindle/index.h>
#include "report/report_run.h"

static const struct sp_report_field fields[] = {
	FIELD(index_stats, "keys", COUNT, keys),
	FIELD(index_stats, "found", COUNT, found),
	FIELD(index_stats, "records", COUNT, records),
	FIELD(index_stats, "levels", COUNT, levels),
	FIELD(index_stats, "pages", COUNT, pages),
	FIELD(index_stats, "nodes_read", COUNT, nodes_read),
	FIELD(index_stats, "nodes_in_memory", COUNT, nodes_in_memory),
	{ 0 },
};

struct sp_report *sp_report_index(const struct sp_index_stats *stats)
{
	return sp_report_run("spindle.index/1", "xindex", fields, stats, &stats->run);
}
