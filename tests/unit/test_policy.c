/* SPDX-License-Identifier: MIT */
/*
 * Merge policies over runs that are intervals of age: whatever is merged must
 * be put together again in order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "sort/plan/policy.h"
#include "tap.h"

#define MAX_RUNS 3000
#define MAX_FAN_IN 20

/* A run: the initial runs it is made of, and how often it has been merged. */
struct run {
	bool alive;
	unsigned first, last; /* initial runs, if they are neighbours */
	unsigned initial;     /* how many */
	unsigned passes;
	unsigned level;
	uint64_t bytes;
};

struct course {
	struct run run[2 * MAX_RUNS];
	unsigned runs;
	unsigned merges;     /* the final one included */
	unsigned passes;     /* most that a byte took part in */
	uint64_t moved;	     /* bytes read by all merges */
	bool ordered, sound; /* neighbours only; every run used once */
	bool full;	     /* no merge but the first had less than full fan-in */
	unsigned result;     /* initial runs in the last merge */
};

static unsigned merge(struct course *c, const unsigned *ids, unsigned n, unsigned level)
{
	struct run *made = &c->run[c->runs];

	*made = (struct run){ .alive = true, .first = c->run[ids[0]].first, .level = level };
	for (unsigned i = 0; i < n; i++) {
		struct run *r = &c->run[ids[i]];

		c->sound &= r->alive && r->level < level;
		c->ordered &= i == 0 || r->first == made->last + 1;
		r->alive = false;
		made->last = r->last;
		made->initial += r->initial;
		made->bytes += r->bytes;
		if (made->passes < r->passes + 1)
			made->passes = r->passes + 1;
	}
	c->merges++;
	c->moved += made->bytes;
	return c->runs++;
}

static bool step(struct course *c, struct sp__policy *p, unsigned fan_in, bool ended)
{
	unsigned ids[MAX_FAN_IN], n, id;
	struct sp__policy_step s;

	n = sp__policy_next(p, ended, ids, MAX_FAN_IN, &s);
	if (n == 0)
		return false;
	c->sound &= n <= fan_in && (n > 1 || s.final) && (!s.final || ended);
	c->full &= n == fan_in || c->merges == 0;
	id = merge(c, ids, n, s.level);
	if (s.final) {
		c->result = c->run[id].initial;
		c->passes = c->run[id].passes;
		return false;
	}
	if (sp__policy_merged(p, id, c->run[id].bytes))
		abort();
	return true;
}

static struct course *follow(enum sp_merge_policy kind, unsigned fan_in, unsigned initial,
			     struct sp__rng *sizes)
{
	struct course *c = calloc(1, sizeof(*c));
	bool foreseen = !sizes || sp__rng_below(sizes, 2); /* the end of the input */
	struct sp__policy *p;

	c->ordered = c->sound = c->full = true;
	if (sp__policy_new(&p, kind, fan_in, !sp__policy_polyphase(kind)))
		abort();
	for (unsigned i = 0; i < initial; i++) {
		uint64_t bytes = sizes ? 1 + sp__rng_below(sizes, 1000) : 1;

		c->run[c->runs] = (struct run){ true, i, i, 1, 0, 0, bytes };
		if (sp__policy_add(p, c->runs++, bytes))
			abort();
		while ((i + 1 < initial || !foreseen) && step(c, p, fan_in, false))
			;
	}
	while (step(c, p, fan_in, true))
		;
	sp__policy_free(p);
	return c;
}

static unsigned log_up(unsigned runs, unsigned fan_in)
{
	unsigned passes = 1;

	for (uint64_t reach = fan_in; reach < runs; reach *= fan_in)
		passes++;
	return passes;
}

static void all_sound(enum sp_merge_policy kind, const char *name)
{
	struct sp__rng rng = { 42 };
	bool sound = true, ordered = true, complete = true;

	for (unsigned fan_in = 2; fan_in <= 12; fan_in++)
		for (unsigned runs = 1; runs < 150; runs += 1 + runs / 12) {
			struct course *c = follow(kind, fan_in, runs, &rng);

			sound &= c->sound;
			ordered &= c->ordered;
			complete &= c->result == runs;
			free(c);
		}
	ok(sound, "%s: every run is merged once, never more than the fan-in at a time", name);
	ok(complete, "%s: the last merge holds every initial run", name);
	if (!sp__policy_polyphase(kind))
		ok(ordered, "%s: only neighbours in age are merged, oldest first", name);
}

