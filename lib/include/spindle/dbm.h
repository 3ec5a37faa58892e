/* SPDX-License-Identifier: MIT */
/*
 * DBmbench: three queries over two tables, put to any number of systems that store tables.
 *
 * Each system is an adapter, a program with the verbs that dbmbench(1) describes.  The tables T1
 * and T2 are generated (spindle/gen.h); so all answers are known, and each answer of a system is
 * compared.  Queries are put in work units: queries of one selectivity, each with bounds of its
 * own.  All systems get the same units, in rounds of each query, and each round visits them in a
 * new random order, so that a temporary disturbance of the machine affects all alike.
 *
 * Source: Shao 2008, chapter 3.
 *
 * Thread rule: a run blocks its caller.  Other children of the process must not end during it,
 * since the resources of all children are counted.
 */
#ifndef SPINDLE_DBM_H
#define SPINDLE_DBM_H

#include <signal.h>
#include <spindle/benchset.h>

enum sp_dbm_query {
	SP_DBM_USS,  /* distinct a3 of T1, Lo < a2 < Hi, in order */
	SP_DBM_UNJ,  /* mean of T1.a3, T1.a1 = T2.a1, Lo < T1.a2 < Hi; index on T2.a1 */
	SP_DBM_UIDX, /* mean of a3 of T1, Lo < a2 < Hi; index on T1.a2 */
};

#define SP_DBM_QUERIES 3
#define SP_DBM_VALUES 20000 /* a2 is from 1 to this */
#define SP_DBM_UNIT_MAX 10000
#define SP_DBM_SYSTEMS_MAX 32

/* Where counts of the processor come from. */
enum sp_dbm_counters {
	SP_DBM_COUNTERS_AUTO, /* the first of these that works */
	SP_DBM_COUNTERS_HW,   /* the processor's own counters */
	SP_DBM_COUNTERS_SIM,  /* valgrind's cachegrind */
	SP_DBM_COUNTERS_NONE,
};

/* What is counted of the processor. */
enum sp_dbm_event {
	SP_DBM_CYCLES,
	SP_DBM_INSTRUCTIONS,
	SP_DBM_BRANCHES,
	SP_DBM_BRANCH_MISSES,
	SP_DBM_L1D_MISSES, /* first-level cache, data */
	SP_DBM_L1I_MISSES, /* first-level cache, instructions */
	SP_DBM_LLC_MISSES, /* last-level cache */
	SP_DBM_DTLB_MISSES,
	SP_DBM_ITLB_MISSES,
	SP_DBM_FRONTEND_STALLS, /* cycles */
	SP_DBM_BACKEND_STALLS,	/* cycles */
};

#define SP_DBM_EVENTS 11

struct sp_dbm_opts {
	/* Names of adapters, or their paths, which have a slash; all differ. */
	const char *const *systems;
	size_t nsystems;
	const char *adapters; /* folder of those that have names */
	const char *folder;   /* for tables, databases and logs; created if it does not exist */
	unsigned queries;     /* bits 1 << enum sp_dbm_query */
	/* Shares of a2's values, 0 to 1; none: 20 % for USS and UNJ, 0.1 % for UIDX. */
	const double *selectivities;
	size_t nselectivities;
	double scale; /* 1: 150,000 records in T2 */
	uint32_t record_bytes;
	bool shuffle;	     /* records in random order instead of that of a1 */
	uint64_t seed;	     /* seed of tables, bounds and order of queries */
	unsigned unit;	     /* queries of a work unit, of each client */
	unsigned clients;    /* at the same time */
	unsigned rounds;     /* work units of each kind */
	bool cold;	     /* files leave the page cache before each unit */
	unsigned parallel;   /* processors of a system; 0: all */
	uint64_t timeout_ns; /* maximum duration of one call of an adapter */
	enum sp_dbm_counters counters;
	/* Called before each call of an adapter, with the share that is done; or NULL. */
	void (*progress)(void *arg, const char *system, const char *what, double share_done);
	void *progress_arg;
	/* Polled; not 0: end, and report what was measured.  Or NULL. */
	const volatile sig_atomic_t *stop;
};

#define SP_DBM_OPTS_INIT                                                                           \
	{                                                                                          \
		.queries = 7, .scale = 1, .record_bytes = 100, .seed = 1, .unit = 10,              \
		.clients = 1, .rounds = 5, .timeout_ns = UINT64_C(600000000000)                    \
	}

