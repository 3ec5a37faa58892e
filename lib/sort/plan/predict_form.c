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
#include "sort/plan/predict_impl.h"
#include "sort/select/replace.h"
#include "sort/records/runbuf.h"

/* Looked at together. */
#define CHUNKS_IN_A_ROW 16

/* An input on the device, in chunks of which some are asked for ahead. */
static double ahead_bytes(const struct sp__sort_prediction *t)
{
	return t->chunk_bytes * sp__buffers(t->plan->memory_bytes).reads;
}

static double reading_s(const struct sp__sort_prediction *t, double bytes)
{
	const struct sp__costs *c = &t->at;

	return bytes * sp__costs_stream_s(c, false, c->byte_s, ahead_bytes(t), t->chunk_bytes);
}

/* The same if nothing else is read or written meanwhile. */
static double input_s(const struct sp__sort_prediction *t, double bytes)
{
	const struct sp__costs *c = &t->at;

	return reading_s(t, bytes) + (c->misses ? bytes / ahead_bytes(t) * c->rev_s : 0);
}

/* Is a chunk that comes over the bus too late for the place behind the one before? */
static bool bus_is_slow(const struct sp__costs *c)
{
	return c->tracks && !c->bus_apart[1] && !(c->behind_bytes > 0) &&
	       c->bus_byte_s > c->rev_s / c->bytes_on_track;
}

double sp__sort_predict_storing_s(const struct sp__sort_prediction *t, double bytes, double each,
				  double byte_s)
{
	return fmax(bytes * byte_s, bus_is_slow(&t->at) ? bytes / each * t->at.rev_s : 0);
}

/* Writing chunks of runs.  The place of one that is alone has passed. */
static double storing_s(const struct sp__sort_prediction *t, double bytes)
{
	const struct sp__costs *c = &t->at;
	double chunk_bytes = sp__sort_predict_run_chunk(t);
	double n = sp__sort_predict_chunks(t);
	double byte_s =
		sp__costs_stream_s(c, true, c->run_write_byte_s, n * chunk_bytes, chunk_bytes);

	if (n < 2 && !(c->behind_bytes > 0))
		return bytes * byte_s + bytes / chunk_bytes * c->rev_s;
	return sp__sort_predict_storing_s(t, bytes, chunk_bytes, byte_s);
}

static double formation_s(const struct sp__sort_prediction *t)
{
	const struct sp__costs *c = &t->at;
	double bytes = t->run_bytes, records = bytes / t->record_bytes;
	double fill = records * c->record_s + bytes * c->copy_s;
	double sort = records * log2(fmax(records, 2)) * c->compare_s;
	double stored = fmin(bytes, t->max_bytes);
	double write = storing_s(t, stored), waits = 1.5 * c->rev_s + c->overhead_s[1];
	double store = stored * c->copy_s +
		       sp__sort_predict_requests_s(t, stored, sp__sort_predict_run_chunk(t));

	/* Reading the input takes the arm away and back. */
	if (c->in) {
		fill += sp__sort_predict_requests_s(t, bytes, t->chunk_bytes);
		fill = fmax(fill, input_s(t, bytes)) + sp__costs_hop(c, t->bytes, false);
		waits = sp__costs_hop(c, t->bytes, true) + c->rev_s + c->overhead_s[1];
	}
	if (c->behind_bytes > 0)
		waits = c->in ? sp__costs_hop(c, t->bytes, true) : 0;
	/* The last chunks. */
	store += write - fmin(write * fmin(sp__sort_predict_chunks(t) *
						   sp__sort_predict_run_chunk(t) / stored,
					   1),
			      fill + sort);
	return ((fill + sort) * t->bytes + (store + waits) * (t->bytes - t->kept_bytes)) / bytes;
}

/*
 * A batch of replacement selection: its records, and the strips that are merged meanwhile.  While a
 * run is formed twice as many batches come as memory holds.  Each leaves a strip of this run and
 * one of the next, and all of them last to the end: on the average three for each in memory.
 */
struct batch {
	double records, strips;
};

static struct batch batch_of(const struct sp__sort_prediction *t, double memory)
{
	double bytes = (double)sp__replace_batch_bytes((size_t)memory);
	double records = fmax(bytes / (t->record_bytes + SP__ENTRY_COST), 1);
	double held = sp__replace_run_bytes((size_t)memory) / 2;

	return (struct batch){ records, 3 * held / (records * t->record_bytes) };
}

