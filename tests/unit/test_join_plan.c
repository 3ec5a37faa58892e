/* SPDX-License-Identifier: MIT */
/*
 * How a hash join partitions its inputs: formulas (1) and (2) of Wang and Cherniack,
 * and what the planner makes of them.
 */
#include <stdlib.h>
#include <string.h>
#include <spindle/geometry.h>
#include "join/plan/plan.h"
#include "tap.h"

static void test_formulas(void)
{
	ok(sp__join_formula1(19, 7) == 3, "19 pages in 7 make three partitions (section 3.2)");
	ok(sp__join_formula1(7, 7) == 1 && sp__join_formula1(8, 7) == 2,
	   "an input that fits is one partition, one page more makes two");
	ok(sp__join_formula1(1000000, 128) == 7875, "formula (1) with many partitions");
	ok(sp__join_formula2(3, 7) == 2, "formula (2): G of the example is 2");
	ok(sp__join_formula2(128, 128) == 0, "no memory left to sort in: G is 0");
	/* Table 8: the supplier table in MB, in 1 MB of memory and pages of 8 KB. */
	static const struct {
		const char *name;
		uint64_t mb, partitions, group;
	} table[] = { { "Small-1", 4, 5, 49 },
		      { "Medium-1", 12, 13, 17 },
		      { "Large-1", 26, 27, 7 },
		      { "Large-2", 28, 29, 6 } };

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		uint64_t n = sp__join_formula1(table[i].mb * 128, 128);

		ok(n == table[i].partitions && sp__join_formula2(n, 128) == table[i].group,
		   "%s: N = %llu, G = %llu", table[i].name, (unsigned long long)table[i].partitions,
		   (unsigned long long)table[i].group);
	}
}

/* A tenth of a track has 34 KB there, and of memory there is enough. */
static void test_tracks(void)
{
	struct sp_join_opts o = SP_JOIN_OPTS_INIT;
	struct sp__join_layout l;
	struct sp_geometry *g;

	if (sp_geometry_model(&g, "atlas10k3-like", NULL))
		exit(1);
	o.run.memory_bytes = 64 << 20;
	o.run.geometry = g;
	ok(sp__join_layout(&o, &l, NULL) == 0 && l.page_bytes == 64 << 10,
	   "pages have 64 KB if they are contiguous");
	o.run.placement = SP_PLACE_SEMISEQ;
	ok(sp__join_layout(&o, &l, NULL) == 0 && l.page_bytes == 32 << 10,
	   "and on tracks a tenth of one at most");
	sp_geometry_free(g);
}

static void test_layout(void)
{
	struct sp_join_opts o = SP_JOIN_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__join_layout l;
	bool within = true, enough = true;

	for (uint64_t m = 512 << 10; m <= UINT64_C(8) << 30; m *= 2) {
		o.run.memory_bytes = m;
		if (sp__join_layout(&o, &l, &err)) {
			within = false;
			break;
		}
		within &= l.table_bytes + l.write_bytes + l.read_bytes + l.bloom_bytes <=
			  m + (256 << 10);
		enough &= l.partitions_max >= 4 &&
			  l.write_bytes / l.partitions_max >= l.page_bytes &&
			  l.table_bytes / l.page_bytes >= 64;
	}
	ok(within, "all buffers lie within the memory, from 512 KB to 8 GB");
	ok(enough, "there are four writers, a page for each, and 64 pages of table at least");
	o.join_bytes = 4096;
	o.run.page_bytes = 4096;
	ok(sp__join_layout(&o, &l, &err) == SP_EBUDGET && strstr(err.text, "64 pages"),
	   "one page for the table is refused with the minimum");
	test_tracks();
}

