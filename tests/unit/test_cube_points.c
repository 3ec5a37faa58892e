/* SPDX-License-Identifier: MIT */
/*
 * Datasets of points against an array in memory: random spaces, cells, mappings, volumes and
 * memory; points that are uniform, clustered, on a line, on a lattice, all the same, one, none;
 * loaded in one or several parts, put, deleted, reorganised; boxes anywhere.
 *
 *	SP_CUBE_CASES	random datasets (60)
 *	SP_TEST_SEED	the first of them (1)
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/minmax.h"
#include "cube/file/pointcell.h"
#include "cube/state.h"
#include "below.h"
#include "tap.h"

#define POINTS_MAX 6000

static char dir[64];
static char path[80], input[80];
static const char *tmpdirs[] = { dir };
static unsigned long seed;
static size_t regions_seen, slices_seen, overflow_seen, outside_seen, released_seen, due_seen;
static size_t spread_seen;

/* Points as they are loaded: coordinates, and the value. */
struct model {
	struct sp_cube_create_opts create;
	unsigned n;
	size_t bytes; /* of a point */
	uint8_t *points;
	size_t count;
};

static bool failed(const char *what, int rc, const struct sp_errinfo *err)
{
	diag("seed %lu: %s: %d %s %s", seed, what, rc, err ? err->op : "", err ? err->text : "");
	return false;
}

static uint64_t coordinate(const uint8_t *point, unsigned i)
{
	uint64_t x;

	memcpy(&x, point + i * sizeof(x), sizeof(x));
	return x;
}

static struct model *sorted_model;

static int by_place(const void *a, const void *b)
{
	unsigned n = sorted_model->n;

	for (unsigned i = n; i-- > 0;)
		if (coordinate(a, i) != coordinate(b, i))
			return SP__ORDER(coordinate(a, i), coordinate(b, i));
	return memcmp((const uint8_t *)a + n * 8, (const uint8_t *)b + n * 8,
		      sorted_model->bytes - n * 8);
}

enum spread { UNIFORM, CLUSTERS, LINE, LATTICE, EQUAL, SPREADS };

static uint64_t random_coordinate(const struct model *m, enum spread spread, unsigned i, size_t at)
{
	uint64_t size = m->create.shape.dims[i], side = 1, step;

	switch (spread) {
	case CLUSTERS:
		return at % 4 == 0 ? below(size)
				   : sp__min(size / (2 + at % 3) + below(size / 60 + 2), size - 1);
	case LINE:
		return i ? size / 2 : below(size);
	case LATTICE: /* some points in each of side^n boxes, and a few anywhere */
		if (at % 97 == 96)
			return below(size);
		while ((m->n == 1 ? side + 1 : (side + 1) * (side + 1)) <= 3000)
			side++;
		step = size / side;
		for (unsigned k = 0; k < i; k++)
			at /= side;
		return step ? sp__min(at % side * step + below(step), size - 1) : below(size);
	case EQUAL:
		return size / 3;
	default:
		return below(size);
	}
}

static void add_points(struct model *m, size_t count, enum spread spread)
{
	for (; count && m->count < POINTS_MAX; count--, m->count++) {
		uint8_t *p = m->points + m->count * m->bytes;

		for (unsigned i = 0; i < m->n; i++) {
			uint64_t x = random_coordinate(m, spread, i, m->count);

			memcpy(p + i * 8, &x, 8);
		}
		for (size_t b = m->n * 8ul; b < m->bytes; b++)
			p[b] = (uint8_t)below(256);
	}
}

static void random_space(struct model *m, enum spread spread)
{
	static const uint32_t values[] = { 1, 4, 9, 60, 300 };
	static const uint32_t cells[] = { 512, 1024, 4096 };
	struct sp_cube_create_opts *o = &m->create;

	m->n = spread == LATTICE ? 1 + (unsigned)below(2) : 1 + (unsigned)below(5);
	o->shape.ndims = m->n;
	o->shape.type = SP_CUBE_BYTES;
	o->shape.element_bytes = spread == LATTICE ? 500 : values[below(5)];
	o->cell_bytes = spread == LATTICE ? 4096 : cells[below(3)];
	for (unsigned i = 0; i < m->n; i++)
		o->shape.dims[i] = below(3) ? UINT64_C(1) << below(17) : 1 + below(100000);
	if (spread == LATTICE)
		for (unsigned i = 0; i < m->n; i++)
			o->shape.dims[i] = UINT64_C(1) << (8 + below(8));
	m->bytes = m->n * 8ul + o->shape.element_bytes;
}

