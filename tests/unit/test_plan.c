/* SPDX-License-Identifier: MIT */
/*
 * The planner over tables of sizes: it keeps within the memory, gets no worse
 * with more of it, honours what is set by hand and refuses what contradicts.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "run/memory.h"
#include "sort/plan/plan.h"
#include "sort/plan/policy.h"
#include "sort/plan/readplan.h"
#include "base/ring.h"
#include "spill/writer.h"
#include "tap.h"

#define K (UINT64_C(1) << 10)
#define M (UINT64_C(1) << 20)
#define G (UINT64_C(1) << 30)

static struct sp_sort_opts opts_for(uint64_t memory, uint64_t input)
{
	struct sp_sort_opts o = SP_SORT_OPTS_INIT;

	o.run.memory_bytes = memory;
	o.input_bytes = input;
	o.run.parallel = 2;
	return o;
}

static struct sp_sort_plan must(const struct sp_sort_opts *o)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_sort_plan plan = { 0 };

	if (sp_sort_plan(o, &plan, &err)) {
		printf("Bail out! no plan: %s\n", err.text);
		exit(1);
	}
	return plan;
}

/* All that the plan asks for at a time, while forming runs or merging. */
static bool within(const struct sp_sort_plan *p)
{
	uint64_t slots = p->run_bytes * p->run_buffers, in, out, spill, pool;
	struct sp__buffers b = sp__buffers(p->memory_bytes);

	in = (uint64_t)b.chunk_bytes * b.reads;
	out = (uint64_t)b.chunk_bytes * (b.writes + SP__RING_BUFFERS);
	spill = (uint64_t)b.chunk_bytes * SP__WRITER_CHUNKS;
	pool = p->merge_bytes > slots ? p->merge_bytes : slots;
	if (p->policy == SP_MERGE_EAGER)
		pool = p->merge_bytes + slots;
	return slots + in + spill <= p->memory_bytes && pool + out + spill <= p->memory_bytes &&
	       (uint64_t)p->merge_pages * p->page_bytes <= p->merge_bytes;
}

static bool usable(const struct sp_sort_plan *p)
{
	return p->run_bytes * p->run_buffers >= 128 * K && p->fan_in >= 2 &&
	       p->page_bytes >= 4096 && p->page_bytes % 4096 == 0 &&
	       p->merge_pages >= sp__readplan_min(p->readahead, p->fan_in) &&
	       (p->in_memory || p->merge_pages >= 2 * p->fan_in) &&
	       p->strategy[p->readahead].feasible;
}

/* Reaches every run count with the passes that it names. */
static bool enough_passes(const struct sp_sort_plan *p)
{
	double reach = pow(p->fan_in, p->passes);

	return p->in_memory || !p->runs || reach >= (double)p->runs;
}

static void tables(void)
{
	static const uint64_t inputs[] = { 0,	  1,	  300 * K, 5 * M,   100 * M,
					   1 * G, 16 * G, 300 * G, 4096 * G };
	bool fits = true, good = true, reach = true, monotone = true, steady = true, more = true;

	for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
		struct sp_sort_plan before = { .seconds = INFINITY };

		for (uint64_t m = 100 * K; m < 16 * G; m += m / 7) {
			struct sp_sort_opts o = opts_for(m, inputs[i]);
			struct sp_sort_plan p;

			o.formation = SP_FORM_LOAD;
			p = must(&o);
			fits &= within(&p) && p.memory_bytes <= (m < 512 * K ? 512 * K : m);
			good &= usable(&p);
			reach &= enough_passes(&p);
			/* Page sizes and run buffers go in steps; a wider one where even
			 * the largest page has more descriptors than it should. */
			monotone &=
				p.seconds <= before.seconds * (inputs[i] / m < 1000 ? 1.08 : 1.2);
			steady &= p.in_memory >= before.in_memory;
			more &= p.in_memory ||
				p.run_bytes * p.run_buffers >=
					before.run_bytes * before.run_buffers / 4 * 3;
			before = p;
		}
	}
	ok(fits, "no plan needs more than the memory, or 512 KB");
	ok(good, "every plan has usable runs, pages and fan-in, two pages for each run");
	ok(reach, "fan-in and passes reach all runs");
	ok(monotone, "more memory never takes more time, except at steps of the page size");
	ok(steady, "an input sorted in memory stays there with more memory");
	ok(more, "more memory makes run buffers hardly smaller");
}