static void test_split(void)
{
	struct sp_join_opts o = SP_JOIN_OPTS_INIT;
	struct sp__join_layout l;
	struct sp__join_split s;
	bool fits = true, bounded = true;
	uint64_t max;

	o.run.memory_bytes = 64 << 20;
	if (sp__join_layout(&o, &l, NULL))
		return;
	sp__join_split(&l, SP_JOIN_HYBRID, 1 << 20, 10000, 0, &s);
	ok(s.resident > 0 && s.spilled == 0, "an input that fits stays in memory");
	sp__join_split(&l, SP_JOIN_GRACE, 1 << 20, 10000, 0, &s);
	ok(s.resident == 0 && s.spilled > 0, "GRACE keeps nothing in memory");
	sp__join_split(&l, SP_JOIN_SHJ, 300 << 20, 1, 0, &s);
	ok(s.resident == 0 && s.spilled >= sp__join_formula1(300 << 20, l.table_bytes) &&
		   (300 << 20) / s.spilled <= l.table_bytes &&
		   (300 << 20) / (s.spilled - 1) > l.table_bytes * 8 / 10,
	   "SHJ partitions all, into no more partitions than will fit");
	sp__join_split(&l, SP_JOIN_HYBRID, 0, 0, 0, &s);
	ok(s.resident > 4 && s.spilled == 0, "an input of unknown size begins in memory");
	sp__join_split(&l, SP_JOIN_NESTED, 1 << 20, 10000, 0, &s);
	ok(s.resident == 0 && s.spilled == 1, "nested loops need one copy");
	for (uint64_t bytes = 40 << 20; bytes < UINT64_C(1) << 40; bytes += bytes / 3) {
		double need = (double)sp__join_need(bytes, bytes / 100);

		sp__join_split(&l, SP_JOIN_HYBRID, bytes, bytes / 100, bytes, &s);
		max = s.resident ? l.partitions_max : l.table_bytes / l.page_bytes / 2;
		bounded &= s.resident + s.spilled <= max;
		if (s.spilled && s.resident + s.spilled < max)
			fits &= (1 - s.share) * need / s.spilled <= (double)l.table_bytes;
		fits &= s.share * need <= (double)l.table_bytes || !s.spilled;
	}
	ok(fits, "partitions are planned to fit, in memory and later");
	ok(bounded, "never more partitions than writers");
}

/* Inputs of 130 MB: how a hybrid join of them partitions them, and whether the partitions fit. */
static bool partitioned(uint64_t memory, uint64_t probe_bytes, struct sp__join_split *s)
{
	const uint64_t bytes = 130000000, records = bytes / 100;
	struct sp_join_opts o = SP_JOIN_OPTS_INIT;
	struct sp__join_layout l;

	o.run.memory_bytes = memory;
	if (sp__join_layout(&o, &l, NULL))
		return false;
	sp__join_split(&l, SP_JOIN_HYBRID, bytes, records, probe_bytes, s);
	return (1 - s->share) * (double)sp__join_need(bytes, records) <=
	       (double)s->spilled * (double)l.table_bytes;
}

static void test_share(void)
{
	const uint64_t bytes = 130000000;
	struct sp__join_split s;

	ok(partitioned(32 << 20, bytes, &s) && s.resident && s.spilled,
	   "a share stays in memory while the other partitions fit");
	ok(partitioned(16 << 20, bytes, &s) && !s.resident && s.share <= 0,
	   "it goes where they would not, and then they do");
	ok(partitioned(16 << 20, 0, &s) && !s.resident, "also if the probe side is not known");
	ok(!partitioned(16 << 20, bytes / 8, &s) && s.resident,
	   "it stays if the probe side is smaller, whose partitions fit");
}

static void test_nested(void)
{
	const uint64_t mb = 1 << 20;
	const struct sp__join_layout l = { .table_bytes = 100 * mb };

	ok(sp__join_nested_pays(&l, 150 * mb, 150 * mb, 150 * mb),
	   "two blocks past an equal probe side move less than partitioning both");
	ok(!sp__join_nested_pays(&l, 105 * mb, 105 * mb, 105 * mb),
	   "but not if partitioning leaves nearly all in memory");
	ok(!sp__join_nested_pays(&l, 150 * mb, 150 * mb, 1500 * mb),
	   "a much larger probe side is not");
	ok(!sp__join_nested_pays(&l, 950 * mb, 950 * mb, 950 * mb), "many blocks do not pay");
}

