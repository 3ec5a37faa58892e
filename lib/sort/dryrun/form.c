/* SPDX-License-Identifier: MIT */
/*
 * Forms the runs of a dry run: by load, sort, store, or by replacement selection.
 *
 * Load, sort, store: the last chunks of a run are written while the next one is loaded, and the
 * chunk that is not full goes out when the next run begins (form/store.c).
 *
 * Replacement selection: when the memory is full, each batch that is sorted makes as many bytes
 * leave it.  With random input the first run is e - 1 times as long as the memory holds, and the
 * others are twice as long.  At the end of the input the present run gets those records in memory
 * that come after its last one.  Two batches for each in memory come while a run is formed, and
 * each leaves a strip of this run and one of the next, which last to the end: on average three
 * strips for each batch in memory are merged.
 */
#include <math.h>
#include "base/minmax.h"
#include "sort/dryrun/impl.h"
#include "sort/select/replace.h"

#define FIRST_RUN (1.718281828 / 2)
#define LENGTH_SPREAD 0.05
#define STRIPS_PER_BATCH 3

/* Reads bytes of the input. */
static int fill(struct sp__drysort *t, uint64_t bytes)
{
	int rc = 0;

	while (!rc && bytes) {
		uint64_t n;

		if (!t->input)
			rc = sp__dryinput_next(&t->in, &t->input);
		n = sp__min(t->input, bytes);
		if (!n)
			break;
		sp__charge_work(&t->env, sp__drysort_records(t, n), 0, n);
		t->input -= n;
		t->taken += n;
		bytes -= n;
	}
	return rc;
}

/* Reads and sorts bytes of the input. */
static int load(struct sp__drysort *t, uint64_t bytes)
{
	int rc = fill(t, bytes);

	sp__charge_sorting(&t->env, (uint64_t)((double)bytes / t->s->record_bytes));
	return rc;
}

static int load_run(struct sp__drysort *t, unsigned id, uint64_t *bytes, bool *last)
{
	const struct sp__sort_sizes *s = t->s;
	uint64_t left = t->bytes - t->taken;
	uint64_t n = id + 1 < s->runs ? sp__min(left, (uint64_t)s->run_bytes) : left;
	int rc = load(t, n);

	*last = n == left;
	if (rc < 0 || (*last && s->kept_bytes > 0))
		return rc;
	*bytes = (uint64_t)fmin((double)n, s->max_bytes);
	rc = sp__drysort_begin_run(t, id, 0);
	sp__charge_work(&t->env, 0, 0, *bytes);
	return rc < 0 ? rc : sp__runwriter_skip(&t->write, *bytes);
}

/* Writes bytes from memory to the present run. */
static int select_some(struct sp__drysort *t, uint64_t bytes, unsigned strips)
{
	int rc = 0;

	t->held -= bytes;
	while (!rc && bytes) {
		uint64_t n = sp__min(bytes, sp__drysort_slice(t));

		sp__drysort_charge(t, n, strips);
		rc = sp__runwriter_skip(&t->write, n);
		bytes -= n;
	}
	return rc;
}

/*
 * Adds a batch if the memory has free space.  After the last one *end becomes the end of the
 * present run, which is `length` long now.
 */
static int add_batch(struct sp__drysort *t, double capacity, uint64_t length, uint64_t *end)
{
	uint64_t n = sp__min(t->bytes - t->taken, (uint64_t)sp__sort_batch_bytes(t->s));
	int rc;

	if ((double)t->held > capacity || t->drains)
		return 0;
	rc = load(t, n);
	t->held += n;
	t->drains = t->taken == t->bytes;
	if (t->drains)
		*end = length +
		       (uint64_t)((double)t->held * (1 - fmin((double)length / (double)*end, 1)));
	return rc;
}

static int select_run(struct sp__drysort *t, unsigned id, uint64_t *bytes, bool *last)
{
	const double all = sp__replace_run_bytes(t->s->plan->run_bytes), length = all / t->scale;
	const unsigned strips = (unsigned)(STRIPS_PER_BATCH * all / 2 / sp__sort_batch_bytes(t->s));
	double spread = 1 + LENGTH_SPREAD * (2 * sp__rng_real(&t->rng) - 1);
	uint64_t end = (uint64_t)(length * spread * (id ? 1 : FIRST_RUN)), n;
	int rc;

	/* The policy learns that the input has ended only after the last run (form/select.c). */
	*last = t->drains && !t->held;
	if (*last)
		return 0;
	rc = sp__drysort_begin_run(t, id, 0);
	while (!rc && *bytes < end && !(t->drains && !t->held)) {
		rc = add_batch(t, length / 2, *bytes, &end);
		n = t->drains ? 0 : (uint64_t)(length / 2);
		n = sp__min(t->held - sp__min(t->held, n), end - *bytes);
		if (!rc)
			rc = select_some(t, n, strips);
		*bytes += n;
	}
	return rc < 0 ? rc : sp__drysort_end_run(t);
}

int sp__drysort_form(void *drysort, unsigned id, uint64_t *bytes, bool *last)
{
	struct sp__drysort *t = drysort;

	*bytes = 0;
	return t->s->plan->formation == SP_FORM_LOAD ? load_run(t, id, bytes, last)
						     : select_run(t, id, bytes, last);
}

int sp__drysort_in_memory(struct sp__drysort *t, unsigned *strips)
{
	const uint64_t all = t->bytes;
	bool batches = !t->s->plan->in_memory && t->s->plan->formation == SP_FORM_REPLACEMENT;
	uint64_t each = batches ? (uint64_t)sp__sort_batch_bytes(t->s) : all;
	int rc = 0;

	for (*strips = 0; !rc && t->taken < all; ++*strips)
		rc = load(t, sp__min(each, all - t->taken));
	return rc;
}