/*
 * Does the drive run out of chunks?  Of some in a row the last one is late if all of them, with the
 * batches that are read and sorted meanwhile, take longer than writing those before it, of which
 * all of the writer's but one were there at the beginning.
 */
static bool starves(const struct sp__sort_prediction *t, const struct batch *b)
{
	const struct sp__costs *c = &t->at;
	double bytes = b->records * t->record_bytes;
	double fill = b->records * c->record_s + bytes * c->copy_s;
	double sort = b->records * log2(fmax(b->records, 2)) * c->compare_s;
	double chunk_bytes = sp__sort_predict_run_chunk(t);
	double chunk = sp__sort_predict_merging_s(t, chunk_bytes, b->strips) + c->request_s;
	double written = chunk_bytes * c->rev_s / c->bytes_on_track;
	bool late = false;

	for (unsigned n = 1; n <= CHUNKS_IN_A_ROW; n++)
		late |= n * chunk + ceil(n * chunk_bytes / bytes) * (fill + sort) +
				c->overhead_s[1] >
			(n + sp__sort_predict_chunks(t) - 2) * written;
	return late && c->tracks && !bus_is_slow(c) && sp__sort_predict_chunks(t) > 1;
}

/*
 * Chunks go out as they are computed, and one that comes too late costs a turn, in which the
 * writer's others and one more become ready.
 */
static double replacement_s(const struct sp__sort_prediction *t, double memory)
{
	const struct sp__costs *c = &t->at;
	const struct batch b = batch_of(t, memory);
	double records = t->bytes / t->record_bytes, cpu, device;
	double comparisons = log2(fmax(b.records, 2)) + log2(fmax(b.strips, 2));
	double ahead = sp__buffers(t->plan->memory_bytes).reads - 1;

	cpu = records * (2 * c->record_s + comparisons * c->compare_s) + 2 * t->bytes * c->copy_s +
	      sp__sort_predict_requests_s(t, t->bytes, sp__sort_predict_run_chunk(t));
	device = storing_s(t, t->bytes);
	/* Of an array it is the turn that the next stripe waits for. */
	if (!c->in && !(c->behind_bytes > 0) && starves(t, &b)) {
		double chunks = t->bytes / sp__sort_predict_run_chunk(t);
		double late = chunks / (sp__sort_predict_chunks(t) + 1) * c->rev_s;

		device = fmax((c->drives > 1 ? t->bytes * c->run_write_byte_s : device) + late,
			      device);
	}
	/* Chunks ahead are read together, then it goes back to what has been computed of them. */
	if (c->in)
		device += reading_s(t, t->bytes) + t->bytes / t->chunk_bytes / ahead *
							   (sp__costs_hop(c, t->bytes, false) +
							    sp__costs_hop(c, t->bytes, true));
	return fmax(cpu, device);
}

bool sp__sort_predict_unspilled(const struct sp__sort_prediction *t)
{
	return !t->plan->in_memory && t->plan->formation == SP_FORM_REPLACEMENT &&
	       t->bytes <= sp__replace_run_bytes(t->plan->run_bytes) / 2;
}

/* Of replacement selection the batches are sorted, and merged as they are in memory. */
double sp__sort_predict_in_memory_s(const struct sp__sort_prediction *t)
{
	const struct sp__costs *c = &t->at;
	double records = t->bytes / t->record_bytes, sorted = records;
	double fill = records * c->record_s + t->bytes * c->copy_s, bytes, out;
	double outstanding = sp__buffers(t->plan->memory_bytes).writes * t->chunk_bytes;

	if (sp__sort_predict_unspilled(t))
		sorted = fmin(batch_of(t, (double)t->plan->run_bytes).records, records);
	bytes = fmin(t->bytes, t->max_bytes);
	out = sp__sort_predict_merging_s(t, bytes, records / sorted);
	if (c->in)
		fill = fmax(fill, input_s(t, t->bytes)) + sp__costs_hop(c, 0, false);
	if (c->out)
		out = fmax(out, bytes * sp__costs_stream_s(c, true, c->write_byte_s, outstanding,
							   t->chunk_bytes));
	return fill + records * log2(fmax(sorted, 2)) * c->compare_s + out;
}

double sp__sort_predict_in_runs_s(const struct sp__sort_prediction *t)
{
	return t->plan->formation == SP_FORM_LOAD ? formation_s(t)
						  : replacement_s(t, (double)t->plan->run_bytes);
}