static void random_model(struct model *m, enum spread spread)
{
	static const enum sp_cube_mapping mappings[] = { SP_CUBE_AUTO, SP_CUBE_NAIVE,
							 SP_CUBE_ZORDER, SP_CUBE_HILBERT,
							 SP_CUBE_GRAY };
	static const size_t counts[] = { 0, 1, 100, 3000, 5000 };
	struct sp_cube_create_opts *o = &m->create;

	*m = (struct model){ .create = SP_CUBE_CREATE_OPTS_INIT };
	o->points = true;
	random_space(m, spread);
	o->run.volume = below(2) || spread == LATTICE ? "sim:atlas10k3-like" : NULL;
	o->run.overwrite = true;
	o->volumes = below(2) ? 1 : 2 + (unsigned)below(3);
	o->decluster = below(2) ? SP_CUBE_ROUND_ROBIN : SP_CUBE_DISK_MODULO;
	o->fill_factor = 0.3 + 0.1 * (double)below(8);
	o->mapping = spread == LATTICE ? SP_CUBE_AUTO : mappings[below(5)];
	o->ordered = below(2);
	for (unsigned i = 0; i < m->n; i++)
		o->order[i] = m->n - 1 - i;
	m->points = malloc(POINTS_MAX * m->bytes);
	add_points(m, spread == LATTICE ? 5000 : counts[below(5)], spread);
}

static struct sp_cube_opts random_open(const struct model *m, bool write)
{
	struct sp_cube_opts o = { .run = SP_RUN_OPTS_INIT, .write = write };

	o.run.memory_bytes = (UINT64_C(1) << 20) << below(4);
	o.run.tmpdirs = tmpdirs;
	o.run.ntmpdirs = 1;
	o.run.engine = m->create.run.volume ? NULL : "sync";
	o.run.parallel = 1;
	o.depth = (unsigned)below(4);
	o.no_coalesce = below(2);
	return o;
}

static bool write_input(const struct model *m, size_t begin, size_t end)
{
	FILE *f = fopen(input, "w");
	bool good =
		f && fwrite(m->points + begin * m->bytes, m->bytes, end - begin, f) == end - begin;

	return f && !fclose(f) && good;
}

struct result {
	uint8_t *data;
	size_t bytes, capacity;
};

static int collect(void *arg, const void *data, size_t bytes)
{
	struct result *r = arg;

	if (bytes > r->capacity - r->bytes)
		return -ENOSPC;
	memcpy(r->data + r->bytes, data, bytes);
	r->bytes += bytes;
	return 0;
}

/* The points of the model that are in a box, in order. */
static size_t expected(struct model *m, const struct sp_cube_box *box, uint8_t *to)
{
	size_t n = 0;

	for (size_t k = 0; k < m->count; k++) {
		const uint8_t *p = m->points + k * m->bytes;
		bool in = true;

		for (unsigned i = 0; i < m->n; i++)
			in &= coordinate(p, i) >= box->lo[i] && coordinate(p, i) <= box->hi[i];
		if (in)
			memcpy(to + n++ * m->bytes, p, m->bytes);
	}
	sorted_model = m;
	qsort(to, n, m->bytes, by_place);
	return n;
}

static void random_box(const struct model *m, struct sp_cube_box *box, bool all)
{
	for (unsigned i = 0; i < m->n; i++) {
		uint64_t size = m->create.shape.dims[i];
		uint64_t at = m->count && below(2)
				      ? coordinate(m->points + below(m->count) * m->bytes, i)
				      : below(size);

		box->lo[i] = all ? 0 : at - below(at + 1);
		box->hi[i] = all ? size - 1 : at + below(size - at);
		if (!all && !below(4))
			box->lo[i] = box->hi[i] = at;
		box->stride[i] = 1;
	}
}

