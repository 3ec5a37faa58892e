/* SPDX-License-Identifier: MIT */
/*
 * Judges one block device (its scheduler, the scheduler's request slots, and the window of the
 * hardware below), and the control groups of the process.
 *
 * Algorithm: at most W (the window) of N outstanding requests are at the device, and a new one of
 * high priority waits only for these; on average a request waits for N.  So its latency is at best
 * W / N of the mean.  N includes requests of other processes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "observe/preflight.h"
#include "observe/watch.h"

/*
 * Control groups of the process.  A limit on a device delays requests before they reach its
 * scheduler, in order of arrival.  A priority policy changes the priorities of all requests.  Both
 * apply to a group and all groups below it.
 */

#define TEXT_BYTES 4096

/* Finds the group of the process in the hierarchy whose line contains mark. */
static bool group_path(const struct sp__preflight *p, const char *mark, char *path, size_t bytes)
{
	char text[TEXT_BYTES], *line, *rest = text;

	if (!sp__sys_text(p->proc, "self/cgroup", text, sizeof(text)))
		return false;
	while ((line = strsep(&rest, "\n")) != NULL) {
		char *second = strchr(line, ':'), *third = second ? strchr(second + 1, ':') : NULL;

		if (!third)
			continue;
		*third++ = '\0';
		if (!strcmp(second + 1, mark))
			return snprintf(path, bytes, "%s", third) < (int)bytes;
	}
	return false;
}

/* Returns the rest of the line "MAJOR:MINOR ..." of the device, or NULL. */
static const char *device_line(const char *text, const struct sp__sysdev *d)
{
	char mark[32];
	size_t n = (size_t)snprintf(mark, sizeof(mark), "%u:%u ", d->major, d->minor);

	for (; text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL)
		if (!strncmp(text, mark, n))
			return text + n;
	return NULL;
}

static bool limited(const char *dir, const char *file, const struct sp__sysdev *d)
{
	char text[TEXT_BYTES];

	return sp__sys_text(dir, file, text, sizeof(text)) && device_line(text, d);
}

/* Inspects one group; name is for messages. */
static bool look(struct sp__preflight *p, const struct sp__sysdev *d, const char *dir,
		 const char *name)
{
	static const char *const files[] = { "io.max", "blkio.throttle.read_iops_device",
					     "blkio.throttle.write_iops_device",
					     "blkio.throttle.read_bps_device",
					     "blkio.throttle.write_bps_device" };
	char policy[64];
	bool found = false;

	if (sp__sys_line(dir, "io.prio.class", policy, sizeof(policy)) &&
	    strcmp(policy, "no-change") != 0) {
		sp__preflight_remark(p, true, "use a control group with io.prio.class no-change",
				     "control group %s: %s changes the classes of all requests",
				     name, policy);
		found = true;
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (!limited(dir, files[i], d))
			continue;
		sp__preflight_remark(p, true, "use a control group without that limit",
				     "control group %s: its limit on %s (%s) holds requests back "
				     "before the scheduler, whatever their priority",
				     name, d->name, files[i]);
		return true;
	}
	return found;
}

static bool climb(struct sp__preflight *p, const struct sp__sysdev *d, const char *mount,
		  const char *mark)
{
	char path[1024], dir[PATH_MAX];

	if (!group_path(p, mark, path, sizeof(path)))
		return false;
	for (;;) {
		char *slash = strrchr(path, '/');

		if (snprintf(dir, sizeof(dir), "%s/%s%s", p->sys, mount, path) >= PATH_MAX)
			return false;
		if (look(p, d, dir, *path ? path : "/"))
			return true;
		if (!slash)
			return false;
		*slash = '\0';
	}
}

bool sp__preflight_groups(struct sp__preflight *p, const struct sp__sysdev *d)
{
	return climb(p, d, "fs/cgroup", "") || climb(p, d, "fs/cgroup/unified", "") ||
	       climb(p, d, "fs/cgroup/blkio", "blkio");
}

#define OTHERS_SAMPLES 5
#define OTHERS_NS 2000000

enum heeds { NOTHING, CLASSES, PROCESSES, UNKNOWN };

static enum heeds heeds(const char *scheduler)
{
	static const struct {
		const char *name;
		enum heeds what;
	} known[] = { { "none", NOTHING },  { "noop", NOTHING },  { "mq-deadline", CLASSES },
		      { "kyber", NOTHING }, { "bfq", PROCESSES }, { "deadline", NOTHING },
		      { "cfq", PROCESSES } };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].name, scheduler))
			return known[i].what;
	return UNKNOWN;
}

