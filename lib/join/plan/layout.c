/* SPDX-License-Identifier: MIT */
/* Divides the memory of a hash join, and decides which input builds. */
#include "base/err.h"
#include "base/minmax.h"
#include "join/plan/plan.h"
#include "join/keys/tags.h"
#include "run/costs.h"
#include "run/memory.h"

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
	return (struct sp_recfmt){ .kind = SP_REC_LINE, .eol = o->eol };
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
