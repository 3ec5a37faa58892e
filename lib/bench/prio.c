/* SPDX-License-Identifier: MIT */
/*
 * The right to class RT, which needs a capability, and what to do without it:
 * what was RT becomes BE and all that was lower IDLE, which needs none and
 * keeps the order.  With IDLE classes among them three ranks cannot become
 * two, so nothing is changed.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/err.h"
#include "bench/state.h"

/* From linux/ioprio.h, which is not everywhere. */
#define WHO_PROCESS 1

static unsigned class_of(uint16_t prio)
{
	return prio >> 13;
}

int sp__bench_set_prio(uint16_t prio)
{
	if (!prio)
		return 0;
	return syscall(SYS_ioprio_set, WHO_PROCESS, 0, (int)prio) < 0 ? -errno : 0;
}

/* Tried on the calling thread, which gets back what it had. */
bool sp__bench_rt_allowed(void)
{
	long before = syscall(SYS_ioprio_get, WHO_PROCESS, 0);

	if (before < 0)
		return false;
	if (syscall(SYS_ioprio_set, WHO_PROCESS, 0, SP_BENCH_PRIO(SP_BENCH_RT, 4)) < 0)
		return false;
	/* What was never set is read as a class all the same; 0 unsets it. */
	if (syscall(SYS_ioprio_set, WHO_PROCESS, 0, (int)before) < 0)
		(void)!syscall(SYS_ioprio_set, WHO_PROCESS, 0, 0);
	return true;
}

int sp__bench_settle_prios(struct sp_bench *b, struct sp_errinfo *err)
{
	bool rt = false, idle = false;

	for (size_t i = 0; i < b->nclasses; i++) {
		rt |= class_of(b->classes[i]->spec.prio) == SP_BENCH_RT;
		idle |= class_of(b->classes[i]->spec.prio) == SP_BENCH_IDLE;
	}
	if (!rt || b->machine || sp__bench_rt_allowed())
		return 0;
	if (b->opts.no_fallback || idle)
		return sp__errf(
			err, -EPERM, "check", "", -1, "priority class rt needs CAP_SYS_NICE%s",
			idle ? ", and with class idle there is none below be to fall back to" : "");
	for (size_t i = 0; i < b->nclasses; i++) {
		struct sp_bench_class *c = &b->classes[i]->spec;

		if (class_of(c->prio) == SP_BENCH_RT)
			c->prio = SP_BENCH_PRIO(SP_BENCH_BE, c->prio & 7);
		else
			c->prio = SP_BENCH_PRIO(SP_BENCH_IDLE, 0);
	}
	b->result.prio_fallback = true;
	return 0;
}