static void name_kind(const struct sp__sysdev *d, char text[32])
{
	char word[16];

	if (sp__sys_line(d->dir, "md/level", word, sizeof(word)) && *word)
		snprintf(text, 32, "md %s", word);
	else if (sp__sys_exists(d->dir, "md"))
		snprintf(text, 32, "md");
	else if (sp__sys_exists(d->dir, "loop"))
		snprintf(text, 32, "loop");
	else if (sp__sys_line(d->dir, "dm/uuid", word, sizeof(word)) && strchr(word, '-'))
		snprintf(text, 32, "dm %.*s", (int)strcspn(word, "-"), word);
	else if (sp__sys_exists(d->dir, "dm"))
		snprintf(text, 32, "dm");
	else
		snprintf(text, 32, "disk");
}

/* Returns the actual number of hardware tags, which only debugfs shows. */
static uint64_t true_tags(const struct sp__preflight *p, const char *name)
{
	char dir[PATH_MAX], text[512];
	const char *depth;

	if (snprintf(dir, sizeof(dir), "%s/kernel/debug/block/%s/hctx0", p->sys, name) >=
		    PATH_MAX ||
	    !sp__sys_text(dir, "tags", text, sizeof(text)))
		return 0;
	/* the line of the bitmap follows the number that sysfs also has */
	depth = strstr(text, "\ndepth=");
	return depth ? strtoull(depth + 7, NULL, 10) : 0;
}

static void measure_window(const struct sp__preflight *p, const struct sp__sysdev *d,
			   struct sp_preflight_layer *l)
{
	char name[32];
	uint64_t tags, depth;

	for (;; l->queues++) {
		snprintf(name, sizeof(name), "mq/%u/nr_tags", l->queues);
		if (!sp__sys_number(d->dir, name, &tags))
			break;
		if (!l->window || tags < l->window)
			l->window = tags;
	}
	tags = true_tags(p, d->name);
	if (tags)
		l->window = tags;
	if (sp__sys_number(d->dir, "device/queue_depth", &depth) && depth &&
	    (!l->window || depth < l->window))
		l->window = depth;
}

/* Returns the mean number of requests of other processes, from a series of samples. */
static uint64_t count_others(const struct sp__sysdev *d)
{
	const struct timespec pause = { .tv_nsec = OTHERS_NS };
	struct sp__diskstat stat;
	uint64_t sum = 0;
	char text[512];

	for (int i = 0; i < OTHERS_SAMPLES; i++) {
		if (i)
			nanosleep(&pause, NULL);
		if (!sp__sys_line(d->dir, "stat", text, sizeof(text)) ||
		    !sp__watch_parse_stat(text, &stat))
			return 0;
		sum += stat.outstanding;
	}
	return (sum + OTHERS_SAMPLES / 2) / OTHERS_SAMPLES;
}

static void describe(const struct sp__preflight *p, const struct sp__sysdev *d,
		     struct sp_preflight_layer *l, char *all, size_t bytes)
{
	snprintf(l->name, sizeof(l->name), "%s", d->name);
	name_kind(d, l->kind);
	*all = '\0';
	if (!sp__sys_number(d->dir, "queue/nr_requests", &l->requests) ||
	    !sp__sys_line(d->dir, "queue/scheduler", all, bytes))
		return;
	measure_window(p, d, l);
	/* Devices that only pass on requests have such files, too. */
	if (!l->queues && !strcmp(all, "none"))
		l->requests = 0;
	else
		sp__sys_chosen(all, l->scheduler, sizeof(l->scheduler));
	if (*l->scheduler)
		l->others = count_others(d);
}

static void say_ignored(struct sp__preflight *p, const struct sp_preflight_layer *l,
			const char *all)
{
	char advice[256];

	if (strstr(all, "mq-deadline"))
		snprintf(advice, sizeof(advice), "echo mq-deadline > /sys/block/%s/queue/scheduler",
			 l->name);
	else
		snprintf(advice, sizeof(advice), "the kernel needs the scheduler mq-deadline");
	sp__preflight_remark(p, true, advice, "%s: scheduler %s ignores priorities", l->name,
			     l->scheduler);
}

/* Decides whether the scheduler distinguishes the requests. */
static enum sp_preflight_verdict told_apart(struct sp__preflight *p,
					    const struct sp_preflight_layer *l, const char *all)
{
	switch (heeds(l->scheduler)) {
	case NOTHING:
		say_ignored(p, l, all);
		return SP_PREFLIGHT_NO;
	case CLASSES:
		if (p->classes)
			return SP_PREFLIGHT_YES;
		sp__preflight_remark(p, true, "use classes: rt and be, or be and idle",
				     "%s: scheduler %s distinguishes classes, but not levels",
				     l->name, l->scheduler);
		return SP_PREFLIGHT_NO;
	case PROCESSES:
		if (p->threads)
			return SP_PREFLIGHT_YES;
		sp__preflight_remark(p, true,
				     strstr(all, "mq-deadline") ? "mq-deadline, or --engine=sync"
								: "--engine=sync",
				     "%s: scheduler %s uses the priority of the thread, and all "
				     "requests come from one",
				     l->name, l->scheduler);
		return SP_PREFLIGHT_NO;
	default:
		sp__preflight_remark(p, true, "", "%s: scheduler %s is unknown", l->name,
				     l->scheduler);
		return SP_PREFLIGHT_UNKNOWN;
	}
}

