/* SPDX-License-Identifier: MIT */
/*
 * Implements MEMS storage and reads its models: a sled with the medium moves over thousands of
 * tips, in x from cylinder to cylinder and in y along the rows.  It is one lane.
 *
 * Layout.  A block is striped over a group of tips.  At one location of the sled each group has one
 * block, and `active` groups at a time can read or write: a pass over a row.  A cylinder is passed
 * once for each set of `active` groups, a sweep; every other sweep goes backwards.  Blocks are
 * numbered by cylinder, sweep, row of the sweep, group.
 *
 * Service.  x and y move at the same time, x from rest to rest and then with a time to settle.
 * Then the rows pass, sweep by sweep, each in the direction whose start is reached first.  A sled
 * without a request brakes immediately and stays there; later requests wait until it rests.
 *
 * Passes are shared.  Any groups at the location of a row can be active in a pass.  So each pass
 * that does not need all of them has spare ones, and they serve the blocks at this location of
 * requests that waited when the pass began.  When such a request is chosen, it is complete or has
 * fewer blocks left.  Only the last pass over each row of the present cylinder counts.
 *
 * Memory: 40 bytes for each row of a sweep.
 *
 * Not modelled: cache, bus, power, defective tips, tracking errors.
 *
 * Source: Griffin, Schlosser, Ganger and Nagle 2000; Shao 2008 ch. 4 (any groups at a location).
 */
#include <math.h>
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "dev/mems.h"
#include "dev/model_json.h"

/* Reads what determines the numbers of blocks. */
static int parse_layout(struct sp__jobj *o, struct sp__model *m, struct sp__mems *k)
{
	uint64_t groups = (uint64_t)sp__jint(o, "groups", 1, 1 << 16, SP__JREQUIRED);

	k->active = (uint32_t)sp__jint(o, "active", 1, 1 << 16, SP__JREQUIRED);
	k->cylinders = (uint32_t)sp__jint(o, "cylinders", 1, 1 << 20, SP__JREQUIRED);
	k->rows = (uint32_t)sp__jint(o, "rows", 1, 1 << 12, SP__JREQUIRED);
	k->row_bits = (uint32_t)sp__jint(o, "row_bits", 1, 10000, SP__JREQUIRED);
	if (o->rc)
		return o->rc;
	if (groups % k->active)
		return sp__jfail(o, "active", "%u does not divide the %llu groups of tips",
				 k->active, (unsigned long long)groups);
	k->sweeps = (uint32_t)(groups / k->active);
	m->blocks = groups * k->rows * k->cylinders;
	if (sp__jreal(o, "total_blocks", 1, 1e18, (double)m->blocks) != (double)m->blocks)
		sp__jfail(o, "total_blocks", "groups, rows and cylinders give %llu",
			  (unsigned long long)m->blocks);
	return o->rc;
}

/* Checks that the medium is in reach of the tips, also where the sled turns after a sweep. */
static int check_reach(struct sp__jobj *o, const struct sp__mems *k, double bit_m, double half_m)
{
	struct sp__sledpoint turn = {
		(sp__sled_length(&k->sled, bit_m * k->rows * k->row_bits) + 1) / 2, k->speed
	};
	double beyond_m;

	if (bit_m * k->cylinders > 2.000001 * half_m)
		return sp__jfail(o, "cylinders", "%u bits do not fit into %g um", k->cylinders,
				 2e6 * half_m);
	if (bit_m * k->rows * k->row_bits > 2.000001 * half_m)
		return sp__jfail(o, "rows", "%u bits do not fit into %g um", k->rows * k->row_bits,
				 2e6 * half_m);
	if (k->speed <= SP__SLED_BALANCE)
		sp__sled_stop(&k->sled, &turn);
	beyond_m = (double)turn.at / (double)SP__SLED_BALANCE * k->sled.balance_m - half_m;
	if (k->speed > SP__SLED_BALANCE || beyond_m > 0)
		return sp__jfail(o, "tip_kbit_s", "too fast for the sled to turn within %g um",
				 2e6 * half_m);
	return 0;
}

