/* SPDX-License-Identifier: MIT */
#define TAP_THREADS

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/rng.h"
#include "io/wstream.h"
#include "tap.h"

#define BIG ((size_t)9 * 1024 * 1024 + 4321)
#define CHUNK ((size_t)512 * 1024)

static char *truth, *back;

static int temp_file(int flags)
{
	char path[4096];
	const char *dir = getenv("TMPDIR");
	int fd;

	snprintf(path, sizeof(path), "%s/wstreamXXXXXX", dir && *dir ? dir : "/tmp");
	fd = mkostemp(path, flags);
	if (fd < 0 || unlink(path))
		ok(false, "a temporary file is made");
	return fd;
}

static struct sp__wstream *open_stream(int fd, const char *engine, enum sp__direct direct,
				       uint64_t expected, struct sp_errinfo *err)
{
	struct sp__wstream_opts o = { .engine = engine,
				      .direct = direct,
				      .chunk_bytes = CHUNK,
				      .depth = 3,
				      .expected_bytes = expected };
	struct sp__wstream *ws = NULL;

	return sp__wstream_open(&ws, fd, "output", &o, err) ? NULL : ws;
}

/* Puts odd amounts, some larger than a chunk. */
static int put_all(struct sp__wstream *ws, size_t bytes)
{
	struct sp__rng rng = { bytes };
	size_t at = 0;
	int rc = 0;

	while (rc == 0 && at < bytes) {
		size_t n = 1 + sp__rng_below(&rng, sp__rng_below(&rng, 9) ? 70000 : 3 * CHUNK);

		if (n > bytes - at)
			n = bytes - at;
		rc = sp__wstream_put(ws, truth + at, n);
		at += n;
	}
	return rc;
}

static bool holds(int fd, size_t at, size_t bytes)
{
	return pread(fd, back, bytes, (off_t)at) == (ssize_t)bytes &&
	       memcmp(back, truth, bytes) == 0;
}

static off_t size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? -1 : st.st_size;
}

/* Far more blocks than the bytes need; a few hold the file system's own tree. */
static bool surplus(int fd)
{
	struct stat st;

	return fstat(fd, &st) || (long long)st.st_blocks * 512 > (long long)st.st_size + 131072;
}

static void check_file(const char *engine, enum sp__direct direct, size_t bytes, size_t from,
		       uint64_t expected)
{
	int fd = temp_file(0), rc;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__wstream *ws = open_stream(fd, engine, direct, expected, &err);
	struct sp__io_counters c;

	if (from &&
	    (pwrite(fd, "x", 1, (off_t)from - 1) != 1 || lseek(fd, (off_t)from, SEEK_SET) < 0))
		ok(false, "the file begins somewhere");
	rc = put_all(ws, bytes);
	if (rc == 0)
		rc = sp__wstream_finish(ws);
	ok(rc == 0 && err.code == 0 && holds(fd, from, bytes),
	   "%s, direct %d, expecting %llu: %zu bytes are written at %zu", engine ? engine : "auto",
	   (int)direct, (unsigned long long)expected, bytes, from);
	ok(size_of(fd) == (off_t)(from + bytes), "the file has that length");
	ok(lseek(fd, 0, SEEK_CUR) == (off_t)(from + bytes),
	   "the descriptor is positioned after them");
	ok(!surplus(fd), "and no space is left reserved");
	sp__wstream_counters(ws, &c);
	ok(c.write_bytes == bytes, "the counters tell of these bytes");
	sp__wstream_close(ws);
	close(fd);
}

static void check_files(void)
{
	static const char *const engines[] = { NULL,
					       "libaio",
					       "sync",
					       "fault:REORDER=2:auto",
					       "fault:ERROR=SHORT,COUNT=0:auto",
					       "fault:ERROR=EINVAL,NTH=2,COUNT=0:auto" };

	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		check_file(engines[i], SP__DIRECT_AUTO, BIG, 0, BIG);
		check_file(engines[i], SP__DIRECT_ALWAYS, BIG, 5001, 0);
	}
	check_file(NULL, SP__DIRECT_NEVER, BIG, 5001, 0);
	check_file(NULL, SP__DIRECT_AUTO, BIG, 0, 0);
	check_file(NULL, SP__DIRECT_AUTO, BIG, 0, 4 * BIG);
	check_file(NULL, SP__DIRECT_AUTO, (size_t)8 << 20, 4096, 0);
	check_file(NULL, SP__DIRECT_ALWAYS, CHUNK, 0, 0);
	check_file(NULL, SP__DIRECT_ALWAYS, CHUNK + 1, 4095, 0);
	check_file(NULL, SP__DIRECT_AUTO, 1, 0, 0);
	check_file(NULL, SP__DIRECT_AUTO, 0, 0, 0);
}

