/* SPDX-License-Identifier: MIT */
/*
 * The facts of a device from which costs are predicted: of a simulated one, of a geometry, or
 * assumed.
 *
 * Thread rule: immutable once open.
 */
#pragma once

#include "predict/costs.h"
#include "predict/drive.h"

struct sp__platform {
	const struct sp_run_opts *run;	    /* borrowed */
	struct sp__volume_drive drive;	    /* own: of the simulated device */
	char *array;			    /* specification of several drives; or NULL, */
	struct sp_run_opts array_run;	    /* run options with the array */
	const struct sp_geometry *geometry; /* the given one, or own; NULL: unknown */
	const struct sp_geometry *tracks;   /* whose heads are followed if it is not own */
	bool simulated;
	struct sp__device_costs costs; /* for a device without tracks */
};

/*
 * Opens the platform of these options.  A simulated device without tracks is measured by some reads
 * on a machine of its own.  Returns 0, -ENOMEM, or an error of the volume; then, too, it must be
 * closed.
 */
SP_MUST_CHECK int sp__platform_open(struct sp__platform *p, const struct sp_run_opts *run,
				    struct sp_errinfo *err);
/*
 * Opens that of data along the tracks of several drives like the one of the options; a geometry is
 * that of one drive.  The platform must not be moved.  Errors as above.
 */
SP_MUST_CHECK int sp__platform_open_drives(struct sp__platform *p, const struct sp_run_opts *run,
					   unsigned drives, struct sp_errinfo *err);
void sp__platform_close(struct sp__platform *p);
/*
 * Returns rho: the bytes per second of reads of single pages, divided by those of a sequential
 * read.
 */
double sp__platform_rho(const struct sp__platform *p, uint32_t page_bytes);
/*
 * Returns the longest gap between two reads that is read with them, since reading it takes less
 * time than another request would.
 */
uint64_t sp__platform_gap_bytes(const struct sp__platform *p);
/*
 * Returns the bytes of a run, at least min_bytes: on a disk so many that positioning takes at most
 * a tenth of the time.
 */
uint64_t sp__platform_run_bytes(const struct sp__platform *p, uint64_t min_bytes);
