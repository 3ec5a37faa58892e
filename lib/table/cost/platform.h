/* SPDX-License-Identifier: MIT */
/*
 * The facts of a device from which costs are predicted: of a simulated one, of a geometry, or
 * assumed.
 *
 * Thread rule: immutable once open.
 */
#pragma once

#include "cube/lanemap.h"
#include "run/costs.h"
#include "table/layout/layout.h"

struct sp__cost_platform {
	const struct sp_run_opts *run;	    /* borrowed */
	struct sp_geometry *own;	    /* of the simulated device */
	char *array;			    /* specification of several drives; or NULL, */
	struct sp_run_opts array_run;	    /* and the options with it */
	const struct sp_geometry *geometry; /* the given one, or own; NULL: unknown */
	const struct sp_geometry *tracks;   /* whose heads are followed if it is not own */
	bool simulated;
	/* Of a simulated device: */
	double host_ns;	 /* host time of a request */
	bool fifo;	 /* requests are served in the order of their submission */
	unsigned window; /* requests that the drive chooses from */
	double bus_ns;	 /* a block on the bus (run/headpath.h) */
	bool bus_apart[2];
	/* Computation for a record and a byte of output, for a value and a comparison. */
	double record_ns, copy_ns, value_ns, compare_ns;
	/* For a device without tracks: */
	struct sp__device_costs costs;
};

/*
 * Opens the platform of these options.  A simulated device without tracks is measured by some reads
 * on a machine of its own.  Returns 0, -ENOMEM, or an error of the volume; then, too, it must be
 * closed.
 */
SP_MUST_CHECK int sp__cost_platform_open(struct sp__cost_platform *p, const struct sp_run_opts *run,
					 struct sp_errinfo *err);
/*
 * Opens that of a table along the tracks of drives like the one of the options; a geometry is that
 * of one drive.  The platform must not be moved.  Errors as above.
 */
SP_MUST_CHECK int sp__cost_platform_open_drives(struct sp__cost_platform *p,
						const struct sp_run_opts *run,
						const struct sp__lanemap *lanemap,
						struct sp_errinfo *err);
void sp__cost_platform_close(struct sp__cost_platform *p);
/*
 * Returns rho: the bytes per second of reads of single cells, divided by those of a sequential
 * read.
 */
double sp__cost_rho(const struct sp__cost_platform *p, uint32_t cell_bytes);
/*
 * Returns the share of chosen records below which a scan takes less time if it reads the column
 * groups `first`, those of the predicate, and then only the cells of its other ones that have a
 * chosen record; 0: it has no others.
 */
double sp__cost_switch_share(const struct sp__cost_platform *p, const struct sp__table_layout *l,
			     const bool *groups, const bool *first);
/*
 * Returns the longest gap between two cells that is read with them, since reading it takes less
 * time than another request would.
 */
uint64_t sp__cost_gap_bytes(const struct sp__cost_platform *p);
/*
 * Returns the bytes of a column group's run in the largest strip: on a disk so many that
 * positioning takes at most a tenth of the time.
 */
uint64_t sp__cost_strip_bytes(const struct sp__cost_platform *p);
