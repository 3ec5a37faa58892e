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

void sp__tpch_line(const struct sp__tpch *t, const struct sp__order *o, uint32_t line,
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
	g->emit = t->put ? sp__emit_row : sp__emit_lineitem;
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
