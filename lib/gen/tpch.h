/* SPDX-License-Identifier: MIT */
/*
 * Declares the common state of the tables: sizes, key relations, calendar, text.
 */
#pragma once

#include <string.h>
#include "base/rng.h"
#include "gen/gen.h"

#define SP__LINES_MAX 7	    /* per order */
#define SP__DAYS 2557	    /* 1992-01-01 .. 1998-12-31 */
#define SP__ORDER_DAYS 2406 /* the last 151 days have no orders, only deliveries */
#define SP__TODAY 1263	    /* 1995-06-17 */
#define SP__POOL_BYTES ((uint64_t)1 << 20)
#define SP__TEXT_MAX 200
#define SP__PER_PART 4 /* suppliers of a part */
#define SP__STEPS 32

struct sp__tpch;

/* Writes row number index; r is the stream of the row. */
typedef char *sp__tpch_put(const struct sp__tpch *t, char *p, uint64_t index, struct sp__rng *r);

struct sp__tpch {
	uint64_t suppliers, parts, customers, orders, clerks;
	uint64_t seed; /* seed of the table; orders and lineitem share one */
	/* Distance of the four suppliers of a part, by (partkey - 1) / suppliers. */
	uint64_t step[SP__STEPS];
	sp__tpch_put *put;	 /* writes a row of any table except LINEITEM */
	struct sp__perm perm;	 /* order of slots, if they are shuffled */
	struct sp__perm remarks; /* SUPPLIER: the suppliers with remarks about customers */
	uint64_t slot, slots;	 /* next slot and number of slots */
	struct sp__rng row;	 /* draws the row being written; not orders and lineitem */
	uint32_t line;		 /* LINEITEM in key order: next line of this order */
	struct sp__order {
		uint64_t index, seed;
		uint32_t lines, day;
	} order;
	char day[SP__DAYS + 1][16]; /* "1992-01-01|" */
	char pool[SP__POOL_BYTES + SP__TEXT_MAX + 64];
};

struct sp__lineitem {
	uint64_t partkey, suppkey;
	uint32_t quantity, discount, tax; /* percent */
	uint32_t ship, commit, receipt;	  /* days */
	uint64_t price;			  /* cents, of the whole quantity */
	uint64_t rest;			  /* remaining randomness */
	uint64_t text;
};

void sp__tpch_sizes(struct sp__tpch *t, double scale);

static inline uint64_t sp__tpch_supplier(const struct sp__tpch *t, uint64_t partkey, uint64_t i)
{
	uint64_t turn = (partkey - 1) / t->suppliers;

	return (partkey + i * t->step[turn < SP__STEPS ? turn : SP__STEPS - 1]) % t->suppliers + 1;
}

static inline uint64_t sp__tpch_retail_price(uint64_t partkey)
{
	return 90000 + partkey / 10 % 20001 + 100 * (partkey % 1000);
}

/*
 * Returns the key of an order from its number, which counts from 0; 8 of every 32 keys are used,
 * from 1.
 */
static inline uint64_t sp__tpch_orderkey(uint64_t index)
{
	return (index + 1) / 8 * 32 + (index + 1) % 8;
}

void sp__tpch_order(const struct sp__tpch *t, uint64_t index, struct sp__order *o);

/* Writes min .. max bytes of text, drawn from *u. */
static inline char *sp__put_text(const struct sp__tpch *t, char *p, uint64_t *u, uint32_t min,
				 uint32_t max)
{
	uint32_t bytes = min + sp__take(u, max - min + 1);
	const char *from = t->pool + sp__take(u, SP__POOL_BYTES);

	memcpy(p, from, 64);
	if (bytes > 64)
		memcpy(p + 64, from + 64, SP__TEXT_MAX - 64);
	return p + bytes;
}

/* The other tables: writes the next row by t->put, one of the following functions. */
sp__tpch_put sp__put_orders, sp__put_partsupp, sp__put_supplier, sp__put_customer, sp__put_part;