/* Returns the number of outstanding requests, including those of other processes. */
static uint64_t together(const struct sp_preflight_layer *l)
{
	return l->outstanding + l->others;
}

static void say_window(struct sp__preflight *p, const struct sp__sysdev *d,
		       const struct sp_preflight_layer *l)
{
	char advice[256];

	if (sp__sys_exists(d->dir, "device/queue_depth"))
		snprintf(advice, sizeof(advice),
			 "more requests, or echo 16 > /sys/block/%s/device/queue_depth", l->name);
	else
		snprintf(advice, sizeof(advice),
			 "more requests, or in /sys/block/%s/queue: echo none > scheduler; echo "
			 "16 > nr_requests; echo %s > scheduler; echo 512 > nr_requests",
			 l->name, l->scheduler);
	sp__preflight_remark(
		p, true, advice,
		"%s: the device takes %llu requests at a time, and %llu are outstanding: "
		"%s waits in the scheduler",
		l->name, (unsigned long long)l->window, (unsigned long long)together(l),
		together(l) <= l->window ? "nothing" : "little");
}

/* Decides whether requests wait where others can overtake them. */
static enum sp_preflight_verdict overtaken(struct sp__preflight *p, const struct sp__sysdev *d,
					   const struct sp_preflight_layer *l)
{
	enum sp_preflight_verdict v = SP_PREFLIGHT_YES;
	char advice[256];
	uint64_t wish = 256;

	if (!l->window) {
		sp__preflight_remark(
			p, false, "",
			"%s: the number of requests that the device takes at a time is unknown",
			l->name);
		return SP_PREFLIGHT_UNKNOWN;
	}
	if (l->others)
		sp__preflight_remark(p, false, "",
				     "%s: others have %llu requests outstanding there", l->name,
				     (unsigned long long)l->others);
	if (!l->outstanding) {
		sp__preflight_remark(p, false, "",
				     "%s: more than %llu requests must be outstanding", l->name,
				     (unsigned long long)l->window);
		return v;
	}
	if (together(l) < 2 * l->window) {
		say_window(p, d, l);
		v = together(l) <= l->window ? SP_PREFLIGHT_NO : SP_PREFLIGHT_WEAK;
	}
	while (wish < 2 * together(l))
		wish *= 2;
	if (l->requests < together(l)) {
		snprintf(advice, sizeof(advice), "echo %llu > /sys/block/%s/queue/nr_requests",
			 (unsigned long long)wish, l->name);
		sp__preflight_remark(
			p, true, advice,
			"%s: the scheduler has %llu request slots for %llu requests: the "
			"others wait outside it",
			l->name, (unsigned long long)l->requests, (unsigned long long)together(l));
		if (v > SP_PREFLIGHT_WEAK || l->requests <= l->window)
			v = l->requests <= l->window ? SP_PREFLIGHT_NO : SP_PREFLIGHT_WEAK;
	}
	return v;
}

/* True if the device itself has a priority for class RT. */
static bool own_means(struct sp__preflight *p, const struct sp__sysdev *d)
{
	char advice[256] = "";
	uint64_t known, on;

	if (!sp__sys_number(d->dir, "device/ncq_prio_supported", &known) || !known ||
	    !sp__sys_number(d->dir, "device/ncq_prio_enable", &on))
		return false;
	if (!on)
		snprintf(advice, sizeof(advice), "echo 1 > /sys/block/%s/device/ncq_prio_enable",
			 d->name);
	sp__preflight_remark(p, false, advice, "%s: the drive supports a priority for class rt, %s",
			     d->name, on ? "which is on" : "which is off");
	return on;
}

enum sp_preflight_verdict sp__preflight_layer(struct sp__preflight *p, const struct sp__sysdev *d,
					      unsigned level, uint64_t outstanding, uint64_t *below)
{
	struct sp_preflight_layer *l = &p->out->layers[p->out->nlayers++];
	enum sp_preflight_verdict v = SP_PREFLIGHT_NO;
	char all[128];

	*l = (struct sp_preflight_layer){ .level = level, .outstanding = outstanding };
	describe(p, d, l, all, sizeof(all));
	if (*l->scheduler) {
		v = told_apart(p, l, all);
		if (v == SP_PREFLIGHT_YES)
			v = overtaken(p, d, l);
	}
	if (v < SP_PREFLIGHT_UNKNOWN && own_means(p, d))
		v = SP_PREFLIGHT_UNKNOWN;
	if (v >= SP_PREFLIGHT_WEAK && outstanding && !p->out->best_share)
		p->out->best_share = (double)l->window / (double)together(l);
	l->verdict = v;
	*below = outstanding;
	if (*l->scheduler && l->window && (!outstanding || l->window < outstanding))
		*below = l->window;
	return v;
}
