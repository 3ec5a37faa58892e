/* SPDX-License-Identifier: MIT */
/*
 * Parses sections and lines of a job file, and converts jobs into classes of a run.
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

/*
 * A job with numjobs=N is N classes; one with cmdprio_percentage is two that share its iodepth,
 * which only one job of a run can have.  A job with stonewall begins a new run.
 */

/* True if the job ends after its size rather than with the run. */
static bool ends(const struct sp__fiovalues *v)
{
	return !v->time_based || !v->runtime_ns;
}

/* Returns why two jobs cannot run concurrently here, or NULL. */
static const char *differs(const struct sp__fiovalues *a, const struct sp__fiovalues *b)
{
	if (a->engine != b->engine)
		return "ioengine differs from that of the first job";
	if (a->direct != b->direct)
		return "direct differs from that of the first job";
	if (a->invalidate != b->invalidate)
		return "invalidate differs from that of the first job";
	if (a->runtime_ns != b->runtime_ns || a->ramp_ns != b->ramp_ns)
		return "its time differs from that of the first job";
	if (a->fixed_buffers != b->fixed_buffers || a->register_files != b->register_files)
		return "its registered buffers or files differ from those of the first job";
	if (a->batch_submit != b->batch_submit || a->batch_min != b->batch_min ||
	    a->batch_max != b->batch_max)
		return "its batches differ from those of the first job";
	if (a->group_reporting != b->group_reporting)
		return "group_reporting differs from that of the first job";
	if (a->create != b->create)
		return "allow_file_create differs from that of the first job";
	if (a->poisson != b->poisson)
		return "rate_process differs from that of the first job";
	if (a->seed != b->seed)
		return "randseed differs from that of the first job";
	if ((!*a->filename && !*a->directory) != (!*b->filename && !*b->directory))
		return "only some jobs have a filename";
	return NULL;
}

/* Composes the path of a file as fio does; number: index of the clone of the job. */
static void compose(char path[SP__FIOJOB_PATH_BYTES], const struct sp__fiovalues *v,
		    unsigned number)
{
	int n = *v->directory ? snprintf(path, SP__FIOJOB_PATH_BYTES, "%s/", v->directory) : 0;

	if (*v->filename)
		snprintf(path + n, SP__FIOJOB_PATH_BYTES - (size_t)n, "%s", v->filename);
	else
		snprintf(path + n, SP__FIOJOB_PATH_BYTES - (size_t)n, "%s.%u.0", v->name, number);
}

/* Returns the number of the file, from 1; 0: no file, -1: too many files. */
static int target(struct sp__fiorun *r, const struct sp__fiovalues *v, unsigned number)
{
	char path[SP__FIOJOB_PATH_BYTES];
	size_t i = 0;

	if (!*v->filename && !*v->directory)
		return 0;
	compose(path, v, number);
	while (i < r->ntargets && strcmp(r->files[i], path) != 0)
		i++;
	if (i == SP_BENCH_TARGETS_MAX)
		return -1;
	if (i == r->ntargets) {
		strcpy(r->files[i], path);
		r->targets[i] = r->files[i];
		r->ntargets++;
	}
	return (int)i + 1;
}

static uint16_t priority(uint32_t class, uint32_t level)
{
	return class == SP_BENCH_NONE ? 0
				      : SP_BENCH_PRIO(class, class == SP_BENCH_IDLE ? 0 : level);
}

static uint64_t total_bytes(const struct sp__fiovalues *v)
{
	if (!ends(v))
		return 0;
	if (v->io_size)
		return v->io_size;
	return v->loops > 1 ? v->loops * v->size : SP_BENCH_ONE_PASS;
}

static struct sp_bench_class *add_class(struct sp__fiorun *r, const struct sp__fiovalues *v,
					unsigned number, const char *suffix)
{
	struct sp_bench_class *c;
	char *name;
	int file = target(r, v, number);

	if (file < 0 || r->nclasses == SP_BENCH_CLASSES_MAX)
		return NULL;
	name = r->names[r->nclasses];
	snprintf(name, sizeof(r->names[0]), "%s%s", v->name, suffix);
	c = &r->classes[r->nclasses++];
	*c = (struct sp_bench_class){
		.name = name,
		.prio = priority(v->prioclass, v->prio),
		.bytes = v->bytes,
		.theta = v->theta,
		.target = (unsigned)file,
		.offset_bytes = v->offset,
		.offset_percent = v->offset_percent,
		.range_bytes = v->size,
		.range_share = v->size_share,
		.total_bytes = total_bytes(v),
		.fio_passes = true,
	};
	sp_bench_class_rw(c, v->rw);
	if (c->reads > 0 && c->reads < 1)
		c->reads = v->mix;
	if (c->pattern == SP_BENCH_RANDOM && v->theta > 0)
		c->pattern = SP_BENCH_ZIPF;
	else if (c->pattern == SP_BENCH_RANDOM && !v->norandommap)
		c->pattern = SP_BENCH_SHUFFLED;
	return c;
}