/* Into the middle of a longer file: what follows stays. */
static void check_middle(void)
{
	int fd = temp_file(0), rc;
	struct sp__wstream *ws = open_stream(fd, NULL, SP__DIRECT_ALWAYS, 0, NULL);
	off_t end = (off_t)BIG + 100000;
	char mark[5] = "";

	if (pwrite(fd, "mark", 4, end) != 4 || lseek(fd, 1000, SEEK_SET) < 0)
		return;
	rc = put_all(ws, BIG);
	rc = rc ? rc : sp__wstream_finish(ws);
	ok(rc == 0 && holds(fd, 1000, BIG), "bytes are written into the middle of a file");
	ok(size_of(fd) == end + 4 && pread(fd, mark, 4, end) == 4 && strcmp(mark, "mark") == 0,
	   "the data after them stays");
	sp__wstream_close(ws);
	close(fd);
}

static void check_append(void)
{
	int fd = temp_file(O_APPEND), rc;
	struct sp__wstream *ws = open_stream(fd, NULL, SP__DIRECT_AUTO, BIG, NULL);

	if (write(fd, "head", 4) != 4 || lseek(fd, 0, SEEK_SET) < 0)
		return;
	rc = put_all(ws, BIG);
	rc = rc ? rc : sp__wstream_finish(ws);
	ok(rc == 0 && holds(fd, 4, BIG) && size_of(fd) == (off_t)BIG + 4,
	   "a file opened for appending is appended to");
	sp__wstream_close(ws);
	close(fd);
}

/* Bytes put into the stream's own memory, between others. */
static void check_pinned(const char *engine)
{
	int fd = temp_file(0), rc = 0, pinned = 0;
	struct sp__wstream *ws = open_stream(fd, engine, SP__DIRECT_ALWAYS, BIG, NULL);
	struct sp__rng rng = { 3 };
	size_t at = 0, bytes, n;
	char *to;

	ok(!sp__wstream_pin(ws, &bytes), "a stream without a queue has no memory to pin");
	while (!rc && at < BIG) {
		to = sp__rng_below(&rng, 3) ? sp__wstream_pin(ws, &bytes) : NULL;
		n = to ? bytes : CHUNK / 3;
		n = sp__rng_below(&rng, 4) ? sp__rng_below(&rng, n + 1) : n;
		n = n < BIG - at ? n : BIG - at;
		if (to)
			memcpy(to, truth + at, n);
		rc = to ? sp__wstream_put_pinned(ws, n) : sp__wstream_put(ws, truth + at, n);
		at += n;
		pinned += to != NULL;
	}
	rc = rc ? rc : sp__wstream_finish(ws);
	ok(rc == 0 && pinned > 10 && holds(fd, 0, BIG) && size_of(fd) == (off_t)BIG,
	   "bytes put into pinned memory are written");
	sp__wstream_close(ws);
	close(fd);
}

static void check_two_streams(void)
{
	int fd = temp_file(0), rc = 0;

	for (int i = 0; i < 2 && rc == 0; i++) {
		struct sp__wstream *ws = open_stream(fd, NULL, SP__DIRECT_ALWAYS, 0, NULL);

		rc = put_all(ws, BIG);
		rc = rc ? rc : sp__wstream_finish(ws);
		sp__wstream_close(ws);
	}
	ok(rc == 0 && holds(fd, 0, BIG) && holds(fd, BIG, BIG) && size_of(fd) == 2 * (off_t)BIG,
	   "a second stream continues where the first ended");
	close(fd);
}

static void *drink(void *arg)
{
	int fd = *(int *)arg;
	size_t at = 0;
	ssize_t n;

	while (at < BIG && (n = read(fd, back + at, BIG - at)) > 0)
		at += (size_t)n;
	return at == BIG && memcmp(back, truth, BIG) == 0 ? arg : NULL;
}

