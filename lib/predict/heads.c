/* SPDX-License-Identifier: MIT */
/*
 * Keeps requests outstanding on drives, and advances the time of their host.
 */
#include <math.h>
#include "base/minmax.h"
#include "predict/heads.h"

/* Serves the next request of a drive; the host waits for it. */
static void serve(struct sp__heads *h, struct sp__headpath *drive)
{
	unsigned tag = sp__headpath_serve(drive);

	if (h->of_tag)
		h->of_tag[tag]--;
	h->queued--;
	h->host_ns = fmax(h->host_ns, drive->now_ns);
}

void sp__heads_serve(struct sp__heads *h)
{
	struct sp__headpath *first = h->drives;

	for (struct sp__headpath *d = first; d < h->drives + h->n; d++)
		if (d->queued && (!first->queued || d->now_ns < first->now_ns))
			first = d;
	serve(h, first);
}

void sp__heads_make_room(struct sp__heads *h, struct sp__headpath *drive)
{
	if (drive->queued >= sp__min(h->depth, SP__HEADPATH_DEPTH_MAX))
		serve(h, drive);
	else if (h->queued >= h->depth)
		sp__heads_serve(h);
}

void sp__heads_issue(struct sp__heads *h, struct sp__headpath *drive,
		     const struct sp__headpass *pass)
{
	sp__headpath_put(drive, pass, h->host_ns);
	h->queued++;
}

void sp__heads_drain(struct sp__heads *h)
{
	while (h->queued)
		sp__heads_serve(h);
}
