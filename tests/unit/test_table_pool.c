/* SPDX-License-Identifier: MIT */
/*
 * Pools without a file: the frames of the thesis's examples, and random readers and writers on a
 * scripted device against a model without a pool.
 */
#include <math.h>
#include "base/rng.h"
#include "tablepool.h"

#define GROUPS_MAX 15

/* True if they differ by 0.3 %, or by the digits that were not printed. */
static bool near(double value, double printed)
{
	return fabs(value - printed) <= 0.005 + 0.003 * printed;
}

static void check_frames(void)
{
	static const uint64_t want[15] = { 15, 7, 5, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1 };
	/* Frames per 5,000 records, relative to DSM with 1,020 values a page. */
	static const double csm[15] = { 1.08, 1.16, 1.08, 1.35, 1.08, 1.35, 1.16, 2.02,
					1.80, 1.62, 0,	  1.35, 0,    0,    1.08 };
	static const double nsm[15] = { 15.0, 7.50, 5.00, 3.75, 3.00, 2.50, 2.14, 1.88,
					1.67, 1.50, 0,	  1.25, 0,    0,    1.00 };
	const uint64_t records = 5000000;
	struct sp__table_layout l = layout_of_r();
	struct sp_pool_opts o = { .bytes = 1 << 20, .frame_bytes = THESIS_FRAME };
	bool pages_right = true, csm_right = true, nsm_right = true;

	o.manager = SP_POOL_DYNAMIC;
	for (uint32_t k = 1; k <= 15; k++) {
		struct sp__clotho_user u = { .pool = open_pool(&o),
					     .layout = &l,
					     .records = &records,
					     .fetch = fetch_nothing };
		const struct sp__groupset set = first_groups(k);
		const double dsm = k * 5000 / 1020.0;
		struct sp_pool_counters c;
		uint64_t n = 0;

		attach(&u);
		if (sp__clotho_begin(&u, &set))
			abort();
		for (uint64_t page = 0; page < sp__layout_pages(&l, records); page += n)
			n = look_up(&u, &set, page);
		n = look_up(&u, &set, 30);
		pages_right &= n == want[k - 1];
		sp_pool_counters(u.pool, &c);
		csm_right &= !csm[k - 1] || near((double)c.misses / 1000 / dsm, csm[k - 1]);
		nsm_right &= !nsm[k - 1] || near(5000 / 68.0 / dsm, nsm[k - 1]);
		pages_right &= (c.full_fetches != 0) == (k >= 8);
		sp__clotho_end(&u, &set);
		sp__clotho_detach(&u);
		sp_pool_close(u.pool);
	}
	ok(pages_right, "a frame holds 15, 7, 5, 3, 3, 2, 2 A-pages of 1 to 7 columns, from 8 on "
			"one with all columns");
	ok(csm_right && nsm_right, "frames of 5,000 records against DSM are those of figure 4.9");
	sp__layout_free(&l);
}

/* 15 queries of the same A-page, each of one more column. */
static uint64_t growing_queries(bool partial_alone, struct sp_pool_counters *c)
{
	const uint64_t records = 630;
	struct sp__table_layout l = layout_of_r();
	struct sp_pool_opts o = { .bytes = 1 << 20,
				  .frame_bytes = THESIS_FRAME,
				  .manager = SP_POOL_DYNAMIC,
				  .partial_alone = partial_alone };
	struct sp__clotho_user u = {
		.pool = open_pool(&o), .layout = &l, .records = &records, .fetch = fetch_nothing
	};
	uint64_t last_miss = 0;

	attach(&u);
	for (uint32_t k = 1; k <= 15; k++) {
		const struct sp__groupset set = first_groups(k);

		if (sp__clotho_begin(&u, &set))
			abort();
		(void)look_up(&u, &set, 0);
		sp_pool_counters(u.pool, c);
		if (c->misses + c->hits == k && !c->hits)
			last_miss = k;
	}
	for (uint32_t k = 1; k <= 15; k++) {
		const struct sp__groupset set = first_groups(k);

		sp__clotho_end(&u, &set);
	}
	sp__clotho_detach(&u);
	sp_pool_close(u.pool);
	sp__layout_free(&l);
	return last_miss;
}

