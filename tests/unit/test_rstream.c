/* SPDX-License-Identifier: MIT */
#define TAP_THREADS

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/rng.h"
#include "io/rstream.h"
#include "tap.h"

#define BIG ((size_t)5 * 1024 * 1024 + 777)
#define CHUNK ((size_t)256 * 1024)

static char *truth;

static int temp_file(size_t bytes)
{
	char path[4096];
	const char *dir = getenv("TMPDIR");
	int fd;

	snprintf(path, sizeof(path), "%s/rstreamXXXXXX", dir && *dir ? dir : "/tmp");
	fd = mkstemp(path);
	if (fd < 0 || unlink(path) || write(fd, truth, bytes) != (ssize_t)bytes)
		ok(false, "a temporary file is made");
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static struct sp__rstream_opts options(const char *engine, enum sp__direct direct)
{
	return (struct sp__rstream_opts){
		.engine = engine, .direct = direct, .chunk_bytes = CHUNK, .depth = 3
	};
}

/* Reads on to the end: true if it is truth from offset `from` up to `to`. */
static bool rest_is(struct sp__rstream *rs, size_t from, size_t to)
{
	const char *data;
	size_t bytes;
	int rc;

	while ((rc = sp__rstream_next(rs, &data, &bytes, true)) == SP_READY) {
		if (bytes == 0 || bytes > to - from || memcmp(data, truth + from, bytes) != 0)
			return false;
		from += bytes;
	}
	return rc == SP_END && from == to && sp__rstream_next(rs, &data, &bytes, true) == SP_END;
}

static void check_file(const char *engine, enum sp__direct direct, size_t bytes, size_t from)
{
	struct sp__rstream_opts o = options(engine, direct);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__io_counters c;
	struct sp__rstream *rs;
	int fd = temp_file(bytes);

	lseek(fd, (off_t)from, SEEK_SET);
	if (sp__rstream_open(&rs, fd, "file", &o, &err)) {
		skip("a file is read", sp_strerror(err.code));
		close(fd);
		return;
	}
	ok(rest_is(rs, from, bytes), "%s, direct %d: %zu bytes from offset %zu are read",
	   engine ? engine : "auto", (int)direct, bytes, from);
	ok(lseek(fd, 0, SEEK_CUR) == (off_t)bytes,
	   "the descriptor's offset is the end of the file");
	sp__rstream_counters(rs, &c);
	ok(c.read_bytes >= bytes - from && c.read_bytes < bytes - from + 8192,
	   "the counters tell of these bytes");
	ok(err.code == 0, "no error is set");
	sp__rstream_close(rs);
	close(fd);
}

static void check_files(void)
{
	static const char *const engines[] = { NULL,
					       "io_uring",
					       "libaio",
					       "sync",
					       "fault:REORDER=2:auto",
					       "fault:ERROR=SHORT,COUNT=0:auto" };

	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
		for (int d = SP__DIRECT_AUTO; d <= SP__DIRECT_ALWAYS; d++) {
			check_file(engines[i], d, BIG, 0);
			check_file(engines[i], d, BIG, 5001);
		}
	check_file(NULL, SP__DIRECT_ALWAYS, BIG, 4096);
	check_file(NULL, SP__DIRECT_ALWAYS, (size_t)4 << 20, 0);
	check_file(NULL, SP__DIRECT_AUTO, 0, 0);
	check_file(NULL, SP__DIRECT_AUTO, 1, 0);
	check_file(NULL, SP__DIRECT_AUTO, 100000, 99999);
	check_file(NULL, SP__DIRECT_ALWAYS, BIG, BIG - 5);
	check_file(NULL, SP__DIRECT_AUTO, BIG, BIG);
}

static void check_small_is_cheap(void)
{
	struct sp__rstream_opts o = options(NULL, SP__DIRECT_AUTO);
	int fd = temp_file(1000), before = dup(0), after;
	struct sp__rstream *rs;

	close(before);
	if (sp__rstream_open(&rs, fd, "file", &o, NULL))
		return;
	after = dup(0);
	close(after);
	ok(before == after, "a small file costs no descriptor");
	ok(strcmp(sp__rstream_engine(rs), "read") == 0, "reading directly needs no engine");
	sp__rstream_close(rs);
	close(fd);
}

/* The file changes after the first chunk was read. */
static void check_change(size_t to, enum sp__direct direct)
{
	struct sp__rstream_opts o = options(NULL, direct);
	size_t size = (size_t)3 << 20, bytes;
	struct sp__rstream *rs;
	int fd = temp_file(size);
	const char *data;

	if (sp__rstream_open(&rs, fd, "file", &o, NULL))
		return;
	ok(sp__rstream_next(rs, &data, &bytes, true) == SP_READY && bytes == CHUNK,
	   "the first chunk is read");
	if (to > size)
		ok(pwrite(fd, truth + size, to - size, (off_t)size) == (ssize_t)(to - size),
		   "the file grows");
	else
		ok(ftruncate(fd, (off_t)to) == 0, "the file shrinks");
	if (to > size) {
		ok(rest_is(rs, CHUNK, to), "it is read to its new end (direct %d)", (int)direct);
	} else {
		/* Chunks read ahead may still hold what was there. */
		int rc;

		while ((rc = sp__rstream_next(rs, &data, &bytes, true)) == SP_READY)
			;
		ok(rc == SP_EFORMAT, "its end is an error (direct %d)", (int)direct);
	}
	sp__rstream_close(rs);
	close(fd);
}

static void check_errors(void)
{
	struct sp__rstream_opts o = options("fault:NTH=3,ERROR=EIO:sync", SP__DIRECT_AUTO);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__rstream *rs;
	const char *data;
	size_t bytes;
	int fd = temp_file(BIG), rc;

	if (sp__rstream_open(&rs, fd, "some file", &o, &err))
		return;
	rc = sp__rstream_next(rs, &data, &bytes, true);
	ok(rc == SP_READY && sp__rstream_next(rs, &data, &bytes, true) == SP_READY,
	   "bytes read before the error are returned");
	rc = sp__rstream_next(rs, &data, &bytes, true);
	ok(rc == -EIO && err.code == -EIO && strcmp(err.op, "read") == 0 &&
		   strcmp(err.path, "some file") == 0 && err.offset == 2 * (long long)CHUNK,
	   "the error tells file and offset");
	ok(sp__rstream_next(rs, &data, &bytes, true) == -EIO, "and stays");
	sp__rstream_close(rs);
	close(fd);
}

static void check_late_refusal(void)
{
	struct sp__rstream_opts o =
		options("fault:NTH=2,COUNT=0,ERROR=EINVAL:auto", SP__DIRECT_ALWAYS);
	struct sp__rstream *rs;
	int fd = temp_file(BIG);

	if (sp__rstream_open(&rs, fd, "file", &o, NULL))
		return;
	ok(rest_is(rs, 0, BIG), "if direct reading is refused, reading continues buffered");
	sp__rstream_close(rs);
	close(fd);
}

static void check_directory(void)
{
	struct sp__rstream_opts o = options(NULL, SP__DIRECT_AUTO);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__rstream *rs;
	const char *data;
	size_t bytes;
	int fd = open("/", O_RDONLY);

	ok(sp__rstream_open(&rs, fd, "/", &o, &err) == 0 &&
		   sp__rstream_next(rs, &data, &bytes, true) == -EISDIR && err.code == -EISDIR,
	   "reading a directory is an error of the read");
	sp__rstream_close(rs);
	close(fd);
}

static void *feed(void *arg)
{
	int fd = *(int *)arg;

	for (size_t at = 0; at < BIG;) {
		size_t n = at % 40000 + 1;
		ssize_t w = write(fd, truth + at, n < BIG - at ? n : BIG - at);

		if (w < 0)
			break;
		at += (size_t)w;
	}
	close(fd);
	return NULL;
}

static void check_pipe(void)
{
	struct sp__rstream_opts o = options(NULL, SP__DIRECT_ALWAYS);
	struct sp__rstream *rs;
	const char *data;
	pthread_t thread;
	size_t bytes;
	int fds[2];

	if (pipe(fds) || sp__rstream_open(&rs, fds[0], "pipe", &o, NULL))
		return;
	ok(sp__rstream_next(rs, &data, &bytes, false) == SP_LATER,
	   "an empty pipe has nothing yet for a reader that does not wait");
	ok(write(fds[1], truth, 3) == 3 && sp__rstream_next(rs, &data, &bytes, false) == SP_READY &&
		   bytes == 3,
	   "then what was written");
	if (fcntl(fds[0], F_SETFL, O_NONBLOCK) == 0)
		ok(sp__rstream_next(rs, &data, &bytes, false) == SP_LATER,
		   "a non-blocking pipe is the same");
	if (write(fds[1], truth, 0) < 0 || pthread_create(&thread, NULL, feed, &fds[1]))
		return;
	ok(rest_is(rs, 0, BIG), "a pipe fed in odd amounts is read to its end");
	pthread_join(thread, NULL);
	sp__rstream_close(rs);
	close(fds[0]);
}

static void check_no_wait(void)
{
	struct sp__rstream_opts o = options("fault:DELAY=3000,COUNT=0:auto", SP__DIRECT_AUTO);
	struct sp__rstream *rs;
	const char *data;
	size_t bytes, at = 0, later = 0;
	int fd = temp_file(BIG), rc;

	if (sp__rstream_open(&rs, fd, "file", &o, NULL))
		return;
	while ((rc = sp__rstream_next(rs, &data, &bytes, false)) != SP_END && rc > 0) {
		if (rc == SP_LATER)
			later++;
		else
			at += bytes;
	}
	ok(rc == SP_END && at == BIG, "a reader that never waits gets everything too");
	ok(later > 0, "after at least one LATER");
	sp__rstream_close(rs);
	close(fd);
}

/* Chunks requested beyond the one returned, after n were returned. */
static int ahead(const char *engine, bool whole, int given)
{
	struct sp__rstream_opts o = { .engine = engine,
				      .direct = SP__DIRECT_NEVER,
				      .chunk_bytes = 65536,
				      .depth = 5,
				      .whole = whole };
	struct sp__io_counters c = { 0 };
	struct sp__rstream *rs;
	const char *data;
	size_t bytes;
	int fd = temp_file(BIG), rc = sp__rstream_open(&rs, fd, "file", &o, NULL);

	if (rc)
		return rc;
	for (int i = 0; i < given && rc >= 0; i++)
		rc = sp__rstream_next(rs, &data, &bytes, true);
	sp__rstream_counters(rs, &c);
	sp__rstream_close(rs);
	close(fd);
	return rc < 0 ? rc : (int)c.read_requests - given;
}

static void check_ahead(void)
{
	ok(ahead("sync", false, 0) == 1 && ahead("sync", false, 1) == 1 &&
		   ahead("sync", false, 30) == 1,
	   "one chunk is read ahead of a reader that never has to wait");
	ok(ahead("fault:DELAY=3000,COUNT=0:sync", false, 1) == 1 &&
		   ahead("fault:DELAY=3000,COUNT=0:sync", false, 2) == 2 &&
		   ahead("fault:DELAY=3000,COUNT=0:sync", false, 6) == 4,
	   "more and more ahead of a reader that has to");
	ok(ahead("fault:DELAY=9000,COUNT=6:sync", false, 70) == 1,
	   "and fewer again once chunks come in time");
	ok(ahead("sync", true, 0) == 5 && ahead("sync", true, 1) == 4 &&
		   ahead("sync", true, 40) == 4,
	   "the whole depth ahead of a reader that reads to the end");
}

#define STREAMS 3

/* Streams that share a queue and memory, read alternately; then one is closed in the middle. */
static void check_shared(const char *engine)
{
	struct sp__rstream_opts o = options(engine, SP__DIRECT_ALWAYS);
	struct sp__queue_opts qo = { .engine = engine, .depth = 2 };
	const size_t each = o.depth * CHUNK;
	char *memory = sp__pages_alloc(STREAMS * each, true);
	struct sp__rstream *rs[STREAMS] = { NULL };
	size_t at[STREAMS] = { 0 }, bytes;
	struct sp__io_counters c, of_queue;
	int fd[STREAMS], ends = 0;
	bool right = memory;
	const char *data;

	if (sp__queue_open(&o.queue, &qo, NULL)) {
		skip("streams share a queue", engine);
		sp__pages_free(memory, STREAMS * each);
		return;
	}
	for (int i = 0; i < STREAMS; i++) {
		fd[i] = temp_file(BIG);
		o.memory = memory + (size_t)i * each;
		right &= sp__rstream_open(&rs[i], fd[i], "file", &o, NULL) == 0;
	}
	/* The last one falls behind, and is abandoned. */
	for (unsigned turn = 0; right && ends < STREAMS - 1; turn++) {
		int i = turn % 10 ? (int)(turn % (STREAMS - 1)) : STREAMS - 1;
		int rc = sp__rstream_next(rs[i], &data, &bytes, true);

		if (rc == SP_READY) {
			right = data >= memory + (size_t)i * each &&
				data + bytes <= memory + (size_t)(i + 1) * each &&
				memcmp(data, truth + at[i], bytes) == 0;
			at[i] += bytes;
		} else if (rc == SP_END && at[i] == BIG) {
			at[i] = 0;
			ends++;
		} else if (rc != SP_END) {
			right = false;
		}
	}
	ok(right && at[STREAMS - 1] > 0 && at[STREAMS - 1] < BIG,
	   "streams with one queue (%s) and memory are read alternately", engine ? engine : "auto");
	of_queue = *sp__queue_counters(o.queue);
	sp__rstream_counters(rs[0], &c);
	ok(of_queue.read_bytes > 2 * c.read_bytes && of_queue.read_bytes > 2 * (BIG - CHUNK),
	   "the queue counts their requests");
	sp__queue_close(o.queue);
	for (int i = 0; i < STREAMS; i++) {
		sp__rstream_close(rs[i]);
		close(fd[i]);
	}
	sp__pages_free(memory, STREAMS * each);
}

/* A thread of its own reads a compressed input, without the caller's queue. */
static void check_unpacked(void)
{
	struct sp__rstream_opts o = options("sync", SP__DIRECT_ALWAYS);
	struct sp__queue_opts qo = { .engine = "sync", .depth = 2 };
	struct sp__rstream *rs = NULL;
	int fd = temp_file(BIG);
	const char *data;
	size_t bytes;
	bool right = sp__queue_open(&o.queue, &qo, NULL) == 0;

	o.unpack = SP_PACKED_GZIP;
	right = right && sp__rstream_open(&rs, fd, "file", &o, NULL) == 0;
	ok(right && sp__rstream_next(rs, &data, &bytes, true) == SP_EFORMAT &&
		   sp__queue_counters(o.queue)->read_requests == 0,
	   "a compressed input is not read through the caller's queue");
	sp__queue_close(o.queue);
	sp__rstream_close(rs);
	close(fd);
}

/* A file that grows is read on into borrowed memory, of no whole huge pages, and not behind it. */
static void check_borrowed(void)
{
	struct sp__rstream_opts o = { .direct = SP__DIRECT_ALWAYS,
				      .chunk_bytes = 9 * CHUNK / 4,
				      .depth = 2 };
	const size_t each = o.depth * o.chunk_bytes, size = (size_t)3 << 20, guard = BIG;
	struct sp__rstream *rs;
	int fd = temp_file(size), rc;
	size_t at = 0, bytes;
	bool within = true;
	const char *data;

	o.memory = sp__pages_alloc(each + guard, true);
	if (!o.memory || sp__rstream_open(&rs, fd, "file", &o, NULL))
		return;
	within = pwrite(fd, truth + size, BIG - size, (off_t)size) == (ssize_t)(BIG - size);
	while ((rc = sp__rstream_next(rs, &data, &bytes, true)) == SP_READY && within) {
		within = data >= o.memory && data + bytes <= o.memory + each &&
			 memcmp(data, truth + at, bytes) == 0;
		at += bytes;
	}
	ok(rc == SP_END && at == BIG && within,
	   "borrowed memory is not exceeded by a file that grows");
	sp__rstream_close(rs);
	sp__pages_free(o.memory, each + guard);
	close(fd);
}

int main(void)
{
	struct sp__rng rng = { 7 };

	truth = malloc(BIG + 8);
	for (size_t i = 0; i < BIG / 8 + 1; i++)
		memcpy(truth + 8 * i, &(uint64_t){ sp__rng_next(&rng) }, 8);
	check_files();
	check_small_is_cheap();
	check_change((size_t)4 << 20, SP__DIRECT_NEVER);
	check_change(((size_t)3 << 20) + 5, SP__DIRECT_ALWAYS);
	check_change((size_t)1 << 20, SP__DIRECT_NEVER);
	check_change(((size_t)2 << 20) + 17, SP__DIRECT_ALWAYS);
	check_errors();
	check_late_refusal();
	check_directory();
	check_pipe();
	check_no_wait();
	check_ahead();
	check_borrowed();
	check_shared(NULL);
	check_shared("sync");
	check_shared("libaio");
	check_shared("fault:REORDER=2:auto");
	check_unpacked();
	free(truth);
	return done();
}