static void choices(void)
{
	struct sp_sort_opts o = opts_for(64 * M, 1 * G);
	struct sp_sort_plan p = must(&o), packed;

	ok(p.passes == 1 && p.run_buffers == 3 && p.formation == SP_FORM_LOAD &&
		   p.policy == SP_MERGE_LAZY && p.recycle == SP_RECYCLE_ALL,
	   "1 GB in 64 MB: three run buffers, one lazy merge");
	ok(p.seconds > 2 && p.seconds < 3,
	   "1 GB in 64 MB is about 2 s at 2 GB/s, read and written twice");
	o = opts_for(2 * G, 1 * G);
	p = must(&o);
	ok(p.in_memory && p.run_buffers > 2 && p.passes == 0,
	   "1 GB in 2 GB is sorted in memory, in parts while it is read");
	o.cached_bytes = 1 * G;
	p = must(&o);
	ok(!p.in_memory && p.run_bytes * p.run_buffers <= 64 * M,
	   "or stored, in little memory, if the page cache holds it");
	o.unique = true;
	ok(must(&o).in_memory, "but not if records may collapse");
	o.unique = false;
	o.cached_bytes = 1 * G - 1;
	ok(must(&o).in_memory, "data that the page cache does not hold does not count");
	o.input_bytes = 128 * M;
	ok(must(&o).in_memory, "data that takes little memory does not count");
	o.input_bytes = 1 * G;
	o.format = (struct sp_recfmt){ .kind = SP_REC_FIXED, .fixed_bytes = 8 };
	p = must(&o);
	ok(!p.in_memory, "records of 8 bytes weigh five times as much");
	o = opts_for(64 * M, UINT64_C(16000000000));
	o.record_bytes = 100;
	p = must(&o);
	ok(p.passes == 1 && p.page_bytes == 32 * K,
	   "16 GB of records of 100 bytes in 64 MB: one merge, in pages of 32 KB");
	o.run.compression = SP_SPILL_ZSTD;
	packed = must(&o);
	ok(packed.fan_in * 16 > p.fan_in * 15 && packed.run_bytes * 16 > p.run_bytes * 15,
	   "compression costs less than a sixteenth of the fan-in and of a run's length");
	o.run.compression = SP_SPILL_RAW;
	o.record_bytes = 10;
	ok(must(&o).runs > 3 * p.runs, "records of 10 bytes weigh three times as much");
	o = opts_for(64 * M, 0);
	p = must(&o);
	ok(!p.runs && !p.in_memory && p.run_buffers > 2 && !p.passes && p.formation == SP_FORM_LOAD,
	   "nothing is promised about input of unknown length");
	o.run.parallel = 1;
	p = must(&o);
	ok(p.run_buffers == 1, "one thread has one run buffer");
	o.compress_program = "gzip";
	p = must(&o);
	ok(p.readahead == SP_READ_NONE && p.recycle == SP_RECYCLE_NONE && p.fan_in <= 16,
	   "a compression program means whole runs, no recycling, sixteen processes");
	o = opts_for(16 * M, 1 * G);
	p = must(&o);
	ok(p.formation == SP_FORM_LOAD,
	   "on a fast device a second pass is cheaper than selecting from a heap");
	o.formation = SP_FORM_REPLACEMENT;
	p = must(&o);
	ok(p.passes == 1, "replacement selection, asked for, saves a pass");
	ok(sp__threads(3) == 3 && sp__threads(0) >= 1 && sp__threads(0) <= 8,
	   "threads are as asked, or one to eight");
}

/* Input that fits the memory, but not the half that eager merging leaves to runs. */
static void eager_halves(void)
{
	struct sp_sort_opts o = opts_for(64 * M, 24 * M);

	ok(must(&o).in_memory, "24 MB of lines fit in 64 MB");
	o.policy = SP_MERGE_EAGER;
	ok(!must(&o).in_memory, "not with eager merging, which halves it");
	o.merge_bytes = 4 * M;
	ok(must(&o).in_memory, "but with 4 MB for its merges");
}

static void threads(void)
{
	struct sp_sort_opts o = opts_for(64 * M, 1 * G);
	struct sp_sort_plan p;

	o.run.parallel = sp__threads(0) + 5;
	p = must(&o);
	ok(p.max_threads == sp__threads(0) + 5, "threads are as many as requested");
	o.on_device = true;
	p = must(&o);
	ok(p.max_threads == sp__threads(0), "but no more than processors read a device");
	o.run.parallel = 1;
	p = must(&o);
	ok(p.max_threads == 1, "one thread reads a device if one is requested");
}

