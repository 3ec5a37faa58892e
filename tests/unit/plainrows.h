/* SPDX-License-Identifier: MIT */
/*
 * Random records in memory with a plain copy of each value, for tests of predicates and
 * aggregates.  Numbers are copied as integers in units of 1/80000, so all of them are exact.
 */
#ifndef PLAINROWS_H
#define PLAINROWS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/decimal.h"
#include "base/hash.h"
#include "base/rng.h"
#include "columns/schema.h"
#include "columns/vector.h"
#include "tap.h"

#define UNITS 80000
#define INFINITE ((sp__int128)1 << 110)
#define NOT_A_NUMBER ((sp__int128)1 << 111)
#define RECORDS 2500
#define TEXT_MAX 12

static const char *const case_types[] = {
	"i8",	   "i16",      "i32",  "i64",	"u8",	   "u16",     "u32",
	"u64",	   "f32",      "f64",  "date",	"time(3)", "dec8(1)", "dec64(4)",
	"char(3)", "char(11)", "text", "dict8", "dict16",  "dec32(2)"
};
#define COLUMNS (sizeof(case_types) / sizeof(*case_types))

/* The plain copy of a value. */
struct plain {
	bool null;
	sp__int128 number; /* in units; dates and times: microseconds */
	char text[TEXT_MAX];
};

static struct sp__rng rng;
static struct sp__schema schema;
static struct plain plain[COLUMNS][RECORDS];
static uint8_t memory[COLUMNS][RECORDS * 16];
static char texts[COLUMNS][RECORDS * TEXT_MAX];
static struct sp__vector vectors[COLUMNS];

static uint64_t below(uint64_t n)
{
	return sp__rng_below(&rng, n);
}

static void make_schema(void)
{
	struct sp__value_type t;
	char name[16];

	schema = (struct sp__schema){ 0 };
	for (size_t i = 0; i < COLUMNS; i++) {
		snprintf(name, sizeof(name), "c%zu", i);
		if (sp__value_type_parse(&t, case_types[i], strlen(case_types[i])) ||
		    sp__schema_add(&schema, name, strlen(name), &t))
			abort();
	}
}

static bool is_text(const struct sp__value_type *t)
{
	return strchr("ctw", t->kind) != NULL;
}

/* A few letters, so that texts begin with each other and are often equal. */
static void random_text(char *text, size_t max)
{
	size_t n = below(max + 1);

	for (size_t i = 0; i < n; i++)
		text[i] = (char)("ab\x80"[below(3)]);
	text[n] = 0;
}

static void set_float(const struct sp__value_type *t, struct plain *p, uint8_t *to)
{
	double x = (double)((int)below(200) - 100) / 8;
	float narrow;

	p->number = (sp__int128)(x * UNITS);
	if (!below(20)) {
		x = below(2) ? INFINITY : -INFINITY;
		p->number = x > 0 ? INFINITE : -INFINITE;
	} else if (!below(20)) {
		x = below(2) ? (double)NAN : -(double)NAN;
		p->number = NOT_A_NUMBER;
	} else if (!below(20)) { /* an integer of 64 bits next to it is not a float */
		x = 0x1p53;
		p->number = ((sp__int128)1 << 53) * UNITS;
	} else if (x == 0 && below(2)) {
		x = -0.0;
	}
	narrow = (float)x;
	memcpy(to, t->bytes == 8 ? (void *)&x : (void *)&narrow, t->bytes);
}

static void set_integer(const struct sp__value_type *t, struct plain *p, uint8_t *to)
{
	static const unsigned power[] = { 1, 10, 100, 1000, 10000 };
	const bool is_unsigned = t->kind == 'u';
	const uint64_t all = UINT64_MAX >> (64 - 8 * t->bytes);
	int64_t v = (int64_t)below(100) - (is_unsigned ? 0 : 50);

	if (!below(10)) /* an end of the type */
		v = (int64_t)(is_unsigned ? all - 1 : all / 2);
	else if (!below(20) && t->bytes == 8)
		v = (INT64_C(1) << 53) + (int64_t)below(3) - 1;
	else if (!below(10))
		v = is_unsigned ? 0 : -(int64_t)(all / 2);
	if (t->kind == 'D' || t->kind == 'T') {
		v = (int64_t)below(60) - 30;
		p->number = t->kind == 'D' ? (sp__int128)v * 86400000000 : v * 43200000000;
		v = t->kind == 'D' ? v : v * 43200000000;
	} else {
		p->number =
			(is_unsigned ? (sp__int128)(uint64_t)v : v) * UNITS / power[t->decimals];
	}
	memcpy(to, &v, t->bytes);
}

static void set_text(uint32_t column, struct plain *p, uint8_t *to)
{
	struct sp__column *c = &schema.columns[column];
	uint32_t code;

	random_text(p->text, c->type.kind == 'c' ? c->type.bytes : c->type.kind == 'w' ? 4 : 10);
	if (c->type.kind == 'c') {
		memset(to, 0, c->type.bytes);
		memcpy(to, p->text, strlen(p->text));
	} else if (c->type.kind == 'w') {
		if (sp__dictionary_add(&c->words, p->text, strlen(p->text), 255, &code))
			abort();
		memcpy(to, &code, c->type.bytes);
	}
}

/* Fills all columns, with `nulls` of 100 values NULL. */
static void make_records(unsigned nulls)
{
	for (uint32_t c = 0; c < COLUMNS; c++) {
		const struct sp__value_type *t = &schema.columns[c].type;
		uint32_t end = 5;

		vectors[c] = (struct sp__vector){ memory[c], t->bytes + (below(2) ? 3 : 0),
						  texts[c], end };
		for (uint32_t i = 0; i < RECORDS; i++) {
			uint8_t *to = memory[c] + (size_t)i * vectors[c].stride;
			struct plain *p = &plain[c][i];

			p->null = below(100) < nulls;
			if (is_text(t))
				set_text(c, p, to);
			else if (t->kind == 'f')
				set_float(t, p, to);
			else
				set_integer(t, p, to);
			if (p->null && t->kind != 't')
				sp__value_set_null(t, to);
			if (t->kind == 't') {
				strcpy(texts[c] + end, p->null ? "\xFF" : p->text);
				end += (uint32_t)strlen(texts[c] + end);
				memcpy(to, &end, sizeof(end));
			}
		}
	}
}

#endif
