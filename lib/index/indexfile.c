/* SPDX-License-Identifier: MIT */
/*
 * Opens an index: reads its header, finds its source, and makes volumes of both.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/outfile_impl.h"
#include "base/whole.h"
#include "index/indexfile.h"
#include "io/volume.h"

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

/* Opens the source at ix->source and compares it. */
static int index_open_source(struct sp__index *ix)
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

/* Compares a moved source in full, and accepts or refuses it. */
static int index_settle(struct sp__index *ix)
{
	int rc = ix->moved ? sp__index_check(ix, NULL, NULL) : 0;

	return rc ? rc : sp__index_accept(ix);
}

/* Returns the directory of a file after symbolic links are resolved; to be freed. */
static char *directory_of(const char *path, int *rc)
{
	char *file = NULL, *named, *real;

	*rc = sp__outname_resolve(path, &file);
	if (*rc < 0)
		return NULL;
	named = sp__outname_directory(file);
	real = named ? realpath(named, NULL) : NULL;
	*rc = real ? 0 : -errno;
	free(named);
	free(file);
	return real;
}

/* Returns the bytes of two absolute paths that name common directories. */
static size_t common_directories(const char *a, const char *b)
{
	size_t n = 0, same = 0;

	while (a[n] && a[n] == b[n])
		if (a[n++] == '/')
			same = n;
	if (!a[n] && b[n] == '/')
		same = n + 1;
	return same;
}

/* Makes the path from a directory to a file, both absolute.  False: it is too long. */
static bool relative_path(const char *from, const char *to, char relative[SP__INDEX_TEXT_MAX])
{
	size_t same = common_directories(from, to), n = 0;
	const char *rest = from + sp__min(same, strlen(from));

	for (const char *at = rest; *at; at++) {
		if (at > rest && at[-1] != '/')
			continue;
		if (n + sizeof("../") > SP__INDEX_TEXT_MAX)
			return false;
		strcpy(relative + n, "../");
		n += 3;
	}
	if (n + strlen(to + same) >= SP__INDEX_TEXT_MAX)
		return false;
	strcpy(relative + n, to + same);
	return true;
}

int sp__index_relative(const char *index, const char *source, char relative[SP__INDEX_TEXT_MAX],
		       struct sp_errinfo *err)
{
	char *from, *to = realpath(source, NULL);
	int rc = to ? 0 : sp__err(err, -errno, "open", source, -1);

	if (rc)
		return rc;
	from = directory_of(index, &rc);
	if (rc)
		(void)sp__err(err, rc, "open", index, -1);
	else if (!relative_path(from, to, relative))
		rc = sp__err(err, -ENAMETOOLONG, "open", source, -1);
	free(from);
	free(to);
	return rc;
}

static int read_head(struct sp__index *ix)
{
	uint8_t *data = malloc(SP__INDEX_HEADER_MAX);
	const char *reason = NULL;
	struct stat st;
	ssize_t n;
	int rc = 0;

	if (!data)
		return sp__err(ix->env->err, -ENOMEM, "open", ix->path, -1);
	n = sp__read_whole(ix->fd, data, SP__INDEX_HEADER_MAX, 0);
	if (n < 0 || fstat(ix->fd, &st)) {
		rc = n < 0 ? (int)n : -errno;
	} else {
		rc = sp__index_header_decode(&ix->header, data, (size_t)n, &reason);
		if (!rc && (uint64_t)st.st_size != ix->header.end_page * ix->header.page_bytes) {
			rc = SP_ECORRUPT;
			reason = "does not have the length that its header gives";
		}
	}
	free(data);
	return rc ? sp__errf(ix->env->err, rc, "open", ix->path, -1, "%s", reason ? reason : "")
		  : 0;
}

/* Opens a volume on a file, direct if that is requested and possible. */
static int make_volume(struct sp__index *ix, struct sp__volume **v, int fd, const char *name)
{
	const struct sp__rstream_opts reading = sp__env_reading(ix->env);
	const struct sp__volume *device = ix->header.of_table ? ix->env->device : reading.device;
	int rc;

	if (!device && reading.direct == SP__DIRECT_ALWAYS &&
	    !sp__volume_reopen_direct(v, fd, false, name))
		return 0;
	rc = sp__volume_adopt(v, fd, false, name, ix->env->err);
	if (!rc && device)
		rc = sp__volume_simulate(*v, device, SP__SIM_INPUT, (*v)->size_bytes, ix->env->err);
	return rc;
}

