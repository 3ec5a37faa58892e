/* SPDX-License-Identifier: MIT */
/*
 * Superblocks of tables with a valid checksum: one that is accepted is written as it was read, and
 * its numbers lead to offsets in a file.
 */
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "table/file/superblock.h"

#define PREFIX SP__SUPERBLOCK_PREFIX

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool cond)
{
	if (!cond)
		abort();
}

static void try_slot(const uint8_t *data, size_t bytes)
{
	struct sp__table_superblock s;
	const char *reason = NULL;
	size_t length = 0;
	uint8_t *copy;
	int rc = sp__table_superblock_decode(&s, data, bytes, &reason);

	if (rc) {
		require(reason && (rc == SP_EFORMAT || rc == SP_ECORRUPT));
		return;
	}
	require(s.end <= INT64_MAX / s.layout.cell_bytes);
	require(s.schema.first + s.schema.cells <= s.end && s.map.first + s.map.cells <= s.end);
	require(s.journal.first <= INT64_MAX / s.layout.cell_bytes);
	require(sp__table_superblock_front(&s) <= s.map.first);
	copy = sp__table_superblock_encode(&s, &length);
	require(copy && !memcmp(copy, data, PREFIX) &&
		!memcmp(copy + PREFIX, data + PREFIX, data[28] | (size_t)data[29] << 8));
	sp__table_superblock_free(&s);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	uint8_t *copy = calloc(1, bytes + 1);
	uint64_t sum;

	require(copy);
	if (bytes)
		memcpy(copy, data, bytes);
	try_slot(copy, bytes);
	if (bytes >= PREFIX && bytes - PREFIX <= UINT16_MAX) { /* the same with a right checksum */
		sum = sp__checksum(copy + PREFIX, bytes - PREFIX);
		memcpy(copy, "SPTABLE\n\1\0\0\0\0\0\0", 16);
		for (unsigned i = 0; i < 8; i++)
			copy[16 + i] = (uint8_t)(sum >> 8 * i);
		for (unsigned i = 0; i < 4; i++)
			copy[28 + i] = (uint8_t)((bytes - PREFIX) >> 8 * i);
		try_slot(copy, bytes);
	}
	free(copy);
	return 0;
}
