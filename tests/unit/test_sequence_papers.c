/* SPDX-License-Identifier: MIT */
/*
 * The worked examples of Wang & Cherniack 2006 (tables 1 to 3, figure 3) and
 * figure 1 of Zhang & Larson 1998, through the analyser.
 */
#include "join/hash/sweep.h"
#include "sim/fsmap.h"
#include "sort/plan/readplan.h"
#include "seqtrace.h"
#include "tap.h"

#define PAGE 4096
#define TUPLE_BYTES (SP__SWEEP_CELL - 8) /* what a cell of the sweep holds */
#define LENGTH(list) (sizeof(list) / sizeof((list)[0]))

static struct sp_sequence_transfers transfers(const struct sp_sequence *seq, uint64_t pages,
					      enum sp_sequence_policy policy, uint64_t counted)
{
	struct sp_sequence_cache cache = { pages, PAGE, policy, counted };
	struct sp_sequence_transfers t;

	if (sp_sequence_transfers(seq, &cache, &t, NULL) < 0)
		exit(1);
	return t;
}

static uint64_t sum(struct sp_sequence_transfers t)
{
	return t.reads + t.writes;
}

/*
 * Four runs of a page, merged two at a time, and the final merge, which is
 * known to OPT but not counted.  Pages A to D of the input, A' to D', E and F.
 * EMS gives each page a place of its own; MMS puts E where A' and B' were and
 * F where C' and D' were, which have been read by then.
 */
#define COUNTED 16

static const char *const ems[] = { "R in 0 4096",      "W tmp 0 4096",	   "R in 4096 4096",
				   "W tmp 4096 4096",  "R in 8192 4096",   "W tmp 8192 4096",
				   "R in 12288 4096",  "W tmp 12288 4096", "R tmp 0 4096",
				   "R tmp 4096 4096",  "W tmp 16384 4096", "W tmp 20480 4096",
				   "R tmp 8192 4096",  "R tmp 12288 4096", "W tmp 24576 4096",
				   "W tmp 28672 4096", "R tmp 16384 4096", "R tmp 24576 4096",
				   "R tmp 20480 4096", "R tmp 28672 4096", NULL };
static const char *const mms[] = { "R in 0 4096",      "W tmp 0 4096",	   "R in 4096 4096",
				   "W tmp 4096 4096",  "R tmp 0 4096",	   "R tmp 4096 4096",
				   "W tmp 0 4096",     "W tmp 4096 4096",  "R in 8192 4096",
				   "W tmp 8192 4096",  "R in 12288 4096",  "W tmp 12288 4096",
				   "R tmp 8192 4096",  "R tmp 12288 4096", "W tmp 8192 4096",
				   "W tmp 12288 4096", "R tmp 0 4096",	   "R tmp 8192 4096",
				   "R tmp 4096 4096",  "R tmp 12288 4096", NULL };

static void tables_1_and_2(void)
{
	struct sp_sequence *e = seqtrace(ems), *m = seqtrace(mms);
	struct sp_sequence_transfers t = transfers(e, 3, SP_SEQUENCE_LRU, COUNTED);
	struct sp_sequence_stats s;

	ok(t.reads == 8 && t.writes == 6, "wc06.tab1: EMS moves 14 pages under LRU");
	t = transfers(m, 3, SP_SEQUENCE_LRU, COUNTED);
	ok(t.reads == 4 && t.writes == 2, "wc06.tab1: MMS with recycling moves 6");
	t = transfers(e, 3, SP_SEQUENCE_OPT, COUNTED);
	ok(t.reads == 5 && t.writes == 2, "wc06.tab2: EMS moves 7 under OPT");
	t = transfers(m, 3, SP_SEQUENCE_OPT, COUNTED);
	ok(t.reads == 4 && t.writes == 1, "wc06.tab2: MMS moves 5");
	sp_sequence_stats(m, &s);
	ok(s.total.overwritten_bytes == 4 * PAGE, "MMS writes four pages over others");
	sp_sequence_stats(e, &s);
	ok(s.total.overwritten_bytes == 0 && s.total.regions == 1, "EMS writes over none");
	ok(sum(transfers(e, 100, SP_SEQUENCE_LRU, 0)) == 4 &&
		   transfers(e, 100, SP_SEQUENCE_LRU, 0).dirty == 8,
	   "in a cache that holds all, nothing but the input is moved");
	sp_sequence_free(e);
	sp_sequence_free(m);
}

