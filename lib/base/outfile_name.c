/* SPDX-License-Identifier: MIT */
/*
 * Chooses temporary names, removes them in handlers of fatal signals, and prevents that an output
 * overwrites another output or an input.
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
#include "base/err.h"
#include "base/outfile_impl.h"
#include "base/rng.h"

/*
 * Identifies an existing file.  All nodes of a device compare equal.  Returns false if the file
 * cannot be overwritten.
 */
static bool identify_open(struct sp_output_set_file *f, const struct stat *st)
{
	bool block = S_ISBLK(st->st_mode);

	f->dev = block ? st->st_rdev : st->st_dev;
	f->ino = block ? 0 : st->st_ino;
	f->name[0] = '\0';
	return block || S_ISREG(st->st_mode);
}

/* Identifies a file that does not exist, by its directory and its name there. */
static bool identify_missing(struct sp_output_set_file *f, const char *path)
{
	char *resolved, *dir;
	const char *slash;
	struct stat st;
	bool known;

	if (sp__outname_resolve(path, &resolved) < 0)
		return false;
	slash = strrchr(resolved, '/');
	dir = sp__outname_directory(resolved);
	known = dir && stat(dir, &st) == 0 &&
		snprintf(f->name, sizeof(f->name), "%s", slash ? slash + 1 : resolved) <
			(int)sizeof(f->name);
	if (known) {
		f->dev = st.st_dev;
		f->ino = st.st_ino;
	}
	free(dir);
	free(resolved);
	return known;
}

bool sp__output_set_identify(struct sp_output_set_file *f, const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0)
		return identify_open(f, &st);
	return errno == ENOENT && *path && identify_missing(f, path);
}

bool sp__output_set_same(const struct sp_output_set_file *a, const struct sp_output_set_file *b)
{
	return a->dev == b->dev && a->ino == b->ino && !strcmp(a->name, b->name);
}

static const struct sp_output_set_file *find(const struct sp_output_set *set,
					     const struct sp_output_set_file *f)
{
	for (unsigned i = 0; i < set->n; i++)
		if (sp__output_set_same(&set->files[i], f))
			return &set->files[i];
	return NULL;
}

static int add(struct sp_output_set *set, const struct sp_output_set_file *f, const char *path,
	       struct sp_errinfo *err)
{
	const struct sp_output_set_file *other = find(set, f);

	if (other)
		return sp__errf(err, SP_EUNSUP, "open", path, -1, "%s and %s would both write it",
				other->label, f->label);
	if (set->n == SP_OUTPUT_SET_MAX)
		return sp__err(err, SP_ESTATE, "open", path, -1);
	set->files[set->n++] = *f;
	return 0;
}

int sp_output_set_add(struct sp_output_set *set, const char *path, const char *label,
		      bool input_allowed, struct sp_errinfo *err)
{
	struct sp_output_set_file f = { .label = label, .input_allowed = input_allowed };

	return path && sp__output_set_identify(&f, path) ? add(set, &f, path, err) : 0;
}

int sp_output_set_add_stdout(struct sp_output_set *set, bool input_allowed, struct sp_errinfo *err)
{
	struct sp_output_set_file f = { .label = "standard output",
					.input_allowed = input_allowed };
	struct stat st;

	if (fstat(STDOUT_FILENO, &st) < 0 || !identify_open(&f, &st))
		return 0;
	return add(set, &f, "standard output", err);
}

int sp_output_set_check_input(const struct sp_output_set *set, const char *path,
			      struct sp_errinfo *err)
{
	const struct sp_output_set_file *other;
	struct sp_output_set_file f;
	struct stat st;
	bool known;

	if (!path || !set->n)
		return 0;
	known = strcmp(path, "-") ? sp__output_set_identify(&f, path)
				  : fstat(STDIN_FILENO, &st) == 0 && identify_open(&f, &st);
	other = known ? find(set, &f) : NULL;
	if (!other || other->input_allowed)
		return 0;
	return sp__errf(err, SP_EUNSUP, "open", path, -1, "%s would overwrite it", other->label);
}

int sp__output_set_check(const char *output, const char *trace, const char *tasks,
			 const char *const *inputs, size_t n, struct sp_errinfo *err)
{
	struct sp_output_set set = { 0 };
	int rc;

	if (!trace && !tasks)
		return 0;
	rc = sp_output_set_add(&set, output, "the result", true, err);
	if (!rc)
		rc = sp_output_set_add(&set, trace, "the trace", false, err);
	if (!rc)
		rc = sp_output_set_add(&set, tasks, "the log of tasks", false, err);
	for (size_t i = 0; !rc && i < n; i++)
		rc = sp_output_set_check_input(&set, inputs[i], err);
	return rc;
}

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
