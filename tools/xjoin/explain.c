/* SPDX-License-Identifier: MIT */
/*
 * Prints the plan of --explain in words.
 */
#include <inttypes.h>
#include <stdio.h>
#include "msg.h"
#include "xjoin.h"

#define MIB (1024.0 * 1024)

static void tell_partitions(const struct settings *set, const struct sp_join_plan *p)
{
	fprintf(stderr, "  File %u, %s, is read first", p->build,
		quote_file(set->inputs[p->build - 1]));
	if (!p->build_bytes) {
		fprintf(stderr, "; its size is unknown.\n"
				"  Data that does not fit into memory goes to temporary files.\n");
		return;
	}
	fprintf(stderr, "; its records need %.1f MiB of\n  the %.1f MiB of memory for them: ",
		(double)p->need_bytes / MIB, (double)p->memory_bytes / MIB);
	if (p->spilled)
		fprintf(stderr,
			"%u of %u partitions go to temporary files.\n"
			"  More memory (-S) reduces that.\n",
			p->spilled, p->spilled + p->resident);
	else
		fprintf(stderr, "no temporary files.\n");
}

void explain_plan(const struct settings *set, const struct sp_join_plan *p)
{
	fprintf(stderr, "Estimates, made before the join:\n  Algorithm: %s.\n",
		sp_join_algorithm_name(p->algorithm));
	if (p->algorithm != SP_JOIN_MERGE && p->build)
		tell_partitions(set, p);
	if (p->index_s > 0)
		fprintf(stderr, "  Predicted time: %.3g s with the index, %.3g s by a hash join.\n",
			p->index_s, p->hash_s);
	if (p->threads < p->max_threads)
		fprintf(stderr,
			"  Threads: at most %u of %u; each needs a part of the memory (-S) and of\n"
			"  the input.\n",
			p->threads, p->max_threads);
	if (p->ordered_by == SP_JOIN_BY_SORTING)
		fprintf(stderr, "  The result is sorted afterwards, for --ordered.\n");
	if (p->seconds > 0)
		fprintf(stderr, "  The join should take %.3g s of virtual time.\n", p->seconds);
}
