/* SPDX-License-Identifier: MIT */
/*
 * Counters of events of other processes, tested with page faults, which the kernel counts without
 * a counter of the processor: which processes are counted, how counts are scaled, and why the
 * kernel refuses.
 *
 * Child processes are this program with the number of pages that each of them touches.
 */
#define TAP_THREADS
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "obs/counters.h"
#include "tap.h"

#define PAGES 3000
#define SLACK (PAGES / 2) /* below one set of pages, above other page faults that differ */

extern char **environ;

static char *self;

/* Each page is a page fault; sanitizers would add those of their shadow memory. */
__attribute__((no_sanitize("address", "thread"))) static void touch(size_t pages)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE), bytes = (pages + 1) * size;
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	madvise(p, bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		((volatile char *)p)[i * size] = 1;
	munmap(p, bytes);
}

static pid_t start(const char *what, const char *pages, const posix_spawn_file_actions_t *actions)
{
	char what_arg[16], pages_arg[16], *argv[] = { self, what_arg, pages_arg, NULL };
	pid_t pid;

	snprintf(what_arg, sizeof(what_arg), "%s", what);
	snprintf(pages_arg, sizeof(pages_arg), "%s", pages);
	if (posix_spawn(&pid, self, actions, NULL, argv, environ) != 0)
		abort();
	return pid;
}

static void wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status != 0)
		abort();
}

