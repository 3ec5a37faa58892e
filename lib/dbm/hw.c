/* SPDX-License-Identifier: MIT */
/*
 * Counts with obs/counters.h, whose events are those of enum sp_dbm_event, each in user mode and in
 * the kernel.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/err.h"
#include "dbm/hw.h"
#include "obs/counters.h"

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

int sp__hw_try(bool *kernel, struct sp_errinfo *err)
{
	struct sp__counters c = SP__COUNTERS_INIT;
	int rc = sp__counters_open(&c, err);

	*kernel = !rc && has_kernel(&c);
	sp__counters_close(&c);
	return rc;
}

int sp__hw_begin(struct sp__hw **hw, const struct sp__dbm_servers *servers, struct sp_errinfo *err)
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
		sp__hw_end(hw, NULL);
	return rc;
}

/* Adds a value; the first one is added to NaN, which stands for nothing. */
static void add(double *to, double value)
{
	*to = isnan(*to) ? value : *to + value;
}

void sp__hw_end(struct sp__hw **hw, struct sp_dbm_usage *used)
{
	struct sp__counter_value values[SP__PROCESSOR_EVENTS];
	struct sp__hw *h = *hw;

	if (h && used && !sp__counters_read(&h->counters, values))
		for (size_t i = 0; i < SP__PROCESSOR_EVENTS; i++) {
			if (isnan(values[i].count))
				continue;
			add(&used->events[i / 2], values[i].count);
			if (sp__processor_events[i].kernel)
				add(&used->kernel[i / 2], values[i].count);
			used->counted = fmin(used->counted, values[i].share);
		}
	if (h)
		sp__counters_close(&h->counters);
	free(h);
	*hw = NULL;
}