static int parse_motion(struct sp__jobj *o, struct sp__model *m, struct sp__mems *k)
{
	double half_m = sp__jreal(o, "travel_um", 1, 10000, SP__JREQUIRED) * 0.5e-6;
	double bit_m = sp__jreal(o, "bit_nm", 1, 1000, SP__JREQUIRED) * 1e-9;
	double tip_kbit_s = sp__jreal(o, "tip_kbit_s", 1, 1e6, SP__JREQUIRED);
	double acceleration = sp__jreal(o, "acceleration_m_s2", 1, 1e6, SP__JREQUIRED);
	double spring = sp__jreal(o, "spring_factor", 0.01, 0.99, SP__JREQUIRED);
	double resonance_hz = sp__jreal(o, "resonance_hz", 1, 1e6, SP__JREQUIRED);
	double constants = sp__jreal(o, "settle_constants", 0, 10, 1);

	m->overhead_ns[0] = m->overhead_ns[1] = sp__jms(o, "overhead_ms", 0);
	if (o->rc)
		return o->rc;
	sp__sled_init(&k->sled, half_m, acceleration, spring);
	k->half_bit_2_20 = sp__sled_length(&k->sled, bit_m * (1 << 19));
	k->speed = sp__sled_speed(&k->sled, tip_kbit_s * 1e3 * bit_m);
	k->pass_ps = (uint64_t)llround(k->row_bits / tip_kbit_s * 1e9);
	k->settle_ns = (uint64_t)llround(constants * 1e9 / (2 * M_PI * resonance_hz));
	return check_reach(o, k, bit_m, half_m);
}

int sp__mems_parse(struct sp__jobj *o, struct sp__model *m)
{
	struct sp__mems *k = calloc(1, sizeof(*k));
	int rc;

	m->ops = &sp__mems_ops;
	m->impl = k;
	if (!k)
		return sp__err(o->err, -ENOMEM, "malloc", o->file, -1);
	rc = parse_layout(o, m, k);
	return rc ? rc : parse_motion(o, m, k);
}

struct row {
	uint64_t start_ns; /* start of the last pass over this row */
	uint32_t spare;	   /* groups that served no block in it */
	/* Times to its low end and to its high end, as of `moves` of the state. */
	uint64_t up_ns, down_ns;
	uint64_t moves;
};

struct state {
	uint32_t cyl;
	struct sp__sledpoint y;
	uint64_t moves;	   /* number of changes of y, plus 1 */
	uint64_t free_ns;  /* the sled can be moved from then on: not before it rests */
	struct row rows[]; /* rows of the cylinder */
};

/* The rows of one sweep that a request needs, in the order of the medium. */
struct span {
	uint64_t blocks;
	uint32_t cyl;
	uint32_t low, high;		  /* rows, both included */
	uint32_t low_blocks, high_blocks; /* blocks of these; rows between have all */
};

/* The part of a service that is computed so far. */
struct progress {
	uint64_t start_ns;
	uint64_t seek_ns;
	uint64_t passes;
};

/* Returns the coordinate of the boundary before item i of n items of so many bits. */
static int64_t edge(const struct sp__mems *k, int64_t i, uint32_t n, uint32_t bits)
{
	int64_t halves = (2 * i - n) * bits;

	return (halves * k->half_bit_2_20 + (1 << 19)) >> 20;
}

/* Returns the middle of a cylinder. */
static struct sp__sledpoint cylinder(const struct sp__mems *k, uint32_t cyl)
{
	return (struct sp__sledpoint){ edge(k, 2 * (int64_t)cyl + 1, 2 * k->cylinders, 1) / 2, 0 };
}

/* Returns the point where a pass over a row begins; of one where it ends, row is the next one. */
static struct sp__sledpoint entry(const struct sp__mems *k, int64_t row, bool down)
{
	return (struct sp__sledpoint){ edge(k, row + down, k->rows, k->row_bits),
				       down ? -k->speed : k->speed };
}

static uint64_t passes_ns(const struct sp__mems *k, uint64_t passes)
{
	return (uint64_t)(((unsigned __int128)passes * k->pass_ps + 500) / 1000);
}

static uint64_t x_ns(const struct sp__mems *k, uint32_t from, uint32_t to)
{
	if (from == to)
		return 0;
	return sp__sled_seek_ns(&k->sled, cylinder(k, from), cylinder(k, to)) + k->settle_ns;
}

struct sp__mems_block sp__mems_locate(const struct sp__mems *k, uint64_t lbn)
{
	uint64_t pass = lbn / k->active, sweep = pass / k->rows;
	uint32_t row = (uint32_t)(pass % k->rows);

	return (struct sp__mems_block){
		.cyl = (uint32_t)(sweep / k->sweeps),
		.row = sweep % 2 ? k->rows - 1 - row : row,
		.group = (uint32_t)(sweep % k->sweeps * k->active + lbn % k->active),
	};
}

