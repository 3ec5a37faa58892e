/* SPDX-License-Identifier: MIT */
/*
 * Prints the plan of --explain in words.
 */
#include <inttypes.h>
#include <stdio.h>
#include "xgroup.h"

static void tell_sample(const struct settings *set, const struct sp_group_plan *p)
{
	if (!p->input_bytes) {
		fprintf(stderr, "  The size of the input is unknown: not all of it is in regular "
				"files that are\n"
				"  read as they are, or it is empty.  There is no sample.\n");
		return;
	}
	fprintf(stderr, "  The input%s%s, %s, has about %" PRIu64 " records.\n",
		set->nfiles == 1 ? " " : "", set->nfiles == 1 ? quote_file(set->files[0]) : "",
		size_of(p->input_bytes).text, p->records);
	fprintf(stderr,
		"  A sample of %" PRIu64 " of them has %" PRIu64 " groups; all have about %" PRIu64
		".\n",
		p->sample_records, p->sample_groups, p->groups);
}

static void tell_memory(const struct sp_group_plan *p)
{
	fprintf(stderr, "  Memory: %s for tables of groups", size_of(p->tables_bytes).text);
	fprintf(stderr, ", %s for the sort of partial totals", size_of(p->sort_bytes).text);
	if (p->rows_bytes)
		fprintf(stderr, ",\n  %s for the sort of rows", size_of(p->rows_bytes).text);
	if (p->source_bytes)
		fprintf(stderr, ",\n  %s for reading the table", size_of(p->source_bytes).text);
	fprintf(stderr, ".\n");
	if (p->input_bytes)
		fprintf(stderr, "  Threads that read: %u of %u.\n", p->threads, p->max_threads);
}

static void tell_space(const struct settings *set, const struct sp_group_plan *p)
{
	const uint64_t need = p->spill_bytes + p->rows_spill_bytes;
	struct sp_run_space space;

	if (!p->input_bytes) {
		fprintf(stderr, "  Partial totals that do not fit into memory go to temporary "
				"files.\n");
		return;
	}
	fprintf(stderr,
		"  The tables give about %" PRIu64 " partial totals to the sort, %s: ", p->partials,
		size_of(p->partial_bytes).text);
	if (p->in_memory) {
		fprintf(stderr, "no temporary files.\n");
		return;
	}
	fprintf(stderr, "temporary files.\n  Temporary space: about %s needed", size_of(need).text);
	if (!set->opts.run.volume && sp_run_space(&set->opts.run, &space, NULL) >= 0)
		fprintf(stderr, "; %s free", size_of(space.free_bytes).text);
	fprintf(stderr, ".  More memory (-S) reduces that.\n");
}

void explain_plan(const struct settings *set, const struct sp_group_plan *p)
{
	fprintf(stderr, "Estimates, made from a sample:\n");
	tell_sample(set, p);
	tell_memory(p);
	tell_space(set, p);
}