static void by_hand(void)
{
	struct sp_sort_opts o = opts_for(64 * M, 1 * G);
	struct sp_sort_plan p;

	o.run_bytes = 1 * M;
	p = must(&o);
	ok(p.run_bytes == 1 * M && p.run_buffers == 3 && p.runs == 1536, "a run size is kept");
	o.merge_bytes = 4 * M;
	p = must(&o);
	ok(p.merge_bytes == 4 * M && p.merge_pages == 4 * M / p.page_bytes,
	   "a merge buffer is kept");
	o.fan_in = 4;
	p = must(&o);
	ok(p.fan_in == 4 && p.passes == 6, "a fan-in is kept: 1536 runs four by four in 6 passes");
	o.policy = SP_MERGE_PPMS;
	ok(must(&o).passes == 7, "and once more if the result is a run");
	o.input_bytes = M / 2;
	p = must(&o);
	ok(p.runs == 1 && p.passes == 1, "... but a single run is read once");
	o.input_bytes = 1 * G;
	o.policy = SP_MERGE_EAGER;
	o.run.page_bytes = 8192;
	o.recycle = 1;
	o.readahead = SP_READ_DOUBLE;
	p = must(&o);
	ok(p.policy == SP_MERGE_EAGER && p.page_bytes == 8192 && p.recycle == 1 &&
		   p.readahead == SP_READ_DOUBLE && within(&p),
	   "policy, page size, recycling and read-ahead are kept");
	o = opts_for(64 * M, 1 * G);
	o.batch_size = 7;
	p = must(&o);
	ok(p.fan_in == 7, "the batch size caps the fan-in");
	o.fan_in = 5;
	p = must(&o);
	ok(p.fan_in == 5, "a fan-in is chosen within it");
	o = opts_for(512 * K, 2 * M);
	o.fan_in = 60;
	p = must(&o);
	ok(p.fan_in == 60 && p.merge_pages >= 60, "pages become small for a large fan-in");
	o = opts_for(8 * M, 0);
	o.run.page_bytes = 4096;
	p = must(&o);
	ok(p.page_bytes == 4096 && p.run_bytes * p.run_buffers >= 4 * M,
	   "small pages are possible for input of unknown length");
	o = opts_for(64 * M, 0);
	o.policy = SP_MERGE_EAGER;
	p = must(&o);
	ok(p.fan_in == 8 && within(&p), "eager merging fits next to the run buffers");
}

/* Refused, and the memory that the message names is the minimum. */
static void names_the_minimum(struct sp_sort_opts o, const char *what)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_sort_plan p;
	const char *min;
	int rc = sp_sort_plan(&o, &p, &err);

	diag("%s", err.text);
	ok(rc == SP_EBUDGET && err.code == rc, "%s is refused", what);
	min = strstr(err.text, "at least ");
	o.run.memory_bytes = min ? strtoull(min + strlen("at least "), NULL, 10) : 0;
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	ok(min && sp_sort_plan(&o, &p, &err) == 0, "%s: the memory named would do", what);
	o.run.memory_bytes -= 4097;
	ok(sp_sort_plan(&o, &p, &err) == SP_EBUDGET, "%s: less would not", what);
}

static void refusals(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_sort_opts o = opts_for(8 * M, 1 * G);
	struct sp_sort_plan p;

	o.run_bytes = 20 * M;
	names_the_minimum(o, "a run larger than the memory");
	o = opts_for(8 * M, 1 * G);
	o.merge_bytes = 20 * M;
	names_the_minimum(o, "a merge buffer larger than the memory");
	o = opts_for(8 * M, 1 * G);
	o.fan_in = 3000;
	names_the_minimum(o, "a fan-in that memory has no pages for");
	o = opts_for(1 * M, 1 * G);
	o.run.page_bytes = 4 * M;
	names_the_minimum(o, "a page larger than the memory");
	o = opts_for(64 * M, 1 * G);
	o.merge_bytes = 1 * M;
	o.run.page_bytes = 64 * K;
	o.fan_in = 20;
	ok(sp_sort_plan(&o, &p, &err) == SP_EBUDGET && strstr(err.text, "1310720"),
	   "20 runs in pages of 64 KB need a merge buffer of 1310720 bytes");
	o.merge_bytes = 1310720;
	ok(sp_sort_plan(&o, &p, &err) == 0, "and that would do");
	o.run.page_bytes = 5000;
	ok(sp_sort_plan(&o, &p, &err) == -EINVAL, "pages are multiples of 4096 bytes");
	o.run.page_bytes = 0;
	o.fan_in = 1;
	ok(sp_sort_plan(&o, &p, &err) == -EINVAL, "a fan-in of 1 is refused");
	o.fan_in = 0;
	o.count = true;
	ok(sp_sort_plan(&o, &p, &err) == -EINVAL, "only groups of equal keys are counted");
	o.unique = true;
	ok(sp_sort_plan(&o, &p, &err) == 0, "as they are");
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(b);
}

