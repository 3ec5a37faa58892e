/* SPDX-License-Identifier: MIT */
/*
 * Time on a real and on a simulated machine.
 *
 * On a simulated one the clock stands still while we compute, so what
 * computing would take is charged to it by formula: constants of the device
 * model, times n log2 n comparisons for sorting a run, log2 of the fan-in for
 * each record merged, bytes copied.  The figures depend on nothing of the host.
 */
#include <math.h>
#include "base/clock.h"
#include "sort/state.h"

#define PS_PER_NS 1000
#define PACE_RECORDS 32

uint64_t sp__sort_now_ns(const struct sp_sort *s)
{
	return s->machine ? sp__machine_now_ns(s->machine) : sp__now_ns();
}

uint64_t sp__sort_cpu_ns(const struct sp_sort *s)
{
	struct sp__machine_stats m;

	if (!s->machine)
		return sp__cpu_ns();
	sp__machine_stats(s->machine, &m);
	return m.cpu_time_ns;
}

struct sp__machine *sp__machine_of(const struct sp_sort *s, enum sp__sim_files kind)
{
	return sp__machine_for(s->machine, kind);
}

static uint64_t copy_ps(const struct sp__model *m, uint64_t bytes)
{
	return bytes * m->cpu_copy_ps;
}

void sp__charge_scan(struct sp_sort *s, uint64_t records, uint64_t bytes)
{
	const struct sp__model *m;

	if (!s->machine)
		return;
	m = sp__machine_model(s->machine);
	sp__machine_charge_ps(s->machine,
			      records * m->cpu_record_ns * PS_PER_NS + copy_ps(m, bytes));
}

void sp__charge_sorting(struct sp_sort *s, uint64_t records)
{
	double comparisons;

	if (!s->machine || records < 2)
		return;
	comparisons = (double)records * log2((double)records);
	sp__machine_charge(s->machine,
			   (uint64_t)(comparisons * sp__machine_model(s->machine)->cpu_compare_ns /
				      (s->opts.parallel ? s->opts.parallel : 1)));
}

void sp__charge_copy(struct sp_sort *s, uint64_t bytes)
{
	if (s->machine)
		sp__machine_charge_ps(s->machine, copy_ps(sp__machine_model(s->machine), bytes));
}

void sp__charge_merge(struct sp_sort *s, struct sp__pace *p, unsigned fan_in)
{
	const struct sp__model *m;
	double each;

	if (s->machine && p->records) {
		m = sp__machine_model(s->machine);
		each = m->cpu_record_ns + m->cpu_compare_ns * log2(fan_in > 1 ? fan_in : 2);
		sp__machine_charge(s->machine, (uint64_t)((double)p->records * each));
		sp__machine_charge_ps(s->machine, copy_ps(m, p->bytes));
	}
	*p = (struct sp__pace){ 0 };
}

void sp__keep_pace(struct sp_sort *s, uint64_t bytes, struct sp__pace *p, unsigned fan_in)
{
	p->bytes += bytes;
	if (++p->records >= PACE_RECORDS)
		sp__charge_merge(s, p, fan_in);
}

void sp__note_machine(const struct sp_sort *s, struct sp_sort_stats *st)
{
	struct sp__machine_stats m;

	if (!s->machine)
		return;
	sp__machine_stats(s->machine, &m);
	st->simulated = true;
	st->sim_requests = m.requests;
	st->sim_dispatched = m.dispatched;
	st->sim_transfers = m.transfers;
	st->sim_seeks = m.seeks;
	st->sim_merges = m.merges;
	st->sim_io_time_ns = m.io_time_ns;
	st->sim_cpu_time_ns = m.cpu_time_ns;
	st->device_read_bytes = (int64_t)m.device_read_bytes;
	st->device_write_bytes = (int64_t)m.device_write_bytes;
	st->spill_extents = m.regions;
	st->spill_region_bytes_mean = m.region_bytes_mean;
}
