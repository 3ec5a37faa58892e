/* SPDX-License-Identifier: MIT */
/*
 * Chooses between the counters of the processor and cachegrind, and reads them.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/child.h"
#include "base/err.h"
#include "dbm/cachegrind.h"
#include "dbm/counting.h"
#include "dbm/hw.h"

#define NO_KERNEL                                                                                  \
	"what programs do in the kernel is not counted: /proc/sys/kernel/perf_event_paranoid "     \
	"would have to be 1"

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
	if (!sp__hw_try(&kernel, &no_hw)) {
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
	return c && c->active && c->kind == SP_DBM_COUNTERS_HW ? sp__hw_begin(&c->hw, servers, err)
							       : 0;
}

int sp__counting_end(struct sp__dbm_counting *c, struct sp_dbm_usage *used, struct sp_errinfo *err)
{
	double forgotten[SP_DBM_EVENTS] = { 0 };

	for (int i = 0; used && i < SP_DBM_EVENTS; i++)
		used->events[i] = used->kernel[i] = NAN;
	if (!c || !c->active)
		return 0;
	if (c->kind == SP_DBM_COUNTERS_HW) {
		sp__hw_end(&c->hw, used);
		return 0;
	}
	return sp__cachegrind_take(c->sim, used ? used->events : forgotten, err);
}
