/* SPDX-License-Identifier: MIT */
/*
 * Plans a sort: tries every page size, and both kinds of run formation unless it is fixed, and
 * chooses the layout (layout.c) with the shortest predicted time.
 *
 * Page size: formula (4) does not depend on it, since clusters have b / (n + 1) pages of any size.
 * It affects the memory for descriptors (small pages), the fan-in that two pages for each run allow
 * (large pages), and the number of requests.  Among the sizes within 3 % of the best time, these
 * conditions decide, in this order: descriptors take at most 1/16 of the memory; the largest size
 * up to 256 KiB that leaves 8 pages for each run, and 1.5 for each run and thread, since threads of
 * the final merge have their own pages; the size nearest to the 32 KiB of the paper that leaves
 * four.  Pages below 32 KiB count as a quarter slower than predicted, or less if several threads
 * divide that.  Otherwise hundreds of runs would get two pages of 16 KiB instead of one of 32 KiB,
 * which formula (5) considers equal.  Along the semi-sequential path they are equal; there the
 * largest page near the best time that leaves two for each run is chosen.
 *
 * Several threads divide the final merge into ranges, and a range has some pages of each run.  So
 * many threads have smaller pages, which may cost more time than 3 %, since it is divided, too.
 * If even 32 KiB leave some threads of many without pages, which short records and little memory
 * cause, the size that leaves the fewest without is chosen.
 *
 * Refusals: bisection over the planner itself finds the minimum memory, so the message always
 * agrees with the planner.
 */
#include <stdio.h>
#include "base/err.h"
#include "base/minmax.h"
#include "run/memory.h"
#include "run/volume_spec.h"
#include "sort/plan/plan.h"
#include "sort/plan/predict.h"

#define MIN_PAGE 4096u
#define USUAL_PAGE (32u << 10)
#define FINE_PAGE (256u << 10)
#define RANGE_PAGES 16 /* pages of a run for each of several threads */
#define MAX_PAGE (16u << 20)
#define MERGER_BYTES (1u << 20) /* a merging thread with less does not pay */
#define PAGES_ON_TRACK 5
/* Number of sizes to try. */
#define MAX_PAGES 20
#define NEAR_BEST 0.03
#define NEAR_THREADS 2
#define NEAR_MAX 4
#define SMALL_COSTS 0.25
#define THREAD_SCORE 8 /* a thread in the final merge scores like halving a page 8 times */
#define WORTH_REPLACEMENT 0.8

/* Returns the largest page with which each of several threads has its ranges of runs. */
static uint64_t fine_page(const struct sp__choice *c, const struct sp__layout *l)
{
	return c->threads == 1 ? FINE_PAGE
			       : sp__max(l->run_bytes / c->threads / RANGE_PAGES, USUAL_PAGE);
}

/* Rates a layout's page size, among layouts of about equal time. */
static int page_score(const struct sp__choice *c, const struct sp__layout *l)
{
	const uint32_t page_bytes = c->page_bytes;
	unsigned runs = l->final_runs > 2 ? l->final_runs : 2, each = l->merge_pages / runs;
	int distance = 0, score = l->descriptor_bytes <= c->working_bytes / 16 ? 1000 : 0;

	if (each >= sp__max(8, c->threads / 2 * 3) && page_bytes >= USUAL_PAGE &&
	    page_bytes <= sp__min(FINE_PAGE, fine_page(c, l)))
		return score + 500 + (int)(page_bytes >> 12);
	for (uint32_t p = USUAL_PAGE; p < page_bytes; p *= 2)
		distance++;
	for (uint32_t p = page_bytes; p < USUAL_PAGE; p *= 2)
		distance++;
	if (c->mergers > 2 && l->passes < 2 && l->keys)
		score += THREAD_SCORE * (int)sp__min(l->run_buffers, sp__layout_mergers(c, l));
	return score + (each >= 4 ? 100 : 0) - distance;
}

/*
 * Rates a layout along the semi-sequential path: few passes, since runs of merges are far longer
 * than their neighbours and along no path; then as described above.
 */