/* Figure 3, blocks on the tracks of section 2.2.3: A 100, D 101, B 150, C 151. */
#define R_A "R f 409600 4096"
#define W_A "W f 409600 4096"
#define R_B "R f 614400 4096"
#define W_B "W f 614400 4096"
#define R_C "R f 618496 4096"
#define W_C "W f 618496 4096"
#define R_D "R f 413696 4096"
#define W_D "W f 413696 4096"

static const char *const fig_a[] = { R_A, R_B, W_C, W_A, W_B, R_C, R_A,
				     W_D, R_D, W_B, R_D, W_C, NULL };
static const char *const fig_b[] = { R_A, W_A, R_B, R_A, W_B, W_B, W_C,
				     W_D, R_C, W_C, R_D, R_D, NULL };
static const char *const fig_c[] = { R_A, W_A, R_B, R_A, W_D, W_B, W_B,
				     R_D, R_D, W_C, R_C, W_C, NULL };
static const char *const fig_d[] = { R_A, W_A, R_A, W_D, R_D, R_D, R_B,
				     W_B, W_B, W_C, R_C, W_C, NULL };
static const char *const fig_d_printed[] = { R_A, W_A, W_A, W_D, R_D, R_D, R_B,
					     W_B, W_B, W_C, R_C, W_C, NULL };

static void figure_3_legal(const struct sp_sequence *a)
{
	static const struct {
		const char *const *requests;
		const char *name;
		enum sp_sequence_verdict verdict;
	} rows[] = {
		{ fig_b, "b is legal", SP_SEQUENCE_LEGAL },
		{ fig_c, "c is legal", SP_SEQUENCE_LEGAL },
		{ fig_d, "d, corrected, is legal", SP_SEQUENCE_LEGAL },
		{ fig_d_printed, "d, as printed, lacks a request", SP_SEQUENCE_MISSING },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct sp_sequence *b = seqtrace(rows[i].requests);
		struct sp_sequence_comparison c;

		ok(sp_sequence_compare(a, b, &c) == 0 && c.verdict == rows[i].verdict &&
			   (c.verdict == SP_SEQUENCE_LEGAL ||
			    (c.first.line == 7 && !c.first.write && c.first.offset == 409600)),
		   "wc06.fig3: %s", rows[i].name);
		sp_sequence_free(b);
	}
}

static void figure_3_aims(const struct sp_sequence *a)
{
	struct sp_sequence *b = seqtrace(fig_b), *d = seqtrace(fig_d);
	struct sp_sequence_stats sa, sd;

	ok(sum(transfers(a, 2, SP_SEQUENCE_LRU, 0)) == 8 &&
		   sum(transfers(b, 2, SP_SEQUENCE_LRU, 0)) == 4,
	   "wc06.fig3: b, grouped by block, moves 4 pages instead of 8 with a cache of two");
	ok(sum(transfers(a, 3, SP_SEQUENCE_LRU, 0)) == 5 &&
		   sum(transfers(b, 3, SP_SEQUENCE_LRU, 0)) == 3,
	   "wc06.fig3: and 3 instead of 5 with a cache of three");
	sp_sequence_stats(a, &sa);
	sp_sequence_stats(d, &sd);
	ok(sa.total.merges == 0 && sd.total.merges == 1,
	   "wc06.fig3: d, ordered by track, has two writes that merge");
	sp_sequence_free(b);
	sp_sequence_free(d);
}

/* The sequence of figure 3 (a), rearranged by the analyser itself. */
static struct sp_sequence *refined(enum sp_sequence_refinement how)
{
	struct sp_sequence *seq = seqtrace(fig_a);

	if (sp_sequence_refine(seq, how, LENGTH(fig_a)) < 0)
		exit(1);
	return seq;
}

