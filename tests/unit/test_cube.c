/* SPDX-License-Identifier: MIT */
/*
 * Cubes against an array in memory: random shapes, tiles, mappings, volumes, memory, and
 * requests; loads in any order of dimensions, from files and pipes, interrupted anywhere;
 * ranges, elements, checksums.
 *
 *	SP_CUBE_CASES	random cubes (40)
 *	SP_TEST_SEED	the first of them (1)
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/rng.h"
#include "cube/cube_impl.h"
#include "tap.h"

#define ELEMENTS_MAX 6000
#define FILE_MAX (8 << 20)

static char dir[64];
static char path[80], input[80];
static struct sp__rng rng;
static unsigned long seed;

static uint64_t below(uint64_t n)
{
	return sp__rng_below(&rng, n);
}

/* What the cube must hold, in rows along dimension 0, and how it was made. */
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

static void shuffle(unsigned *order, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		order[i] = i;
	for (unsigned i = n; i-- > 1;) {
		unsigned k = (unsigned)below(i + 1), old = order[i];

		order[i] = order[k];
		order[k] = old;
	}
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
		uint64_t most = left < 20 ? left : 20;

		s->dims[i] = 1 + below(below(4) ? most : 4 < most ? 4 : most);
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

/* Creates the cube; what a volume or a curve cannot hold is made without, in rows. */
static bool create(struct model *m)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc = sp_cube_create(path, &m->create, &err);

	if (rc == -ENOSPC || rc == SP_EUNSUP) {
		err = (struct sp_errinfo)SP_ERRINFO_INIT;
		m->create.mapping = SP_CUBE_NAIVE;
		m->create.run.volume = NULL;
		rc = sp_cube_create(path, &m->create, &err);
	}
	return rc ? failed("create", rc, &err) : true;
}

static struct sp_cube *open_cube(bool simulated)
{
	static const uint64_t memory[] = { 4096, 20000, 100000, 0 };
	static const uint32_t requests[] = { 512, 5000, 65536, 0 };
	struct sp_cube_opts o = { .run = SP_RUN_OPTS_INIT, .write = true };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_cube *c;
	uint64_t limit = memory[below(4)];

	o.depth = (unsigned)below(33);
	o.request_bytes = requests[below(4)];
	o.no_coalesce = below(2);
	o.verify = below(2);
	if (!simulated && below(2))
		o.run.engine = "sync";
	if (sp_cube_open(&c, path, &o, &err)) {
		failed("open", err.code, &err);
		return NULL;
	}
	if (limit) /* less than users can ask for, so that small cubes have parts as well */
		c->env.budget.limit_bytes = limit;
	c->progress_bytes = 1; /* noted after every part */
	return c;
}

/* The bytes of the dataset in rows along order[0]. */
static void turn(const struct model *m, const unsigned *order, uint8_t *to)
{
	const struct sp_cube_shape *s = m->shape;
	uint64_t x[SP_CUBE_DIMS_MAX] = { 0 };

	for (uint64_t k = 0; k < m->elements; k++, to += s->element_bytes) {
		uint64_t at = 0;

		for (unsigned i = s->ndims; i-- > 0;)
			at = at * s->dims[i] + x[i];
		memcpy(to, m->data + at * s->element_bytes, s->element_bytes);
		for (unsigned i = 0; i < s->ndims && ++x[order[i]] == s->dims[order[i]]; i++)
			x[order[i]] = 0;
	}
}

static void swap(const struct sp_cube_shape *s, uint8_t *data, uint64_t bytes)
{
	for (uint64_t at = 0; at < bytes; at += s->element_bytes)
		for (uint32_t i = 0; i < s->element_bytes / 2; i++) {
			uint8_t *a = &data[at + i], *b = &data[at + s->element_bytes - 1 - i],
				c = *a;

			*a = *b;
			*b = c;
		}
}

