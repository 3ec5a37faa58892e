/* SPDX-License-Identifier: MIT */
/*
 * The run environment: the resources of the machine that an operator may use, and those
 * that it used.
 *
 * Options and statistics of a capability (sorting, joining, ...) embed these two structs as
 * their member "run".  All sizes are bytes; a field that is 0 or NULL is chosen by the
 * library unless its comment says otherwise.  Pointers are borrowed while the operator lives.
 */
#ifndef SPINDLE_RUN_H
#define SPINDLE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/api.h>
#include <spindle/error.h>
#include <spindle/geometry.h>
#include <spindle/packed.h>
#include <spindle/spill.h>

struct sp_run_opts {
	uint64_t memory_bytes;	    /* limit for the whole process (-S) */
	unsigned parallel;	    /* threads; 0: one for each processor, at most 8 */
	uint64_t seed;		    /* of hashes and all other random choices */
	const char *const *tmpdirs; /* for temporary files: at least one */
	size_t ntmpdirs;
	/*
	 * NULL: files in tmpdirs.  "sim:SPEC": a simulated machine, whose bytes are kept in a
	 * file in the first of tmpdirs; times in the statistics are virtual then.
	 * "block:DEV": the block device DEV, whose contents are lost: overwrite must be set.
	 */
	const char *volume;
	bool overwrite;
	const struct sp_geometry *geometry; /* of the volume, for planning and placement */
	enum sp_placement placement;	    /* other than CONTIGUOUS: geometry has tracks */
	enum sp_spill_compression compression;
	uint32_t page_bytes; /* of temporary data; multiple of 4096, at most 16 MiB */
	const char *engine;  /* I/O engine; NULL: the best available */
	int direct; /* bypass the page cache: -1: depends on its contents; 0: never; 1: always */
	const char *trace_path; /* block-request trace to write; NULL: none */
	/*
	 * Inputs that are read from beginning to end are unpacked: those of that format, which all
	 * must have, or SP_PACKED_AUTO.  The result is packed: any format but SP_PACKED_XZ.
	 */
	enum sp_packed decompress, compress_output;
};

#define SP_RUN_OPTS_INIT                                                                           \
	{                                                                                          \
		.direct = -1                                                                       \
	}

/* Resources that a run used; spindle-report(5) explains each figure. */
struct sp_run_stats {
	double elapsed_s;
	char engine[32], input_engine[32];  /* of temporary data and of the inputs; "": none */
	uint64_t read_requests, read_bytes; /* of all volumes */
	uint64_t write_requests, write_bytes;
	int64_t device_read_bytes, device_write_bytes;	/* of real devices; -1: unknown */
	uint64_t memory_limit_bytes, memory_peak_bytes; /* peak: resident, of the process */
	uint64_t memory_charged_peak_bytes;
	uint64_t memory_overrun_bytes; /* of records larger than the budget; usually 0 */
	uint64_t spill_read_bytes, spill_write_bytes, spill_peak_bytes;
	uint64_t spill_regions; /* contiguous pieces on the device; 0: unknown, or not requested */
	double spill_region_bytes_mean;
	bool simulated; /* times are virtual, and these are counted: */
	uint64_t sim_requests, sim_dispatched, sim_transfers, sim_seeks, sim_merges;
	uint64_t sim_io_time_ns, sim_cpu_time_ns;
	uint64_t sim_dispatched_reads;
	/* Of the options; the caller can add those of its own. */
	struct sp_no_effects no_effects;
};

/*
 * What a run on real files predicted when its runs were formed, or its inputs partitioned, from its
 * requests until then; 0: unknown.
 */
struct sp_prediction {
	double transfer_s_per_mib; /* of writing temporary data: t of Zhang & Larson, in MiB */
	double read_s_per_mib;	   /* the same of reading it */
	double seek_s;		   /* of a read elsewhere: their s */
	double seconds;		   /* of the whole run */
	double revised_s;	   /* ... told again by the second sixteenth of its last phase */
};

/* Space for temporary files. */
struct sp_run_space {
	uint64_t free_bytes;   /* of all file systems together */
	uint64_t memory_bytes; /* the part of it that is memory (tmpfs), beside that of the run */
};

/*
 * What is free in the tmpdirs now, for a user without privileges.  0, or the error of a directory
 * that cannot be looked at.
 */
SP_API SP_MUST_CHECK int sp_run_space(const struct sp_run_opts *opts, struct sp_run_space *space,
				      struct sp_errinfo *err);

/*
 * The geometry of the device in volume, "sim:SPEC"; *g is NULL for any other.  An array of drives
 * has no tracks, unless they are its stripes.  SP_ESYNTAX for a specification that is wrong,
 * otherwise as sp_geometry_model().
 */
SP_API SP_MUST_CHECK int sp_run_geometry(struct sp_geometry **g, const char *volume,
					 struct sp_errinfo *err);

#endif
