/* SPDX-License-Identifier: MIT */
/*
 * Charges computation on a simulated machine.
 */
#include <math.h>
#include "dev/model.h"
#include "run/charge.h"
#include "sim/machine.h"

#define PS_PER_NS 1000
#define PACE_RECORDS 32

void sp__charge_machine(struct sp__machine *machine, uint64_t records, unsigned comparisons,
			uint64_t bytes)
{
	const struct sp__model *m = sp__machine_model(machine);
	uint64_t each_ns = m->cpu_record_ns + (uint64_t)comparisons * m->cpu_compare_ns;

	sp__machine_charge_ps(machine, records * each_ns * PS_PER_NS + bytes * m->cpu_copy_ps);
}

void sp__charge_work_always(const struct sp__env *e, uint64_t records, unsigned comparisons,
			    uint64_t bytes)
{
	sp__charge_machine(e->device->machine, records, comparisons, bytes);
}

void sp__charge_values_always(const struct sp__env *e, uint64_t values, uint64_t comparisons)
{
	const struct sp__model *m = sp__machine_model(e->device->machine);

	sp__machine_charge(e->device->machine,
			   values * m->cpu_value_ns + comparisons * m->cpu_compare_ns);
}

void sp__charge_sorting(const struct sp__env *e, uint64_t records)
{
	double comparisons;

	if (!e->device || records < 2)
		return;
	comparisons = (double)records * log2((double)records);
	sp__machine_charge(
		e->device->machine,
		(uint64_t)(comparisons * sp__machine_model(e->device->machine)->cpu_compare_ns /
			   (e->opts->parallel ? e->opts->parallel : 1)));
}

void sp__charge_merge(const struct sp__env *e, struct sp__pace *p, unsigned fan_in)
{
	const struct sp__model *m;
	double each;

	if (e->device && p->records) {
		m = sp__machine_model(e->device->machine);
		each = m->cpu_record_ns + m->cpu_compare_ns * log2(fan_in > 1 ? fan_in : 2);
		sp__machine_charge(e->device->machine, (uint64_t)((double)p->records * each));
		sp__machine_charge_ps(e->device->machine, p->bytes * m->cpu_copy_ps);
	}
	*p = (struct sp__pace){ 0 };
}

void sp__keep_pace(const struct sp__env *e, uint64_t bytes, struct sp__pace *p, unsigned fan_in)
{
	p->bytes += bytes;
	if (++p->records >= PACE_RECORDS)
		sp__charge_merge(e, p, fan_in);
}
