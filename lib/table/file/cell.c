/* SPDX-License-Identifier: MIT */
/*
 * Writes and checks the last 8 bytes of cells.
 */
#include "base/hash.h"
#include "base/rng.h"
#include "table/file/cell.h"

#define SUM_BYTES 4

static uint32_t load(const uint8_t *at, unsigned bytes)
{
	uint32_t v = 0;

	for (unsigned i = bytes; i-- > 0;)
		v = v << 8 | at[i];
	return v;
}

static void store(uint8_t *at, uint32_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (uint8_t)(v >> 8 * i);
}

/* content: the hash of all bytes before the checksum. */
static uint32_t sum_of(uint64_t content, uint64_t id, uint64_t number)
{
	uint64_t h = sp__mix64(content ^ sp__mix64(id + number));

	return (uint32_t)(h ^ h >> 32);
}

void sp__cell_seal(uint8_t *cell, uint32_t cell_bytes, uint32_t records, enum sp__cell_kind kind,
		   uint64_t id, uint64_t number)
{
	uint8_t *at = cell + sp__cell_payload(cell_bytes);

	store(at, records, 2);
	store(at + 2, kind, 2);
	store(at + 4, sum_of(sp__checksum(cell, cell_bytes - SUM_BYTES), id, number), SUM_BYTES);
}

bool sp__cell_valid(const uint8_t *cell, uint32_t cell_bytes, uint64_t id, uint64_t number)
{
	uint64_t content = sp__checksum(cell, cell_bytes - SUM_BYTES);

	return load(cell + cell_bytes - SUM_BYTES, SUM_BYTES) == sum_of(content, id, number);
}

static bool is_zero(const uint8_t *cell, uint32_t cell_bytes)
{
	return !cell[0] && !memcmp(cell, cell + 1, cell_bytes - 1);
}

enum sp__cell_fault sp__cell_check(const uint8_t *cell, uint32_t cell_bytes, uint32_t records,
				   enum sp__cell_kind kind, uint64_t id, uint64_t number)
{
	const uint8_t *at = cell + sp__cell_payload(cell_bytes);

	if (!sp__cell_valid(cell, cell_bytes, id, number))
		return is_zero(cell, cell_bytes) ? SP__CELL_UNWRITTEN : SP__CELL_DAMAGED;
	if (load(at + 2, 2) != kind)
		return SP__CELL_KIND;
	return load(at, 2) == records ? SP__CELL_SOUND : SP__CELL_RECORDS;
}

bool sp__cell_find(const uint8_t *cell, uint32_t cell_bytes, uint64_t id, uint64_t cells,
		   uint64_t *number)
{
	uint64_t content = sp__checksum(cell, cell_bytes - SUM_BYTES);
	uint32_t sum = load(cell + cell_bytes - SUM_BYTES, SUM_BYTES);

	if (is_zero(cell, cell_bytes))
		return false;
	for (uint64_t c = 0; c < cells; c++)
		if (sum_of(content, id, c) == sum) {
			*number = c;
			return true;
		}
	return false;
}

const char *sp__cell_kind_name(enum sp__cell_kind kind)
{
	static const char *const names[] = { "values", "text",	    "schema",
					     "map",    "directory", "tombstones" };

	return kind >= SP__CELL_VALUES && kind <= SP__CELL_TOMBSTONES ? names[kind - 1] : "unknown";
}