static int path_score(const struct sp_sort_opts *o, const struct sp__layout *l, uint32_t page_bytes)
{
	unsigned runs = l->final_runs > 2 ? l->final_runs : 2, each = l->merge_pages / runs;
	int page = (int)(page_bytes >> 12), few = -4096 * (int)l->passes;

	if (each >= 8 && page_bytes >= USUAL_PAGE &&
	    page_bytes <= sp__device_page(o->run.geometry, SP__DEVICE_PAGES))
		return few + 1024 + page;
	return few + (each >= 2 ? page : -page);
}

/*
 * Lists the page sizes to try, smallest first, and returns their number.  If each page is read
 * alone, the size that fits twice for each run can be between powers of two.
 */
static int pages_to_try(const struct sp_sort_opts *o, uint64_t working_bytes, uint32_t *page)
{
	const bool tracks = sp__plan_placement(o) != SP_PLACE_CONTIGUOUS;
	/* The largest pages on tracks leave little of a track unused. */
	uint32_t max =
		tracks ? sp__device_page(o->run.geometry, PAGES_ON_TRACK) : SP__DEVICE_PAGE_MAX;
	int n = 0;

	/* A run is written in whole pages, one buffer at a time. */
	max = (uint32_t)sp__min(max, sp__buffers(working_bytes).chunk_bytes);
	if (o->run.page_bytes) {
		page[0] = o->run.page_bytes;
		return 1;
	}
	for (uint32_t p = MIN_PAGE; p <= max; p *= 2) {
		uint32_t between = p + p / 2;

		page[n++] = p;
		if (tracks && between % MIN_PAGE == 0 && between <= max)
			page[n++] = between;
	}
	return n;
}

/* Returns the factor for pages below the usual size, whose costs several threads divide. */
static double small_costs(const struct sp__choice *c)
{
	return 1 + SMALL_COSTS / sp__max(1, c->mergers / 2);
}

/* Returns the share of the best time within which other conditions decide. */
static double near_best(const struct sp__choice *c)
{
	return NEAR_BEST * (double)sp__max(1, sp__min(c->mergers / NEAR_THREADS, NEAR_MAX));
}

/* Returns the best layout for a kind of run formation; if none fits, the last misfit. */
static struct sp__layout best_page(const struct sp_sort_opts *o, struct sp__choice *c)
{
	struct sp__layout l[MAX_PAGES];
	uint32_t page[MAX_PAGES];
	double time[MAX_PAGES], seconds = -1;
	bool path = sp__plan_placement(o) == SP_PLACE_SEMISEQ;
	int n = pages_to_try(o, c->working_bytes, page), best = -1, best_score = 0, score;

	for (int i = 0; i < n; i++) {
		c->page_bytes = page[i];
		c->largest_page = i == n - 1 && !(o->run.page_bytes && o->input_bytes);
		sp__layout(o, c, &l[i]);
		time[i] = l[i].seconds * (page[i] < USUAL_PAGE && !path ? small_costs(c) : 1);
		if (!l[i].misfit && (seconds < 0 || time[i] < seconds))
			seconds = time[i];
	}
	for (int i = 0; i < n; i++) {
		if (l[i].misfit || time[i] > seconds * (1 + near_best(c)))
			continue;
		c->page_bytes = page[i];
		score = path ? path_score(o, &l[i], page[i]) : page_score(c, &l[i]);
		if (best < 0 || score > best_score) {
			best = i;
			best_score = score;
		}
	}
	if (best < 0)
		best = n - 1;
	c->page_bytes = page[best];
	return l[best];
}

static struct sp__layout best_layout(const struct sp_sort_opts *o, uint64_t memory_bytes,
				     struct sp__choice *c)
{
	struct sp__choice other;
	struct sp__layout load, replacement;

