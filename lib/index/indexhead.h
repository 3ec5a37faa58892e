/* SPDX-License-Identifier: MIT */
/*
 * The head of an index: what it was built from and how, and where its tree is; its form in the
 * file is that of spindle-index(5).
 */
#pragma once

#include <spindle/rec.h>
#include "datafile/source.h"
#include "index/node.h"

#define SP__INDEX_VERSION 2
#define SP__INDEX_TEXT_MAX 4096 /* bytes of a text, with its final 0 */

struct sp__index_head {
	uint32_t head_bytes; /* in the file: whole pages */
	uint32_t page_bytes;
	uint64_t end_page; /* pages of the file, those of the head included */
	uint64_t root, last_leaf;
	unsigned levels;
	uint64_t records, keys; /* keys: different ones */
	struct sp_recfmt format;
	int separator;			    /* as in struct sp_keyset_opts */
	uint64_t header_records;	    /* of the source */
	uint64_t locale;		    /* sp__keyset_locale() */
	struct sp__file_state source_state; /* dev and ino are not recorded: 0 */
	uint64_t source_checksum;
	char key[SP__INDEX_TEXT_MAX];	 /* as -k has it */
	char source[SP__INDEX_TEXT_MAX]; /* path, relative to the index */
};

/* Sets head_bytes from the texts and page_bytes. */
void sp__index_head_size(struct sp__index_head *h);
/* Writes head_bytes; numbers and checksum are in the first SP__INDEX_NUMBERS_BYTES. */
#define SP__INDEX_NUMBERS_BYTES 168
void sp__index_head_encode(struct sp__index_head *h, uint8_t *data);
#define SP__INDEX_HEAD_MAX SP__NODE_MAX /* bytes that it can have */
/*
 * From the first SP__INDEX_HEAD_MAX bytes of a file, or all that it has.  SP_EFORMAT: not an
 * index, or one of another version; SP_ECORRUPT; *reason says so.
 */
SP_MUST_CHECK int sp__index_head_decode(struct sp__index_head *h, const uint8_t *data, size_t bytes,
					const char **reason);