/* Formulas by hand: 15 runs, 64 buffers (figure 10, pages of 32 KB in 2 MB). */
static void formulas(void)
{
	const unsigned n = 15, b = 64;
	struct sp__device_costs device = { .transfer_s_per_mib = 0.3, .seek_s = 0.007 };
	struct sp_strategy_plan table[SP_READ_COUNT_];

	ok(near(sp__plan_cluster_pages(SP_READ_DOUBLE, n, b), 2), "formula (1) at whole pages");
	ok(near(sp__plan_cluster_pages(SP_READ_DOUBLE, n, 20), 1),
	   "formula (1) below two buffers for each run");
	ok(near(sp__plan_cluster_pages(SP_READ_EQUAL, n, b), 64 / 15. - 1), "formula (2)");
	ok(near(sp__plan_cluster_pages(SP_READ_EXTENDED, n, b), 64 / 17.), "formula (3)");
	ok(near(sp__plan_cluster_pages(SP_READ_CLUSTER, n, b), 4), "formula (4)");
	(void)!sp__plan_readahead(SP_READ_AUTO, 1600, 32768, n, b, true, device, table);
	ok(near(table[SP_READ_CLUSTER].cluster_reads, 400), "1600 pages are 400 clusters");
	ok(near(table[SP_READ_CLUSTER].seconds, 17.8), "formula (5)");
	ok(near(sp__plan_cluster_pages(SP_READ_FORECAST, n, b), 4),
	   "forecasting reads whole buffers of b / (n + 1)");
	ok(near(sp__plan_cluster_pages(SP_READ_NONE, n, b), 1),
	   "without read-ahead every page is a read");
	ok(sp__plan_cluster_pages(SP_READ_CLUSTER, n, 15) == 0,
	   "too few buffers give no prediction");
}

static void strategies(void)
{
	const struct sp__device_costs usual = sp__device_costs(NULL, false);
	struct sp_strategy_plan t[SP_READ_COUNT_];

	ok(sp__plan_readahead(SP_READ_AUTO, 1600, 32 * K, 15, 64, true, usual, t) ==
			   SP_READ_FORECAST &&
		   near(t[SP_READ_CLUSTER].seconds, t[SP_READ_FORECAST].seconds),
	   "at equal time the simpler strategy is chosen");
	ok(sp__plan_readahead(SP_READ_AUTO, 1600, 32 * K, 15, 70, true, usual, t) ==
		   SP_READ_CLUSTER,
	   "clustering is fastest");
	ok(sp__plan_readahead(SP_READ_AUTO, 1600, 32 * K, 3, 64, true, usual, t) == SP_READ_EQUAL,
	   "with few runs equal buffering wastes less");
	ok(sp__plan_readahead(SP_READ_AUTO, 1600, 32 * K, 15, 15, true, usual, t) == SP_READ_NONE &&
		   !t[SP_READ_CLUSTER].feasible,
	   "without spare buffers there is no choice");
	ok(sp__plan_readahead(SP_READ_AUTO, 100, 32 * K, 15, 1000, true, usual, t) !=
			   SP_READ_NONE &&
		   t[SP_READ_EQUAL].cluster_reads == 15,
	   "no strategy is credited with less than one read for each run");
}

/* Runs along the semi-sequential path of a drive whose tracks have 343 KB. */
static void along_path(void)
{
	struct sp_sort_opts o = opts_for(5 * M, 256 * M);
	struct sp_geometry *g = NULL;
	struct sp_sort_plan p;
	bool fits = true, less = true;
	uint64_t before = 0;

	if (sp_geometry_model(&g, "atlas10k3-like", NULL))
		exit(1);
	o.record_bytes = 100;
	o.run.volume = "sim:atlas10k3-like";
	o.run.geometry = g;
	o.run.placement = SP_PLACE_SEMISEQ;
	p = must(&o);
	ok(p.passes == 1 && p.page_bytes == 24 * K && p.readahead == SP_READ_DOUBLE &&
		   near(p.seek_s, 0.0011),
	   "along the path: one pass, a page that fits twice for each run, hops of 1.1 ms");
	for (uint64_t m = 2 * M; m <= 128 * M; m += m / 2) {
		o.run.memory_bytes = m;
		o.input_bytes = 16 * m;
		p = must(&o);
		fits &= p.page_bytes * UINT64_C(5) <= 686 * 512;
		less &= p.page_bytes >= before || p.page_bytes >= 32 * K;
		before = p.page_bytes;
	}
	ok(fits, "at least five pages lie on a track");
	ok(less, "with more memory pages do not become small again");
	sp_geometry_free(g);
	if (sp_geometry_model(&g, "serpentine", NULL))
		exit(1);
	o.run.volume = "sim:serpentine";
	o.run.geometry = g;
	p = must(&o);
	ok(near(p.seek_s, 0.001067), "inside a round of a serpentine hops take 1.07 ms, not the "
				     "1.33 ms of the way to the next");
	sp_geometry_free(g);
}

int main(void)
{
	along_path();
	tables();
	choices();
	eager_halves();
	threads();
	by_hand();
	refusals();
	formulas();
	strategies();
	return done();
}
