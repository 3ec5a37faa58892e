/* SPDX-License-Identifier: MIT */
/*
 * Counts what processes use: the children that this process has waited for, with theirs, and
 * servers that continue.  Events of the processor are counted by the means that a run has chosen.
 */
#pragma once

#include <sys/resource.h>
#include <sys/types.h>
#include <spindle/dbm.h>

#define SP__SERVERS_MAX 256

/* Processes of a system's servers. */
struct sp__dbm_servers {
	pid_t pids[SP__SERVERS_MAX];
	unsigned n;
};

/* Counters at one moment. */
struct sp__usage_mark {
	struct sp_dbm_usage children; /* bytes and calls alone */
	struct sp_dbm_usage servers;  /* without wall_s */
};
/* Returns what is reported of a unit that was not measured. */
struct sp_dbm_usage sp__usage_unknown(void);
/* Reads the counters; servers that have ended count 0. */
void sp__usage_mark(struct sp__usage_mark *m, const struct sp__dbm_servers *servers);
/* Adds what a child that was waited for used. */
void sp__usage_add_child(struct sp_dbm_usage *u, const struct rusage *child);
/* Adds what children and servers have used since a mark. */
void sp__usage_add_since(struct sp_dbm_usage *u, const struct sp__usage_mark *m,
			 const struct sp__dbm_servers *servers);

/*
 * Begins the command that runs a program under cachegrind, in a folder next to sim/.  A thread that
 * wakes another one continues with SCHED_BATCH (chrt), so that fewer instructions depend on the
 * time.
 */
#define SP__CACHEGRIND                                                                             \
	"chrt --batch 0 valgrind --tool=cachegrind --cache-sim=yes --branch-sim=yes "              \
	"--log-file=/dev/null --cachegrind-out-file=../sim/%p.out"
/*
 * Adds the counts of one result of cachegrind to events; those that it has not stay NaN or as they
 * were.  Returns 0; SP_EFORMAT if it is none; or -errno.
 */
SP_MUST_CHECK int sp__cachegrind_add(const char *path, double *events, struct sp_errinfo *err);
/* Adds all results in a folder and removes them, also after an error.  Errors as above. */
SP_MUST_CHECK int sp__cachegrind_take(const char *folder, double *events, struct sp_errinfo *err);

/*
 * The processor's counters are read in all units.  Cachegrind makes programs fifty times slower, so
 * it counts in units of its own.
 */
struct sp__dbm_counting {
	enum sp_dbm_counters kind; /* HW, SIM or NONE */
	bool active;		   /* units are counted now */
	const char *sim;	   /* folder of cachegrind's results */
	struct sp__hw *hw;	   /* counters of the unit that goes on; or NULL */
};

/*
 * Chooses the means.  reason: receives why not the processor's own counters, or what these do not
 * count; "": neither.  Returns 0, or an error if those asked for do not work.
 */
SP_MUST_CHECK int sp__counting_open(struct sp__dbm_counting *c, enum sp_dbm_counters asked,
				    const char *sim, char *reason, size_t capacity,
				    struct sp_errinfo *err);
/* Before the calls of a unit. */
SP_MUST_CHECK int sp__counting_begin(struct sp__dbm_counting *c,
				     const struct sp__dbm_servers *servers, struct sp_errinfo *err);
/* After them: adds what was counted.  used: NULL: forget it. */
SP_MUST_CHECK int sp__counting_end(struct sp__dbm_counting *c, struct sp_dbm_usage *used,
				   struct sp_errinfo *err);
