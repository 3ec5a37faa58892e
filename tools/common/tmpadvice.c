/* SPDX-License-Identifier: MIT */
/*
 * Names a folder with space for temporary data.
 *
 * Candidates are TMPDIR, /var/tmp, /tmp and the folder of the output.  If the given folders are
 * full, folders of the same file systems do not help; otherwise only the given folders do not.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "msg.h"
#include "number.h"
#include "tmpadvice.h"

static bool is_given(const struct sp_run_opts *run, bool full, const struct stat *st)
{
	struct stat given;

	for (size_t i = 0; i < run->ntmpdirs; i++)
		if (stat(run->tmpdirs[i], &given) == 0 && given.st_dev == st->st_dev &&
		    (full || given.st_ino == st->st_ino))
			return true;
	return false;
}

/* Returns the bytes that dir offers; 0: it is of no use. */
static uint64_t offer(const struct sp_run_opts *run, bool full, const char *dir)
{
	struct sp_run_opts one = *run;
	struct sp_run_space space;
	struct stat st;

	if (!dir || !*dir || stat(dir, &st) || !S_ISDIR(st.st_mode) || is_given(run, full, &st) ||
	    access(dir, W_OK | X_OK))
		return 0;
	one.tmpdirs = &dir;
	one.ntmpdirs = 1;
	return sp_run_space(&one, &space, NULL) < 0 ? 0 : space.free_bytes;
}

/* Returns the folder of a file, which the caller frees; NULL: no file. */
static char *folder_of(const char *file)
{
	const char *slash = file ? strrchr(file, '/') : NULL;

	if (!file)
		return NULL;
	if (!slash)
		return strdup(".");
	return strndup(file, slash == file ? 1 : (size_t)(slash - file));
}

const char *tmpadvice(const struct sp_run_opts *run, int code, const char *output, uint64_t need)
{
	static char text[4200];
	bool full = code == -ENOSPC || code == -EDQUOT;
	char *folder;
	const char *best = NULL;
	uint64_t most = 0;

	if (!full && code != -ENOENT && code != -ENOTDIR && code != -EACCES && code != -EROFS)
		return "";
	folder = folder_of(output);
	const char *const dirs[] = { getenv("TMPDIR"), "/var/tmp", "/tmp", folder };

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		uint64_t bytes = offer(run, full, dirs[i]);

		if (bytes > most && bytes >= need) {
			most = bytes;
			best = dirs[i];
		}
	}
	if (best)
		snprintf(text, sizeof(text), ": -T %s has %s free", quote_file(best),
			 size_of(most).text);
	else if (need)
		snprintf(text, sizeof(text), ": -T needs a folder with %s free",
			 size_of(need).text);
	else
		snprintf(text, sizeof(text), ": -T needs a folder of another file system");
	free(folder);
	return text;
}
