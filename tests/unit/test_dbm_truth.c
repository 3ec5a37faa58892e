/* SPDX-License-Identifier: MIT */
/*
 * Right answers of DBmbench against a count of the records, and the bounds of its queries.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "dbm/run.h"
#include "dbm/answers.h"
#include "gencase.h"
#include "tap.h"

#define QUERIES 400

struct row {
	uint32_t a2, a3;
};

static struct row *rows;
static size_t nrows;
static struct sp__dbm_truth truth;

static void parse(const struct data *d)
{
	char *at = d->bytes;

	rows = calloc(d->records, sizeof(*rows));
	if (!rows)
		abort();
	for (nrows = 0; nrows < d->records; nrows++) {
		if (sscanf(at, "%*u|%u|%u|", &rows[nrows].a2, &rows[nrows].a3) != 2)
			abort();
		at = strchr(at, '\n') + 1;
	}
}

static void open_truth(void)
{
	if (sp__truth_open(&truth))
		abort();
}

/* Makes the truth in two parts, whose border is within the file. */
static void make(struct data *d)
{
	size_t half = d->n / 2;

	while (d->bytes[half - 1] != '\n')
		half++;
	open_truth();
	ok(sp__truth_add(&truth, d->bytes, half) &&
		   sp__truth_add(&truth, d->bytes + half, d->n - half),
	   "the generator's records are accepted");
	sp__truth_end(&truth);
	ok(truth.records == d->records, "all records are counted");
}

static bool is_right(uint32_t lo, uint32_t hi)
{
	const struct sp__dbm_question q = { SP_DBM_USS, lo, hi };
	struct sp__dbm_answer a = sp__truth_answer(&truth, &q), want = { 0 };

	for (size_t i = 0; i < nrows; i++)
		if (lo < rows[i].a2 && rows[i].a2 < hi) {
			want.records++;
			want.sum += rows[i].a3;
			want.groups |= UINT64_C(1) << rows[i].a3;
		}
	if (a.records == want.records && a.sum == want.sum && a.groups == want.groups)
		return true;
	diag("%u %u: %llu records, counted %llu", lo, hi, (unsigned long long)a.records,
	     (unsigned long long)want.records);
	return false;
}

static void compare(void)
{
	static const uint32_t edges[][2] = { { 0, 20001 },     { 0, 1 },	 { 0, 2 },
					     { 1, 2 },	       { 19999, 20000 }, { 19999, 20001 },
					     { 20000, 20001 }, { 0, 20000 },	 { 1, 20001 } };
	struct sp__rng rng = { 1 };
	bool right = true;

	for (size_t i = 0; i < sizeof(edges) / sizeof(*edges); i++)
		right &= is_right(edges[i][0], edges[i][1]);
	ok(right, "answers at the edges are those of a count");
	for (int i = 0; i < QUERIES; i++) {
		uint32_t lo = (uint32_t)sp__rng_below(&rng, 20001);

		right &= is_right(lo, lo + 1 + (uint32_t)sp__rng_below(&rng, 20001 - lo));
	}
	ok(right, "answers to %d random bounds are those of a count", QUERIES);
	sp__truth_close(&truth);
}

static void refuse(void)
{
	static const char *const bad[] = { "1|0|5|x\n",	 "1|20001|5|x\n", "1|5|0|x\n",
					   "1|5|51|x\n", "a|5|5|x\n",	  "|5|5|x\n",
					   "1|5|5\n",	 "1|5|5|x",	  "4294967296|1|1|x\n",
					   "0|5|5|x\n",	 "1| 5|5|x\n",	  "1|5|99999999999999|x\n",
					   "\n",	 "1|-5|5|x\n",	  "1|5|5|x\n1|5|5" };
	open_truth();
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(!sp__truth_add(&truth, bad[i], strlen(bad[i])), "line %zu is refused", i);
	sp__truth_close(&truth);
}

/* A run as far as bounds need it. */
static struct sp_dbm_opts opts = { .seed = 1 };
static struct sp__dbm_row shares[] = {
	{ SP_DBM_USS, 1 },	{ SP_DBM_USS, 0.2 },	 { SP_DBM_UNJ, 0.5 },
	{ SP_DBM_UIDX, 0.001 }, { SP_DBM_UIDX, 0.0001 }, { SP_DBM_UIDX, 1e-9 },
};
#define SHARES (sizeof(shares) / sizeof(*shares))
static const struct sp__dbm_run run = { .opts = &opts, .rows = shares, .nrows = SHARES };

#define DRAWN 2000
static struct sp__dbm_question drawn[DRAWN], again[DRAWN];

static bool same(void)
{
	for (size_t i = 0; i < DRAWN; i++)
		if (drawn[i].lo != again[i].lo || drawn[i].hi != again[i].hi)
			return false;
	return true;
}

static void check_widths(void)
{
	static const uint32_t want[SHARES] = { 20000, 4000, 10000, 20, 2, 1 };

	for (size_t k = 0; k < SHARES; k++) {
		uint32_t low = UINT32_MAX, high = 0;
		bool right = true;

		for (unsigned round = 0; round < 50; round++) {
			sp__bounds_draw(&run, k, round, drawn, DRAWN);
			for (size_t i = 0; i < DRAWN; i++) {
				right &= drawn[i].query == shares[k].query;
				right &= drawn[i].hi - drawn[i].lo - 1 == want[k];
				low = drawn[i].lo < low ? drawn[i].lo : low;
				high = drawn[i].hi > high ? drawn[i].hi : high;
			}
		}
		ok(right, "bounds of %g %% enclose %u values", 100 * shares[k].selectivity,
		   want[k]);
		ok(low == 0 && high == 20001, "both ends are reached: %u to %u", low, high);
	}
}

static void check_seeds(void)
{
	sp__bounds_draw(&run, 1, 3, drawn, DRAWN);
	sp__bounds_draw(&run, 1, 3, again, DRAWN);
	ok(same(), "seed, row and round alone decide the bounds");
	sp__bounds_draw(&run, 1, 4, again, DRAWN);
	ok(!same(), "another round has other bounds");
	opts.seed = 2;
	sp__bounds_draw(&run, 1, 3, again, DRAWN);
	ok(!same(), "another seed gives other bounds");
	memset(again, 0, sizeof(again));
	sp__bounds_draw(&run, 1, 3, again, 1);
	sp__bounds_draw(&run, 1, 3, drawn, DRAWN);
	ok(drawn[0].lo == again[0].lo && !again[1].hi, "as many are drawn as were requested");
}

int main(void)
{
	struct sp_gen_opts o = of(SP_GEN_T1);
	struct data d;

	o.shuffle = true;
	o.record_bytes = 13;
	d = generate(o);
	parse(&d);
	make(&d);
	compare();
	refuse();
	check_widths();
	check_seeds();
	free(d.bytes);
	free(rows);
	return done();
}
