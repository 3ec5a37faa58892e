/* SPDX-License-Identifier: MIT */
/*
 * The log of tasks: known tasks give the expected events, and the processor time that they used.
 */
#define TAP_THREADS

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/ring.h"
#include "base/task.h"
#include "tap.h"

#define MS 1000000u
#define SLACK_NS (8 * MS) /* less than any of the tasks uses */
#define EVENTS 200
#define ITEMS 5

static char path[4096];

struct seen {
	char name[16], rest[160];
	unsigned long long task, cpu_ns, time_ns;
};

static struct seen seen[EVENTS];
static int nseen;

static void read_log(void)
{
	FILE *f = fopen(path, "r");
	char line[400];

	nseen = 0;
	while (f && nseen < EVENTS && fgets(line, sizeof(line), f)) {
		struct seen *s = &seen[nseen];

		nseen += sscanf(line,
				"{\"event\":\"%15[a-z]\",\"task\":%llu,\"cpu_ns\":%llu,"
				"\"time_ns\":%llu%159[^}]}\n",
				s->name, &s->task, &s->cpu_ns, &s->time_ns, s->rest) >= 4;
	}
	if (f)
		fclose(f);
}

/* Returns the number of such events, and notes the last one. */
static int count(const char *name, unsigned long long task, const char *rest, struct seen *last)
{
	int n = 0;

	for (int i = 0; i < nseen; i++) {
		if (strcmp(seen[i].name, name) || seen[i].task != task ||
		    !strstr(seen[i].rest, rest))
			continue;
		n++;
		if (last)
			*last = seen[i];
	}
	return n;
}

static bool once(const char *name, unsigned long long task, const char *rest)
{
	return count(name, task, rest, NULL) == 1;
}

/*
 * Adds the processor time that it used: at least this many milliseconds, and more where a virtual
 * machine counts the time of others.
 */
static void burn(unsigned ms, uint64_t *used_ns)
{
	const uint64_t begin_ns = sp__clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t ns = 0;

	while (ns < (uint64_t)ms * MS)
		ns = sp__clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	*used_ns += ns;
}

/* True if an event says what was used, and little more. */
static bool says(uint64_t cpu_ns, uint64_t used_ns)
{
	return cpu_ns >= used_ns && cpu_ns < used_ns + SLACK_NS;
}

static bool used(const char *name, unsigned long long task, uint64_t used_ns)
{
	struct seen s = { .cpu_ns = 0 };

	return count(name, task, "", &s) == 1 && says(s.cpu_ns, used_ns);
}

static uint64_t first_ns, branch_ns, leaf_ns[2];

static void leaf(void *arg)
{
	burn(20, arg);
}

/* With a limit of one queued task, the branch runs its leaves itself. */
static void branch(void *arg)
{
	struct sp__task leaves[2] = { 0 };

	(void)arg;
	burn(10, &branch_ns);
	first_ns = branch_ns;
	for (int i = 0; i < 2; i++)
		sp__task_start(&leaves[i], leaf, &leaf_ns[i]);
	for (int i = 0; i < 2; i++)
		sp__task_join(&leaves[i]);
	burn(20, &branch_ns);
}

static void tree(void)
{
	struct sp__task root = { 0 }, later = { 0 };
	struct seen s = { .cpu_ns = 0 };
	unsigned long long all = 0, process = 0;
	uint64_t opener_ns = 0, later_ns = 0;

	sp__tasks_open(1);
	ok(sp__tasklog_open(path, 7, NULL) == 0, "a log opens");
	burn(10, &opener_ns);
	sp__task_start(&root, branch, NULL);
	while (!sp__task_done(&root))
		usleep(1000);
	sp__task_join(&root);
	ok(sp__tasklog_close(NULL) == 0, "it closes");
	sp__task_start(&later, leaf, &later_ns);
	ok(!later.logged.log, "a task started after the end is in no log");
	sp__task_join(&later);
	sp__tasks_close();

	read_log();
	ok(nseen == 11, "the log has %d events", nseen);
	ok(once("open", 0, "\"schema\":\"spindle.tasks/1\",\"threads\":7"),
	   "it begins with its format");
	ok(once("start", 0,
		"\"started\":1,\"kind\":\"tests/unit/test_tasklog.c:branch\",\"own_thread\":false"),
	   "the opener is task 0, and starts a task of that name");
	ok(once("start", 1, "\"started\":2") && once("start", 1, "\"started\":3"),
	   "that starts two others");
	ok(once("join", 1, "\"joined\":2,\"runs\":true") &&
		   once("join", 1, "\"joined\":3,\"runs\":true"),
	   "joins them, and runs them itself");
	ok(once("join", 0, "\"joined\":1,\"runs\":false"), "its owner joins it after its end");
	ok(count("join", 1, "\"joined\":2", &s) == 1 && says(s.cpu_ns, first_ns),
	   "an event has the processor time of its task until then");
	ok(count("join", 1, "\"joined\":3", &s) == 1 && says(s.cpu_ns, first_ns),
	   "which is without that of a task that it ran");
	ok(used("end", 2, leaf_ns[0]) && used("end", 3, leaf_ns[1]),
	   "ends have the processor time of leaves");
	ok(used("end", 1, branch_ns), "and of a task that ran others");
	for (int i = 0; i < nseen; i++)
		if (!strcmp(seen[i].name, "end") || !strcmp(seen[i].name, "close"))
			all += seen[i].cpu_ns;
	if (count("close", 0, "process_cpu_ns", &s) == 1)
		(void)sscanf(s.rest, ",\"process_cpu_ns\":%llu", &process);
	ok(all <= process && all > process / 10 * 9,
	   "the times add up to that of the process: %llu of %llu ns", all, process);
}

