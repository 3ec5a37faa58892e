/* SPDX-License-Identifier: MIT */
/*
 * Implements the devices without moving state: linear and flash.
 *
 * linear: t seconds per MiB, and s seconds per request that does not begin at the end of the
 * previous one.  Source: Zhang & Larson 1998, formula 5, T = tD + sN.
 *
 * flash: channels that work concurrently, each a lane.  Stripes are distributed round-robin over
 * the channels.  A channel numbers its own stripes from 0, so a request has at most one subrequest
 * per channel.
 *
 * A subrequest costs one latency and the transfer over its channel.  Programming is charged per row
 * of pages, one from each die, that it touches, since the dies of a channel program together.
 *
 * Not modelled: mapping, garbage collection.  This is a drive in its best state.
 */
#include <math.h>
#include <stdlib.h>
#include "base/err.h"
#include "dev/device.h"
#include "dev/model_json.h"

struct linear {
	uint64_t ps_block; /* transfer of a block, in 1e-12 s */
	uint64_t seek_ns;
};

struct state {
	uint64_t next; /* end of the last request */
};

static int linear_open(const struct sp__model *m, void **state)
{
	(void)m;
	*state = calloc(1, sizeof(struct state));
	return *state ? 0 : -ENOMEM;
}

static unsigned linear_split(const struct sp__model *m, void *state, uint64_t now_ns, bool write,
			     uint64_t lbn, uint32_t *blocks, struct sp__subreq *subreqs,
			     unsigned max)
{
	(void)m, (void)state, (void)now_ns, (void)max;
	subreqs[0] = (struct sp__subreq){ .lbn = lbn, .blocks = *blocks, .write = write };
	return 1;
}

static uint64_t linear_position(const struct sp__model *m, void *state, uint64_t now_ns,
				const struct sp__subreq *p, uint64_t limit_ns)
{
	const struct linear *l = m->impl;
	const struct state *s = state;

	(void)now_ns, (void)limit_ns;
	return p->lbn == s->next ? 0 : l->seek_ns;
}

static void linear_serve(const struct sp__model *m, void *state, uint64_t start_ns,
			 const struct sp__subreq *p, struct sp__service *out)
{
	const struct linear *l = m->impl;
	struct state *s = state;

	*out = (struct sp__service){ .seek_ns = linear_position(m, state, start_ns, p, 0) };
	out->transfer_ns = (uint64_t)(((unsigned __int128)p->blocks * l->ps_block + 500) / 1000);
	out->done_ns = start_ns + out->seek_ns + out->transfer_ns;
	s->next = p->lbn + p->blocks;
}

static const struct sp__device_ops linear_ops = {
	.kind = "linear",
	.free = free,
	.open = linear_open,
	.close = free,
	.split = linear_split,
	.position = linear_position,
	.serve = linear_serve,
};

int sp__linear_parse(struct sp__jobj *o, struct sp__model *m)
{
	struct linear *l = calloc(1, sizeof(*l));
	double t;

	m->ops = &linear_ops;
	m->impl = l;
	if (!l)
		return sp__err(o->err, -ENOMEM, "malloc", o->file, -1);
	t = sp__jreal(o, "transfer_s_per_mb", 0, 1000, SP__JREQUIRED);
	l->ps_block = o->rc ? 0 : (uint64_t)llround(t * 1e12 / 1048576 * m->block_bytes);
	l->seek_ns = sp__jms(o, "seek_ms", SP__JREQUIRED);
	m->overhead_ns[0] = m->overhead_ns[1] = sp__jms(o, "overhead_ms", 0);
	m->blocks = (uint64_t)sp__jint(o, "total_blocks", 1, INT64_C(1) << 50, SP__JREQUIRED);
	return o->rc;
}

/* The contents of a model file of kind "flash". */
struct flash {
	uint32_t stripe; /* blocks */
	uint32_t row;	 /* blocks that one channel programs together */
	uint64_t read_ns, program_ns;
	uint64_t ps_block; /* transfer over the channel, in 1e-12 s */
};

