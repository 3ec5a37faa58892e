/* SPDX-License-Identifier: MIT */
/*
 * A client: makes transactions one after the other, each step by step.  It is an operator that says
 * SP_LATER, and all clients share one thread and one queue of requests.
 *
 * States of a step: its reads of index nodes, one after the other; the cells of its records, in
 * windows; its change.  A change with a journal is made at once by the functions of the commands,
 * when no window of the table is being read, and windows that are to be read wait for it: cells and
 * the number of records change together.  Without a journal changed cells stay in memory
 * (change.h), and the client waits until those that leave for them are written.
 *
 * With a pool, windows have their cells in its frames.  A change without a journal takes the whole
 * A-pages of its records, one after the other.
 *
 * Thread rule: one thread.
 */
#pragma once

#include <spindle/table.h>
#include "table/clients/change.h"
#include "table/clients/script.h"
#include "table/clotho/attach.h"
#include "table/read/ranges.h"

#define SP__CLIENT_AHEAD 4 /* windows of a step, at most */

/* A table that clients use. */
struct sp__client_table {
	struct sp__tablefile file;
	unsigned number;
	unsigned reading;  /* windows whose cells were not checked yet */
	unsigned changers; /* clients that wait for these */
	uint64_t written;  /* values, so that each change has others */
	struct sp__clotho_file pool;
};

/* What clients share. */
struct sp__clients {
	struct sp__client_table *tables;
	unsigned ntables;
	struct sp__requests requests;
	bool journal;
	struct sp__changed changed; /* without a journal */
	uint64_t window_bytes;
	unsigned nclients;
	bool progress; /* a client that waited can perhaps continue */
	struct sp_table_stats stats;
	struct sp_errinfo *err;
};

struct sp__client {
	struct sp__io_owner owner; /* owner of reads of index nodes and of writes */
	struct sp__clients *all;
	const struct sp__client_kind *kind;
	struct sp__rng rng;
	uint64_t wake_ns;		    /* it thinks until then */
	uint64_t transactions;		    /* transactions that the caller counted */
	const struct sp__client_line *line; /* NULL: no transaction */
	size_t step;
	uint64_t begin_ns;
	enum { SP__CLIENT_INDEX, SP__CLIENT_CELLS, SP__CLIENT_CHANGE, SP__CLIENT_WRITE } state;
	bool waits;	/* the client waits to change its table */
	uint64_t *rows; /* records of the step */
	size_t nrows, at, rows_capacity;
	unsigned index_left, outstanding;
	int error;     /* error of a request */
	uint8_t *node; /* an index node; */
	size_t node_bytes;
	struct sp__request *requests; /* outstanding ones */
	size_t requests_capacity;
	struct sp__window windows[SP__CLIENT_AHEAD];
	unsigned nwindows, head, used;
	bool filled; /* all windows of the step */
	/* Of a pool: the column groups of the step, and an A-page that it changes. */
	struct sp__groupset set;
	bool begun;
	struct sp__clotho_pin pin;
	struct sp__scan_ranges ranges;
};

/* Opens a client; closing it needs that no request is outstanding. */
void sp__client_open(struct sp__client *c, struct sp__clients *all,
		     const struct sp__client_kind *kind, uint64_t seed);
void sp__client_close(struct sp__client *c);
/*
 * Continues the transaction, or begins one.  Returns SP_READY when it has ended; SP_LATER while the
 * client waits; or an error, recorded.
 */
SP_MUST_CHECK int sp__client_run(struct sp__client *c);
/* Lets changed cells leave with their frame: a hook of the pool. */
void sp__clients_leave(void *all, const struct sp__clotho_frame *frame);
/* change.c: changes the table of a step at once, through the journal.  Returns 0 or an error. */
SP_MUST_CHECK int sp__client_change(struct sp__client *c, const struct sp__client_step *step);
