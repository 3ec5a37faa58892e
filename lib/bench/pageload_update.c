/* SPDX-License-Identifier: MIT */
/*
 * Updates a table that is larger than the buffer.
 *
 * States: a scan (pageload.c) works on each page, which changes it.  Frames of the buffer hold
 * pages that are read, changed or written:
 *
 *	OUT -> COMING -> HERE -> DIRTY -> LEAVING -> CLEAN -> OUT
 *
 * A requested page takes an empty frame, or the frame of a clean page.  If the scan requests a page
 * that is still in the buffer, the page is not read: a DIRTY or CLEAN page becomes HERE
 * immediately, a LEAVING page becomes KEPT, and HERE once it is written.
 *
 * Invariants:
 *
 *	frames = empty + (pages in any state but OUT)
 *
 * At most the pages read ahead are requested and not yet worked on.  So a buffer with one extent
 * more always has a page that can be written or is being written, even if frames for a whole extent
 * are needed.
 *
 * Victims (pages to write or to replace) are chosen at random, since section 3.1 has "random writes
 * of dirty pages"; or they are the oldest.  A scan is cyclic, so the oldest pages follow its
 * position in order of address, and a cyclic search finds them.
 */
#include <math.h>
#include <stdlib.h>
#include "base/minmax.h"
#include "bench/pageload.h"

/*
 * The log of an update.  Changed pages add records.  They are written in order, one write at a
 * time, one second after the first record or when they fill the largest write.  The query does not
 * wait for them.
 */

#define INTERVAL_NS 1000000000

static void pagelog_changed(struct sp__pageload *l, uint64_t now_ns)
{
	if (!l->log.write_ns)
		l->log.write_ns = now_ns + INTERVAL_NS;
	l->log.bytes += l->opts.log_bytes;
}

static void pagelog_run(struct sp__pageload *l, uint64_t now_ns)
{
	struct sp__pagelog *g = &l->log;

	g->due = g->bytes >= SP__PAGELOG_MAX_BYTES || (g->bytes && g->write_ns <= now_ns);
	if (g->bytes && !g->due)
		sp__pageload_due(l, g->write_ns);
}

bool sp__pagelog_next(struct sp__pageload *l, struct sp__pagereq *r)
{
	const uint32_t all = SP__PAGELOG_BYTES / SP__PAGELOG_BLOCK_BYTES;
	struct sp__pagelog *g = &l->log;
	uint64_t bytes = sp__min(g->bytes, SP__PAGELOG_MAX_BYTES);

	if (!g->due || l->taken[SP__PAGE_LOG])
		return false;
	*r = (struct sp__pagereq){ .n = (uint32_t)((bytes + SP__PAGELOG_BLOCK_BYTES - 1) /
						   SP__PAGELOG_BLOCK_BYTES) };
	if (g->block + r->n > all)
		g->block = 0;
	r->page = g->block;
	g->block += r->n;
	g->bytes -= bytes;
	g->due = false;
	if (!g->bytes)
		g->write_ns = 0;
	return true;
}

static void put(struct sp__pagebuffer *b, struct sp__pageset *set, uint32_t page)
{
	b->where[page] = (uint32_t)set->n;
	set->pages[set->n++] = page;
}

static void take(struct sp__pagebuffer *b, struct sp__pageset *set, uint32_t page)
{
	uint32_t last = set->pages[--set->n];

	set->pages[b->where[page]] = last;
	b->where[last] = b->where[page];
}

static uint32_t take_victim(struct sp__pageload *l, enum sp__pagestate state)
{
	struct sp__pagebuffer *b = &l->buffer;
	struct sp__pageset *set = state == SP__PAGE_DIRTY ? &b->dirty : &b->clean;
	uint32_t *hand = state == SP__PAGE_DIRTY ? &b->dirty_hand : &b->clean_hand;
	uint32_t page;

	if (l->opts.victims == SP_POLICY_VICTIMS_OLDEST) {
		while (b->state[*hand] != state)
			*hand = (*hand + 1) % l->pages;
		page = *hand;
	} else {
		page = set->pages[sp__rng_below(&l->rng, set->n)];
	}
	take(b, set, page);
	return page;
}

