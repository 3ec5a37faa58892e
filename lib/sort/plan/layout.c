/* SPDX-License-Identifier: MIT */
/*
 * Computes the memory layout of a sort, and the time that follows from it.
 *
 * Memory:
 *
 *	W = fixed buffers + descriptors + R
 *
 * Fixed buffers (run/memory.h): while runs are formed, chunks of the input and of the run writer;
 * while they are merged, chunks of the writer, or output buffers and chunks of the output.
 * Descriptors: memory for each spilled page, and for planning a merge.  R holds run buffers first
 * and pages of runs later.  Only eager merging needs both at the same time and halves R.
 *
 * A record of l bytes takes l + 16 in a run buffer, and 16 more while it is sorted, so R holds R /
 * (1 + 32 / l) bytes of records.
 *
 * Every merge within the fan-in has two pages for each run: with fewer, reads cannot overlap with
 * merging.  A fan-in set by hand can use the minimum of the read-ahead strategy.
 */
#include <math.h>
#include "base/minmax.h"
#include "base/ring.h"
#include "run/memory.h"
#include "sort/plan/plan.h"
#include "sort/plan/policy.h"
#include "sort/plan/readplan.h"
#include "sort/records/runbuf.h"
#include "spill/codec.h"
#include "spill/pool.h"

/* A run in a merge, in addition to its pages: cursor, carried head of a record, plan. */
#define RUN_OVERHEAD 1024
/* Planning a clustered merge, per page, in addition to its descriptor. */
#define PAGE_PLAN_BYTES 24
#define KEYS_SHARE 16
#define MAX_FAN_IN 4096
/* As in GNU sort: each input of a merge is then a process. */
#define FILTER_FAN_IN 16
/* Levels of an eager merge are small, so that runs are read soon. */
#define EAGER_FAN_IN 8
/* An input of unknown length is assumed to be this many times as long as the memory. */
#define UNKNOWN_TIMES 64
/* Small run buffers for input that might stay in memory; if it does not, two halves of them. */
#define MANY_BUFFERS 8
#define MAX_BUFFERS 64
#define BUFFER_BYTES (UINT64_C(64) << 20) /* longer input has more of them, so fewer stay unused */
/* Smaller ones cost more than further threads save. */
#define MIN_BUFFER_BYTES (UINT64_C(1) << 20)
/* One is filled, one sorted, one stored. */
#define PIPELINE_BUFFERS 3
#define ENOUGH_SHARE 16
#define ENOUGH_BYTES (UINT64_C(64) << 20)
#define ENOUGH_EACH (UINT64_C(8) << 20) /* for each of many threads */
/* Input of unknown length is kept in memory up to this length, or a part of the memory. */
#define UNKNOWN_BYTES (UINT64_C(256) << 20)
#define UNKNOWN_SHARE 4
/* Input that needs more is stored although it fits, if the page cache holds the stored data. */
#define KEPT_BYTES (UINT64_C(256) << 20)

double sp__plan_record_weight(const struct sp_sort_opts *o)
{
	uint64_t bytes = o->record_bytes ? o->record_bytes : SP__PLAN_RECORD_BYTES;

	if (o->format.kind == SP_REC_FIXED && o->format.fixed_bytes)
		bytes = o->format.fixed_bytes;
	return 1 + SP__ENTRY_COST / (double)bytes;
}

static uint64_t fixed_bytes(const struct sp_sort_opts *o, const struct sp__choice *c)
{
	struct sp__buffers b = sp__buffers(c->working_bytes);
	uint64_t in = (uint64_t)b.chunk_bytes * b.reads;
	uint64_t out = (uint64_t)b.chunk_bytes * (SP__RING_BUFFERS + b.writes);
	struct sp__chunks_plan chunks = sp__plan_part_chunks(o, c->working_bytes);
	uint64_t parts = (uint64_t)chunks.bytes * chunks.n;
	unsigned writers = sp__plan_writers(o, c->working_bytes);

	in = sp__max(sp__max(in, out), writers > 1 ? parts * writers : 0);
	in += sp__plan_spill_bytes(o, c->working_bytes, c->page_bytes);
	/* An intermediate merge both unpacks and packs pages. */
	return in + sp__pool_unpacking(o->run.compression, c->page_bytes) +
	       sp__codec_memory(o->run.compression, c->page_bytes, SP__CODEC_PACKS);
}

/* True if the input has unknown length and might stay in memory. */
static bool may_fit(const struct sp_sort_opts *o)
{
	return !o->input_bytes && !o->run_bytes;
}

