/* SPDX-License-Identifier: MIT */
/*
 * Tables as streams of record batches of the Arrow C stream interface, and from such streams.
 *
 * Thread rule: one thread uses a stream, but its consumer may release it in any.
 */
#ifndef SPINDLE_TABLEARROW_H
#define SPINDLE_TABLEARROW_H

#include <spindle/table.h>

struct ArrowArrayStream; /* of the Arrow C stream interface */

/*
 * Makes a stream of record batches of the records of a table that a query chooses.  The stream has
 * its own open table, and shares its lock, until the consumer releases it, which any thread may do.
 * Decimals are decimal128, dates date32, times timestamps in the coarsest unit that has their
 * decimals, and texts, char(N) and words of dictionaries are UTF-8 with offsets of 8 bytes.
 * opts: write is not used.  Memory of batches that the consumer has taken is its own.
 * query: columns, where, lo, hi and limit are used; agg, and an access through an index or by
 * SI-scan, are refused.
 * An error of get_next() ends the stream: a damaged cell, a text that is not UTF-8.
 * Returns 0; SP_ESYNTAX; SP_EUNSUP; or an error of sp_table_open().  After an error there is no
 * stream.
 */
SP_API SP_MUST_CHECK int sp_table_arrow(const char *table, const struct sp_table_opts *opts,
					const struct sp_table_query *query,
					struct ArrowArrayStream *stream, struct sp_errinfo *err);

/*
 * Loads a table from a stream of record batches, and releases the stream.
 * opts: used are run, layout, together, cell_bytes and page_records.
 * stats: may be NULL.
 * Returns 0; SP_EUNSUP if a column has a type that tables do not have, or a value that stands for
 * NULL in its type; the error of the stream; or another error of sp_table_load().
 */
SP_API SP_MUST_CHECK int sp_table_load_arrow(const char *table, struct ArrowArrayStream *stream,
					     const struct sp_table_load_opts *opts,
					     struct sp_table_stats *stats, struct sp_errinfo *err);

#endif
