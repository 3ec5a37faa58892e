/* SPDX-License-Identifier: MIT */
/*
 * Class RT needs a capability.  Without it RT becomes BE and everything lower
 * becomes IDLE, which needs none and keeps the order.  With a class IDLE among
 * them three ranks cannot become two, so the run is refused.
 */
#include <errno.h>
#include "base/err.h"
#include "bench/state.h"
#include "io/ioprio.h"

static unsigned class_of(uint16_t prio)
{
	return prio >> 13;
}

int sp__bench_settle_prios(struct sp_bench *b, struct sp_errinfo *err)
{
	bool rt = false, idle = false;

	for (size_t i = 0; i < b->nclasses; i++) {
		rt |= class_of(b->classes[i]->spec.prio) == SP_BENCH_RT;
		idle |= class_of(b->classes[i]->spec.prio) == SP_BENCH_IDLE;
	}
	if (!rt || b->machine || sp__ioprio_rt_allowed())
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
