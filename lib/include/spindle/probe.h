/* SPDX-License-Identifier: MIT */
/*
 * Finding out by timing alone what a storage device is: rotation period,
 * zones, track boundaries, skews, seek curve, and how far adjacent blocks
 * reach; or that it has no tracks, and what is true of it instead.
 *
 * A probe reads single blocks, one at a time unless a step says otherwise, and
 * compares the times at which they complete.  It writes nothing, except inside
 * a range of a device that it was given for that, or on a simulated device,
 * which holds no data.  It never relies on what the system says of the device.
 *
 * Four verdicts: rotating (the geometry has tracks), not-rotating, layered
 * (something rotates, but blocks do not lie along the tracks of one disk: a volume of several),
 * inconclusive (the clock or the device is too noisy, or nothing shows where tracks begin).
 *
 * Times are nanoseconds as the host sees them, angles degrees of one
 * revolution, W as in <spindle/geometry.h>.
 *
 * Source: Shao 2008, chapter 2, for what is to be known of a disk.
 *
 * Thread rule: a probe belongs to one thread.
 */
#ifndef SPINDLE_PROBE_H
#define SPINDLE_PROBE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/api.h>
#include <spindle/error.h>
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
	SP_PROBE_STEPS_, /* how many there are */
};

struct sp_probe_opts {
	/* A block device, a regular file, or "sim:MODEL[,noise=...][,seed=N]". */
	const char *device;
	bool quick;    /* period, three samples of zones, settling: under a minute */
	uint64_t seed; /* of the probe's own choices */
	/* Bytes of the device that may be overwritten to measure writes; 0: none. */
	uint64_t overwrite_offset, overwrite_bytes;
	/* A partial geometry of this device: what it knows is not measured again. Or NULL. */
	const struct sp_geometry *resume;
	/* Looked at before every request; not 0: stop and keep what is known. Or NULL. */
	const volatile sig_atomic_t *stop;
	/* Called now and then; done runs from 0 to 1 within a step. Or NULL. */
	void (*progress)(void *arg, enum sp_probe_step step, double done);
	void *progress_arg;
};

/* What the verdict rests on. */
struct sp_probe_evidence {
	unsigned samples; /* completions of one block that were compared */
	unsigned trials;  /* periods that were tried, between these: */
	double shortest_ns, longest_ns;
	double concentration; /* best concentration of the phases, 0 to 1 */
	double chance;	      /* what pure chance reaches in one of 10000 such searches */
	double best_period_ns;
	double fast_share; /* of random reads that took less than 1 ms */
	double same_ns;	   /* median of reading one block again and again */
	double other_ns;   /* median of random blocks */
	double near_ns,
		far_ns;	     /* median of hops of less than 1 % and more than 50 % of the device */
	double clock_p99_ns; /* how late the host wakes up */
	/* Of distant blocks that were read at once, if it rotates; without a seek in between. */
	unsigned pairs, pairs_together;
};

struct sp_probe_zone {
	uint64_t first; /* first block */
	uint64_t blocks, tracks;
	uint32_t pattern;    /* tracks after which their lengths repeat */
	double track_blocks; /* mean */
	double mb_s;	     /* media rate, 1e6 bytes a second, skews included; 0: unknown */
	uint64_t odd;	     /* tracks with fewer blocks than the pattern says */
	uint64_t reads;	     /* that finding its tracks took, skews apart */
	double start_deg;    /* angle of its first block; NaN: unknown */
	double skew_deg;     /* most frequent skew from track to track; NaN: unknown */
};

struct sp_probe_seek {
	uint64_t tracks;    /* distance in LBN order */
	uint64_t cylinders; /* 0: another head of the same cylinder, or unknown */
	/* From issue to the earliest block that can be reached; 0: not measured. */
	double read_ns, write_ns;
	double queued_ns; /* from the end of the one before, both requests in the drive */
};

/* A device without tracks, or with them: what depth and size do. */
struct sp_probe_rate {
	unsigned depth;
	uint32_t bytes;
	double requests_s, mb_s;
	double p50_ns, p99_ns;
};

struct sp_probe_result {
	enum sp_probe_verdict verdict;
	bool stopped; /* it was stopped before the end */
	char device[256];
	bool simulated;
	uint64_t blocks;
	uint32_t block_bytes;
	struct sp_probe_evidence evidence;

