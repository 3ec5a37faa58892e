/* SPDX-License-Identifier: MIT */
/*
 * Follows a request from the target down to the hardware.
 *
 * Algorithm: priorities act if one device on the path honours them and requests wait there; if the
 * path forks, on all branches.  A device passes on at most as many requests as its window, so
 * devices below have fewer outstanding.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "base/err.h"
#include "base/enum.h"
#include "dev/model.h"
#include "io/engine.h"
#include "observe/preflight.h"
#include "sim/machine.h"
#include "sim/sched.h"

#define LEVELS_MAX 8

void sp__preflight_remark(struct sp__preflight *p, bool obstacle, const char *advice,
			  const char *fmt, ...)
{
	struct sp_preflight_remark *r = &p->out->remarks[p->out->nremarks];
	va_list ap;

	if (p->out->nremarks == SP_PREFLIGHT_REMARKS_MAX)
		return;
	p->out->nremarks++;
	r->obstacle = obstacle;
	snprintf(r->advice, sizeof(r->advice), "%s", advice);
	va_start(ap, fmt);
	vsnprintf(r->text, sizeof(r->text), fmt, ap);
	va_end(ap);
}

static enum sp_preflight_verdict descend(struct sp__preflight *p, const struct sp__sysdev *d,
					 unsigned level, uint64_t outstanding);

/* A loop device passes requests on unchanged if it bypasses the page cache. */
static enum sp_preflight_verdict below_loop(struct sp__preflight *p, const struct sp__sysdev *d,
					    unsigned level, uint64_t outstanding)
{
	char path[PATH_MAX];
	struct sp__sysdev under;
	struct stat st;
	uint64_t direct = 0;

	if (!sp__sys_number(d->dir, "loop/dio", &direct) || !direct) {
		sp__preflight_remark(p, false, "losetup --direct-io=on",
				     "%s: does not pass on priorities", d->name);
		return SP_PREFLIGHT_NO;
	}
	if (!sp__sys_line(d->dir, "loop/backing_file", path, sizeof(path)) || stat(path, &st) ||
	    sp__sysdev_number(&under, p->sys, S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev))
		return SP_PREFLIGHT_NO;
	return descend(p, &under, level + 1, outstanding);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_name(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

/* Judges the devices below; the weakest of them counts. */
static enum sp_preflight_verdict below_slaves(struct sp__preflight *p, const struct sp__sysdev *d,
					      unsigned level, uint64_t outstanding)
{
	enum sp_preflight_verdict least = SP_PREFLIGHT_YES;
	struct dirent **names;
	char dir[PATH_MAX];
	int n = -1;

	if (snprintf(dir, sizeof(dir), "%s/slaves", d->dir) < PATH_MAX)
		n = scandir(dir, &names, is_name, by_name);
	if (n < 0)
		return SP_PREFLIGHT_NO;
	for (int i = 0; i < n; i++) {
		enum sp_preflight_verdict v = SP_PREFLIGHT_UNKNOWN;
		struct sp__sysdev under;

		if (sp__sysdev_name(&under, p->sys, names[i]->d_name) == 0)
			v = descend(p, &under, level + 1, outstanding);
		if (v < least)
			least = v;
		free(names[i]);
	}
	free(names);
	return n ? least : SP_PREFLIGHT_NO;
}

/* True if the device replaces requests by its own. */
static bool remakes(struct sp__preflight *p, const struct sp_preflight_layer *l)
{
	bool parity = !strcmp(l->kind, "md raid4") || !strcmp(l->kind, "md raid5") ||
		      !strcmp(l->kind, "md raid6");

	if (parity)
		sp__preflight_remark(p, false, "",
				     "%s: %s issues its own writes, without priorities", l->name,
				     l->kind);
	else if (!strcmp(l->kind, "dm CRYPT"))
		sp__preflight_remark(p, false, "",
				     "%s: encryption can lose the priority of a request", l->name);
	else
		return false;
	return true;
}

static enum sp_preflight_verdict descend(struct sp__preflight *p, const struct sp__sysdev *d,
					 unsigned level, uint64_t outstanding)
{
	const struct sp_preflight_layer *l = &p->out->layers[p->out->nlayers];
	enum sp_preflight_verdict here, below;
	bool groups;

	if (level == LEVELS_MAX || p->out->nlayers == SP_PREFLIGHT_LAYERS_MAX)
		return SP_PREFLIGHT_UNKNOWN;
	here = sp__preflight_layer(p, d, level, outstanding, &outstanding);
	groups = sp__preflight_groups(p, d);
	if (!strcmp(l->kind, "loop"))
		below = below_loop(p, d, level, outstanding);
	else
		below = below_slaves(p, d, level, outstanding);
	if (below > SP_PREFLIGHT_UNKNOWN && remakes(p, l))
		below = SP_PREFLIGHT_UNKNOWN;
	if (!*l->scheduler && level == 0 && p->out->nlayers == 1)
		sp__preflight_remark(p, true, "", "%s: has no scheduler", l->name);
	if (below > here)
		here = below;
	return groups && here > SP_PREFLIGHT_UNKNOWN ? SP_PREFLIGHT_UNKNOWN : here;
}

/* Finds the device of the file system of a file. */
static int below_file(struct sp__preflight *p, const char *path, const struct stat *st,
		      struct sp__sysdev *d)
{
	unsigned long long id = 0;
	struct sp__mount m;
	struct stat source;
	char text[65536];
	bool found;
#ifdef STATX_MNT_ID
	struct statx sx;

	if (statx(AT_FDCWD, path, 0, STATX_MNT_ID, &sx) == 0 && (sx.stx_mask & STATX_MNT_ID))
		id = sx.stx_mnt_id;
#endif
	p->out->file = true;
	found = sp__sys_text(p->proc, "self/mountinfo", text, sizeof(text)) &&
		sp__mountinfo_find(text, id, st->st_dev, &m);
	if (found)
		snprintf(p->out->filesystem, sizeof(p->out->filesystem), "%s", m.type);
	if (major(st->st_dev))
		return sp__sysdev_number(d, p->sys, st->st_dev);
	/* Some file systems have their own device numbers; then the mounted device counts. */
	if (found && m.source[0] == '/' && stat(m.source, &source) == 0 && S_ISBLK(source.st_mode))
		return sp__sysdev_number(d, p->sys, source.st_rdev);
	return -ENODEV;
}

static int find_device(struct sp__preflight *p, struct sp__sysdev *d, struct sp_errinfo *err)
{
	const char *target = p->opts->target, *slash = strrchr(target, '/');
	char folder[PATH_MAX] = ".";
	struct stat st;
	int rc;

	if (p->opts->created) {
		if (slash)
			snprintf(folder, sizeof(folder), "%.*s", (int)(slash - target) + 1, target);
		target = folder;
	}
	if (stat(target, &st)) {
		rc = -errno;
		if (rc == -ENOENT && sp__sysdev_name(d, p->sys, target) == 0)
			return 0;
		return sp__err(err, rc, "open", target, -1);
	}
	if (S_ISREG(st.st_mode) || p->opts->created) {
		rc = below_file(p, target, &st, d);
	} else if (S_ISBLK(st.st_mode)) {
		rc = sp__sysdev_number(d, p->sys, st.st_rdev);
	} else {
		return sp__errf(err, SP_EUNSUP, "open", target, -1,
				"is neither a regular file nor a block device");
	}
	if (rc == 0)
		return 0;
	sp__preflight_remark(p, false, "",
			     p->out->file ? "%s: no block device is known below file system %s"
					  : "%s: is not among the system's block devices",
			     target, *p->out->filesystem ? p->out->filesystem : "(unknown)");
	return -ENODEV;
}

static unsigned rank(uint16_t prio)
{
	unsigned class = prio >> 13;

	return class == SP_BENCH_NONE ? SP_BENCH_BE : class;
}

static unsigned level_of(uint16_t prio)
{
	return prio >> 13 == SP_BENCH_NONE ? 4 : prio & 7;
}

/* Determines whether classes or levels differ between the requests. */
static void compare_classes(struct sp__preflight *p)
{
	const struct sp_preflight_opts *o = p->opts;

	p->classes = p->levels = !o->nclasses;
	for (size_t i = 0; i < o->nclasses; i++) {
		uint16_t prio = o->classes[i].prio, first = o->classes[0].prio;

		p->classes |= rank(prio) != rank(first);
		p->levels |= rank(prio) != rank(first) || level_of(prio) != level_of(first);
	}
	p->threads = o->engine && !strcmp(o->engine, "sync");
	if (!p->levels)
		sp__preflight_remark(p, true, "--class NAME:prio=... for each",
				     "all requests have the same priority");
}

/* Class RT needs a capability; measurements without it use BE and IDLE. */
static void check_rights(struct sp__preflight *p)
{
	const struct sp_preflight_opts *o = p->opts;
	bool rt = !o->nclasses, idle = false;

	for (size_t i = 0; i < o->nclasses; i++) {
		rt |= rank(o->classes[i].prio) == SP_BENCH_RT;
		idle |= rank(o->classes[i].prio) == SP_BENCH_IDLE;
	}
	if (!rt || sp__ioprio_rt_allowed())
		return;
	if (o->no_fallback || idle)
		sp__preflight_remark(p, true, "CAP_SYS_NICE, or be against idle",
				     "class rt is not allowed here%s",
				     idle ? ", and no class is below idle, the other one" : "");
	else
		sp__preflight_remark(p, false, "CAP_SYS_NICE",
				     "class rt is not allowed here: be and idle are used instead");
}

/* True if priorities reach the block layer. */
static bool get_through(struct sp__preflight *p)
{
	bool writes = false;

	for (size_t i = 0; i < p->opts->nclasses; i++)
		writes |= p->opts->classes[i].reads < 1;
	if (!p->opts->buffered)
		return true;
	if (p->threads && !writes)
		return true;
	sp__preflight_remark(p, true, "--direct=1",
			     writes ? "buffered writes are done later, without priorities"
				    : "buffered reads have the priority of their thread");
	return false;
}

static bool by_level(const struct sp__sched *s)
{
	return s->ops == &sp__sched_deadline_prio || s->ops == &sp__sched_promote;
}

/* True if the scheduler of a machine distinguishes these priorities. */
static bool told_apart(const struct sp__preflight *p, const struct sp__sched *s)
{
	const struct sp_preflight_opts *o = p->opts;
	bool apart = !p->levels || (!o->nclasses && s->params.levels > 1);

	if (!by_level(s))
		return s->ops == &sp__sched_strict && p->classes;
	for (size_t i = 1; i < o->nclasses; i++)
		apart |= sp__sched_level(s, &(struct sp__blockreq){ .prio = o->classes[i].prio }) !=
			 sp__sched_level(s, &(struct sp__blockreq){ .prio = o->classes[0].prio });
	return apart;
}

static int simulated(struct sp__preflight *p, struct sp_errinfo *err)
{
	struct sp_preflight_layer *l = &p->out->layers[0];
	const struct sp__model *model;
	struct sp__machine *machine;
	struct sp__machine_spec spec;
	struct sp__sched sched;
	int rc = sp__machine_spec_parse(&spec, p->opts->target + 4, err);

	if (rc == 0)
		rc = sp__sched_open(&sched, spec.sched, err);
	if (rc == 0)
		rc = sp__machine_open(&machine, &spec, err);
	if (rc)
		return rc;
	p->out->nlayers = 1;
	snprintf(l->name, sizeof(l->name), "%.63s", spec.model);
	snprintf(l->kind, sizeof(l->kind), "simulated");
	snprintf(l->scheduler, sizeof(l->scheduler), "%s", sched.ops->name);
	l->outstanding = p->opts->outstanding;
	l->queues = 1;
	model = sp__machine_model(machine);
	l->window = (spec.device.window ? spec.device.window : model->window) * model->drives;
	sp__machine_close(machine);
	if (told_apart(p, &sched))
		l->verdict = SP_PREFLIGHT_YES;
	else
		sp__preflight_remark(p, true,
				     by_level(&sched) ? "priorities of different levels"
						      : "sched=strict, or sched=deadline-prio "
							"for levels too",
				     "%s: scheduler %s does not distinguish these priorities",
				     l->name, l->scheduler);
	if (l->verdict && l->outstanding && l->outstanding <= l->window) {
		l->verdict = SP_PREFLIGHT_NO;
		sp__preflight_remark(p, true, "more requests, or window=...",
				     "%s: the device takes %llu requests at a time, and %llu are "
				     "outstanding: nothing waits in the scheduler",
				     l->name, (unsigned long long)l->window,
				     (unsigned long long)l->outstanding);
	}
	p->out->verdict = p->levels ? l->verdict : SP_PREFLIGHT_NO;
	return 0;
}

int sp_preflight(struct sp_preflight *out, const struct sp_preflight_opts *opts,
		 struct sp_errinfo *err)
{
	struct sp__preflight p = { .opts = opts,
				   .sys = opts->sys ? opts->sys : "/sys",
				   .proc = opts->proc ? opts->proc : "/proc",
				   .out = out };
	bool null = opts->engine && !strcmp(opts->engine, "null");
	struct sp__sysdev d;
	int rc;

	memset(out, 0, sizeof(*out));
	compare_classes(&p);
	if (!strncmp(opts->target, "sim:", 4))
		return simulated(&p, err);
	check_rights(&p);
	rc = find_device(&p, &d, err);
	out->verdict = SP_PREFLIGHT_UNKNOWN;
	if (rc == 0)
		out->verdict = descend(&p, &d, 0, opts->outstanding);
	else if (rc != -ENODEV)
		return rc;
	if (null)
		sp__preflight_remark(&p, true, "", "the engine null sends no requests");
	if (!get_through(&p) || !p.levels || null)
		out->verdict = SP_PREFLIGHT_NO;
	if (out->verdict < SP_PREFLIGHT_WEAK)
		out->best_share = 0;
	return 0;
}

SP__ENUM_TABLE(sp_preflight_verdict, { "no", SP_PREFLIGHT_NO }, { "unknown", SP_PREFLIGHT_UNKNOWN },
	       { "weakly", SP_PREFLIGHT_WEAK }, { "yes", SP_PREFLIGHT_YES })
