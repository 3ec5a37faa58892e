/* SPDX-License-Identifier: MIT */
/*
 * Generates the table G1 of db-benchmark, a benchmark of group by: CSV with a header.
 *
 * Of n rows and k groups, id1, id2, id4 and id5 have k values, id3 and id6 have n / k.  v1 is 1 to
 * 5, v2 1 to 15, v3 0 to 100 in millionths.  All are uniform and independent.
 *
 * Missing values: in an id column a share of its values is missing in all rows.  These values are
 * evenly spaced from a random start.  As all values are equally frequent, a random choice would
 * have the same effect on groups.  In v1, v2 and v3 a share of the rows has no value: selection
 * sampling decides row by row, and stores only how many values are still to be removed.
 *
 * Source: h2oai/db-benchmark, _data/groupby-datagen.R; fwrite() of data.table for the text of v3.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/put.h"
#include "gen/gen.h"

#define ROWS 10000000 /* by default */
#define IDS 6
#define MEASURES 3
#define MAX_VALUES INT32_MAX /* of an id column */
#define MILLION 1000000u

static const char header[] = "id1,id2,id3,id4,id5,id6,v1,v2,v3\n";

/* Values 1 to `values`; v is missing if (start + v * step) mod 2^64 is below step. */
struct id {
	uint32_t values, digits; /* digits: after "id", at least; 0: a number alone */
	uint64_t start, step;
};

struct g1 {
	uint64_t seed;
	struct id ids[IDS];
	uint64_t to_remove[MEASURES]; /* values that the remaining rows lose */
};

static char *put_id(char *p, const struct id *id, uint32_t v)
{
	if (!id->digits)
		return sp__put_u64(p, v);
	memcpy(p, "id", 2);
	if (id->digits == 10)
		return sp__put_fixed8(sp__put_digits(p + 2, v / 100000000, 2), v % 100000000);
	return v < 1000 ? sp__put_digits(p + 2, v, 3) : sp__put_u64(p + 2, v);
}

/* Writes v < 1000 millionths, of one digit or two, as "1e-06" or "1.2e-05". */
static char *put_exponent(char *p, uint32_t v)
{
	uint32_t exponent = v < 10 ? 6 : v < 100 ? 5 : 4, unit = v < 10 ? 1 : v < 100 ? 10 : 100;

	*p++ = (char)('0' + v / unit);
	if (v % unit) {
		*p++ = '.';
		*p++ = (char)('0' + v % unit);
	}
	memcpy(p, "e-0", 3);
	p[3] = (char)('0' + exponent);
	return p + 4;
}

static char *put_below_100(char *p, uint32_t v)
{
	*p = (char)('0' + v / 10);
	p += v > 9;
	*p = (char)('0' + v % 10);
	return p + 1;
}

/* Writes the fewest digits; with an exponent if that is shorter.  v: at most 100 million. */
static char *put_millionths(char *p, uint32_t v)
{
	uint64_t digits = sp__digits8(v % MILLION);

	if (v && (v < 100 || (v < 1000 && v % 100 == 0)))
		return put_exponent(p, v);
	if (v == 100 * MILLION)
		return sp__put_u64(p, 100);
	p = put_below_100(p, v / MILLION);
	if (!digits)
		return p;
	*p = '.';
	sp__put_word(p + 1, (digits | SP__ZEROS) >> 16);
	return p + 7 - __builtin_clzll(digits) / 8; /* the last digit is in the highest byte */
}

/* True if this row has no value in a column of measures. */
static bool removes(const struct sp_gen *g, uint64_t *to_remove, struct sp__rng *r)
{
	if (!*to_remove || sp__rng_below(r, g->rows - g->row) >= *to_remove)
		return false;
	--*to_remove;
	return true;
}

