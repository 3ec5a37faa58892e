/* SPDX-License-Identifier: MIT */
/*
 * Writes and reads bytes over the payloads of consecutive cells: the schema and the map.  A table
 * without data has these.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/minmax.h"
#include "table/file/file.h"

int sp__stream_write(struct sp__tablefile *f, enum sp__cell_kind kind,
		     const struct sp__table_stream *s, const uint8_t *bytes, struct sp_errinfo *err)
{
	const uint32_t payload = sp__cell_payload(f->layout.cell_bytes);
	const bool hollow = f->volume->hollow;
	uint8_t *cell = malloc(f->layout.cell_bytes);
	int rc = cell ? 0 : sp__err(err, -ENOMEM, "write", f->path, -1);

	f->volume->hollow = false;
	for (uint64_t i = 0; !rc && i < s->cells; i++) {
		uint64_t at = sp__min(i * payload, s->bytes);
		size_t part = (size_t)sp__min(s->bytes - at, payload);

		memcpy(cell, bytes + at, part);
		memset(cell + part, 0, f->layout.cell_bytes - part);
		sp__cell_seal(cell, f->layout.cell_bytes, 0, kind, f->superblock.id, s->first + i);
		rc = sp__tablefile_write(f, s->first + i, 1, cell, err);
	}
	f->volume->hollow = hollow;
	free(cell);
	return rc;
}

/* True if the file has all cells: no memory is allocated for a damaged number. */
static bool in_file(const struct sp__tablefile *f, const struct sp__table_stream *s)
{
	off_t end = lseek(f->fd, 0, SEEK_END);

	return end >= 0 && s->first + s->cells <= (uint64_t)end / f->layout.cell_bytes;
}

int sp__stream_read(struct sp__tablefile *f, enum sp__cell_kind kind,
		    const struct sp__table_stream *s, uint8_t **bytes, struct sp_errinfo *err)
{
	const uint32_t cell_bytes = f->layout.cell_bytes, payload = sp__cell_payload(cell_bytes);
	uint8_t *cell;
	int rc = 0;

	*bytes = NULL;
	if (!in_file(f, s))
		return sp__errf(err, SP_ECORRUPT, "read", f->path, -1,
				"it was truncated: the %s is missing", sp__cell_kind_name(kind));
	cell = malloc(cell_bytes);
	*bytes = malloc(s->bytes);
	if (!cell || !*bytes)
		rc = sp__err(err, -ENOMEM, "read", f->path, -1);
	for (uint64_t i = 0; !rc && i * payload < s->bytes; i++) {
		rc = sp__tablefile_read(f, s->first + i, 1, cell, err);
		if (!rc)
			rc = sp__tablefile_check_cell(f, s->first + i, 0, kind, cell, err);
		if (!rc)
			memcpy(*bytes + i * payload, cell,
			       sp__min(s->bytes - i * payload, payload));
	}
	free(cell);
	if (rc) {
		free(*bytes);
		*bytes = NULL;
	}
	return rc;
}