/* Returns the memory for runs: eager merging needs memory while runs are formed. */
static uint64_t for_runs(const struct sp_sort_opts *o, uint64_t free_bytes)
{
	uint64_t merges = o->merge_bytes ? o->merge_bytes : free_bytes / 2;

	return sp__policy_eager(sp__plan_policy(o)) ? free_bytes - sp__min(free_bytes, merges)
						    : free_bytes;
}

/* Returns the run buffers for input that stays in memory: at least two for each thread. */
static unsigned many_buffers(const struct sp__choice *c, const struct sp__layout *l)
{
	uint64_t n = sp__min(MANY_BUFFERS + l->nominal_bytes / BUFFER_BYTES, MAX_BUFFERS);

	return (unsigned)sp__max(
		n, sp__min(2 * (uint64_t)c->threads, l->nominal_bytes / MIN_BUFFER_BYTES));
}

/* Returns the run buffers for input that is stored: one for each thread, and one being filled. */
static unsigned pipeline_buffers(const struct sp__choice *c, uint64_t free_bytes)
{
	uint64_t n = sp__min((uint64_t)c->threads + 1, free_bytes / MIN_BUFFER_BYTES);

	return (unsigned)sp__max(n, PIPELINE_BUFFERS);
}

/* Divides the memory between run buffers and pages of merges. */
static void share_out(const struct sp_sort_opts *o, const struct sp__choice *c, uint64_t free_bytes,
		      unsigned max_buffers, struct sp__layout *l)
{
	bool eager = sp__policy_eager(sp__plan_policy(o));
	uint64_t slots = for_runs(o, free_bytes);

	l->run_buffers = 1;
	if (c->threads > 1 && c->formation == SP_FORM_LOAD)
		l->run_buffers = l->in_memory ? many_buffers(c, l)
				 : may_fit(o) ? sp__max(MANY_BUFFERS, max_buffers)
					      : max_buffers;
	l->merge_bytes = o->merge_bytes ? o->merge_bytes : eager ? free_bytes / 2 : free_bytes;
	if (l->merge_bytes > free_bytes) {
		l->misfit = SP__MISFIT_MERGE;
		return;
	}
	while (l->run_buffers > 1 && o->run_bytes * l->run_buffers > slots)
		l->run_buffers--;
	if (o->run_bytes > slots || slots < 4096) {
		l->misfit = o->run_bytes ? SP__MISFIT_RUN : SP__MISFIT_MERGE;
		return;
	}
	l->run_bytes = o->run_bytes ? o->run_bytes : slots / l->run_buffers & ~UINT64_C(4095);
	l->run_bytes = sp__min(l->run_bytes, SP__REF_OFFSET_MAX - 4096);
	if (eager && !o->merge_bytes)
		l->merge_bytes = free_bytes - l->run_bytes * l->run_buffers;
}

/* Returns the maximum number of runs of one merge. */
static unsigned fan_in_cap(const struct sp_sort_opts *o, const struct sp__choice *c,
			   const struct sp__layout *l)
{
	uint64_t cap = l->merge_bytes / (2 * (uint64_t)c->page_bytes + RUN_OVERHEAD);

	cap = sp__min(cap < 2 ? 2 : cap, MAX_FAN_IN);
	if (o->compress_program && !o->batch_size)
		cap = sp__min(cap, FILTER_FAN_IN);
	if (o->batch_size >= 2)
		cap = sp__min(cap, o->batch_size);
	return (unsigned)cap;
}

static unsigned passes_for(uint64_t runs, unsigned fan_in)
{
	unsigned passes = 1;

	for (uint64_t reach = fan_in; reach < runs; reach *= fan_in)
		passes++;
	return passes;
}

/* Returns the smallest fan-in that needs no more passes. */
static unsigned even_fan_in(uint64_t runs, unsigned cap)
{
	unsigned passes = passes_for(runs, cap), f = (unsigned)pow((double)runs, 1.0 / passes);

	while (f < cap && (f < 2 || passes_for(runs, f) > passes))
		f++;
	return f < cap ? f : cap;
}

static void choose_fan_in(const struct sp_sort_opts *o, const struct sp__choice *c,
			  struct sp__layout *l)
{
	enum sp_readahead strategy = o->compress_program ? SP_READ_NONE : o->readahead;
	unsigned cap = fan_in_cap(o, c, l), at_least;
	uint64_t pages = l->merge_bytes / c->page_bytes;

	l->merge_pages = (unsigned)sp__min(pages, UINT32_MAX);
	if (o->fan_in) {
		l->fan_in =
			o->batch_size >= 2 && o->batch_size < o->fan_in ? o->batch_size : o->fan_in;
	} else if (sp__policy_eager(sp__plan_policy(o))) {
		l->fan_in = o->input_bytes ? even_fan_in(l->runs, cap)
					   : (unsigned)sp__min(cap, EAGER_FAN_IN);
	} else {
		l->fan_in = cap;
	}
	at_least = sp__readplan_min(strategy, l->fan_in);
	if (l->merge_pages >= at_least)
		return;
	l->misfit = o->merge_bytes ? SP__MISFIT_SMALL_MERGE : SP__MISFIT_PAGES;
	l->need_merge_bytes = (uint64_t)at_least * c->page_bytes;
}

