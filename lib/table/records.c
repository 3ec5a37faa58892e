/* SPDX-License-Identifier: MIT */
/*
 * Loads the records of the inputs.
 *
 * Algorithm: the text is copied into slots, whole records; a task parses each slot.  Slots end in
 * the order of the input: their words get codes of the table, and their values go to the writer.
 * While one slot ends, tasks parse the others.  So the table does not depend on the number of
 * threads.
 *
 * Memory: the slots have a quarter of the memory together.  A record that is longer than a slot's
 * text makes slots larger, and fewer.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "run/charge.h"
#include "table/load.h"

#define SLOT_BYTES (UINT64_C(2) << 20) /* maximum, unless a record is longer */
#define TEXT_SHOWN 40		       /* bytes of a field in a message */

static void parse(void *arg)
{
	struct sp__loadslot *slot = arg;

	slot->more = sp__textchunk_parse(&slot->chunk);
}

static void close_slots(struct sp__tableload *l)
{
	for (unsigned i = 0; i < l->nslots; i++) {
		sp__task_join(&l->slots[i].task);
		if (l->slots[i].chunk.opts)
			sp__textchunk_close(&l->slots[i].chunk);
	}
	free(l->slots);
	l->slots = NULL;
	l->nslots = 0;
}

/* Sets the sizes of a slot with so much memory, for records of this mean length. */
static void set_sizes(struct sp__tableload *l, uint64_t bytes, uint64_t mean)
{
	struct sp__textchunk_opts *o = &l->chunk_opts;
	uint64_t fixed, values;

	o->max_records = 0;
	o->text_bytes = 0;
	fixed = sp__textchunk_memory(o);
	o->max_records = 64;
	values = (sp__textchunk_memory(o) - fixed) / o->max_records;
	bytes = bytes > fixed ? bytes - fixed : 0;
	o->max_records = (uint32_t)sp__max(bytes / (values + mean + 1), 1);
	o->text_bytes = (uint32_t)(o->max_records * (mean + 1));
}

/* Opens slots whose text can have a record of `least` bytes. */
static int open_slots(struct sp__tableload *l, uint64_t least)
{
	const struct sp__sample *a = &l->sample;
	uint64_t mean = a->records ? a->bytes / a->records : 64, share = l->memory / 4;
	int rc = 0;

	if (l->chunk_opts.record_bytes)
		mean = l->chunk_opts.record_bytes;
	l->nslots = l->threads + 1;
	set_sizes(l, sp__min(share / l->nslots, SLOT_BYTES), mean);
	if (l->chunk_opts.text_bytes < least) {
		l->chunk_opts.text_bytes = (uint32_t)(least + least / 4);
		l->nslots = (unsigned)sp__min(
			l->nslots, sp__max(share / sp__textchunk_memory(&l->chunk_opts), 1));
	}
	l->slots = calloc(l->nslots, sizeof(*l->slots));
	if (!l->slots) {
		l->nslots = 0;
		rc = -ENOMEM;
	}
	for (unsigned i = 0; !rc && i < l->nslots; i++)
		rc = sp__textchunk_open(&l->slots[i].chunk, &l->chunk_opts);
	return rc ? sp__err(l->err, rc, "allocate", NULL, -1) : 0;
}

/* Writes where an error is: a line of an input, or a record. */
static void put_place(const struct sp__tableload *l, const struct sp__textchunk_error *e, char *to,
		      size_t bytes)
{
	uint64_t header = l->opts->header;

	if (l->chunk_opts.record_bytes)
		snprintf(to, bytes, "record %" PRIu64, l->lines + e->record);
	else
		snprintf(to, bytes, "line %" PRIu64, l->lines + header + e->line + 1);
}

