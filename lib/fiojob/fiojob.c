/* SPDX-License-Identifier: MIT */
/*
 * Parses sections and lines; jobs become classes.
 *
 * A line ends at ";" or "#", and blanks around it are ignored.  [global] applies to
 * the sections after it.  A job with numjobs=N is N classes; one with
 * cmdprio_percentage is two that share its iodepth, which only one job of a file may
 * have.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/keyval.h"
#include "base/whole.h"
#include "fiojob/fiojob.h"

#define TEXT_BYTES ((size_t)1 << 20)
#define LINES_MAX 1024
#define NAME_BYTES 64

struct sp_fiojob {
	struct sp_fiojob_line lines[LINES_MAX];
	size_t nlines;
	struct sp__fiovalues global, job;
	bool in_job, in_global;
	unsigned job_line;
	char job_name[NAME_BYTES];

	struct sp__fiovalues first; /* of the first job: what all must have */
	size_t njobs;
	bool shared;		      /* a job has cmdprio_percentage */
	uint64_t io_bytes, end_bytes; /* of all jobs */
	bool sized;		      /* all jobs have a size */
	char names[SP_BENCH_CLASSES_MAX][NAME_BYTES + 16];
	struct sp_bench_class classes[SP_BENCH_CLASSES_MAX];
	size_t nclasses;
	char files[SP_BENCH_TARGETS_MAX][512];
	const char *targets[SP_BENCH_TARGETS_MAX];
	size_t ntargets;
	unsigned depth;
};

__attribute__((format(printf, 4, 5))) static void complain(struct sp_fiojob *j, unsigned line,
							   const char *text, const char *why, ...)
{
	struct sp_fiojob_line *l;
	va_list ap;

	if (j->nlines == LINES_MAX)
		return;
	l = &j->lines[j->nlines++];
	l->line = line;
	snprintf(l->text, sizeof(l->text), "%s", text);
	va_start(ap, why);
	vsnprintf(l->why, sizeof(l->why), why, ap);
	va_end(ap);
}

/* Values that all jobs of a measurement must share; why they differ, or NULL. */
static const char *differs(const struct sp__fiovalues *a, const struct sp__fiovalues *b)
{
	if (a->engine != b->engine)
		return "ioengine differs from that of the first job";
	if (a->direct != b->direct)
		return "direct differs from that of the first job";
	if (a->runtime_ns != b->runtime_ns || a->time_based != b->time_based ||
	    a->ramp_ns != b->ramp_ns)
		return "its time differs from that of the first job";
	if (a->fixed_buffers != b->fixed_buffers || a->register_files != b->register_files)
		return "what it registers differs from the first job";
	if (a->batch_submit != b->batch_submit || a->batch_min != b->batch_min ||
	    a->batch_max != b->batch_max)
		return "its batches differ from those of the first job";
	if (!*a->filename != !*b->filename)
		return "some jobs have a filename, and some have none";
	return NULL;
}

/* The number of the file, from 1; 0: none, or no room for it. */
static unsigned target(struct sp_fiojob *j, const char *name)
{
	size_t i = 0;

	if (!*name)
		return 0;
	while (i < j->ntargets && strcmp(j->files[i], name) != 0)
		i++;
	if (i == SP_BENCH_TARGETS_MAX)
		return 0;
	if (i == j->ntargets) {
		snprintf(j->files[i], sizeof(j->files[i]), "%s", name);
		j->targets[i] = j->files[i];
		j->ntargets++;
	}
	return (unsigned)i + 1;
}

static uint16_t priority(uint32_t class, uint32_t level)
{
	return class == SP_BENCH_NONE ? 0
				      : SP_BENCH_PRIO(class, class == SP_BENCH_IDLE ? 0 : level);
}

static struct sp_bench_class *add_class(struct sp_fiojob *j, const struct sp__fiovalues *v,
					const char *suffix)
{
	struct sp_bench_class *c;
	char *name;

	if (j->nclasses == SP_BENCH_CLASSES_MAX)
		return NULL;
	name = j->names[j->nclasses];
	snprintf(name, sizeof(j->names[0]), "%s%s", j->job_name, suffix);
	c = &j->classes[j->nclasses++];
	*c = (struct sp_bench_class){
		.name = name,
		.prio = priority(v->prioclass, v->prio),
		.bytes = v->bytes,
		.theta = v->theta,
		.target = target(j, v->filename),
		.offset_bytes = v->offset,
		.range_bytes = v->size,
	};
	sp_bench_class_rw(c, v->rw);
	if (c->reads > 0 && c->reads < 1)
		c->reads = v->mix;
	if (c->pattern == SP_BENCH_RANDOM && v->theta > 0)
		c->pattern = SP_BENCH_ZIPF;
	return c;
}

static bool add_shared(struct sp_fiojob *j, const struct sp__fiovalues *v)
{
	struct sp_bench_class *c = add_class(j, v, ".high");

	if (!c)
		return false;
	c->share = v->cmdprio_share;
	c->prio = priority(v->cmdprio_class, v->cmdprio);
	c = add_class(j, v, ".low");
	if (!c)
		return false;
	c->share = 1 - v->cmdprio_share;
	j->shared = true;
	j->depth = v->iodepth;
	return true;
}

static bool add_own(struct sp_fiojob *j, const struct sp__fiovalues *v, unsigned number)
{
	struct sp_bench_class *c;
	char suffix[16] = "";

	if (v->numjobs > 1)
		snprintf(suffix, sizeof(suffix), ".%u", number);
	c = add_class(j, v, suffix);
	if (!c)
		return false;
	c->depth = v->engine != SP__FIO_SYNC ? v->iodepth : 1;
	c->rate = v->rate;
	return true;
}

