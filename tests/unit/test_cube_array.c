/* SPDX-License-Identifier: MIT */
/*
 * Boxes of random cubes, written from memory and read into it, against an array in memory; writes
 * that fail at any request, and are repeated.
 *
 *	SP_CUBE_CASES	random cubes (40)
 *	SP_TEST_SEED	the first of them (1)
 */
#define TAP_THREADS

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/cubearray.h>
#include "cube/state.h"
#include "cubemodel.h"

static char path[80];
static unsigned long interrupted; /* writes of several elements */

static unsigned long setting(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : otherwise;
}

/* Makes a cube; what a volume or a curve cannot hold is made without, in rows. */
static bool create(struct model *m)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc = sp_cube_create(path, &m->create, &err);

	if (rc == -ENOSPC || rc == SP_EUNSUP) {
		m->create.mapping = SP_CUBE_NAIVE;
		m->create.run.volume = NULL;
		rc = sp_cube_create(path, &m->create, &err);
	}
	for (uint64_t i = 0; !rc && i < m->bytes; i++)
		m->data[i] =
			m->create.fill
				? ((const uint8_t *)m->create.fill)[i % m->shape->element_bytes]
				: 0;
	return rc ? failed("create", rc, &err) : true;
}

static struct sp_cube *open_cube(const char *engine)
{
	static const uint64_t memory[] = { 4096, 20000, 100000, 0 };
	struct sp_cube_opts o = { .run = SP_RUN_OPTS_INIT, .write = true, .verify = true };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	uint64_t limit = memory[below(4)];
	struct sp_cube *c;

	o.run.engine = engine;
	if (sp_cube_open(&c, path, &o, &err)) {
		failed("open", err.code, &err);
		return NULL;
	}
	if (limit)
		c->file.env.budget.limit_bytes = limit;
	return c;
}

static struct sp_cube_box random_box(const struct sp_cube_shape *s, bool strides)
{
	struct sp_cube_box b = { 0 };

	for (unsigned i = 0; i < s->ndims; i++) {
		b.lo[i] = below(s->dims[i]);
		b.hi[i] = b.lo[i] + below(s->dims[i] - b.lo[i]);
		b.stride[i] = strides ? 1 + below(3) : 1;
	}
	return b;
}

/* Copies the elements of a box out of the model, or into it.  Returns their bytes. */
static uint64_t copy(const struct model *m, const struct sp_cube_box *b, uint8_t *to, bool in)
{
	const struct sp_cube_shape *s = m->shape;
	uint64_t x[SP_CUBE_DIMS_MAX], bytes = 0;

	memcpy(x, b->lo, sizeof(x));
	for (bool more = true; more; bytes += s->element_bytes) {
		uint64_t at = 0;
		uint8_t *element;

		for (unsigned i = s->ndims; i-- > 0;)
			at = at * s->dims[i] + x[i];
		element = m->data + at * s->element_bytes;
		memcpy(in ? element : to + bytes, in ? to + bytes : element, s->element_bytes);
		more = false;
		for (unsigned i = 0; i < s->ndims && !more; i++) {
			more = x[i] + b->stride[i] <= b->hi[i];
			x[i] = more ? x[i] + b->stride[i] : b->lo[i];
		}
	}
	return bytes;
}

static bool reads_as(struct sp_cube *c, const struct model *m, const struct sp_cube_box *b)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_cube_stats stats;
	uint8_t *got = malloc(m->bytes), *expected = malloc(m->bytes);
	uint64_t bytes = copy(m, b, expected, false);
	int rc = sp_cube_read_array(c, b, got, below(2) ? &stats : NULL, &err);
	bool same = !rc && !memcmp(got, expected, bytes);

	free(got);
	free(expected);
	return same || failed("read", rc, &err);
}

static uint8_t *random_elements(const struct model *m)
{
	uint8_t *data = malloc(m->bytes);

	for (uint64_t i = 0; i < m->bytes; i++)
		data[i] = (uint8_t)sp__rng_next(&rng);
	return data;
}

static bool writes(struct sp_cube *c, struct model *m)
{
	struct sp_cube_box b = random_box(m->shape, false), r = random_box(m->shape, true);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	uint8_t *data = random_elements(m);
	struct sp_cube_info info;
	int rc = sp_cube_write(c, &b, data, NULL, &err);

	copy(m, &b, data, true);
	free(data);
	sp_cube_info(c, &info);
	return rc || info.unfinished ? failed("write", rc, &err)
				     : reads_as(c, m, &b) && reads_as(c, m, &r);
}