/* Describes a value that does not fit its column. */
static int value_error(const struct sp__tableload *l, const struct sp__textchunk_error *e,
		       const char *place)
{
	const char *const reasons[] = { "", "is not", "is out of the range of",
					"is the value that stands for NULL in" };
	const struct sp__table_column *c = &l->file->schema.columns[e->column];
	const char *input = l->source.opts.inputs[l->input];
	char type[SP__VALUE_TYPE_TEXT + 1], wider[SP__VALUE_TYPE_TEXT + 1];
	struct sp__value_type other;

	type[sp__value_type_print(&c->type, type)] = '\0';
	if (!e->text)
		return sp__errf(l->err, SP_EFORMAT, "load", input, -1,
				"%s: column '%.64s': a value %s %s", place, c->name,
				reasons[e->fit], type);
	if (sp__text_null(e->text, e->bytes) && e->fit == SP__VALUE_RESERVED)
		return sp__errf(l->err, SP_EFORMAT, "load", input, -1,
				"%s: column '%.64s': a text begins with the byte 0xFF, which "
				"stands for NULL: a table cannot have it",
				place, c->name);
	other = sp__value_type_wider(&c->type, e->text, e->bytes);
	wider[sp__value_type_print(&other, wider)] = '\0';
	return sp__errf(l->err, SP_EFORMAT, "load", input, -1,
			"%s: column '%.64s': '%.*s' %s %s; type %s would do", place, c->name,
			(int)sp__min(e->bytes, TEXT_SHOWN), e->text,
			e->fault == SP__TEXTCHUNK_WORDS ? "is one word too many for"
							: reasons[e->fit],
			type, wider);
}

/* Describes the error of a chunk. */
static int chunk_error(struct sp__tableload *l, const struct sp__textchunk *c)
{
	const struct sp__textchunk_error *e = &c->error;
	const struct sp__table_schema *s = &l->file->schema;
	const char *input = l->source.opts.inputs[l->input];
	char place[48];

	put_place(l, e, place, sizeof(place));
	if (e->rc == SP_EBUDGET)
		return sp__errf(l->err, e->rc, "load", input, -1,
				"the words of column '%.64s' exceed the memory: choose -S %" PRIu64
				" or more, or the type text",
				s->columns[e->column].name,
				2 * sp__max(l->opts->run.memory_bytes, l->memory));
	if (e->rc && e->rc != -ENOSPC)
		return sp__err(l->err, e->rc, "allocate", NULL, -1);
	if (e->fault == SP__TEXTCHUNK_FIELDS)
		return sp__errf(l->err, SP_EFORMAT, "load", input, -1,
				e->fields > s->n ? "%s: more than %" PRIu32 " field%s"
						 : "%s: %" PRIu32 " field%s, too few",
				place, e->fields > s->n ? s->n : e->fields,
				(e->fields > s->n ? s->n : e->fields) == 1 ? "" : "s");
	if (e->fault == SP__TEXTCHUNK_NULL)
		return sp__errf(l->err, SP_EFORMAT, "load", input, -1,
				"%s: column '%.64s' is not null, and has no value here", place,
				s->columns[e->column].name);
	l->misfit = sp__table_schema_find(&l->described, s->columns[e->column].name,
					  strlen(s->columns[e->column].name)) < 0;
	return value_error(l, e, place);
}

/* Writes the values that a slot has. */
static int put_values(struct sp__tableload *l, struct sp__textchunk *c)
{
	int rc = sp__textchunk_map_words(c, &l->file->schema);

	if (!rc)
		rc = sp__tablewriter_put(l->writer, c->records, c->values);
	else
		rc = chunk_error(l, c);
	return rc;
}

/* Ends a slot: waits for its task, and writes its values. */
static int end_slot(struct sp__tableload *l, struct sp__loadslot *slot)
{
	struct sp__textchunk *c = &slot->chunk;
	int rc;

	sp__task_join(&slot->task);
	slot->busy = false;
	if (slot->input != l->input) {
		l->input = slot->input;
		l->lines = 0;
	}
	rc = put_values(l, c);
	while (!rc && slot->more) {
		parse(slot);
		rc = put_values(l, c);
	}
	if (!rc && c->error.fault)
		rc = chunk_error(l, c);
	l->lines += c->lines;
	l->inexact |= c->inexact;
	l->other_ends += c->other_ends;
	l->last_other = c->last_other;
	sp__charge_work(&l->file->env, c->first + c->records, 0, c->bytes);
	sp__charge_values(&l->file->env, (uint64_t)(c->first + c->records) * l->file->schema.n, 0);
	return rc;
}

/* Gets the next records: those of the sample first. */
static int next_batch(struct sp__tableload *l)
{
	int rc;

	if (l->kept.bytes) {
		l->batch = (struct sp_batch){ l->kept.data, l->kept.bytes };
		l->batch_input = l->kept_input;
		l->kept.bytes = 0; /* its memory is not changed before it is loaded */
		return SP_READY;
	}
	sp__bytes_release(&l->kept, &l->env.budget);
	if (l->ahead.bytes) {
		l->batch = l->ahead;
		l->ahead.bytes = 0;
		rc = SP_READY;
	} else {
		rc = sp__tablesource_next(&l->source, &l->batch);
	}
	l->batch_input = l->source.input;
	return rc;
}

