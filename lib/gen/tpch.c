/* SPDX-License-Identifier: MIT */
/*
 * Generates tables of the shape of TPC-H: columns, key relations and value ranges of its public
 * specification (clause 4.2), from other random numbers.
 *
 * Every row is a pure function of (seed, table, row number), and an order with its lines of (seed,
 * order number).  So orders and lineitem agree on dates, status and total price without
 * communication, and a shuffled table only needs a permutation of row numbers.  Lines of orders are
 * permuted as slots, seven per order; slots past an order's last line are skipped.
 *
 * Scales below 1 keep all relations.  There, the specification's formula for the suppliers of a
 * part can name one supplier twice; the step between suppliers is then the next one that does not
 * (never needed from scale 0.024 on).
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/put.h"
#include "gen/tpch.h"
#include "gen/vocabulary.h"

static bool next_slot(struct sp_gen *g, struct sp__tpch *t, uint64_t *index)
{
	if (t->slot == t->slots)
		return false;
	*index = t->slot++;
	if (g->opts.shuffle)
		*index = sp__perm_at(&t->perm, *index);
	return true;
}

static inline char *bar(char *p)
{
	*p = '|';
	return p + 1;
}

static inline char *end(char *p)
{
	memcpy(p, "|\n", 2);
	return p + 2;
}

static inline char *put_key(char *p, uint64_t v)
{
	return bar(sp__put_u64(p, v));
}

static inline char *put_cents(char *p, uint64_t cents)
{
	p = sp__put_u64(p, cents / 100);
	*p++ = '.';
	return bar(sp__put_digits(p, (uint32_t)(cents % 100), 2));
}

static inline char *put_percent(char *p, uint32_t v)
{
	memcpy(p, "0.", 2);
	p[2] = (char)('0' + v / 10);
	p[3] = (char)('0' + v % 10);
	return bar(p + 4);
}

static inline char *put_day(char *p, const struct sp__tpch *t, uint32_t day)
{
	memcpy(p, t->day[day], 16);
	return p + 11;
}

static inline char *put_word(char *p, const struct sp__word *w)
{
	return bar(sp__put_name(p, w));
}

/* Writes "Supplier#000000001": at least nine digits. */
static inline char *put_numbered(char *p, const char *what, size_t bytes, uint64_t n)
{
	memcpy(p, what, bytes);
	p += bytes;
	if (n < 1000000000) {
		p = sp__put_digits(p, (uint32_t)(n / 100000000), 1);
		return bar(sp__put_fixed8(p, (uint32_t)(n % 100000000)));
	}
	return put_key(p, n);
}

#define put_named(p, what, n) put_numbered(p, what, sizeof(what) - 1, n)

static char *put_address(char *p, struct sp__rng *r)
{
	static const char set[] = "0123456789abcdefghijklmnopqrstuvwxyz "
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ,";
	uint32_t bytes = 10 + (uint32_t)sp__rng_below(r, 31);

	for (uint32_t i = 0; i < bytes; i += 10) {
		uint64_t u = sp__rng_next(r);

		for (uint32_t k = 0; k < 10; k++, u >>= 6)
			p[i + k] = set[u & 63];
	}
	return bar(p + bytes);
}

static char *put_phone(char *p, uint32_t nation, uint64_t *u)
{
	p = sp__put_digits(p, nation + 10, 2);
	*p++ = '-';
	p = sp__put_digits(p, 100 + sp__take(u, 900), 3);
	*p++ = '-';
	p = sp__put_digits(p, 100 + sp__take(u, 900), 3);
	*p++ = '-';
	return bar(sp__put_digits(p, 1000 + sp__take(u, 9000), 4));
}

/* Writes address, nation and telephone. */
static char *put_party(char *p, struct sp__rng *r)
{
	uint64_t u = sp__rng_next(r);
	uint32_t nation = sp__take(&u, 25);

	p = put_key(put_address(p, r), nation);
	return put_phone(p, nation, &u);
}

/* Writes a balance, -999.99 .. 9999.99. */
static char *put_balance(char *p, uint64_t *u)
{
	int64_t cents = (int64_t)sp__take(u, 1099999) - 99999;

	if (cents < 0) {
		*p++ = '-';
		cents = -cents;
	}
	return put_cents(p, (uint64_t)cents);
}

