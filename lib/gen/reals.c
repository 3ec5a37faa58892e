/* SPDX-License-Identifier: MIT */
/*
 * Generates the table R: records of 15 f64, uniform in [0, 1), all 53 bits random.
 *
 * No compression makes them smaller, and a range of one column selects any share of the records.
 * Text has the fewest digits that give each number back, each followed by '|'.  A binary record is
 * 120 bytes, little-endian.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/put.h"
#include "base/shortest.h"
#include "gen/gen.h"

#define COLUMNS 15
#define RECORDS 8000000

struct reals {
	uint64_t seed;
};

static struct sp__rng record_stream(const struct sp_gen *g)
{
	return sp__gen_stream(((const struct reals *)g->state)->seed, g->row);
}

static char *emit_text(struct sp_gen *g, char *p)
{
	struct sp__rng r = record_stream(g);

	for (int i = 0; i < COLUMNS; i++) {
		p = sp__shortest_f64(p, sp__rng_real(&r));
		*p++ = '|';
	}
	*p++ = '\n';
	return p;
}

static char *emit_binary(struct sp_gen *g, char *p)
{
	struct sp__rng r = record_stream(g);

	for (int i = 0; i < COLUMNS; i++) {
		double v = sp__rng_real(&r);
		uint64_t bits;

		memcpy(&bits, &v, sizeof(bits));
		p = sp__put_word(p, bits);
	}
	return p;
}

int sp__gen_reals(struct sp_gen *g, struct sp_errinfo *err)
{
	struct reals *s = calloc(1, sizeof(*s));

	if (!s)
		return sp__err(err, -ENOMEM, "generate", "", -1);
	g->state = s;
	s->seed = sp__gen_seed(g->opts.seed, SP_GEN_R);
	if (!g->opts.records && !g->opts.bytes)
		g->rows = RECORDS;
	g->max_bytes = COLUMNS * SP__SHORTEST_SPACE;
	g->emit = g->opts.binary ? emit_binary : emit_text;
	return 0;
}