/* A .npy head with two spaces between all words; returns its bytes. */
static uint64_t npy_head(const struct sp_cube_shape *s, bool fortran, bool big, uint8_t *head)
{
	static const char kinds[] = "Viuiuiuiuff";
	char text[1024];
	int n = snprintf(text, sizeof(text), "{'shape':  (");

	for (unsigned i = 0; i < s->ndims; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%llu,  ",
			      (unsigned long long)s->dims[i]);
	n += snprintf(text + n, sizeof(text) - (size_t)n,
		      "),  'fortran_order':  %s,  'descr':  '%c%c%u'}\n",
		      fortran ? "True" : "False", big ? '>' : '<', kinds[s->type],
		      s->element_bytes);
	memcpy(head, "\x93NUMPY\2", 8);
	for (unsigned i = 0; i < 4; i++)
		head[8 + i] = (uint8_t)(n >> 8 * i);
	memcpy(head + 12, text, (size_t)n);
	return 12 + (uint64_t)n;
}

struct loading {
	struct sp_cube_load_opts opts;
	uint8_t *data; /* the input as a whole */
	uint64_t bytes;
	bool pipe;
};

static struct loading random_loading(const struct model *m)
{
	struct loading l = { 0 };
	unsigned order[SP_CUBE_DIMS_MAX], n = m->shape->ndims;
	bool big = below(2) && m->shape->type != SP_CUBE_BYTES, npy = !below(3), fortran = below(2);
	uint64_t head = below(3) ? 0 : below(700);

	shuffle(order, n);
	for (unsigned i = 0; npy && i < n; i++)
		order[i] = fortran ? i : n - 1 - i;
	l.data = calloc(1, m->bytes + 2048);
	if (npy)
		head = npy_head(m->shape, fortran, big, l.data);
	turn(m, order, l.data + head);
	if (big)
		swap(m->shape, l.data + head, m->bytes);
	l.bytes = head + m->bytes;
	l.pipe = below(2);
	l.opts.format = npy ? SP_CUBE_NPY : SP_CUBE_RAW;
	if (npy)
		return l;
	l.opts.ordered = true;
	memcpy(l.opts.order, order, sizeof(order));
	l.opts.offset = head;
	l.opts.big_endian = big;
	return l;
}

/* Loads the first bytes of the input; the code of the library. */
static int load(struct sp_cube *c, const struct loading *l, uint64_t bytes, bool resume)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_cube_load_opts opts = l->opts;
	struct sp_cube_stats stats;
	char name[64];
	int fds[2], fd, rc;
	pid_t child;

	opts.resume = resume;
	if (!l->pipe) {
		fd = open(input, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (fd < 0 || write(fd, l->data, bytes) != (ssize_t)bytes || close(fd))
			return -EIO;
		return sp_cube_load(c, input, &opts, &stats, &err);
	}
	if (pipe(fds))
		return -errno;
	child = fork();
	if (!child) {
		const uint8_t *at = l->data;

		close(fds[0]);
		for (ssize_t n; bytes && (n = write(fds[1], at, bytes)) > 0; bytes -= (uint64_t)n)
			at += n;
		_exit(0);
	}
	close(fds[1]);
	snprintf(name, sizeof(name), "/dev/fd/%d", fds[0]);
	rc = sp_cube_load(c, name, &opts, &stats, &err);
	close(fds[0]);
	waitpid(child, NULL, 0);
	return rc;
}

struct sunk {
	uint8_t *data;
	uint64_t bytes, room;
};

static int sink(void *arg, const void *data, size_t bytes)
{
	struct sunk *s = arg;

	if (bytes > s->room - s->bytes)
		return -EOVERFLOW;
	memcpy(s->data + s->bytes, data, bytes);
	s->bytes += bytes;
	return 0;
}

static uint64_t place(const struct model *m, const uint64_t *x)
{
	uint64_t at = 0;

	for (unsigned i = m->shape->ndims; i-- > 0;)
		at = at * m->shape->dims[i] + x[i];
	return at * m->shape->element_bytes;
}

