/* SPDX-License-Identifier: MIT */
/*
 * Loads the records of the inputs.
 *
 * Algorithm: the text is copied into slots, whole records; a task parses each slot.  Slots are put
 * in the order of the input: their words get codes of the table, and the writer finds places for
 * their values.  Then the task of the slot copies the values there (write/slabs.h).  While one slot
 * is put, tasks parse others, or copy their values.  So the table does not depend on the number of
 * threads.
 *
 * If the inputs are regular files, the task of a slot reads a part of them itself (flow/parts.h).
 *
 * Memory: the slots have a quarter of the memory together, with the streams of their parts.  A
 * record that is longer than a slot's text makes slots larger, and fewer; or the slot alone, while
 * it is put, if tasks read parts.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "run/charge.h"
#include "table/load.h"

#define SLOT_BYTES (UINT64_C(1) << 20) /* maximum, unless a record is longer */
#define SLOT_BYTES_MIN 65536	       /* or for a part: */
#define PART_SLOT_BYTES (SP__PART_MIN_BYTES * 6)

/* Parses the next records of the text of a slot. */
static void parse(void *arg)
{
	struct sp__loadslot *slot = arg;

	slot->more = sp__textchunk_parse(&slot->chunk);
}

/* Reads the next records of the part of a slot, and parses them. */
static void read_part(void *arg)
{
	struct sp__loadslot *slot = arg;
	const size_t capacity = slot->chunk.opts->text_bytes;
	size_t bytes = 0, n;
	int rc = SP_READY;

	for (;;) {
		if (!slot->batch.bytes)
			rc = sp__part_read(&slot->part, &slot->batch);
		if (rc != SP_READY)
			break;
		n = sp__rec_fitting(slot->format, slot->batch.data, slot->batch.bytes,
				    capacity - bytes);
		if (!n)
			break;
		memcpy(slot->chunk.text + bytes, slot->batch.data, n);
		slot->batch.data += n;
		slot->batch.bytes -= n;
		bytes += n;
	}
	slot->rc = rc < 0 ? rc : 0;
	slot->unread = rc == SP_READY;
	sp__textchunk_begin(&slot->chunk, (uint32_t)bytes);
	parse(slot);
}

static void map_words(void *arg)
{
	struct sp__loadslot *slot = arg;

	sp__textchunk_map_words(&slot->chunk);
}

static void store(void *arg)
{
	struct sp__loadslot *slot = arg;

	sp__fills_run(&slot->fills);
}

/*
 * Waits for the task of a slot.  If there is one thread for tasks, this one meanwhile runs those
 * that it has not begun.
 */
static void join(struct sp__tableload *l, struct sp__loadslot *slot)
{
	for (unsigned i = 0; l->threads == 1 && i < l->nslots && !sp__task_done(&slot->task); i++) {
		struct sp__task *other = &l->slots[(l->at + i) % l->nslots].task;

		if (sp__task_waits(other))
			sp__task_join(other);
	}
	if (l->threads > 1)
		sp__task_leave(&slot->task);
	sp__task_join(&slot->task);
}

/* Waits until the oldest slot whose values are copied is free.  False: there is none. */
static bool relieve(void *load)
{
	struct sp__tableload *l = load;

	for (unsigned i = 0; i < l->nslots; i++) {
		struct sp__loadslot *slot = &l->slots[(l->at + i) % l->nslots];

		if (slot->state != SP__LOADSLOT_STORING)
			continue;
		join(l, slot);
		slot->state = SP__LOADSLOT_FREE;
		return true;
	}
	return false;
}

