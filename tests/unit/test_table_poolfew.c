/* SPDX-License-Identifier: MIT */
/*
 * Which reads have frames of a pool read, and which frames leave: reads of few records, and scans
 * that need more frames than there are.
 */
#include "base/rng.h"
#include "tablepool.h"

/* Looks up an A-page for few records, and releases it.  Returns true if it is in a frame. */
static bool look_up_few(struct sp__clotho_user *u, uint64_t page, uint64_t bytes)
{
	const struct sp__groupset one = first_groups(1);
	struct sp__clotho_pin pin = { 0 };
	const int rc = sp__clotho_pin_few(u, &one, page, bytes, &pin);

	if (rc != SP_READY && rc != SP_END)
		abort();
	sp__clotho_unpin(&pin);
	return rc == SP_READY;
}

/* Frames of 15 A-pages of one column, for reads of one cell. */
static void check_few(void)
{
	const uint64_t records = UINT64_C(63) * 15 * 400;
	struct sp__table_layout l = layout_of_r();
	struct sp_pool_opts o = { .bytes = 100 << 10,
				  .frame_bytes = THESIS_FRAME,
				  .manager = SP_POOL_QUERY };
	struct sp__clotho_user u = {
		.pool = open_pool(&o), .layout = &l, .records = &records, .fetch = fetch_nothing
	};
	const struct sp__groupset one = first_groups(1);
	struct sp__rng rng = { 51 };
	struct sp_pool_counters c;
	uint64_t fetched, n = 0;
	bool never = false, hot = true;

	attach(&u);
	while (n < 100 && !look_up_few(&u, n % 15, 512))
		n++;
	ok(n == 14 && look_up_few(&u, 3, 512), "a frame of 15 cells is read for the 15th (%llu)",
	   (unsigned long long)n);
	ok(look_up_few(&u, 15, THESIS_FRAME) && !look_up_few(&u, 30, 0),
	   "one is read at once for all of its cells, and for none of them never");
	sp_pool_counters(u.pool, &c);
	for (uint64_t i = 0; i < c.frames; i++)
		(void)look_up(&u, &one, 15 * i);
	fetched = c.frames;
	for (unsigned i = 0; i < 100000; i++)
		(void)look_up_few(&u, sp__rng_below(&rng, 15 * 400), 512);
	sp_pool_counters(u.pool, &c);
	fetched = c.misses - c.refused - fetched;
	ok(fetched < 3 && c.hits > 100000 / 400 * (c.frames - 1),
	   "reads of 400 frames at random: %llu frames read, %llu hits, %llu misses",
	   (unsigned long long)fetched, (unsigned long long)c.hits, (unsigned long long)c.misses);
	/* Half of the reads are in 15 A-pages. */
	for (unsigned i = 0; i < 3000; i++) {
		const bool cold = sp__rng_below(&rng, 2);

		(void)look_up_few(&u, cold ? sp__rng_below(&rng, 15 * 400) : 4500 + i % 15, 512);
		never |= look_up_few(&u, 15 * 399, 0);
	}
	for (unsigned i = 0; i < 15; i++)
		hot &= look_up_few(&u, 4500 + i, 512);
	ok(hot && !never, "a frame that is asked for often takes the place of others");
	ok(u.pool->budget.peak_bytes <= o.bytes, "memory within the budget");
	sp__clotho_detach(&u);
	sp_pool_close(u.pool);
	sp__layout_free(&l);
}

/* Reads `pages` A-pages again and again, as one read.  Returns the hits of the last time. */
static uint64_t hits_of_scans(struct sp__clotho_user *u, uint64_t pages)
{
	const struct sp__groupset one = first_groups(1);
	struct sp_pool_counters before, c;

	for (unsigned i = 0; i < 5; i++) {
		sp_pool_counters(u->pool, &before);
		for (uint64_t page = 0; page < pages; page += 15) {
			struct sp__clotho_pin pin = { .passes = sp__clotho_exceeds(u, &one,
										   pages * 63) };

			if (sp__clotho_pin(u, &one, page, &pin) != SP_READY)
				abort();
			sp__clotho_unpin(&pin);
		}
	}
	sp_pool_counters(u->pool, &c);
	return c.hits - before.hits;
}

/* Scans that fit into the pool or do not, with a frame of another read. */
static void check_passing(void)
{
	const uint64_t records = 63 * 15 * 40;
	struct sp__table_layout l = layout_of_r();
	struct sp_pool_opts o = { .bytes = 100 << 10,
				  .frame_bytes = THESIS_FRAME,
				  .manager = SP_POOL_QUERY };
	struct sp__clotho_user u = {
		.pool = open_pool(&o), .layout = &l, .records = &records, .fetch = fetch_nothing
	};
	struct sp_pool_counters c;
	bool stays;

	attach(&u);
	sp_pool_counters(u.pool, &c);
	ok(hits_of_scans(&u, 15 * c.frames) == c.frames, "a scan of all %llu frames finds all",
	   (unsigned long long)c.frames);
	(void)look_up_few(&u, 15 * 39, THESIS_FRAME);
	(void)hits_of_scans(&u, 15 * 2 * c.frames);
	stays = look_up_few(&u, 15 * 39, 0);
	ok(hits_of_scans(&u, 15 * 2 * c.frames) >= c.frames - 2 && stays,
	   "one of twice as many finds most of the frames, and leaves that of another read");
	sp__clotho_detach(&u);
	sp_pool_close(u.pool);
	sp__layout_free(&l);
}

static int fetch_later(struct sp__clotho_user *u, struct sp__clotho_frame *f, uint32_t group,
		       uint64_t page, uint64_t pages, uint8_t *memory)
{
	f->outstanding++;
	return fetch_nothing(u, f, group, page, pages, memory);
}

static void complete(struct sp__clotho_frame *f)
{
	while (f->outstanding)
		sp__clotho_completed(f, 0);
}

/* The only frame is read again while a read waits for it, since a change removed its A-page. */
static void check_again(void)
{
	const uint64_t records = 63 * 15;
	struct sp__table_layout l = layout_of_r();
	struct sp_pool_opts o = { .bytes = 12 << 10,
				  .frame_bytes = THESIS_FRAME,
				  .manager = SP_POOL_QUERY };
	struct sp__clotho_user u = {
		.pool = open_pool(&o), .layout = &l, .records = &records, .fetch = fetch_later
	};
	const struct sp__groupset one = first_groups(1);
	struct sp__clotho_pin pin = { 0 };
	const struct sp__clotho_frame *frame;
	uint64_t fetches;
	bool waits;

	attach(&u);
	waits = sp__clotho_pin(&u, &one, 0, &pin) == SP_LATER;
	frame = pin.frame;
	fetches = frame->fetches;
	sp__clotho_invalidate(&u, 0, &one);
	complete(pin.frame);
	waits &= sp__clotho_pin(&u, &one, 0, &pin) == SP_LATER;
	ok(waits && pin.frame == frame && frame->fetches == fetches + 1,
	   "a frame that was read again while a read waited tells it");
	complete(pin.frame);
	ok(sp__clotho_pin(&u, &one, 0, &pin) == SP_READY, "and the read gets it");
	sp__clotho_unpin(&pin);
	sp__clotho_detach(&u);
	sp_pool_close(u.pool);
	sp__layout_free(&l);
}

int main(void)
{
	check_few();
	check_passing();
	check_again();
	return done();
}
