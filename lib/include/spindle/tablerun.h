/* SPDX-License-Identifier: MIT */
/*
 * Tables without data, and workloads of concurrent clients on tables.
 *
 * Source: Shao 2008, section 4.8.
 *
 * Thread rule: any number of threads may create tables.  A run blocks its caller; one thread at a
 * time runs on a simulated volume.
 */
#ifndef SPINDLE_TABLERUN_H
#define SPINDLE_TABLERUN_H

#include <signal.h>
#include <spindle/pool.h>
#include <spindle/table.h>

/*
 * Creates a table without data: requests for the cells of its records take the time of a simulated
 * volume and move no bytes.  On it run sp_table_scan() without a predicate and aggregates,
 * sp_table_get() and sp_table_update() of record numbers, all with `discard`, and
 * sp_table_compare(); other calls return SP_EUNSUP.  They make the requests that they would make if
 * the table had been loaded, with new values within the bounds of their directory rows.  The file
 * has no space for cells.
 * opts: run, layout, workload, together, cell_bytes, page_records and schema are used.
 * Returns 0; SP_ESYNTAX if an option or the schema is wrong; SP_EUNSUP if a column is a text, or
 * the volume is not simulated; -ENOSPC if it is too small; or another error of sp_table_load().
 */
SP_API SP_MUST_CHECK int sp_table_create(const char *table, uint64_t records,
					 const struct sp_table_load_opts *opts,
					 struct sp_errinfo *err);

struct sp_table_run_opts {
	struct sp_run_opts run; /* volume: NULL: that of the tables; seed: of all random choices */
	const char *workload;	/* file of clients, as xtable(1) describes it */
	uint64_t runtime_ns;	/* measured time, virtual on a simulated volume */
	uint64_t ramp_ns;	/* before it */
	/*
	 * Changed cells stay in memory, and are written when cells that were changed later need
	 * this many bytes.  Only of tables without data.  0: a change is made through the journal.
	 */
	uint64_t changed_bytes;
	/*
	 * Steps take cells from its frames, and without a journal changed cells are written when
	 * their frame is needed for others; NULL: none, each step reads its cells.
	 */
	struct sp_pool *pool;
	unsigned depth;			 /* requests outstanding, at most; 0: 4096 */
	enum sp_table_dsm_join dsm_join; /* join of the columns of all tables */
	/* Polled; not 0: end, and report what was measured.  Or NULL. */
	const volatile sig_atomic_t *stop;
};

#define SP_TABLE_RUN_OPTS_INIT                                                                     \
	{                                                                                          \
		.run = SP_RUN_OPTS_INIT, .runtime_ns = UINT64_C(10000000000)                       \
	}

/* Transactions that ended in the measured time, and their latencies; NaN, 0: there is none. */
struct sp_table_latencies {
	uint64_t transactions;
	double per_s;
	double mean_ns;
	uint64_t min_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns;
};

/* A line of the workload. */
struct sp_table_run_line {
	const char *text;
	double weight;
	struct sp_table_latencies latencies;
};

/* A kind of client. */
struct sp_table_run_kind {
	unsigned clients;
	uint64_t think_ns;
	size_t nlines;
	struct sp_table_run_line *lines;
	struct sp_table_latencies latencies;
	/* Clients that ended no transaction, counted from 0, ascending. */
	size_t nstarved;
	unsigned *starved;
};

struct sp_table_run_result {
	double measured_s; /* less than the runtime if the run was stopped */
	bool stopped;	   /* by *stop */
	size_t nkinds;
	struct sp_table_run_kind *kinds;
	uint64_t requests, request_bytes; /* reads and writes, of the measured time */
	struct sp_table_stats stats;	  /* counters of the whole run, with the pool at its end */
};

/*
 * Runs a workload of clients on tables, each of which makes one transaction after the other.  On a
 * simulated volume time is virtual, and the result depends on workload, tables, volume, memory and
 * seed alone.  Transactions are not isolated from each other: each change is made for itself.
 * tables: ntables paths; a workload names them by file name, without folder and extension.
 * result: filled in; free with sp_table_run_free().
 * Returns 0, also if it was stopped; SP_ESYNTAX if the workload is wrong, or two tables have one
 * name; SP_EUNSUP if tables are on different volumes, or a change of a table without data needs
 * changed_bytes, or that of a table with data has them; SP_ESTATE if another program uses a table;
 * SP_ECORRUPT; -ENOSPC; -ENOMEM; or -errno.
 */
SP_API SP_MUST_CHECK int sp_table_run(const char *const *tables, size_t ntables,
				      const struct sp_table_run_opts *opts,
				      struct sp_table_run_result *result, struct sp_errinfo *err);
/* Frees what a result points to. */
SP_API void sp_table_run_free(struct sp_table_run_result *result);

#endif
