/* SPDX-License-Identifier: MIT */
/*
 * Geometry files: whatever loads is sealed, answers every question without
 * contradicting itself, and is saved to a document that loads to the same.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <jansson.h>
#include "dev/geometry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool cond)
{
	if (!cond)
		abort();
}

static void ask_track(const struct sp_geometry *g, uint64_t lbn)
{
	struct sp_track t, same;
	int rc = sp_geometry_track(g, lbn, &t);

	require(rc == 0 || rc == -ENODATA || rc == -ERANGE || rc == SP_EUNSUP);
	if (rc)
		return;
	require(t.first <= lbn && lbn - t.first < t.blocks);
	require(t.angle_deg >= 0 && t.angle_deg <= 360);
	require(sp_geometry_track_number(g, t.number, &same) == 0 && same.first == t.first);
}

static void ask_hops(const struct sp_geometry *g, uint64_t lbn, enum sp_geometry_op op)
{
	uint64_t d, to;
	double aim, w;
	struct sp_track t, there;

	if (sp_geometry_aim(g, op, &aim))
		return;
	require(sp_geometry_reach(g, op, aim, &d) == 0);
	if (d)
		require(sp_geometry_hop(g, op, d, &w) == 0 && w <= aim + 1e-5);
	for (uint64_t step = 1; step <= d && step <= 9; step += 4) {
		if (sp_geometry_adjacent(g, lbn, step, op, 0, &to))
			continue;
		require(sp_geometry_track(g, lbn, &t) == 0 &&
			sp_geometry_track(g, to, &there) == 0);
		require(there.number == t.number + step);
	}
}

static void ask(const struct sp_geometry *g)
{
	struct sp_geometry_info info;
	struct sp_zone z;

	sp_geometry_info(g, &info);
	require(info.known_blocks <= info.blocks);
	ask_track(g, 0);
	ask_track(g, info.blocks - 1);
	ask_track(g, info.blocks);
	for (unsigned i = 0; i < 4 && sp_geometry_zone(g, i, &z) == 0; i++) {
		uint64_t at[] = { z.first, z.first + z.blocks / 2, z.first + z.blocks - 1 };

		for (int k = 0; k < 3; k++) {
			ask_track(g, at[k]);
			ask_hops(g, at[k], SP_GEOMETRY_READ);
			ask_hops(g, at[k], SP_GEOMETRY_WRITE);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_geometry *g, *h;
	json_t *doc, *out, *again;

	doc = json_loadb((const char *)data, bytes, JSON_REJECT_DUPLICATES, NULL);
	if (!doc)
		return 0;
	if (sp__geometry_parse(&g, doc, "input", &err)) {
		require(!g && err.code && (err.text[0] || err.code == -ENOMEM));
		json_decref(doc);
		return 0;
	}
	ask(g);
	out = sp__geometry_document(g);
	require(out && sp__geometry_parse(&h, out, "output", &err) == 0);
	again = sp__geometry_document(h);
	require(again && json_equal(out, again));
	json_decref(doc);
	json_decref(out);
	json_decref(again);
	sp_geometry_free(g);
	sp_geometry_free(h);
	return 0;
}