static bool add_shared(struct sp__fiorun *r, const struct sp__fiovalues *v)
{
	struct sp_bench_class *c = add_class(r, v, 0, ".high");

	if (!c)
		return false;
	c->share = v->cmdprio_share;
	c->prio = priority(v->cmdprio_class, v->cmdprio);
	c = add_class(r, v, 0, ".low");
	if (!c)
		return false;
	c->share = 1 - v->cmdprio_share;
	r->shared = true;
	r->depth = v->iodepth;
	return true;
}

static bool add_own(struct sp__fiorun *r, const struct sp__fiovalues *v, unsigned number)
{
	struct sp_bench_class *c;
	char suffix[16] = "";

	if (v->numjobs > 1)
		snprintf(suffix, sizeof(suffix), ".%u", number);
	c = add_class(r, v, number, suffix);
	if (!c)
		return false;
	c->depth = v->engine != SP__FIO_SYNC ? v->iodepth : 1;
	c->rate = v->rate;
	return true;
}

/* Returns why cmdprio_percentage cannot be used, or NULL. */
static const char *cannot_share(const struct sp__fiorun *r, const struct sp__fiovalues *v)
{
	if (!(v->cmdprio_share > 0))
		return NULL;
	if (r->shared || v->numjobs > 1)
		return "only one job can have a cmdprio_percentage here";
	if (v->rate > 0)
		return "cmdprio_percentage cannot be used with rate or rate_iops";
	if (v->engine == SP__FIO_SYNC)
		return "cmdprio_percentage needs an asynchronous engine";
	return NULL;
}

/* Adds the classes of the job. */
static bool add_job(struct sp__fiorun *r, const struct sp__fiovalues *v)
{
	r->sized &= v->size > 0 && !v->offset_percent;
	if (v->offset + v->size > r->end_bytes)
		r->end_bytes = v->offset + v->size;
	for (unsigned i = 0; i < v->numjobs; i++) {
		if (!(v->cmdprio_share > 0 ? add_shared(r, v) : add_own(r, v, i)))
			return false;
		if (!r->shared && v->iodepth > r->depth)
			r->depth = v->iodepth;
	}
	return true;
}

/* Returns the run of the next job; NULL: too many runs, or out of memory. */
static struct sp__fiorun *run_of(struct sp_fiojob *j)
{
	struct sp__fiorun *r;

	if (j->nruns && !j->job.stonewall)
		return j->runs[j->nruns - 1];
	if (j->nruns == SP__FIOJOB_RUNS_MAX)
		return NULL;
	r = calloc(1, sizeof(*r));
	if (r) {
		r->sized = true;
		r->first = j->job;
		j->runs[j->nruns++] = r;
	}
	return r;
}

/* Combines values of the job that depend on each other, and reports those that cannot be kept. */
static void settle(struct sp_fiojob *j, const struct sp__fiorun *r)
{
	const char *reasons[SP__FIOJOB_REASONS_MAX];
	size_t n = sp__fiojob_settle(&j->job, r, reasons);

	for (size_t i = 0; i < n; i++)
		sp__fiojob_complain(j, j->job_line, j->job.name, "%s", reasons[i]);
}

/* fiojob.c: adds the job to a run.  Returns 0, -E2BIG with a reason, or -ENOMEM. */
static int fiojob_end_job(struct sp_fiojob *j, struct sp_errinfo *err)
{
	struct sp__fiovalues *v = &j->job;
	struct sp__fiorun *r;
	const char *reason;

	if (!j->in_job)
		return 0;
	j->in_job = false;
	r = run_of(j);
	if (!r && j->nruns < SP__FIOJOB_RUNS_MAX)
		return sp__err(err, -ENOMEM, "read", "", -1);
	if (!r)
		return sp__errf(err, -E2BIG, "read", "", -1, "more than %d jobs with stonewall",
				SP__FIOJOB_RUNS_MAX);
	r->njobs++;
	reason = differs(&r->first, v);
	if (reason)
		sp__fiojob_complain(j, j->job_line, v->name, "%s", reason);
	settle(j, r);
	reason = cannot_share(r, v);
	if (reason) {
		sp__fiojob_complain(j, j->job_line, v->name, "%s", reason);
		v->cmdprio_share = 0;
	}
	if (!add_job(r, v))
		return sp__errf(err, -E2BIG, "read", "", -1,
				"more than %d jobs, or %d files, at the same time",
				SP_BENCH_CLASSES_MAX, SP_BENCH_TARGETS_MAX);
	return 0;
}

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
	int rc = fiojob_end_job(j, err);

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
	char expanded[SP__FIOJOB_VALUE_BYTES] = "", reason[SP__FIOJOB_REASON_BYTES];
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
	else if (value && strchr(value, '$') && !sp__fiojob_expand(value, expanded, reason))
		sp__fiojob_complain(j, line, text, "%s", reason);
	else if (!sp__keyval_set(k, v, value && strchr(value, '$') ? expanded : value))
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
		rc = fiojob_end_job(j, err);
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
	if (own && !o->create && v->create && v->engine != SP__FIO_NULL)
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
	o->poisson = v->poisson;
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
