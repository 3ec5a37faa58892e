/* SPDX-License-Identifier: MIT */
/*
 * Do the shipped drives what the figures say that they were fitted to?
 */
#include <math.h>
#include <stdlib.h>
#include "base/rng.h"
#include "dev/drive.h"
#include "sim/blockdev.h"
#include "tap.h"

#define DEPTH_MAX 256

static struct sp__model *load(const char *name)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__model *m;

	if (!ok(!sp__model_load(&m, name, &err), "%s loads %s", name, err.text))
		exit(done() | 1);
	return m;
}

struct load {
	uint32_t bytes;
	double area; /* bytes, from the first block on */
	unsigned depth;
	bool write, sequential;
};

/* 10^6 bytes per second at a number of outstanding requests. */
static double rate(const struct sp__model *m, const struct load *l)
{
	struct sp__blockdev_opts opts = { .sched = "clook", .policy = -1 };
	static struct sp__blockreq reqs[DEPTH_MAX];
	struct sp__blockdev *bd;
	struct sp__blockreq *idle = NULL, *r;
	struct sp__rng rng = { 11 };
	uint32_t blocks = l->bytes / m->block_bytes;
	uint64_t slots = (uint64_t)(l->area / l->bytes), now = 0, next = 0, n = 0;

	if (sp__blockdev_open(&bd, m, &opts, NULL))
		abort();
	for (unsigned i = 0; i < l->depth; i++) {
		reqs[i].next = idle;
		idle = &reqs[i];
	}
	while (n < 4000) {
		while ((r = idle)) {
			uint64_t slot = l->sequential ? next++ : sp__rng_below(&rng, slots);

			idle = r->next;
			*r = (struct sp__blockreq){ .lbn = slot * blocks,
						    .blocks = blocks,
						    .write = l->write };
			sp__blockdev_submit(bd, now, &r, 1, false);
		}
		now = sp__blockdev_next_ns(bd);
		idle = sp__blockdev_advance(bd, now);
		for (r = idle; r; r = r->next)
			n++;
	}
	while (sp__blockdev_next_ns(bd) != SP__NEVER)
		sp__blockdev_advance(bd, sp__blockdev_next_ns(bd));
	sp__blockdev_close(bd);
	return (double)n * l->bytes / ((double)now / 1e3);
}

static void near(const struct sp__model *m, struct load l, double want, double tolerance,
		 const char *what)
{
	double got = rate(m, &l);

	diag("%s: %.2f MB/s, published %.2f", what, got, want);
	ok(fabs(got - want) <= tolerance * want, "%s: %s within %.0f %%", m->name, what,
	   tolerance * 100);
}

/* Hall and Bonnet 2005, figure 1, section 2.2, and the summary there. */
static void check_ultrastar(void)
{
	struct sp__model *m = load("ultrastar36lzx-like");
	struct load random = { .bytes = 16384, .area = 1e10, .depth = 1 };
	struct load stream = { .bytes = 16384, .area = 1e10, .depth = 1, .sequential = true };

	near(m, random, 2.0, 0.15, "random reads, one outstanding");
	random.depth = 64;
	near(m, random, 4.5, 0.15, "random reads, 64 outstanding");
	random.depth = 200;
	random.write = true;
	near(m, random, 4.1, 0.15, "random writes, 200 outstanding");
	near(m, stream, 33, 0.1, "sequential reads");
	stream.write = true;
	near(m, stream, 30, 0.2, "sequential writes");
	ok(m->window == 32, "the drive holds 32 requests");
	ok(sp__drive_seek_ns(sp__model_drive(m), 6000, false) == 4900000,
	   "its average seek is the documented 4.9 ms");
	sp__model_free(m);
}

/* Cylinders within reach of a seek of the given ns. */
static uint32_t reach(const struct sp__drive *d, uint64_t ns)
{
	uint32_t n = 0;

	while (n < 1000 && sp__drive_seek_ns(d, n + 1, false) <= ns)
		n++;
	return n;
}

/* Shao 2008: figure 2.3 and table 2.1 less the overhead, section 5.5.6. */
static void check_settle(void)
{
	struct sp__model *m = load("atlas10k3-like");
	const struct sp__drive *d = sp__model_drive(m);

	ok(d->surfaces * reach(d, 850000) == 136 && d->surfaces * reach(d, 1016667) == 176 &&
		   d->surfaces * reach(d, 1183334) == 376,
	   "atlas10k3-like: 136, 176 and 376 tracks within 51, 61 and 71 degrees");
	ok(sp__drive_seek_ns(d, d->cylinders / 3, false) == 5300000,
	   "atlas10k3-like: a third of the stroke takes 5.3 ms");
	sp__model_free(m);
	m = load("cheetah36es-like");
	d = sp__model_drive(m);
	ok(reach(d, 700000) == 12, "cheetah36es-like: settling within 12 cylinders");
	ok(sp__drive_seek_ns(d, 1, false) + m->overhead_ns[0] == 700000,
	   "cheetah36es-like: the shortest access is 0.7 ms");
	sp__model_free(m);
}

int main(void)
{
	check_ultrastar();
	check_settle();
	return done();
}