static void check_worst_case(void)
{
	struct sp_pool_counters c;

	ok(growing_queries(false, &c) == 8 && c.misses == 8 && c.hits == 7 && c.full_fetches == 1,
	   "15 growing queries: 8 frames, the full one is found by queries 9 to 15");
	/* Frames of 1 to 7 columns have 10, 7, 5, 3, 3, 2, 2 A-pages. */
	ok(c.held_bytes == UINT64_C(512) * (10 + 14 + 15 + 12 + 15 + 12 + 14 + 15),
	   "they hold 107 cells");
	ok(growing_queries(true, &c) == 15 && c.misses == 15 && c.schema_changes == 15,
	   "15 frames without the rule for frames of one A-page");
}

/* The device: a version for each minipage; requests are completed one by one, in any order. */
#define PAGES 60
#define ACTORS 14
#define REQUESTS 4096

struct pending {
	struct sp__clotho_frame *frame;
	uint32_t group;
	uint64_t page, pages;
	uint8_t *memory;
};

static struct device {
	struct sp__rng rng;
	struct sp__table_layout layout;
	uint64_t records;
	uint64_t on_device[PAGES][GROUPS_MAX]; /* versions */
	uint64_t committed[PAGES][GROUPS_MAX]; /* those of the model */
	struct pending pending[REQUESTS];
	size_t npending;
	bool one_strip; /* each request lies in one strip */
	bool failing;
	uint64_t errors, restarts, kept;
} device;

static void put_version(uint8_t *cells, uint32_t group, uint64_t version)
{
	for (uint32_t j = 0; j < device.layout.groups[group].cells; j++)
		memcpy(cells + j * 512, &version, sizeof(version));
}

static bool has_version(const uint8_t *cells, uint32_t group, uint64_t version)
{
	bool right = true;

	for (uint32_t j = 0; j < device.layout.groups[group].cells; j++)
		right &= !memcmp(cells + j * 512, &version, sizeof(version));
	return right;
}

static int fetch(struct sp__clotho_user *u, struct sp__clotho_frame *f, uint32_t group,
		 uint64_t page, uint64_t pages, uint8_t *memory)
{
	const struct sp__strip s = sp__layout_strip(u->layout, page);

	device.one_strip &= page + pages <= s.first + s.pages;
	if (device.npending == REQUESTS)
		abort();
	device.pending[device.npending++] = (struct pending){ f, group, page, pages, memory };
	f->outstanding++;
	return 0;
}

static void complete_one(void)
{
	const size_t i = sp__rng_below(&device.rng, device.npending);
	const struct pending p = device.pending[i];
	const bool fails = device.failing && !sp__rng_below(&device.rng, 200);

	device.pending[i] = device.pending[--device.npending];
	for (uint64_t k = 0; !fails && k < p.pages; k++)
		put_version(p.memory + k * device.layout.groups[p.group].cells * 512, p.group,
			    device.on_device[p.page + k][p.group]);
	device.errors += fails;
	sp__clotho_completed(p.frame, fails ? -EIO : 0);
}

static void complete_some(uint64_t most)
{
	for (uint64_t n = sp__rng_below(&device.rng, most); n && device.npending; n--)
		complete_one();
}

struct actor {
	struct sp__clotho_user *user;
	bool writes, few; /* few: it reads a frame only if that is worth it */
	enum { IDLE, PINNING, HOLDING } state;
	struct sp__groupset set;
	struct sp__clotho_pin pin;
	uint64_t page;
	uint64_t seen[GROUPS_MAX]; /* versions of a reader */
};

/* Returns the cells of a column group of an A-page in a frame. */
static uint8_t *cells_of(const struct sp__clotho_frame *f, uint64_t page, uint32_t group)
{
	uint8_t *memory = f->memory;

	for (uint32_t g = 0; g < group; g++)
		if (sp__groupset_has(&f->set, g))
			memory += f->pages * device.layout.groups[g].cells * 512;
	return memory + (page - f->first) * device.layout.groups[group].cells * 512;
}

/* True if a reader has the versions that were committed when its lookup was ready. */
static bool has_seen(const struct actor *a)
{
	bool right = true;

	for (uint32_t g = 0; g < device.layout.ngroups; g++)
		if (sp__groupset_has(&a->set, g))
			right &= has_version(cells_of(a->pin.frame, a->page, g), g, a->seen[g]);
	return right;
}