/* given: the strategy, or SP_READ_AUTO. */
static double read_seconds(const struct sp__layout *l, uint32_t page_bytes, unsigned runs,
			   enum sp_readahead given, struct sp__device_costs device)
{
	struct sp_strategy_plan table[SP_READ_COUNT_];
	uint64_t pages = l->nominal_bytes / page_bytes + 1;
	enum sp_readahead strategy = sp__plan_readahead(given, pages, page_bytes, runs,
							l->merge_pages, l->keys, device, table);

	return table[strategy].seconds;
}

/* Returns the processor time for merging all bytes once. */
static double work_seconds(const struct sp__layout *l, uint32_t page_bytes)
{
	double bytes = (double)l->nominal_bytes;

	return SP__PLAN_MERGE_S_PER_MIB * bytes / MIB + SP__PLAN_PAGE_S * bytes / page_bytes;
}

unsigned sp__layout_mergers(const struct sp__choice *c, const struct sp__layout *l)
{
	unsigned runs = l->final_runs > 2 ? l->final_runs : 2;

	return sp__max(sp__min(c->mergers, l->merge_pages / (runs + runs / 4 + 1)), 1);
}

/*
 * Returns how often each byte is merged before the final merge, on average.  The first pass takes
 * only as many runs as necessary for the other passes to be full.
 */
static double merged_before(const struct sp__layout *l)
{
	double reach = pow(l->fan_in, l->passes - 1), over = (double)l->runs - reach, merges;

	if (l->passes < 2)
		return 0;
	merges = ceil(over / (l->fan_in - 1));
	return l->passes - 2 + fmin(1, (over + merges) / (double)l->runs);
}

/*
 * Predicts the time by formula (5) for each byte read, and t for each byte written.  The final
 * merge overlaps with reads and writes, and several threads divide it.  In the other merges one
 * thread reads, merges and writes alternately.  Each write moves the arm away from the
 * semi-sequential path.  Without a path, s is the mean over the whole device, which is larger.
 */
static void estimate(struct sp__layout *l, const struct sp__choice *c, const struct sp_sort_opts *o,
		     struct sp__device_costs device)
{
	const enum sp_readahead given = o->readahead;
	const uint32_t page_bytes = c->page_bytes;
	double pass = device.transfer_s_per_mib * (double)l->nominal_bytes / MIB, before;
	double work = work_seconds(l, page_bytes);

	l->seconds = 2 * pass; /* input and output */
	if (l->in_memory)
		return;
	l->passes = passes_for(l->runs, l->fan_in);
	l->final_runs = (unsigned)(l->runs < l->fan_in ? l->runs : l->fan_in);
	l->seconds += pass; /* spilling */
	l->seconds += fmax(work / sp__layout_mergers(c, l),
			   read_seconds(l, page_bytes, l->final_runs, given, device));
	before = merged_before(l);
	if (o->policy == SP_MERGE_PPMS && l->runs > 1) { /* the result is also a run */
		l->passes++;
		before++;
	}
	if (before <= 0)
		return;
	l->seconds +=
		before * (pass + work + read_seconds(l, page_bytes, l->fan_in, given, device) +
			  device.away_s * (double)l->nominal_bytes /
				  sp__buffers(c->working_bytes).chunk_bytes);
}

/*
 * Decides whether last keys are kept: if they take little memory, or if reading is planned by them.
 * Descriptors can take a quarter of the memory, and more only for pages set by hand and input of
 * known length.  If even the largest pages need more, the plan assumes this quarter and ignores the
 * rest of the input's expected length.
 *
 * Several threads need last keys to divide the final merge.  If the length of the input is unknown,
 * they get at most the same share of the memory; when they need more, they are dropped.
 */
static bool describe_pages(const struct sp_sort_opts *o, const struct sp__choice *c,
			   struct sp__layout *l)
{
	uint64_t quarter = c->working_bytes / 4, pages = l->nominal_bytes / c->page_bytes + 1;
	uint64_t each = SP__PLAN_PAGE_BYTES +
			(o->run.compression != SP_SPILL_RAW ? SP__PLAN_PACKED_BYTES : 0);
	uint64_t with_keys = pages * (each + SP__PLAN_PAGE_KEY_BYTES + PAGE_PLAN_BYTES);