uint64_t sp__mems_lbn(const struct sp__mems *k, struct sp__mems_block b)
{
	uint64_t sweep = (uint64_t)b.cyl * k->sweeps + b.group / k->active;
	uint32_t row = sweep % 2 ? k->rows - 1 - b.row : b.row;

	return (sweep * k->rows + row) * k->active + b.group % k->active;
}

/* Returns the first span of the blocks from lbn to end. */
static struct span span_of(const struct sp__mems *k, uint64_t lbn, uint64_t end)
{
	uint64_t in_sweep = (uint64_t)k->rows * k->active;
	uint64_t last_lbn = sp__min(end, (lbn / in_sweep + 1) * in_sweep) - 1;
	struct sp__mems_block first = sp__mems_locate(k, lbn), last = sp__mems_locate(k, last_lbn);
	uint32_t first_blocks = k->active - first.group % k->active;
	uint32_t last_blocks = last.group % k->active + 1;
	bool down = first.row > last.row;

	if (first.row == last.row)
		first_blocks = last_blocks = last.group - first.group + 1;
	return (struct span){
		.blocks = last_lbn + 1 - lbn,
		.cyl = first.cyl,
		.low = down ? last.row : first.row,
		.high = down ? first.row : last.row,
		.low_blocks = down ? last_blocks : first_blocks,
		.high_blocks = down ? first_blocks : last_blocks,
	};
}

static uint32_t blocks_of(const struct sp__mems *k, const struct span *s, uint32_t row)
{
	if (row == s->low)
		return s->low_blocks;
	return row == s->high ? s->high_blocks : k->active;
}

/* Returns a row with its times, computed once per change of y: many requests want one row. */
static const struct row *reach(const struct sp__mems *k, struct state *st, uint32_t row)
{
	struct row *r = &st->rows[row];

	if (r->moves != st->moves) {
		r->up_ns = sp__sled_seek_ns(&k->sled, st->y, entry(k, row, false));
		r->down_ns = sp__sled_seek_ns(&k->sled, st->y, entry(k, row, true));
		r->moves = st->moves;
	}
	return r;
}

/* Returns the time to the nearer end of a span; *down: that is the high end. */
static uint64_t y_ns(const struct sp__mems *k, struct state *st, const struct span *s, bool *down)
{
	uint64_t up_ns = reach(k, st, s->low)->up_ns, down_ns = reach(k, st, s->high)->down_ns;

	*down = down_ns < up_ns;
	return sp__min(down_ns, up_ns);
}

/* Brakes a sled for which there is no request at the end of its service. */
static void rest(const struct sp__mems *k, struct state *st, uint64_t now_ns)
{
	if (now_ns <= st->free_ns || !st->y.speed)
		return;
	st->free_ns += sp__sled_stop(&k->sled, &st->y);
	st->moves++;
}

/* Returns the blocks that the last pass over a row has served, of those wanted in this row. */
static uint32_t served(const struct state *st, uint32_t row, const struct sp__subreq *p,
		       uint32_t wanted)
{
	const struct row *last = &st->rows[row];

	if (!p->pos.blocks || p->since_ns > last->start_ns)
		return 0;
	return (uint32_t)sp__min(last->spare, wanted);
}

static int mems_open(const struct sp__model *m, void **state)
{
	const struct sp__mems *k = m->impl;
	struct state *st = calloc(1, sizeof(*st) + k->rows * sizeof(st->rows[0]));

	if (!st)
		return -ENOMEM;
	st->cyl = k->cylinders / 2;
	st->moves = 1;
	*state = st;
	return 0;
}

static unsigned mems_split(const struct sp__model *m, void *state, uint64_t now_ns, bool write,
			   uint64_t lbn, uint32_t *blocks, struct sp__subreq *subreqs, unsigned max)
{
	const struct sp__mems *k = m->impl;

	(void)state, (void)max;
	subreqs[0] = (struct sp__subreq){
		.lbn = lbn,
		.blocks = *blocks,
		.write = write,
		.since_ns = now_ns,
		.pos = { .blocks = *blocks, .cyl = sp__mems_locate(k, lbn).cyl },
	};
	return 1;
}

