/* SPDX-License-Identifier: MIT */
/*
 * One or several drives whose heads are followed, and the host that issues their requests.
 *
 * The host issues a request when less than `depth` are outstanding, on the drive and on all drives.
 * Until then it waits, and the drives serve requests (headpath.h).
 *
 * Thread rule: one thread.
 */
#pragma once

#include "predict/headpath.h"

/* The caller sets the first members; the rest is zero to begin. */
struct sp__heads {
	struct sp__headpath *drives;
	unsigned n;
	unsigned depth;	  /* requests of each drive, at most SP__HEADPATH_DEPTH_MAX */
	unsigned *of_tag; /* outstanding requests by tag; NULL: not counted */
	unsigned queued;  /* outstanding requests of all drives */
	double host_ns;	  /* time of the host */
};

/* Waits for a request of the drive whose time is the least, of those that have some. */
void sp__heads_serve(struct sp__heads *h);
/* Waits while as many requests are outstanding as there can be, on a drive and on all. */
void sp__heads_make_room(struct sp__heads *h, struct sp__headpath *drive);
/* Issues a request to a drive that has room. */
void sp__heads_issue(struct sp__heads *h, struct sp__headpath *drive,
		     const struct sp__headpass *pass);
/* Waits for all requests. */
void sp__heads_drain(struct sp__heads *h);