/* Why cmdprio_percentage cannot be used, or NULL. */
static const char *cannot_share(const struct sp_fiojob *j, const struct sp__fiovalues *v)
{
	if (!(v->cmdprio_share > 0))
		return NULL;
	if (j->shared || v->numjobs > 1)
		return "only one job can have a cmdprio_percentage here";
	if (v->rate > 0)
		return "cmdprio_percentage does not go with rate_iops here";
	if (v->engine == SP__FIO_SYNC)
		return "cmdprio_percentage needs an asynchronous engine";
	return NULL;
}

/* Completes a job; false: no room for it. */
static bool end_job(struct sp_fiojob *j)
{
	struct sp__fiovalues *v = &j->job;
	const char *why, *head = j->job_name;

	if (!j->in_job)
		return true;
	j->in_job = false;
	if (!j->njobs++)
		j->first = *v;
	why = differs(&j->first, v);
	if (why)
		complain(j, j->job_line, head, "%s", why);
	why = cannot_share(j, v);
	if (why) {
		complain(j, j->job_line, head, "%s", why);
		v->cmdprio_share = 0;
	}
	if (!v->runtime_ns && !v->size && !v->io_size)
		complain(j, j->job_line, head, "has neither size nor runtime, so it has no end");
	if (!v->time_based && (j->njobs > 1 || v->numjobs > 1) && (v->size || v->io_size))
		complain(j, j->job_line, head,
			 "without time_based it ends by itself; here all jobs end together");
	j->sized &= v->size > 0;
	if (v->offset + v->size > j->end_bytes)
		j->end_bytes = v->offset + v->size;
	for (unsigned i = 0; i < v->numjobs; i++) {
		if (!(v->cmdprio_share > 0 ? add_shared(j, v) : add_own(j, v, i)))
			return false;
		if (!j->shared && v->iodepth > j->depth)
			j->depth = v->iodepth;
		j->io_bytes += v->io_size ? v->io_size : v->size;
	}
	return true;
}

static bool section(struct sp_fiojob *j, char *name, unsigned line)
{
	if (!end_job(j))
		return false;
	name[strcspn(name, "]")] = '\0';
	j->in_global = !strcmp(name, "global");
	if (j->in_global)
		return true;
	j->in_job = true;
	j->job = j->global;
	j->job_line = line;
	snprintf(j->job_name, sizeof(j->job_name), "%.*s", NAME_BYTES - 1, *name ? name : "job");
	return true;
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
		complain(j, line, text, "stands before the first section");
	else if (!k)
		complain(j, line, text, "is not known here");
	else if (value && strchr(value, '$'))
		complain(j, line, text, "has a variable");
	else if (!sp__keyval_set(k, v, value))
		complain(j, line, text, "is not %s", k->form);
}

static int by_line(const void *a, const void *b)
{
	unsigned x = ((const struct sp_fiojob_line *)a)->line;
	unsigned y = ((const struct sp_fiojob_line *)b)->line;

	return x < y ? -1 : x > y;
}

int sp_fiojob_parse(struct sp_fiojob **out, const char *text, size_t bytes, struct sp_errinfo *err)
{
	struct sp_fiojob *j = calloc(1, sizeof(*j));
	char *copy = malloc(bytes + 1), *rest = copy, *line;
	unsigned number = 0;
	bool room = true;

	*out = j;
	if (!j || !copy) {
		free(copy);
		free(j);
		return sp__err(err, -ENOMEM, "read", "", -1);
	}
	memcpy(copy, text, bytes);
	copy[bytes] = '\0';
	j->global = sp__fiojob_defaults;
	j->sized = true;
	while (room && (line = strsep(&rest, "\n")) != NULL) {
		line = strip(line);
		number++;
		if (*line == '[')
			room = section(j, line + 1, number);
		else if (*line)
			assign(j, line, number);
	}
	room = room && end_job(j);
	free(copy);
	if (room && j->njobs) {
		qsort(j->lines, j->nlines, sizeof(j->lines[0]), by_line);
		return 0;
	}
	free(j);
	*out = NULL;
	return room ? sp__errf(err, -ENODATA, "read", "", -1, "there is no job in it")
		    : sp__errf(err, -E2BIG, "read", "", -1, "more than %d jobs",
			       SP_BENCH_CLASSES_MAX);
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

void sp_fiojob_apply(struct sp_fiojob *j, struct sp_bench_opts *o)
{
	const struct sp__fiovalues *v = &j->first;
	bool own = !o->ntargets;

	if (own) {
		o->targets = j->targets;
		o->ntargets = j->ntargets;
	}
	for (size_t i = 0; i < j->nclasses; i++)
		if (!own)
			j->classes[i].target = 0;
	o->classes = j->classes;
	o->nclasses = j->nclasses;
	o->engine = simulated(o) ? NULL : sp__fiojob_engine(v);
	o->buffered = !v->direct;
	o->fixed_buffers = v->fixed_buffers;
	o->register_files = v->register_files;
	o->depth = j->depth;
	o->batch_submit = v->batch_submit ? v->batch_submit : SP_BENCH_DEPTH_MAX;
	o->batch_min = v->batch_min;
	o->batch_max = v->batch_max;
	o->runtime_ns = v->runtime_ns;
	o->ramp_ns = v->ramp_ns;
	o->seed = v->seed;
	o->total_bytes = v->time_based ? 0 : j->io_bytes;
	o->size_bytes = j->sized ? j->end_bytes : 0;
}

void sp_fiojob_free(struct sp_fiojob *job)
{
	free(job);
}

size_t sp_fiojob_lines(const struct sp_fiojob *job, const struct sp_fiojob_line **lines)
{
	*lines = job->lines;
	return job->nlines;
}
