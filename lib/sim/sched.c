/* SPDX-License-Identifier: MIT */
/*
 * Implements queues and merging for all schedulers, and the schedulers without deadlines; parses
 * schedulers and their parameters.
 *
 * A request merges with one that ends where it starts, or starts where it ends.  If it closes the
 * gap between two, they become one, and the older one keeps its position in the queue and its
 * deadline.
 */
#include <stdio.h>
#include <string.h>
#include "base/err.h"
#include "base/keyval.h"
#include "sim/sched.h"

/*
 * The schedulers without deadlines.  clook and sstf measure distances from the end of the last
 * request, like the simulator that produced the oracle files.
 */
static struct sp__blockreq *noop_pick(struct sp__sched *s, uint64_t now_ns)
{
	(void)now_ns;
	return TAILQ_FIRST(&s->fifos[0].requests);
}

/*
 * Picks upwards from the end of the last request, or downwards from its start.  The sweep reverses
 * to all requests that it cannot reach, so a request that overlaps the last one is not lost.
 */
static struct sp__blockreq *look_pick(struct sp__sched *s, uint64_t now_ns)
{
	struct sp__blockreq *r;

	(void)now_ns;
	if (s->down)
		r = sp__reqtree_below(s->trees[0], s->at);
	else
		r = sp__reqtree_ceil(s->trees[0], s->head);
	if (r)
		return r;
	s->down = !s->down;
	if (s->down)
		return sp__reqtree_below(s->trees[0], s->head);
	return sp__reqtree_ceil(s->trees[0], s->at);
}

static struct sp__blockreq *clook_pick(struct sp__sched *s, uint64_t now_ns)
{
	struct sp__blockreq *r = sp__reqtree_ceil(s->trees[0], s->head);

	(void)now_ns;
	return r ? r : sp__reqtree_ceil(s->trees[0], 0);
}

static struct sp__blockreq *sstf_pick(struct sp__sched *s, uint64_t now_ns)
{
	struct sp__blockreq *above = sp__reqtree_ceil(s->trees[0], s->head);
	struct sp__blockreq *below = sp__reqtree_below(s->trees[0], s->head);

	(void)now_ns;
	if (!below)
		return above;
	/* If several start there, the first submitted. */
	below = sp__reqtree_ceil(s->trees[0], below->start);
	if (!above || s->head - below->start < above->start - s->head)
		return below;
	if (s->head - below->start > above->start - s->head)
		return above;
	return below->seq < above->seq ? below : above;
}

const struct sp__sched_ops sp__sched_noop = {
	.name = "noop",
	.params = "",
	.pick = noop_pick,
};

const struct sp__sched_ops sp__sched_look = {
	.name = "look",
	.params = "",
	.sorted = true,
	.pick = look_pick,
};

const struct sp__sched_ops sp__sched_clook = {
	.name = "clook",
	.params = "",
	.sorted = true,
	.pick = clook_pick,
};

const struct sp__sched_ops sp__sched_sstf = {
	.name = "sstf",
	.params = "",
	.sorted = true,
	.pick = sstf_pick,
};

/*
 * Parses a scheduler and its parameters: NAME[:KEY=VALUE[/VALUE...][/KEY=...]].
 *
 * A slash separates both parameters and values, so that the text can be an element of a list
 * separated by commas.
 */

#define DAY_NS (UINT64_C(86400) * 1000000000)
#define COUNT_MAX 1000000
#define SEPARATORS "/,"

/* Reads up to SP__SCHED_LEVELS_MAX numbers from 1 to max. */
static bool take_list(const char *value, const struct sp__unit *units, uint64_t max, uint64_t *to,
		      unsigned *n)
{
	for (*n = 0; *n < SP__SCHED_LEVELS_MAX; value++) {
		uint64_t *v = &to[(*n)++];

		if (!sp__number_take(&value, units, v) || !*v || *v > max)
			return false;
		if (!*value)
			return true;
		if (!strchr(SEPARATORS, *value))
			return false;
	}
	return false;
}

static bool set_levels(void *params, const char *value)
{
	struct sp__sched_params *p = params;

	return take_list(value, sp__unit_time, DAY_NS, p->level_expire_ns, &p->levels);
}

static bool set_pool(void *params, const char *value)
{
	struct sp__sched_params *p = params;

	return take_list(value, sp__unit_none, COUNT_MAX, p->pool, &p->npool);
}

