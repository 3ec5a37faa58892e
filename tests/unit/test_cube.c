/* SPDX-License-Identifier: MIT */
/*
 * Cubes against an array in memory: random shapes, tiles, mappings, volumes, memory, and
 * requests; loads and appends in any order of dimensions, from files and pipes, interrupted
 * anywhere; ranges, elements, checksums.
 *
 *	SP_CUBE_CASES	random cubes (40)
 *	SP_TEST_SEED	the first of them (1)
 */
#define TAP_THREADS

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cube/file/transfer.h"
#include "cube/state.h"
#include "cubemodel.h"

static char dir[64];
static char path[80], input[80];

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

static struct sp_cube *open_cube(bool simulated, bool unfinished)
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
	o.unfinished = unfinished;
	if (!simulated && below(2))
		o.run.engine = "sync";
	if (sp_cube_open(&c, path, &o, &err)) {
		failed("open", err.code, &err);
		return NULL;
	}
	if (limit) /* less than users can ask for, so that small cubes have parts as well */
		c->file.env.budget.limit_bytes = limit;
	c->file.progress_bytes = 1; /* noted after every part */
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
	bool append;	/* at the end of */
	unsigned dim;	/* this dimension, */
	uint64_t count; /* of elements, or 0 */
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

static int take(struct sp_cube *c, const struct loading *l, const char *name,
		const struct sp_cube_load_opts *opts)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_cube_stats stats;

	return l->append ? sp_cube_append(c, l->dim, l->count, name, opts, &stats, &err)
			 : sp_cube_load(c, name, opts, &stats, &err);
}