/* Makes larger slots, after those in use have ended. */
static int enlarge(struct sp__tableload *l)
{
	uint64_t bytes =
		(uint64_t)(sp__rec_end(&l->format, l->batch.data, l->batch.bytes) - l->batch.data);

	if (bytes > l->memory / 5)
		return sp__errf(l->err, SP_EBUDGET, "load", l->source.opts.inputs[l->batch_input],
				-1,
				"a record of %" PRIu64 " bytes is too long for the memory: choose "
				"-S %" PRIu64 " or more",
				bytes, bytes * 5);
	close_slots(l);
	return open_slots(l, bytes);
}

/*
 * Fills a slot with records of one input.  Returns SP_READY; SP_END if there are no more; SP_LATER
 * if the next record needs a larger slot; or an error.
 */
static int fill(struct sp__tableload *l, struct sp__loadslot *slot)
{
	const size_t capacity = l->chunk_opts.text_bytes;
	size_t bytes = 0, n = 0;
	int rc = SP_READY;

	while (rc == SP_READY) {
		if (!l->batch.bytes)
			rc = next_batch(l);
		if (rc != SP_READY || (bytes && l->batch_input != slot->input))
			break;
		n = sp__rec_fitting(&l->format, l->batch.data, l->batch.bytes, capacity - bytes);
		if (!n)
			break;
		slot->input = l->batch_input;
		memcpy(slot->chunk.text + bytes, l->batch.data, n);
		l->batch.data += n;
		l->batch.bytes -= n;
		bytes += n;
	}
	if (rc < 0)
		return rc;
	if (l->opts->progress)
		l->opts->progress(l->opts->progress_arg, 0, sp__tablesource_done(&l->source),
				  l->source.total);
	sp__textchunk_begin(&slot->chunk, (uint32_t)bytes);
	return bytes ? SP_READY : rc == SP_END ? SP_END : SP_LATER;
}

/* Ends all slots, the oldest first; `next` is the oldest. */
static int end_slots(struct sp__tableload *l, unsigned next)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < l->nslots; i++) {
		struct sp__loadslot *slot = &l->slots[(next + i) % l->nslots];

		if (slot->busy)
			rc = end_slot(l, slot);
	}
	return rc;
}

static int load(struct sp__tableload *l)
{
	unsigned k = 0;
	bool more;
	int rc = 0;

	for (;;) {
		struct sp__loadslot *slot = &l->slots[k];

		if (slot->busy)
			rc = end_slot(l, slot);
		if (rc)
			return rc;
		rc = fill(l, slot);
		if (rc == SP_READY) {
			slot->busy = true;
			sp__task_start(&slot->task, parse, slot);
			k = (k + 1) % l->nslots;
			rc = 0;
			continue;
		}
		if (rc < 0)
			return rc;
		more = rc == SP_LATER;
		rc = end_slots(l, k);
		if (rc || !more)
			return rc;
		rc = enlarge(l);
		k = 0;
	}
}

int sp__tableload_records(struct sp__tableload *l)
{
	int rc;

	l->chunk_opts = (struct sp__textchunk_opts){
		.schema = &l->file->schema,
		.fields = { l->file->schema.style.separator, l->format.kind == SP_REC_CSV,
			    l->resolved.fields },
		.record_bytes =
			l->format.kind == SP_REC_FIXED ? (uint32_t)l->format.fixed_bytes : 0,
		.budget = &l->env.budget,
	};
	l->batch = (struct sp_batch){ NULL, 0 };
	l->input = l->batch_input = 0;
	l->lines = 0;
	l->inexact = l->misfit = l->last_other = false;
	l->other_ends = 0;
	rc = open_slots(l, 1);
	if (!rc)
		rc = load(l);
	close_slots(l);
	return rc;
}

/* A last line without an end has no CR either. */
bool sp__tableload_records_exact(const struct sp__tableload *l)
{
	const bool cut = l->source.no_newline && l->file->schema.style.cr;

	return !l->inexact && !l->source.no_newlines && l->other_ends == cut &&
	       (l->last_other || !cut);
}
