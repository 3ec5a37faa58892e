/* SPDX-License-Identifier: MIT */
/* Ranges of a result made by several threads and written in order: to files and sequentially. */
#define TAP_THREADS

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/rng.h"
#include "base/task.h"
#include "io/ordered.h"
#include "tap.h"

#define MAKERS_MAX 16
#define BUFFER 4096u
#define RANGES 200
#define ITEM 8
#define CHUNK ((size_t)64 << 10)

/* What a test does. */
struct plan {
	unsigned makers, buffers;
	size_t max_items; /* of a range */
	bool file, announces, lies;
	enum sp__direct direct;
	uint64_t limit;
	uint64_t bad[2];  /* numbers of ranges that fail; RANGES: none */
	uint64_t refused; /* the function refuses bytes from here on; 0: none */
	uint64_t abandon; /* it abandons the output from here on; 0: never */
	bool giant;	  /* one item of a range is larger than a buffer */
};

static struct {
	struct plan plan;
	struct sp__inorder out;
	char *truth, *got;
	uint64_t starts[RANGES + 1]; /* items before each range */
	size_t offsets[RANGES];
	size_t bytes, got_bytes;
	struct sp_errinfo put_err;
	_Atomic unsigned putting;
	_Atomic bool early; /* a file was whole before its last range was written */
	bool overlap;
	int fd;
} t;

static size_t item_bytes(uint64_t range, uint64_t item)
{
	return t.plan.giant && range % 7 == 3 && item == 5 ? 3 * BUFFER : ITEM;
}

static void make_truth(void)
{
	struct sp__rng rng = { t.plan.max_items + 1 };
	size_t capacity = RANGES * (t.plan.max_items * ITEM + 4 * BUFFER);

	t.truth = malloc(capacity);
	t.got = calloc(1, capacity);
	t.bytes = t.got_bytes = 0;
	t.starts[0] = 0;
	for (uint64_t r = 0; r < RANGES; r++) {
		uint64_t n = sp__rng_below(&rng, 9) ? sp__rng_below(&rng, t.plan.max_items + 1) : 0;

		/* The end of a file is in the last range. */
		n = r == RANGES - 1 ? n + 1 : n;
		t.offsets[r] = t.bytes;
		for (uint64_t i = 0; i < n; i++) {
			size_t bytes = item_bytes(r, i);

			memset(t.truth + t.bytes, '.', bytes);
			snprintf(t.truth + t.bytes, ITEM, "%07llu",
				 (unsigned long long)(t.starts[r] + i));
			t.truth[t.bytes + ITEM - 1] = t.truth[t.bytes + bytes - 1] = '\n';
			t.bytes += bytes;
		}
		t.starts[r + 1] = t.starts[r] + n;
	}
}

static int refuse(int rc)
{
	t.put_err = (struct sp_errinfo)SP_ERRINFO_INIT;
	return sp__err(&t.put_err, rc, "write", "the function", -1);
}

static int put_one(void *arg, const char *data, size_t bytes)
{
	(void)arg;
	if (atomic_fetch_add(&t.putting, 1))
		t.overlap = true;
	memcpy(t.got + t.got_bytes, data, bytes);
	t.got_bytes += bytes;
	atomic_fetch_sub(&t.putting, 1);
	if (t.plan.abandon && t.got_bytes >= t.plan.abandon)
		sp__inorder_abandon(&t.out);
	return t.plan.refused && t.got_bytes >= t.plan.refused ? refuse(-ENOSPC) : 0;
}

static size_t cut(void *arg, const char *data, size_t bytes, uint64_t n)
{
	(void)arg, (void)data;
	return n * ITEM <= bytes ? n * ITEM : bytes;
}

/* Makes a range, whose items are at `at`. */
static void make_range(struct sp__inorder_maker *k, uint64_t range, const char *at)
{
	uint64_t n = t.starts[range + 1] - t.starts[range], bytes = 0;
	struct stat st;
	int rc = 0;

	for (uint64_t i = 0; i < n; i++)
		bytes += item_bytes(range, i);
	if (t.plan.announces)
		sp__inorder_announce(k, bytes + (t.plan.lies && range == 9));
	if (range == RANGES / 2)
		usleep(2000);
	for (uint64_t i = 0; !rc && i < n; i++) {
		bytes = item_bytes(range, i);
		rc = sp__inorder_put(k, at, bytes, bytes);
		if (!rc && i % 64 == 0)
			rc = sp__inorder_look(k);
		at += bytes;
	}
	if (t.plan.file && range < RANGES - 1 && fstat(t.fd, &st) == 0 &&
	    (size_t)st.st_size >= t.bytes + 3)
		t.early = true;
	if (!rc && (range == t.plan.bad[0] || range == t.plan.bad[1])) {
		*k->err = (struct sp_errinfo)SP_ERRINFO_INIT;
		rc = sp__errf(k->err, SP_EFORMAT, "make", NULL, (long long)range, "bad range");
	}
	if (rc && rc != SP_END)
		sp__inorder_fail(k, rc);
	else
		(void)!sp__inorder_end(k);
}