static void figure_3_refined(void)
{
	struct sp_sequence *place = refined(SP_SEQUENCE_BY_OFFSET), *d = seqtrace(fig_d);
	struct sp_sequence *block = refined(SP_SEQUENCE_BY_BLOCK), *b = seqtrace(fig_b);
	bool same = true;

	for (size_t i = 0; i < d->n; i++)
		same &= place->req[i].write == d->req[i].write &&
			place->req[i].offset == d->req[i].offset;
	ok(same && place->n == 12, "wc06.fig3: a, refined by place, is d");
	ok(sum(transfers(block, 1, SP_SEQUENCE_LRU, 0)) == 5 &&
		   sum(transfers(b, 1, SP_SEQUENCE_LRU, 0)) > 5,
	   "wc06.fig3: a, refined by block, needs a cache of one page: A and B read, A, B, C "
	   "written");
	sp_sequence_free(place);
	sp_sequence_free(b);
	sp_sequence_free(block);
	sp_sequence_free(d);
}

/* Writes a page at the end of each file alternately; returns the requests of the device. */
static struct sp_sequence *allocate(const int *file, size_t n, int nfiles, struct sp__fsmap **fs)
{
	struct sp__fsmap_opts opts = { .policy = SP__FS_GROUP,
				       .group_pages = 2,
				       .device_pages = 100 };
	static char text[32][32];
	const char *requests[33];
	uint64_t at, pages[3] = { 0 };
	size_t run;

	if (sp__fsmap_new(fs, &opts) < 0)
		exit(1);
	for (int f = 0; f < nfiles; f++)
		if (sp__fsmap_create(*fs, 0) != f)
			exit(1);
	for (size_t i = 0; i < n; i++) {
		if (sp__fsmap_locate(*fs, (unsigned)file[i], pages[file[i]]++, 1, &at, &run) < 0)
			exit(1);
		snprintf(text[i], sizeof(text[i]), "W d %d %d", (int)at * PAGE, PAGE);
		requests[i] = text[i];
	}
	requests[n] = NULL;
	return seqtrace(requests);
}

static uint64_t regions(const struct sp__fsmap *fs, int first, int last)
{
	uint64_t n, all = 0;
	double mean;

	for (int f = first; f <= last; f++) {
		sp__fsmap_regions(fs, (unsigned)f, &n, &mean);
		all += n;
	}
	return all;
}

/* Section 2.2.2: A, B and D belong to file 0, C to file 1; groups of two blocks. */
static void figure_3_files(void)
{
	static const int mixed[] = { 0, 0, 1, 0 }, grouped[] = { 0, 0, 0, 1 };
	struct sp__fsmap *fs;
	struct sp_sequence *seq = allocate(mixed, 4, 2, &fs);

	ok(regions(fs, 0, 0) == 2,
	   "wc06.fig3: a file written alternately with another has two regions");
	sp_sequence_free(seq);
	sp__fsmap_free(fs);
	seq = allocate(grouped, 4, 2, &fs);
	ok(regions(fs, 0, 0) == 1, "wc06.fig3: grouped by file, it has one");
	sp_sequence_free(seq);
	sp__fsmap_free(fs);
}

/*
 * Table 3.  The copy of the paper at hand has lost the partitions of the
 * tuples; this order agrees with all that the text says: partition 0 has 5
 * tuples, T1 and T4 the first; W_T2 and W_T5 are the first of those that are
 * followed by a request elsewhere; T3, T6, T9, T12 of partition 2 lie together
 * from block 7 on; the second and third group of partition 0 begin at blocks
 * 11 and 13 (blocks count from 1).
 */
static const int tuple[19] = { 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 1, 1, 2, 2 };

/* Tuples as they leave the sort-hash join: each fills a cell, its first byte is its number. */
struct swept {
	int order[19], n;
};

static int take_tuple(void *ctx, unsigned partition, const char *data, size_t bytes,
		      unsigned records)
{
	struct swept *s = ctx;

	s->order[s->n++] = data[0];
	return bytes == TUPLE_BYTES && records == 1 && (int)partition == tuple[(int)data[0]] ? 0
											     : -1;
}

/* Four of the seven pages are for sorting. */
static bool sweep_tuples(struct swept *to)
{
	static char mem[4 * SP__SWEEP_CELL], rec[TUPLE_BYTES];
	struct sp__sweep s;
	bool right = sp__sweep_open(&s, 3, mem, sizeof(mem), take_tuple, to) == 0;

	for (int i = 0; right && i < 19; i++) {
		rec[0] = (char)i;
		right = sp__sweep_put(&s, (unsigned)tuple[i], rec, sizeof(rec)) == 0;
	}
	right = right && sp__sweep_finish(&s) == 0;
	sp__sweep_close(&s);
	return right && to->n == 19;
}

