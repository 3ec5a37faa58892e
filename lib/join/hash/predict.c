/* SPDX-License-Identifier: MIT */
/*
 * Predicts the duration of a hash join on real files after both inputs have been partitioned.
 *
 * Algorithm: the remaining work is to read each pair of partitions and to write its result.  Data
 * moves at the mean rate so far or, if slower, at the device's rate.  Writing the partitions
 * measures the latter, since their extents are as far apart when they are read again.  If a pair
 * exceeds memory, its larger run is read once for each block of the other, or both are partitioned
 * again, as the join will decide.  Probing is more expensive than partitioning, so many blocks take
 * longer.
 *
 * Assumptions, as in the dry run of a join (dryrun.c): each record of the side with more records
 * has one partner, since the filter has dropped most of the others.  A pair is as long as both its
 * records.
 */
#include <math.h>
#include "join/hash/stage.h"

#define MB 1048576.0

/* Bytes of the result of a pair. */
static double given_bytes(const struct sp__stage *s, const struct sp__run *const run[2])
{
	double mean = 0, max = 0;

	for (int role = 0; role < 2; role++) {
		double records = fmax((double)run[role]->records, 1);

		mean += (double)run[role]->bytes / records;
		max = fmax(max, records);
	}
	return s->h->opts->pairs ? max * mean : 0;
}

/* Bytes moved until a pair's tables have been probed. */
struct moved {
	double read, written;
};

static struct moved moved(const struct sp__stage *s, const struct sp__run *const run[2])
{
	const struct sp__join_layout *l = &s->h->layout;
	uint64_t needs[2], bytes[2];
	bool stubborn = sp__join_stubborn(run[SP__BUILD]->bytes, s->bytes[SP__BUILD]);
	double all = (double)(run[SP__BUILD]->bytes + run[SP__PROBE]->bytes), blocks;
	int build;

	for (int role = 0; role < 2; role++)
		needs[role] = sp__join_need(run[role]->bytes, run[role]->records);
	build = needs[SP__PROBE] < needs[SP__BUILD] ? SP__PROBE : SP__BUILD;
	bytes[SP__BUILD] = run[build]->bytes;
	bytes[SP__PROBE] = run[!build]->bytes;
	blocks = fmax(ceil((double)needs[build] / (double)l->table_bytes), 1);
	if (sp__join_nests(l, s->h->opts->algorithm, s->depth + 1, stubborn, needs[build], bytes))
		return (struct moved){ .read = (double)bytes[SP__BUILD] +
					       (double)bytes[SP__PROBE] * blocks };
	return (struct moved){ .read = blocks > 1 ? 2 * all : all,
			       .written = blocks > 1 ? all : 0 };
}

static double pair_s(const struct sp__stage *s, const struct sp__run *const run[2], double pace_s)
{
	struct moved m = moved(s, run);
	double bytes = m.read + m.written;

	s->h->to_read += (uint64_t)m.read;
	return fmax(pace_s * (bytes + given_bytes(s, run)), sp__spill_write_s(s->h->spill) * bytes);
}

void sp__stage_predict(const struct sp__stage *s)
{
	const struct sp__hash *h = s->h;
	struct sp_prediction *f = &h->counts->stats.prediction;
	uint64_t moved = s->bytes[SP__BUILD] + s->bytes[SP__PROBE];
	double now = (double)(sp__env_now_ns(h->env) - h->env->begin_ns) * 1e-9;

	if (h->env->device || !h->spill || h->sorting)
		return;
	f->transfer_s_per_mib = sp__spill_write_s(h->spill) * MB;
	f->seconds = now;
	for (unsigned i = 0; i < s->npartitions; i++) {
		const struct sp__run *const run[2] = { s->partitions[i].run[SP__BUILD],
						       s->partitions[i].run[SP__PROBE] };

		if (run[SP__BUILD] && run[SP__PROBE])
			f->seconds += pair_s(s, run, now / (double)(moved + h->spill->write_bytes));
	}
}
