/* SPDX-License-Identifier: MIT */
/*
 * Random cubes, and what they must hold, for tests/unit/test_cube.c.
 */
#ifndef CUBEMODEL_H
#define CUBEMODEL_H

#include <stdlib.h>
#include <string.h>
#include <spindle/cube.h>
#include "below.h"
#include "tap.h"

#define ELEMENTS_MAX 6000
#define FILE_MAX (8 << 20)

static unsigned long seed;

/* The expected elements of the cube, in rows along dimension 0, and its options. */
struct model {
	struct sp_cube_create_opts create;
	const struct sp_cube_shape *shape;
	uint8_t *data;
	uint64_t elements, bytes;
};

static bool failed(const char *what, int rc, const struct sp_errinfo *err)
{
	diag("seed %lu: %s: %d %s %s", seed, what, rc, err ? err->op : "", err ? err->text : "");
	return false;
}

/* Doubles tiles at random until they fill blocks; false: the file would be too large. */
static bool random_tile(struct sp_cube_shape *s)
{
	uint64_t bytes = s->element_bytes, all = 1;

	for (unsigned i = 0; i < s->ndims; i++)
		s->tile[i] = 1 + (uint32_t)below(3);
	for (unsigned i = 0; i < s->ndims; i++)
		bytes *= s->tile[i];
	while (bytes % 512 || !below(3)) {
		s->tile[below(s->ndims)] *= 2;
		bytes *= 2;
	}
	for (unsigned i = 0; i < s->ndims; i++)
		all *= (s->dims[i] - 1) / s->tile[i] + 1;
	return bytes <= FILE_MAX && all * bytes <= FILE_MAX;
}

static void random_shape(struct sp_cube_shape *s)
{
	static const uint32_t opaque[] = { 1, 2, 3, 7, 8, 16, 31, 512, 1000 };
	uint64_t left = ELEMENTS_MAX;

	*s = (struct sp_cube_shape){ .ndims = 1 + (unsigned)below(6) };
	s->type = (enum sp_cube_type)below(SP_CUBE_F64 + 1);
	s->element_bytes =
		s->type == SP_CUBE_BYTES ? opaque[below(9)] : sp_cube_type_bytes(s->type);
	for (unsigned i = 0; i < s->ndims; i++) {
		uint64_t max = left < 20 ? left : 20;

		s->dims[i] = 1 + below(below(4) ? max : 4 < max ? 4 : max);
		left /= s->dims[i];
	}
	if (!below(2) || !random_tile(s))
		memset(s->tile, 0, sizeof(s->tile));
}

static struct model random_model(void)
{
	static const char *const volumes[] = { NULL, "sim:atlas10k3-like", "sim:tiny" };
	static uint8_t fill[1024];
	static struct sp_cube_shape shape;
	struct model m = { .create = SP_CUBE_CREATE_OPTS_INIT, .elements = 1 };

	random_shape(&shape);
	for (size_t i = 0; i < sizeof(fill); i++)
		fill[i] = (uint8_t)below(256);
	m.create.shape = shape;
	m.shape = &shape;
	m.create.fill = below(2) ? fill : NULL;
	m.create.mapping = (enum sp_cube_mapping)below(SP_CUBE_GRAY + 1);
	m.create.run.volume = volumes[below(3)];
	m.create.run.overwrite = true;
	m.create.ordered = below(2);
	shuffle(m.create.order, shape.ndims);
	for (unsigned i = 0; i < shape.ndims; i++)
		m.elements *= shape.dims[i];
	m.bytes = m.elements * shape.element_bytes;
	m.data = malloc(m.bytes);
	for (uint64_t i = 0; i < m.bytes; i++)
		m.data[i] = (uint8_t)sp__rng_next(&rng);
	return m;
}

#endif
