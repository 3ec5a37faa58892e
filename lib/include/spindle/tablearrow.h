/* SPDX-License-Identifier: MIT */
/*
 * Tables as streams of record batches of the Arrow C stream interface, and from such streams.
 *
 * Thread rule: one thread uses a stream, but its consumer may release it in any.
 */
#ifndef SPINDLE_TABLEARROW_H
#define SPINDLE_TABLEARROW_H

#include <spindle/table.h>

struct ArrowArrayStream; /* stream of the Arrow C stream interface */

/*
 * Makes a stream of record batches of the records of a table that a query chooses.  The stream has
 * its own open table, and shares its lock, until the consumer releases it, which any thread may do.
 * Decimals are decimal128, dates date32, times timestamps in the coarsest unit that has their
 * decimals, and texts, char(N) and words of dictionaries are UTF-8 with offsets of 8 bytes.
 * Columns that were loaded from bool, bytes, times with a zone, times of a day or durations have
 * that type.
 * opts: write is not used.  Memory of batches that the consumer has taken is its own.
 * query: columns, where, lo, hi and limit are used; agg, and an access through an index or by
 * SI-scan, are refused.
 * An error of get_next() ends the stream: a damaged cell, a text that is not UTF-8, a value that
 * the type of Arrow does not have since it was changed.
 * Returns 0; SP_ESYNTAX; SP_EUNSUP; or an error of sp_table_open().  After an error there is no
 * stream.
 */
SP_API SP_MUST_CHECK int sp_table_arrow(const char *table, const struct sp_table_opts *opts,
					const struct sp_table_query *query,
					struct ArrowArrayStream *stream, struct sp_errinfo *err);

/*
 * Loads a table from a stream of record batches, and releases the stream.
 * opts: used are run, layout, together, cell_bytes and page_records.  Batches are held, up to a
 * quarter of run.memory_bytes, for a column that needs a wider type.
 * stats: may be NULL.
 * Returns 0; SP_EUNSUP if a column has a type that tables do not have, or a value that no type has,
 * or that needs a wider type when earlier batches are no longer held; SP_EFORMAT if the arrays
 * contradict each other, or a text is not UTF-8; the error of the stream; or another error of
 * sp_table_load().
 */
SP_API SP_MUST_CHECK int sp_table_load_arrow(const char *table, struct ArrowArrayStream *stream,
					     const struct sp_table_load_opts *opts,
					     struct sp_table_stats *stats, struct sp_errinfo *err);

/*
 * Destroys a PyCapsule of Python, named arrow_array_stream, that owns a stream: releases the
 * stream, unless its consumer has moved it, and frees its memory.  It is a destructor that does not
 * run Python, so an exception that is set stays.  Call sp_table_capsule_functions() before.
 * capsule: a PyObject.
 */
SP_API void sp_table_capsule_free(void *capsule);
/*
 * Sets the functions that sp_table_capsule_free() calls, for the whole process.
 * get: PyCapsule_GetPointer().
 * release: frees the memory of a stream.
 */
SP_API void sp_table_capsule_functions(void *(*get)(void *capsule, const char *name),
				       void (*release)(void *memory));

#endif
