/* SPDX-License-Identifier: MIT */
/*
 * Opens, reads and scales events of the processor.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "obs/counters.h"

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define PARANOID_USER 2 /* the highest level that permits counting in user mode */

#define HARDWARE(name, id)                                                                         \
	{ name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id, false },                                   \
	{                                                                                          \
		name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id, true                                 \
	}
#define READ_MISS(id)                                                                              \
	(PERF_COUNT_HW_CACHE_##id | PERF_COUNT_HW_CACHE_OP_READ << 8 |                             \
	 PERF_COUNT_HW_CACHE_RESULT_MISS << 16)
#define CACHE(name, id)                                                                            \
	{ name, PERF_TYPE_HW_CACHE, READ_MISS(id), false },                                        \
	{                                                                                          \
		name, PERF_TYPE_HW_CACHE, READ_MISS(id), true                                      \
	}

const struct sp__counter_event sp__processor_events[SP__PROCESSOR_EVENTS] = {
	HARDWARE("cycles", CPU_CYCLES),
	HARDWARE("instructions", INSTRUCTIONS),
	HARDWARE("branches", BRANCH_INSTRUCTIONS),
	HARDWARE("branch_misses", BRANCH_MISSES),
	CACHE("l1d_misses", L1D),
	CACHE("l1i_misses", L1I),
	CACHE("llc_misses", LL),
	CACHE("dtlb_misses", DTLB),
	CACHE("itlb_misses", ITLB),
	HARDWARE("frontend_stalls", STALLED_CYCLES_FRONTEND),
	HARDWARE("backend_stalls", STALLED_CYCLES_BACKEND),
};

static int paranoid_level(void)
{
	FILE *f = fopen(PARANOID, "re");
	int level = PARANOID_USER;

	if (f && fscanf(f, "%d", &level) != 1)
		level = PARANOID_USER;
	if (f)
		fclose(f);
	return level;
}

void sp__counters_reason(char *text, size_t bytes, int error, int paranoid)
{
	const char *reason = sp_strerror(-error);

	if (error == ENOENT || error == ENODEV || error == EOPNOTSUPP)
		snprintf(text, bytes, "perf_event_open: %s: no PMU (a virtual machine?)", reason);
	else if (error == ENOSYS)
		snprintf(text, bytes,
			 "perf_event_open: %s: the kernel lacks it or a container forbids it",
			 reason);
	else if (error != EACCES && error != EPERM)
		snprintf(text, bytes, "perf_event_open: %s", reason);
	else if (paranoid > PARANOID_USER)
		snprintf(text, bytes,
			 "perf_event_open: %s: " PARANOID
			 " is %d: set it to 2, or to 1 to count in the kernel, too",
			 reason, paranoid);
	else
		snprintf(text, bytes,
			 "perf_event_open: %s, although " PARANOID
			 " is %d: a container or the owner of the process forbids it",
			 reason, paranoid);
}

static int refused(int error, struct sp_errinfo *err)
{
	char text[200];

	sp__counters_reason(text, sizeof(text), error, paranoid_level());
	return sp__errf(err, -error, "count", "", -1, "%s", text);
}