struct filling {
	struct sp__task task;
	struct sp__ring ring;
};

static void fill(void *arg)
{
	struct filling *f = arg;

	for (int i = 0; i < ITEMS && sp__ring_empty(&f->ring); i++)
		sp__ring_publish(&f->ring, SP_READY);
	sp__ring_publish(&f->ring, SP_END);
}

/* Checks that the items 0 to n-1 of a channel have an event each. */
static bool each(const char *name, unsigned task, unsigned long long channel, int n)
{
	char rest[80];
	int good = 0;

	for (int i = 0; i < n; i++) {
		snprintf(rest, sizeof(rest), ",\"channel\":%llu,\"number\":%d", channel, i);
		good += once(name, task, rest);
	}
	snprintf(rest, sizeof(rest), ",\"channel\":%llu,", channel);
	return good == n && count(name, task, rest, NULL) == n;
}

static void handovers(void)
{
	struct filling f = { 0 };
	char mem[SP__RING_BUFFERS];
	const char *data;
	size_t bytes;
	int rc = sp__tasklog_open(path, 2, NULL);

	sp__ring_init(&f.ring);
	sp__ring_use(&f.ring, mem, 1);
	if (!rc && sp__task_start_thread(&f.task, fill, &f))
		while (sp__ring_get(&f.ring, true, &data, &bytes) == SP_READY)
			sp__ring_release(&f.ring);
	sp__task_join(&f.task);
	sp__ring_destroy(&f.ring);
	ok(!rc && sp__tasklog_close(NULL) == 0, "a log of hand-overs closes");

	read_log();
	ok(once("start", 0, "\"started\":1") && count("start", 0, "\"own_thread\":true", NULL) == 1,
	   "a task with a thread of its own");
	ok(each("give", 1, f.ring.full, ITEMS + 1) && each("need", 0, f.ring.full, ITEMS + 1),
	   "gives buffers and the end, which the other side needs");
	ok(each("give", 0, f.ring.empty, ITEMS) &&
		   each("need", 1, f.ring.empty, ITEMS - SP__RING_BUFFERS),
	   "and needs buffers that the other side releases");
}

/* Starts a task in a log, and ends it in the next one. */
static void one_at_a_time(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__task task = { 0 };

	ok(!sp__tasklog_open(path, 1, NULL), "a log opens");
	ok(sp__tasklog_open("other", 1, &err) == -EBUSY && strstr(err.text, "another run"),
	   "a second one is refused");
	sp__log_request(false, 2);
	sp__tasks_open(1);
	sp__task_start(&task, leaf, &leaf_ns[0]);
	ok(!sp__tasklog_close(NULL), "the first one closes");
	sp__log_request(false, 3);
	ok(!sp__tasklog_open(path, 1, NULL), "the next one opens");
	sp__task_join(&task);
	sp__tasks_close();
	ok(!sp__tasklog_close(NULL), "and closes");
	read_log();
	ok(nseen == 2, "it has no event of a task that began before it");
}

static void failing(void)
{
	ok(sp__tasklog_open("/dev/null/no", 1, NULL) == -ENOTDIR && !sp__logging.task.log,
	   "a log that cannot be opened is an error");
	ok(!sp__tasklog_open("/dev/full", 1, NULL) && sp__tasklog_close(NULL) == -ENOSPC &&
		   !sp__logging.task.log,
	   "a full disk is reported at the end");
}

int main(void)
{
	const char *dir = getenv("TMPDIR");

	snprintf(path, sizeof(path), "%s/spindle-tasklog-%d", dir ? dir : "/tmp", (int)getpid());
	tree();
	handovers();
	one_at_a_time();
	failing();
	unlink(path);
	return done();
}
