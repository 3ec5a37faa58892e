/* SPDX-License-Identifier: MIT */
/* Submits the requests of streams that move no bytes (streams.h). */
#include <stdlib.h>
#include "base/minmax.h"
#include "join/dryrun/streams.h"
#include "sim/fsmap.h"

#define BLOCK 4096u

int sp__drymachine_open(struct sp__drymachine *r, const struct sp__machine_spec *spec,
			struct sp_errinfo *err)
{
	*r = (struct sp__drymachine){ .spill = -1 };
	sp__budget_init(&r->budget, UINT64_MAX);
	return sp__machine_open(&r->machine, spec, err);
}

void sp__drymachine_close(struct sp__drymachine *r)
{
	/* After an error requests can be outstanding, but nothing refers to them. */
	sp__machine_close(r->machine);
	sp__space_release(&r->space);
}

static void fail(struct sp__drymachine *r, int rc)
{
	if (!r->error && rc < 0)
		r->error = rc;
}

void sp__drymachine_work(struct sp__drymachine *r, uint64_t work)
{
	r->work += work;
	if (r->work > SP__DRY_WORK_MAX)
		fail(r, -E2BIG);
}

static void submit(struct sp__drymachine *r, struct sp__simreq *request)
{
	const struct sp__machine_spec *spec = sp__machine_spec(r->machine);
	bool by_pages = spec->cache_bytes || spec->fs != SP__FS_NONE || spec->array.drives > 1;

	sp__drymachine_work(r, SP__DRY_WORK_REQUEST +
				       (by_pages ? request->bytes / BLOCK * SP__DRY_WORK_PAGE : 0));
	if (!r->error)
		fail(r, sp__machine_submit(r->machine, &request, 1, true));
}

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

static int new_file(struct sp__drymachine *r, enum sp__sim_area area, uint64_t bytes)
{
	int file = sp__machine_file(r->machine, area, bytes);

	fail(r, file);
	return file;
}

static void new_own(struct sp__drymachine *r, struct sp__dryfile *f, uint32_t unit_bytes)
{
	*f = (struct sp__dryfile){ .file = -1, .unit_bytes = unit_bytes };
	fail(r, sp__run_new(&f->run, &r->budget));
}

void sp__dryfile_input(struct sp__drymachine *r, struct sp__dryfile *f, bool on_machine,
		       uint64_t bytes, uint64_t read_bytes)
{
	new_own(r, f, BLOCK);
	f->bytes = read_bytes;
	if (on_machine && !r->error)
		f->file = new_file(r, SP__SIM_INPUT, bytes);
	/* An extent counts units in 32 bits. */
	for (uint64_t left = (read_bytes + BLOCK - 1) / BLOCK, n; left && !r->error; left -= n) {
		n = sp__min(left, UINT32_MAX);
		fail(r, sp__run_add_units(f->run, f->run->units, (uint32_t)n));
	}
}

void sp__dryfile_result(struct sp__drymachine *r, struct sp__dryfile *f, bool on_machine)
{
	new_own(r, f, BLOCK);
	if (on_machine && !r->error)
		f->file = new_file(r, SP__SIM_OUTPUT, 0);
}

void sp__dryfile_run(struct sp__drymachine *r, struct sp__dryfile *run, uint32_t page_bytes)
{
	new_own(r, run, page_bytes);
	if (r->error)
		return;
	if (sp__machine_spec(r->machine)->fs != SP__FS_NONE) {
		run->file = new_file(r, SP__SIM_SPILL, 0);
		return;
	}
	if (r->spill < 0)
		r->spill = new_file(r, SP__SIM_SPILL, 0);
	run->file = r->spill;
	run->space = &r->space;
}

void sp__dryfile_end(struct sp__drymachine *r, struct sp__dryfile *run)
{
	if (run->run && run->file >= 0 && !run->space && !r->error)
		sp__machine_punch(r->machine, (unsigned)run->file, 0,
				  run->run->units * run->unit_bytes);
	sp__space_release(&run->own);
	sp__run_free(run->run);
	*run = (struct sp__dryfile){ 0 };
}

/* Advances the time until no request of a chunk is outstanding. */
static void wait_for(struct sp__drymachine *r, const unsigned *busy)
{
	while (*busy && !r->error) {
		struct sp__simreq *done = sp__machine_reap(r->machine, true);

		if (!done)
			fail(r, -EIO);
		for (; done; done = done->next)
			--*(unsigned *)done->owner;
	}
}

/* Writing. */

void sp__drywrite_open(struct sp__drymachine *r, struct sp__drywrite *w, struct sp__dryfile *to,
		       uint64_t chunk_bytes, unsigned nchunks)
{
	*w = (struct sp__drywrite){ .r = r,
				    .to = to,
				    .nchunks = sp__min(nchunks, SP__DRY_CHUNKS),
				    .chunk_units = (uint32_t)(chunk_bytes / to->unit_bytes) };
	w->requests = calloc((size_t)w->nchunks * w->chunk_units, sizeof(*w->requests));
	if (!w->requests)
		fail(r, -ENOMEM);
}