static void test_choice(void)
{
	struct sp_join_opts o = SP_JOIN_OPTS_INIT;
	struct sp_join_plan p;

	o.algorithm = SP_JOIN_HYBRID;
	o.run.memory_bytes = 64 << 20;
	o.input_bytes[0] = 1 << 30;
	ok(sp_join_plan(&o, &p, NULL) == 0 && p.build == 1, "of a file and a pipe the file builds");
	o.input_bytes[1] = 1 << 20;
	ok(sp_join_plan(&o, &p, NULL) == 0 && p.build == 2 && p.partitions == 1,
	   "the smaller input builds");
	o.build = 1;
	ok(sp_join_plan(&o, &p, NULL) == 0 && p.build == 1 && p.partitions > 20 &&
		   p.spilled >= p.partitions - 1,
	   "a hand-set choice counts");
}

static void test_ordered(void)
{
	struct sp_join_opts o = SP_JOIN_OPTS_INIT;
	struct sp_join_plan p;

	o.algorithm = SP_JOIN_HYBRID;
	o.run.memory_bytes = 64 << 20;
	o.input_bytes[0] = 1 << 20;
	o.input_bytes[1] = 16 << 20;
	o.ordered = 1;
	ok(sp_join_plan(&o, &p, NULL) == 0 && p.build == 2 && p.ordered_by == SP_JOIN_BY_PROBING,
	   "the input whose order counts probes if the other fits into memory");
	o.input_bytes[1] = 1 << 30;
	ok(sp_join_plan(&o, &p, NULL) == 0 && p.build == 1 && p.ordered_by == SP_JOIN_BY_SORTING &&
		   p.spilled == 0,
	   "else the smaller one builds and the result is sorted");
	o.ordered = 2;
	o.pairs = false;
	o.semi = true;
	o.input_bytes[1] = 1 << 20;
	ok(sp__join_ordered(&o) == 1, "lines of file 1 alone are in the order of file 1");
	o.semi = false;
	o.unpaired[1] = true;
	o.ordered = 1;
	ok(sp__join_ordered(&o) == 2, "lines of file 2 are in the order of file 2");
	o.unpaired[0] = true;
	ok(sp__join_ordered(&o) == 1, "with lines of both it is as wished");
	o.run.volume = "sim:flat";
	ok(sp_join_plan(&o, &p, NULL) == SP_EUNSUP, "but not with a volume");
}

static void test_merge(void)
{
	struct sp_join_opts o = SP_JOIN_OPTS_INIT;
	struct sp_join_plan p;

	o.algorithm = SP_JOIN_AUTO;
	o.run.memory_bytes = 64 << 20;
	o.input_bytes[0] = o.input_bytes[1] = 16 << 20;
	ok(sp_join_plan(&o, &p, NULL) == 0 && p.algorithm == SP_JOIN_HYBRID,
	   "files that were not examined are not merged");
	o.sorted = SP_JOIN_SORTED_LENGTH;
	ok(sp_join_plan(&o, &p, NULL) == 0 && p.algorithm == SP_JOIN_MERGE, "sorted files are");
	o.unpaired[0] = true;
	ok(sp_join_plan(&o, &p, NULL) == 0 && p.algorithm == SP_JOIN_HYBRID,
	   "lines that would have to wait are hashed if that can be in memory");
	o.input_bytes[0] = o.input_bytes[1] = 1 << 30;
	ok(sp_join_plan(&o, &p, NULL) == 0 && p.algorithm == SP_JOIN_MERGE, "and merged if not");
}

int main(void)
{
	test_formulas();
	test_layout();
	test_split();
	test_share();
	test_nested();
	test_choice();
	test_ordered();
	test_merge();
	return done();
}
