/* SPDX-License-Identifier: MIT */
/*
 * Writes the rows of each table as text, every column followed by '|'.
 */
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

static char *put_line(const struct sp__tpch *t, char *p, const struct sp__order *o, uint32_t line)
{
	struct sp__lineitem l;

	sp__tpch_line(t, o, line, &l);
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

char *sp__emit_lineitem(struct sp_gen *g, char *p)
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

char *sp__emit_row(struct sp_gen *g, char *p)
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

		sp__tpch_line(t, o, i, &l);
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
