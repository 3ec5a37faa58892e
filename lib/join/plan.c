/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <spindle/sort.h>
#include "base/err.h"
#include "base/minmax.h"
#include "join/inlindex.h"
#include "join/keying.h"
#include "join/plan.h"
#include "join/presorted.h"
#include "join/record.h"
#include "join/dryrun.h"
#include "run/costs.h"
#include "run/memory.h"
#include "run/volume_spec.h"
#include "sim/fsmap.h"
#include "sim/machine.h"
#include "spill/writer.h"

#define PAGE_DEFAULT (64u << 10)
#define PAGE_MIN 4096u
/* With less than this, writers write single pages, and direct requests would wait. */
#define BUFFERED_BELOW (3u << 19)
/* The sort's share of the table's memory: half, or this much but at least a quarter. */
#define ORDER_ENOUGH (64u << 20)

uint64_t sp__join_need(uint64_t bytes, uint64_t records)
{
	return bytes + records * SP__JOIN_RECORD_BYTES;
}

uint64_t sp__join_formula1(uint64_t build_pages, uint64_t memory_pages)
{
	if (build_pages <= memory_pages || memory_pages < 2)
		return 1;
	return (build_pages - memory_pages + memory_pages - 2) / (memory_pages - 1) + 1;
}

uint64_t sp__join_formula2(uint64_t partitions, uint64_t memory_pages)
{
	return memory_pages > partitions ? 2 * (memory_pages - partitions) / partitions : 0;
}

/* Memory for an input as build side; 0: unknown. */
static uint64_t need_of(const struct sp_join_opts *o, int input)
{
	uint64_t records = sp__join_records(o, input);
	uint64_t tags = o->ordered ? records * SP__TAG_BYTES : 0;

	return o->input_bytes[input] ? sp__join_need(o->input_bytes[input] + tags, records) : 0;
}

/* Is the input known not to fit? */
static bool too_large(const struct sp_join_opts *o, int input)
{
	struct sp__join_layout l;

	return sp__join_layout(o, &l, NULL) || need_of(o, input) > l.table_bytes;
}

unsigned sp__join_build(const struct sp_join_opts *o)
{
	if (o->build)
		return o->build;
	if (o->ordered && !too_large(o, o->ordered == 1))
		return 3 - o->ordered;
	if (o->input_bytes[0] && o->input_bytes[1])
		return o->input_bytes[0] < o->input_bytes[1] ? 1 : 2;
	return o->input_bytes[0] ? 1 : 2;
}

unsigned sp__join_ordered(const struct sp_join_opts *o)
{
	if (!o->ordered || o->pairs || (o->unpaired[1] && (o->semi || o->unpaired[0])))
		return o->ordered;
	return o->unpaired[1] ? 2 : 1;
}

bool sp__join_sorts(const struct sp_join_opts *o, const struct sp__join_layout *l, int build_side)
{
	if (!o->ordered)
		return false;
	return build_side + 1 == (int)o->ordered || o->algorithm == SP_JOIN_GRACE ||
	       o->algorithm == SP_JOIN_NESTED || o->algorithm == SP_JOIN_SHJ ||
	       need_of(o, build_side) > l->table_bytes;
}

bool sp__join_mergeable(const struct sp_join_opts *o)
{
	if (o->nkeys > 1 || o->fixed_bytes[0] || o->collated)
		return false;
	return !o->types || (o->types[0].type == SP_KEY_TEXT && !o->types[0].fold);
}

bool sp__join_merges(const struct sp_join_opts *o, const struct sp__join_layout *l)
{
	bool alone = o->semi || o->unpaired[0] || o->unpaired[1];

	/* Records held to the end are bytes, which a limit could not count. */
	if (o->algorithm != SP_JOIN_AUTO || o->ordered || o->run.volume ||
	    o->sorted < SP_JOIN_SORTED_BYTES || !sp__join_mergeable(o) || (alone && o->limited))
		return false;
	/* A merge holds unpaired records in temporary space; hashing in memory need not. */
	return !alone || need_of(o, (int)sp__join_build(o) - 1) > l->table_bytes;
}

uint64_t sp__join_records(const struct sp_join_opts *o, int input)
{
	uint64_t mean = o->record_bytes[input] ? o->record_bytes[input] : SP__JOIN_MEAN_BYTES;

	return o->input_bytes[input] / mean;
}

struct sp_recfmt sp__join_format(const struct sp_join_opts *o, int input)
{
	if (o->fixed_bytes[input])
		return (struct sp_recfmt){ .kind = SP_REC_FIXED,
					   .fixed_bytes = o->fixed_bytes[input] };
	if (o->csv)
		return (struct sp_recfmt){ .kind = SP_REC_CSV, .separator = *o->separator };
	return (struct sp_recfmt){ .kind = SP_REC_LINE, .eol = o->eol };
}