/* Writes the column groups of an actor, requests of others being completed meanwhile. */
static void commit(struct actor *a, enum sp_pool_update_unit unit)
{
	struct sp__clotho_frame *frame = NULL;

	for (uint32_t g = 0; g < device.layout.ngroups; g++)
		if (sp__groupset_has(&a->set, g)) {
			device.on_device[a->page][g]++;
			complete_some(3);
		}
	sp__clotho_unpin(&a->pin);
	if (unit == SP_POOL_PAGE)
		frame = sp__clotho_publish(a->user, a->page);
	else
		sp__clotho_invalidate(a->user, a->page, &a->set);
	memcpy(device.committed[a->page], device.on_device[a->page],
	       sizeof(device.committed[a->page]));
	for (uint32_t g = 0; frame && g < device.layout.ngroups; g++)
		put_version(cells_of(frame, a->page, g), g, device.committed[a->page][g]);
	device.kept += frame != NULL;
	a->state = IDLE;
}

static void begin(struct actor *a)
{
	const struct sp__groupset all = sp__clotho_all(&device.layout);

	memset(&a->set, 0, sizeof(a->set));
	for (unsigned i = 0; i < 2; i++)
		sp__bits_add(a->set.bits, sp__rng_below(&device.rng, device.layout.ngroups));
	if (sp__clotho_begin(a->user, a->writes ? &all : &a->set))
		abort();
	a->page = sp__rng_below(&device.rng, PAGES / 6) * sp__rng_below(&device.rng, 6);
	a->state = PINNING;
}

/* Steps an actor.  Returns false if it has a stale value, or its version has changed. */
static bool step(struct actor *a, enum sp_pool_update_unit unit)
{
	const struct sp__groupset all = sp__clotho_all(&device.layout);
	const struct sp__clotho_frame *before = a->pin.frame;
	bool right = true;
	int rc = SP_END;

	if (a->state == PINNING && !sp__rng_below(&device.rng, 30)) { /* it gives up */
		sp__clotho_end(a->user, a->writes ? &all : &a->set);
		sp__clotho_unpin(&a->pin);
		a->state = IDLE;
	}
	if (a->state == IDLE)
		begin(a);
	if (a->state == HOLDING) {
		right = has_seen(a);
		sp__clotho_unpin(&a->pin);
		a->state = IDLE;
		return right;
	}
	if (!a->writes && a->few && !before)
		rc = sp__clotho_pin_few(a->user, &a->set, a->page, 1024, &a->pin);
	else if (!a->writes)
		rc = sp__clotho_pin(a->user, &a->set, a->page, &a->pin);
	else if (unit == SP_POOL_PAGE)
		rc = sp__clotho_pin_write(a->user, a->page, &a->pin);
	device.restarts += rc == SP_LATER && before && before != a->pin.frame;
	if (rc == SP_LATER)
		return true;
	sp__clotho_end(a->user, a->writes ? &all : &a->set);
	if (a->writes && (rc == SP_READY || rc == SP_END)) {
		commit(a, unit);
		return true;
	}
	a->state = rc == SP_READY ? HOLDING : IDLE;
	if (rc == SP_READY)
		memcpy(a->seen, device.committed[a->page], sizeof(a->seen));
	return rc == SP_READY ? has_seen(a) : rc == SP_END || rc == -EIO;
}

