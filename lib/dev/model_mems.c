/* SPDX-License-Identifier: MIT */
/*
 * Reads models of MEMS storage: layout, motion, and whether the sled can reach what it has to.
 */
#include <math.h>
#include <stdlib.h>
#include "base/err.h"
#include "dev/mems.h"
#include "dev/model_json.h"

/* Reads what determines the numbers of blocks. */
static int parse_layout(struct sp__jobj *o, struct sp__model *m, struct sp__mems *k)
{
	uint64_t groups = (uint64_t)sp__jint(o, "groups", 1, 1 << 16, SP__JREQUIRED);

	k->active = (uint32_t)sp__jint(o, "active", 1, 1 << 16, SP__JREQUIRED);
	k->cylinders = (uint32_t)sp__jint(o, "cylinders", 1, 1 << 20, SP__JREQUIRED);
	k->rows = (uint32_t)sp__jint(o, "rows", 1, 1 << 12, SP__JREQUIRED);
	k->row_bits = (uint32_t)sp__jint(o, "row_bits", 1, 10000, SP__JREQUIRED);
	if (o->rc)
		return o->rc;
	if (groups % k->active)
		return sp__jfail(o, "active", "%u does not divide %llu groups into sweeps",
				 k->active, (unsigned long long)groups);
	k->sweeps = (uint32_t)(groups / k->active);
	m->blocks = groups * k->rows * k->cylinders;
	if (sp__jreal(o, "total_blocks", 1, 1e18, (double)m->blocks) != (double)m->blocks)
		sp__jfail(o, "total_blocks", "groups, rows and cylinders give %llu",
			  (unsigned long long)m->blocks);
	return o->rc;
}

/* Checks that the medium is in reach of the tips, also where the sled turns after a sweep. */
static int check_reach(struct sp__jobj *o, const struct sp__mems *k, double bit_m, double half_m)
{
	struct sp__sledpoint turn = {
		(sp__sled_length(&k->sled, bit_m * k->rows * k->row_bits) + 1) / 2, k->speed
	};
	double beyond_m;

	if (bit_m * k->cylinders > 2.000001 * half_m)
		return sp__jfail(o, "cylinders", "%u bits do not fit into %g um", k->cylinders,
				 2e6 * half_m);
	if (bit_m * k->rows * k->row_bits > 2.000001 * half_m)
		return sp__jfail(o, "rows", "%u bits do not fit into %g um", k->rows * k->row_bits,
				 2e6 * half_m);
	if (k->speed <= SP__SLED_BALANCE)
		sp__sled_stop(&k->sled, &turn);
	beyond_m = (double)turn.at / (double)SP__SLED_BALANCE * k->sled.balance_m - half_m;
	if (k->speed > SP__SLED_BALANCE || beyond_m > 0)
		return sp__jfail(o, "tip_kbit_s", "too fast for the sled to turn within %g um",
				 2e6 * half_m);
	return 0;
}

static int parse_motion(struct sp__jobj *o, struct sp__model *m, struct sp__mems *k)
{
	double half_m = sp__jreal(o, "travel_um", 1, 10000, SP__JREQUIRED) * 0.5e-6;
	double bit_m = sp__jreal(o, "bit_nm", 1, 1000, SP__JREQUIRED) * 1e-9;
	double tip_kbit_s = sp__jreal(o, "tip_kbit_s", 1, 1e6, SP__JREQUIRED);
	double acceleration = sp__jreal(o, "acceleration_m_s2", 1, 1e6, SP__JREQUIRED);
	double spring = sp__jreal(o, "spring_factor", 0.01, 0.99, SP__JREQUIRED);
	double resonance_hz = sp__jreal(o, "resonance_hz", 1, 1e6, SP__JREQUIRED);
	double constants = sp__jreal(o, "settle_constants", 0, 10, 1);

	m->overhead_ns[0] = m->overhead_ns[1] = sp__jms(o, "overhead_ms", 0);
	if (o->rc)
		return o->rc;
	sp__sled_init(&k->sled, half_m, acceleration, spring);
	k->half_bit_2_20 = sp__sled_length(&k->sled, bit_m * (1 << 19));
	k->speed = sp__sled_speed(&k->sled, tip_kbit_s * 1e3 * bit_m);
	k->pass_ps = (uint64_t)llround(k->row_bits / tip_kbit_s * 1e9);
	k->settle_ns = (uint64_t)llround(constants * 1e9 / (2 * M_PI * resonance_hz));
	return check_reach(o, k, bit_m, half_m);
}

int sp__mems_parse(struct sp__jobj *o, struct sp__model *m)
{
	struct sp__mems *k = calloc(1, sizeof(*k));
	int rc;

	m->ops = &sp__mems_ops;
	m->impl = k;
	if (!k)
		return sp__err(o->err, -ENOMEM, "malloc", o->file, -1);
	rc = parse_layout(o, m, k);
	return rc ? rc : parse_motion(o, m, k);
}
