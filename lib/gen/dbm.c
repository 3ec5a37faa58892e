/* SPDX-License-Identifier: MIT */
/*
 * Generates the tables T1 and T2 of DBmbench: a1|a2|a3|padding.
 *
 * T2 has one row for each a1 from 1, T1 has 1 to 7.  A row is a function of (seed, table, slot);
 * each a1 has as many slots as it can have rows, and slots without a row are skipped.  The streams
 * of slots count from 0; those that draw the number of rows of an a1 count from 2^64 - 1 down.  So
 * the scale changes no row.  A shuffled table is a permutation of the slots.
 *
 * Source: Shao 2008, tables 3.1 and 3.2.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/perm.h"
#include "base/put.h"
#include "gen/gen.h"

#define OWNERS 150000 /* values of a1 at scale 1 */
#define A2 20000
#define A3 50
#define INTEGERS 12	 /* bytes of a1, a2 and a3 in a table of numbers */
#define RECORD_BYTES 100 /* by default */
#define CHARS 10	 /* of padding from one random number */

struct dbm {
	uint64_t seed, slot, slots;
	uint32_t max_rows; /* of one a1 */
	struct sp__perm perm;
};

static char *put_padding(char *p, size_t bytes, struct sp__rng *r)
{
	static const char set[] = "0123456789abcdefghijklmnopqrstuvwxyz"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_";

	for (size_t i = 0; i < bytes; i += CHARS) {
		uint64_t u = sp__rng_next(r);

		for (uint32_t k = 0; k < CHARS; k++, u >>= 6)
			p[i + k] = set[u & 63];
	}
	p[bytes] = '\n';
	return p + bytes + 1;
}

static char *put_field(char *p, uint64_t v)
{
	p = sp__put_u64(p, v);
	*p = '|';
	return p + 1;
}

static bool has_row(const struct dbm *s, uint64_t slot)
{
	struct sp__rng r = sp__gen_stream(s->seed, ~(slot / s->max_rows));

	return slot % s->max_rows <= sp__rng_below(&r, s->max_rows);
}

static char *emit(struct sp_gen *g, char *p)
{
	struct dbm *s = g->state;
	uint64_t slot, u;
	struct sp__rng r;

	do {
		if (s->slot == s->slots)
			return NULL;
		slot = s->slot++;
		if (g->opts.shuffle)
			slot = sp__perm_at(&s->perm, slot);
	} while (!has_row(s, slot));
	r = sp__gen_stream(s->seed, slot);
	u = sp__rng_next(&r);
	p = put_field(p, slot / s->max_rows + 1);
	p = put_field(p, 1 + sp__take(&u, A2));
	p = put_field(p, 1 + sp__take(&u, A3));
	return put_padding(p, g->opts.record_bytes - INTEGERS, &r);
}

int sp__gen_dbm(struct sp_gen *g, struct sp_errinfo *err)
{
	struct dbm *s = calloc(1, sizeof(*s));

	if (!s)
		return sp__err(err, -ENOMEM, "generate", "", -1);
	g->state = s;
	g->emit = emit;
	if (!g->opts.record_bytes)
		g->opts.record_bytes = RECORD_BYTES;
	g->max_bytes = g->opts.record_bytes + 64;
	s->seed = sp__gen_seed(g->opts.seed, g->opts.kind);
	s->max_rows = g->opts.kind == SP_GEN_T1 ? 7 : 1;
	s->slots = sp__gen_scaled(OWNERS, g->opts.scale, 1) * s->max_rows;
	sp__perm_init(&s->perm, s->slots, s->seed ^ SP__GOLDEN);
	return 0;
}
