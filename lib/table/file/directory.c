/* SPDX-License-Identifier: MIT */
/*
 * Finds entries of directory rows, and reads and writes rows.
 */
#include <endian.h>
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "table/file/directory.h"
#include "table/file/file.h"

/*
 * Reads and writes the bits of deleted records.
 */

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

#define WINDOW_BYTES (UINT64_C(256) << 10)

static bool has_entry(const struct sp__column *c)
{
	return c->bounds || c->type.kind == 't';
}

uint32_t sp__directory_entries(const struct sp__schema *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		n += has_entry(&s->columns[i]);
	return n;
}

int sp__directory_open(struct sp__tablefile *f)
{
	f->entries = calloc(f->schema.n, sizeof(*f->entries));
	if (!f->entries)
		return -ENOMEM;
	f->row_entries = 0;
	for (uint32_t i = 0; i < f->schema.n; i++)
		f->entries[i] = has_entry(&f->schema.columns[i]) ? f->row_entries++ : UINT32_MAX;
	f->directory =
		(struct sp__areastream){ .area = SP__AREA_DIRECTORY,
					 .kind = SP__CELL_DIRECTORY,
					 .usable = sp__directory_usable(f->layout.cell_bytes) };
	return 0;
}

uint64_t sp__directory_cells(const struct sp__tablefile *f, uint64_t rows)
{
	return (rows * sp__directory_row_bytes(f) + f->directory.usable - 1) / f->directory.usable;
}

void sp__directory_set_text(uint8_t *entry, const struct sp__text_place *t)
{
	uint64_t first = htole64(t->first);
	uint32_t numbers[2] = { htole32(t->cells), htole32(t->bytes) };

	memcpy(entry, &first, sizeof(first));
	memcpy(entry + sizeof(first), numbers, sizeof(numbers));
}

struct sp__text_place sp__directory_text(const uint8_t *entry)
{
	uint64_t first;
	uint32_t numbers[2];

	memcpy(&first, entry, sizeof(first));
	memcpy(numbers, entry + sizeof(first), sizeof(numbers));
	return (struct sp__text_place){ le64toh(first), le32toh(numbers[0]), le32toh(numbers[1]) };
}

bool sp__directory_text_possible(const struct sp__tablefile *f, const struct sp__text_place *t)
{
	return t->bytes <= t->cells * (uint64_t)sp__cell_payload(f->layout.cell_bytes) &&
	       (!t->cells || sp__map_has_text(&f->map, t->first, t->cells));
}

int sp__directory_read_rows(struct sp__tablefile *f, uint64_t first, uint64_t n, uint8_t *rows,
			    struct sp_errinfo *err)
{
	const size_t bytes = sp__directory_row_bytes(f);

	return sp__areastream_read(f, &f->directory, first * bytes, (size_t)(n * bytes), rows, err);
}

int sp__directory_write_rows(struct sp__tablefile *f, uint64_t first, uint64_t n,
			     const uint8_t *rows, struct sp_errinfo *err)
{
	const size_t bytes = sp__directory_row_bytes(f);

	return sp__areastream_write(f, &f->directory, first * bytes, (size_t)(n * bytes), rows,
				    err);
}

int sp__directory_each(struct sp__tablefile *f, int (*fn)(void *arg, uint8_t *row), void *arg,
		       struct sp_errinfo *err)
{
	const uint64_t rows = sp__layout_rows(&f->layout, f->superblock.records);
	const size_t row_bytes = sp__directory_row_bytes(f);
	const uint64_t window = sp__max(WINDOW_BYTES / (row_bytes + 1), 1);
	uint8_t *data = malloc(window * row_bytes + 1);
	int rc = data ? 0 : sp__err(err, -ENOMEM, "read", f->path, -1);

	for (uint64_t e = 0; !rc && e < rows; e += window) {
		uint64_t n = sp__min(rows - e, window);

		rc = sp__directory_read_rows(f, e, n, data, err);
		for (uint64_t i = 0; !rc && i < n; i++)
			rc = fn(arg, data + i * row_bytes);
	}
	free(data);
	return rc;
}
