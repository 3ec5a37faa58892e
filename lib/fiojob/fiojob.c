/* SPDX-License-Identifier: MIT */
/*
 * Parses sections and lines of a job file.
 *
 * A line ends at ";" or "#", and blanks around it are ignored.  [global] applies to
 * the sections after it.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/keyval.h"
#include "base/utf8mark.h"
#include "base/whole.h"
#include "fiojob/state.h"

#define TEXT_BYTES ((size_t)1 << 20)

void sp__fiojob_complain(struct sp_fiojob *j, unsigned line, const char *text, const char *reason,
			 ...)
{
	struct sp_fiojob_line *l;
	va_list ap;

	if (j->nlines == SP__FIOJOB_LINES_MAX)
		return;
	l = &j->lines[j->nlines++];
	l->line = line;
	snprintf(l->text, sizeof(l->text), "%s", text);
	va_start(ap, reason);
	vsnprintf(l->reason, sizeof(l->reason), reason, ap);
	va_end(ap);
}

static int section(struct sp_fiojob *j, char *name, unsigned line, struct sp_errinfo *err)
{
	int rc = sp__fiojob_end_job(j, err);

	if (rc)
		return rc;
	name[strcspn(name, "]")] = '\0';
	j->in_global = !strncmp(name, "global", 6); /* [globals] too, as in fio */
	j->global.scaled = false;
	if (j->in_global)
		return 0;
	j->in_job = true;
	j->job = j->global;
	j->job_line = line;
	snprintf(j->job.name, sizeof(j->job.name), "%.*s", SP__FIO_NAME_BYTES - 1,
		 *name ? name : "job");
	return 0;
}

static char *strip(char *text)
{
	size_t n;

	text[strcspn(text, ";#")] = '\0';
	while (isspace((unsigned char)*text))
		text++;
	n = strlen(text);
	while (n && isspace((unsigned char)text[n - 1]))
		n--;
	text[n] = '\0';
	return text;
}

/* Notes a key without effect in this program, once. */
static void ignore(struct sp_fiojob *j, const char *key, size_t n)
{
	size_t used = strlen(j->ignored);

	if (!sp__word_among(key, n, j->ignored) && used + n + 3 <= sizeof(j->ignored))
		snprintf(j->ignored + used, sizeof(j->ignored) - used, "%s%.*s", used ? ", " : "",
			 (int)n, key);
}

static void assign(struct sp_fiojob *j, char *text, unsigned line)
{
	struct sp__fiovalues *v = j->in_job ? &j->job : &j->global;
	size_t n = strcspn(text, "=");
	char *value = text[n] ? text + n + 1 : NULL;
	const struct sp__setting *k;

	while (n && isspace((unsigned char)text[n - 1]))
		n--;
	while (value && isspace((unsigned char)*value))
		value++;
	k = sp__fiojob_key(text, n);
	if (!j->in_job && !j->in_global)
		sp__fiojob_complain(j, line, text, "is before the first section");
	else if (sp__fiojob_ignored(text, n))
		ignore(j, text, n);
	else if (sp__fiojob_output(text, n))
		sp__fiojob_complain(j, line, text, "asks for output that aiobench does not write");
	else if (!k)
		sp__fiojob_complain(j, line, text, "is not supported");
	else if (value && strchr(value, '$'))
		sp__fiojob_complain(j, line, text, "uses a variable");
	else if (!sp__keyval_set(k, v, value))
		sp__fiojob_complain(j, line, text, "is not %s", k->form);
}

static int by_line(const void *a, const void *b)
{
	unsigned x = ((const struct sp_fiojob_line *)a)->line;
	unsigned y = ((const struct sp_fiojob_line *)b)->line;

	return x < y ? -1 : x > y;
}

static int read_text(struct sp_fiojob *j, char *text, struct sp_errinfo *err)
{
	unsigned number = 0;
	char *line;
	int rc = 0;

	while (rc == 0 && (line = strsep(&text, "\n")) != NULL) {
		line = strip(line);
		number++;
		if (*line == '[')
			rc = section(j, line + 1, number, err);
		else if (*line)
			assign(j, line, number);
	}
	if (rc == 0)
		rc = sp__fiojob_end_job(j, err);
	if (rc == 0 && !j->nruns)
		rc = sp__errf(err, -ENODATA, "read", "", -1, "it has no job");
	return rc;
}

