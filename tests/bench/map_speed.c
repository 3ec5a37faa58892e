/* SPDX-License-Identifier: MIT */
/*
 * How many cells a second of the processor maps.
 *
 *	map_speed [CELLS [PART]]
 *
 * One line for each part and setting, with tabs between: the part, the mapping, the sizes in
 * cells, cells mapped per second of the processor's time, and a hash of their blocks.  Parts:
 *
 *	closed	MultiMap (on atlas10k3-like) and naive, cells at random: sp__mapping_block()
 *	binary	curves with sizes that are powers of two, likewise
 *	curve	curves with other sizes: all cells of boxes, as queries walk them
 *	back	from blocks to cells: sp__mapping_cell()
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <spindle/geometry.h>
#include "base/rng.h"
#include "mappingwalk.h"
#include "place/mapping.h"

#define PLACES 4096 /* made beforehand */

struct setting {
	const char *part;
	enum sp_cube_mapping kind;
	unsigned n;
	uint64_t size[4];
};

static const struct setting settings[] = {
	{ "closed", SP_CUBE_MULTIMAP, 3, { 259, 150, 100 } },
	{ "closed", SP_CUBE_MULTIMAP, 4, { 200, 50, 40, 30 } },
	{ "closed", SP_CUBE_NAIVE, 3, { 259, 150, 100 } },
	{ "closed", SP_CUBE_NAIVE, 4, { 200, 50, 40, 30 } },
	{ "binary", SP_CUBE_ZORDER, 3, { 256, 256, 256 } },
	{ "binary", SP_CUBE_GRAY, 3, { 256, 256, 256 } },
	{ "binary", SP_CUBE_HILBERT, 3, { 256, 256, 256 } },
	{ "binary", SP_CUBE_HILBERT, 3, { 1024, 64, 256 } },
	{ "curve", SP_CUBE_ZORDER, 3, { 259, 259, 259 } },
	{ "curve", SP_CUBE_GRAY, 3, { 259, 259, 259 } },
	{ "curve", SP_CUBE_HILBERT, 3, { 259, 259, 259 } },
	{ "curve", SP_CUBE_HILBERT, 4, { 100, 50, 40, 30 } },
	{ "back", SP_CUBE_MULTIMAP, 3, { 259, 150, 100 } },
	{ "back", SP_CUBE_NAIVE, 3, { 259, 150, 100 } },
	{ "back", SP_CUBE_HILBERT, 3, { 256, 256, 256 } },
};

static double processor_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "map_speed: %s\n", what);
	exit(1);
}

static void init(struct sp__mapping *m, const struct setting *s)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_geometry *g;

	*m = (struct sp__mapping){ .kind = s->kind, .cell_blocks = 8, .first_block = 64 };
	for (unsigned i = 0; i < SP_CUBE_DIMS_MAX; i++)
		m->order[i] = i;
	if (sp_geometry_model(&g, "atlas10k3-like", &err))
		fail(err.text);
	if (s->kind == SP_CUBE_MULTIMAP &&
	    sp__multimap_zones(&m->multimap, g, 64, SP__AIM_PLATEAU, 30))
		fail("no zones");
	sp_geometry_free(g);
	if (sp__mapping_init(m, s->n, s->size))
		fail("the mapping cannot be made");
}

struct count {
	uint64_t cells, hash;
};

static int count(void *arg, uint64_t first, uint64_t cells)
{
	struct count *c = arg;

	c->cells += cells;
	c->hash = sp__mix64(c->hash ^ first ^ cells << 40);
	return 0;
}

static void random_place(struct sp__rng *rng, const struct setting *s, uint64_t *x)
{
	for (unsigned i = 0; i < s->n; i++)
		x[i] = sp__rng_below(rng, s->size[i]);
}

/* Rows, whose cells a query gets from the walk. */
static void walk(const struct sp__mapping *m, const struct setting *s, uint64_t cells,
		 struct count *c)
{
	struct sp__rng rng = { 1 };

	while (c->cells < cells) {
		struct sp_cube_box box = { 0 };

		random_place(&rng, s, box.lo);
		for (unsigned i = 0; i < s->n; i++) {
			box.hi[i] = box.lo[i];
			box.stride[i] = 1;
		}
		box.lo[0] = 0;
		box.hi[0] = s->size[0] - 1;
		if (mapping_walk(m, &box, count, c))
			fail("a walk ends");
	}
}

static void map(const struct sp__mapping *m, const struct setting *s, uint64_t cells,
		struct count *c)
{
	static uint64_t places[PLACES][4], blocks[PLACES];
	bool back = !strcmp(s->part, "back");
	struct sp__rng rng = { 1 };

	for (unsigned i = 0; i < PLACES; i++) {
		random_place(&rng, s, places[i]);
		blocks[i] = sp__mapping_block(m, places[i]);
	}
	for (; c->cells < cells; c->cells++) {
		uint64_t x[SP_CUBE_DIMS_MAX];

		if (back) {
			if (!sp__mapping_cell(m, blocks[c->cells % PLACES], x))
				fail("a block has no cell");
			c->hash += x[0] ^ x[s->n - 1] << 20;
		} else {
			c->hash += sp__mapping_block(m, places[c->cells % PLACES]);
		}
	}
}

static void measure(const struct setting *s, uint64_t cells)
{
	struct count c = { 0 };
	struct sp__mapping m;
	double begin;

	init(&m, s);
	begin = processor_s();
	if (!strcmp(s->part, "curve"))
		walk(&m, s, cells, &c);
	else
		map(&m, s, cells, &c);
	printf("%s\t%s\t%" PRIu64, s->part, sp_cube_mapping_name(s->kind), s->size[0]);
	for (unsigned i = 1; i < s->n; i++)
		printf("x%" PRIu64, s->size[i]);
	printf("\t%.0f\t%016" PRIx64 "\n", (double)c.cells / (processor_s() - begin),
	       sp__mix64(c.hash));
	fflush(stdout);
	sp__multimap_free(&m.multimap);
}

int main(int argc, char **argv)
{
	uint64_t cells = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000000;

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (argc < 3 || !strcmp(argv[2], settings[i].part))
			measure(&settings[i], cells);
	return 0;
}
