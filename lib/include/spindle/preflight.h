/* SPDX-License-Identifier: MIT */
/*
 * Determines whether I/O priorities can act on a target.  It inspects everything between a program
 * and the hardware, and changes nothing.
 *
 * Priorities act on requests that wait in a scheduler which honours them.  A request of high
 * priority then waits at most for the requests that the device has already taken, its window.  If
 * no more than that are outstanding, no request waits.  If the scheduler has fewer request slots
 * than requests, requests wait for a slot in order of arrival. Requests of other programs on the
 * device count, too; they are sampled for a few milliseconds.
 *
 * Source: Hall & Bonnet 2005, sections 2 and 4.1; the kernel's documentation of block devices,
 * sysfs and control groups.
 *
 * Thread rule: any number of threads concurrently.
 */
#ifndef SPINDLE_PREFLIGHT_H
#define SPINDLE_PREFLIGHT_H

#include <spindle/bench.h>

#define SP_PREFLIGHT_LAYERS_MAX 16
#define SP_PREFLIGHT_REMARKS_MAX 32

enum sp_preflight_verdict {
	SP_PREFLIGHT_NO,
	SP_PREFLIGHT_UNKNOWN,
	SP_PREFLIGHT_WEAK, /* the highest class waits more than half of the mean latency */
	SP_PREFLIGHT_YES,
};

struct sp_preflight_opts {
	/*
	 * A file, a block device, "sim:MODEL...", or the name of a device in /sys/block if there is
	 * no such file.
	 */
	const char *target;
	/* See struct sp_bench_opts.  nclasses 0: class RT against BE. */
	const struct sp_bench_class *classes;
	size_t nclasses;
	const char *engine;
	bool buffered, no_fallback;
	bool created;		/* the file will be created: its directory is inspected */
	unsigned outstanding;	/* requests of all classes; 0: unknown */
	const char *sys, *proc; /* NULL: "/sys", "/proc"; or copies of these trees */
};

/* One block device on the path of the requests. */
struct sp_preflight_layer {
	unsigned level;	    /* counted from 0; devices of one level are branches */
	char name[64];	    /* name as in /sys/block */
	char kind[32];	    /* "disk", "loop", "dm", "md", and the like */
	char scheduler[32]; /* in use; "" if it has no queue */
	uint64_t requests;  /* request slots of the scheduler per queue (nr_requests); 0: unknown */
	unsigned queues;    /* hardware queues */
	uint64_t window;    /* requests that the hardware takes from one queue; 0: unknown */
	uint64_t outstanding; /* requests that can reach it; 0: unknown */
	uint64_t others;      /* mean number of requests of other programs during the inspection */
	enum sp_preflight_verdict verdict;
};

struct sp_preflight_remark {
	bool obstacle;	  /* prevents priorities from acting, or might */
	char text[256];	  /* one sentence */
	char advice[256]; /* remedy, if possible a command; or "" */
};

struct sp_preflight {
	enum sp_preflight_verdict verdict;
	double best_share;   /* latency of the highest class over the mean, at best; 0: unknown */
	bool file;	     /* the target is a file */
	char filesystem[32]; /* type of its file system */
	size_t nlayers;
	struct sp_preflight_layer layers[SP_PREFLIGHT_LAYERS_MAX];
	size_t nremarks;
	struct sp_preflight_remark remarks[SP_PREFLIGHT_REMARKS_MAX];
};

/*
 * Inspects a target and fills in *preflight.
 * Returns 0 or an error:
 *   -ENOENT: there is no such file or device
 *   SP_EUNSUP: the target is neither a file nor a block device
 *   SP_ESYNTAX: the simulated device is specified wrongly
 *   -errno: the target could not be inspected
 */
SP_API SP_MUST_CHECK int sp_preflight(struct sp_preflight *preflight,
				      const struct sp_preflight_opts *opts, struct sp_errinfo *err);

SP_ENUM(sp_preflight_verdict)

#endif