static void tpch_line(const struct sp__tpch *t, const struct sp__order *o, uint32_t line,
		      struct sp__lineitem *l)
{
	struct sp__rng r = { sp__mix64(o->seed + (line + 2) * 0xD1342543DE82EF95u) };
	uint64_t u;

	l->partkey = 1 + sp__rng_below(&r, t->parts);
	u = sp__rng_next(&r);
	l->suppkey = sp__tpch_supplier(t, l->partkey, sp__take(&u, SP__PER_PART));
	l->quantity = 1 + sp__take(&u, 50);
	l->discount = sp__take(&u, 11);
	l->tax = sp__take(&u, 9);
	l->ship = o->day + 1 + sp__take(&u, 121);
	l->commit = o->day + 30 + sp__take(&u, 61);
	l->receipt = l->ship + 1 + sp__take(&u, 30);
	l->price = l->quantity * sp__tpch_retail_price(l->partkey);
	l->rest = u;
	l->text = sp__rng_next(&r);
}

static char *put_line(const struct sp__tpch *t, char *p, const struct sp__order *o, uint32_t line)
{
	struct sp__lineitem l;

	tpch_line(t, o, line, &l);
	p = put_key(p, sp__tpch_orderkey(o->index));
	p = put_key(p, l.partkey);
	p = put_key(p, l.suppkey);
	*p++ = (char)('1' + line);
	p = put_key(bar(p), l.quantity);
	p = put_cents(p, l.price);
	p = put_percent(p, l.discount);
	p = put_percent(p, l.tax);
	*p++ = l.receipt > SP__TODAY ? 'N' : "RA"[sp__take(&l.rest, 2)];
	p = bar(p);
	*p++ = l.ship > SP__TODAY ? 'O' : 'F';
	p = put_day(bar(p), t, l.ship);
	p = put_day(p, t, l.commit);
	p = put_day(p, t, l.receipt);
	p = put_word(p, &sp__word_instruct[sp__take(&l.rest, 4)]);
	p = put_word(p, &sp__word_mode[sp__take(&l.rest, 7)]);
	return end(sp__put_text(t, p, &l.text, 10, 43));
}

/* Advances to the next slot that has a line. */
static bool shuffled_line(struct sp_gen *g, struct sp__tpch *t)
{
	uint64_t slot;

	while (next_slot(g, t, &slot)) {
		t->line = (uint32_t)(slot % SP__LINES_MAX);
		sp__tpch_order(t, slot / SP__LINES_MAX, &t->order);
		if (t->line < t->order.lines)
			return true;
	}
	return false;
}

static char *emit_lineitem(struct sp_gen *g, char *p)
{
	struct sp__tpch *t = g->state;
	uint64_t index;

	if (g->opts.shuffle)
		return shuffled_line(g, t) ? put_line(t, p, &t->order, t->line) : NULL;
	if (t->line == t->order.lines) {
		if (!next_slot(g, t, &index))
			return NULL;
		sp__tpch_order(t, index, &t->order);
		t->line = 0;
	}
	return put_line(t, p, &t->order, t->line++);
}

static char *emit_row(struct sp_gen *g, char *p)
{
	struct sp__tpch *t = g->state;
	uint64_t index;

	if (!next_slot(g, t, &index))
		return NULL;
	t->row = sp__gen_stream(t->seed, index);
	return t->put(t, p, index, &t->row);
}

/* Returns the total price in cents; *status: F, O or P. */
static uint64_t sum_up(const struct sp__tpch *t, const struct sp__order *o, char *status)
{
	uint64_t total = 0;
	uint32_t open = 0;

	for (uint32_t i = 0; i < o->lines; i++) {
		struct sp__lineitem l;

		tpch_line(t, o, i, &l);
		total += l.price * (100 - l.discount) / 100 * (100 + l.tax) / 100;
		open += l.ship > SP__TODAY;
	}
	*status = open == 0 ? 'F' : open == o->lines ? 'O' : 'P';
	return total;
}

