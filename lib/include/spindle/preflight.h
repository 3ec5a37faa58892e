/* SPDX-License-Identifier: MIT */
/*
 * Can I/O priorities act here?  What stands between a program and a device is
 * looked at, from the file down to the hardware; nothing is changed.
 *
 * Priorities act on requests that wait in a scheduler which heeds them.  So a
 * request of high priority waits for what the device has taken already, its
 * window, at most; if no more than that is outstanding nothing ever waits, and
 * if the scheduler has fewer places than there are requests, they queue up for
 * a place in the order in which they came.  What others have outstanding on a
 * device at the time counts too; it is sampled for some milliseconds.
 *
 * Source: Hall & Bonnet 2005, sections 2 and 4.1; the kernel's documentation
 * of block devices, sysfs and control groups.
 *
 * Thread rule: any number of threads at once.
 */
#ifndef SPINDLE_PREFLIGHT_H
#define SPINDLE_PREFLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/api.h>
#include <spindle/bench.h>
#include <spindle/error.h>

#define SP_PREFLIGHT_LAYERS_MAX 16
#define SP_PREFLIGHT_REMARKS_MAX 32

enum sp_preflight_verdict {
	SP_PREFLIGHT_NO,
	SP_PREFLIGHT_UNKNOWN,
	SP_PREFLIGHT_WEAK, /* the highest class waits longer than half of the mean */
	SP_PREFLIGHT_YES,
};

struct sp_preflight_opts {
	/*
	 * A file, a block device, "sim:MODEL...", or, if there is no such file,
	 * the name of a device as in /sys/block.
	 */
	const char *target;
	/* As in struct sp_bench_opts. nclasses 0: class RT against BE. */
	const struct sp_bench_class *classes;
	size_t nclasses;
	const char *engine;
	bool buffered, no_fallback;
	bool created;		/* the file will be made: its folder is looked at */
	unsigned outstanding;	/* in all; 0: not decided yet */
	const char *sys, *proc; /* NULL: "/sys", "/proc"; or copies of these trees */
};

/* One block device that requests pass, or end at. */
struct sp_preflight_layer {
	unsigned level;	      /* 0: the first one; those of a level lie side by side */
	char name[64];	      /* as in /sys/block */
	char kind[32];	      /* "disk", "loop", "dm", "md", and the like */
	char scheduler[32];   /* in use; "" if it has no queue */
	uint64_t places;      /* of the scheduler, in one queue (nr_requests); 0: unknown */
	unsigned queues;      /* of the hardware */
	uint64_t window;      /* requests that the hardware takes from one queue; 0: unknown */
	uint64_t outstanding; /* that can come down so far; 0: not decided */
	uint64_t others;      /* that others had there while it was looked at, on the average */
	enum sp_preflight_verdict verdict;
};

struct sp_preflight_remark {
	bool obstacle;	  /* keeps priorities from acting, or may */
	char text[256];	  /* one sentence */
	char advice[256]; /* what would change it, a command where there is one; or "" */
};

struct sp_preflight {
	enum sp_preflight_verdict verdict;
	double best_share; /* latency of the highest class over the mean, at best; 0: unknown */
	bool file;	   /* the target is a file: */
	char filesystem[32];
	size_t nlayers;
	struct sp_preflight_layer layers[SP_PREFLIGHT_LAYERS_MAX];
	size_t nremarks;
	struct sp_preflight_remark remarks[SP_PREFLIGHT_REMARKS_MAX];
};

/*
 * Fills in *preflight.  0; -ENOENT and the like; SP_EUNSUP for what is neither
 * a file nor a block device; SP_ESYNTAX for a wrong specification of a
 * simulated device.
 */
SP_API SP_MUST_CHECK int sp_preflight(struct sp_preflight *preflight,
				      const struct sp_preflight_opts *opts, struct sp_errinfo *err);
SP_API const char *sp_preflight_verdict_name(enum sp_preflight_verdict verdict);

#endif
