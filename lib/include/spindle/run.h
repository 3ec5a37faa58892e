/* SPDX-License-Identifier: MIT */
/*
 * The run environment: the resources of the machine that an operator may use, and those that it
 * used.  It has no state of its own.
 *
 * The options and statistics of a capability (sorting, joining, ...) embed these two structs as
 * their member "run".  All sizes are bytes.  If a field is 0 or NULL, the library chooses its
 * value, unless its comment says otherwise.  Pointers are borrowed while the operator lives.
 *
 * Thread rule: any thread, except where a capability says otherwise.
 */
#ifndef SPINDLE_RUN_H
#define SPINDLE_RUN_H

#include <spindle/geometry.h>
#include <spindle/packed.h>
#include <spindle/spill.h>

struct sp_run_opts {
	uint64_t memory_bytes; /* limit for the whole process (-S) */
	/* Threads; 0: the processors that affinity and control group allow. */
	unsigned parallel;
	uint64_t seed;		    /* seed of hashes and all other random choices */
	const char *const *tmpdirs; /* directories of temporary files, at least one */
	size_t ntmpdirs;
	/*
	 * NULL: files in tmpdirs.  "sim:SPEC": a simulated machine; a file in the first of tmpdirs
	 * holds its bytes, and times in the statistics are virtual.  "block:DEV": block device DEV,
	 * whose contents are lost; overwrite must be set.
	 */
	const char *volume;
	bool overwrite;
	const struct sp_geometry *geometry; /* geometry of the volume, for planning and placement */
	enum sp_placement placement; /* other than CONTIGUOUS: needs a geometry with tracks */
	enum sp_spill_compression compression;
	uint32_t page_bytes; /* page size of temporary data: a multiple of 4096, at most 16 MiB */
	const char *engine;  /* I/O engine; NULL: the best available */
	int direct;	     /* bypass the page cache: -1: by its contents; 0: never; 1: always */
	const char *trace_path; /* block-request trace to write; NULL: none */
	/*
	 * Log of tasks to write, spindle-tasks(5); NULL: none.  At most one run of a process logs
	 * its tasks at a time, and one thread begins and ends it.
	 */
	const char *trace_tasks_path;
	/*
	 * decompress: the format of all inputs that are read from beginning to end, or
	 * SP_PACKED_AUTO.  compress_output: the format of the result.
	 */
	enum sp_packed decompress, compress_output;
	unsigned compress_level; /* level of the result; 0: default */
	/*
	 * Cubes and tables: time to wait for the lock of one that another process uses; 0: none;
	 * UINT64_MAX: without limit.  A signal that is handled meanwhile ends the wait: -EINTR.
	 */
	uint64_t wait_ns;
	/* A cube or a table that is open for reading keeps its lock until it is closed. */
	bool keep_lock;
};

#define SP_RUN_OPTS_INIT                                                                           \
	{                                                                                          \
		.direct = -1                                                                       \
	}

/* Resources that a run used; spindle-report(5) explains each value. */
struct sp_run_stats {
	double elapsed_s;
	char engine[32],
		input_engine[32]; /* engines of temporary data and of the inputs; "": none */
	uint64_t read_requests, read_bytes; /* sums over all volumes */
	uint64_t write_requests, write_bytes;
	int64_t device_read_bytes, device_write_bytes;	/* real devices; -1: unknown */
	uint64_t memory_limit_bytes, memory_peak_bytes; /* peak: resident memory of the process */
	uint64_t memory_charged_peak_bytes;
	uint64_t memory_overrun_bytes; /* excess of records larger than the budget; usually 0 */
	uint64_t spill_read_bytes, spill_write_bytes, spill_peak_bytes;
	uint64_t spill_regions; /* extents on the device; 0: unknown, or not requested */
	double spill_region_bytes_mean;
	bool simulated; /* times are virtual, and the members sim_* are counted */
	uint64_t sim_requests, sim_dispatched, sim_transfers, sim_seeks, sim_merges;
	uint64_t sim_io_time_ns, sim_cpu_time_ns;
	uint64_t sim_dispatched_reads;
	/* Options without effect; the caller can add its own. */
	struct sp_no_effects no_effects;
};

/*
 * Prediction on real files, made from the requests so far when runs are formed or inputs
 * partitioned, if not stated otherwise; 0: unknown.
 */
struct sp_prediction {
	double transfer_s_per_mib; /* writing temporary data: t of Zhang & Larson 1998, per MiB */
	double read_s_per_mib;	   /* reading temporary data */
	double seek_s;		   /* additional time of a read after a seek: their s */
	double early_s;	  /* seconds, predicted when a quarter of the input had been read */
	double seconds;	  /* duration of the whole run */
	double revised_s; /* seconds, predicted again from 2/16 of the last phase */
};

/* Space for temporary files. */
struct sp_run_space {
	uint64_t free_bytes;   /* sum over all file systems */
	uint64_t memory_bytes; /* the part of it that is memory (tmpfs) outside the run's limit */
};

/*
 * Reports the free space of tmpdirs for an unprivileged user.
 * Returns 0, or -errno if a directory could not be examined.
 */
SP_API SP_MUST_CHECK int sp_run_space(const struct sp_run_opts *opts, struct sp_run_space *space,
				      struct sp_errinfo *err);

/*
 * Makes the geometry of the simulated device in a volume, "sim:SPEC".  An array of drives has no
 * tracks, unless its stripes are tracks.  Free the geometry with sp_geometry_free().
 * g: receives NULL for any other volume.
 * Returns 0; SP_ESYNTAX if the specification is wrong; or an error of sp_geometry_model().
 */
SP_API SP_MUST_CHECK int sp_run_geometry(struct sp_geometry **g, const char *volume,
					 struct sp_errinfo *err);

#endif
