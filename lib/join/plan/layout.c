/* SPDX-License-Identifier: MIT */
/*
 * Divides the memory of a hash join, decides which input builds, and computes the number of
 * partitions.
 *
 * Partitions: a share of the build input that stays in memory is neither written nor read again,
 * but the writers do not get its memory.  So there can be only few partitions, and those of a large
 * input do not fit into memory: they are read again for each block of nested loops, or partitioned
 * once more.  Both costs are estimated in bytes moved.  If the share saves less than it costs,
 * everything goes to temporary space, in as many partitions as needed, whose writers have the
 * memory of the table.
 */
#include "base/err.h"
#include "base/minmax.h"
#include "join/keys/keying.h"
#include "join/plan/plan.h"
#include "predict/costs.h"

/* Partitions of an input of unknown size. */
#define PARTITIONS_UNKNOWN 32
/* Partitions into which the share in memory is divided. */
#define PARTITIONS_RESIDENT 4
/* Partitions are made somewhat smaller than memory, because the hash divides unevenly. */
#define FILL 0.85
/* A partition with this share of its input is not worth partitioning again. */
#define STUBBORN 0.9

/* Bytes read again if the probe side passes block after block of the build side. */
static double rereads(double need, double memory, double probe)
{
	return need > memory ? (double)(uint64_t)(need / memory) * probe : 0;
}

/* Bytes written and read if both sides are partitioned, except the share that stays. */
static double partitioning(double need, double memory, double both)
{
	return need > memory ? 2 * (1 - memory / need) * both : 0;
}

bool sp__join_nested_pays(const struct sp__join_layout *l, uint64_t need, uint64_t build_bytes,
			  uint64_t probe_bytes)
{
	double memory = (double)l->table_bytes;

	return rereads((double)need, memory, (double)probe_bytes) <
	       partitioning((double)need, FILL * memory, (double)build_bytes + (double)probe_bytes);
}

/*
 * Bytes moved if a share stays in memory, and the rest, of total size need, goes to n partitions.
 * These are written, read, and, if they do not fit, read or partitioned again, with the smaller
 * side as build side.
 */
static double moved(const struct sp__join_layout *l, double share, uint64_t n, double need,
		    double build, double probe)
{
	double each = (1 - share) * need / (double)n, memory = FILL * (double)l->table_bytes;
	double large = probe > build ? probe : build, again, partitioned;

	if (probe < build)
		each *= probe / build;
	again = rereads(each, memory, large);
	partitioned = partitioning(each, memory, build + probe);
	return (1 - share) * (2 * (build + probe) + (again < partitioned ? again : partitioned));
}

/* Sends all partitions to temporary space; their writers use the memory of the table. */
static void split_all(const struct sp__join_layout *l, uint64_t need, uint64_t n,
		      struct sp__join_split *split)
{
	uint64_t memory = l->table_bytes / l->page_bytes;
	uint64_t max = sp__min(memory / 2, SP__JOIN_PARTITIONS_MAX);

	while (n < max && (double)need / (double)n > FILL * (double)memory)
		n++;
	*split = (struct sp__join_split){ 0, (unsigned)sp__min(n, max), 0 };
}

/* Changes split if it is cheaper to keep nothing in memory; need in pages. */
static void weigh(const struct sp__join_layout *l, uint64_t need, uint64_t bytes,
		  uint64_t probe_bytes, struct sp__join_split *split)
{
	double all_need = (double)need * l->page_bytes, build = (double)bytes;
	double probe = probe_bytes ? (double)probe_bytes : build;
	struct sp__join_split all;

	split_all(l, need, split->spilled, &all);
	if (moved(l, 0, all.spilled, all_need, build, probe) <
	    moved(l, split->share, split->spilled, all_need, build, probe))
		*split = all;
}

void sp__join_split(const struct sp__join_layout *l, enum sp_join_algorithm algorithm,
		    uint64_t bytes, uint64_t records, uint64_t probe_bytes,
		    struct sp__join_split *split)
{
	uint64_t memory = l->table_bytes / l->page_bytes, need, n, max;
	unsigned resident = (unsigned)sp__min(l->partitions_max / 2, PARTITIONS_RESIDENT);
	bool all = algorithm == SP_JOIN_GRACE || algorithm == SP_JOIN_SHJ;
	double share, each;