static void make_dirty(struct sp__pagebuffer *b, uint32_t page)
{
	b->state[page] = SP__PAGE_DIRTY;
	put(b, &b->dirty, page);
}

static size_t free_frames(const struct sp__pagebuffer *b)
{
	return b->empty + b->clean.n;
}

/*
 * Fills the buffer as after many passes. h is the share of visits of the scan that find their page
 * in the buffer.  Between two visits of a page, (1 - h) * pages are replaced, so the share not
 * replaced is
 *
 *	h = exp(-(1 - h) * pages / frames)
 *
 * and a page visited less than a pass ago is in the buffer with a probability between h and 1.  If
 * the oldest are replaced, the buffer holds the pages visited last.
 */
static void fill_buffer(struct sp__pageload *l)
{
	struct sp__pagebuffer *b = &l->buffer;
	double times = (double)l->pages / (double)b->frames, h = 0;

	for (int i = 0; i < 100; i++)
		h = exp(-(1 - h) * times);
	for (uint32_t ago = 0; ago < l->pages && b->empty; ago++) {
		if (l->opts.victims == SP_POLICY_VICTIMS_RANDOM &&
		    sp__rng_real(&l->rng) >= exp(-(1 - h) * ago / (double)b->frames))
			continue;
		b->empty--;
		make_dirty(b, l->pages - 1 - ago);
	}
}

static int open_buffer(struct sp__pageload *l)
{
	struct sp__pagebuffer *b = &l->buffer;
	int rc = sp__pagescan_open(l);

	b->frames = b->empty = (size_t)(l->opts.buffer * (double)l->pages);
	b->state = calloc(l->pages, sizeof(b->state[0]));
	b->where = calloc(l->pages, sizeof(b->where[0]));
	b->dirty.pages = calloc(b->frames, sizeof(b->dirty.pages[0]));
	b->clean.pages = calloc(b->frames, sizeof(b->clean.pages[0]));
	if (rc || !b->state || !b->where || !b->dirty.pages || !b->clean.pages)
		return -ENOMEM;
	if (!l->opts.passes)
		fill_buffer(l);
	rc = sp__pagequeue_open(l, SP__PAGE_URGENT, b->frames);
	return rc ? rc : sp__pagequeue_open(l, SP__PAGE_WRITE, b->frames);
}

/* True if enough frames are free to read.  A constant flow usually reads whole extents. */
static bool has_space(const struct sp__pageload *l)
{
	enum sp_policy_frames room = l->opts.frames_needed;

	if (room == SP_POLICY_FRAMES_USUAL)
		room = l->opts.submission == SP_POLICY_AGGRESSIVE ? SP_POLICY_FRAMES_EXTENT
								  : SP_POLICY_FRAMES_PAGE;
	return room == SP_POLICY_FRAMES_PAGE || l->scan.asked % l->opts.extent_pages != 0 ||
	       free_frames(&l->buffer) >= l->opts.extent_pages;
}

/* Takes a frame for a page to read.  False: none is free. */
static bool take_frame(struct sp__pageload *l)
{
	struct sp__pagebuffer *b = &l->buffer;

	if (b->empty)
		b->empty--;
	else if (b->clean.n)
		b->state[take_victim(l, SP__PAGE_CLEAN)] = SP__PAGE_OUT;
	else
		return false;
	return true;
}

/* Requests the next page of the scan.  False: no frame is free for it. */
static bool ask(struct sp__pageload *l, uint64_t now_ns)
{
	struct sp__pagescan *s = &l->scan;
	struct sp__pagebuffer *b = &l->buffer;
	uint32_t page = (uint32_t)(s->asked % l->pages);
	enum sp__pagestate state = (enum sp__pagestate)b->state[page];

	if (state == SP__PAGE_DIRTY || state == SP__PAGE_CLEAN) {
		take(b, state == SP__PAGE_DIRTY ? &b->dirty : &b->clean, page);
		b->state[page] = SP__PAGE_HERE;
		sp__pagescan_arrived(l, s->asked, now_ns);
	} else if (state == SP__PAGE_LEAVING) {
		b->state[page] = SP__PAGE_KEPT;
	} else if (take_frame(l)) {
		b->state[page] = SP__PAGE_COMING;
		sp__pageload_ask(l, SP__PAGE_READ, page, (uint32_t)(s->asked % s->ahead));
	} else {
		return false;
	}
	s->asked++;
	return true;
}

