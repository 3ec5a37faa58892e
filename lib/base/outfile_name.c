/* SPDX-License-Identifier: MIT */
/*
 * Chooses temporary names, and removes them in handlers of fatal signals.
 *
 * Invariants: an entry of the list is reused, but never freed or unlinked, so that a handler can
 * walk the list at any moment.  There are as many entries as names existed at the same time.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/outfile.h>
#include "base/clock.h"
#include "base/outfile_impl.h"
#include "base/rng.h"

#define LINKS_MAX 40
#define TRIES 1000
#define SUFFIX_BYTES 7 /* a dot and six letters */

enum { FREE, TAKEN, LIVE };

static struct sp__outname *_Atomic places;

void sp_outfile_cleanup_signal(void)
{
	for (struct sp__outname *n = atomic_load(&places); n; n = n->next)
		if (atomic_load(&n->state) == LIVE)
			unlink(n->name);
}

static struct sp__outname *take_place(void)
{
	struct sp__outname *n;

	for (n = atomic_load(&places); n; n = n->next) {
		int state = FREE;

		if (atomic_compare_exchange_strong(&n->state, &state, TAKEN))
			return n;
	}
	n = calloc(1, sizeof(*n));
	if (!n)
		return NULL;
	atomic_store(&n->state, TAKEN);
	n->next = atomic_load(&places);
	while (!atomic_compare_exchange_weak(&places, &n->next, n))
		;
	return n;
}

static void put_suffix(char *to, struct sp__rng *rng)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";

	*to++ = '.';
	for (int i = 1; i < SUFFIX_BYTES; i++)
		*to++ = letters[sp__rng_below(rng, sizeof(letters) - 1)];
	*to = '\0';
}

/* Returns the length of path that leaves space for a suffix, or 0 if there is no space. */
static size_t stem_bytes(const char *path)
{
	const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
	size_t before = (size_t)(last - path), bytes = strlen(last);

	if (bytes > NAME_MAX - SUFFIX_BYTES)
		bytes = NAME_MAX - SUFFIX_BYTES;
	if (before + SUFFIX_BYTES >= PATH_MAX)
		return 0;
	if (before + bytes + SUFFIX_BYTES >= PATH_MAX)
		bytes = PATH_MAX - 1 - SUFFIX_BYTES - before;
	return before + bytes;
}

static int try_names(struct sp__outname *n, int (*make)(const char *, void *), void *arg)
{
	struct sp__rng rng = { sp__mix64(sp__now_ns() ^ (uint64_t)getpid() << 40) };
	int rc = -1;

	for (int i = 0; i < TRIES && rc < 0; i++) {
		put_suffix(n->name + n->stem, &rng);
		rc = make(n->name, arg);
		if (rc < 0 && errno != EEXIST)
			break;
	}
	return rc < 0 ? -errno : rc;
}

int sp__outname_take(struct sp__outname **n, const char *path)
{
	size_t stem = stem_bytes(path);

	*n = NULL;
	if (!stem)
		return -ENAMETOOLONG;
	*n = take_place();
	if (!*n)
		return -ENOMEM;
	memcpy((*n)->name, path, stem);
	(*n)->stem = stem;
	return 0;
}

/* A signal handler must find a file and its name together. */
static void block_signals(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, before);
}

int sp__outname_make(struct sp__outname *n, int (*make)(const char *, void *), void *arg)
{
	sigset_t before;
	int rc;

	block_signals(&before);
	rc = try_names(n, make, arg);
	if (rc >= 0)
		atomic_store(&n->state, LIVE);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

int sp__outname_create(struct sp__outname **n, const char *path, int flags, mode_t mode)
{
	sigset_t before;
	int fd;

	*n = NULL;
	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	*n = take_place();
	if (!*n)
		return -ENOMEM;
	strcpy((*n)->name, path);
	block_signals(&before);
	fd = open(path, flags | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	fd = fd < 0 ? -errno : fd;
	atomic_store(&(*n)->state, fd < 0 ? FREE : LIVE);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (fd < 0)
		*n = NULL;
	return fd;
}

void sp__outname_forget(struct sp__outname **n)
{
	if (*n)
		atomic_store(&(*n)->state, FREE);
	*n = NULL;
}

char *sp__outname_directory(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* Returns the target of the link at path, relative to the current directory. */
static int follow(const char *path, char **to)
{
	const char *slash = strrchr(path, '/');
	char text[PATH_MAX];
	ssize_t n = readlink(path, text, sizeof(text) - 1);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	if (text[0] == '/' || !slash)
		*to = strdup(text);
	else if (asprintf(to, "%.*s/%s", (int)(slash - path), path, text) < 0)
		*to = NULL;
	return *to ? 0 : -ENOMEM;
}

int sp__outname_resolve(const char *path, char **resolved)
{
	char *at = strdup(path), *to;
	struct stat st;
	int rc = at ? 0 : -ENOMEM;

	for (int links = 0; rc == 0 && lstat(at, &st) == 0 && S_ISLNK(st.st_mode); links++) {
		rc = links < LINKS_MAX ? follow(at, &to) : -ELOOP;
		if (rc == 0) {
			free(at);
			at = to;
		}
	}
	if (rc == 0 && *at && at[strlen(at) - 1] == '/')
		rc = -EISDIR;
	if (rc < 0)
		free(at);
	else
		*resolved = at;
	return rc;
}
