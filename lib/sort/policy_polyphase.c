/* SPDX-License-Identifier: MIT */
/*
 * Polyphase merging with horizontal distribution (Knuth volume 3, section 5.4.2,
 * algorithm D).  Tapes are queues of runs: fan_in of them are read, one is written
 * to; when one that is read has been emptied it is written to next.
 *
 * Distribution.  The numbers of runs on the tapes aim at the next generalised
 * Fibonacci distribution; missing runs are dummies, counted and spread as evenly as
 * possible.  Merging.  One run or dummy from each tape; only dummies make a dummy.  A
 * single run among dummies is moved to the output tape without copying, which is
 * possible on a disk, unlike on tapes.  For the same reason the final merge comes as
 * soon as no more than fan_in runs are left.
 *
 * The output is in order, but runs that are not neighbours in age are merged, so equal
 * records lose their order.
 */
#include <errno.h>
#include <stdlib.h>
#include "sort/policy_impl.h"

struct sp__tape {
	uint64_t aim;	  /* A of algorithm D */
	uint64_t dummies; /* D of algorithm D */
	struct sp__runs runs;
};

int sp__polyphase_init(struct sp__policy *p)
{
	p->tape = calloc(p->fan_in + 1, sizeof(*p->tape));
	if (!p->tape)
		return -ENOMEM;
	for (unsigned j = 0; j < p->fan_in; j++)
		p->tape[j].aim = p->tape[j].dummies = 1;
	return 0;
}

void sp__polyphase_release(struct sp__policy *p)
{
	for (unsigned j = 0; p->tape && j <= p->fan_in; j++)
		free(p->tape[j].runs.run);
	free(p->tape);
}

uint64_t sp__polyphase_runs(const struct sp__policy *p)
{
	uint64_t n = 0;

	for (unsigned j = 0; j <= p->fan_in; j++)
		n += p->tape[j].runs.count - p->tape[j].runs.head;
	return n;
}

/* Step D4: the next perfect distribution. */
static void next_level(struct sp__policy *p)
{
	uint64_t first = p->tape[0].aim;

	for (unsigned j = 0; j < p->fan_in; j++) {
		struct sp__tape *t = &p->tape[j];
		uint64_t aim = first + t[1].aim;

		t->dummies = aim - t->aim;
		t->aim = aim;
	}
	p->at = 0;
}

/*
 * Steps D2 and D3.  The tape for the next run is chosen when the run is there,
 * so that input that has ended leaves the smaller distribution.
 */
int sp__polyphase_add(struct sp__policy *p, struct sp__policy_run run)
{
	struct sp__tape *t;
	int rc;

	if (p->started)
		return SP_ESTATE;
	if (p->tape[0].runs.count) {
		t = &p->tape[p->at];
		if (t[0].dummies < t[1].dummies)
			p->at++;
		else if (t[0].dummies == 0)
			next_level(p);
		else
			p->at = 0;
	}
	t = &p->tape[p->at];
	rc = sp__runs_push(&t->runs, run);
	if (rc == 0)
		t->dummies--;
	return rc;
}

/* Step D6: the tape just emptied is written to, what was written is read. */
static void rotate(struct sp__policy *p)
{
	struct sp__tape written = p->tape[p->fan_in];
	struct sp__runs *empty = &p->tape[p->fan_in - 1].runs;

	empty->head = empty->count = 0;
	for (unsigned j = p->fan_in; j > 0; j--)
		p->tape[j] = p->tape[j - 1];
	p->tape[0] = written;
}

static bool emptied(const struct sp__tape *t)
{
	return t->dummies == 0 && t->runs.head == t->runs.count;
}

/*
 * Takes a run or a dummy from each tape; returns how many runs.  The last of
 * them is left in *last.
 */
static unsigned draw(struct sp__policy *p, unsigned *ids, struct sp__policy_run *last)
{
	unsigned n = 0;

	p->level = 0;
	for (unsigned j = 0; j < p->fan_in; j++) {
		struct sp__tape *t = &p->tape[j];

		if (t->dummies) {
			t->dummies--;
			continue;
		}
		*last = t->runs.run[t->runs.head++];
		ids[n++] = last->id;
		if (p->level < last->level)
			p->level = last->level;
	}
	p->level++;
	return n;
}

static unsigned draw_all(struct sp__policy *p, unsigned *ids, struct sp__policy_step *step)
{
	unsigned n = 0;

	step->final = true;
	for (unsigned j = 0; j <= p->fan_in; j++) {
		struct sp__runs *r = &p->tape[j].runs;

		for (; r->head < r->count; r->head++) {
			if (step->level < r->run[r->head].level)
				step->level = r->run[r->head].level;
			ids[n++] = r->run[r->head].id;
		}
	}
	step->level++;
	return n;
}

unsigned sp__polyphase_next(struct sp__policy *p, unsigned *ids, struct sp__policy_step *step)
{
	struct sp__policy_run only;
	unsigned n;

	p->started = true;
	if (sp__polyphase_runs(p) <= p->fan_in)
		return draw_all(p, ids, step);
	for (;;) {
		while (emptied(&p->tape[p->fan_in - 1]))
			rotate(p);
		n = draw(p, ids, &only);
		if (n > 1)
			break;
		if (n == 0)
			p->tape[p->fan_in].dummies++;
		else if (sp__runs_push(&p->tape[p->fan_in].runs, only))
			break; /* No memory: then it is copied. */
	}
	step->level = p->level;
	p->open = true;
	return n;
}

int sp__polyphase_merged(struct sp__policy *p, struct sp__policy_run made)
{
	if (!p->open)
		return SP_ESTATE;
	p->open = false;
	return sp__runs_push(&p->tape[p->fan_in].runs, made);
}