	double period_ns;
	double period_ppm;    /* standard error */
	double noise_ns;      /* half-normal scatter of completions */
	double noise_tail;    /* share of completions that are far too late */
	double turnaround_ns; /* of the host, from a completion to the next request */
	bool cache;	      /* the drive answers repeated reads from memory; */
	double cache_hit_ns;
	unsigned cache_flush; /* reads elsewhere after which it has forgotten a block */
	/* Random blocks read again, at once and after those reads; not answered as should be. */
	unsigned cache_looks, cache_look_misses;
	double bus_ns;	    /* of one block, by answers from memory; 0: unknown */
	double overhead_ns; /* of a read, before the arm moves; with the bus if that is unknown */

	size_t nzones;
	struct sp_probe_zone *zones;
	size_t nbad; /* ranges that cannot be read: first, last */
	uint64_t (*bad)[2];
	const char *layout; /* in words; NULL: unknown */
	unsigned surfaces, band;
	size_t nskews;
	double *skews_deg; /* of consecutive tracks from the first zone's start on */
	size_t nseeks;
	struct sp_probe_seek *seeks;
	bool write_measured, write_estimated;
	uint64_t settle_cylinders; /* C: the plateau of the seek curve; 0: none */
	double settle_ns;	   /* positioning on it, overhead included */

	unsigned hops, hop_misses;		   /* of GETADJACENT at W */
	unsigned guarded_hops, guarded_hop_misses; /* at W and the conservatism advised: */
	double conservatism_deg;
	unsigned far_hops, far_hop_misses;	 /* the same, to the farthest tracks in reach */
	unsigned write_hops, write_hop_misses;	 /* the same by writes, if they were measured */
	unsigned layout_hops, layout_hop_misses; /* between random tracks: as the layout predicts */
	unsigned round_hops, round_hop_misses;	 /* the same from one round of bands to the next */
	unsigned rechecked, recheck_misses;	 /* tracks looked at again */
	bool covers;				 /* the tracks add up to the device */
	bool descending;			 /* tracks never get longer inwards */

	size_t nrates;
	struct sp_probe_rate *rates;
	unsigned knee_depth; /* more outstanding requests gain less than a tenth; 0: unknown */
	uint32_t knee_bytes; /* larger ones gain less than a tenth; 0: unknown */
	bool throttled;	     /* the rate fell to a steady lower one; to this share: */
	double throttle_share;
	/* Windows that a fallen rate was held to; not at the lower rate. */
	unsigned throttle_looks, throttle_look_misses;

	uint64_t reads, flush_reads, writes, cache_hits, errors;
	uint64_t layout_reads, seek_reads; /* of reads */
	double device_s;		   /* time on the device's clock */
	size_t nunknown;
	const char *unknown[16]; /* what could not be determined */
};

struct sp_probe_verify {
	unsigned pairs, errors;
	double mean_ns, predicted_ns; /* mean response */
	double demerit_ns;	      /* rms distance of the two distributions of response times */
	double revolutions_right;     /* share of pairs whose lost revolutions were predicted */
	double within_share;	      /* share predicted to a tenth of a revolution */
};

struct sp_probe;

/*
 * Opens the device and finds out.  0, also if it was stopped (result.stopped)
 * and for every verdict; -errno or SP_E with the reason in err if it cannot be
 * probed at all: -ENOENT, -EACCES, SP_EUNSUP for what is neither file nor
 * device, SP_EFORMAT for one that is too small, -ESTALE if it changed its size.
 */
SP_API SP_MUST_CHECK int sp_probe_run(struct sp_probe **probe, const struct sp_probe_opts *opts,
				      struct sp_errinfo *err);
SP_API const struct sp_probe_result *sp_probe_result(const struct sp_probe *probe);
/* NULL if there was no time to learn anything; it lives as long as the probe. */
SP_API const struct sp_geometry *sp_probe_geometry(const struct sp_probe *probe);
SP_API void sp_probe_free(struct sp_probe *probe); /* accepts NULL */

/*
 * Predicts the response of random pairs of reads from a geometry, makes them
 * on the device, and compares.  SP_EUNSUP: the geometry has no tracks;
 * SP_EFORMAT: it is not one of this device.
 */
SP_API SP_MUST_CHECK int sp_probe_verify(const struct sp_probe_opts *opts,
					 const struct sp_geometry *geometry, unsigned pairs,
					 struct sp_probe_verify *result, struct sp_errinfo *err);

SP_ENUM(sp_probe_verdict)
SP_ENUM(sp_probe_step)

#endif