void sp_join_expect(struct sp_join_opts *opts, const char *const inputs[2])
{
	for (int i = 0; i < 2; i++) {
		struct sp_sort_opts so = SP_SORT_OPTS_INIT;

		so.format = sp__join_format(opts, i);
		so.run.decompress = opts->run.decompress;
		sp_sort_expect(&so, &inputs[i], 1);
		if (!opts->input_bytes[i])
			opts->input_bytes[i] = so.input_bytes;
		if (!opts->record_bytes[i])
			opts->record_bytes[i] =
				opts->fixed_bytes[i] ? opts->fixed_bytes[i] : so.record_bytes;
	}
	if (opts->algorithm == SP_JOIN_AUTO && !opts->ordered && !opts->run.volume &&
	    !opts->run.decompress && opts->sorted == SP_JOIN_SORTED_UNKNOWN)
		opts->sorted = sp__join_detect(opts, inputs);
}

/* The largest page size with enough pages, and that suits tracks if pages lie on them. */
static uint32_t choose_page(const struct sp_join_opts *o, uint64_t table_bytes)
{
	uint32_t page = PAGE_DEFAULT, max = page;

	if (o->run.placement != SP_PLACE_CONTIGUOUS)
		max = sp__device_page(o->run.geometry, SP__DEVICE_PAGES);
	while (page > PAGE_MIN && (page > max || table_bytes / page < SP__JOIN_PAGES_MIN))
		page /= 2;
	return page;
}

int sp__join_layout(const struct sp_join_opts *o, struct sp__join_layout *l, struct sp_errinfo *err)
{
	uint64_t working = sp__working_memory(&o->run, o->run.memory_bytes), rest;
	struct sp__buffers b = sp__buffers(working);

	/* There would be two temporary spaces. */
	if (o->ordered && o->run.volume)
		return sp__errf(err, SP_EUNSUP, "plan", NULL, -1,
				"an ordered result is not made with a volume");
	rest = working - (uint64_t)b.chunk_bytes * (b.reads + b.writes);
	*l = (struct sp__join_layout){ .write_bytes = sp__min(rest / 8, 16u << 20),
				       .bloom_bytes = rest / 32 };
	l->table_bytes = rest - l->write_bytes - l->bloom_bytes;
	if (o->join_bytes)
		l->table_bytes = o->join_bytes;
	if (o->ordered)
		l->order_bytes =
			sp__min(l->table_bytes / 2, sp__max(l->table_bytes / 4, ORDER_ENOUGH));
	l->page_bytes = o->run.page_bytes ? o->run.page_bytes
					  : choose_page(o, l->table_bytes - l->order_bytes);
	if (l->table_bytes / l->page_bytes < SP__JOIN_PAGES_MIN)
		return sp__errf(err, SP_EBUDGET, "plan", NULL, -1,
				"join memory must be at least %u pages: %llu bytes",
				SP__JOIN_PAGES_MIN,
				(unsigned long long)SP__JOIN_PAGES_MIN * l->page_bytes);
	/* Three pages for each writer: one fills while the others are written. */
	l->writer_max = 3 * sp__max(b.chunk_bytes, l->page_bytes);
	l->read_bytes = l->writer_max;
	/* Also used for reading by nested loops. */
	l->write_bytes =
		sp__max(l->write_bytes, sp__max(8 * (uint64_t)l->page_bytes, l->read_bytes));
	l->buffered = l->write_bytes < BUFFERED_BELOW;
	l->partitions_max =
		(unsigned)sp__min(l->write_bytes / l->page_bytes / 2, SP__JOIN_PARTITIONS_MAX);
	return 0;
}

/* The smallest contiguous piece of a simulated file system, and its cache; 0: none. */
static void file_system(const struct sp_join_opts *o, uint64_t *piece_bytes, uint64_t *cache_bytes)
{
	const char *text = sp__volume_spec_machine_spec(&o->run);
	struct sp__machine_spec spec;

	*piece_bytes = *cache_bytes = 0;
	if (!text || sp__machine_spec_parse(&spec, text, NULL) < 0)
		return;
	*cache_bytes = spec.cache_bytes;
	if (spec.fs != SP__FS_NONE)
		*piece_bytes =
			(uint64_t)(spec.group_pages ? spec.group_pages : SP__FS_GROUP_PAGES) *
			spec.page_bytes;
}

/* Time to write bytes in pieces of the given size, and to read them again. */
static double spill_s(const struct sp__device_costs *d, double bytes, double piece)
{
	return 2 * (bytes / (1 << 20) * d->transfer_s_per_mib + bytes / piece * d->seek_s);
}

/*
 * Compares the additional writes of SHJ over HYBRID, the share that would stay in memory, with
 * its saving: writing and reading in pieces of G pages, if these are larger than the pieces of
 * HYBRID's writers or of the file system.
 */