	l->keys = o->readahead != SP_READ_AUTO ? sp__readplan_needs_sequence(o->readahead)
					       : with_keys <= c->working_bytes / KEYS_SHARE;
	l->descriptor_bytes = l->keys ? with_keys : pages * each;
	if (o->readahead == SP_READ_AUTO && !o->input_bytes && c->threads > 1) {
		l->keys = true;
		l->descriptor_bytes = sp__max(l->descriptor_bytes,
					      sp__min(with_keys, c->working_bytes / KEYS_SHARE));
	}
	if (l->descriptor_bytes > quarter && c->largest_page)
		l->descriptor_bytes = quarter;
	return l->descriptor_bytes <= quarter || o->run.page_bytes;
}

static bool by_hand(const struct sp_sort_opts *o)
{
	return o->run_bytes || o->merge_bytes || o->fan_in;
}

/*
 * True if input that fits in memory is stored anyway.  The page cache needs less memory for it, and
 * reuses pages that processes used before, which costs less than untouched memory.  Storing also
 * puts records in order, so that merging reads them sequentially instead of from all over the
 * memory.  Repeated keys that are dropped can need much less memory than they take in the input.
 */
static bool better_stored(const struct sp_sort_opts *o, double need)
{
	return need > (double)KEPT_BYTES && o->input_bytes <= o->cached_bytes && !o->unique &&
	       !by_hand(o);
}

/*
 * Returns the memory that helps a sort which spills anyway.  With several dozen runs, longer runs
 * hardly make merging cheaper.  But the first touch of memory costs as much as reading as many
 * bytes, and sorting more entries at a time than fit in the caches costs more per entry.
 */
static uint64_t worth_touching(const struct sp_sort_opts *o, const struct sp__choice *c,
			       const struct sp__layout *l)
{
	uint64_t enough = sp__max(ENOUGH_BYTES, (c->threads + UINT64_C(1)) * ENOUGH_EACH);
	uint64_t share = o->input_bytes / ENOUGH_SHARE;

	if (l->in_memory || by_hand(o))
		return UINT64_MAX;
	if (!o->input_bytes) {
		enough = UNKNOWN_BYTES;
		share = c->working_bytes / UNKNOWN_SHARE;
	}
	return share > enough ? share : enough;
}

/* Computes run buffers, the number of runs, and how many of them one merge takes. */
static void form_runs(const struct sp_sort_opts *o, const struct sp__choice *c, uint64_t free_bytes,
		      unsigned max_buffers, struct sp__layout *l)
{
	double records;

	share_out(o, c, free_bytes, max_buffers, l);
	if (l->misfit)
		return;
	/* Replacement selection writes runs of about twice its memory. */
	records = (double)l->run_bytes / sp__plan_record_weight(o) *
		  (c->formation == SP_FORM_LOAD ? 1 : 2);
	/* Halves of the buffers become one each. */
	if (may_fit(o) && !l->in_memory && l->run_buffers >= MANY_BUFFERS)
		records *= l->run_buffers / 2;
	l->runs = l->in_memory ? 1 : (uint64_t)ceil((double)l->nominal_bytes / records);
	choose_fan_in(o, c, l);
}

void sp__layout(const struct sp_sort_opts *opts, const struct sp__choice *choice,
		struct sp__layout *layout)
{
	uint64_t w = choice->working_bytes, fixed = fixed_bytes(opts, choice), free_bytes;
	double need = (double)opts->input_bytes * sp__plan_record_weight(opts);

	*layout = (struct sp__layout){ 0 };
	layout->nominal_bytes = opts->input_bytes ? opts->input_bytes : w * UNKNOWN_TIMES;
	free_bytes = w > fixed ? w - fixed : 0;
	layout->in_memory = opts->input_bytes && !opts->run_bytes &&
			    need <= (double)for_runs(opts, free_bytes) &&
			    !better_stored(opts, need);
	if (!layout->in_memory && !describe_pages(opts, choice, layout)) {
		layout->misfit = SP__MISFIT_PAGES;
		return;
	}
	free_bytes =
		free_bytes > layout->descriptor_bytes ? free_bytes - layout->descriptor_bytes : 0;
	free_bytes = sp__min(free_bytes, worth_touching(opts, choice, layout));
	/* Longer runs are worth more than a buffer if they save a pass. */
	for (unsigned n = pipeline_buffers(choice, free_bytes); n >= 2; n--) {
		form_runs(opts, choice, free_bytes, n, layout);
		if (layout->misfit || opts->run_bytes || layout->runs <= layout->fan_in)
			break;
	}
	if (!layout->misfit)
		estimate(layout, choice, opts, sp__plan_device(opts));
	if (choice->formation == SP_FORM_REPLACEMENT)
		layout->seconds +=
			SP__PLAN_REPLACEMENT_S_PER_MIB * (double)layout->nominal_bytes / MIB;
}