char *sp__put_orders(const struct sp__tpch *t, char *p, uint64_t index, struct sp__rng *r)
{
	uint64_t u, total, buyer;
	struct sp__order o;

	sp__tpch_order(t, index, &o);
	r->state = o.seed + 2 * SP__GOLDEN;
	/* Customers whose number is a multiple of three never order. */
	buyer = sp__rng_below(r, t->customers - t->customers / 3);
	u = sp__rng_next(r);
	p = put_key(p, sp__tpch_orderkey(index));
	p = put_key(p, buyer + buyer / 2 + 1);
	total = sum_up(t, &o, p);
	p = put_cents(bar(p + 1), total);
	p = put_day(p, t, o.day);
	p = put_word(p, &sp__word_priority[sp__take(&u, 5)]);
	p = put_named(p, "Clerk#", 1 + sp__rng_below(r, t->clerks));
	memcpy(p, "0|", 2);
	return end(sp__put_text(t, p + 2, &u, 19, 78));
}

char *sp__put_partsupp(const struct sp__tpch *t, char *p, uint64_t index, struct sp__rng *r)
{
	uint64_t u = sp__rng_next(r), partkey = index / SP__PER_PART + 1;

	p = put_key(p, partkey);
	p = put_key(p, sp__tpch_supplier(t, partkey, index % SP__PER_PART));
	p = put_key(p, 1 + sp__take(&u, 9999));
	p = put_cents(p, 100 + sp__take(&u, 99901));
	return end(sp__put_text(t, p, &u, 49, 198));
}

/* Five of ten thousand suppliers have complaints, five have recommendations. */
static void put_remark(const struct sp__tpch *t, char *text, size_t bytes, uint64_t index,
		       struct sp__rng *r)
{
	uint64_t each = t->suppliers * 5 / 10000, rank = sp__perm_at(&t->remarks, index);
	size_t spare = bytes - 18, at = sp__rng_below(r, spare + 1);

	if (rank >= 2 * each)
		return;
	memcpy(text + at, "Customer", 8);
	at += 8 + sp__rng_below(r, spare - at + 1);
	memcpy(text + at, rank < each ? "Complaints" : "Recommends", 10);
}

char *sp__put_supplier(const struct sp__tpch *t, char *p, uint64_t index, struct sp__rng *r)
{
	uint64_t u;
	char *text;

	p = put_party(put_named(put_key(p, index + 1), "Supplier#", index + 1), r);
	u = sp__rng_next(r);
	text = put_balance(p, &u);
	p = sp__put_text(t, text, &u, 25, 100);
	put_remark(t, text, (size_t)(p - text), index, r);
	return end(p);
}

char *sp__put_customer(const struct sp__tpch *t, char *p, uint64_t index, struct sp__rng *r)
{
	uint64_t u;

	p = put_party(put_named(put_key(p, index + 1), "Customer#", index + 1), r);
	u = sp__rng_next(r);
	p = put_balance(p, &u);
	p = put_word(p, &sp__word_segment[sp__take(&u, 5)]);
	return end(sp__put_text(t, p, &u, 29, 116));
}

/* Writes five different colours. */
static char *put_colors(char *p, struct sp__rng *r)
{
	uint8_t drawn[5];

	for (int i = 0; i < 5; i++) {
		bool again;

		do {
			drawn[i] = (uint8_t)sp__rng_below(r, SP__COLORS);
			again = false;
			for (int k = 0; k < i; k++)
				again |= drawn[k] == drawn[i];
		} while (again);
		p = sp__put_name(p, &sp__word_color[drawn[i]]);
		*p++ = i < 4 ? ' ' : '|';
	}
	return p;
}

char *sp__put_part(const struct sp__tpch *t, char *p, uint64_t index, struct sp__rng *r)
{
	uint64_t u;
	uint32_t maker;

	p = put_colors(put_key(p, index + 1), r);
	u = sp__rng_next(r);
	maker = 1 + sp__take(&u, 5);
	memcpy(p, "Manufacturer#", 13);
	p = put_key(p + 13, maker);
	memcpy(p, "Brand#", 6);
	p = put_key(p + 6, maker * 10 + 1 + sp__take(&u, 5));
	p = sp__put_name(p, &sp__word_type1[sp__take(&u, 6)]);
	p = sp__put_name(p, &sp__word_type2[sp__take(&u, 5)]);
	p = put_word(p, &sp__word_type3[sp__take(&u, 5)]);
	p = put_key(p, 1 + sp__take(&u, 50));
	p = sp__put_name(p, &sp__word_box1[sp__take(&u, 5)]);
	p = put_word(p, &sp__word_box2[sp__take(&u, 8)]);
	p = put_cents(p, sp__tpch_retail_price(index + 1));
	return end(sp__put_text(t, p, &u, 5, 22));
}