static uint64_t not_adjacent(const struct sp_sequence *seq)
{
	struct sp_sequence_stats s;

	sp_sequence_stats(seq, &s);
	return s.total.requests - 1 - s.total.merges;
}

static void table_3_hhj(void)
{
	struct sp__fsmap *fs;
	struct sp_sequence *seq;
	int file[19], n = 0;

	for (int i = 0; i < 19; i++)
		if (tuple[i])
			file[n++] = tuple[i] - 1;
	seq = allocate(file, (size_t)n, 2, &fs);
	ok(n == 14 && seq->n == 14, "wc06.tab3: HHJ writes 14 tuples");
	ok(regions(fs, 0, 1) == 8, "wc06.tab3: HHJ's partitions need 8 seeks");
	ok(not_adjacent(seq) == 7, "wc06.tab3: 7 of HHJ's requests are followed by one elsewhere");
	sp_sequence_free(seq);
	sp__fsmap_free(fs);
}

static void table_3_shj(void)
{
	static const int want[4] = { 3, 6, 9, 12 };
	struct swept out = { .n = 0 };
	struct sp__fsmap *fs;
	struct sp_sequence *seq;
	int file[19], together = 0;

	if (!sweep_tuples(&out))
		exit(1);
	for (int i = 0; i < 19; i++)
		file[i] = tuple[out.order[i]];
	seq = allocate(file, 19, 3, &fs);
	for (int i = 0; i < 4; i++)
		together += out.order[5 + i] + 1 == want[i] &&
			    seq->req[5 + i].offset == (uint64_t)(6 + i) * PAGE;
	ok(together == 4, "wc06.tab3: SHJ writes T3, T6, T9, T12 to blocks 7 to 10");
	ok(regions(fs, 0, 2) == 6, "wc06.tab3: SHJ's partitions need 6 seeks");
	ok(not_adjacent(seq) == 4, "wc06.tab3: 4 of SHJ's requests are followed by one elsewhere");
	sp_sequence_free(seq);
	sp__fsmap_free(fs);
}

/* Figure 1 of Zhang & Larson: three runs of three blocks, their last keys. */
static const int last_key[3][3] = { { 10, 30, 50 }, { 15, 20, 40 }, { 18, 42, 60 } };

static int by_key(void *ctx, unsigned a, uint64_t pa, unsigned b, uint64_t pb)
{
	(void)ctx;
	return (last_key[a][pa] > last_key[b][pb]) - (last_key[a][pa] < last_key[b][pb]);
}

static void consumption(void)
{
	static const int want[9] = { 1, 4, 7, 2, 5, 8, 6, 3, 9 };
	static char text[18][32];
	const char *requests[19] = { NULL };
	uint64_t pages[3] = { 3, 3, 3 };
	uint32_t runs[9];
	int seen[3] = { 0 }, same = 0;
	struct sp_sequence *seq;
	struct sp_sequence_stats s;

	if (sp__consumption_build(3, pages, by_key, NULL, runs) < 0)
		exit(1);
	for (int i = 0; i < 9; i++) {
		int block = 3 * (int)runs[i] + seen[runs[i]]++;

		snprintf(text[i], sizeof(text[i]), "W tmp %d %d", i * PAGE, PAGE);
		snprintf(text[9 + i], sizeof(text[i]), "R tmp %d %d", block * PAGE, PAGE);
		requests[i] = text[i];
		requests[9 + i] = text[9 + i];
	}
	seq = seqtrace(requests);
	for (int i = 0; i < 9; i++)
		same += seq->req[9 + i].offset == (uint64_t)(want[i] - 1) * PAGE;
	ok(same == 9, "zl98.fig1: blocks are read in the order 1 4 7 2 5 8 6 3 9");
	sp_sequence_stats(seq, &s);
	ok(s.total.cluster_reads == 9, "zl98.fig1: each of them is a cluster of its own");
	sp_sequence_free(seq);
}

int main(void)
{
	struct sp_sequence *a;

	seqtrace_begin();
	tables_1_and_2();
	a = seqtrace(fig_a);
	figure_3_legal(a);
	figure_3_aims(a);
	sp_sequence_free(a);
	figure_3_refined();
	figure_3_files();
	table_3_hhj();
	table_3_shj();
	consumption();
	seqtrace_end();
	return done();
}
