/* SPDX-License-Identifier: MIT */
/*
 * The loads of policies on a fake device, which holds a number of requests and
 * serves them one after the other, each in a random time.  The requests of a load
 * are compared with a plain statement of the rule, which keeps the whole history
 * instead of a state.
 */
#include "pageload_device.h"

/*
 * Extent k is asked for, whole and in order, when the last page of extent k - ahead is
 * worked on; the first ones immediately.
 */
static bool extents_in_turn(unsigned ahead)
{
	uint64_t asked = 0;

	for (size_t i = 0; i < nevents; i++) {
		const struct event *e = &events[i];
		uint64_t extent = asked / E;

		if (e->what != 's')
			continue;
		if (e->page != asked++ % PAGES ||
		    e->accessed != (extent < ahead ? 0 : (extent - ahead + 1) * E))
			return false;
	}
	return asked > 0;
}

/* When each page was worked on: when it is there and the one before is finished. */
static bool worked_in_time(uint64_t pages)
{
	static uint64_t arrived[8 * PAGES];
	uint64_t n = 0, at = 0, end_ns = 0;

	for (size_t i = 0; i < nevents; i++)
		if (events[i].what == 'd')
			arrived[n++] = events[i].ns;
	for (; at < n; at++)
		end_ns = (arrived[at] > end_ns ? arrived[at] : end_ns) + opts.compute_ns;
	return n == pages && load.accessed == pages && now_ns == end_ns;
}

static void scan(void)
{
	uint64_t conservative_ns;

	begin(SP_POLICY_SCAN, SP_POLICY_CONSERVATIVE);
	opts.passes = 2;
	drive(300 * US, NULL);
	ok(extents_in_turn(1),
	   "conservative: an extent is asked for with the last page of another");
	ok(worked_in_time(2 * PAGES), "a page is worked on when it is there and the query is free");
	ok(load.over && nevents == 4 * PAGES, "two passes read each page twice");
	sp__pageload_close(&load);

	begin(SP_POLICY_SCAN, SP_POLICY_CONSERVATIVE);
	opts.passes = 1;
	opts.compute_ns = 170 * US;
	drive(300 * US, NULL);
	conservative_ns = now_ns;
	ok(idle_ns > now_ns / 10, "while the query works nothing is outstanding (%.0f %%)",
	   100.0 * (double)idle_ns / (double)now_ns);
	sp__pageload_close(&load);

	begin(SP_POLICY_SCAN, SP_POLICY_AGGRESSIVE);
	opts.passes = 1;
	opts.ahead = 3;
	opts.compute_ns = 140 * US;
	drive(300 * US, NULL);
	ok(extents_in_turn(3), "aggressive: three extents are asked for ahead");
	ok(worked_in_time(PAGES) && idle_ns < now_ns / 50 && now_ns < conservative_ns,
	   "and the device is seldom idle");
	sp__pageload_close(&load);
}

static void narrow(void)
{
	begin(SP_POLICY_SCAN, SP_POLICY_CONSERVATIVE);
	opts.passes = 1;
	capacity = 1;
	drive(300 * US, NULL);
	for (size_t i = 0; i < nevents; i++)
		if (events[i].what != (i % 2 ? 'd' : 's') || events[i].page != i / 2)
			break;
		else if (i + 1 == nevents)
			ok(worked_in_time(PAGES),
			   "with one free frame pages are processed one at a time");
	sp__pageload_close(&load);
}

/* A client asks for a batch when all of the one before is there. */
static bool batches_in_turn(unsigned batch)
{
	static unsigned asked[64], arrived[64];

	memset(asked, 0, sizeof(asked));
	memset(arrived, 0, sizeof(arrived));
	for (size_t i = 0; i < nevents; i++) {
		const struct event *e = &events[i];
		unsigned c = e->cookie / batch;

		if (c >= opts.clients || e->page >= PAGES || e->class != SP__PAGE_READ)
			return false;
		if (e->what == 'd') {
			arrived[c]++;
			continue;
		}
		if (asked[c] % opts.query_pages % batch == 0 && asked[c] != arrived[c])
			return false;
		asked[c]++;
	}
	return asked[0] > 0;
}

