/* SPDX-License-Identifier: MIT */
/*
 * The time of forming runs, or of a sort in memory, on a simulated machine.
 *
 * Under load, sort, store a run is filled, sorted and stored, one after the other; what the writer
 * still has under way is written beside the next run's computation.  The last chunk of a run goes
 * out when the next one is stored: the drive has been idle and waits for half a turn, and the chunk
 * behind it just misses its place, which costs a whole one.
 *
 * Replacement selection computes while the writer's chunks are on their way.  A batch is read and
 * sorted between two chunks of the result; if that takes too long the drive has nothing to do.
 */
#include "run/memory.h"
#include "sort/foretell_impl.h"
#include "sort/replace.h"
#include "sort/runbuf.h"
#include "spill/writer.h"

/* An input on the device, in chunks of which some are asked for ahead. */
static double input_s(const struct sp__told_sort *t, double bytes)
{
	const struct sp__costs *c = &t->at;
	double each = t->chunk_bytes * sp__buffers(t->plan->memory_bytes).reads;

	return bytes * sp__costs_stream_s(c, false, c->byte_s, each, t->chunk_bytes) +
	       (c->misses ? bytes / each * c->turn_s : 0);
}

/* Is a chunk that comes over the bus too late for the place behind the one before? */
static bool bus_is_slow(const struct sp__costs *c)
{
	return c->tracks && !c->bus_apart[1] && !(c->behind_bytes > 0) &&
	       c->bus_byte_s > c->turn_s / c->bytes_on_track;
}

/* Writing chunks of runs; those that wait meanwhile go in the same turn. */
static double storing_s(const struct sp__told_sort *t, double bytes)
{
	const struct sp__costs *c = &t->at;
	double turns = bytes / t->chunk_bytes / (SP__WRITER_CHUNKS - 1);
	double byte_s = sp__costs_stream_s(c, true, c->run_write_byte_s,
					   SP__WRITER_CHUNKS * t->chunk_bytes, t->chunk_bytes);

	return fmax(bytes * byte_s, bus_is_slow(c) ? turns * c->turn_s : 0);
}

static double formation_s(const struct sp__told_sort *t)
{
	const struct sp__costs *c = &t->at;
	double bytes = t->run_bytes, records = bytes / t->record_bytes;
	double fill = records * c->record_s + bytes * c->copy_s;
	double sort = records * log2(fmax(records, 2)) * c->compare_s;
	double write = storing_s(t, bytes), waits = 1.5 * c->turn_s + c->overhead_s[1];
	double store = bytes * c->copy_s + sp__told_requests_s(t, bytes, t->chunk_bytes);

	/* Reading the input takes the arm away and back. */
	if (c->in) {
		fill += sp__told_requests_s(t, bytes, t->chunk_bytes);
		fill = fmax(fill, input_s(t, bytes)) + sp__costs_hop(c, t->bytes, false);
		waits = sp__costs_hop(c, t->bytes, true) + c->turn_s + c->overhead_s[1];
	}
	if (c->behind_bytes > 0)
		waits = c->in ? sp__costs_hop(c, t->bytes, true) : 0;
	store +=
		write - fmin(SP__WRITER_CHUNKS * t->chunk_bytes * c->run_write_byte_s, fill + sort);
	return (fill + sort + store + waits) * t->bytes / bytes;
}

/*
 * A batch of replacement selection: its records, and the strips that are merged meanwhile.  Of
 * these there are as many as batches in memory when a run begins, and one more with each batch
 * until it ends, when twice as many have come: on the average twice as many.
 */
struct batch {
	double records, strips;
};

static struct batch batch_of(const struct sp__told_sort *t, double memory)
{
	double bytes = (double)sp__replace_batch_bytes((size_t)memory);
	double records = fmax(bytes / (t->record_bytes + SP__ENTRY_COST), 1);

	return (struct batch){ records, 2 * memory / (records * t->record_bytes) };
}

/*
 * Does the drive run out of chunks?  One that is being filled when a batch is read and sorted is
 * late if those before it, all of the writer's but one, are written sooner.
 */
static bool starves(const struct sp__told_sort *t, const struct batch *b)
{
	const struct sp__costs *c = &t->at;
	double bytes = b->records * t->record_bytes;
	double fill = b->records * c->record_s + bytes * c->copy_s;
	double sort = b->records * log2(fmax(b->records, 2)) * c->compare_s;
	double chunk_bytes = sp__told_chunk_pages(t) * t->plan->page_bytes;
	double chunk = sp__told_merging_s(t, chunk_bytes, b->strips) + c->request_s;
	double written = (SP__WRITER_CHUNKS - 1) * chunk_bytes * c->turn_s / c->bytes_on_track;

	return c->tracks && !bus_is_slow(c) &&
	       chunk + ceil(chunk_bytes / bytes) * (fill + sort) + c->overhead_s[1] > written;
}

/*
 * Chunks go out as they are computed, and one that comes too late costs a turn, in which the
 * writer's others and one more become ready.
 */
static double replacement_s(const struct sp__told_sort *t, double memory)
{
	const struct sp__costs *c = &t->at;
	const struct batch b = batch_of(t, memory);
	double records = t->bytes / t->record_bytes, cpu, device;
	double comparisons = log2(fmax(b.records, 2)) + log2(fmax(b.strips, 2));
	double ahead = sp__buffers(t->plan->memory_bytes).reads - 1;

	cpu = records * (2 * c->record_s + comparisons * c->compare_s) + 2 * t->bytes * c->copy_s +
	      sp__told_requests_s(t, t->bytes, t->chunk_bytes);
	device = storing_s(t, t->bytes);
	if (!c->in && !(c->behind_bytes > 0) && starves(t, &b))
		device += t->bytes / t->chunk_bytes / (SP__WRITER_CHUNKS + 1) * c->turn_s;
	/* Chunks ahead are read together, then it goes back to what has been computed of them. */
	if (c->in)
		device += input_s(t, t->bytes) + t->bytes / t->chunk_bytes / ahead *
							 (sp__costs_hop(c, t->bytes, false) +
							  sp__costs_hop(c, t->bytes, true));
	return fmax(cpu, device);
}

double sp__told_in_memory_s(const struct sp__told_sort *t)
{
	const struct sp__costs *c = &t->at;
	double records = t->bytes / t->record_bytes;
	double fill = records * c->record_s + t->bytes * c->copy_s;
	double out = sp__told_merging_s(t, t->bytes, 1);
	double outstanding = sp__buffers(t->plan->memory_bytes).writes * t->chunk_bytes;

	if (c->in)
		fill = fmax(fill, input_s(t, t->bytes)) + sp__costs_hop(c, 0, false);
	if (c->out)
		out = fmax(out, t->bytes * sp__costs_stream_s(c, true, c->write_byte_s, outstanding,
							      t->chunk_bytes));
	return fill + records * log2(fmax(records, 2)) * c->compare_s + out;
}

double sp__told_in_runs_s(const struct sp__told_sort *t)
{
	return t->plan->formation == SP_FORM_LOAD ? formation_s(t)
						  : replacement_s(t, (double)t->plan->run_bytes);
}