static void lazy(void)
{
	bool fewest = true, full = true, passes = true, best = true;
	struct course *c;

	for (unsigned f = 2; f <= 16; f++)
		for (unsigned r = 2; r < 400; r += 7) {
			c = follow(SP_MERGE_LAZY, f, r, NULL);
			fewest &= c->merges == (r - 1 + f - 2) / (f - 1);
			full &= c->full;
			/* No way of merging moves fewer bytes than this (Knuth 5.4.9). */
			passes &= c->passes <= log_up(r, f) + 1;
			best &= r > f || c->moved == r;
			free(c);
		}
	ok(fewest, "lazy: ceil((R - 1) / (F - 1)) merges");
	ok(full, "lazy: all merges but the first have full fan-in");
	ok(passes, "lazy: no byte is read more often than log_F R, rounded up, and once");
	ok(best, "lazy: up to F runs are read once");
	c = follow(SP_MERGE_LAZY, 10, 100, NULL);
	ok(c->passes == 2 && c->merges == 11 && c->moved == 200,
	   "lazy: 100 runs ten by ten: 2 passes");
	free(c);
	c = follow(SP_MERGE_LAZY, 10, 11, NULL);
	ok(c->merges == 2 && c->moved == 13,
	   "lazy: 11 runs ten by ten: two of them are merged first");
	free(c);
}

static void lazy_prefers_small_runs(void)
{
	static const uint64_t bytes[5] = { 900, 10, 20, 800, 700 };
	struct sp__policy_step s;
	struct sp__policy *p;
	unsigned ids[4], n;

	if (sp__policy_new(&p, SP_MERGE_LAZY, 4, true))
		abort();
	for (unsigned i = 0; i < 5; i++)
		if (sp__policy_add(p, i, bytes[i]))
			abort();
	ok(sp__policy_next(p, false, ids, 4, &s) == 0,
	   "lazy: nothing is merged before the input ends");
	n = sp__policy_next(p, true, ids, 4, &s);
	ok(n == 2 && ids[0] == 1 && ids[1] == 2 && !s.final && s.level == 1,
	   "lazy: the neighbours with the fewest bytes are merged first");
	ok(sp__policy_merged(p, 5, 30) == 0 && sp__policy_runs(p) == 4, "lazy: four runs remain");
	n = sp__policy_next(p, true, ids, 4, &s);
	ok(n == 4 && ids[0] == 0 && ids[1] == 5 && ids[2] == 3 && ids[3] == 4 && s.final &&
		   s.level == 2,
	   "lazy: the final merge names them by age");
	sp__policy_free(p);
}

/* At most cap runs at a time; afterwards everything continues unchanged. */
static void relieved(void)
{
	enum { CAP = 9, FAN_IN = 4, RUNS = 200 };
	struct course *c = calloc(1, sizeof(*c));
	struct sp__rng rng = { 7 };
	struct sp__policy_step s;
	struct sp__policy *p;
	unsigned ids[MAX_FAN_IN], n, id;
	bool kept = true;

	c->ordered = c->sound = c->full = true;
	if (sp__policy_new(&p, SP_MERGE_LAZY, FAN_IN, true))
		abort();
	ok(sp__policy_relieve(p, ids, FAN_IN, &s) == 0, "relief: no runs, no merge");
	for (unsigned i = 0; i < RUNS; i++) {
		uint64_t bytes = 1 + sp__rng_below(&rng, 1000);

		c->run[c->runs] = (struct run){ true, i, i, 1, 0, 0, bytes };
		if (sp__policy_add(p, c->runs++, bytes))
			abort();
		while (sp__policy_runs(p) > CAP) {
			n = sp__policy_relieve(p, ids, 3, &s);
			kept &= n == 3 && !s.final;
			id = merge(c, ids, n, s.level);
			if (sp__policy_merged(p, id, c->run[id].bytes))
				abort();
		}
	}
	while (step(c, p, FAN_IN, true))
		;
	ok(kept, "relief: merges take as many runs as are allowed, and none is final");
	ok(c->sound && c->ordered && c->result == RUNS,
	   "relief: the last merge still holds every run, in order");
	sp__policy_free(p);
	free(c);
}

static void eager(void)
{
	struct course *c;
	bool passes = true;

	c = follow(SP_MERGE_EAGER, 4, 64, NULL);
	ok(c->merges == 16 + 4 + 1 && c->passes == 3 && c->moved == 3 * 64,
	   "eager: 64 runs four by four: 16 + 4 + 1 merges, 3 passes");
	free(c);
	/* 3 levels of 3, 2, 3 runs: 3 of level 0, then 3 of level 1, then 4. */
	c = follow(SP_MERGE_EAGER, 4, 3 * 16 + 2 * 4 + 3, NULL);
	ok(c->merges == 14 + 3 + 1 + 1 + 1 && c->result == 59,
	   "eager: at the end level by level, the lowest first");
	free(c);
	for (unsigned f = 2; f <= 8; f++)
		for (unsigned r = 2; r < 300; r += 5) {
			c = follow(SP_MERGE_EAGER, f, r, NULL);
			passes &= c->passes <= log_up(r, f);
			free(c);
		}
	ok(passes, "eager: no byte is read more often than log_F R, rounded up");
}

