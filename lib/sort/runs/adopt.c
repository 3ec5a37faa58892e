/* SPDX-License-Identifier: MIT */
/*
 * Adopts the runs of an interrupted sort, after reading and verifying them.
 */
#include "base/array.h"
#include "base/err.h"
#include "sort/runs/step.h"
#include "spill/runimage.h"

/* Reads all pages of a run.  Returns 1, 0 if they are not as they were written, or an error. */
static int verify(struct sp__spilled *spilled, unsigned id, struct sp__freemem where)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__step_inputs in = { 0 };
	struct sp__cursor cursor = { 0 };
	struct sp__spill *reader;
	const char *data;
	size_t bytes;
	int rc = sp__spill_reader_open(&reader, spilled->store, &err);

	if (rc < 0) {
		*spilled->sort->env.err = err;
		return rc;
	}
	rc = sp__step_open(spilled, reader, &in, &id, NULL, 1, where, &cursor);
	while (!rc && (rc = cursor.feed.get(cursor.feed.ctx, 0, true, &data, &bytes)) == SP_READY)
		rc = cursor.feed.release(cursor.feed.ctx, 0);
	sp__step_close(spilled, &in);
	sp__spill_reader_close(reader, spilled->store);
	if (!rc || rc == SP_ECORRUPT)
		return !rc;
	*spilled->sort->env.err = err;
	return rc;
}

/* Adopts a run.  Returns 1, 0 if it cannot be used, or an error. */
static int adopt(struct sp__spilled *spilled, const struct sp__kept_run *f,
		 struct sp__freemem where)
{
	struct sp__sort_shared *s = spilled->sort;
	struct sp__run *run;
	size_t id = spilled->nruns;
	int rc = sp__run_from_image(&run, &s->env.budget, 0, f->image, f->bytes);

	if (rc == -EINVAL)
		return 0;
	if (rc < 0)
		return sp__err(s->env.err, rc, "allocate", NULL, -1);
	if (!SP__ARRAY_GROW(spilled->runs, spilled->runs_cap, id + 1)) {
		sp__run_free(run);
		return sp__err(s->env.err, -ENOMEM, "allocate", NULL, -1);
	}
	spilled->runs[id] = run;
	rc = verify(spilled, (unsigned)id, where);
	if (rc > 0 && sp__resume_add_found(spilled->resume, id, &f->has) < 0)
		rc = -ENOMEM;
	if (rc <= 0) {
		sp__run_free(run);
		return rc;
	}
	if (!run->lastkeys)
		spilled->lastkey_fn = NULL;
	rc = sp__runs_add(spilled, run);
	if (rc < 0)
		return rc;
	s->stats.spilled_runs--;
	return 1;
}

/* Drops last keys unless all runs have them: reading by last keys needs those of all runs. */
static void drop_keys(struct sp__spilled *spilled)
{
	for (size_t i = 0; !spilled->lastkey_fn && i < spilled->nruns; i++)
		sp__run_drop_keys(spilled->runs[i]);
}

int sp__runs_adopt(struct sp__spilled *spilled, struct sp__freemem where)
{
	struct sp__resume *r = spilled->resume;
	size_t used = 0;
	int rc = 1;

	if (r->nfound) {
		rc = sp__runs_open_spill(spilled);
		if (rc < 0)
			return rc;
		for (rc = 1;
		     rc > 0 && used < r->nfound && r->found[used].has.from == r->covered_bytes;
		     used += rc > 0)
			rc = adopt(spilled, &r->found[used], where);
		drop_keys(spilled);
	}
	sp__resume_adopted(r, used == r->nfound);
	return rc < 0 ? rc : 0;
}