/* Loads the first bytes of the input; the code of the library. */
static int load(struct sp_cube *c, const struct loading *l, uint64_t bytes, bool resume)
{
	struct sp_cube_load_opts opts = l->opts;
	char name[64];
	int fds[2], fd, rc;
	pid_t child;

	opts.resume = resume;
	if (!l->pipe) {
		fd = open(input, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (fd < 0 || write(fd, l->data, bytes) != (ssize_t)bytes || close(fd))
			return -EIO;
		return take(c, l, input, &opts);
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
	rc = take(c, l, name, &opts);
	close(fds[0]);
	waitpid(child, NULL, 0);
	return rc;
}

struct sunk {
	uint8_t *data;
	uint64_t bytes, capacity;
};

static int sink(void *arg, const void *data, size_t bytes)
{
	struct sunk *s = arg;

	if (bytes > s->capacity - s->bytes)
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
	struct sunk sunk = { .data = malloc(m->bytes), .capacity = m->bytes };
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

/* Interrupts the load at a random byte, reads the elements, and continues. */
static bool interrupted(struct sp_cube *c, const struct model *m, const struct loading *l)
{
	struct loading pipe = *l; /* a file that is too short is refused before it is loaded */
	struct sp_cube_info info;
	int rc;

	pipe.pipe = true;
	rc = load(c, &pipe, below(l->bytes), below(2));

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

/* Flips a bit of a cell: found, refused where read with checksums, and repaired. */
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
	at = (off_t)(block * c->file.superblock.block_bytes + below(c->file.cell_bytes));
	if (pread(c->file.cells.first.fd, &byte, 1, at) != 1)
		return failed("pread", -errno, NULL);
	byte ^= 4;
	if (pwrite(c->file.cells.first.fd, &byte, 1, at) != 1 || !check(c, 0, false, 1))
		return false;
	c->file.opts.verify = true;
	rc = sp_cube_get(c, x, element, &err);
	if (rc != SP_ECORRUPT)
		return failed("a damaged cell", rc, &err);
	byte ^= 4;
	return pwrite(c->file.cells.first.fd, &byte, 1, at) == 1 && check(c, 0, false, 0);
}

/* Elements of an interrupted load are read only on request. */
static bool refused(struct sp_cube *c, const struct model *m)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	uint64_t x[SP_CUBE_DIMS_MAX] = { 0 };
	uint8_t element[1024] = { 0 };
	struct sp_cube_stats stats;
	struct sp_cube_box b = { 0 };
	struct sp_cube_info info;

	sp_cube_info(c, &info);
	for (unsigned i = 0; i < m->shape->ndims; i++)
		b.stride[i] = 1;
	if (info.unfinished && (sp_cube_get(c, x, element, &err) != SP_ESTATE ||
				sp_cube_put(c, x, element, &err) != SP_ESTATE))
		return failed("elements after an interrupted load", 0, &err);
	if (sp_cube_read(c, &b, NULL, NULL, &stats, &err))
		return failed("requests alone", 0, &err);
	return true;
}

/* The model with another one at the end of a dimension. */
static void join(struct model *m, const struct model *more, unsigned dim)
{
	static struct sp_cube_shape shape;
	struct sp_cube_shape before = *m->shape;
	struct model old = *m;
	uint64_t x[SP_CUBE_DIMS_MAX] = { 0 }, at = 0;
	struct sp_cube_box all = { 0 };

	shape = before;
	old.shape = &before;
	shape.dims[dim] += more->shape->dims[dim];
	m->shape = &shape;
	m->elements += more->elements;
	m->bytes += more->bytes;
	m->data = malloc(m->bytes);
	for (unsigned i = 0; i < shape.ndims; i++) {
		all.hi[i] = shape.dims[i] - 1;
		all.stride[i] = 1;
	}
	do {
		bool first = x[dim] < before.dims[dim];
		const struct model *from = first ? &old : more;

		x[dim] -= first ? 0 : before.dims[dim];
		memcpy(m->data + at, from->data + place(from, x), shape.element_bytes);
		x[dim] += first ? 0 : before.dims[dim];
		at += shape.element_bytes;
	} while (sp__box_next(&all, 0, shape.ndims, x));
	free(old.data);
}

/* Appends some elements along a dimension; half of them first, which changes nothing. */
static bool grow(struct sp_cube *c, struct model *m)
{
	struct sp_cube_shape shape = *m->shape;
	struct model more = *m;
	unsigned dim = (unsigned)below(shape.ndims);
	struct loading l;
	int rc;

	more.shape = &shape;
	shape.dims[dim] = 1 + below(6);
	more.elements = m->elements / m->shape->dims[dim] * shape.dims[dim];
	more.bytes = more.elements * shape.element_bytes;
	more.data = malloc(more.bytes);
	for (uint64_t i = 0; i < more.bytes; i++)
		more.data[i] = (uint8_t)sp__rng_next(&rng);
	l = random_loading(&more);
	l.append = true;
	l.dim = dim;
	l.count = shape.dims[dim];
	rc = load(c, &l, l.bytes - 1 - below(more.bytes), false);
	if (rc == SP_EFORMAT) {
		l.count = below(2) ? 0 : l.count;
		rc = reads(c, m, false) ? load(c, &l, l.bytes, false) : -EIO;
	}
	free(l.data);
	if (!rc)
		join(m, &more, dim);
	free(more.data);
	/* Curves and small drives do not hold every cube. */
	return rc && rc != SP_EUNSUP && rc != -ENOSPC ? failed("append", rc, NULL)
						      : reads(c, m, false) && check(c, 0, false, 0);
}

enum phase { CREATED, RESUMED, LOADED, GROWN, CHANGED, DAMAGED, PHASES };

static bool run_phase(enum phase p, struct sp_cube *c, struct model *m, const struct loading *l)
{
	int rc;

	switch (p) {
	case CREATED:
		return interrupted(c, m, l);
	case RESUMED:
		if (!refused(c, m))
			return false;
		rc = load(c, l, l->bytes, true);
		return rc ? failed("resumed load", rc, NULL) : reads(c, m, false);
	case LOADED:
		rc = below(3) ? 0 : load(c, l, l->bytes, false);
		return rc ? failed("load", rc, NULL) : reads(c, m, false) && check(c, 0, false, 0);
	case GROWN:
		for (int i = 0; i < 3; i++)
			if (!grow(c, m))
				return false;
		return true;
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

/* Each phase opens the cube again. */
static void test_case(unsigned *good)
{
	struct model m = random_model();
	struct loading l = random_loading(&m);
	bool fine = create(&m);

	for (enum phase p = CREATED; fine && p < PHASES; p++) {
		struct sp_cube *c = open_cube(m.create.run.volume, p == CREATED);

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

/* Many requests of small cells: what is kept of each is memory, too. */
static void test_requests(void)
{
	struct sp_cube_create_opts o = SP_CUBE_CREATE_OPTS_INIT;
	struct sp_cube_opts opts = { .run = SP_RUN_OPTS_INIT, .depth = 4096 };
	struct sp_cube_stats stats = { 0 };
	struct sp__transfer t;
	const struct sp__runlanes *l = &t.lanes;
	struct sp_cube *c;

	o.shape = (struct sp_cube_shape){ 1, { 512 }, { 512 }, SP_CUBE_U8, 1 };
	o.mapping = SP_CUBE_NAIVE;
	o.run.overwrite = true;
	if (sp_cube_create(path, &o, NULL) || sp_cube_open(&c, path, &opts, NULL))
		abort();
	c->file.env.budget.limit_bytes = 1 << 20;
	ok(!sp__transfer_open(&t, &c->file, &stats, NULL) && l->nrequests > 100 &&
		   l->pool_bytes + l->nrequests * sizeof(*l->requests) <= 1 << 18,
	   "requests take a quarter of the memory");
	sp__transfer_close(&t);
	(void)sp_cube_close(c);
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
	ok(good[RESUMED] == cases, "its elements are hidden, and it completes");
	ok(good[LOADED] == cases, "loaded elements are read, in any box, and verified");
	ok(good[GROWN] == cases, "appended elements are read, and so are the old ones");
	ok(good[CHANGED] == cases, "an element that was put is read");
	ok(good[DAMAGED] == cases, "a flipped bit is found, and refused with --verify");
	test_requests();
	unlink(path);
	unlink(input);
	rmdir(dir);
	return done();
}