static void make(void *arg)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__inorder_maker k;
	uint64_t range;

	(void)arg;
	sp__inorder_join(&k, &t.out, &err);
	while (sp__inorder_take(&k, &range))
		make_range(&k, range, t.truth + t.offsets[range]);
	sp__inorder_leave(&k);
}

/* Runs a plan; returns its result and the end of the output. */
static int run(struct plan plan, uint64_t *end, struct sp_errinfo *err)
{
	struct sp__task tasks[MAKERS_MAX] = { 0 };
	char *mem = malloc((size_t)plan.buffers * BUFFER);
	struct sp__inorder_opts o = { .ranges = RANGES,
				      .mem = mem,
				      .buffer_bytes = BUFFER,
				      .buffers = plan.buffers,
				      .limit = plan.limit,
				      .cut = cut,
				      .put = plan.file ? NULL : put_one,
				      .put_err = &t.put_err,
				      .fd = t.fd,
				      .name = "the file",
				      .at = 3,
				      .writing = { .direct = plan.direct,
						   .chunk_bytes = CHUNK,
						   .depth = 2,
						   .expected_bytes = (uint64_t)1 << 30 } };
	int rc;

	t.plan = plan;
	make_truth();
	*err = (struct sp_errinfo)SP_ERRINFO_INIT;
	rc = sp__inorder_open(&t.out, &o, err);
	for (unsigned i = 1; !rc && i < plan.makers; i++)
		(void)!sp__task_start_thread(&tasks[i], make, NULL);
	if (!rc)
		make(NULL);
	for (unsigned i = 1; i < plan.makers; i++)
		sp__task_join(&tasks[i]);
	if (!rc)
		rc = sp__inorder_finish(&t.out, end, err);
	sp__inorder_close(&t.out);
	free(mem);
	return rc;
}

static void forget(void)
{
	free(t.truth);
	free(t.got);
}

/* A new file with three bytes before the result. */
static int new_file(void)
{
	char path[4096];
	const char *dir = getenv("TMPDIR");

	snprintf(path, sizeof(path), "%s/orderedXXXXXX", dir && *dir ? dir : "/tmp");
	t.fd = mkostemp(path, O_RDWR);
	if (t.fd < 0 || unlink(path) || write(t.fd, "abc", 3) != 3)
		ok(false, "a temporary file is made");
	t.early = false;
	return t.fd;
}

static size_t size_of_file(void)
{
	struct stat st;

	return fstat(t.fd, &st) ? 0 : (size_t)st.st_size;
}

static bool file_holds(size_t bytes)
{
	return size_of_file() == bytes + 3 && pread(t.fd, t.got, bytes, 3) == (ssize_t)bytes &&
	       memcmp(t.got, t.truth, bytes) == 0;
}

static const struct plan plans[] = {
	{ .makers = 1, .buffers = 1, .max_items = 300 },
	{ .makers = 2, .buffers = 2, .max_items = 2000 },
	{ .makers = 5, .buffers = 8, .max_items = 600, .giant = true },
	{ .makers = 16, .buffers = 3, .max_items = 1500 },
	{ .makers = 16, .buffers = 32, .max_items = 400 },
	{ .makers = 8, .buffers = 12, .max_items = 3000, .announces = true },
	{ .makers = 8, .buffers = 12, .max_items = 20000, .giant = true, .announces = true },
	{ .makers = 3, .buffers = 4, .max_items = 20000, .direct = SP__DIRECT_ALWAYS },
	{ .makers = 4,
	  .buffers = 4,
	  .max_items = 60000,
	  .giant = true,
	  .announces = true,
	  .direct = SP__DIRECT_ALWAYS },
};

static void test_whole(void)
{
	struct sp_errinfo err;
	uint64_t end;

	for (size_t i = 0; i < sizeof(plans) / sizeof(*plans); i++) {
		struct plan p = plans[i];

		p.bad[0] = p.bad[1] = RANGES;
		ok(run(p, &end, &err) == 0 && t.got_bytes == t.bytes &&
			   !memcmp(t.got, t.truth, t.bytes) && !t.overlap,
		   "%u makers write sequentially", p.makers);
		forget();
		p.file = true;
		new_file();
		ok(run(p, &end, &err) == 0 && end == t.bytes + 3 && file_holds(t.bytes) &&
			   lseek(t.fd, 0, SEEK_CUR) == (off_t)end && !t.early,
		   "%u makers write a file", p.makers);
		forget();
		close(t.fd);
	}
}

