/* SPDX-License-Identifier: MIT */
/*
 * Sorts whose input fits in memory, on machines where touching memory is cheap, or dear, or dear
 * but temporary space costlier: the costs that tasks measure are replaced by given ones.  The
 * result is the same, and slots are withdrawn, or not.
 */
#define TAP_THREADS

#include <stdio.h>
#include "base/rng.h"
#include "keysets.h"
#include "sort/state.h"
#include "tap.h"

#define LINES 700000
#define BYTES 100
#define BATCH 5000 /* lines */

static const char *const tmp[] = { "/tmp" };
/* A loaded machine that stores slowly is still far from dear. */
static const struct sp__cost cheap = { 1000000, 16 << 20 }, dear = { 80000000000, 16 << 20 },
			     costlier = { 8000000000000, 16 << 20 };

struct seen {
	unsigned withdrawn; /* most */
	bool reclaimed;
};

/* The costs are set while no task runs. */
static int put(struct sp_sort *s, struct sp__rng *rng, struct sp__cost touching,
	       struct sp__cost storing, struct seen *seen)
{
	static char text[BATCH * BYTES + 1];
	struct sp_batch batch = { text, BATCH * BYTES };
	unsigned before = s->forming.withdrawn;
	int rc;

	for (unsigned i = 0; i < BATCH; i++)
		snprintf(text + (size_t)i * BYTES, BYTES + 1, "%020llu%079d\n",
			 (unsigned long long)sp__rng_next(rng), 0);
	rc = sp__form_join(&s->forming);
	s->forming.touching = touching;
	if (s->forming.storing.bytes)
		s->forming.storing = storing;
	if (!rc)
		rc = sp__sort_put_all(s, &batch);
	seen->withdrawn =
		s->forming.withdrawn > seen->withdrawn ? s->forming.withdrawn : seen->withdrawn;
	seen->reclaimed |= before && !s->forming.withdrawn;
	return rc < 0 ? rc : 0;
}

static bool in_order(struct sp_sort *s)
{
	char last[BYTES] = "";
	unsigned n = 0;
	struct sp_batch b;
	int rc;

	while ((rc = sp__sort_get_next(s, &b)) == SP_READY)
		for (const char *p = b.data; p < b.data + b.bytes; p += BYTES, n++) {
			if (memcmp(last, p, BYTES) > 0)
				return false;
			memcpy(last, p, BYTES);
		}
	return rc == SP_END && n == LINES;
}

static struct seen sort(const struct sp_keyset *ks, struct sp__cost touching,
			struct sp__cost storing, uint64_t *spilled)
{
	struct sp_sort_opts o = SP_SORT_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__rng rng = { 5 };
	struct seen seen = { 0 };
	struct sp_sort *s;
	int rc;

	o.format = (struct sp_recfmt){ .kind = SP_REC_LINE, .eol = '\n' };
	o.keys = ks;
	o.run.memory_bytes = 256 << 20;
	o.run.parallel = 2;
	o.run.tmpdirs = tmp;
	o.run.ntmpdirs = 1;
	o.input_bytes = (uint64_t)LINES * BYTES;
	o.record_bytes = BYTES;
	rc = sp_sort_new(&s, &o, &err);
	if (rc)
		abort();
	for (unsigned i = 0; i < LINES / BATCH && !rc; i++)
		rc = put(s, &rng, touching, storing, &seen);
	if (!rc)
		rc = sp_sort_finish(s);
	ok(rc >= 0 && in_order(s), "the result is whole and in order (%s)", err.text);
	*spilled = s->spilled.nruns;
	sp_sort_free(s);
	return seen;
}

int main(void)
{
	struct sp_keyset *ks = order_open(&orders[0]);
	uint64_t spilled;
	struct seen seen = sort(ks, cheap, cheap, &spilled);

	ok(!seen.withdrawn && !spilled, "cheap memory is used");
	seen = sort(ks, dear, cheap, &spilled);
	ok(seen.withdrawn && !seen.reclaimed && spilled,
	   "costly memory is not: %u slots are withdrawn", seen.withdrawn);
	seen = sort(ks, dear, costlier, &spilled);
	ok(seen.withdrawn && seen.reclaimed && spilled,
	   "but it is where temporary space proves costlier");
	sp_keyset_free(ks);
	return done();
}
