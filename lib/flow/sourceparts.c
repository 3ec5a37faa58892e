/* SPDX-License-Identifier: MIT */
/*
 * Cuts the records of a source into parts by their numbers, and reads them (sourceparts.h).
 *
 * The text of a part has less than 2^BEFORE_SHIFT bytes, so the bytes of earlier parts need not be
 * known to give each record a position.
 */
#include "base/minmax.h"
#include "flow/sourceparts.h"

#define BEFORE_SHIFT 40
#define MAX_PARTS (UINT64_C(1) << (64 - BEFORE_SHIFT - 1))

void sp__source_parts_open(struct sp__source_parts *s, struct sp_source *source,
			   const struct sp__env *plan, uint64_t part_bytes, unsigned readers)
{
	const double share =
		source->records ? (double)source->records / (double)source->numbers : 1;
	const double number_bytes = sp__max(source->record_bytes * share, 1);

	*s = (struct sp__source_parts){ .source = source, .plan = plan };
	s->part_numbers = (uint64_t)((double)part_bytes / number_bytes);
	s->part_numbers = sp__max(s->part_numbers, source->numbers / MAX_PARTS + 1);
	s->readers =
		(unsigned)sp__min(readers, source->memory_bytes / sp__max(source->min_bytes, 1));
	s->readers = sp__max(s->readers, 1);
	s->reader_bytes = source->memory_bytes / s->readers;
}

int sp__source_parts_take(struct sp__source_parts *s, struct sp__part *part)
{
	const uint64_t left = s->source->numbers - s->next;
	const uint64_t n = left < s->part_numbers + s->part_numbers / 2 ? left : s->part_numbers;

	if (!left || (!part->records && !s->readers))
		return SP_END;
	s->readers -= !part->records;
	part->records = s;
	part->from = s->next;
	part->bytes = n;
	part->before = part->number << BEFORE_SHIFT;
	part->read = 0;
	part->csv = false; /* it is cut where a record begins */
	s->next += n;
	return SP_READY;
}

int sp__source_parts_begin(struct sp__source_parts *s, struct sp__part *part)
{
	const struct sp__source_ops *ops = s->source->ops;
	int rc = 0;

	if (!part->reader)
		rc = ops->open(s->source, s->plan, s->reader_bytes, &part->reader, &part->err);
	return rc ? rc : ops->begin(part->reader, part->from, part->from + part->bytes, &part->err);
}

int sp__source_part_read(struct sp__part *part, struct sp_batch *batch)
{
	const struct sp_source *source = part->records->source;
	int rc = source->ops->next(part->reader, batch, &part->err);

	if (rc != SP_READY)
		return rc;
	part->read += batch->bytes;
	return part->read >> BEFORE_SHIFT
		       ? sp__errf(&part->err, SP_EUNSUP, "read", source->name, -1,
				  "%llu records have more than 1 TiB of text",
				  (unsigned long long)part->bytes)
		       : rc;
}

void sp__source_part_close(struct sp__part *part, struct sp__io_counters *done,
			   char engine[SP__ENGINE_NAME])
{
	part->records->source->ops->close(part->reader, done, engine);
	part->reader = NULL;
}

void sp_source_close(struct sp_source *source)
{
	if (source)
		source->ops->free(source);
}
