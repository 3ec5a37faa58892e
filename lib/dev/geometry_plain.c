/* SPDX-License-Identifier: MIT */
/*
 * Measures the planner's t and s of a device without tracks on its model.
 *
 * A request of one MiB at one location is followed by a longer one at another.  Both begin with
 * the same positioning, so their difference is the transfer of the further MiB, and the rest of the
 * first one is s.  The longer one has two MiB, but up to 64 on MEMS storage, where a MiB takes more
 * time if the sled has to move to another cylinder in it.
 */
#include <stdlib.h>
#include "base/minmax.h"
#include "dev/geometry.h"
#include "dev/mems.h"

#define MB (1u << 20)

/* Returns the virtual time to read this many bytes at lbn, with the device idle since now. */
static uint64_t serve(struct sp__device *dev, uint64_t *lanes, uint64_t lbn, uint32_t bytes,
		      uint64_t now)
{
	const struct sp__device_ops *ops = dev->model->ops;
	uint32_t left = bytes / dev->model->block_bytes;
	uint64_t start = now + dev->model->overhead_ns[0], end = start;

	for (unsigned i = 0; i < dev->model->lanes; i++)
		lanes[i] = start;
	while (left) {
		struct sp__subreq subreqs[SP__DEV_SUBREQS_MAX];
		uint32_t blocks = left;
		unsigned n = ops->split(dev->model, dev->state, start, false, lbn, &blocks, subreqs,
					SP__DEV_SUBREQS_MAX);

		for (unsigned i = 0; i < n; i++) {
			uint64_t *lane = &lanes[subreqs[i].lane];
			struct sp__service s;

			ops->serve(dev->model, dev->state, *lane, &subreqs[i], &s);
			*lane = s.done_ns;
			end = s.done_ns > end ? s.done_ns : end;
		}
		lbn += blocks;
		left -= blocks;
	}
	return end - now;
}

int sp__geometry_measure(struct sp_geometry *g, const struct sp__model *m)
{
	struct sp__device dev;
	uint64_t in_quarter = m->blocks / (4 * MB / m->block_bytes), *lanes, one, all, each;
	uint32_t n = sp__model_mems(m) ? (uint32_t)sp__min(64, in_quarter) : 2;
	int rc;

	if (m->blocks < UINT64_C(8) * MB / m->block_bytes)
		return 0; /* too small for the requests: t and s stay unknown */
	rc = sp__device_open(&dev, m);
	if (rc)
		return rc;
	lanes = calloc(m->lanes, sizeof(*lanes));
	if (lanes) {
		one = serve(&dev, lanes, m->blocks / 4, MB, 0);
		all = serve(&dev, lanes, m->blocks / 2, n * MB, one);
		if (all > one) {
			each = (all - one) / (n - 1);
			g->transfer_s_per_mib = (double)each * 1e-9;
			g->seek_s = one > each ? (double)(one - each) * 1e-9 : 0;
		}
	}
	free(lanes);
	sp__device_close(&dev);
	return lanes ? 0 : -ENOMEM;
}
