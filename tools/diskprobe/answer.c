/* SPDX-License-Identifier: MIT */
/*
 * Answers from a geometry: one line for each requested block.
 */
#include <inttypes.h>
#include <stdlib.h>
#include "number.h"
#include "diskprobe.h"

static const char *reason(int rc)
{
	switch (rc) {
	case -ERANGE:
		return "out of range";
	case -ENODATA:
		return "in an unknown part of the device";
	case SP_EUNSUP:
		return "the device has no tracks";
	default:
		return sp_strerror(rc);
	}
}

static void print_track(const struct sp_geometry *g, uint64_t lbn, const char *text)
{
	struct sp_track t;
	int rc = sp_geometry_track(g, lbn, &t);

	if (rc)
		die("%s: %s", text, reason(rc));
	printf("%" PRIu64 " track %" PRIu64 " first %" PRIu64 " blocks %" PRIu32 " angle %.2f\n",
	       lbn, t.number, t.first, t.blocks, t.angle_deg);
}

static void print_adjacent(const struct config *c, const struct sp_geometry *g, uint64_t lbn,
			   const char *text)
{
	enum sp_geometry_op op = c->write ? SP_GEOMETRY_WRITE : SP_GEOMETRY_READ;
	uint64_t to, reach;
	double aim;
	int rc = sp_geometry_adjacent(g, lbn, c->step, op, c->conservatism_deg, &to);

	if (rc == -ERANGE && !sp_geometry_aim(g, op, &aim) &&
	    !sp_geometry_reach(g, op, aim + c->conservatism_deg, &reach) && c->step > reach)
		die("%s: %" PRIu64 " tracks are beyond the reach of %" PRIu64
		    ", which more --conservatism would extend",
		    text, c->step, reach);
	if (rc)
		die("%s: %s", text, reason(rc));
	printf("%" PRIu64 " adjacent %" PRIu64 "\n", lbn, to);
}

void answer(const struct config *c, const struct sp_geometry *g)
{
	for (size_t i = 0; i < c->nlbns; i++) {
		uint64_t lbn = number_option("LBN", c->lbns[i], 0);

		if (c->ask == ASK_TRACKS)
			print_track(g, lbn, c->lbns[i]);
		else
			print_adjacent(c, g, lbn, c->lbns[i]);
	}
}