/* Reads a random box; loose: elements may be fill instead. */
static bool same_box(struct sp_cube *c, const struct model *m, bool loose)
{
	const struct sp_cube_shape *s = m->shape;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sunk sunk = { .data = malloc(m->bytes), .room = m->bytes };
	uint64_t x[SP_CUBE_DIMS_MAX], at = 0;
	struct sp_cube_stats stats;
	struct sp_cube_info info;
	struct sp_cube_box b = { 0 };
	bool same = true;
	int rc;

	sp_cube_info(c, &info);
	for (unsigned i = 0; i < s->ndims; i++) {
		b.lo[i] = below(2) ? 0 : below(s->dims[i]);
		b.hi[i] = below(2) ? s->dims[i] - 1 : b.lo[i] + below(s->dims[i] - b.lo[i]);
		b.stride[i] = below(2) ? 1 : below(8) ? 1 + below(7) : UINT64_MAX - below(2);
	}
	memcpy(x, b.lo, sizeof(x));
	rc = sp_cube_read(c, &b, sink, &sunk, &stats, &err);
	if (!rc)
		do {
			const uint8_t *want = m->data + place(m, x), *got = sunk.data + at;

			same = at < sunk.bytes &&
			       (!memcmp(got, want, s->element_bytes) ||
				(loose && !memcmp(got, info.fill, s->element_bytes)));
			at += s->element_bytes;
		} while (same && sp__box_next(&b, 0, s->ndims, x));
	free(sunk.data);
	if (rc)
		return failed("read", rc, &err);
	if (!same || at != sunk.bytes || stats.elements * s->element_bytes != sunk.bytes)
		return failed("what was read differs", 0, NULL);
	rc = sp_cube_read(c, &b, NULL, NULL, &stats, &err);
	return rc ? failed("discard", rc, &err) : true;
}

static bool check(struct sp_cube *c, uint64_t absent, bool some, uint64_t damaged)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_cube_check k;
	struct sp_cube_stats stats;
	int rc = sp_cube_verify(c, &k, &stats, &err);

	if (rc)
		return failed("verify", rc, &err);
	if (k.damaged != damaged || (!some && k.absent != absent)) {
		diag("absent %llu damaged %llu", (unsigned long long)k.absent,
		     (unsigned long long)k.damaged);
		return failed("verify counts wrongly", 0, NULL);
	}
	return true;
}

static bool reads(struct sp_cube *c, const struct model *m, bool loose)
{
	bool same = true;

	for (int i = 0; same && i < 4; i++)
		same = same_box(c, m, loose);
	return same;
}

/* Interrupts the load at a random byte, reads what is there, and goes on. */
static bool interrupted(struct sp_cube *c, const struct model *m, const struct loading *l)
{
	struct sp_cube_info info;
	int rc = load(c, l, below(l->bytes), below(2));

	if (rc != SP_EFORMAT)
		return failed("an interrupted load", rc, NULL);
	sp_cube_info(c, &info);
	if (info.complete)
		return failed("an interrupted load left a complete cube", 0, NULL);
	return check(c, 0, true, 0) && reads(c, m, true);
}

static bool change(struct sp_cube *c, struct model *m)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	uint8_t value[1024], got[1024];
	uint64_t x[SP_CUBE_DIMS_MAX];
	int rc;

	for (unsigned i = 0; i < m->shape->ndims; i++)
		x[i] = below(m->shape->dims[i]);
	for (uint32_t i = 0; i < m->shape->element_bytes; i++)
		value[i] = (uint8_t)below(256);
	rc = sp_cube_put(c, x, value, &err);
	if (!rc)
		rc = sp_cube_get(c, x, got, &err);
	if (rc)
		return failed("put", rc, &err);
	memcpy(m->data + place(m, x), value, m->shape->element_bytes);
	return memcmp(got, value, m->shape->element_bytes) ? failed("get after put", 0, NULL)
							   : true;
}

