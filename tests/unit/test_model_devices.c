/* SPDX-License-Identifier: MIT */
/*
 * The devices without tracks: linear and flash.
 */
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "dev/device.h"
#include "dev/drive.h"
#include "tap.h"

static struct sp__model *load(const char *name, struct sp__device *d)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__model *m;

	if (!ok(!sp__model_load(&m, name, &err) && !sp__device_open(d, m), "%s opens %s", name,
		err.text))
		exit(done() | 1);
	return m;
}

static void check_linear(void)
{
	struct sp__device d;
	struct sp__model *m = load("linear", &d);
	struct sp__rng rng = { 1 };
	uint64_t now = 0, seeks = 0, blocks = 0, next = 0, want;

	ok(!sp__model_drive(m) && m->lanes == 1, "the linear device has no tracks");
	for (int i = 0; i < 1000; i++) {
		struct sp__subreq p = { .lbn = next, .blocks = 64 };
		struct sp__service s;
		uint64_t key;

		if (i && !sp__rng_below(&rng, 3)) {
			p.lbn = sp__rng_below(&rng, m->blocks / 128) * 128 + 1;
			seeks++;
		}
		key = m->ops->position(m, d.state, now, &p, UINT64_MAX);
		m->ops->serve(m, d.state, now, &p, &s);
		if (s.seek_ns != key || s.done_ns - now != s.seek_ns + s.transfer_ns)
			blocks = UINT64_MAX / 2;
		now = s.done_ns;
		next = p.lbn + p.blocks;
		blocks += p.blocks;
	}
	want = seeks * 7000000 + blocks / 2048 * 300000000 + blocks % 2048 * 300000000 / 2048;
	ok(now + 1000 > want && now < want + 1000, "T = tD + sN, with t = 0.3 s/MB and s = 7 ms");
	sp__device_close(&d);
	sp__model_free(m);
}

/* Every block in exactly one subrequest, in stripes that go round the channels. */
static bool covers(const struct sp__model *m, uint64_t lbn, uint32_t blocks, unsigned max)
{
	struct sp__subreq p[SP__DEV_SUBREQS_MAX];
	uint32_t got = blocks, sum = 0;
	unsigned n = m->ops->split(m, NULL, 0, true, lbn, &got, p, max);

	if (n > max || !got || got > blocks || (got < blocks && n < max))
		return false;
	for (unsigned i = 0; i < n; i++)
		sum += p[i].blocks;
	for (uint32_t b = 0; b < got; b++) {
		uint64_t stripe = (lbn + b) / 4, at = stripe / 8 * 4 + (lbn + b) % 4;
		unsigned in = 0;

		for (unsigned i = 0; i < n; i++)
			in += p[i].lane == stripe % 8 && p[i].write && at >= p[i].lbn &&
			      at < p[i].lbn + p[i].blocks;
		if (in != 1)
			return false;
	}
	return sum == got;
}

static void check_flash(void)
{
	struct sp__device d;
	struct sp__model *m = load("flash", &d);
	struct sp__subreq p = { .lbn = 100, .blocks = 4, .lane = 3 };
	struct sp__service s;
	struct sp__rng rng = { 1 };
	unsigned right = 0;

	ok(!sp__model_drive(m) && m->lanes == 8, "flash has channels and no tracks");
	for (int i = 0; i < 2000; i++)
		right += covers(m, sp__rng_below(&rng, 10000),
				(uint32_t)sp__rng_below(&rng, 300) + 1,
				i % 4 ? SP__DEV_SUBREQS_MAX : 3);
	ok(right == 2000, "requests are cut into one subrequest for each channel");
	m->ops->serve(m, d.state, 50, &p, &s);
	ok(s.done_ns == 50 + 60000 + 40960, "a read costs one latency and the channel's transfer");
	p.write = true;
	m->ops->serve(m, d.state, 50, &p, &s);
	ok(s.done_ns == 50 + 600000 + 40960, "a write the programming of a row");
	p.blocks = 40;
	m->ops->serve(m, d.state, 50, &p, &s);
	ok(s.done_ns == 50 + 3 * 600000 + 409600, "or of as many rows as it touches");
	sp__device_close(&d);
	sp__model_free(m);
}

int main(void)
{
	check_linear();
	check_flash();
	return done();
}