/* The time until the first row has passed: its blocks are complete only then. */
static uint64_t mems_position(const struct sp__model *m, void *state, uint64_t now_ns,
			      const struct sp__subreq *p, uint64_t limit_ns)
{
	const struct sp__mems *k = m->impl;
	struct state *st = state;
	struct span s = span_of(k, p->lbn, p->lbn + p->blocks);
	uint64_t ns, before;
	bool down;

	rest(k, st, now_ns);
	if (s.cyl == st->cyl && s.low == s.high &&
	    served(st, s.low, p, s.low_blocks) == s.low_blocks)
		return 0;
	before = sp__max(st->free_ns, now_ns) - now_ns + passes_ns(k, 1);
	ns = x_ns(k, st->cyl, s.cyl);
	if (before + ns > limit_ns)
		return before + ns;
	return before + sp__max(ns, y_ns(k, st, &s, &down));
}

static void mems_bounds(const struct sp__model *m, void *state, uint64_t now_ns,
			const struct sp__bucket *bucket, unsigned n, unsigned shift,
			uint64_t *bound)
{
	const struct sp__mems *k = m->impl;
	const struct state *st = state;

	(void)now_ns, (void)shift;
	for (unsigned i = 0; i < n; i++) {
		const struct sp__bucket *b = &bucket[i];

		bound[i] = 0;
		if (b->unlocated || !(b->reads || b->writes))
			continue;
		if (st->cyl < b->first_cyl)
			bound[i] = x_ns(k, st->cyl, b->first_cyl);
		else if (st->cyl > b->last_cyl)
			bound[i] = x_ns(k, st->cyl, b->last_cyl);
	}
}

static uint64_t now_of(const struct sp__mems *k, const struct progress *r)
{
	return r->start_ns + r->seek_ns + passes_ns(k, r->passes);
}

/* Moves the sled to the start of a pass; that takes no time if it is there already. */
static void move(const struct sp__mems *k, struct state *st, struct progress *r, uint32_t cyl,
		 struct sp__sledpoint to)
{
	uint64_t now_ns = now_of(k, r);
	uint64_t wait_ns = sp__max(st->free_ns, now_ns) - now_ns;

	r->seek_ns +=
		wait_ns + sp__max(x_ns(k, st->cyl, cyl), sp__sled_seek_ns(&k->sled, st->y, to));
	for (uint32_t i = 0; cyl != st->cyl && i < k->rows; i++)
		st->rows[i].spare = 0;
	st->cyl = cyl;
}

/* Serves the blocks of one row, with a pass unless the last one has served all. */
static void serve_row(const struct sp__mems *k, struct state *st, struct progress *r,
		      const struct sp__subreq *p, const struct span *s, uint32_t row, bool down)
{
	struct row *last = &st->rows[row];
	uint32_t wanted = blocks_of(k, s, row);
	uint32_t done = s->cyl == st->cyl ? served(st, row, p, wanted) : 0;

	last->spare -= done;
	if (done == wanted)
		return;
	move(k, st, r, s->cyl, entry(k, row, down));
	last->start_ns = now_of(k, r);
	last->spare = k->active - (wanted - done);
	r->passes++;
	st->y = entry(k, down ? (int64_t)row - 1 : row + 1, down);
	st->moves++;
	st->free_ns = now_of(k, r);
}

static void mems_serve(const struct sp__model *m, void *state, uint64_t start_ns,
		       const struct sp__subreq *p, struct sp__service *out)
{
	const struct sp__mems *k = m->impl;
	struct progress r = { .start_ns = start_ns };
	struct state *st = state;
	uint64_t end = p->lbn + p->blocks;

	rest(k, st, start_ns);
	for (uint64_t lbn = p->lbn; lbn < end;) {
		struct span s = span_of(k, lbn, end);
		bool down;

		y_ns(k, st, &s, &down);
		for (uint32_t i = 0; i <= s.high - s.low; i++)
			serve_row(k, st, &r, p, &s, down ? s.high - i : s.low + i, down);
		lbn += s.blocks;
	}
	*out = (struct sp__service){ .done_ns = now_of(k, &r),
				     .seek_ns = r.seek_ns,
				     .transfer_ns = passes_ns(k, r.passes) };
}

const struct sp__device_ops sp__mems_ops = {
	.kind = "mems",
	.free = free,
	.open = mems_open,
	.close = free,
	.split = mems_split,
	.position = mems_position,
	.bounds = mems_bounds,
	.serve = mems_serve,
};

const struct sp__mems *sp__model_mems(const struct sp__model *m)
{
	return m->ops == &sp__mems_ops ? m->impl : NULL;
}