/* Flips a bit of a cell: found, refused where read with checksums, and mended. */
static bool damage(struct sp_cube *c, const struct model *m)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	uint64_t x[SP_CUBE_DIMS_MAX], block;
	uint8_t byte, element[1024];
	off_t at;
	int rc;

	for (unsigned i = 0; i < m->shape->ndims; i++)
		x[i] = below(m->shape->dims[i]);
	if (sp_cube_block(c, x, &block))
		return failed("block", 0, NULL);
	at = (off_t)(block * c->head.block_bytes + below(c->cell_bytes));
	if (pread(c->fd, &byte, 1, at) != 1)
		return failed("pread", -errno, NULL);
	byte ^= 4;
	if (pwrite(c->fd, &byte, 1, at) != 1 || !check(c, 0, false, 1))
		return false;
	c->opts.verify = true;
	rc = sp_cube_get(c, x, element, &err);
	if (rc != SP_ECORRUPT)
		return failed("a damaged cell", rc, &err);
	byte ^= 4;
	return pwrite(c->fd, &byte, 1, at) == 1 && check(c, 0, false, 0);
}

enum phase { CREATED, RESUMED, LOADED, CHANGED, DAMAGED, PHASES };

static bool run_phase(enum phase p, struct sp_cube *c, struct model *m, const struct loading *l)
{
	int rc;

	switch (p) {
	case CREATED:
		return interrupted(c, m, l);
	case RESUMED:
		rc = load(c, l, l->bytes, true);
		return rc ? failed("resumed load", rc, NULL) : reads(c, m, false);
	case LOADED:
		rc = below(3) ? 0 : load(c, l, l->bytes, false);
		return rc ? failed("load", rc, NULL) : reads(c, m, false) && check(c, 0, false, 0);
	case CHANGED:
		for (int i = 0; i < 5; i++)
			if (!change(c, m))
				return false;
		return reads(c, m, false) && check(c, 0, false, 0);
	case DAMAGED:
		return damage(c, m);
	default:
		return false;
	}
}

/* Each phase opens the cube anew. */
static void test_case(unsigned *good)
{
	struct model m = random_model();
	struct loading l = random_loading(&m);
	bool fine = create(&m);

	for (enum phase p = CREATED; fine && p < PHASES; p++) {
		struct sp_cube *c = open_cube(m.create.run.volume);

		fine = c && run_phase(p, c, &m, &l);
		fine &= sp_cube_close(c) == 0;
		good[p] += fine;
		if (!fine)
			diag("mapping %s, volume %s, %u dimensions of %s:%u, %s from %s",
			     sp_cube_mapping_name(m.create.mapping), m.create.run.volume,
			     m.shape->ndims, sp_cube_type_name(m.shape->type),
			     m.shape->element_bytes, l.opts.format == SP_CUBE_NPY ? "npy" : "raw",
			     l.pipe ? "a pipe" : "a file");
	}
	free(l.data);
	free(m.data);
}

static unsigned long setting(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : otherwise;
}

int main(void)
{
	unsigned long cases = setting("SP_CUBE_CASES", 40), first = setting("SP_TEST_SEED", 1);
	unsigned good[PHASES] = { 0 };

	/* Cubes wait for the device often. */
	snprintf(dir, sizeof(dir), "%s/test_cube.XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/cube", dir);
	snprintf(input, sizeof(input), "%s/input", dir);
	for (seed = first; seed < first + cases; seed++) {
		rng = (struct sp__rng){ sp__mix64(seed) };
		test_case(good);
	}
	ok(good[CREATED] == cases, "an interrupted load leaves elements or fill, and no damage");
	ok(good[RESUMED] == cases, "and goes on to the end");
	ok(good[LOADED] == cases, "what is loaded is read, in any box, and verified");
	ok(good[CHANGED] == cases, "what is put is read");
	ok(good[DAMAGED] == cases, "a flipped bit is found, and refused with --verify");
	unlink(path);
	unlink(input);
	rmdir(dir);
	return done();
}