static void write_some(struct sp__pageload *l, enum sp__pageclass class, size_t n)
{
	struct sp__pagebuffer *b = &l->buffer;

	for (; n && b->dirty.n; n--) {
		uint32_t page = take_victim(l, SP__PAGE_DIRTY);

		b->state[page] = SP__PAGE_LEAVING;
		sp__pageload_ask(l, class, page, 0);
	}
}

struct sp__preflush sp__preflush(unsigned free_percent)
{
	struct sp__preflush p = { 0, 0 };

	if (free_percent <= 10)
		p.high = p.low = 100;
	else if (free_percent < 40)
		p.low = 10 * 64;
	else if (free_percent == 40)
		p.low = 5 * 64;
	else if (free_percent < 50)
		p.low = 64;
	return p;
}

static unsigned free_percent(const struct sp__pagebuffer *b)
{
	return (unsigned)(100 * free_frames(b) / b->frames);
}

/* Inspects the frames at intervals. */
static void preflush(struct sp__pageload *l, uint64_t now_ns)
{
	struct sp__pagebuffer *b = &l->buffer;

	if (!b->look_ns)
		b->look_ns = now_ns + l->opts.preflush_ns;
	for (; b->look_ns <= now_ns; b->look_ns += l->opts.preflush_ns) {
		struct sp__preflush p = sp__preflush(free_percent(b));

		write_some(l, SP__PAGE_URGENT, p.high);
		write_some(l, SP__PAGE_WRITE, p.low);
	}
	sp__pageload_due(l, b->look_ns);
}

/* Keeps writes outstanding. */
static void flow(struct sp__pageload *l)
{
	bool pressed = free_percent(&l->buffer) < 10;

	if ((pressed || !l->pending[SP__PAGE_READ]) && l->pending[SP__PAGE_WRITE] < l->opts.flow)
		write_some(l, SP__PAGE_WRITE, l->opts.flow - l->pending[SP__PAGE_WRITE]);
}

static void run(struct sp__pageload *l, uint64_t now_ns)
{
	struct sp__pagescan *s = &l->scan;
	bool stops = l->opts.submission != SP_POLICY_AGGRESSIVE;

	if (l->opts.submission == SP_POLICY_ADAPTIVE)
		preflush(l, now_ns);
	for (;;) {
		uint32_t page = (uint32_t)(s->at % l->pages);

		while (s->asked < s->wanted && has_space(l) && ask(l, now_ns))
			;
		if (stops && s->asked < s->wanted)
			break;
		if (!sp__pagescan_step(l, now_ns))
			break;
		make_dirty(&l->buffer, page);
		if (l->opts.log_bytes)
			pagelog_changed(l, now_ns);
	}
	if (l->opts.log_bytes)
		pagelog_run(l, now_ns);
	if (!stops)
		flow(l);
	else if (s->asked < s->wanted && !l->pending[SP__PAGE_URGENT])
		write_some(l, SP__PAGE_URGENT, l->opts.steal);
}

static void done(struct sp__pageload *l, enum sp__pageclass class, const struct sp__pagereq *r,
		 uint64_t now_ns)
{
	struct sp__pagebuffer *b = &l->buffer;
	struct sp__pagescan *s = &l->scan;

	if (class == SP__PAGE_READ) {
		b->state[r->page] = SP__PAGE_HERE;
		sp__pagescan_arrived(l, r->cookie, now_ns);
	} else if (b->state[r->page] == SP__PAGE_KEPT) {
		b->state[r->page] = SP__PAGE_HERE;
		/* The requested page with this position in the table. */
		sp__pagescan_arrived(l, s->at + (r->page + l->pages - s->at % l->pages) % l->pages,
				     now_ns);
	} else {
		b->state[r->page] = SP__PAGE_CLEAN;
		put(b, &b->clean, r->page);
	}
}

const struct sp__pageload_ops sp__pageload_update = {
	.open = open_buffer,
	.run = run,
	.done = done,
};