static void range(void)
{
	bool seen[PAGES] = { false };
	size_t different = 0;

	begin(SP_POLICY_RANGE, SP_POLICY_CONSERVATIVE);
	opts.passes = 12;
	opts.query_pages = 100;
	opts.compute_ns = 0;
	max_out = 0;
	drive(300 * US, look_range);
	ok(load.queries == 12 && load.accessed >= 1200 && load.accessed < 1600,
	   "clients' queries have their pages");
	ok(batches_in_turn(1) && max_out == 4, "one page for each client is outstanding");
	sp__pageload_close(&load);

	begin(SP_POLICY_RANGE, SP_POLICY_AGGRESSIVE);
	opts.passes = 12;
	opts.query_pages = 100;
	max_out = 0;
	drive(300 * US, look_range);
	ok(batches_in_turn(16) && max_out > 48 && max_out <= 64,
	   "aggressive: batches of 16, the last of a query smaller");
	for (size_t i = 0; i < nevents; i++) {
		different += !seen[events[i].page];
		seen[events[i].page] = true;
	}
	/* 1200 and some of 4096, drawn with replacement. */
	ok(different > 1000 && different < 1300, "of pages all over the table (%zu)", different);
	sp__pageload_close(&load);

	begin(SP_POLICY_RANGE, SP_POLICY_AGGRESSIVE);
	opts.passes = 40;
	opts.clients = 10;
	opts.query_pages = 100;
	capacity = 55;
	max_out = 0;
	drive(300 * US, look_range);
	ok(load.batch == 5 && batches_in_turn(5) && max_out <= 50,
	   "many clients have smaller batches, as many as may be outstanding");
	sp__pageload_close(&load);
}

/* The buffer, derived only from the history of each page. */
struct past {
	bool changed, reading, writing;
	bool stays; /* no other event since its last write */
};

static struct past past[PAGES];
static size_t seen_events, stolen;
static uint64_t worked;
static bool sound;

/* Frames that no page can be read into. */
static size_t bound(void)
{
	size_t n = 0;

	for (size_t i = 0; i < PAGES; i++)
		n += past[i].changed || past[i].reading || past[i].writing;
	return n;
}

static void replay_update(void)
{
	for (; seen_events < nevents; seen_events++) {
		const struct event *e = &events[seen_events];
		struct past *p = &past[e->page];

		for (; worked < e->accessed; worked++) {
			sound &= !past[worked % PAGES].reading;
			past[worked % PAGES].changed = true;
		}
		if (e->class == SP__PAGE_READ && e->what == 's') {
			/* Changed pages in memory are not read. */
			sound &= !p->changed && !p->writing && !p->reading;
			p->reading = true;
			sound &= bound() <= (size_t)(opts.buffer * PAGES);
		} else if (e->class == SP__PAGE_READ) {
			p->reading = false;
		} else if (e->what == 's') {
			sound &= p->changed && !p->writing;
			p->writing = true;
			stolen += e->class == SP__PAGE_URGENT;
		} else {
			p->writing = p->changed = false;
		}
	}
}

static size_t peak[SP__PAGE_CLASSES];

static void look_update(void)
{
	replay_update();
	for (int i = 0; i < SP__PAGE_CLASSES; i++)
		if (load.pending[i] > peak[i])
			peak[i] = load.pending[i];
}

/* The share of the time in which the device was idle. */
static double update(enum sp_policy_submission submission, unsigned passes)
{
	begin(SP_POLICY_UPDATE, submission);
	memset(past, 0, sizeof(past));
	memset(peak, 0, sizeof(peak));
	seen_events = stolen = 0;
	worked = 0;
	sound = for_want = true;
	opts.passes = passes;
	opts.buffer = 0.25;
	opts.compute_ns = 100 * US;
	opts.preflush_ns = 100000 * US;
	drive(300 * US, look_update);
	sp__pageload_close(&load);
	return (double)idle_ns / (double)now_ns;
}

static void updates(void)
{
	double idle;

	update(SP_POLICY_CONSERVATIVE, 1);
	ok(stolen >= PAGES - PAGES / 4 && stolen < PAGES - PAGES / 4 + 5,
	   "update: as many pages are written as do not fit (%zu)", stolen);
	idle = update(SP_POLICY_CONSERVATIVE, 3);
	ok(load.over && load.accessed == 3 * PAGES && sound,
	   "a page is read if it is not there, and written if it was changed");
	ok(peak[SP__PAGE_URGENT] == 5 && !peak[SP__PAGE_WRITE] && for_want,
	   "conservative: five at a time, when no frame is free");
	ok(update(SP_POLICY_AGGRESSIVE, 3) < idle, "aggressive: the device is idle less");
	ok(load.over && sound && !peak[SP__PAGE_URGENT] && peak[SP__PAGE_WRITE] == 32 &&
		   peak[SP__PAGE_READ] > E,
	   "a constant number of writes, with reads ahead");
	update(SP_POLICY_ADAPTIVE, 3);
	ok(load.over && sound && peak[SP__PAGE_WRITE] >= 64, "adaptive: writes come in bursts");
}

