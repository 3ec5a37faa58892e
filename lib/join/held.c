/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include "base/err.h"
#include "join/held.h"

static int to_space(void *arg, const char *data, size_t bytes, bool whole)
{
	struct sp__held *held = arg;
	const struct sp__join_layout *l = &held->h.layout;
	int rc = 0;

	(void)whole;
	if (!held->writing) {
		rc = sp__hash_open_spill(&held->h, 1, l->buffered);
		if (rc < 0)
			return rc;
		held->mem = sp__pages_alloc(l->write_bytes, false);
		if (!held->mem || sp__run_new(&held->run, &held->h.j->env.budget) < 0)
			return sp__err(held->h.j->env.err, -ENOMEM, "allocate", NULL, -1);
		held->writing = true;
		rc = sp__runwriter_open(&held->writer, held->h.spill, held->run, held->mem,
					l->write_bytes, NULL, NULL);
	}
	held->bytes += bytes;
	return rc < 0 || !bytes ? rc : sp__runwriter_put(&held->writer, data, bytes);
}

int sp__held_open(struct sp__held *held, struct sp__join *j, const struct sp__join_layout *layout)
{
	int rc = sp__emit_init(&held->emit, &j->opts, j->env.err);

	held->h.j = j;
	held->h.layout = *layout;
	for (int i = 0; i < 2; i++)
		held->emit.auto_fields[i] = j->result.emit.auto_fields[i];
	held->emit.sink = to_space;
	held->emit.sink_arg = held;
	return rc;
}

/* Copies the records back from temporary space, as bytes. */
static int write_run(struct sp__held *held, struct sp__emit *to)
{
	const struct sp_recfmt bytes = { .kind = SP_REC_FIXED, .fixed_bytes = 1 };
	struct sp__runread r = { 0 };
	struct sp_batch batch;
	uint64_t back = 0;
	int rc = sp__runread_open(&r, held->h.spill, held->run, &bytes, true, held->mem,
				  held->h.layout.write_bytes);

	while (!rc && (rc = sp__runread_next(&r, &batch)) == SP_READY) {
		sp__emit_raw(to, batch.data, batch.bytes);
		back += batch.bytes;
		rc = to->error;
	}
	sp__runread_close(&r);
	return rc ? rc : sp__balance_bytes(held->h.j, "records held", held->bytes, back);
}

int sp__held_write(struct sp__held *held)
{
	struct sp__emit *e = &held->emit, *to = &held->h.j->result.emit;
	int rc;

	to->records += e->records;
	if (!held->writing) {
		sp__emit_raw(to, e->buf, (size_t)(e->at - e->buf));
		return e->error ? e->error : to->error;
	}
	rc = sp__emit_flush(e);
	if (!rc)
		rc = sp__runwriter_finish(&held->writer);
	return rc < 0 ? rc : write_run(held, to);
}

void sp__held_close(struct sp__held *held)
{
	if (held->writing)
		sp__runwriter_close(&held->writer);
	sp__run_free(held->run);
	sp__hash_note_spill(&held->h);
	sp__spill_close(held->h.spill);
	if (held->mem)
		sp__pages_free(held->mem, held->h.layout.write_bytes);
	sp__emit_release(&held->emit);
}