	if (algorithm == SP_JOIN_NESTED) {
		*split = (struct sp__join_split){ 0, 1, 0 };
		return;
	}
	if (!bytes && all) {
		split_all(l, 0, PARTITIONS_UNKNOWN, split);
		return;
	}
	if (!bytes) {
		*split = (struct sp__join_split){
			(unsigned)sp__min(l->partitions_max, PARTITIONS_UNKNOWN), 0, 1
		};
		return;
	}
	if (!records)
		records = bytes / SP__JOIN_MEAN_BYTES;
	need = sp__join_need(bytes, records) / l->page_bytes + 1;
	n = sp__join_formula1(need, memory);
	if (all) {
		split_all(l, need, n, split);
		return;
	}
	*split = (struct sp__join_split){ resident, 0, 1 };
	if (n == 1)
		return;
	share = FILL * (double)memory / (double)need;
	each = (1 - share) * (double)need;
	max = l->partitions_max - resident;
	n--; /* one is in memory */
	while (n < max && each / (double)n > FILL * (double)memory)
		n++;
	*split = (struct sp__join_split){ resident, (unsigned)sp__min(n, max), share };
	weigh(l, need, bytes, probe_bytes, split);
}

void sp__join_deal(const struct sp__join_split *split, uint16_t partition_of[SP__BUCKETS])
{
	unsigned in = split->spilled ? (unsigned)(split->share * SP__BUCKETS) : SP__BUCKETS;

	if (!split->resident)
		in = 0;
	for (unsigned b = 0; b < SP__BUCKETS; b++)
		partition_of[b] = (uint16_t)(b < in ? b * split->resident / in
						    : split->resident + (b - in) * split->spilled /
										(SP__BUCKETS - in));
}

uint64_t sp__join_writer(const struct sp__join_layout *l, uint64_t write_bytes,
			 uint64_t table_bytes, unsigned npartitions, bool sorted, bool *of_table)
{
	uint64_t bytes = write_bytes;

	*of_table = false;
	if (sorted && bytes / npartitions < l->page_bytes) {
		bytes = (uint64_t)npartitions * l->page_bytes;
		*of_table = true;
	} else if (!sorted && table_bytes > bytes) {
		bytes = table_bytes;
		*of_table = true;
	}
	bytes = sp__min(bytes / npartitions, l->writer_max);
	return bytes - bytes % l->page_bytes;
}

bool sp__join_stubborn(uint64_t partition_bytes, uint64_t input_bytes)
{
	return (double)partition_bytes > STUBBORN * (double)input_bytes;
}

bool sp__join_nests(const struct sp__join_layout *l, enum sp_join_algorithm algorithm,
		    unsigned depth, bool stubborn, uint64_t need, const uint64_t bytes[2])
{
	/* Gaps in pages can keep a partition from fitting, so the depth is bounded. */
	if (algorithm == SP_JOIN_NESTED || depth >= SP__JOIN_DEPTH_MAX)
		return true;
	return need > l->table_bytes &&
	       (stubborn || sp__join_nested_pays(l, need, bytes[0], bytes[1]));
}

#define PAGE_DEFAULT (64u << 10)
#define PAGE_MIN 4096u
/* With less memory, writers write single pages, and direct requests would wait. */
#define BUFFERED_BELOW (3u << 19)
/* Memory for the sort: half of the table's, but at most the larger of this and a quarter. */
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

uint64_t sp__join_need_of(const struct sp_join_opts *o, int input)
{
	uint64_t records = sp__join_records(o, input);
	uint64_t tags = o->ordered ? records * SP__TAG_BYTES : 0;

	return o->input_bytes[input] ? sp__join_need(o->input_bytes[input] + tags, records) : 0;
}

/* True if the input is known not to fit. */
static bool too_large(const struct sp_join_opts *o, int input)
{
	struct sp__join_layout l;

	return sp__join_layout(o, &l, NULL) || sp__join_need_of(o, input) > l.table_bytes;
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
	       sp__join_need_of(o, build_side) > l->table_bytes;
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
	return (struct sp_recfmt){ .kind = SP_REC_LINE,
				   .eol = o->eol,
				   .json = o->json,
				   .strict = o->strict,
				   .objects = o->json && o->pairs && !o->nested && !o->ncolumns };
}

/* The largest page size with enough pages; if pages are placed on tracks, one that suits them. */
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

	/* With a volume, there would be two temporary spaces. */
	if (o->ordered && o->run.volume)
		return sp__errf(err, SP_EUNSUP, "plan", NULL, -1,
				"an ordered result cannot be made with a volume");
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
	/* Three pages per writer: one fills while the others are written. */
	l->writer_max = 3 * sp__max(b.chunk_bytes, l->page_bytes);
	l->read_bytes = l->writer_max;
	/* Nested loops also read with this memory. */
	l->write_bytes =
		sp__max(l->write_bytes, sp__max(8 * (uint64_t)l->page_bytes, l->read_bytes));
	l->buffered = l->write_bytes < BUFFERED_BELOW;
	l->partitions_max =
		(unsigned)sp__min(l->write_bytes / l->page_bytes / 2, SP__JOIN_PARTITIONS_MAX);
	return 0;
}
