/* SPDX-License-Identifier: MIT */
/*
 * Options and whole output of a generator, for its tests.
 */
#pragma once

#include <stdlib.h>
#include <spindle/gen.h>

struct data {
	char *bytes;
	size_t n;
	uint64_t records;
};

/* Reads a generator to its end, in parts of the minimum size that must suffice. */
static struct data generate(struct sp_gen_opts opts)
{
	struct data d = { 0 };
	struct sp_gen *g = NULL;
	size_t capacity = 0;
	long n = 0;

	if (sp_gen_new(&g, &opts, NULL) < 0)
		abort();
	do {
		d.n += (size_t)n;
		if (capacity - d.n < 65536) {
			capacity = capacity * 2 + 262144;
			d.bytes = realloc(d.bytes, capacity);
			if (!d.bytes)
				abort();
		}
		n = sp_gen_fill(g, d.bytes + d.n, 65536);
	} while (n > 0);
	d.records = sp_gen_count(g);
	sp_gen_free(g);
	return d;
}

static struct sp_gen_opts of(enum sp_gen_kind kind)
{
	struct sp_gen_opts o = SP_GEN_OPTS_INIT;

	o.kind = kind;
	o.scale = 0.01;
	if (kind <= SP_GEN_RUNS || kind == SP_GEN_R || kind == SP_GEN_G1)
		o.records = 10000;
	return o;
}