static void interleave(const struct sp_pool_opts *o, bool failing)
{
	static const uint32_t bytes[] = { 8, 4, 2, 1, 8, 4 };
	struct sp_pool_opts opts = *o;
	struct sp__clotho_user users[2];
	struct actor actors[ACTORS] = { 0 };
	struct sp_pool_counters c;
	bool right = true, unpinned = true;
	struct sp_pool *pool = open_pool(&opts);
	uint64_t peak;

	device = (struct device){ .rng = { 47 }, .one_strip = true, .failing = failing };
	device.layout = layout_of(bytes, 6, 0, 2048);
	device.records = (uint64_t)PAGES * device.layout.page_records;
	for (unsigned i = 0; i < 2; i++) {
		users[i] = (struct sp__clotho_user){ .pool = pool,
						     .layout = &device.layout,
						     .records = &device.records,
						     .fetch = fetch };
		attach(&users[i]);
	}
	for (unsigned i = 0; i < ACTORS; i++)
		actors[i] = (struct actor){ .user = &users[i % 2],
					    .writes = i % 4 == 3,
					    .few = i % 4 == 2,
					    .pin.passes = i % 4 == 1 };
	for (unsigned i = 0; right && i < 100000; i++) {
		right = step(&actors[sp__rng_below(&device.rng, ACTORS)], o->update_unit);
		complete_some(4);
	}
	while (device.npending)
		complete_one();
	for (unsigned i = 0; i < ACTORS; i++) {
		const struct sp__groupset all = sp__clotho_all(&device.layout);

		if (actors[i].state == PINNING)
			sp__clotho_end(actors[i].user, actors[i].writes ? &all : &actors[i].set);
		sp__clotho_unpin(&actors[i].pin);
	}
	sp_pool_counters(pool, &c);
	for (uint64_t i = 0; i < c.frames; i++)
		unpinned &= !pool->frames[i].pins && !pool->frames[i].outstanding;
	peak = pool->budget.peak_bytes;
	for (unsigned i = 0; i < 2; i++)
		sp__clotho_detach(&users[i]);
	ok(right && device.one_strip && unpinned && peak <= opts.bytes,
	   "%s, %s%s: no stale value, no pin left, memory within the budget",
	   sp_pool_manager_name(o->manager), sp_pool_update_unit_name(o->update_unit),
	   failing ? ", a failing device" : "");
	ok(c.hits && c.invalidated && c.refused && device.restarts &&
		   (device.errors != 0) == failing && c.lookups == c.hits + c.misses &&
		   (o->update_unit == SP_POOL_PAGE) == (device.kept != 0) &&
		   c.useful_bytes <= c.held_bytes && c.useful_bytes,
	   "%llu lookups, %llu hits, %llu A-pages removed, %llu restarts, %llu refused",
	   (unsigned long long)c.lookups, (unsigned long long)c.hits,
	   (unsigned long long)c.invalidated, (unsigned long long)device.restarts,
	   (unsigned long long)c.refused);
	sp_pool_close(pool);
	sp__layout_free(&device.layout);
}

static void check_order(void)
{
	const uint64_t records = 6300;
	struct sp__table_layout l = layout_of_r();
	struct sp_pool_opts o = { .bytes = 32 << 10, .frame_bytes = THESIS_FRAME };
	struct sp__clotho_user u = {
		.pool = open_pool(&o), .layout = &l, .records = &records, .fetch = fetch_nothing
	};
	struct sp__groupset one = first_groups(1);
	struct sp__clotho_pin pin = { 0 };
	struct sp_pool_counters c;

	attach(&u);
	sp_pool_counters(u.pool, &c);
	ok(c.frames == 3, "32 KiB have 3 frames of 7.5 KiB");
	for (uint64_t page = 0; page < 3; page++)
		(void)look_up(&u, &one, page);
	(void)look_up(&u, &one, 0);
	(void)look_up(&u, &one, 3);
	(void)look_up(&u, &one, 0);
	(void)look_up(&u, &one, 2);
	sp_pool_counters(u.pool, &c);
	ok(c.hits == 3 && c.misses == 4, "the frame that was used least recently is reused");
	ok(c.held_bytes == 45 * 512 && c.useful_bytes == 3 * 512,
	   "of three full A-pages one column is useful");
	if (sp__clotho_pin(&u, &one, 0, &pin) != SP_READY)
		abort();
	for (uint64_t page = 10; page < 20; page++)
		(void)look_up(&u, &one, page);
	ok(sp__clotho_covers(&pin, 0) && !sp__clotho_covers(&pin, 1), "a pinned frame stays");
	sp__clotho_unpin(&pin);
	sp__clotho_detach(&u);
	sp_pool_counters(u.pool, &c);
	ok(!c.held_bytes, "nothing is left of a table that was closed");
	sp_pool_close(u.pool);
	sp__layout_free(&l);
}

static void check_refusals(void)
{
	const uint64_t records = 63;
	struct sp__table_layout l = layout_of_r();
	struct sp_pool_opts o = { .bytes = 4096, .frame_bytes = 4096 };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	const struct sp__clotho_key key = { 0 };
	struct sp__clotho_user u = { .layout = &l, .records = &records };

	ok(sp_pool_open(&u.pool, &o, &err) == SP_EBUDGET, "a pool without a frame: %s", err.text);
	o.bytes = 65536;
	u.pool = open_pool(&o);
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	ok(sp__clotho_attach(&u, &key, "table", &err) == SP_EUNSUP, "a table: %s", err.text);
	sp_pool_close(u.pool);
	sp__layout_free(&l);
}

int main(void)
{
	struct sp_pool_opts o = { .bytes = 128 << 10, .frame_bytes = 16 << 10 };

	check_frames();
	check_worst_case();
	check_order();
	check_refusals();
	for (unsigned i = 0; i < 12; i++) {
		o.manager = i % 3;
		o.update_unit = i / 3 % 2;
		interleave(&o, i >= 6);
	}
	return done();
}