	*c = (struct sp__choice){ .working_bytes = sp__working_memory(&o->run, memory_bytes),
				  .threads = sp__volume_spec_simulated(&o->run)
						     ? 1
						     : sp__max(o->run.parallel, 1),
				  .formation = o->formation };
	c->mergers = (unsigned)sp__min(c->threads, c->working_bytes / MERGER_BYTES);
	/* Each run is then a process and a file, so few runs, merged early, are better. */
	if (o->compress_program)
		c->formation = SP_FORM_LOAD;
	/* Runs on neighbouring tracks must have about the same length. */
	if (o->run.placement == SP_PLACE_SEMISEQ && c->formation == SP_FORM_AUTO)
		c->formation = SP_FORM_LOAD;
	if (c->formation != SP_FORM_AUTO)
		return best_page(o, c);
	c->formation = SP_FORM_LOAD;
	load = best_page(o, c);
	if (!o->input_bytes)
		return load;
	other = *c;
	other.formation = SP_FORM_REPLACEMENT;
	replacement = best_page(o, &other);
	/* It costs more comparisons, so it is chosen only if it saves a whole pass, or nearly. */
	if (replacement.misfit ||
	    (!load.misfit && (replacement.passes >= load.passes ||
			      replacement.seconds > WORTH_REPLACEMENT * load.seconds)))
		return load;
	*c = other;
	return replacement;
}

static uint64_t min_memory(const struct sp_sort_opts *o)
{
	uint64_t low = sp__working_memory(&o->run, 1), high = low;
	struct sp__choice c;

	while (best_layout(o, high, &c).misfit) {
		low = high;
		if (high >> 60)
			return 0;
		high *= 2;
	}
	while (high - low > 4096) {
		uint64_t mid = low + (high - low) / 2;

		if (best_layout(o, mid, &c).misfit)
			low = mid;
		else
			high = mid;
	}
	return (high + 4095) & ~UINT64_C(4095);
}

static int refuse(const struct sp_sort_opts *o, const struct sp__layout *l, uint32_t page_bytes,
		  struct sp_errinfo *err)
{
	unsigned runs = l->fan_in ? l->fan_in : 2;
	unsigned long long memory;
	char what[80];

	if (l->misfit == SP__MISFIT_SMALL_MERGE)
		return sp__errf(err, SP_EBUDGET, "plan", NULL, -1,
				"merging %u runs in pages of %u bytes needs a merge buffer of at "
				"least %llu bytes",
				l->fan_in, page_bytes, (unsigned long long)l->need_merge_bytes);
	memory = min_memory(o);
	if (!memory)
		return sp__errf(err, SP_EBUDGET, "plan", NULL, -1,
				"no amount of memory is enough for these sizes");
	if (l->misfit == SP__MISFIT_RUN)
		snprintf(what, sizeof(what), "a run size of %llu bytes",
			 (unsigned long long)o->run_bytes);
	else if (l->misfit == SP__MISFIT_MERGE && o->merge_bytes)
		snprintf(what, sizeof(what), "a merge buffer of %llu bytes",
			 (unsigned long long)o->merge_bytes);
	else if (o->run.page_bytes)
		snprintf(what, sizeof(what), "merging %u runs in pages of %u bytes", runs,
			 page_bytes);
	else
		snprintf(what, sizeof(what), "merging %u runs", runs);
	return sp__errf(err, SP_EBUDGET, "plan", NULL, -1, "%s needs at least %llu bytes of memory",
			what, memory);
}

static int check_volume(const struct sp_sort_opts *o, struct sp_errinfo *err)
{
	int rc;

	if (o->run.volume && o->compress_program)
		return sp__errf(err, SP_EUNSUP, "plan", o->run.volume, -1,
				"a compress program cannot be used with a volume");
	rc = sp__volume_spec_check(&o->run, err);
	if (rc < 0 || o->run.placement == SP_PLACE_CONTIGUOUS)
		return rc;
	if (o->run.compression != SP_SPILL_RAW || o->compress_program)
		return sp__errf(err, SP_EUNSUP, "plan", NULL, -1,
				"compressed runs cannot be placed by tracks");
	return 0;
}

