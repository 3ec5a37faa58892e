/* SPDX-License-Identifier: MIT */
/*
 * How long a hash join on real files will take, told when both inputs have been partitioned.
 *
 * What is left to do is to read each pair of partitions, and to write what it gives: about as many
 * bytes as its probe side has, since the filter has dropped most records without a partner.  That
 * moves as fast as all has moved until now, if the device can: its t is measured by writing the
 * partitions, whose pieces lie as far apart when they are read again.  A pair too large for the
 * memory is partitioned once more.
 */
#include <math.h>
#include "join/stage.h"

#define MB 1048576.0

void sp__stage_foretell(const struct sp__stage *s)
{
	const struct sp__hash *h = s->h;
	struct sp_foretold *f = &h->j->stats.foretold;
	uint64_t moved = s->bytes[SP__BUILD] + s->bytes[SP__PROBE];
	double now = (double)(sp__env_now_ns(&h->j->env) - h->j->env.begin_ns) * 1e-9, pace, byte_s;

	if (h->j->env.device || !h->spill || h->sorting)
		return;
	pace = now / (double)(moved + h->spill->write_bytes);
	byte_s = sp__spill_write_s(h->spill);
	f->transfer_s_per_mb = byte_s * MB;
	f->seconds = now;
	for (unsigned i = 0; i < s->nparts; i++) {
		const struct sp__run *build = s->parts[i].run[SP__BUILD];
		const struct sp__run *probe = s->parts[i].run[SP__PROBE];
		double bytes, times;

		if (!build || !probe)
			continue;
		bytes = (double)(build->bytes + probe->bytes);
		times = sp__join_need(build->bytes, build->records) > h->layout.table_bytes ? 3 : 1;
		f->seconds +=
			fmax(pace * (times * bytes + (double)probe->bytes), byte_s * times * bytes);
	}
}