/* Submits the filled chunk, one request per extent. */
static void send(struct sp__drywrite *w)
{
	struct sp__dryfile *to = w->to;
	struct sp__space *space = to->space ? to->space : &to->own;

	for (unsigned n = 0; w->filled && !w->r->error; n++) {
		struct sp__simreq *q = &w->requests[w->now * w->chunk_units + n];
		uint64_t units = (w->filled + to->unit_bytes - 1) / to->unit_bytes, unit, bytes;
		uint32_t got = sp__space_take(space, (uint32_t)units, &unit);

		bytes = sp__min(w->filled, (uint64_t)got * to->unit_bytes);
		fail(w->r, sp__run_add_units(to->run, unit, got));
		*q = (struct sp__simreq){ .file = (unsigned)to->file,
					  .write = true,
					  .offset = unit * to->unit_bytes,
					  .bytes = (uint32_t)round_up(bytes, BLOCK),
					  .owner = &w->busy[w->now] };
		w->busy[w->now]++;
		submit(w->r, q);
		w->filled -= bytes;
	}
}

void sp__drywrite_put(struct sp__drywrite *w, uint64_t bytes)
{
	const uint64_t chunk = (uint64_t)w->chunk_units * w->to->unit_bytes;

	w->to->bytes += bytes;
	if (w->to->file < 0)
		return;
	while (bytes && !w->r->error) {
		uint64_t n = sp__min(bytes, chunk - w->filled);

		w->filled += n;
		bytes -= n;
		if (w->filled < chunk)
			break;
		send(w);
		w->now = (w->now + 1) % w->nchunks;
		wait_for(w->r, &w->busy[w->now]);
	}
}

void sp__drywrite_end(struct sp__drywrite *w)
{
	send(w);
}

void sp__drywrite_finish(struct sp__drywrite *w)
{
	for (unsigned i = 0; i < w->nchunks; i++)
		wait_for(w->r, &w->busy[i]);
	free(w->requests);
	*w = (struct sp__drywrite){ 0 };
}

/* Reading. */

void sp__dryread_open(struct sp__drymachine *r, struct sp__dryread *read, struct sp__dryfile *from,
		      uint64_t chunk_bytes, bool last_time)
{
	*read = (struct sp__dryread){ .r = r,
				      .from = from,
				      .last_time = last_time,
				      .chunk_units = (uint32_t)(chunk_bytes / from->unit_bytes) };
}

/* Payload of the given number of units. */
static uint64_t payload(const struct sp__dryfile *f, uint64_t units)
{
	return sp__min(units * f->unit_bytes, f->bytes);
}

/* Requests the next extent, at most a chunk. */
static void ask(struct sp__dryread *read, unsigned at)
{
	struct sp__dryfile *f = read->from;
	const struct sp__extent *e;

	read->chunks[at].units = 0;
	if (read->r->error || read->asked == f->run->units)
		return;
	e = sp__run_extent(f->run, read->asked);
	read->chunks[at].first = read->asked;
	read->chunks[at].units = sp__min(e->first + e->units - read->asked, read->chunk_units);
	read->asked += read->chunks[at].units;
	if (f->file < 0)
		return;
	read->chunks[at].request = (struct sp__simreq){
		.file = (unsigned)f->file,
		.offset = (e->unit + (read->chunks[at].first - e->first)) * f->unit_bytes,
		.bytes = (uint32_t)round_up(
			payload(f, read->asked) - payload(f, read->chunks[at].first), BLOCK),
		.owner = &read->chunks[at].busy
	};
	read->chunks[at].busy = 1;
	submit(read->r, &read->chunks[at].request);
}

/* Releases the space of units of the run from first on. */
static void give_back(struct sp__dryread *read, uint64_t first, uint64_t units)
{
	struct sp__dryfile *f = read->from;
	const struct sp__extent *e = sp__run_extent(f->run, first);
	const uint64_t end = first + units;

	for (; first < end && !read->r->error; first++) {
		if (first == e->first + e->units)
			e = sp__run_extent(f->run, first);
		fail(read->r, sp__space_give(f->space, e->unit + (first - e->first)));
	}
}

uint64_t sp__dryread_next(struct sp__dryread *read)
{
	const struct sp__dryfile *f = read->from;
	unsigned at = read->head;

	for (unsigned i = 0; i < SP__DRY_CHUNKS && !read->begun; i++)
		ask(read, i);
	read->begun = true;
	if (read->pinned) {
		ask(read, at);
		at = read->head = (at + 1) % SP__DRY_CHUNKS;
	}
	read->pinned = true;
	wait_for(read->r, &read->chunks[at].busy);
	if (read->r->error || !read->chunks[at].units)
		return 0;
	if (read->last_time && f->space)
		give_back(read, read->chunks[at].first, read->chunks[at].units);
	return payload(f, read->chunks[at].first + read->chunks[at].units) -
	       payload(f, read->chunks[at].first);
}

void sp__dryread_stop(struct sp__dryread *read)
{
	const struct sp__dryfile *f = read->from;
	uint64_t first = 0;

	for (unsigned i = 0; i < SP__DRY_CHUNKS; i++)
		wait_for(read->r, &read->chunks[i].busy);
	if (!read->last_time || !f->space)
		return;
	if (read->pinned)
		first = read->chunks[read->head].first + read->chunks[read->head].units;
	give_back(read, first, f->run->units - first);
}

void sp__drymachine_sync(struct sp__drymachine *r)
{
	if (r->spill >= 0)
		sp__machine_punch(r->machine, (unsigned)r->spill, 0, UINT64_MAX / 2);
	sp__machine_sync(r->machine);
}
