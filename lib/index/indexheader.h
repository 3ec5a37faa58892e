/* SPDX-License-Identifier: MIT */
/*
 * Declares the header of an index: how it was built, from which source, and where its tree is.
 *
 * Format: spindle-index(5).
 */
#pragma once

#include <spindle/rec.h>
#include "cells/source.h"
#include "index/node.h"

#define SP__INDEX_VERSION 5
#define SP__INDEX_TABLE_VERSION 3 /* version of an index of a column of a table */
#define SP__INDEX_TEXT_MAX 4096	  /* bytes of a text, with its final 0 */

struct sp__index_header {
	uint32_t header_bytes; /* bytes of the index header: whole pages of the file */
	uint32_t page_bytes;
	uint64_t end_page; /* pages of the file, header included */
	uint64_t root, last_leaf;
	unsigned levels;
	uint64_t records, keys; /* keys: distinct */
	struct sp_recfmt format;
	int separator;			    /* see struct sp_keyset_opts */
	uint64_t header_records;	    /* header records of the source */
	uint64_t locale;		    /* sp__keyset_locale() */
	struct sp__file_state source_state; /* dev, ino and ctime are not recorded: 0 */
	uint64_t source_checksum;
	/*
	 * Of a column of a table: key is its name, source the table; entries are record numbers,
	 * without length.  The members of a source above, and format to locale, are 0.
	 */
	bool of_table;
	uint64_t table_id;
	uint64_t column_changed;	 /* number of its last change in place */
	uint64_t table_records;		 /* records that the table had */
	char key[SP__INDEX_TEXT_MAX];	 /* text as for -k */
	char source[SP__INDEX_TEXT_MAX]; /* path, relative to the index */
};

/* Sets header_bytes from the texts and page_bytes. */
void sp__index_header_size(struct sp__index_header *h);
/*
 * Writes header_bytes.  Numbers and checksum are in the first SP__INDEX_NUMBERS_BYTES; numbers of a
 * table follow.
 */
#define SP__INDEX_NUMBERS_BYTES 168
#define SP__INDEX_TABLE_BYTES 24 /* bytes of further numbers in the header */
void sp__index_header_encode(struct sp__index_header *h, uint8_t *data);
#define SP__INDEX_HEADER_MAX SP__NODE_MAX /* maximum length */
/*
 * Reads a header from the first SP__INDEX_HEADER_MAX bytes of a file, or all that it has.  Returns
 * 0; SP_EFORMAT: not an index, or of another version; or SP_ECORRUPT; *reason is set.
 */
SP_MUST_CHECK int sp__index_header_decode(struct sp__index_header *h, const uint8_t *data,
					  size_t bytes, const char **reason);
