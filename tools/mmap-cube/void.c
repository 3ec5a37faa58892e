/* SPDX-License-Identifier: MIT */
/*
 * Refuses options without effect because of other options, or without them.
 */
#include <string.h>
#include "mmap-cube.h"

static void refuse_if(bool is_void, const char *option, const char *reason)
{
	if (is_void)
		die("%s %s", option, reason);
}

void refuse_void_options(const struct config *c)
{
	const bool grid = !c->create.points, one_volume = c->create.volumes <= 1;
	const bool queries = c->workload_path || c->nqueries;
	const bool chosen = c->create.mapping == SP_CUBE_AUTO;
	const bool multimap = chosen || c->create.mapping == SP_CUBE_MULTIMAP;

	refuse_if(c->from && c->create.shape.ndims, "--dims", "and --from are incompatible");
	refuse_if(c->from && c->given.dtype, "--dtype", "and --from are incompatible");
	refuse_if(c->from && !grid, "--points", "and --from are incompatible");
	refuse_if(c->from && c->create.no_data, "--no-data", "and --from are incompatible");
	refuse_if(c->given.cell && grid, "--cell", "applies to --points only");
	refuse_if(c->given.fill_factor && grid, "--fill-factor", "applies to --points only");
	refuse_if(c->given.overflow && grid, "--overflow", "applies to --points only");
	refuse_if(c->given.underflow && grid, "--underflow", "applies to --points only");
	refuse_if(c->given.conservatism && !multimap, "--conservatism",
		  "applies to --mapping=multimap and auto only");
	refuse_if(c->given.waste && !chosen, "--waste", "applies to --mapping=auto only");
	refuse_if(c->given.positions && !queries, "--positions", "needs --workload or --query");
	refuse_if(c->given.seed && !queries, "--seed", "needs --workload or --query");
	refuse_if(c->given.decluster && one_volume, "--decluster", "needs --volumes");
	refuse_if(c->box && (c->lo || c->hi || c->stride), "--box",
		  "and --lo, --hi or --stride are incompatible");
	refuse_if(c->discard && c->output, "--output", "and --discard are incompatible");
	refuse_if(c->open.depth > 1 && c->run.engine && !strcmp(c->run.engine, "sync"), "--depth",
		  "is always 1 with --engine=sync");
	refuse_if(c->discard && c->format_given, "--format", "and --discard are incompatible");
}
