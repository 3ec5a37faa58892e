/* SPDX-License-Identifier: MIT */
/*
 * Finds out by timing alone what a storage device is: rotation period, zones, track boundaries,
 * skews, seek curve, and reach of adjacent blocks; or that it has no tracks, and what holds for it
 * instead.  It never relies on what the system says about the device.
 *
 * A probe reads single blocks, one at a time unless a step says otherwise, and compares the times
 * of their completions.  It writes only inside a range that the caller allows, or on a simulated
 * device, which holds no data.
 *
 * There are four verdicts: rotating (the geometry has tracks), not-rotating, layered (something
 * rotates, but blocks do not follow the tracks of one disk, as on a volume of several disks),
 * inconclusive (the clock or the device is too noisy, or no track boundary shows).
 *
 * Times are nanoseconds as the host sees them.  Angles are degrees of one revolution.  W is defined
 * in spindle/geometry.h.
 *
 * Source: Shao 2008, chapter 2, for the parameters of a disk.
 *
 * Thread rule: a probe belongs to one thread.
 */
#ifndef SPINDLE_PROBE_H
#define SPINDLE_PROBE_H

#include <signal.h>
#include <spindle/geometry.h>
#include <spindle/enum.h>

enum sp_probe_verdict {
	SP_PROBE_INCONCLUSIVE,
	SP_PROBE_ROTATING,
	SP_PROBE_NOT_ROTATING,
	SP_PROBE_LAYERED,
};

enum sp_probe_step {
	SP_PROBE_ROTATION,
	SP_PROBE_PERIOD,
	SP_PROBE_ZONES,
	SP_PROBE_SKEWS,
	SP_PROBE_SEEKS,
	SP_PROBE_CHECKS,
	SP_PROBE_DEPTHS,
	SP_PROBE_STEPS_, /* number of steps */
};

struct sp_probe_opts {
	/* A block device, a regular file, or "sim:MODEL[,noise=...][,seed=N]". */
	const char *device;
	bool quick;    /* only period, three samples of zones, and settling: less than a minute */
	uint64_t seed; /* seed of the probe's random choices */
	/* Bytes of the device that may be overwritten to measure writes; 0: none. */
	uint64_t overwrite_offset, overwrite_bytes;
	/* A partial geometry of this device, whose contents are not measured again; or NULL. */
	const struct sp_geometry *resume;
	/* Read before every request; not 0: stop and keep the results so far.  Or NULL. */
	const volatile sig_atomic_t *stop;
	/* Called repeatedly; done is the share of the step, 0 to 1.  Or NULL. */
	void (*progress)(void *arg, enum sp_probe_step step, double done);
	void *progress_arg;
};

/* Evidence for the verdict. */
struct sp_probe_evidence {
	unsigned samples; /* compared completions of one block */
	unsigned trials;  /* number of periods tried, between these: */
	double shortest_ns, longest_ns;
	double concentration; /* best concentration of the phases, 0 to 1 */
	double chance;	      /* concentration that chance reaches in one of 10000 such searches */
	double best_period_ns;
	double fast_share; /* share of random reads that took less than 1 ms, 0 to 1 */
	double same_ns;	   /* median of reading one block repeatedly */
	double other_ns;   /* median of random blocks */
	double near_ns,
		far_ns;	     /* median of hops of less than 1 % and more than 50 % of the device */
	double clock_p99_ns; /* delay with which the host wakes up, 99th percentile */
	/*
	 * Pairs of distant blocks read concurrently, if it rotates; those without a seek between.
	 */
	unsigned pairs, pairs_together;
};

struct sp_probe_zone {
	uint64_t first; /* first block */
	uint64_t blocks, tracks;
	uint32_t pattern;    /* number of tracks after which the lengths repeat */
	double track_blocks; /* mean number of blocks on a track */
	double mb_s;	     /* media rate, 10^6 bytes per second, skews included; 0: unknown */
	uint64_t odd;	     /* tracks with fewer blocks than the pattern says */
	uint64_t reads;	     /* reads that found its tracks, without those for skews */
	double start_deg;    /* angle of its first block; NaN: unknown */
	double skew_deg;     /* most frequent skew from track to track; NaN: unknown */
};

struct sp_probe_seek {
	uint64_t tracks;    /* distance in the order of blocks */
	uint64_t cylinders; /* 0: another head of the same cylinder, or unknown */
	/* From submission to the earliest block that can be reached; 0: not measured. */
	double read_ns, write_ns;
	double queued_ns; /* from the end of the previous request, both requests in the drive */
};

/* The effect of one depth and request size. */
struct sp_probe_rate {
	unsigned depth;		 /* outstanding requests */
	uint32_t bytes;		 /* size of a request */
	double requests_s, mb_s; /* requests per second, 10^6 bytes per second */
	double p50_ns, p99_ns;	 /* latency */
};

/* Hops that were measured to check the result, and lost revolutions. */
struct sp_probe_checks {
	unsigned hops, hop_misses; /* hops of GETADJACENT at W, and misses among them */
	unsigned guarded_hops, guarded_hop_misses; /* at W and the recommended conservatism */
	double conservatism_deg;		   /* recommended conservatism */
	unsigned far_hops, far_hop_misses;	   /* guarded, to the farthest tracks in reach */
	unsigned write_hops, write_hop_misses;	   /* guarded, by writes, if they were measured */
	unsigned layout_hops, layout_hop_misses;   /* between random tracks, by the layout */
	unsigned round_hops, round_hop_misses;	   /* by the layout, between rounds of bands */
};

