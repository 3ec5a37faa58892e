/* SPDX-License-Identifier: MIT */
/*
 * Reports whether priorities can act: the command preflight, and the line that other commands print
 * before they start.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "aiobench.h"

/* Returns the outstanding requests of all classes. */
static unsigned outstanding(const struct sp_bench_opts *b)
{
	unsigned all = 0;
	bool shared = false;

	if (b->engine && !strcmp(b->engine, "sync"))
		return (unsigned)b->nclasses;
	for (size_t i = 0; i < b->nclasses; i++) {
		const struct sp_bench_class *c = &b->classes[i];

		shared |= !c->depth && c->rate <= 0;
		if (c->depth || c->rate > 0)
			all += c->depth ? c->depth : b->depth;
	}
	return all + (shared ? b->depth : 0);
}

static bool to_create(const struct sp_bench_opts *b, const char *path)
{
	return b->create && (b->create != SP_BENCH_CREATE_MISSING || access(path, F_OK) != 0);
}

static struct sp_preflight_opts ask(const struct config *o, size_t target)
{
	const struct sp_bench_opts *b = &o->bench;

	return (struct sp_preflight_opts){ .target = b->targets[target],
					   .classes = b->classes,
					   .nclasses = b->nclasses,
					   .engine = b->engine,
					   .buffered = b->buffered,
					   .no_fallback = b->no_fallback,
					   .created = to_create(b, b->targets[target]),
					   .outstanding = outstanding(b) };
}

int command_preflight(struct config *o)
{
	static struct sp_preflight p;
	struct sp_preflight_opts opts = ask(o, 0);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_report *report;
	int rc;

	if (o->bench.ntargets > 1)
		die("preflight takes one target");
	/* without options, classes and depth are undecided */
	if (!o->nclass_text && !o->job)
		opts.nclasses = 0;
	if (!o->depth_given && opts.nclasses == 0)
		opts.outstanding = 0;
	rc = sp_preflight(&p, &opts, &err);
	if (rc < 0)
		die_of(rc, &err);
	(void)sp_report_preflight_text(&p, opts.target, true, stdout);
	report = sp_report_preflight(&opts, &p);
	statsfile_finish(&o->stats_file, report);
	return 0;
}

static bool differ(const struct sp_bench_opts *b)
{
	for (size_t i = 1; i < b->nclasses; i++)
		if (b->classes[i].prio != b->classes[0].prio)
			return true;
	return false;
}

struct sp_preflight *preflight_before(const struct config *o)
{
	const struct sp_preflight_opts opts = ask(o, 0);
	struct sp_preflight *p;

	if (!differ(&o->bench) || o->bench.ntargets > 1)
		return NULL;
	p = must_alloc(NULL, 1, sizeof(*p));
	/* the run reports errors of the target */
	if (sp_preflight(p, &opts, NULL) < 0) {
		free(p);
		return NULL;
	}
	(void)sp_report_preflight_text(p, opts.target, false, o->fio_json ? stderr : stdout);
	return p;
}

struct sp_preflight *preflight_pair(const struct config *o, const struct sp_bench_class pair[2])
{
	struct config asked = *o;

	asked.bench.classes = pair;
	asked.bench.nclasses = 2;
	return preflight_before(&asked);
}
