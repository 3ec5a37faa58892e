/* SPDX-License-Identifier: MIT */
/*
 * Counts what processes use: resources by /proc, and events by the counters of the processor or by
 * cachegrind.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include <spindle/dbm.h>
#include "base/child.h"
#include "base/err.h"
#include "dbm/counting.h"
#include "obs/counters.h"

/*
 * Resources come from /proc/PID/io, stat and status.  The kernel adds the counters of a child to
 * those of its parent when the parent waits for it; so those of this process have all that its
 * children, and their children, did.  Its own share is what it does while they run: it polls.
 */
#define FILE_MAX 4096

/* Reads a file of /proc.  False: the process has ended, or is another user's. */
static bool read_file(pid_t pid, const char *name, char text[FILE_MAX])
{
	char path[64];
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	f = fopen(path, "re");
	if (f) {
		n = fread(text, 1, FILE_MAX - 1, f);
		fclose(f);
	}
	text[n] = 0;
	return n != 0;
}

/* Returns the number behind a key at the beginning of a line, or 0. */
static uint64_t value(const char *text, const char *key)
{
	unsigned long long n = 0;
	const char *at;

	for (at = text; at; at = strchr(at, '\n'), at = at ? at + 1 : NULL)
		if (!strncmp(at, key, strlen(key)) && sscanf(at + strlen(key), ": %llu", &n) == 1)
			return n;
	return 0;
}

static void add_io(struct sp_dbm_usage *u, pid_t pid)
{
	char text[FILE_MAX];

	if (!read_file(pid, "io", text))
		return;
	u->read_bytes += value(text, "read_bytes");
	u->write_bytes += value(text, "write_bytes");
	u->reads += value(text, "syscr");
	u->writes += value(text, "syscw");
}

/* Adds the processor time of a server and of its children that have ended. */
static void add_times(struct sp_dbm_usage *u, pid_t pid)
{
	const double tick = (double)sysconf(_SC_CLK_TCK);
	unsigned long long t[4] = { 0 };
	char text[FILE_MAX], *at;

	if (!read_file(pid, "stat", text))
		return;
	at = strrchr(text, ')'); /* the name before it can have blanks */
	if (!at ||
	    sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu",
		   &t[0], &t[1], &t[2], &t[3]) != 4)
		return;
	u->user_s += (double)(t[0] + t[2]) / tick;
	u->system_s += (double)(t[1] + t[3]) / tick;
}

static void add_peak(struct sp_dbm_usage *u, pid_t pid)
{
	char text[FILE_MAX];

	if (read_file(pid, "status", text) && value(text, "VmHWM") * 1024 > u->peak_bytes)
		u->peak_bytes = value(text, "VmHWM") * 1024;
}

struct sp_dbm_usage sp__usage_unknown(void)
{
	struct sp_dbm_usage u = { .wall_s = NAN, .user_s = NAN, .system_s = NAN, .counted = NAN };

	for (int i = 0; i < SP_DBM_EVENTS; i++)
		u.events[i] = u.kernel[i] = NAN;
	return u;
}

void sp__usage_mark(struct sp__usage_mark *m, const struct sp__dbm_servers *servers)
{
	*m = (struct sp__usage_mark){ 0 };
	add_io(&m->children, getpid());
	for (unsigned i = 0; i < servers->n; i++) {
		add_io(&m->servers, servers->pids[i]);
		add_times(&m->servers, servers->pids[i]);
		add_peak(&m->servers, servers->pids[i]);
	}
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

void sp__usage_add_child(struct sp_dbm_usage *u, const struct rusage *child)
{
	const uint64_t peak = (uint64_t)child->ru_maxrss * 1024;

	u->user_s += seconds(child->ru_utime);
	u->system_s += seconds(child->ru_stime);
	u->peak_bytes = peak > u->peak_bytes ? peak : u->peak_bytes;
}

static uint64_t grown(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

static void add_grown(struct sp_dbm_usage *u, const struct sp_dbm_usage *before,
		      const struct sp_dbm_usage *after)
{
	u->read_bytes += grown(before->read_bytes, after->read_bytes);
	u->write_bytes += grown(before->write_bytes, after->write_bytes);
	u->reads += grown(before->reads, after->reads);
	u->writes += grown(before->writes, after->writes);
	u->user_s += fmax(after->user_s - before->user_s, 0);
	u->system_s += fmax(after->system_s - before->system_s, 0);
}

void sp__usage_add_since(struct sp_dbm_usage *u, const struct sp__usage_mark *m,
			 const struct sp__dbm_servers *servers)
{
	struct sp__usage_mark now;

	sp__usage_mark(&now, servers);
	add_grown(u, &m->children, &now.children);
	add_grown(u, &m->servers, &now.servers);
	if (now.servers.peak_bytes > u->peak_bytes)
		u->peak_bytes = now.servers.peak_bytes;
}

/* The names of events in a result of cachegrind: a line "events:", then a line "summary:". */
static const struct {
	const char *name;
	enum sp_dbm_event event;
} names[] = {
	{ "Ir", SP_DBM_INSTRUCTIONS },	 { "I1mr", SP_DBM_L1I_MISSES },
	{ "D1mr", SP_DBM_L1D_MISSES },	 { "D1mw", SP_DBM_L1D_MISSES },
	{ "ILmr", SP_DBM_LLC_MISSES },	 { "DLmr", SP_DBM_LLC_MISSES },
	{ "DLmw", SP_DBM_LLC_MISSES },	 { "Bc", SP_DBM_BRANCHES },
	{ "Bi", SP_DBM_BRANCHES },	 { "Bcm", SP_DBM_BRANCH_MISSES },
	{ "Bim", SP_DBM_BRANCH_MISSES },
};

static void add(double *events, const char *name, double value)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i].name)) {
			double *to = &events[names[i].event];

			*to = isnan(*to) ? value : *to + value;
		}
}