static bool distinct(uint64_t step, uint64_t suppliers)
{
	for (uint64_t i = 1; i < SP__PER_PART; i++)
		if (i * step % suppliers == 0)
			return false;
	return true;
}

void sp__tpch_sizes(struct sp__tpch *t, double scale)
{
	t->suppliers = sp__gen_scaled(10000, scale, SP__PER_PART);
	t->parts = sp__gen_scaled(200000, scale, 1);
	t->customers = sp__gen_scaled(150000, scale, 1);
	t->orders = t->customers * 10;
	t->clerks = sp__gen_scaled(1000, scale, 1);
	for (uint64_t turn = 0; turn < SP__STEPS; turn++) {
		t->step[turn] = t->suppliers / 4 + turn;
		while (!distinct(t->step[turn], t->suppliers))
			t->step[turn]++;
	}
}

static void put_date(char *p, uint32_t year, uint32_t month, uint32_t day)
{
	p = sp__put_digits(p, year, 4);
	*p++ = '-';
	p = sp__put_digits(p, month, 2);
	*p++ = '-';
	p = sp__put_digits(p, day, 2);
	*p = '|';
}

static void fill_calendar(struct sp__tpch *t)
{
	static const uint32_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	uint32_t year = 1992, month = 1, day = 1;

	for (uint32_t n = 0; n < SP__DAYS; n++) {
		put_date(t->day[n], year, month, day);
		if (day++ < days[month - 1] + (month == 2 && year % 4 == 0))
			continue;
		day = 1;
		year += month == 12;
		month = month % 12 + 1;
	}
}

void sp__tpch_order(const struct sp__tpch *t, uint64_t index, struct sp__order *o)
{
	uint64_t u;

	o->index = index;
	o->seed = sp__gen_stream(t->seed, index).state;
	u = sp__mix64(o->seed + SP__GOLDEN);
	o->lines = 1 + sp__take(&u, SP__LINES_MAX);
	o->day = sp__take(&u, SP__ORDER_DAYS);
}

static void set_table(struct sp_gen *g, struct sp__tpch *t)
{
	const struct {
		sp__tpch_put *put;
		uint64_t slots;
	} tables[] = {
		[SP_GEN_LINEITEM] = { NULL, t->orders * (g->opts.shuffle ? SP__LINES_MAX : 1) },
		[SP_GEN_ORDERS] = { sp__put_orders, t->orders },
		[SP_GEN_PARTSUPP] = { sp__put_partsupp, t->parts * SP__PER_PART },
		[SP_GEN_SUPPLIER] = { sp__put_supplier, t->suppliers },
		[SP_GEN_CUSTOMER] = { sp__put_customer, t->customers },
		[SP_GEN_PART] = { sp__put_part, t->parts },
	};

	t->put = tables[g->opts.kind].put;
	t->slots = tables[g->opts.kind].slots;
	g->emit = t->put ? emit_row : emit_lineitem;
}

int sp__gen_table(struct sp_gen *g, struct sp_errinfo *err)
{
	struct sp__tpch *t = calloc(1, sizeof(*t));
	uint64_t name = g->opts.kind == SP_GEN_LINEITEM ? SP_GEN_ORDERS : g->opts.kind;

	if (!t)
		return sp__err(err, -ENOMEM, "generate", "", -1);
	g->state = t;
	g->max_bytes = 512;
	t->seed = sp__gen_seed(g->opts.seed, name);
	sp__tpch_sizes(t, g->opts.scale);
	fill_calendar(t);
	sp__text_pool(t->pool, sizeof(t->pool));
	set_table(g, t);
	sp__perm_init(&t->perm, t->slots, t->seed ^ SP__GOLDEN);
	sp__perm_init(&t->remarks, t->suppliers, t->seed + SP__GOLDEN);
	return 0;
}