/* Resources of one call, of all programs that it started, and of a system's servers. */
struct sp_dbm_usage {
	double wall_s, user_s, system_s;
	uint64_t read_bytes, write_bytes; /* bytes read from and written to devices */
	uint64_t reads, writes;		  /* system calls */
	uint64_t peak_bytes;		  /* the largest resident set of a process */
	double events[SP_DBM_EVENTS];	  /* NaN: not counted */
	double kernel[SP_DBM_EVENTS];	  /* counts in the kernel, part of events; NaN: unknown */
	double counted; /* least share of the time that an event was counted, 0 to 1; or NaN */
};

struct sp_dbm_system {
	const char *name;
	const char *version;	/* version that the adapter reports; NULL: absent */
	const char *failure;	/* why it is absent, or left out from then on; NULL: neither */
	double load_s, index_s; /* NaN: it was not loaded */
	uint64_t loaded_bytes;	/* bytes of its files after the indexes were made */
	/* A unit without queries: what starting the system takes. */
	struct sp_dbm_usage empty;
};

/* One system, query and selectivity. */
struct sp_dbm_cell {
	const char *system;
	enum sp_dbm_query query;
	double selectivity;	 /* asked for */
	double true_selectivity; /* share of T1's records within the bounds, mean of all units */
	unsigned units;		 /* measured; 0: the rest is NaN */
	struct sp_benchset_estimate query_s; /* time of a unit / its queries */
	struct sp_benchset_estimate ratio;   /* to the first system */
	double deviation;		     /* relative deviation of query_s */
	struct sp_dbm_usage usage;	     /* mean of a unit */
	/* Values of one query, without the start of the system; NaN: not counted. */
	double events[SP_DBM_EVENTS];
	double instructions_per_row;  /* instructions per row of T1 */
	double cpi;		      /* cycles of an instruction */
	double misses[SP_DBM_EVENTS]; /* per 1000 instructions */
	const char *plan;	      /* first line of the plan; NULL: none was printed */
	/* What the plan lacks of what the query is about, such as "T2"; NULL: nothing. */
	const char *plan_lacks;
};

/* One measured unit. */
struct sp_dbm_unit {
	unsigned cell, round;
	double true_selectivity;
	struct sp_dbm_usage usage;
};

struct sp_dbm_result {
	bool stopped; /* by *stop */
	uint64_t t1_records, t2_records, t1_bytes, t2_bytes;
	enum sp_dbm_counters counters; /* used */
	const char
		*counters_reason; /* why not the processor's, or what these leave; NULL: neither */
	const char *machine, *kernel; /* name of the processor; of the system */
	unsigned processors;
	uint64_t memory_bytes;
	double harness_s; /* processor time of the caller during the units */
	double elapsed_s;
	size_t nsystems, ncells, nunits;
	struct sp_dbm_system *systems;
	struct sp_dbm_cell *cells;
	struct sp_dbm_unit *units;
	void *own; /* texts */
};

/*
 * Measures systems.  A system that is absent, or that fails or hangs, is reported so, and the
 * others go on; a wrong answer ends the run.  Whatever happens, the adapters' verb drop is called
 * for each that was loaded.
 * result: filled in, also after an error, with what was measured; free with sp_dbm_free().
 * Returns 0, also if it was stopped; -EINVAL if an option is out of its range; -EEXIST if the
 * folder has the data of another run; SP_EFORMAT if an answer is wrong, or none; SP_EUNSUP if no
 * system works, or the counters asked for do not; SP_ECHILD or -ETIMEDOUT if the last system fails;
 * -ENOSPC; -ENOMEM; or -errno.
 */
SP_API SP_MUST_CHECK int sp_dbm_run(const struct sp_dbm_opts *opts, struct sp_dbm_result *result,
				    struct sp_errinfo *err);
/* Frees what a result points to. */
SP_API void sp_dbm_free(struct sp_dbm_result *result);

/*
 * Finds which adapters of a folder work here: calls their verb version.
 * found: receives the number of systems, which are sorted by name; free with sp_dbm_systems_free().
 * Returns 0; -ENOMEM; or -errno of the folder.
 */
SP_API SP_MUST_CHECK int sp_dbm_systems(const char *adapters, struct sp_dbm_system **systems,
					size_t *found, struct sp_errinfo *err);
/* Frees what sp_dbm_systems() has found. */
SP_API void sp_dbm_systems_free(struct sp_dbm_system *systems, size_t n);

SP_ENUM(sp_dbm_query)
SP_ENUM(sp_dbm_counters)
SP_ENUM(sp_dbm_event)

#endif
