/* SPDX-License-Identifier: MIT */
/*
 * Implements the linear device: t seconds per MiB, and s seconds per request that does not begin at
 * the end of the previous one.
 *
 * Source: Zhang & Larson 1998, formula 5, T = tD + sN.
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