/* Returns a descriptor or a negative error.  thread 0: that of the caller, counted from an exec. */
static int open_event(const struct sp__counter_event *e, pid_t thread)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = e->type,
		.config = e->config,
		.disabled = !thread,
		.enable_on_exec = !thread,
		.inherit = 1,
		.exclude_user = e->kernel,
		.exclude_kernel = !e->kernel,
		.exclude_hv = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	long fd = syscall(SYS_perf_event_open, &attr, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* True if the error is not one of the event. */
static bool fails_all(int error)
{
	return error == ESRCH || error == EMFILE || error == ENFILE || error == ENOMEM;
}

static void close_from(struct sp__counters *c, size_t threads)
{
	for (size_t i = threads * c->n; i < c->threads * c->n; i++)
		if (c->fd[i] >= 0)
			close(c->fd[i]);
	c->threads = threads;
}

/* Describes only refusals in err. */
static int open_thread(struct sp__counters *c, pid_t thread, struct sp_errinfo *err)
{
	int *fd = reallocarray(c->fd, c->threads + 1, c->n * sizeof(*fd)), first = 0;
	size_t opened = 0;

	if (!fd)
		return -ENOMEM;
	c->fd = fd;
	fd += c->threads++ * c->n;
	for (size_t i = 0; i < c->n; i++)
		fd[i] = -1;
	for (size_t i = 0; i < c->n; i++) {
		int rc = open_event(&c->events[i], thread);

		if (rc < 0 && fails_all(-rc))
			return rc;
		if (rc < 0 && !i)
			first = -rc;
		fd[i] = rc < 0 ? -1 : rc;
		opened += rc >= 0;
	}
	return opened ? 0 : refused(first, err);
}

int sp__counters_open(struct sp__counters *c, struct sp_errinfo *err)
{
	size_t before = c->threads;
	int rc = open_thread(c, 0, err);

	if (rc == 0)
		return 0;
	close_from(c, before);
	return sp__err(err, rc, "count", "", -1);
}

/* Lists the threads of a process; *threads is freed by the caller.  Returns their number. */
static long list_threads(pid_t pid, pid_t **threads)
{
	char path[64];
	const struct dirent *e;
	pid_t *more;
	long n = 0;
	DIR *d;

	*threads = NULL;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	if (!d)
		return errno == ENOENT ? -ESRCH : -errno;
	while (n >= 0 && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		more = reallocarray(*threads, (size_t)n + 1, sizeof(*more));
		if (more) {
			*threads = more;
			more[n++] = (pid_t)strtol(e->d_name, NULL, 10);
		} else {
			n = -ENOMEM;
		}
	}
	closedir(d);
	return n;
}

/* A thread that started since the list was made might not be counted, or twice. */
static int check_threads(pid_t pid, const pid_t *threads, long n)
{
	pid_t *now;
	long m = list_threads(pid, &now);
	bool same = m == n && !memcmp(threads, now, (size_t)n * sizeof(*now));

	free(now);
	return m < 0 ? (int)m : same ? 0 : -EAGAIN;
}

int sp__counters_open_process(struct sp__counters *c, pid_t pid, struct sp_errinfo *err)
{
	size_t before = c->threads;
	pid_t *threads;
	long n = list_threads(pid, &threads);
	int rc = n < 0 ? (int)n : n ? 0 : -ESRCH;

	for (long i = 0; rc == 0 && i < n; i++)
		rc = open_thread(c, threads[i], err);
	if (rc == 0)
		rc = check_threads(pid, threads, n);
	free(threads);
	if (rc == 0)
		return 0;
	close_from(c, before);
	return sp__errf(err, rc, "count", "", -1, "process %d: %s", (int)pid,
			rc == -EAGAIN ? "its threads changed; try again" : sp_strerror(rc));
}

static int add(struct sp__counter_raw *sum, int fd)
{
	struct sp__counter_raw raw;
	ssize_t n = read(fd, &raw, sizeof(raw));

	if (n != (ssize_t)sizeof(raw))
		return n < 0 ? -errno : -EIO;
	sum->count += raw.count;
	sum->enabled_ns += raw.enabled_ns;
	sum->running_ns += raw.running_ns;
	return 0;
}

struct sp__counter_value sp__counter_scaled(const struct sp__counter_raw *raw)
{
	double enabled = (double)raw->enabled_ns, running = (double)raw->running_ns;

	if (!raw->running_ns)
		return (struct sp__counter_value){ NAN, 0 };
	return (struct sp__counter_value){ (double)raw->count * (enabled / running),
					   running / enabled };
}

int sp__counters_read(const struct sp__counters *c, struct sp__counter_value *values)
{
	for (size_t i = 0; i < c->n; i++) {
		struct sp__counter_raw sum = { 0 };
		bool absent = false;

		for (size_t t = 0; t < c->threads; t++) {
			int fd = c->fd[t * c->n + i], rc = fd < 0 ? 0 : add(&sum, fd);

			if (rc < 0)
				return rc;
			absent |= fd < 0;
		}
		values[i] =
			absent ? (struct sp__counter_value){ NAN, 0 } : sp__counter_scaled(&sum);
	}
	return 0;
}

void sp__counters_close(struct sp__counters *c)
{
	close_from(c, 0);
	free(c->fd);
	c->fd = NULL;
}