static const char time_form[] = "a time above 0, such as 0.25, 500ms or 3s";
static const char count_form[] = "a number from 1 to 1000000";

#define AT(member) SP__KEY_AT(struct sp__sched_params, member)
#define TIME time_form, SP__KEY_NUMBER
#define COUNT count_form, SP__KEY_NUMBER
static const struct sp__setting keys[] = {
	{ "read", TIME, AT(read_expire_ns), 1, DAY_NS, sp__unit_time },
	{ "write", TIME, AT(write_expire_ns), 1, DAY_NS, sp__unit_time },
	{ "aging", TIME, AT(aging_ns), 1, DAY_NS, sp__unit_time },
	{ "batch", COUNT, AT(batch), 1, COUNT_MAX },
	{ "starved", COUNT, AT(writes_starved), 1, COUNT_MAX },
	{ "group", COUNT, AT(group), 1, COUNT_MAX },
	{ "queues", "a number from 1 to 7", SP__KEY_NUMBER, AT(levels), 1, 7 },
	{ "open", "0 or 1", SP__KEY_FLAG, AT(open) },
	{ "levels", "1 to 8 times above 0, such as 0.25/3/12", .set = set_levels, .list = true },
	{ "pool", "1 to 8 numbers from 1 to 1000000, such as 85/71", .set = set_pool,
	  .list = true },
	{ NULL },
};

static int unknown(struct sp_errinfo *err, const char *spec, size_t len)
{
	char list[SP_ERRINFO_TEXT_MAX];
	size_t n = 0;
	unsigned i;

	for (i = 0; sp__sched_list(i) && n < sizeof(list); i++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", i ? ", " : "",
				      sp__sched_list(i)->name);
	return sp__errf(err, SP_ESYNTAX, "open", spec, -1, "unknown scheduler '%.*s' (known: %s)",
			(int)(len < 64 ? len : 64), spec, list);
}

int sp__sched_parse(const char *text, const struct sp__sched_ops **ops,
		    struct sp__sched_params *params, struct sp_errinfo *err)
{
	size_t len = strcspn(text, ":");
	unsigned i = 0;

	while ((*ops = sp__sched_list(i++)) != NULL)
		if (strlen((*ops)->name) == len && !memcmp(text, (*ops)->name, len))
			break;
	if (!*ops)
		return unknown(err, text, len);
	*params = (*ops)->defaults;
	if (!text[len])
		return 0;
	return sp__keyval_parse(
		&(struct sp__keytext){ (*ops)->name, SEPARATORS, keys, (*ops)->params }, params,
		text + len + 1, err);
}

static const struct sp__sched_ops *const schedulers[] = {
	&sp__sched_noop,     &sp__sched_look,	       &sp__sched_clook,   &sp__sched_sstf,
	&sp__sched_deadline, &sp__sched_deadline_prio, &sp__sched_promote, &sp__sched_strict,
};

const struct sp__sched_ops *sp__sched_list(unsigned i)
{
	return i < sizeof(schedulers) / sizeof(*schedulers) ? schedulers[i] : NULL;
}

int sp__sched_open(struct sp__sched *s, const char *text, struct sp_errinfo *err)
{
	int rc;

	memset(s, 0, sizeof(*s));
	rc = sp__sched_parse(text, &s->ops, &s->params, err);
	if (rc)
		return rc;
	s->sorted = s->ops->sorted;
	for (unsigned i = 0; i < SP__SCHED_FIFOS_MAX; i++)
		TAILQ_INIT(&s->fifos[i].requests);
	if (s->ops->init)
		s->ops->init(s);
	s->batched = s->params.batch; /* no batch is open */
	return 0;
}

enum sp__prioclass sp__prio_class(uint16_t prio)
{
	unsigned class = prio >> 13;

	return class == SP__PRIO_NONE || class > SP__PRIO_IDLE ? SP__PRIO_BE : class;
}

static struct sp__blockreq **tree_of(struct sp__sched *s, const struct sp__blockreq *r)
{
	return &s->trees[s->ops->tree ? s->ops->tree(s, r) : 0];
}

unsigned sp__sched_by_direction(const struct sp__sched *s, const struct sp__blockreq *r)
{
	(void)s;
	return r->write;
}