static char *put_measures(struct sp_gen *g, struct g1 *s, char *p, struct sp__rng *r)
{
	uint32_t v1 = 1 + (uint32_t)sp__rng_below(r, 5), v2 = 1 + (uint32_t)sp__rng_below(r, 15);
	/* A number in (0, 100) that is rounded: 0 and 100 have half the share of the others. */
	uint32_t v3 = (1 + (uint32_t)sp__rng_below(r, 200 * MILLION)) / 2;

	if (!removes(g, &s->to_remove[0], r))
		*p++ = (char)('0' + v1);
	*p++ = ',';
	if (!removes(g, &s->to_remove[1], r))
		p = put_below_100(p, v2);
	*p++ = ',';
	if (!removes(g, &s->to_remove[2], r))
		p = put_millionths(p, v3);
	*p++ = '\n';
	return p;
}

static char *emit(struct sp_gen *g, char *p)
{
	struct g1 *s = g->state;
	struct sp__rng r = sp__gen_stream(s->seed, g->row);

	if (!g->row) {
		memcpy(p, header, sizeof(header) - 1);
		p += sizeof(header) - 1;
	}
	for (const struct id *id = s->ids; id < s->ids + IDS; id++) {
		uint32_t v = 1 + (uint32_t)sp__rng_below(&r, id->values);

		if (id->start + v * id->step >= id->step)
			p = put_id(p, id, v);
		*p++ = ',';
	}
	return put_measures(g, s, p, &r);
}

/* Returns a percentage of n, rounded down. */
static uint64_t share(uint64_t n, uint32_t percent)
{
	return n / 100 * percent + n % 100 * percent / 100;
}

/*
 * The sums start + v * step pass a multiple of 2^64 as often as a value is missing: step is the
 * quotient rounded up, and start leaves room for the excess of fewer than `values`.
 */
static void init_id(struct id *id, const struct sp_gen *g, struct sp__rng *r)
{
	unsigned __int128 passed = (unsigned __int128)share(id->values, g->opts.missing) << 64;

	id->step = (uint64_t)((passed + id->values - 1) / id->values);
	id->start = sp__rng_below(r, UINT64_MAX - id->values);
}

static int check(const struct sp_gen *g, struct sp_errinfo *err)
{
	uint64_t groups = g->opts.groups;

	if (groups < 1 || groups > g->rows)
		return sp__errf(err, -EINVAL, "generate", "", -1,
				"the number of groups must be from 1 to the number of rows");
	if (groups > MAX_VALUES || g->rows / groups > MAX_VALUES)
		return sp__errf(err, -EINVAL, "generate", "", -1,
				"groups, and rows per group, must be at most %d", MAX_VALUES);
	if (g->opts.missing > 99)
		return sp__errf(err, -EINVAL, "generate", "", -1,
				"the percentage of missing values must be from 0 to 99");
	return 0;
}

int sp__gen_g1(struct sp_gen *g, struct sp_errinfo *err)
{
	static const uint32_t digits[IDS] = { 3, 3, 10, 0, 0, 0 };
	struct sp__rng r;
	struct g1 *s;
	int rc;

	g->rows = g->opts.records ? g->opts.records : ROWS;
	rc = check(g, err);
	if (rc < 0)
		return rc;
	s = calloc(1, sizeof(*s));
	if (!s)
		return sp__err(err, -ENOMEM, "generate", "", -1);
	g->state = s;
	g->emit = emit;
	g->max_bytes = 160;
	s->seed = sp__gen_seed(g->opts.seed, SP_GEN_G1);
	r.state = s->seed;
	for (int i = 0; i < IDS; i++) {
		bool many = i % 3 == 2; /* id3, id6 */

		s->ids[i].values = (uint32_t)(many ? g->rows / g->opts.groups : g->opts.groups);
		s->ids[i].digits = digits[i];
		init_id(&s->ids[i], g, &r);
	}
	for (int i = 0; i < MEASURES; i++)
		s->to_remove[i] = share(g->rows, g->opts.missing);
	return 0;
}