/* Figure 4: a level is merged as soon as it holds N runs, and cascades. */
static void eager_counts(void)
{
	struct sp__policy_step s;
	struct sp__policy *p;
	unsigned ids[3], next = 100, count[8] = { 0 };
	bool right = true;

	if (sp__policy_new(&p, SP_MERGE_EAGER, 3, true))
		abort();
	for (unsigned i = 0; i < 27; i++) {
		if (sp__policy_add(p, i, 1))
			abort();
		count[0]++;
		for (unsigned level = 0; count[level] == 3; level++) {
			right &= sp__policy_next(p, false, ids, 3, &s) == 3 && s.level == level + 1;
			count[level] = 0;
			count[level + 1]++;
			right &= sp__policy_merged(p, next++, 1) == 0;
		}
		right &= sp__policy_next(p, false, ids, 3, &s) == 0;
	}
	ok(right, "eager: the counters of figure 4 of Wang & Cherniack");
	sp__policy_free(p);
}

/*
 * Perfect distributions of algorithm D, followed by hand.  Two at a time, 13 runs lie
 * as 8 and 5: 5 merges of 2, 3 of 3, 2 of 5, 1 of 8, and the final 13, in all 50 runs
 * read.  Five at a time, 33 lie as 8, 8, 7, 6, 4: 4 merges of 5, 2 of 9, 1 of 17, and 33.
 */
static void polyphase(void)
{
	static const struct {
		unsigned fan_in, runs, units;
	} perfect[] = {
		{ 2, 2, 2 }, { 2, 3, 5 },  { 2, 5, 12 },  { 2, 8, 25 },	 { 2, 13, 50 },
		{ 5, 5, 5 }, { 5, 9, 14 }, { 5, 17, 36 }, { 5, 33, 88 },
	};
	bool right = true;

	for (size_t i = 0; i < sizeof(perfect) / sizeof(perfect[0]); i++) {
		struct course *c =
			follow(SP_MERGE_POLYPHASE, perfect[i].fan_in, perfect[i].runs, NULL);

		right &= c->moved == perfect[i].units && c->full;
		free(c);
	}
	ok(right, "polyphase: perfect distributions are merged as by hand");
}

/*
 * Table 7 of Wang & Cherniack: all megabytes of runs are merged on each level.  439 runs are 1, 2,
 * 3, 1 and 3 of levels 4 to 0: the three of level 0 are merged, the two of level 1, the four of
 * level 2, the three of level 3, which are 183 of the 439, and the last two.  EAGER leaves these
 * 183 out.
 */
static void mms(void)
{
	struct course *c = follow(SP_MERGE_MMS, 4, 439, NULL),
		      *e = follow(SP_MERGE_EAGER, 4, 439, NULL);

	ok(c->moved == 5 * 439 && c->passes == 5, "mms: 439 runs four by four are read five times");
	ok(c->moved - e->moved == 183, "mms: eager merging leaves out the last level but one");
	free(c);
	free(e);
	c = follow(SP_MERGE_MMS, 4, 3, NULL);
	ok(c->merges == 1 && c->moved == 3, "mms: runs of one level are merged immediately");
	free(c);
}

/* The final merge of POLYPHASE makes a run, which is read once more. */
static void ppms(void)
{
	struct course *c = follow(SP_MERGE_PPMS, 5, 33, NULL);

	ok(c->moved == 88 + 33 && c->result == 33, "ppms: the result is a run, and is read");
	free(c);
	c = follow(SP_MERGE_PPMS, 5, 1, NULL);
	ok(c->moved == 1 && c->merges == 1, "ppms: a single run is only read");
	free(c);
}

static void refusals(void)
{
	struct sp__policy_step s;
	struct sp__policy *p;
	unsigned ids[2];

	ok(sp__policy_new(&p, SP_MERGE_POLYPHASE, 6, true) == SP_EUNSUP && !p &&
		   sp__policy_new(&p, SP_MERGE_PPMS, 6, true) == SP_EUNSUP && !p,
	   "polyphase merging is not stable and says so");
	ok(sp__policy_new(&p, SP_MERGE_LAZY, 1, true) == -EINVAL, "a fan-in of 1 is refused");
	ok(sp__policy_new(&p, SP_MERGE_AUTO, 4, true) == -EINVAL, "'auto' is not a policy");
	if (sp__policy_new(&p, SP_MERGE_LAZY, 2, true))
		abort();
	ok(sp__policy_next(p, true, ids, 2, &s) == 0, "without runs nothing is merged");
	ok(sp__policy_merged(p, 1, 1) == SP_ESTATE, "a merge that was not ordered is refused");
	if (sp__policy_add(p, 7, 1))
		abort();
	ok(sp__policy_next(p, true, ids, 2, &s) == 1 && ids[0] == 7 && s.final,
	   "a single run is the final merge by itself");
	sp__policy_free(p);
}

int main(void)
{
	all_sound(SP_MERGE_LAZY, "lazy");
	all_sound(SP_MERGE_EAGER, "eager");
	all_sound(SP_MERGE_POLYPHASE, "polyphase");
	all_sound(SP_MERGE_MMS, "mms");
	all_sound(SP_MERGE_PPMS, "ppms");
	lazy();
	lazy_prefers_small_runs();
	relieved();
	eager();
	eager_counts();
	polyphase();
	mms();
	ppms();
	refusals();
	return done();
}
