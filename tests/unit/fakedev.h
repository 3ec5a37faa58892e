/* SPDX-License-Identifier: MIT */
/*
 * A device for tests of the queues in front of it: any number of lanes, LBNs
 * striped over them, a service time for each block passed over and each
 * block transferred.  It writes down what it served.
 */
#ifndef FAKEDEV_H
#define FAKEDEV_H

#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "dev/device.h"
#include "sim/blockdev.h"

#define FAKE_LOG 65536

struct fake {
	unsigned stripe; /* blocks of a lane before the next one comes */
	uint64_t block_ns, pass_ps, fixed_ns;
	struct sp__model model;
	uint64_t at[64];
	size_t n;
	struct fake_service {
		uint64_t start_ns, done_ns;
		struct sp__subreq subreq;
	} log[FAKE_LOG];
};

static unsigned fake_split(const struct sp__model *m, void *state, uint64_t now_ns, bool write,
			   uint64_t lbn, uint32_t *blocks, struct sp__subreq *subreqs, unsigned max)
{
	const struct fake *f = m->impl;
	uint32_t done = 0, part;
	unsigned n;

	(void)state;
	(void)now_ns;
	if (m->lanes == 1) {
		subreqs[0] = (struct sp__subreq){ .lbn = lbn, .blocks = *blocks, .write = write };
		return 1;
	}
	for (n = 0; n < max && done < *blocks; n++) {
		uint64_t unit = (lbn + done) / f->stripe, in = (lbn + done) % f->stripe;

		part = f->stripe - (uint32_t)in;
		if (part > *blocks - done)
			part = *blocks - done;
		subreqs[n] = (struct sp__subreq){ .lbn = unit / m->lanes * f->stripe + in,
						  .blocks = part,
						  .lane = (uint16_t)(unit % m->lanes),
						  .write = write };
		done += part;
	}
	*blocks = done;
	return n;
}

static unsigned fake_queue(const struct sp__model *m, uint64_t lbn)
{
	const struct fake *f = m->impl;

	return (unsigned)(lbn / f->stripe % m->queues);
}

static uint64_t fake_position(const struct sp__model *m, void *state, uint64_t now_ns,
			      const struct sp__subreq *p, uint64_t limit_ns)
{
	const struct fake *f = m->impl;
	uint64_t at = f->at[p->lane];

	(void)state;
	(void)now_ns;
	(void)limit_ns;
	return f->fixed_ns + (p->lbn > at ? p->lbn - at : at - p->lbn) * f->pass_ps / 1000;
}

static void fake_serve(const struct sp__model *m, void *state, uint64_t start_ns,
		       const struct sp__subreq *p, struct sp__service *s)
{
	struct fake *f = m->impl;

	(void)state;
	*s = (struct sp__service){ .seek_ns = fake_position(m, state, start_ns, p, 0),
				   .transfer_ns = p->blocks * f->block_ns };
	s->done_ns = start_ns + s->seek_ns + s->transfer_ns;
	f->at[p->lane] = p->lbn + p->blocks;
	f->log[f->n++ % FAKE_LOG] = (struct fake_service){ start_ns, s->done_ns, *p };
}

/* Simulates a device whose writes settle one millisecond later. */
static uint64_t fake_drain(const struct sp__model *m, void *state, uint64_t now_ns)
{
	(void)m;
	(void)state;
	return now_ns + 1000000;
}

static const struct sp__device_ops fake_ops = {
	.kind = "fake",
	.queue = fake_queue,
	.split = fake_split,
	.position = fake_position,
	.serve = fake_serve,
	.drain = fake_drain,
};

/* 2^20 blocks, overhead 100 us and 150 us, 10 us a block, up to 5 ms for the whole way. */
static struct fake *fake_new(unsigned lanes, unsigned stripe)
{
	struct fake *f = calloc(1, sizeof(*f));

	if (!f)
		abort();
	f->stripe = stripe;
	f->block_ns = 10000;
	f->pass_ps = 5000;
	f->model = (struct sp__model){ .ops = &fake_ops,
				       .impl = f,
				       .lanes = lanes,
				       .drives = 1,
				       .queues = 1,
				       .overhead_ns = { 100000, 150000 },
				       .block_bytes = 512,
				       .blocks = 1 << 20,
				       .window = 1,
				       .window_policy = SP__WINDOW_FIFO };
	return f;
}

static inline struct sp__blockdev *fake_dev(struct fake *f, const char *sched, unsigned window,
					    enum sp__window_policy policy, bool merge)
{
	struct sp__blockdev_opts opts = {
		.sched = sched, .window = window, .policy = (int)policy, .merge = merge
	};
	struct sp__blockdev *bd;

	if (sp__blockdev_open(&bd, &f->model, &opts, NULL))
		abort();
	return bd;
}

static inline void submit1(struct sp__blockdev *bd, uint64_t now_ns, struct sp__blockreq *r)
{
	sp__blockdev_submit(bd, now_ns, &r, 1, false);
}

/* Lets everything finish; returns how many did. */
static inline size_t drain(struct sp__blockdev *bd)
{
	struct sp__blockreq *r;
	size_t n = 0;

	while (sp__blockdev_next_ns(bd) != SP__NEVER)
		for (r = sp__blockdev_advance(bd, sp__blockdev_next_ns(bd)); r; r = r->next)
			n++;
	return n;
}

#endif