static const struct sp__counter_event faults[] = {
	{ "page_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false },
	{ "task_clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false },
	{ "none", PERF_TYPE_SOFTWARE, 1 << 20, false },
};

#define EVENTS (sizeof(faults) / sizeof(faults[0]))

static struct sp__counters software(void)
{
	return (struct sp__counters){ .events = faults, .n = EVENTS };
}

static double faults_of(const struct sp__counters *c)
{
	struct sp__counter_value v[EVENTS];

	if (sp__counters_read(c, v) < 0)
		abort();
	return v[0].count;
}

/* Returns the page faults of a child; with busy, the caller touches many pages, too. */
static double counted(const char *what, const char *pages, bool busy)
{
	struct sp__counters c = software();
	double n;
	pid_t pid;

	if (sp__counters_open(&c, NULL) < 0)
		abort();
	if (busy)
		touch(2 * PAGES);
	pid = start(what, pages, NULL);
	if (busy)
		touch(2 * PAGES);
	wait_for(pid);
	if (busy)
		touch(2 * PAGES);
	n = faults_of(&c);
	sp__counters_close(&c);
	return n;
}

static bool near(double n, double expected)
{
	diag("%g page faults, %g expected", n, expected);
	return fabs(n - expected) < SLACK;
}

static void children(void)
{
	double none = counted("touch", "0", false);

	ok(near(counted("touch", "3000", false), none + PAGES), "a child is counted");
	ok(near(counted("touch", "3000", true), none + PAGES), "the caller is not");
	ok(near(counted("nest", "3000", true), 3 * (none + PAGES)),
	   "children of children are counted");
}

static void values(void)
{
	struct sp__counters c = software();
	struct sp__counter_value v[EVENTS];

	if (sp__counters_open(&c, NULL) < 0 || sp__counters_read(&c, v) < 0)
		abort();
	ok(isnan(v[0].count) && v[0].share == 0, "before a child there is no count");
	wait_for(start("touch", "3000", NULL));
	if (sp__counters_read(&c, v) < 0)
		abort();
	ok(v[0].count >= PAGES && v[0].share > 0.99 && v[0].share <= 1,
	   "software events count all the time");
	ok(v[1].count > 0 && v[1].count < 60e9, "the second event has a value of its own");
	ok(isnan(v[2].count) && v[2].share == 0,
	   "an event that the kernel does not know is absent");
	sp__counters_close(&c);
}

struct server {
	pid_t pid;
	int in, out;
};

static struct server serve(void)
{
	struct server s;
	posix_spawn_file_actions_t actions;
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0 ||
	    posix_spawn_file_actions_init(&actions) != 0 ||
	    posix_spawn_file_actions_adddup2(&actions, to[0], 0) != 0 ||
	    posix_spawn_file_actions_adddup2(&actions, from[1], 1) != 0)
		abort();
	s.pid = start("serve", "3000", &actions);
	posix_spawn_file_actions_destroy(&actions);
	close(to[0]);
	close(from[1]);
	s.out = to[1];
	s.in = from[0];
	return s;
}

static void await(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		abort();
}

static void signal_to(int fd)
{
	if (write(fd, "", 1) != 1)
		abort();
}

static void end(struct server *s)
{
	close(s->out);
	close(s->in);
	wait_for(s->pid);
}

/*
 * The server touches the pages once before it is ready.  Then, after a signal, it does so in two
 * threads that exist, one that it starts, and three processes: a child, its child, and that one's.
 */
static void running_process(void)
{
	double none = counted("touch", "0", false), n;
	struct sp__counters c = software();
	struct server s = serve();
	int rc;

	await(s.in);
	rc = sp__counters_open_process(&c, s.pid, NULL);
	ok(rc == 0 && c.threads >= 2, "a process with two threads is opened");
	signal_to(s.out);
	await(s.in);
	n = faults_of(&c);
	end(&s);
	ok(near(n, 3.0 * PAGES + 3 * (none + PAGES)),
	   "old and new threads and new processes of a running process are counted");
	ok(faults_of(&c) >= n, "the counts remain when the process has ended");
	sp__counters_close(&c);
}

static void two_processes(void)
{
	struct sp__counters c = software();
	struct server s[2] = { serve(), serve() };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	double n[2] = { 0 };
	size_t threads;
	pid_t gone;

	gone = start("touch", "0", NULL);
	wait_for(gone);
	for (int i = 0; i < 2; i++) {
		await(s[i].in);
		if (sp__counters_open_process(&c, s[i].pid, NULL) < 0)
			abort();
	}
	threads = c.threads;
	ok(sp__counters_open_process(&c, gone, &err) == -ESRCH && c.threads == threads &&
		   strstr(err.text, "process "),
	   "a process that does not exist is refused and adds nothing");
	diag("%s", err.text);
	for (int i = 0; i < 2; i++) {
		signal_to(s[i].out);
		await(s[i].in);
		n[i] = faults_of(&c);
	}
	for (int i = 0; i < 2; i++)
		end(&s[i]);
	ok(near(n[1], 2 * n[0]), "counts of two processes are added");
	sp__counters_close(&c);
}

static bool scales(uint64_t count, uint64_t enabled, uint64_t running, double want, double share)
{
	struct sp__counter_raw raw = { count, enabled, running };
	struct sp__counter_value v = sp__counter_scaled(&raw);

	return (isnan(want) ? isnan(v.count) : fabs(v.count - want) <= 1e-12 * want) &&
	       v.share == share;
}

static void scaling(void)
{
	ok(scales(1000, 800, 800, 1000, 1), "a count of the whole time is exact");
	ok(scales(1000, 800, 200, 4000, 0.25),
	   "a count of a quarter of the time is multiplied by 4");
	ok(scales(0, 800, 200, 0, 0.25), "0 remains 0");
	ok(scales(7, 3000000000000, 1000000000000, 21, 1 / 3.0), "hours are scaled, too");
	ok(scales(0, 800, 0, NAN, 0), "an event that was never counted has no value");
	ok(scales(0, 0, 0, NAN, 0), "neither has one that never began");
}

static bool says(int error, int paranoid, const char *want)
{
	char text[200];

	sp__counters_reason(text, sizeof(text), error, paranoid);
	diag("%s", text);
	return strstr(text, want) && strstr(text, strerror(error)) && !strchr(text, '\n');
}

static void reasons(void)
{
	ok(says(ENOENT, 2, "no PMU (a virtual machine?)"), "no PMU");
	ok(says(EOPNOTSUPP, 2, "no PMU (a virtual machine?)"), "an event without a PMU");
	ok(says(EACCES, 3, "perf_event_paranoid is 3: set it to 2"), "a level that forbids it");
	ok(says(EPERM, 4, "perf_event_paranoid is 4: set it to 2"), "a higher one");
	ok(says(EPERM, 2, "although"), "a level that permits it");
	ok(says(ENOSYS, 2, "container"), "a kernel without the call");
	ok(says(EINVAL, 2, "perf_event_open"), "another error");
}

/* The processor has counters or not: either is stated. */
static void processor(void)
{
	struct sp__counters c = SP__COUNTERS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__counter_value v[SP__PROCESSOR_EVENTS];
	size_t present = 0;
	int rc = sp__counters_open(&c, &err);

	if (rc < 0) {
		diag("%s", err.text);
		ok(err.code == rc && strstr(err.text, "perf_event_open: ") && c.threads == 0,
		   "the reason is stated if no event of the processor can be counted");
	} else {
		wait_for(start("touch", "3000", NULL));
		if (sp__counters_read(&c, v) < 0)
			abort();
		for (size_t i = 0; i < c.n; i++) {
			diag("%s%s: %g, %g of the time", c.events[i].name,
			     c.events[i].kernel ? ", kernel" : "", v[i].count, v[i].share);
			present += v[i].count > 0 && v[i].share > 0 && v[i].share <= 1;
		}
		ok(present > 0, "events of the processor are counted");
	}
	sp__counters_close(&c);
}

static void *thread_touches(void *arg)
{
	if (arg)
		await(*(int *)arg);
	touch(PAGES);
	return NULL;
}

static void run_thread(int *fd, pthread_t *t)
{
	if (pthread_create(t, NULL, thread_touches, fd) != 0)
		abort();
}

static void act_as_server(const char *pages)
{
	int waiting[2];
	pthread_t old, new;

	if (pipe2(waiting, O_CLOEXEC) < 0)
		abort();
	run_thread(&waiting[0], &old);
	touch(PAGES);
	signal_to(1);
	await(0);
	signal_to(waiting[1]);
	touch(PAGES);
	run_thread(NULL, &new);
	pthread_join(old, NULL);
	pthread_join(new, NULL);
	wait_for(start("nest", pages, NULL));
	signal_to(1);
	if (read(0, waiting, 1) != 0)
		abort();
}

/* A child: touches its pages; "nest" starts one that starts another one. */
static int act(const char *what, const char *pages)
{
	if (!strcmp(what, "serve")) {
		act_as_server(pages);
		return 0;
	}
	touch(strtoul(pages, NULL, 10));
	if (!strcmp(what, "nest"))
		wait_for(start("nest2", pages, NULL));
	if (!strcmp(what, "nest2"))
		wait_for(start("touch", pages, NULL));
	return 0;
}

int main(int argc, char **argv)
{
	struct sp__counters c = software();
	struct sp_errinfo err = SP_ERRINFO_INIT;

	self = argv[0];
	if (argc > 1)
		return act(argv[1], argv[2]);
	scaling();
	reasons();
	processor();
	if (sp__counters_open(&c, &err) < 0) {
		skip("which processes are counted", err.text);
		return done();
	}
	sp__counters_close(&c);
	children();
	values();
	running_process();
	two_processes();
	return done();
}
