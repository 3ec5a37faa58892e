/* SPDX-License-Identifier: MIT */
/*
 * Time on a real and on a simulated machine.
 *
 * On a simulated one the clock stands still while we compute, so computing is charged
 * to it by constants of the device model: for each record, for each comparison of keys (one
 * to put a record into the table, one to look one up), for each byte moved.
 */
#include "base/clock.h"
#include "dev/model.h"
#include "join/state.h"

#define PS_PER_NS 1000

uint64_t sp__join_now_ns(const struct sp__join *j)
{
	return j->machine ? sp__machine_now_ns(j->machine) : sp__now_ns();
}

void sp__join_charge_always(struct sp__join *j, uint64_t records, unsigned comparisons,
			    uint64_t bytes)
{
	const struct sp__model *m;
	uint64_t each_ns;

	m = sp__machine_model(j->machine);
	each_ns = m->cpu_record_ns + (uint64_t)comparisons * m->cpu_compare_ns;
	sp__machine_charge_ps(j->machine, records * each_ns * PS_PER_NS + bytes * m->cpu_copy_ps);
}

void sp__join_note_machine(struct sp__join *j, struct sp_join_stats *st)
{
	struct sp__machine_stats m;

	if (!j->machine)
		return;
	sp__machine_stats(j->machine, &m);
	st->simulated = true;
	st->sim_requests = m.requests;
	st->sim_dispatched = m.dispatched;
	st->sim_merges = m.merges;
	st->sim_transfers = m.transfers;
	st->sim_seeks = m.seeks;
	st->sim_io_time_ns = m.io_time_ns;
	st->sim_cpu_time_ns = m.cpu_time_ns;
	st->device_read_bytes = m.device_read_bytes;
	st->device_write_bytes = m.device_write_bytes;
	st->spill_regions = j->counts.spill_regions;
	st->spill_region_bytes_mean = j->counts.spill_region_bytes_mean;
}

void sp__join_filling(struct sp__source *s)
{
	struct sp__join *j = s->join;
	uint64_t lines = s->lines - s->charged, done = s->bytes, total;
	int side, phase = SP_JOIN_PHASE_PROBE;

	if (!j)
		return;
	/* Those taken line by line; who takes whole batches charges for himself. */
	sp__join_charge(j, lines, 1, lines ? s->batch_bytes : 0);
	s->charged = s->lines;
	side = (int)(s - j->source);
	total = j->opts.input_bytes[side];
	if (!j->counts.build) {
		done += j->source[!side].bytes;
		total = total && j->opts.input_bytes[!side] ? total + j->opts.input_bytes[!side]
							    : 0;
	} else if (j->counts.build == (unsigned)side + 1) {
		phase = SP_JOIN_PHASE_BUILD;
	}
	sp__progress_tell(&j->progress, phase, done, total);
}
