/* SPDX-License-Identifier: MIT */
/*
 * Prevents that an output overwrites another output or an input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/outfile_impl.h"
#include "base/output_set.h"

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