/* Adds the numbers of a line to the events of another; both are changed.  False: they differ. */
static bool add_sums(double *events, char *of, char *sums)
{
	char *name_rest, *sum_rest, *end;
	char *name = strtok_r(of, " \n", &name_rest), *sum = strtok_r(sums, " \n", &sum_rest);

	for (; name && sum;
	     name = strtok_r(NULL, " \n", &name_rest), sum = strtok_r(NULL, " \n", &sum_rest)) {
		unsigned long long value = strtoull(sum, &end, 10);

		if (*end)
			return false;
		add(events, name, (double)value);
	}
	return !name && !sum;
}

int sp__cachegrind_add(const char *path, double *events, struct sp_errinfo *err)
{
	char *of = NULL, *line = NULL;
	size_t capacity = 0;
	bool added = false;
	FILE *f = fopen(path, "re");

	if (!f)
		return sp__err(err, -errno, "open", path, -1);
	while (getline(&line, &capacity, f) >= 0) {
		if (!strncmp(line, "events: ", 8)) {
			free(of);
			of = strdup(line + 8);
		} else if (of && !strncmp(line, "summary: ", 9)) {
			added = add_sums(events, of, line + 9);
		}
	}
	free(line);
	free(of);
	fclose(f);
	return added ? 0
		     : sp__errf(err, SP_EFORMAT, "read", path, -1,
				"is not a complete result of cachegrind");
}

int sp__cachegrind_take(const char *folder, double *events, struct sp_errinfo *err)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	char path[4096];
	int rc = 0;

	if (!d)
		return sp__err(err, -errno, "open", folder, -1);
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		rc = rc ? rc : sp__cachegrind_add(path, events, err);
		unlink(path);
	}
	closedir(d);
	return rc;
}

/* obs/counters.h has the events of enum sp_dbm_event twice: in user mode and in the kernel. */
_Static_assert(SP__PROCESSOR_EVENTS == 2 * SP_DBM_EVENTS, "all events are counted");

struct sp__hw {
	struct sp__counters counters;
};

/* True if an event is counted in the kernel, too. */
static bool has_kernel(const struct sp__counters *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->events[i].kernel && c->fd[i] >= 0)
			return true;
	return false;
}

/* Returns 0 if the kernel allows counting, kernel: in itself, too; or an error with the reason. */
static int hw_try(bool *kernel, struct sp_errinfo *err)
{
	struct sp__counters c = SP__COUNTERS_INIT;
	int rc = sp__counters_open(&c, err);

	*kernel = !rc && has_kernel(&c);
	sp__counters_close(&c);
	return rc;
}

/* Adds a value; the first one is added to NaN, which stands for nothing. */
static void add_count(double *to, double value)
{
	*to = isnan(*to) ? value : *to + value;
}

/* Adds what was counted; used: NULL: forgets it. */
static void hw_end(struct sp__hw **hw, struct sp_dbm_usage *used)
{
	struct sp__counter_value values[SP__PROCESSOR_EVENTS];
	struct sp__hw *h = *hw;

	if (h && used && !sp__counters_read(&h->counters, values))
		for (size_t i = 0; i < SP__PROCESSOR_EVENTS; i++) {
			if (isnan(values[i].count))
				continue;
			add_count(&used->events[i / 2], values[i].count);
			if (sp__processor_events[i].kernel)
				add_count(&used->kernel[i / 2], values[i].count);
			used->counted = fmin(used->counted, values[i].share);
		}
	if (h)
		sp__counters_close(&h->counters);
	free(h);
	*hw = NULL;
}