static void close_slots(struct sp__tableload *l)
{
	for (unsigned i = 0; i < l->nslots; i++) {
		sp__task_join(&l->slots[i].task);
		if (l->slots[i].chunk.opts)
			sp__textchunk_close(&l->slots[i].chunk);
		sp__fills_free(&l->slots[i].fills);
		sp__part_close(l->parts, &l->slots[i].part);
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

/* Returns the memory of a slot at least: there are fewer slots in less memory. */
static uint64_t min_bytes(const struct sp__tableload *l)
{
	return l->in_order ? SLOT_BYTES_MIN : PART_SLOT_BYTES;
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
	if (l->divided)
		l->nslots = (unsigned)sp__max(sp__min(2 * l->nslots + 1, share / min_bytes(l)), 2);
	l->at = l->parsing = 0;
	share -= l->in_order ? 0 : sp__min(l->nslots * SP__COLUMNSOURCE_STREAM, share);
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
	for (unsigned i = 0; !rc && i < l->nslots; i++) {
		l->slots[i].fills.file = l->file;
		l->slots[i].format = &l->format;
		rc = sp__textchunk_open(&l->slots[i].chunk, &l->chunk_opts);
	}
	return rc ? sp__err(l->err, rc, "allocate", NULL, -1) : 0;
}

/* Finds the places of the values that a slot has, or writes them. */
static int put_values(struct sp__tableload *l, struct sp__loadslot *slot)
{
	struct sp__textchunk *c = &slot->chunk;
	int rc = sp__textchunk_add_words(c, &l->file->schema);

	if (rc)
		return sp__tableload_chunk_error(l, c);
	slot->fills.prepare = map_words;
	slot->fills.prepare_arg = slot;
	if (l->divided)
		l->writer->slabs.fills = &slot->fills;
	else
		map_words(slot);
	rc = sp__tablewriter_put(l->writer, c->records, c->values);
	l->writer->slabs.fills = NULL;
	return rc;
}

/* Notes inferred columns whose values were spelled in another way than they are written. */
static void note_respelled(struct sp__tableload *l, const struct sp__textchunk *c)
{
	enum sp__infer_note *notes = l->resolved.notes;

	for (uint32_t i = 0; notes && i < l->file->schema.n; i++)
		if (c->columns[i].respelled && notes[i] == SP__INFER_CANONICAL)
			notes[i] = SP__INFER_RESPELLED;
}

/* Notes facts about the records of JSON in a chunk whose text was parsed. */
static void note_members(struct sp__tableload *l, struct sp__textchunk *c)
{
	struct sp__member_reader *r = &c->reader;

	for (uint32_t i = 0; l->mixed && i < l->file->schema.n; i++)
		l->mixed[i] |= c->columns[i].mixed;
	l->repeated += r->repeated;
	l->made_texts += c->made_texts;
	l->blank_lines += c->blank_lines;
	r->repeated = 0;
}

/* Puts the values of all records in the text of a slot. */
static int put_text(struct sp__tableload *l, struct sp__loadslot *slot)
{
	struct sp__textchunk *c = &slot->chunk;
	int rc = put_values(l, slot);

	while (!rc && slot->more) {
		store(slot);
		parse(slot);
		rc = put_values(l, slot);
	}
	if (!rc && c->error.fault)
		rc = sp__tableload_chunk_error(l, c);
	note_respelled(l, c);
	note_members(l, c);
	l->lines += c->lines;
	l->inexact |= c->inexact;
	l->other_ends += c->other_ends;
	l->last_other = c->last_other;
	sp__charge_work(&l->file->env, c->first + c->records, 0, c->bytes);
	sp__charge_values(&l->file->env, (uint64_t)(c->first + c->records) * l->file->schema.n, 0);
	return rc;
}

/* Checks the length of the first record of a batch. */
static int check_record(struct sp__tableload *l, const struct sp_batch *batch, size_t input,
			uint64_t *bytes)
{
	*bytes = (uint64_t)(sp__rec_end(&l->format, batch->data, batch->bytes) - batch->data);
	if (*bytes <= l->memory / 5)
		return 0;
	return sp__errf(l->err, SP_EBUDGET, "load", l->source.opts.inputs[input], -1,
			"a record of %" PRIu64 " bytes is too long for the memory: choose "
			"-S %" PRIu64 " or more",
			*bytes, *bytes * 5);
}

/* Exchanges the chunk of a slot, which has been stored. */
static int exchange_chunk(struct sp__tableload *l, struct sp__loadslot *slot,
			  const struct sp__textchunk_opts *opts)
{
	int rc;

	sp__textchunk_close(&slot->chunk);
	rc = sp__textchunk_open(&slot->chunk, opts);
	return rc ? sp__err(l->err, rc, "allocate", NULL, -1) : 0;
}

/* Puts the rest of a part, which is longer than the text of its slot, or has a long record. */
static int put_rest(struct sp__tableload *l, struct sp__loadslot *slot)
{
	uint64_t bytes;
	int rc = 0;

	while (!rc && slot->unread) {
		store(slot);
		rc = check_record(l, &slot->batch, slot->input, &bytes);
		slot->longer = l->chunk_opts;
		slot->longer.text_bytes = (uint32_t)sp__max(slot->longer.text_bytes, bytes);
		if (!rc && bytes > slot->chunk.opts->text_bytes)
			rc = exchange_chunk(l, slot, &slot->longer);
		if (rc)
			break;
		read_part(slot);
		rc = put_text(l, slot);
	}
	if (!rc && slot->chunk.opts == &slot->longer) {
		store(slot);
		rc = exchange_chunk(l, slot, &l->chunk_opts);
	}
	return rc;
}

/* Describes why the part of a slot could not be read. */
static int part_error(struct sp__tableload *l, const struct sp__loadslot *slot)
{
	l->miscut = slot->rc == SP__MISCUT;
	*l->err = slot->part.err;
	return slot->rc;
}

/* Puts a slot: waits until it is parsed, puts its values, and has its task copy them. */
static int put_slot(struct sp__tableload *l, struct sp__loadslot *slot)
{
	int rc;

	join(l, slot);
	slot->state = SP__LOADSLOT_FREE;
	if (slot->input != l->input) {
		l->input = slot->input;
		l->lines = 0;
	}
	rc = put_text(l, slot);
	if (!rc)
		rc = put_rest(l, slot);
	if (!rc && slot->rc)
		rc = part_error(l, slot);
	if (l->divided) {
		slot->state = SP__LOADSLOT_STORING;
		sp__task_start(&slot->task, store, slot);
	}
	return rc;
}

/* Takes the text of the sample, the records of one input at a time.  False: all are taken. */
static bool take_kept(struct sp__tableload *l)
{
	for (size_t i = 0; l->kept_taken < l->kept.bytes; i++)
		if (l->kept_ends[i] > l->kept_taken) {
			l->batch = (struct sp_batch){ l->kept.data + l->kept_taken,
						      l->kept_ends[i] - l->kept_taken };
			l->batch_input = i;
			l->kept_taken = l->kept_ends[i];
			return true;
		}
	return false;
}

/* Gets the next records: those of the sample first. */
static int next_batch(struct sp__tableload *l)
{
	int rc;

	if (take_kept(l))
		return SP_READY;
	sp__tableload_drop_kept(l);
	sp__bytes_release(&l->kept, &l->env.budget);
	rc = sp__columnsource_next(&l->source, &l->batch);
	l->batch_input = l->source.input;
	return rc;
}

/* Makes larger slots, after those in use have ended. */
static int enlarge(struct sp__tableload *l)
{
	uint64_t bytes;
	int rc = check_record(l, &l->batch, l->batch_input, &bytes);

	if (rc)
		return rc;
	close_slots(l);
	return open_slots(l, bytes);
}

/*
 * Fills a slot with records of one input.  Returns SP_READY; SP_END if there are no more; SP_LATER
 * if the next record needs a larger slot; or an error.
 */
static int fill_text(struct sp__tableload *l, struct sp__loadslot *slot)
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
	sp__textchunk_begin(&slot->chunk, (uint32_t)bytes);
	return bytes ? SP_READY : rc == SP_END ? SP_END : SP_LATER;
}

/* Puts the oldest slot that is parsed. */
static int put_oldest(struct sp__tableload *l)
{
	struct sp__loadslot *slot = &l->slots[(l->at + l->nslots - l->parsing) % l->nslots];

	l->parsing--;
	return put_slot(l, slot);
}

/* Puts all slots, and waits until their values are copied. */
static int put_slots(struct sp__tableload *l)
{
	int rc = 0;

	while (!rc && l->parsing)
		rc = put_oldest(l);
	while (relieve(l))
		;
	return rc;
}

/* Fills a slot, or gives it the next part.  Returns as fill_text(). */
static int fill(struct sp__tableload *l, struct sp__loadslot *slot)
{
	uint64_t done;
	int rc;

	if (l->parts) {
		rc = sp__parts_next(l->parts, &slot->part);
		if (rc < 0)
			*l->err = slot->part.err;
		slot->input = slot->part.input;
		slot->batch.bytes = 0;
		l->given += rc == SP_READY ? slot->part.bytes : 0;
		done = l->given;
	} else {
		rc = fill_text(l, slot);
		done = sp__columnsource_done(&l->source);
	}
	if (rc >= 0 && l->opts->progress)
		l->opts->progress(l->opts->progress_arg, 0, done, l->source.total);
	return rc;
}

/* Returns the slots that are parsed while others are copied. */
static unsigned max_parsing(const struct sp__tableload *l)
{
	return l->divided ? (l->nslots + 1) / 2 : l->nslots;
}

/* Ends after an error of reading; one of the records before it is the first one. */
static int end_early(struct sp__tableload *l, int rc)
{
	const struct sp_errinfo err = *l->err;
	int other = put_slots(l);

	if (!other)
		*l->err = err;
	return other ? other : rc;
}

static int load(struct sp__tableload *l)
{
	int rc;

	for (;;) {
		struct sp__loadslot *slot = &l->slots[l->at];

		if (l->parsing == max_parsing(l)) {
			rc = put_oldest(l);
			if (rc)
				return rc;
		}
		if (slot->state == SP__LOADSLOT_STORING)
			join(l, slot);
		slot->state = SP__LOADSLOT_FREE;
		rc = fill(l, slot);
		if (rc == SP_READY) {
			slot->state = SP__LOADSLOT_PARSING;
			sp__task_start(&slot->task, l->parts ? read_part : parse, slot);
			l->at = (l->at + 1) % l->nslots;
			l->parsing++;
			continue;
		}
		if (rc < 0)
			return end_early(l, rc);
		if (rc == SP_END)
			return put_slots(l);
		rc = put_slots(l);
		if (!rc)
			rc = enlarge(l);
		if (rc)
			return rc;
	}
}

/* Has tasks read the inputs from their beginnings, if that is possible. */
static void open_parts(struct sp__tableload *l)
{
	if (sp__columnsource_divide(&l->source, l->chunk_opts.text_bytes / 8 * 5, &l->part_opts,
				    &l->parts))
		return;
	sp__tableload_drop_kept(l);
	sp__bytes_release(&l->kept, &l->env.budget);
}

/* Gives the members of JSON their columns. */
static int bind_members(struct sp__tableload *l)
{
	const struct sp__schema *s = &l->file->schema;

	if (!l->format.json)
		return 0;
	free(l->mixed);
	l->mixed = calloc(s->n, sizeof(*l->mixed));
	l->blank_lines = l->repeated = l->made_texts = 0;
	if (!l->mixed || sp__members_bind(&l->sample.members, s, l->resolved.inferred))
		return sp__err(l->err, -ENOMEM, "allocate", NULL, -1);
	return 0;
}

int sp__tableload_records(struct sp__tableload *l)
{
	int rc = bind_members(l);

	if (rc)
		return rc;
	l->chunk_opts = (struct sp__textchunk_opts){
		.schema = &l->file->schema,
		.checks = l->resolved.checks,
		.fields = { l->file->schema.style.separator, l->format.kind == SP_REC_CSV,
			    l->resolved.fields },
		.members = l->format.json ? &l->sample.members : NULL,
		.record_bytes =
			l->format.kind == SP_REC_FIXED ? (uint32_t)l->format.fixed_bytes : 0,
		.budget = &l->env.budget,
	};
	l->divided = !l->file->cells.first.volume->machine;
	l->in_order |= !l->divided || l->memory / 4 < 3 * PART_SLOT_BYTES;
	l->miscut = false;
	if (l->divided)
		sp__tablewriter_divide(l->writer, relieve, l);
	l->batch = (struct sp_batch){ NULL, 0 };
	l->input = l->batch_input = 0;
	l->lines = 0;
	l->inexact = l->misfit = l->last_other = false;
	l->other_ends = l->given = 0;
	rc = open_slots(l, 1);
	if (!rc && !l->in_order)
		open_parts(l);
	if (!rc)
		rc = load(l);
	if (!rc && l->parts)
		rc = sp__columnsource_end_parts(&l->source, l->parts);
	close_slots(l);
	sp__parts_close(l->parts);
	l->parts = NULL;
	return rc;
}

/* A last line without an end has no CR either. */
bool sp__tableload_records_exact(const struct sp__tableload *l)
{
	const bool cut = l->source.no_newline && l->file->schema.style.cr;

	return !l->inexact && !l->format.json && !l->source.marked && !l->source.blank_lines &&
	       !l->source.no_newlines && l->other_ends == cut && (l->last_other || !cut);
}