/* Rates of a device without tracks. */
struct sp_probe_load {
	size_t nrates;
	struct sp_probe_rate *rates;
	unsigned knee_depth;   /* more outstanding requests gain less than a tenth; 0: unknown */
	uint32_t knee_bytes;   /* larger ones gain less than a tenth; 0: unknown */
	bool throttled;	       /* the rate fell to a steady lower rate */
	double throttle_share; /* lower rate / first rate */
	/* Windows compared with the lower rate; those that do not agree with it. */
	unsigned throttle_looks, throttle_look_misses;
};

/* Requests of a probe. */
struct sp_probe_cost {
	uint64_t reads, flush_reads, writes, cache_hits, errors;
};

struct sp_probe_result {
	enum sp_probe_verdict verdict;
	bool stopped; /* stopped by *stop before the end */
	char device[256];
	bool simulated;
	uint64_t blocks;
	uint32_t block_bytes;
	struct sp_probe_evidence evidence;

	double period_ns;
	double period_ppm;    /* standard error */
	double noise_ns;      /* half-normal scatter of completions */
	double noise_tail;    /* share of completions that are far too late, 0 to 1 */
	double turnaround_ns; /* time of the host from a completion to the next request */
	bool cache;	      /* the drive answers repeated reads from memory */
	double cache_hit_ns;  /* latency of such a read */
	unsigned cache_flush; /* reads of other blocks after which the cache has lost a block */
	/* Random blocks read again, immediately and after those reads; unexpected answers. */
	unsigned cache_looks, cache_look_misses;
	double bus_ns;	    /* transfer of one block from drive memory; 0: unknown */
	double overhead_ns; /* overhead of a read before the arm moves; may include bus_ns */

	size_t nzones;
	struct sp_probe_zone *zones;
	size_t nbad;	    /* number of unreadable ranges */
	uint64_t (*bad)[2]; /* first and last block of each */
	const char *layout; /* order of the tracks, as text; NULL: unknown */
	unsigned surfaces, band;
	size_t nskews;
	double *skews_deg; /* skews of consecutive tracks, from the start of the first zone */
	size_t nseeks;
	struct sp_probe_seek *seeks;
	bool write_measured, write_estimated;
	uint64_t settle_cylinders; /* C: the plateau of the seek curve; 0: none */
	double settle_ns;	   /* positioning on that plateau, overhead included */

	struct sp_probe_checks checks;
	unsigned rechecked, recheck_misses; /* tracks measured again */
	bool covers;			    /* the tracks add up to the device */
	bool descending;		    /* tracks never get longer inwards */
	struct sp_probe_load load;
	struct sp_probe_cost cost;
	uint64_t layout_reads, seek_reads; /* shares of cost.reads */
	double device_s;		   /* elapsed time on the device's clock */
	size_t nunknown;
	const char *unknown[16]; /* properties that could not be determined; static */
};

/* A comparison of predicted and measured responses. */
struct sp_probe_verify {
	unsigned pairs, errors;
	double mean_ns, predicted_ns; /* mean response, measured and predicted */
	double demerit_ns;	      /* rms distance of the two distributions of response times */
	double revolutions_right; /* share of pairs with lost revolutions as predicted, 0 to 1 */
	double within_share;	  /* share predicted within a tenth of a revolution, 0 to 1 */
};

struct sp_probe;

/*
 * Opens a device and probes it.  Free the probe with sp_probe_free().
 * Returns 0 for every verdict, also if it was stopped (result.stopped), or an error if the device
 * cannot be probed at all:
 *   -ENOENT: there is no such device, file or model
 *   -EACCES: the device must not be opened
 *   SP_EUNSUP: it is neither a file nor a device
 *   SP_EFORMAT: it is too small
 *   SP_ESYNTAX: the simulated device is specified wrongly
 *   -ESTALE: its size has changed
 *   -errno: it could not be opened or read
 *   -ENOMEM: memory is short
 */
SP_API SP_MUST_CHECK int sp_probe_run(struct sp_probe **probe, const struct sp_probe_opts *opts,
				      struct sp_errinfo *err);

/* Returns the results, which are valid while the probe lives. */
SP_API const struct sp_probe_result *sp_probe_result(const struct sp_probe *probe);

/*
 * Returns the geometry, which is valid while the probe lives, or NULL if the time did not suffice
 * to find anything.
 */
SP_API const struct sp_geometry *sp_probe_geometry(const struct sp_probe *probe);

/* Frees a probe; NULL is accepted. */
SP_API void sp_probe_free(struct sp_probe *probe);

/*
 * Measures the device of a folder in about two seconds: writes a temporary file of at most 64 MiB,
 * without a name, and reads it, bypassing the page cache if the file system supports that.  The
 * geometry has transfer_s_per_mib and seek_s, and no tracks.  Free it with sp_geometry_free().
 * Returns 0 or an error, with *g NULL: -ENOMEM; -errno: a file could not be made, written or read.
 */
SP_API SP_MUST_CHECK int sp_probe_folder(struct sp_geometry **g, const char *folder,
					 struct sp_errinfo *err);

/*
 * Predicts the responses of random pairs of reads from a geometry, submits these reads to the
 * device, and compares.
 * pairs: number of pairs.
 * Returns 0 or an error:
 *   SP_EUNSUP: the geometry has no tracks
 *   SP_EFORMAT: the geometry is not of this device
 *   -EINVAL: pairs is 0 or too large
 *   -errno: the device could not be opened or read
 *   -ENOMEM: memory is short
 */
SP_API SP_MUST_CHECK int sp_probe_verify(const struct sp_probe_opts *opts,
					 const struct sp_geometry *geometry, unsigned pairs,
					 struct sp_probe_verify *result, struct sp_errinfo *err);

SP_ENUM(sp_probe_verdict)
SP_ENUM(sp_probe_step)

#endif