/* A write fails at its nth request: reading is refused until it is repeated. */
static bool fails(struct model *m, unsigned nth)
{
	struct sp_cube_box b = random_box(m->shape, false), all = { 0 };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	uint8_t *data = random_elements(m), *got = malloc(m->bytes);
	char engine[80];
	struct sp_cube *c;
	bool good = true, hidden;
	int rc;

	for (unsigned i = 0; i < m->shape->ndims; i++) {
		all.hi[i] = m->shape->dims[i] - 1;
		all.stride[i] = 1;
	}
	snprintf(engine, sizeof(engine), "fault:SCOPE=PROCESS,KIND=WRITE,NTH=%u,ERROR=EIO:sync",
		 nth);
	c = open_cube(engine);
	rc = sp_cube_write(c, &b, data, NULL, NULL);
	hidden = rc && sp__box_cells(&b, m->shape->ndims) > 1;
	interrupted += hidden;
	if (hidden)
		good = sp_cube_read_array(c, &all, got, NULL, NULL) == SP_ESTATE;
	(void)sp_cube_close(c);
	c = open_cube("sync");
	if (hidden)
		good &= sp_cube_read_array(c, &all, got, NULL, NULL) == SP_ESTATE;
	if (rc)
		rc = sp_cube_write(c, &b, data, NULL, &err);
	copy(m, &b, data, true);
	good = !rc && good && reads_as(c, m, &all);
	(void)sp_cube_close(c);
	free(data);
	free(got);
	return good || failed("repeated write", rc, &err);
}

static bool refuses(struct sp_cube *c, const struct model *m)
{
	struct sp_cube_box b = random_box(m->shape, false), far = b, stride = b;

	far.hi[0] = m->shape->dims[0];
	stride.stride[0] = 2;
	return sp_cube_write(c, &far, m->data, NULL, NULL) == -ERANGE &&
	       sp_cube_write(c, &stride, m->data, NULL, NULL) == SP_ESYNTAX;
}

/* A .npy file leaves out dimensions that are marked, but not one of several elements. */
static bool keeps_elements(struct sp_cube *c, const struct model *m)
{
	struct sp_cube_box b = random_box(m->shape, false);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_cube_stats stats;
	char *npy = NULL, *p;
	size_t bytes;
	uint64_t elements = 1, read = 1;
	FILE *out = open_memstream(&npy, &bytes);
	int rc;

	b.indexed = ~UINT32_C(0);
	if (!out)
		return failed("open_memstream", -ENOMEM, &err);
	rc = sp_cube_export(c, &b, SP_CUBE_NPY, out, &stats, &err);
	fclose(out);
	for (unsigned i = 0; i < m->shape->ndims; i++)
		elements *= sp__box_count(&b, i);
	p = rc ? NULL : memchr(npy, '(', bytes);
	for (char *end; p && p[1] != ')'; p = end)
		read *= strtoull(p + 1, &end, 10);
	free(npy);
	return rc ? failed("export", rc, &err) : read == elements;
}

int main(void)
{
	unsigned long cases = setting("SP_CUBE_CASES", 40), first = setting("SP_TEST_SEED", 1);
	unsigned long written = 0, repeated = 0, refused = 0, checked = 0, kept = 0;
	char dir[64];

	snprintf(dir, sizeof(dir), "%s/test_cube_array.XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/cube", dir);
	for (seed = first; seed < first + cases; seed++) {
		struct model m;
		struct sp_cube_check check = { .damaged = 1 };
		struct sp_cube_stats stats;
		struct sp_cube *c;
		bool good;

		rng = (struct sp__rng){ sp__mix64(seed) };
		m = random_model();
		c = create(&m) ? open_cube(NULL) : NULL;
		good = c;
		for (unsigned i = 0; good && i < 6; i++)
			good = writes(c, &m);
		written += good;
		refused += good && refuses(c, &m);
		kept += good && keeps_elements(c, &m);
		(void)sp_cube_close(c);
		for (unsigned nth = 1; good && !m.create.run.volume && nth < 4; nth++)
			good = fails(&m, nth);
		repeated += good;
		c = open_cube(NULL);
		checked += c && !sp_cube_verify(c, &check, &stats, NULL) && !check.damaged;
		(void)sp_cube_close(c);
		free(m.data);
	}
	ok(written == cases, "boxes that were written are read, and the others are as before");
	ok(refused == cases, "boxes beyond the cube, and with strides, are not written");
	ok(kept == cases, "the shape of a .npy file has as many elements as the file");
	ok(repeated == cases && interrupted > 0,
	   "a write that fails hides the elements until it is repeated");
	ok(checked == cases, "no checksum differs");
	unlink(path);
	rmdir(dir);
	return done();
}