static void test_limit(void)
{
	struct plan p = { .makers = 6, .buffers = 9, .bad = { RANGES, RANGES } };
	const uint64_t limits[] = { 1, 5, 777, 20000 };
	struct sp_errinfo err;
	uint64_t end;

	for (size_t i = 0; i < 8; i++) {
		p.limit = limits[i / 2];
		p.max_items = i % 2 ? 2500 : 300;
		ok(run(p, &end, &err) == 0 && t.got_bytes == p.limit * ITEM &&
			   !memcmp(t.got, t.truth, t.got_bytes),
		   "sequentially, the first %llu items are written", (unsigned long long)p.limit);
		forget();
		p.file = true;
		new_file();
		ok(run(p, &end, &err) == 0 && file_holds(p.limit * ITEM),
		   "a file gets the first %llu items", (unsigned long long)p.limit);
		forget();
		close(t.fd);
		p.file = false;
	}
	p.limit = 10000000;
	ok(run(p, &end, &err) == 0 && t.got_bytes == t.bytes, "fewer items than wanted");
	forget();
}

/* The range that has the last item wanted takes longer than the next one, which fails. */
static void test_limit_before_error(void)
{
	struct plan p = { .makers = 6, .buffers = 9, .max_items = 300, .bad = { RANGES, RANGES } };
	const uint64_t last = RANGES / 2;
	struct sp_errinfo err;
	uint64_t end;

	(void)!run(p, &end, &err);
	forget();
	/* Its first item, or that of a later range if it has none. */
	p.limit = t.starts[last] + 1;
	p.bad[0] = p.bad[1] = last + 1;
	while (t.starts[p.bad[0]] < p.limit)
		p.bad[0] = ++p.bad[1];
	ok(run(p, &end, &err) == 0 && t.got_bytes == p.limit * ITEM,
	   "an error behind the last item wanted does not count");
	forget();
}

static size_t bytes_before(uint64_t range)
{
	return t.starts[range] * ITEM;
}

static void test_errors(void)
{
	struct plan p = { .makers = 7, .buffers = 10, .max_items = 600, .bad = { 120, 60 } };
	struct sp_errinfo err;
	uint64_t end;
	int rc = run(p, &end, &err);

	ok(rc == SP_EFORMAT && err.offset == 60, "the error of the lowest range is returned");
	ok(t.got_bytes >= bytes_before(60) && t.got_bytes <= bytes_before(61) &&
		   !memcmp(t.got, t.truth, t.got_bytes),
	   "sequentially, the ranges before it are written");
	forget();
	p.file = true;
	new_file();
	(void)!write(t.fd, "defghij", 7);
	ok(run(p, &end, &err) == SP_EFORMAT && err.offset == 60, "also for a file");
	ok(size_of_file() == 10, "which gets its old length");
	forget();
	close(t.fd);
	p.file = false;
	p.bad[0] = p.bad[1] = RANGES;
	p.refused = 30000;
	ok(run(p, &end, &err) == -ENOSPC && err.path[0] == 't' && t.got_bytes >= 30000 &&
		   t.got_bytes < 30000 + 3 * BUFFER,
	   "an error of the function stops all");
	forget();
	p.max_items = 5000;
	ok(run(p, &end, &err) == -ENOSPC && err.path[0] == 't', "also within a range");
	forget();
	p.refused = 0;
	p.abandon = 20000;
	ok(run(p, &end, &err) == -ECANCELED && t.got_bytes < 20000 + 3 * BUFFER,
	   "an abandoned output stops all");
	forget();
	p = (struct plan){
		.makers = 4, .buffers = 6, .max_items = 2000, .bad = { RANGES, RANGES }
	};
	p.file = p.announces = p.lies = true;
	new_file();
	ok(run(p, &end, &err) == SP_EBALANCE && size_of_file() == 3,
	   "a length announced that is wrong is an error");
	forget();
	close(t.fd);
	t.fd = open("/dev/null", O_RDONLY);
	p.announces = p.lies = false;
	ok(run(p, &end, &err) == -EBADF, "a file that cannot be written is an error");
	forget();
	close(t.fd);
}

int main(void)
{
	sp__tasks_open(MAKERS_MAX);
	test_whole();
	test_limit();
	test_limit_before_error();
	test_errors();
	sp__tasks_close();
	return done();
}
