/* SPDX-License-Identifier: MIT */
/*
 * What a drive keeps for speed changes nothing: places that were looked up when
 * a request was split, seek times in a table, the reciprocal of the period, and
 * leaving out candidates that are too far away.
 */
#include <stdlib.h>
#include "base/rng.h"
#include "dev/device.h"
#include "dev/drive.h"
#include "sim/blockdev.h"
#include "tap.h"

#define DEPTH 32

static struct sp__model *load(const char *name)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__model *m = NULL;

	ok(!sp__model_load(&m, name, &err), "%s loads %s", name, err.text);
	return m;
}

/* A drive of nothing but a period. */
static struct sp__model *turning(const char *rpm)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__model *m = NULL;
	char text[256];
	int n = snprintf(
		text, sizeof(text),
		"{ \"rpm\": %s, \"surfaces\": 1, \"head_switch_ms\": 0,"
		"\"seek_ms\": [[1, 5000]], \"zones\": [{ \"first_cyl\": 0, \"last_cyl\": 1,"
		"\"spt\": 9, \"track_skew\": 0, \"cyl_skew\": 0 }] }",
		rpm);

	ok(!sp__model_parse(&m, "text", text, (size_t)n, &err), "%s rpm load %s", rpm, err.text);
	return m;
}

static void check_angles(const char *rpm)
{
	struct sp__model *m = turning(rpm);
	const struct sp__drive *d = sp__model_drive(m);
	struct sp__rng rng = { 5 };
	unsigned same = 0;

	for (unsigned i = 0; i < 10000; i++) {
		uint64_t ns = sp__rng_next(&rng) >> i % 64;
		unsigned __int128 rest = (unsigned __int128)(ns % d->period_den) * d->period_num;

		/* Whole revolutions and the last nanosecond before them, too. */
		if (i % 3 == 0)
			rest = (unsigned __int128)(ns -= ns % d->period_den + i % 2) %
			       d->period_den * d->period_num;
		same += sp__drive_angle(d, ns) ==
			sp__angle_of((uint64_t)(rest % d->period_den), d->period_den);
	}
	ok(same == 10000, "at %s rpm angles are those of exact division", rpm);
	ok(sp__drive_seek_ns(d, 1, false) == UINT64_C(5000000000),
	   "a seek that no table of 32 bits can hold is as long as the model says");
	sp__model_free(m);
}

static void check_fractions(void)
{
	struct sp__rng rng = { 17 };
	unsigned same = 0;

	for (unsigned i = 0; i < 10000; i++) {
		uint64_t d = (sp__rng_next(&rng) >> i % 63) + 1;
		uint64_t n = i % 5 ? sp__rng_below(&rng, d) : d - 1;

		same += sp__angle_of(n, d) == (sp__angle)(((unsigned __int128)n << 64) / d);
	}
	ok(same == 10000, "fractions of a revolution are exact, large denominators or small");
}

static uint64_t curve(const struct sp__drive *d, uint32_t cylinders)
{
	const struct sp__seekpoint *p = d->seek[0].points, *end = p + d->seek[0].n - 1;
	double run, rise;

	if (cylinders <= p->cylinders)
		return cylinders ? p->ns : 0;
	while (p + 1 < end && p[1].cylinders < cylinders)
		p++;
	run = (double)p[1].cylinders - p->cylinders;
	rise = ((double)p[1].ns - (double)p->ns) * (cylinders - p->cylinders);
	return (uint64_t)((double)p->ns + rise / run + 0.5);
}

static void check_seeks(const char *name)
{
	struct sp__model *m = load(name);
	const struct sp__drive *d = sp__model_drive(m);
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < d->cylinders; i++) {
		uint64_t ns = sp__drive_seek_ns(d, i, false), want = curve(d, i);

		wrong += ns > want + 1 || want > ns + 1;
	}
	ok(!wrong, "%s: seeks over all distances are on the curve", name);
	sp__model_free(m);
}

static struct sp__subreq random_subreq(struct sp__rng *rng, const struct sp__model *m)
{
	uint32_t blocks = 1 + (uint32_t)sp__rng_below(rng, 3000 >> sp__rng_below(rng, 11));

	return (struct sp__subreq){ .lbn = sp__rng_below(rng, m->blocks - blocks),
				    .blocks = blocks,
				    .write = sp__rng_below(rng, 3) == 0 };
}