static void bypass_cache(struct sp__volume **v)
{
	struct sp__volume *direct;

	if ((*v)->machine || (*v)->direct || sp__file_cached((*v)->fd, 0, (*v)->size_bytes) ||
	    sp__volume_reopen_direct(&direct, (*v)->fd, false, (*v)->name) < 0)
		return;
	sp__volume_close(*v);
	*v = direct;
}

void sp__index_bypass(struct sp__index *ix)
{
	bypass_cache(&ix->nodes);
	bypass_cache(&ix->records);
}

/* Sets the path of the source, relative to the directory of the index, then resolved. */
static int find_source(struct sp__index *ix)
{
	char *index = realpath(ix->path, NULL), *real;
	int rc;

	if (!index)
		return -errno;
	rc = asprintf(&ix->source, "%.*s%s", (int)(strrchr(index, '/') + 1 - index), index,
		      ix->header.source);
	free(index);
	if (rc < 0) {
		ix->source = NULL;
		return -ENOMEM;
	}
	real = realpath(ix->source, NULL);
	if (real) {
		free(ix->source);
		ix->source = real;
	}
	return 0;
}

static int open_source(struct sp__index *ix)
{
	int rc = find_source(ix);

	if (rc)
		return sp__err(ix->env->err, rc, "open", ix->path, -1);
	rc = index_open_source(ix);
	if (rc || ix->source_fd < 0)
		return rc;
	return make_volume(ix, &ix->records, ix->source_fd, ix->source);
}

static int open_key(struct sp__index *ix)
{
	int rc = sp__indexkey_init(&ix->key, ix->header.key, &ix->header.format,
				   ix->header.separator, NULL);

	if (rc == -ENOMEM)
		return sp__err(ix->env->err, rc, "open", ix->path, -1);
	if (rc)
		return sp__errf(ix->env->err, SP_ECORRUPT, "open", ix->path, -1,
				"its key '%.64s' is damaged", ix->header.key);
	if (sp__keyset_locale(ix->key.records) != ix->header.locale)
		return sp__errf(ix->env->err, SP_EUNSUP, "open", ix->path, -1,
				"was built in another locale, in which its keys differ");
	return 0;
}

static int open_file(struct sp__index *ix, const char *path, struct sp__env *env)
{
	*ix = (struct sp__index){ .env = env, .fd = -1, .source_fd = -1 };
	ix->path = strdup(path);
	if (!ix->path)
		return sp__err(env->err, -ENOMEM, "open", path, -1);
	ix->fd = open(path, O_RDONLY | O_CLOEXEC);
	return ix->fd < 0 ? sp__err(env->err, -errno, "open", path, -1) : read_head(ix);
}

int sp__index_open_column(struct sp__index *ix, const char *path, struct sp__env *env)
{
	int rc = open_file(ix, path, env);

	if (rc)
		return rc;
	if (!ix->header.of_table)
		return sp__errf(env->err, SP_EFORMAT, "open", path, -1,
				"is an index of the file %.150s, not of a table",
				ix->header.source);
	return make_volume(ix, &ix->nodes, ix->fd, path);
}

/* Refuses the index of a column of a table: its entries are not offsets. */
static int check_source_kind(const struct sp__index *ix)
{
	const struct sp__index_header *h = &ix->header;

	return h->of_table ? sp__errf(ix->env->err, SP_EUNSUP, "open", ix->path, -1,
				      "is the index of column %.64s of the table %.100s, which "
				      "'xtable get --by' uses",
				      h->key, h->source)
			   : 0;
}

int sp__index_open_any(struct sp__index *ix, const char *path, struct sp__env *env, bool any_source)
{
	int rc = open_file(ix, path, env);

	ix->any_source = any_source;
	if (!rc)
		rc = check_source_kind(ix);
	if (!rc)
		rc = make_volume(ix, &ix->nodes, ix->fd, path);
	if (!rc)
		rc = open_key(ix);
	if (!rc)
		rc = open_source(ix);
	return rc || any_source ? rc : index_settle(ix);
}

int sp__index_open(struct sp__index *ix, const char *path, struct sp__env *env)
{
	return sp__index_open_any(ix, path, env, false);
}

void sp__index_close(struct sp__index *ix)
{
	if (!ix->path)
		return;
	sp__volume_close(ix->nodes);
	sp__volume_close(ix->records);
	sp__indexkey_free(&ix->key);
	if (ix->fd >= 0)
		close(ix->fd);
	if (ix->source_fd >= 0)
		close(ix->source_fd);
	free(ix->path);
	free(ix->source);
	*ix = (struct sp__index){ 0 };
}