static unsigned flash_split(const struct sp__model *m, void *state, uint64_t now_ns, bool write,
			    uint64_t lbn, uint32_t *blocks, struct sp__subreq *subreqs,
			    unsigned max)
{
	const struct flash *f = m->impl;
	uint64_t at = lbn, end = lbn + *blocks;
	unsigned n = 0;

	(void)state, (void)now_ns;
	while (at < end) {
		uint64_t stripe = at / f->stripe, into = at % f->stripe;
		uint64_t len = f->stripe - into < end - at ? f->stripe - into : end - at;
		uint16_t lane = (uint16_t)(stripe % m->lanes);
		unsigned i = (unsigned)(stripe - lbn / f->stripe) % m->lanes;

		if (i < n) {
			subreqs[i].blocks += (uint32_t)len;
		} else if (n < max) {
			subreqs[n++] =
				(struct sp__subreq){ .lbn = stripe / m->lanes * f->stripe + into,
						     .blocks = (uint32_t)len,
						     .lane = lane,
						     .write = write };
		} else {
			break;
		}
		at += len;
	}
	*blocks = (uint32_t)(at - lbn);
	return n;
}

static uint64_t flash_position(const struct sp__model *m, void *state, uint64_t now_ns,
			       const struct sp__subreq *p, uint64_t limit_ns)
{
	const struct flash *f = m->impl;

	(void)state, (void)now_ns, (void)limit_ns;
	return p->write ? 0 : f->read_ns;
}

static void flash_serve(const struct sp__model *m, void *state, uint64_t start_ns,
			const struct sp__subreq *p, struct sp__service *s)
{
	const struct flash *f = m->impl;
	uint64_t rows = (p->lbn + p->blocks - 1) / f->row - p->lbn / f->row + 1;

	(void)state;
	*s = (struct sp__service){ 0 };
	s->transfer_ns = (uint64_t)(((unsigned __int128)p->blocks * f->ps_block + 500) / 1000);
	s->transfer_ns += p->write ? rows * f->program_ns : f->read_ns;
	s->done_ns = start_ns + s->transfer_ns;
}

static const struct sp__device_ops flash_ops = {
	.kind = "flash",
	.free = free,
	.split = flash_split,
	.position = flash_position,
	.serve = flash_serve,
};

int sp__flash_parse(struct sp__jobj *o, struct sp__model *m)
{
	struct flash *f = calloc(1, sizeof(*f));
	double rate;
	uint32_t page, dies;

	m->ops = &flash_ops;
	m->impl = f;
	if (!f)
		return sp__err(o->err, -ENOMEM, "malloc", o->file, -1);
	m->lanes = (unsigned)sp__jint(o, "channels", 1, SP__DEV_SUBREQS_MAX, SP__JREQUIRED);
	f->stripe = (uint32_t)sp__jint(o, "stripe_blocks", 1, 1 << 20, SP__JREQUIRED);
	page = (uint32_t)sp__jint(o, "page_blocks", 1, 1 << 16, SP__JREQUIRED);
	dies = (uint32_t)sp__jint(o, "dies_per_channel", 1, 1 << 12, 1);
	f->row = page * dies;
	f->read_ns = sp__jms(o, "read_ms", SP__JREQUIRED);
	f->program_ns = sp__jms(o, "program_ms", SP__JREQUIRED);
	m->overhead_ns[0] = m->overhead_ns[1] = sp__jms(o, "overhead_ms", 0);
	rate = sp__jreal(o, "channel_mb_s", 0.001, 1e6, SP__JREQUIRED);
	f->ps_block = o->rc ? 0 : (uint64_t)llround(m->block_bytes / rate * 1e6);
	m->blocks = (uint64_t)sp__jint(o, "total_blocks", 1, INT64_C(1) << 50, SP__JREQUIRED);
	return o->rc;
}