static void full_buffer(void)
{
	size_t dirty = 0;

	begin(SP_POLICY_UPDATE, SP_POLICY_CONSERVATIVE);
	opts.buffer = 0.5;
	(void)!sp__pageload_open(&load, &opts, PAGES, capacity, 7);
	for (size_t i = 0; i < PAGES; i++)
		dirty += load.buffer.state[i] == SP__PAGE_DIRTY;
	ok(dirty == load.buffer.dirty.n && dirty + load.buffer.empty == PAGES / 2 &&
		   load.buffer.empty < PAGES / 20,
	   "without passes the buffer is full from the start, or nearly (%zu)", dirty);
	sp__pageload_close(&load);
}

/* Section 4.4, word for word. */
static void preflushes(void)
{
	bool right = true;

	for (unsigned percent = 0; percent <= 100; percent++) {
		struct sp__preflush p = sp__preflush(percent);
		unsigned low = 0, high = 0;

		if (percent < 50)
			low = 64;
		if (percent == 40)
			low = 5 * 64;
		if (percent < 40)
			low = 10 * 64;
		if (percent <= 10)
			low = high = 100;
		right &= p.low == low && p.high == high;
	}
	ok(right, "a preflush writes more the fewer frames are free");
}

/* A query that needs so long for a page that nothing but looks happens. */
static void looks(void)
{
	unsigned seen = 0, percent = 0;
	bool right = true;

	begin(SP_POLICY_UPDATE, SP_POLICY_ADAPTIVE);
	opts.buffer = 0.5;
	opts.compute_ns = UINT64_MAX / 4;
	(void)!sp__pageload_open(&load, &opts, PAGES, capacity, 7);
	for (unsigned k = 0; k < 40; k++) {
		size_t high = load.pending[SP__PAGE_URGENT], low = load.pending[SP__PAGE_WRITE];
		enum sp__pageclass class;
		struct sp__pagereq r;

		percent = (unsigned)(100 * (load.buffer.empty + load.buffer.clean.n) /
				     load.buffer.frames);
		sp__pageload_run(&load, k * opts.preflush_ns + 1);
		if (k > 1 && load.scan.asked == load.scan.wanted) {
			right &= load.pending[SP__PAGE_URGENT] - high == sp__preflush(percent).high;
			right &= load.pending[SP__PAGE_WRITE] - low == sp__preflush(percent).low;
			seen++;
		}
		while (sp__pageload_next(&load, &class, &r))
			sp__pageload_done(&load, class, &r, k * opts.preflush_ns + 2);
	}
	ok(right && seen > 10, "every look writes what the rule says, until half is free");
	ok(percent >= 50 && percent < 54, "and then nothing (%u %%)", percent);
	sp__pageload_close(&load);
}

static void refusals(void)
{
	begin(SP_POLICY_SCAN, SP_POLICY_ADAPTIVE);
	ok(sp__pageload_check(&opts, PAGES) != NULL, "a scan has nothing to preflush");
	begin(SP_POLICY_UPDATE, SP_POLICY_AGGRESSIVE);
	opts.buffer = 3.0 * E / PAGES;
	ok(!sp__pageload_check(&opts, PAGES), "a buffer holds what is read ahead and an extent");
	opts.buffer = 2.9 * E / PAGES;
	ok(sp__pageload_check(&opts, PAGES) != NULL, "a smaller one is refused");
	ok(sp__pageload_check(&opts, 2 * E) != NULL, "as is a table that is too small");
	begin(SP_POLICY_RANGE, SP_POLICY_AGGRESSIVE);
	opts.extent_threshold = 13;
	ok(sp__pageload_check(&opts, PAGES) != NULL,
	   "an extent threshold needs pages read one by one");
	begin(SP_POLICY_RANGE, SP_POLICY_CONSERVATIVE);
	opts.threads = 1;
	ok(sp__pageload_check(&opts, PAGES) != NULL, "queries need no threads");
}

int main(void)
{
	scan();
	narrow();
	range();
	updates();
	full_buffer();
	preflushes();
	looks();
	refusals();
	return done();
}
