/* SPDX-License-Identifier: MIT */
/*
 * How long a hash join on real files will take, told when both inputs have been partitioned.
 *
 * What is left to do is to read each pair of partitions and to write what it gives.  That moves as
 * fast as all has moved until now, if the device can: its t is measured by writing the partitions,
 * whose pieces lie as far apart when they are read again.  A pair too large for the memory is
 * partitioned once more.
 *
 * Assumed, as when a join is rehearsed (rehearse.c): each record of the side that has more of them
 * has one partner, since the filter has dropped most of those without, and a pair is as long as
 * both its records.
 */
#include <math.h>
#include "join/stage.h"

#define MB 1048576.0

/* Of the result. */
static double given_bytes(const struct sp__stage *s, const struct sp__run *const run[2])
{
	double mean = 0, most = 0;

	for (int role = 0; role < 2; role++) {
		double records = fmax((double)run[role]->records, 1);

		mean += (double)run[role]->bytes / records;
		most = fmax(most, records);
	}
	return s->h->j->opts.pairs ? most * mean : 0;
}

static double pair_s(const struct sp__stage *s, const struct sp__run *const run[2], double pace_s)
{
	double bytes = (double)run[SP__BUILD]->bytes + (double)run[SP__PROBE]->bytes;
	uint64_t need = sp__join_need(run[SP__BUILD]->bytes, run[SP__BUILD]->records);

	if (need > s->h->layout.table_bytes)
		bytes *= 3;
	return fmax(pace_s * (bytes + given_bytes(s, run)), sp__spill_write_s(s->h->spill) * bytes);
}

void sp__stage_foretell(const struct sp__stage *s)
{
	const struct sp__hash *h = s->h;
	struct sp_foretold *f = &h->j->stats.foretold;
	uint64_t moved = s->bytes[SP__BUILD] + s->bytes[SP__PROBE];
	double now = (double)(sp__env_now_ns(&h->j->env) - h->j->env.begin_ns) * 1e-9;

	if (h->j->env.device || !h->spill || h->sorting)
		return;
	f->transfer_s_per_mb = sp__spill_write_s(h->spill) * MB;
	f->seconds = now;
	for (unsigned i = 0; i < s->nparts; i++) {
		const struct sp__run *const run[2] = { s->parts[i].run[SP__BUILD],
						       s->parts[i].run[SP__PROBE] };

		if (run[SP__BUILD] && run[SP__PROBE])
			f->seconds += pair_s(s, run, now / (double)(moved + h->spill->write_bytes));
	}
}