static bool sorting_pays(const struct sp_join_opts *o, const struct sp__join_layout *l)
{
	const struct sp__device_costs device = sp__device_costs(o->run.geometry, false);
	int build = (int)sp__join_build(o) - 1;
	double all = (double)o->input_bytes[0] + (double)o->input_bytes[1], row;
	uint64_t piece, cache, chunk, records = sp__join_records(o, build);
	const uint64_t probe_bytes = o->input_bytes[!build];
	struct sp__join_split hybrid, shj;

	file_system(o, &piece, &cache);
	/*
	 * Without a page cache in front of the device it does not pay: sorted output goes to one
	 * partition at a time, whose writer has only a few pages to overlap.
	 */
	if (!o->run.geometry || !o->input_bytes[0] || !o->input_bytes[1] ||
	    !(o->run.volume ? cache > 0 : o->run.direct <= 0))
		return false;
	sp__join_split(l, SP_JOIN_HYBRID, o->input_bytes[build], records, probe_bytes, &hybrid);
	sp__join_split(l, SP_JOIN_SHJ, o->input_bytes[build], records, probe_bytes, &shj);
	if (!hybrid.spilled || all <= (double)cache)
		return false;
	chunk = sp__min(l->write_bytes / (hybrid.resident + hybrid.spilled), l->writer_max) /
		SP__WRITER_CHUNKS;
	chunk = sp__max(sp__max(chunk, l->page_bytes), piece);
	row = (double)sp__join_formula2(shj.spilled, l->table_bytes / l->page_bytes) *
	      l->page_bytes;
	if (row <= (double)chunk)
		return false;
	return spill_s(&device, all, row) <
	       spill_s(&device, all * (1 - hybrid.share), (double)chunk);
}

enum sp_join_algorithm sp__join_choice(const struct sp_join_opts *o,
				       const struct sp__join_layout *l)
{
	if (o->algorithm != SP_JOIN_AUTO)
		return o->algorithm;
	return sorting_pays(o, l) ? SP_JOIN_SHJ : SP_JOIN_HYBRID;
}

/* How both inputs will be partitioned. */
static void plan_partitions(const struct sp_join_opts *o, struct sp__join_layout *l,
			    struct sp_join_plan *plan)
{
	const int input = (int)plan->build - 1;
	uint64_t records = sp__join_records(o, input);
	struct sp__join_split split;

	if (o->ordered)
		plan->ordered_by =
			sp__join_sorts(o, l, input) ? SP_JOIN_BY_SORTING : SP_JOIN_BY_PROBING;
	if (plan->ordered_by == SP_JOIN_BY_SORTING)
		l->table_bytes -= l->order_bytes;
	plan->build_bytes = o->input_bytes[input];
	plan->need_bytes = sp__join_need(plan->build_bytes, records);
	plan->memory_bytes = l->table_bytes;
	plan->page_bytes = l->page_bytes;
	sp__join_split(l, plan->algorithm, plan->build_bytes, records, o->input_bytes[!input],
		       &split);
	plan->resident = split.resident;
	plan->spilled = split.spilled;
	plan->resident_share = split.share;
	if (!plan->build_bytes)
		return;
	plan->partitions = sp__join_formula1((plan->need_bytes + l->page_bytes - 1) / l->page_bytes,
					     l->table_bytes / l->page_bytes);
	plan->group_pages =
		sp__join_formula2(plan->algorithm == SP_JOIN_SHJ ? split.spilled : plan->partitions,
				  l->table_bytes / l->page_bytes);
}

static enum sp_join_algorithm choose(const struct sp_join_opts *o, const struct sp__join_layout *l,
				     struct sp_join_plan *plan)
{
	if (sp__is_inl(o->algorithm) || o->algorithm == SP_JOIN_MERGE)
		return o->algorithm;
	if (sp__inl_pays(o, &plan->index_s, &plan->hash_s))
		return SP_JOIN_ASYNC_INL;
	return sp__join_merges(o, l) ? SP_JOIN_MERGE : sp__join_choice(o, l);
}

int sp_join_plan(const struct sp_join_opts *opts, struct sp_join_plan *plan, struct sp_errinfo *err)
{
	struct sp_join_opts o = *opts;
	struct sp__join_layout l = { 0 };
	int rc = sp__volume_spec_check(&o.run, err);

	if (!rc && (o.fixed_bytes[0] || o.fixed_bytes[1]))
		rc = sp__binary_check(&o, err);
	if (!rc && o.algorithm != SP_JOIN_MERGE)
		rc = sp__join_layout(&o, &l, err);
	if (rc < 0)
		return rc;
	o.ordered = sp__join_ordered(opts);
	*plan = (struct sp_join_plan){ 0 };
	plan->algorithm = choose(&o, &l, plan);
	if (sp__is_inl(plan->algorithm))
		return 0;
	if (plan->algorithm != SP_JOIN_MERGE) {
		plan->build = sp__join_build(&o);
		plan_partitions(&o, &l, plan);
	}
	return 0;
}

int sp_join_predict(const struct sp_join_opts *opts, struct sp_join_plan *plan,
		    struct sp_errinfo *err)
{
	struct sp__join_layout l = { 0 };
	struct sp__join_prediction prediction = { 0 };
	int rc = plan->algorithm == SP_JOIN_MERGE ? 0 : sp__join_layout(opts, &l, err);

	if (!rc)
		rc = sp__join_predict(opts, plan, &l, &prediction, err);
	plan->seconds = prediction.seconds;
	return rc;
}