static void check_pipe(bool blocking)
{
	struct sp__wstream *ws;
	pthread_t thread;
	int fds[2], rc;
	void *good = NULL;

	if (pipe(fds) || (!blocking && fcntl(fds[1], F_SETFL, O_NONBLOCK)))
		return;
	ws = open_stream(fds[1], NULL, SP__DIRECT_ALWAYS, BIG, NULL);
	if (pthread_create(&thread, NULL, drink, &fds[0]))
		return;
	rc = put_all(ws, BIG);
	rc = rc ? rc : sp__wstream_finish(ws);
	pthread_join(thread, &good);
	ok(rc == 0 && good, "a %s pipe gets everything", blocking ? "plain" : "non-blocking");
	sp__wstream_close(ws);
	close(fds[0]);
	close(fds[1]);
}

static void check_closed_pipe(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__wstream *ws;
	int fds[2], rc;

	signal(SIGPIPE, SIG_IGN);
	if (pipe(fds))
		return;
	close(fds[0]);
	ws = open_stream(fds[1], NULL, SP__DIRECT_AUTO, 0, &err);
	ok(sp__wstream_put(ws, truth, 100) == 0, "a little is only gathered");
	rc = sp__wstream_finish(ws);
	ok(rc == -EPIPE && err.code == -EPIPE && strcmp(err.op, "write") == 0,
	   "a pipe without a reader is an error of the write");
	ok(sp__wstream_put(ws, truth, 1) == -EPIPE && sp__wstream_finish(ws) == -EPIPE,
	   "which stays");
	sp__wstream_close(ws);
	close(fds[1]);
}

static void check_full(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int fd = open("/dev/full", O_WRONLY), rc;
	struct sp__wstream *ws;

	if (fd < 0) {
		skip("a full device is an error of the write", "there is no /dev/full");
		return;
	}
	ws = open_stream(fd, NULL, SP__DIRECT_AUTO, BIG, &err);
	rc = put_all(ws, BIG);
	ok(rc == -ENOSPC && err.code == -ENOSPC && strcmp(err.op, "write") == 0 &&
		   strcmp(err.path, "output") == 0,
	   "a full device is an error of the write");
	sp__wstream_close(ws);
	close(fd);
}

/* A chunk fails while later ones are in flight. */
static void check_failure(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int fd = temp_file(0), rc;
	struct sp__wstream *ws =
		open_stream(fd, "fault:NTH=3,ERROR=ENOSPC:auto", SP__DIRECT_ALWAYS, BIG, &err);

	rc = put_all(ws, BIG);
	rc = rc ? rc : sp__wstream_finish(ws);
	ok(rc == -ENOSPC && err.code == -ENOSPC && err.offset == 2 * (long long)CHUNK,
	   "a failing chunk is reported with its offset");
	sp__wstream_close(ws);
	ok(size_of(fd) == 2 * (off_t)CHUNK && holds(fd, 0, 2 * CHUNK),
	   "the file keeps the data before it and nothing after");
	close(fd);
}

static void check_abandoned(void)
{
	int fd = temp_file(0);
	struct sp__wstream *ws = open_stream(fd, NULL, SP__DIRECT_ALWAYS, 50 * BIG, NULL);

	ok(put_all(ws, BIG) == 0, "much is put");
	sp__wstream_close(ws);
	ok(size_of(fd) <= (off_t)BIG && !surplus(fd),
	   "a stream that is abandoned leaves no reserved space");
	close(fd);
}

static void check_states(void)
{
	int fd = temp_file(0);
	struct sp__wstream *ws = open_stream(fd, NULL, SP__DIRECT_AUTO, 0, NULL);

	ok(sp__wstream_finish(ws) == 0 && sp__wstream_put(ws, "x", 1) == SP_ESTATE,
	   "nothing can be put after the end");
	sp__wstream_close(ws);
	sp__wstream_close(NULL);
	ws = open_stream(fd, "nosuch", SP__DIRECT_ALWAYS, 0, NULL);
	ok(put_all(ws, BIG) == -EINVAL, "an engine that does not exist is an error");
	sp__wstream_close(ws);
	close(fd);
}

int main(void)
{
	struct sp__rng rng = { 8 };

	truth = malloc(BIG + 8);
	back = malloc(BIG);
	for (size_t i = 0; i < BIG / 8 + 1; i++)
		memcpy(truth + 8 * i, &(uint64_t){ sp__rng_next(&rng) }, 8);
	check_files();
	check_middle();
	check_append();
	check_pinned(NULL);
	check_pinned("sync");
	check_two_streams();
	check_pipe(true);
	check_pipe(false);
	check_closed_pipe();
	check_full();
	check_failure();
	check_abandoned();
	check_states();
	free(truth);
	free(back);
	return done();
}