static bool same_box(struct model *m, struct sp_cube *cube, bool all)
{
	struct result r = { malloc(m->count * m->bytes + 1), 0, m->count * m->bytes };
	uint8_t *want = malloc(m->count * m->bytes + 1);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_cube_stats stats;
	struct sp_cube_box box;
	size_t n;
	int rc;

	random_box(m, &box, all);
	n = expected(m, &box, want);
	rc = sp_cube_read(cube, &box, collect, &r, &stats, &err);
	bool same = !rc && r.bytes == n * m->bytes && stats.elements == n &&
		    !memcmp(r.data, want, r.bytes);

	free(r.data);
	free(want);
	return same || failed("a box differs", rc, &err);
}

/* No cell is in two places. */
static bool disjoint(const struct sp_cube *cube)
{
	const struct sp__pointset *s = &cube->points.set;
	struct sp_cube_box box;

	for (size_t i = 0; i < s->nleaves; i++) {
		const struct sp__leaf *l = &s->leaves[i];
		struct sp__home home;

		sp__znode_box(&s->space, sp__leaf_key(l), l->level, &box);
		home = sp__pointset_home(s, sp__leaf_key(l), box.lo);
		if (home.block != sp__leaf_block(s, l) || home.outside)
			return failed("a leaf is in a region", 0, NULL);
		if (!sp__pointset_node(s, home.block, &box))
			return failed("a leaf is not found by its block", 0, NULL);
	}
	return true;
}

static bool check(struct model *m)
{
	struct sp_cube_opts o = random_open(m, false);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_cube_stats stats;
	struct sp_cube_check c = { 0 };
	struct sp_cube_info info;
	struct sp_cube *cube;
	int rc = sp_cube_open(&cube, path, &o, &err);
	bool good;

	if (rc)
		return failed("open", rc, &err);
	rc = sp_cube_verify(cube, &c, &stats, &err);
	good = !rc && !c.damaged && c.points == m->count;
	if (!good)
		failed("check", rc, &err);
	sp_cube_info(cube, &info);
	good &= info.npoints == m->count && disjoint(cube);
	regions_seen += info.nregions;
	spread_seen += info.nregions && info.volumes > 1;
	for (size_t i = 0; i < cube->points.set.nregions; i++)
		slices_seen += cube->points.set.regions[i]->cut != 0;
	overflow_seen += info.overflow_cells;
	outside_seen += cube->file.superblock.pointset.outside;
	for (unsigned k = 0; good && k < 8; k++)
		good = same_box(m, cube, k == 0);
	(void)sp_cube_close(cube);
	return good;
}

/* In two loads, the second of which adds to the first. */
static bool load(struct model *m)
{
	struct sp_cube_load_opts lo = { .format = SP_CUBE_RAW };
	size_t half = below(2) ? below(m->count + 1) : m->count;
	struct sp_cube_opts o = random_open(m, true);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_cube_stats stats;
	struct sp_cube *cube;
	int rc = sp_cube_open(&cube, path, &o, &err);

	if (rc)
		return failed("open", rc, &err);
	if (write_input(m, 0, half))
		rc = sp_cube_load(cube, input, &lo, &stats, &err);
	if (!rc && half < m->count && write_input(m, half, m->count))
		rc = sp_cube_load(cube, input, &lo, &stats, &err);
	(void)sp_cube_close(cube);
	return !rc || failed("load", rc, &err);
}

static bool put(struct model *m, size_t count, enum spread spread)
{
	struct sp_cube_opts o = random_open(m, true);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	size_t first = m->count;
	struct sp_cube *cube;
	int rc = sp_cube_open(&cube, path, &o, &err);

	if (rc)
		return failed("open", rc, &err);
	add_points(m, count, spread);
	for (size_t k = first; !rc && k < m->count; k++) {
		uint64_t x[SP_CUBE_DIMS_MAX];
		const uint8_t *p = m->points + k * m->bytes;

		memcpy(x, p, m->n * sizeof(*x));
		rc = sp_cube_put(cube, x, p + m->n * 8ul, &err);
	}
	(void)sp_cube_close(cube);
	return !rc || failed("put", rc, &err);
}

/* Removes the points of a position from the model, or those with a value. */
static size_t forget(struct model *m, const uint8_t *point, size_t bytes)
{
	size_t kept = 0;

	for (size_t k = 0; k < m->count; k++)
		if (memcmp(m->points + k * m->bytes, point, bytes))
			memmove(m->points + kept++ * m->bytes, m->points + k * m->bytes, m->bytes);
	return m->count - kept;
}

