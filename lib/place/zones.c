/* SPDX-License-Identifier: MIT */
/*
 * Codes the zones of a mapping, and checks those that were read.
 */
#include "place/zones.h"

#define BLOCKS_MAX (UINT64_C(1) << 62)

static void zone(struct sp__coder *c, struct sp__cubezone *z, bool rounds)
{
	size_t n = z->npattern;

	sp__code_u64(c, &z->first_block);
	sp__code_u64(c, &z->tracks);
	sp__code_max(c, &z->track_blocks, UINT32_MAX / 2);
	sp__code_max(c, &z->min_blocks, z->track_blocks);
	sp__code_max(c, &z->need_blocks, UINT32_MAX / 2);
	sp__code_max(c, &z->aim_blocks, UINT32_MAX / 2);
	sp__code_max(c, &z->skew_den, UINT32_MAX);
	sp__code_u64(c, &z->pattern_blocks);
	sp__code_u64(c, &z->pattern_skew);
	sp__code_length(c, &n, &z->pattern, sizeof(*z->pattern), 16);
	z->npattern = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		sp__code_u64(c, &z->pattern[i].blocks);
		sp__code_u64(c, &z->pattern[i].skew);
	}
	c->failed |= !z->min_blocks || !z->skew_den || !z->npattern || !z->pattern_blocks;
	if (!rounds)
		return;
	sp__code_u64(c, &z->round);
	sp__code_u64(c, &z->round_offset);
	sp__code_max(c, &z->shift_blocks, UINT32_MAX / 2);
}

void sp__cubezones_code(struct sp__coder *c, struct sp__multimap *m, bool rounds)
{
	sp__code_length(c, &m->nzones, &m->zones, sizeof(*m->zones), 64);
	for (size_t i = 0; !c->failed && i < m->nzones; i++)
		zone(c, &m->zones[i], rounds);
}

/* True if tracks of a pattern are in order and have lengths within those of the zone. */
static bool pattern_possible(const struct sp__cubezone *z)
{
	if (z->pattern[0].blocks || !z->min_blocks || !z->skew_den)
		return false;
	for (uint32_t i = 0; i < z->npattern; i++) {
		uint64_t end = i + 1 < z->npattern ? z->pattern[i + 1].blocks : z->pattern_blocks;
		uint64_t length = end - z->pattern[i].blocks;

		if (end < z->pattern[i].blocks || length < z->min_blocks ||
		    length > z->track_blocks)
			return false;
	}
	return true;
}

static bool round_possible(const struct sp__cubezone *z)
{
	return z->round ? z->round <= BLOCKS_MAX && z->round_offset < z->round &&
				  z->shift_blocks < z->track_blocks
			: !z->round_offset && !z->shift_blocks;
}

bool sp__cubezones_possible(const struct sp__multimap *m, uint64_t max)
{
	uint64_t end = 0;

	for (size_t i = 0; i < m->nzones; i++) {
		const struct sp__cubezone *z = &m->zones[i];
		uint64_t blocks;

		if (!pattern_possible(z) || !round_possible(z) || z->first_block < end ||
		    z->first_block > max ||
		    __builtin_add_overflow(z->tracks, z->npattern, &blocks) ||
		    __builtin_mul_overflow(blocks, z->track_blocks, &blocks) ||
		    blocks > max - z->first_block)
			return false;
		end = z->first_block + z->tracks / z->npattern * z->pattern_blocks;
	}
	return true;
}
