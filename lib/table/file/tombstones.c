/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes the bits of deleted records.
 */
#include "base/minmax.h"
#include "table/file/tombstones.h"

void sp__tombstones_open(struct sp__tablefile *f, uint64_t cells)
{
	f->tombstones = (struct sp__areastream){ .area = SP__AREA_TOMBSTONES,
						 .kind = SP__CELL_TOMBSTONES,
						 .usable = sp__cell_payload(f->layout.cell_bytes),
						 .written = cells,
						 .old = cells };
}

int sp__tombstones_read(struct sp__tablefile *f, uint64_t first, uint64_t n, uint8_t *bits,
			struct sp_errinfo *err)
{
	return sp__areastream_read(f, &f->tombstones, first / 8, (size_t)((n + 7) / 8), bits, err);
}

int sp__tombstones_write(struct sp__tablefile *f, uint64_t first, uint64_t n, const uint8_t *bits,
			 struct sp_errinfo *err)
{
	return sp__areastream_write(f, &f->tombstones, first / 8, (size_t)((n + 7) / 8), bits, err);
}

int sp__tombstones_exists(struct sp__tablefile *f, uint64_t record, struct sp_errinfo *err)
{
	const uint64_t records = f->superblock.records, first = record / 8 * 8;
	uint8_t bits = 0;
	int rc = 0;

	if (record >= records)
		return 0;
	if (f->superblock.deleted)
		rc = sp__tombstones_read(f, first, sp__min(8, records - first), &bits, err);
	return rc ? rc : !(bits >> record % 8 & 1);
}