unsigned sp__sched_fifo(const struct sp__sched *s, const struct sp__blockreq *r)
{
	return s->ops->fifo ? s->ops->fifo(s, r) : 0;
}

struct sp__fifo *sp__sched_queue(struct sp__sched *s, unsigned number)
{
	return &s->fifos[(number + s->promoted) % SP__SCHED_FIFOS_MAX];
}

void sp__sched_add(struct sp__sched *s, struct sp__blockreq *r, uint64_t now_ns)
{
	struct sp__fifo *f = sp__sched_queue(s, sp__sched_fifo(s, r));

	r->fifo = (uint8_t)(f - s->fifos);
	r->added_ns = now_ns;
	r->expire_ns = s->ops->expire ? now_ns + s->ops->expire(s, r) : SP__NEVER;
	TAILQ_INSERT_TAIL(&f->requests, r, link);
	f->n++;
	s->n++;
	if (s->sorted)
		sp__reqtree_insert(tree_of(s, r), r);
}

static void take(struct sp__sched *s, struct sp__blockreq *r)
{
	struct sp__fifo *f = &s->fifos[r->fifo];

	TAILQ_REMOVE(&f->requests, r, link);
	f->n--;
	s->n--;
	if (s->sorted)
		sp__reqtree_erase(tree_of(s, r), r);
}

struct sp__blockreq *sp__sched_next(struct sp__sched *s, uint64_t now_ns)
{
	struct sp__blockreq *r = s->n ? s->ops->pick(s, now_ns) : NULL;

	if (r)
		take(s, r);
	return r;
}

void sp__sched_dispatched(struct sp__sched *s, const struct sp__blockreq *r)
{
	s->at = r->start;
	s->head = r->end;
	s->inside[sp__prio_class(r->prio)]++;
}

void sp__sched_done(struct sp__sched *s, const struct sp__blockreq *r)
{
	s->inside[sp__prio_class(r->prio)]--;
}

bool sp__sched_alike(const struct sp__sched *s, const struct sp__blockreq *a,
		     const struct sp__blockreq *b)
{
	return a->write == b->write && sp__prio_class(a->prio) == sp__prio_class(b->prio) &&
	       sp__sched_fifo(s, a) == sp__sched_fifo(s, b) &&
	       a->end - a->start + (b->end - b->start) <= s->merge_blocks_max;
}

void sp__blockreq_join(struct sp__blockreq *a, struct sp__blockreq *b)
{
	if (a->end == b->start)
		a->end = b->end;
	else
		a->start = b->start;
	a->last->merged = b;
	a->last = b->last;
}

/*
 * Returns the waiting request that can grow by r and is adjacent to it, above or below; NULL: none.
 */
static struct sp__blockreq *neighbour(struct sp__sched *s, const struct sp__blockreq *r, bool above)
{
	struct sp__blockreq *tree = *tree_of(s, r);
	struct sp__blockreq *c;

	c = above ? sp__reqtree_ceil(tree, r->end) : sp__reqtree_below(tree, r->start);
	if (!c || c->batch || (above ? c->start != r->end : c->end != r->start))
		return NULL;
	return sp__sched_alike(s, c, r) ? c : NULL;
}

/* Enlarges c, which waits, by r; its position in the tree is its start. */
static void grow(struct sp__sched *s, struct sp__blockreq *c, struct sp__blockreq *r)
{
	bool moves = c->start == r->end;

	if (moves)
		sp__reqtree_erase(tree_of(s, c), c);
	sp__blockreq_join(c, r);
	if (moves)
		sp__reqtree_insert(tree_of(s, c), c);
}

struct sp__blockreq *sp__sched_merge(struct sp__sched *s, struct sp__blockreq *r,
				     struct sp__blockreq **absorbed)
{
	struct sp__blockreq *c = neighbour(s, r, false), *other;
	bool below = c;

	*absorbed = NULL;
	if (!c)
		c = neighbour(s, r, true);
	if (!c)
		return NULL;
	grow(s, c, r);
	other = neighbour(s, c, below);
	if (!other)
		return c;
	/* The older one keeps its position in the queue, and its deadline. */
	if (other->seq < c->seq) {
		struct sp__blockreq *t = c;

		c = other;
		other = t;
	}
	take(s, other);
	grow(s, c, other);
	*absorbed = other;
	return c;
}
