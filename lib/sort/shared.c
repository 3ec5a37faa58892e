/* SPDX-License-Identifier: MIT */
/*
 * Compares the records that a sort has read with those that it has returned or dropped, and adds up
 * the statistics of two sorts.
 */
#include "base/err.h"
#include "sort/shared.h"

int sp__balance_compare(const struct sp__sort_shared *s, const char *what, uint64_t want,
			uint64_t have)
{
	if (want == have)
		return 0;
	return sp__errf(s->env.err, SP_EBALANCE, "sort", NULL, -1,
			"%s (%s: %llu expected, %llu found)", sp_strerror(SP_EBALANCE), what,
			(unsigned long long)want, (unsigned long long)have);
}

void sp__balance_join(struct sp__balance *to, const struct sp__balance *from)
{
	sp__tally_join(&to->dropped, &from->dropped);
	sp__tally_join(&to->given, &from->given);
	to->counted += from->counted;
}

void sp__stats_join(struct sp_sort_stats *to, const struct sp_sort_stats *from)
{
	to->runs += from->runs;
	to->spilled_runs += from->spilled_runs;
	to->merges += from->merges;
	to->merge_passes += from->merge_passes;
	to->cluster_reads += from->cluster_reads;
	to->demand_reads += from->demand_reads;
	to->spill_recycled_bytes += from->spill_recycled_bytes;
	to->run.read_requests += from->run.read_requests;
	to->run.read_bytes += from->run.read_bytes;
	to->run.write_requests += from->run.write_requests;
	to->run.write_bytes += from->run.write_bytes;
	to->run.spill_read_bytes += from->run.spill_read_bytes;
	to->run.spill_write_bytes += from->run.spill_write_bytes;
	to->run.spill_peak_bytes += from->run.spill_peak_bytes;
}
