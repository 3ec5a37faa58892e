/* SPDX-License-Identifier: MIT */
/*
 * Reads file names from a list, and checks files before the sort begins, so that a long sort does
 * not fail at an unreadable file or a read-only directory.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "autopack.h"
#include "outputs.h"
#include "packedwarn.h"
#include "uncut.h"
#include "xsort.h"

/* Reads a file and appends a NUL.  Returns NULL: it cannot be read. */
static char *read_all(int fd, const char *name, size_t *bytes)
{
	unsigned long long file_bytes = uncut_bytes(fd);
	size_t room = 4096;
	char *text = must_alloc(NULL, room, 1);
	ssize_t n;

	for (*bytes = 0;; *bytes += (size_t)n) {
		if (room - *bytes < 2) {
			room *= 2;
			text = must_alloc(text, room, 1);
		}
		n = read(fd, text + *bytes, room - *bytes - 1);
		if (n <= 0)
			break;
	}
	if (!n)
		uncut_check(fd, file_bytes, name);
	text[*bytes] = '\0';
	return n < 0 ? NULL : text;
}

static void check_name(const struct settings *set, const char *name, size_t number)
{
	if (!strcmp(name, "-"))
		die("when reading file names from standard input, no file name of %s allowed",
		    quote_file_always(name));
	if (!*name)
		die("%s:%zu: invalid zero-length file name", quote_file(set->files_from), number);
}

void files_read_list(struct settings *set)
{
	const char *from = set->files_from, *p;
	char *text;
	size_t bytes, room = 0;
	int fd;

	if (!from)
		return;
	if (set->nfiles) {
		msg("extra operand %s", quote_file_always(set->files[0]));
		fprintf(stderr, "file operands cannot be combined with --files0-from\n");
		usage_error();
	}
	fd = strcmp(from, "-") ? open(from, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (fd < 0)
		die_sys(errno, "open failed: %s", quote_file(from));
	text = read_all(fd, from, &bytes);
	if (!text || (fd != STDIN_FILENO && close(fd)))
		die("cannot read file names from %s", quote_file_always(from));
	if (!bytes)
		die("no input from %s", quote_file_always(from));
	for (p = text; p < text + bytes; p += strlen(p) + 1) {
		if (set->nfiles == room) {
			room = room ? 2 * room : 64;
			set->files = must_alloc(set->files, room, sizeof(*set->files));
		}
		set->files[set->nfiles++] = p;
	}
	for (size_t i = 0; i < set->nfiles; i++)
		check_name(set, set->files[i], i + 1);
}

void files_check_inputs(const struct settings *set)
{
	for (size_t i = 0; i < set->nfiles; i++) {
		if (!strcmp(set->files[i], "-")) {
			if (set->stdin_closed)
				die_sys(EBADF, "%s: -", set->merge ? "read failed" : "stat failed");
			continue;
		}
		if (faccessat(AT_FDCWD, set->files[i], R_OK, AT_EACCESS))
			die_sys(errno, "cannot read: %s", quote_file(set->files[i]));
	}
}

/* Checks that a file can be created in the directory of path.  Returns 0 or the errno. */
static int try_directory(const char *path)
{
	char *dir = must_copy(path), *slash = strrchr(dir, '/');
	int rc;

	if (slash)
		slash[slash == dir] = '\0';
	rc = faccessat(AT_FDCWD, slash ? dir : ".", W_OK | X_OK, AT_EACCESS) ? errno : 0;
	free(dir);
	return rc;
}

/*
 * Checks that the output can be written.  Opening is the safest test of a regular file; a FIFO must
 * not be opened and closed, because its reader would see end of file.
 */
static int try_output(const char *path)
{
	char target[PATH_MAX];
	struct stat st;
	int fd;

	if (stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return EISDIR;
		if (!S_ISREG(st.st_mode))
			return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) ? errno : 0;
		fd = open(path, O_WRONLY | O_CLOEXEC);
	} else if (errno != ENOENT || !*path) {
		return errno;
	} else if (lstat(path, &st)) {
		return path[strlen(path) - 1] == '/' ? EISDIR : try_directory(path);
	} else {
		/* dangling link: realpath() leaves the name that does not exist */
		return realpath(path, target) || errno == ENOENT ? try_directory(target) : errno;
	}
	if (fd < 0)
		return errno == ETXTBSY ? 0 : errno;
	close(fd);
	return 0;
}

/* Refuses an output that is another output or an input; only the result may be an input. */
static void spare_files(const struct settings *set, const char *output)
{
	struct sp_output_set out = { 0 }, part = { 0 };

	outputs_common(&out, &set->common, output);
	outputs_check_input(&out, set->files_from);
	outputs_check_input(&out, set->random_source);
	outputs_check_inputs(&out, (const char *const *)set->files, set->nfiles);
	/* an output must not overwrite the splitters, which later sorts need */
	if (set->split)
		outputs_add(&part, output, "--output", false);
	outputs_check_input(&part, set->split);
}

static void check_one_output(const struct settings *set, const char *output)
{
	int rc = output && !set->common.explain ? try_output(output) : 0;

	if (rc)
		die_sys(rc, "open failed: %s", quote_file(output));
	spare_files(set, output);
}

void files_check_output(const struct settings *set)
{
	if (!set->parts)
		check_one_output(set, set->output);
	for (size_t i = 0; i < set->nparts; i++)
		check_one_output(set, set->parts[i]);
}

void files_choose_compression(struct settings *set)
{
	bool whole = set->check || set->debug;

	if (!strcmp(msg_program(), "sort") || set->resume || set->splitters ||
	    common_options_simulated(&set->common))
		return;
	autopack(&set->common, set->files, set->nfiles, whole ? NULL : set->output);
}

void files_warn_packed(const struct settings *set)
{
	bool warned = set->opts.run.decompress != SP_PACKED_NONE;

	if (!strcmp(msg_program(), "sort"))
		return;
	for (size_t i = 0; i < set->nfiles && !warned; i++)
		warned = packedwarn_input(set->files[i], "--decompress");
	if (!set->check && set->opts.run.compress_output == SP_PACKED_NONE)
		packedwarn_output(set->output, "--compress-output compresses it");
}