/* Equal requests, as subrequests from split() and as bare ones. */
static void check_places(const char *name)
{
	struct sp__model *m = load(name);
	const struct sp__device_ops *ops = m->ops;
	struct sp__rng rng = { 11 };
	struct sp__device a, b;
	uint64_t now = 0;
	unsigned same = 0, looked_up = 0, over = 0;

	if (sp__device_open(&a, m) || sp__device_open(&b, m))
		abort();
	for (unsigned i = 0; i < 5000; i++) {
		struct sp__subreq bare = random_subreq(&rng, m), split;
		uint32_t blocks = bare.blocks;
		struct sp__service s, t;
		uint64_t at, limit = sp__rng_below(&rng, 12000000), limited;

		ops->split(m, a.state, 0, bare.write, bare.lbn, &blocks, &split, 1);
		looked_up += split.pos.blocks != 0;
		limited = ops->position(m, a.state, now, &split, limit);
		at = ops->position(m, a.state, now, &split, UINT64_MAX);
		over += at > limit ? limited <= limit : limited != at;
		same += at == ops->position(m, b.state, now, &bare, UINT64_MAX);
		ops->serve(m, a.state, now, &split, &s);
		ops->serve(m, b.state, now, &bare, &t);
		same += s.done_ns == t.done_ns && s.seek_ns == t.seek_ns &&
			s.rotate_ns == t.rotate_ns && s.transfer_ns == t.transfer_ns;
		now = s.done_ns + sp__rng_below(&rng, 3000000);
	}
	sp__device_close(&a);
	sp__device_close(&b);
	sp__model_free(m);
	ok(looked_up > 4900, "%s: split() looks up where almost all subrequests begin", name);
	ok(same == 10000, "%s: such subrequests take as long as those that are looked up later",
	   name);
	ok(!over, "%s: a limit of positions changes only those above it", name);
}

/* Random reads and writes, SPTF; a sum over their completion times. */
static uint64_t order_of(const struct sp__model *m)
{
	struct sp__blockdev_opts opts = { .window = DEPTH, .policy = SP__WINDOW_SPTF };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__blockreq reqs[DEPTH] = { 0 }, *r, *next;
	struct sp__rng rng = { 13 };
	struct sp__blockdev *bd;
	unsigned submitted = 0;
	uint64_t hash = 0, now = 0;

	if (sp__blockdev_open(&bd, m, &opts, &err))
		abort();
	for (r = reqs; r < reqs + DEPTH; r++)
		r->next = r + 1 < reqs + DEPTH ? r + 1 : NULL;
	for (r = reqs; r || now != SP__NEVER; r = sp__blockdev_advance(bd, now)) {
		for (; r; r = next) {
			struct sp__subreq p = random_subreq(&rng, m);

			next = r->next;
			hash = sp__mix64(hash ^ sp__mix64(r->lbn * submitted) ^ now);
			*r = (struct sp__blockreq){ .lbn = p.lbn,
						    .blocks = p.blocks,
						    .write = p.write };
			if (submitted++ < 3000)
				sp__blockdev_submit(bd, now, &r, 1, false);
		}
		now = sp__blockdev_next_ns(bd);
	}
	sp__blockdev_close(bd);
	return hash;
}

static uint64_t unlimited(const struct sp__model *m, void *state, uint64_t now_ns,
			  const struct sp__subreq *p, uint64_t limit_ns)
{
	(void)limit_ns;
	return sp__drive_ops.position(m, state, now_ns, p, UINT64_MAX);
}

static void check_choice(const char *name)
{
	struct sp__model *m = load(name), copy = *m;
	struct sp__device_ops ops = *m->ops;

	ops.position = unlimited;
	copy.ops = &ops;
	ok(order_of(m) == order_of(&copy),
	   "%s: the shortest positioning time is that of all waiting requests", name);
	sp__model_free(m);
}

int main(void)
{
	static const char *const kept[] = { "atlas10k3-like", "nearline6t-like",
					    "ultrastar36lzx-like", "serpentine" };
	static const char *const rpms[] = { "10000",  "7200",	  "60",	    "10025",
					    "600000", "9999.999", "5400.3", "71.000003" };

	check_fractions();
	for (size_t i = 0; i < sizeof(rpms) / sizeof(rpms[0]); i++)
		check_angles(rpms[i]);
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		check_seeks(kept[i]);
		check_places(kept[i]);
		check_choice(kept[i]);
	}
	return done();
}