/* Deletes points of random positions: all at one, or those with a value. */
static bool delete_some(struct model *m, size_t count)
{
	struct sp_cube_opts o = random_open(m, true);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_cube_info info;
	struct sp_cube *cube;
	uint64_t overflow;
	int rc = sp_cube_open(&cube, path, &o, &err);

	if (rc)
		return failed("open", rc, &err);
	sp_cube_info(cube, &info);
	overflow = info.overflow_cells;
	for (; !rc && count && m->count; count--) {
		uint8_t *point = malloc(m->bytes);
		uint64_t x[SP_CUBE_DIMS_MAX];
		bool any = below(2);

		memcpy(point, m->points + below(m->count) * m->bytes, m->bytes);
		memcpy(x, point, m->n * sizeof(*x));
		rc = sp_cube_delete(cube, x, any ? NULL : point + m->n * 8ul, &err);
		m->count -= forget(m, point, any ? m->n * 8ul : m->bytes);
		if (!rc && sp_cube_delete(cube, x, point + m->n * 8ul, &err) != -ENOENT)
			rc = -EEXIST;
		free(point);
	}
	sp_cube_info(cube, &info);
	released_seen += info.overflow_cells < overflow;
	due_seen += info.needs_repack && info.npoints < info.built_points / 2;
	if (info.overflow_cells > overflow)
		rc = -EFBIG;
	(void)sp_cube_close(cube);
	return !rc || failed("delete", rc, &err);
}

static bool reorganise(const struct model *m)
{
	struct sp_cube_opts o = random_open(m, true);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_cube_stats stats;
	struct sp_cube_info info;
	struct sp_cube *cube;
	int rc = sp_cube_open(&cube, path, &o, &err);

	if (rc)
		return failed("open", rc, &err);
	rc = sp_cube_reorganise(cube, &stats, &err);
	sp_cube_info(cube, &info);
	(void)sp_cube_close(cube);
	return (!rc && !info.needs_repack) || failed("reorganise", rc, &err);
}

static bool one_case(void)
{
	enum spread spread = (enum spread)(seed % SPREADS);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct model m;
	bool good;
	int rc;

	rng = (struct sp__rng){ seed };
	random_model(&m, spread);
	rc = sp_cube_create(path, &m.create, &err);
	if (rc == SP_EUNSUP) { /* too many bits for a curve */
		m.create.mapping = SP_CUBE_ZORDER;
		rc = sp_cube_create(path, &m.create, &err);
	}
	good = rc ? failed("create", rc, &err) : load(&m) && check(&m);
	good = good && put(&m, below(60), below(2) ? spread : UNIFORM) && check(&m);
	good = good && delete_some(&m, below(6) ? below(30) : 600) && check(&m);
	good = good && put(&m, below(60), spread) && check(&m);
	good = good && reorganise(&m) && check(&m);
	free(m.points);
	return good;
}

/* Makes the first cell of the chain of point 0 name a successor on a volume that is not there. */
static bool spoil_link(struct sp_cube *cube)
{
	const struct sp__pointset *s = &cube->points.set;
	uint64_t x[1] = { 0 };
	struct sp__home home = sp__pointset_home(s, sp__zkey_of(&s->space, x), x);
	int fd = open(path, O_RDWR);
	struct sp__pointcell head;
	uint8_t cell[512];
	off_t at = (off_t)home.block * 512;
	bool good =
		fd >= 0 && pread(fd, cell, 512, at) == 512 && sp__pointcell_read(cell, s, &head);

	head.next = UINT64_MAX / 2;
	sp__pointcell_seal(cell, head, s->record_bytes);
	good = good && head.count == s->capacity && pwrite(fd, cell, 512, at) == 512;
	close(fd);
	return good;
}

static void check_links(void)
{
	struct sp_cube_create_opts o = SP_CUBE_CREATE_OPTS_INIT;
	struct sp_cube_opts open_opts = { .run = SP_RUN_OPTS_INIT, .write = true };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	uint64_t x[1] = { 0 };
	struct sp_cube *cube;
	uint8_t value = 0;
	int rc;

	o.points = true;
	o.shape = (struct sp_cube_shape){ .ndims = 1, .dims = { 1000 }, .type = SP_CUBE_U8 };
	o.cell_bytes = 512;
	o.volumes = 2;
	rc = sp_cube_create(path, &o, &err);
	if (!rc)
		rc = sp_cube_open(&cube, path, &open_opts, &err);
	for (unsigned i = 0; !rc && i < 200; i++)
		rc = sp_cube_put(cube, x, &value, &err);
	ok(!rc && spoil_link(cube) && sp_cube_put(cube, x, &value, &err) == SP_ECORRUPT &&
		   sp_cube_delete(cube, x, NULL, &err) == SP_ECORRUPT,
	   "a cell that names a successor on no volume is damaged");
	if (!rc)
		(void)sp_cube_close(cube);
	unlink(path);
}

