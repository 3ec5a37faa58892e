/* SPDX-License-Identifier: MIT */
/*
 * Compares the source of an index with its header.
 *
 * States: unchanged; changed (another size or time, or not a regular file); moved: tar, zip and cp
 * can lose the nanoseconds of its time, so the size is the same, and the time is the recorded
 * second without nanoseconds.  If the source was moved, the full comparison of `check` decides,
 * once.  The index then gets the new time, if it can be written.
 *
 * Rejected: trusting size and second, since a source can change within a second; writing the whole
 * index, since the new time and the checksum of the header are in its first 512 bytes, which a
 * device writes as a whole.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/err.h"
#include "base/whole.h"
#include "index/indexcheck.h"
#include "index/indexfile.h"

#define TIME_BYTES 40

static void put_time(char text[TIME_BYTES], const struct sp__file_state *s)
{
	time_t seconds = (time_t)s->mtime_s;
	struct tm tm;
	size_t n = gmtime_r(&seconds, &tm) ? strftime(text, 32, "%Y-%m-%d %H:%M:%S", &tm) : 0;

	snprintf(text + n, TIME_BYTES - n, ".%09" PRIu64, s->mtime_ns);
}

/* Sets ix->stale and ix->moved. */
static void compare(struct sp__index *ix, const struct stat *st)
{
	const struct sp__file_state now = sp__file_state(st), *then = &ix->header.source_state;
	char now_text[TIME_BYTES], then_text[TIME_BYTES];

	*ix->stale = '\0';
	ix->moved = false;
	ix->compared = now;
	if (!S_ISREG(st->st_mode)) {
		snprintf(ix->stale, sizeof(ix->stale), "it is not a regular file");
	} else if (now.bytes != then->bytes) {
		snprintf(ix->stale, sizeof(ix->stale), "it has %" PRIu64 " bytes, not %" PRIu64,
			 now.bytes, then->bytes);
	} else if (sp__file_state_time(&now) != sp__file_state_time(then)) {
		put_time(now_text, &now);
		put_time(then_text, then);
		snprintf(ix->stale, sizeof(ix->stale), "its time is %s, not %s", now_text,
			 then_text);
		ix->moved = now.mtime_ns == 0 && now.mtime_s == then->mtime_s;
	}
}

int sp__index_stale_err(const struct sp__index *ix)
{
	if (ix->missing)
		return sp__errf(ix->env->err, ix->missing, "open", ix->source, -1,
				"%s (the source of the index %.100s)", ix->stale, ix->path);
	return sp__errf(ix->env->err, -ESTALE, "open", ix->path, -1,
			"its source %.100s has changed since: %s: build the index again",
			ix->source, ix->stale);
}

static int no_source(struct sp__index *ix)
{
	ix->missing = -errno;
	snprintf(ix->stale, sizeof(ix->stale), "%s", strerror(-ix->missing));
	return ix->any_source ? 0 : sp__index_stale_err(ix);
}

int sp__index_open_source(struct sp__index *ix)
{
	struct stat st;

	/* Not opened yet: opening a pipe of that name would wait. */
	if (stat(ix->source, &st) < 0)
		return no_source(ix);
	compare(ix, &st);
	if (!*ix->stale || ix->moved || (ix->any_source && S_ISREG(st.st_mode))) {
		ix->source_fd = open(ix->source, O_RDONLY | O_CLOEXEC);
		if (ix->source_fd < 0 || fstat(ix->source_fd, &st) < 0)
			return no_source(ix);
		compare(ix, &st);
	}
	return *ix->stale && !ix->moved && !ix->any_source ? sp__index_stale_err(ix) : 0;
}

/* Writes the compared time into the header.  False: the index cannot be written. */
static bool record_time(struct sp__index *ix)
{
	struct sp__index_header h = ix->header;
	struct stat open_file, file;
	uint8_t *data = malloc(h.header_bytes);
	int fd = open(ix->path, O_WRONLY | O_CLOEXEC);
	bool done = false;

	if (data && fd >= 0 && fstat(ix->fd, &open_file) == 0 && fstat(fd, &file) == 0 &&
	    file.st_dev == open_file.st_dev && file.st_ino == open_file.st_ino) {
		h.source_state.mtime_s = ix->compared.mtime_s;
		h.source_state.mtime_ns = ix->compared.mtime_ns;
		sp__index_header_encode(&h, data);
		done = sp__write_whole(fd, data, SP__INDEX_NUMBERS_BYTES, 0) == 0 && fsync(fd) == 0;
	}
	if (done)
		ix->header = h;
	free(data);
	if (fd >= 0)
		close(fd);
	return done;
}

/* True if the source is still the compared one; it can change while it is read. */
static bool still_moved(struct sp__index *ix)
{
	const struct sp__file_state before = ix->compared;
	struct stat st;

	if (fstat(ix->source_fd, &st) < 0)
		return false;
	compare(ix, &st);
	return ix->moved && sp__file_state_same(&ix->compared, &before);
}

int sp__index_accept(struct sp__index *ix)
{
	if (ix->moved && !still_moved(ix))
		return sp__index_stale_err(ix);
	if (*ix->stale && !ix->moved)
		return sp__errf(
			ix->env->err, -ESTALE, "check", ix->path, -1,
			"its source %.80s has the same content, but %s: build the index again",
			ix->source, ix->stale);
	if (ix->moved)
		(void)record_time(ix);
	ix->moved = false;
	*ix->stale = '\0';
	return 0;
}

int sp__index_settle(struct sp__index *ix)
{
	int rc = ix->moved ? sp__index_check(ix, NULL) : 0;

	return rc ? rc : sp__index_accept(ix);
}