/* Begins to count children that are started from now on, and servers.  Returns 0 or an error. */
static int hw_begin(struct sp__hw **hw, const struct sp__dbm_servers *servers,
		    struct sp_errinfo *err)
{
	struct sp__hw *h = calloc(1, sizeof(*h));
	int rc;

	*hw = h;
	if (!h)
		return sp__err(err, -ENOMEM, "count", NULL, -1);
	h->counters = (struct sp__counters)SP__COUNTERS_INIT;
	rc = sp__counters_open(&h->counters, err);
	for (unsigned i = 0; !rc && i < servers->n; i++) {
		struct sp_errinfo why = SP_ERRINFO_INIT;
		int one = sp__counters_open_process(&h->counters, servers->pids[i], &why);

		if (one == -ESRCH || one == -EAGAIN) /* it ended, or changes now */
			continue;
		if (one)
			*err = why;
		rc = one;
	}
	if (rc)
		hw_end(hw, NULL);
	return rc;
}

#define NO_KERNEL                                                                                  \
	"the kernel mode of programs is not counted: /proc/sys/kernel/perf_event_paranoid must "   \
	"be 1 for that"

/* True if cachegrind can be started, as SP__CACHEGRIND does. */
static bool has_cachegrind(void)
{
	static const char *const argv[] = { "chrt", "--batch", "0", "valgrind", "--version", NULL };
	struct sp__child_opts o = { .argv = argv, .fd = { -1, -1, -1 } };
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC), status = 1;
	pid_t pid;

	o.fd[0] = o.fd[1] = o.fd[2] = fd;
	if (sp__child_start(&pid, &o) || sp__child_wait(pid, &status))
		status = 1;
	if (fd >= 0)
		close(fd);
	return status == 0;
}

static int take_cachegrind(struct sp__dbm_counting *c, const char *reason, char *text,
			   size_t capacity, struct sp_errinfo *err)
{
	if (!has_cachegrind())
		return sp__errf(err, SP_EUNSUP, "count", NULL, -1,
				"cachegrind needs valgrind and chrt, in Debian the packages "
				"valgrind and util-linux");
	c->kind = SP_DBM_COUNTERS_SIM;
	snprintf(text, capacity, "%s", reason);
	return 0;
}

int sp__counting_open(struct sp__dbm_counting *c, enum sp_dbm_counters asked, const char *sim,
		      char *reason, size_t capacity, struct sp_errinfo *err)
{
	struct sp_errinfo no_hw = SP_ERRINFO_INIT;
	bool kernel;

	*c = (struct sp__dbm_counting){ .kind = SP_DBM_COUNTERS_NONE, .sim = sim };
	*reason = 0;
	if (asked == SP_DBM_COUNTERS_NONE)
		return 0;
	if (asked == SP_DBM_COUNTERS_SIM)
		return take_cachegrind(c, "", reason, capacity, err);
	if (!hw_try(&kernel, &no_hw)) {
		if (!kernel)
			snprintf(reason, capacity, "%s", NO_KERNEL);
		c->kind = SP_DBM_COUNTERS_HW;
		c->active = true;
		return 0;
	}
	if (asked == SP_DBM_COUNTERS_HW) {
		*err = no_hw;
		return no_hw.code;
	}
	if (!take_cachegrind(c, no_hw.text, reason, capacity, NULL))
		return 0;
	snprintf(reason, capacity, "%s; valgrind or chrt is not installed", no_hw.text);
	return 0;
}

int sp__counting_begin(struct sp__dbm_counting *c, const struct sp__dbm_servers *servers,
		       struct sp_errinfo *err)
{
	return c && c->active && c->kind == SP_DBM_COUNTERS_HW ? hw_begin(&c->hw, servers, err) : 0;
}

int sp__counting_end(struct sp__dbm_counting *c, struct sp_dbm_usage *used, struct sp_errinfo *err)
{
	double forgotten[SP_DBM_EVENTS] = { 0 };

	for (int i = 0; used && i < SP_DBM_EVENTS; i++)
		used->events[i] = used->kernel[i] = NAN;
	if (!c || !c->active)
		return 0;
	if (c->kind == SP_DBM_COUNTERS_HW) {
		hw_end(&c->hw, used);
		return 0;
	}
	return sp__cachegrind_take(c->sim, used ? used->events : forgotten, err);
}