static void check_keys(void)
{
	struct sp__zspace z;
	uint64_t dims[] = { 1000, 1, 7, UINT64_C(1) << 40 }, x[4], back[4];
	uint8_t bytes[16], before[16] = { 0 };
	bool same = true, ordered = true;

	ok(!sp__zspace_init(&z, 4, dims) && z.bits == 53 && z.levels == 40 && z.bytes == 7,
	   "keys have the bits of all coordinates");
	for (unsigned k = 0; k < 1000; k++) {
		sp__zkey key;

		for (unsigned i = 0; i < 4; i++)
			x[i] = below(dims[i]);
		key = sp__zkey_of(&z, x);
		sp__zkey_coordinates(&z, key, back);
		same &= !memcmp(x, back, sizeof(x));
		sp__zkey_store(&z, key, bytes);
		same &= sp__zkey_load(&z, bytes) == key;
		ordered &= k == 0 || (memcmp(before, bytes, z.bytes) < 0) ==
					     (sp__zkey_load(&z, before) < key);
		memcpy(before, bytes, sizeof(bytes));
	}
	ok(same, "a key gives its coordinates back, and so do its bytes");
	ok(ordered, "bytes are ordered as keys are");
	dims[1] = dims[3] = UINT64_C(1) << 63;
	dims[0] = 2;
	dims[2] = 2;
	ok(!sp__zspace_init(&z, 4, dims) && z.bits == 128, "128 bits are possible");
	x[0] = x[2] = 1;
	x[1] = x[3] = (UINT64_C(1) << 63) - 1;
	sp__zkey_coordinates(&z, sp__zkey_of(&z, x), back);
	ok(!memcmp(x, back, sizeof(x)), "and coordinates come back from them");
	ok(sp__zkey_common(&z, 0, 0) == 63 && sp__zkey_common(&z, 0, ~(sp__zkey)0) == 0,
	   "keys share levels from none to all");
	dims[0] = 3;
	ok(sp__zspace_init(&z, 4, dims) == SP_EUNSUP, "more than 128 bits are refused");
}

int main(void)
{
	const char *text = getenv("SP_CUBE_CASES");
	unsigned long cases = text ? strtoul(text, NULL, 10) : 60, bad = 0;

	text = getenv("SP_TEST_SEED");
	seed = text ? strtoul(text, NULL, 10) : 1;
	snprintf(dir, sizeof(dir), "%s",
		 access("/dev/shm", W_OK) ? "/tmp/cube.XXXXXX" : "/dev/shm/cube.XXXXXX");
	if (!mkdtemp(dir))
		return 2;
	snprintf(path, sizeof(path), "%s/c", dir);
	snprintf(input, sizeof(input), "%s/in", dir);
	rng = (struct sp__rng){ seed };
	check_keys();
	check_links();
	for (unsigned long end = seed + cases; seed < end; seed++)
		bad += !one_case();
	ok(!bad, "each box has the points that a filter of all gives, through loads, puts, "
		 "deletions and reorganisation");
	ok(cases < 60 || (regions_seen && slices_seen && overflow_seen && outside_seen),
	   "among them are regions (%zu, %zu of slices), overflow cells (%zu), points outside of "
	   "cells (%zu)",
	   regions_seen, slices_seen, overflow_seen, outside_seen);
	ok(cases < 60 || spread_seen, "some have regions on several volumes (%zu)", spread_seen);
	ok(cases < 60 || (released_seen && due_seen),
	   "overflow cells are released (%zu), and reorganisation is due (%zu)", released_seen,
	   due_seen);
	unlink(path);
	for (unsigned i = 1; i < 4; i++) {
		char volume[sizeof(path) + 16];

		snprintf(volume, sizeof(volume), "%s.%u", path, i);
		unlink(volume);
	}
	unlink(input);
	rmdir(dir);
	return done();
}