static int check_opts(const struct sp_sort_opts *o, struct sp_errinfo *err)
{
	if (o->run.page_bytes % MIN_PAGE || o->run.page_bytes > MAX_PAGE)
		return sp__errf(err, -EINVAL, "plan", NULL, -1,
				"the page size is not a multiple of %u up to %u", MIN_PAGE,
				MAX_PAGE);
	if (o->fan_in == 1)
		return sp__errf(err, -EINVAL, "plan", NULL, -1, "minimum fan-in is 2");
	if (o->run_bytes && o->run_bytes < MIN_PAGE)
		return sp__errf(err, SP_EBUDGET, "plan", NULL, -1, "minimum run size is %u bytes",
				MIN_PAGE);
	if (o->count && !o->unique)
		return sp__errf(err, -EINVAL, "plan", NULL, -1,
				"only a sort with unique keys can count records");
	return check_volume(o, err);
}

/*
 * Returns the bytes of temporary space that are written and not reused.  Intermediate merges write
 * where they have read, unless nothing is recycled.  With --limit, only the first records of each
 * run stay.
 */
static uint64_t spill_bytes(const struct sp_sort_opts *o, const struct sp_sort_plan *plan)
{
	uint64_t record = o->format.kind == SP_REC_FIXED ? o->format.fixed_bytes : o->record_bytes;
	double bytes = (double)plan->input_bytes, left;

	if (plan->in_memory || !plan->input_bytes)
		return 0;
	left = (double)plan->runs * (double)o->top * (double)record;
	if (left > 0 && left < bytes && !o->count)
		bytes = left;
	if (plan->recycle == SP_RECYCLE_NONE && plan->passes > 1)
		bytes *= plan->passes;
	return (uint64_t)bytes;
}

static void fill(struct sp_sort_plan *plan, const struct sp_sort_opts *o,
		 const struct sp__choice *c, const struct sp__layout *l)
{
	unsigned final_runs = l->final_runs > 1 ? l->final_runs : 2;
	uint64_t pages = (l->nominal_bytes + c->page_bytes - 1) / c->page_bytes;
	struct sp__device_costs device = sp__plan_device(o);

	*plan = (struct sp_sort_plan){
		.memory_bytes = c->working_bytes,
		.input_bytes = o->input_bytes,
		.in_memory = l->in_memory,
		.formation = c->formation,
		.policy = sp__plan_policy(o),
		.recycle = o->recycle == SP_RECYCLE_AUTO ? SP_RECYCLE_ALL : o->recycle,
		.run_bytes = l->run_bytes,
		.run_buffers = l->run_buffers,
		.runs = o->input_bytes ? l->runs : 0,
		.fan_in = l->fan_in,
		.passes = o->input_bytes ? l->passes : 0,
		.page_bytes = c->page_bytes,
		.merge_bytes = l->merge_bytes,
		.merge_pages = l->merge_pages,
		.placement = sp__plan_placement(o),
		.transfer_s_per_mib = device.transfer_s_per_mib,
		.seek_s = device.seek_s,
		.seconds = o->input_bytes ? l->seconds : 0,
	};
	plan->readahead = sp__plan_readahead(o->readahead, pages, c->page_bytes, final_runs,
					     l->merge_pages, l->keys, device, plan->strategy);
	if (o->compress_program) {
		plan->readahead = SP_READ_NONE;
		plan->recycle = SP_RECYCLE_NONE;
	}
	plan->spill_bytes = spill_bytes(o, plan);
	plan->threads = sp__plan_workers(o, plan);
	plan->max_threads = c->threads;
}

int sp__plan_placed(const struct sp_sort_opts *opts, struct sp_sort_plan *plan,
		    struct sp_errinfo *err)
{
	static const struct sp__merge_costs uncounted = { 0 };
	struct sp__merge_totals totals = { 0 };
	struct sp__sort_sizes sizes;
	struct sp__layout layout;
	struct sp__choice choice;
	int rc = check_opts(opts, err);

	if (rc < 0)
		return rc;
	layout = best_layout(opts, opts->run.memory_bytes, &choice);
	if (layout.misfit)
		return refuse(opts, &layout, choice.page_bytes, err);
	fill(plan, opts, &choice, &layout);
	if (!plan->input_bytes || opts->compress_program)
		return 0;
	sizes = sp__sort_sizes(opts, plan);
	rc = sp__predict_merges(&sizes, layout.keys, &uncounted, &totals);
	plan->cluster_reads = totals.clusters;
	return rc < 0 ? sp__err(err, rc, "allocate", NULL, -1) : 0;
}
