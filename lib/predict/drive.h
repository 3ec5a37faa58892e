/* SPDX-License-Identifier: MIT */
/*
 * What is known of the drive of each volume before anything is opened.
 */
#pragma once

#include <spindle/run.h>

/* How a drive and its host work; of a real one only the last four are known. */
struct sp__drive_facts {
	double host_ns;	 /* time of a simulated host per request */
	bool caches;	 /* the simulated drive has a read cache */
	bool fifo;	 /* it serves requests in their order */
	unsigned window; /* requests that it chooses from; 0: all */
	double bus_ns;	 /* a block on the bus (headpath.h) */
	bool bus_apart[2];
	/* Computation for a record and a byte of output, for a value and a comparison. */
	double record_ns, copy_ns, value_ns, compare_ns;
};

struct sp__volume_drive {
	const struct sp_geometry *geometry; /* geometry of a volume; NULL: unknown */
	struct sp_geometry *own;	    /* the same, if it was made here */
	struct sp__model *model;	    /* model of all volumes; NULL: not simulated */
	struct sp__drive_facts facts;
	uint64_t bytes; /* bytes of a volume; 0: unlimited */
};

/*
 * Finds the drive of the options' simulated volume, or of each of several, and their geometry.
 * path: for messages.  Zeroes d first; after an error, too, it must be freed.  Returns 0, or an
 * error of the specification, the model or the geometry.
 */
SP_MUST_CHECK int sp__volume_drive_find(struct sp__volume_drive *d, const struct sp_run_opts *run,
					unsigned volumes, const char *path, struct sp_errinfo *err);
/*
 * Finds the drive for several plans, which then take its geometry from the options instead of
 * computing it.  The options keep it until d is freed.  An error is left to the plans.
 */
void sp__volume_drive_share(struct sp__volume_drive *d, struct sp_run_opts *run, unsigned volumes);
void sp__volume_drive_free(struct sp__volume_drive *d);