int sp_fiojob_parse(struct sp_fiojob **out, const char *text, size_t bytes, struct sp_errinfo *err)
{
	struct sp_fiojob *j = calloc(1, sizeof(*j));
	char *copy = malloc(bytes + 1);
	int rc;

	*out = NULL;
	if (!j || !copy) {
		free(copy);
		free(j);
		return sp__err(err, -ENOMEM, "read", "", -1);
	}
	memcpy(copy, text, bytes);
	copy[bytes] = '\0';
	j->global = sp__fiojob_defaults;
	rc = read_text(j, copy, err);
	free(copy);
	if (rc) {
		sp_fiojob_free(j);
		return rc;
	}
	qsort(j->lines, j->nlines, sizeof(j->lines[0]), by_line);
	*out = j;
	return 0;
}

static int read_all(const char *path, char *text, size_t *bytes, struct sp_errinfo *err)
{
	bool standard = !strcmp(path, "-");
	FILE *f = standard ? stdin : fopen(path, "re");
	uint64_t file_bytes;
	int rc;

	if (!f)
		return -errno;
	file_bytes = sp__file_bytes(fileno(f));
	errno = 0;
	sp__skip_mark(f);
	*bytes = fread(text, 1, TEXT_BYTES + 1, f);
	if (ferror(f))
		rc = errno ? -errno : -EIO;
	else if (*bytes > TEXT_BYTES)
		rc = -E2BIG;
	else
		rc = sp__check_uncut(fileno(f), file_bytes, path, err);
	if (!standard)
		fclose(f);
	return rc;
}

int sp_fiojob_load(struct sp_fiojob **job, const char *path, struct sp_errinfo *err)
{
	char *text = malloc(TEXT_BYTES + 1);
	struct sp_errinfo inner = SP_ERRINFO_INIT;
	size_t bytes = 0;
	int rc = text ? read_all(path, text, &bytes, &inner) : -ENOMEM;

	*job = NULL;
	if (rc == 0)
		rc = sp_fiojob_parse(job, text, bytes, &inner);
	free(text);
	if (rc && *inner.text)
		return sp__errf(err, rc, "read", path, -1, "%s", inner.text);
	return rc ? sp__err(err, rc, "read", path, -1) : 0;
}

static bool simulated(const struct sp_bench_opts *o)
{
	return o->ntargets == 1 && !strncmp(o->targets[0], "sim:", 4);
}

size_t sp_fiojob_runs(const struct sp_fiojob *job)
{
	return job->nruns;
}

void sp_fiojob_apply(struct sp_fiojob *job, size_t run, struct sp_bench_opts *o)
{
	struct sp__fiorun *r = job->runs[run];
	const struct sp__fiovalues *v = &r->first;
	bool own = !o->ntargets;

	if (own) {
		o->targets = r->targets;
		o->ntargets = r->ntargets;
	}
	for (size_t i = 0; i < r->nclasses; i++)
		if (!own)
			r->classes[i].target = 0;
	o->classes = r->classes;
	o->nclasses = r->nclasses;
	o->engine = simulated(o) ? NULL : sp__fiojob_engine(v);
	if (own && !o->create && v->engine != SP__FIO_NULL)
		o->create = SP_BENCH_CREATE_MISSING;
	o->buffered = !v->direct;
	o->invalidate = v->invalidate;
	o->fixed_buffers = v->fixed_buffers;
	o->register_files = v->register_files;
	o->depth = r->depth;
	o->batch_submit = v->batch_submit ? v->batch_submit : SP_BENCH_DEPTH_MAX;
	o->batch_min = v->batch_min;
	o->batch_max = v->batch_max;
	o->runtime_ns = v->runtime_ns;
	o->ramp_ns = v->ramp_ns;
	o->seed = v->seed;
	o->total_bytes = 0;
	o->size_bytes = r->sized && o->ntargets <= 1 ? r->end_bytes : 0;
}

void sp_fiojob_free(struct sp_fiojob *job)
{
	for (size_t i = 0; job && i < job->nruns; i++)
		free(job->runs[i]);
	free(job);
}

const char *sp_fiojob_ignored(const struct sp_fiojob *job)
{
	return job->ignored;
}

size_t sp_fiojob_lines(const struct sp_fiojob *job, const struct sp_fiojob_line **lines)
{
	*lines = job->lines;
	return job->nlines;
}
