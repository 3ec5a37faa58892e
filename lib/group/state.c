/* SPDX-License-Identifier: MIT */
/*
 * What is kept of each group (state.h): adding records, and partial groups as bytes.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/minmax.h"
#include "group/bins.h"
#include "group/sketch.h"
#include "group/state.h"
#include "group/total.h"

#define TEXT_CODES (3 * SP__CODE_VARINT) /* of a text: its length, places and position */
#define SUM_CODES (2 * SP__CODE_VARINT)
#define LIMB_CODES (2 * SP__CODE_VARINT)
#define REALS_CODES (2 + SP__EXACTSUM_LIMBS * LIMB_CODES)
#define MOMENTS_CODES (18 * SP__CODE_VARINT)

static unsigned reals_of(const struct sp__group_argument *g)
{
	return (g->sum != 0) +
	       (g->moments ? g->second == UINT32_MAX ? SP__REALS_ALONE : SP__REALS : 0);
}

size_t sp__group_reals_bytes(const struct sp__group_spec *s)
{
	size_t n = 0;

	for (uint32_t i = 0; i < s->narguments; i++)
		n += reals_of(&s->arguments[i]) * (sizeof(struct sp__exactsum) + SP__ARENA_UNIT);
	return n;
}

size_t sp__group_growth(const struct sp__group_spec *s, const struct sp__group_arena *a,
			uint32_t at)
{
	size_t n = 0;

	for (uint32_t i = 0; i < s->narguments; i++)
		if (s->arguments[i].counts)
			n += sp__counts_growth(sp__group_part(a, at, s->arguments[i].counts)) +
			     SP__ARENA_UNIT;
	return n;
}

uint32_t sp__group_new(const struct sp__group_spec *s, struct sp__group_arena *a, const char *key,
		       size_t key_bytes, uint32_t tag)
{
	const size_t state = tag ? sizeof(struct sp__grouped) : s->state_bytes;
	const uint32_t at = sp__arena_take(a, state + key_bytes);
	struct sp__grouped *g = sp__arena_at(a, at);

	memset(g, 0, state);
	g->key_bytes = (uint32_t)key_bytes;
	g->tag = tag;
	memcpy((char *)g + state, key, key_bytes);
	return at;
}

/* Returns n sums of reals, new ones if *at is 0. */
static struct sp__exactsum *reals(struct sp__group_arena *a, uint32_t *at, unsigned n)
{
	if (!*at) {
		/* *at can be in the arena, which does not move. */
		*at = sp__arena_take(a, n * sizeof(struct sp__exactsum));
		memset(sp__arena_at(a, *at), 0, n * sizeof(struct sp__exactsum));
	}
	return sp__arena_at(a, *at);
}

/* Moves the whole part of a sum that could overflow to the sum of reals, which stays exact. */
static void relieve(struct sp__group_arena *a, struct sp__group_sum *sum)
{
	if (sp__units_are_large(sum->units))
		sp__units_relieve(&sum->units, reals(a, &sum->reals, 1));
}

static void add_sum(struct sp__group_arena *a, struct sp__group_sum *sum,
		    const struct sp__amount *x)
{
	if (x->is_real)
		sp__exactsum_add(reals(a, &sum->reals, 1), x->real);
	else
		sum->units += x->units;
	relieve(a, sum);
	sum->places = sp__max(sum->places, x->places);
}

static void add_moments(struct sp__group_arena *a, struct sp__group_moments *m,
			const struct sp__amount *x, const struct sp__amount *y)
{
	m->n++;
	if (!y) {
		if (x->is_real) {
			sp__reals_add(reals(a, &m->reals, SP__REALS_ALONE), x->real);
			return;
		}
	} else if (x->is_real || y->is_real) {
		m->pairs = true;
		sp__reals_add_pair(reals(a, &m->reals, SP__REALS), sp__amount_f64(x),
				   sp__amount_f64(y));
		return;
	}
	m->x += x->units;
	sp__wide_add_product(&m->xx, x->units, x->units);
	if (!y)
		return;
	m->pairs = true;
	m->y += y->units;
	sp__wide_add_product(&m->yy, y->units, y->units);
	sp__wide_add_product(&m->xy, x->units, y->units);
}

static void set_text(struct sp__group_arena *a, struct sp__group_text *t, const char *p, size_t n,
		     unsigned places, uint64_t position)
{
	if (n > t->room || !t->room) {
		/* What is too short is lost, so a new one is longer than now needed. */
		t->room = (uint32_t)sp__max(n + n / 2, SP__ARENA_UNIT);
		t->at = sp__arena_take(a, t->room);
	}
	memcpy(sp__arena_at(a, t->at), p, n);
	t->bytes = (uint32_t)n;
	t->places = places;
	t->position = position;
}

static int order_value(const struct sp__group_arena *a, const struct sp__group_text *t,
		       const char *p, size_t n, unsigned places)
{
	const int is_text = places == SP__PLACES_OF_TEXT,
		  was_text = t->places == SP__PLACES_OF_TEXT;

	if (is_text != was_text)
		return is_text - was_text;
	return sp__order_bytes(p, n, sp__arena_at(a, t->at), t->bytes);
}

/*
 * Keeps a value if it is the first one, or less (sign 1) or greater (-1) than the one kept.  A
 * number comes before any text.
 */
static void set_end(struct sp__group_arena *a, struct sp__group_text *t, const char *p, size_t n,
		    unsigned places, int sign)
{
	const int order = t->room ? sign * order_value(a, t, p, n, places) : -1;

	if (order < 0)
		set_text(a, t, p, n, places, 0);
	else if (!order)
		t->places = sp__max(t->places, places);
}

static void add_ends(struct sp__group_arena *a, struct sp__group_text *min,
		     struct sp__group_text *max, const struct sp__group_value *v)
{
	unsigned char code[SP__AMOUNT_CODE];
	const char *p = v->text.p;
	size_t n = v->text.n;
	unsigned places = SP__PLACES_OF_TEXT;
	struct sp__amount x;

	if (sp__amount_parse(p, n, &x)) {
		p = (const char *)code;
		n = sp__amount_encode(&x, code);
		places = x.places;
	}
	if (min)
		set_end(a, min, p, n, places, 1);
	if (max)
		set_end(a, max, p, n, places, -1);
}

static void *part(struct sp__grouped *g, uint32_t offset)
{
	return offset ? (char *)g + offset : NULL;
}

static void add_value(struct sp__group_arena *a, struct sp__grouped *g,
		      const struct sp__group_argument *arg, const struct sp__group_value *v,
		      const struct sp__group_value *second, uint64_t position)
{
	struct sp__group_text *first = part(g, arg->first), *last = part(g, arg->last);

	++*(uint64_t *)part(g, arg->count);
	if (arg->sum)
		add_sum(a, part(g, arg->sum), &v->number);
	if (arg->moments)
		add_moments(a, part(g, arg->moments), &v->number,
			    arg->second == UINT32_MAX ? NULL : &second->number);
	if (arg->counts)
		sp__counts_add(a, part(g, arg->counts),
			       arg->nbounds ? sp__bins_find(arg, &v->number)
					    : sp__sketch_bucket(&v->number));
	if (arg->min || arg->max)
		add_ends(a, part(g, arg->min), part(g, arg->max), v);
	if (first && (!first->room || position < first->position))
		set_text(a, first, v->text.p, v->text.n, 0, position);
	if (last && (!last->room || position >= last->position))
		set_text(a, last, v->text.p, v->text.n, 0, position);
}

/* Positions count from 1; 0: none. */
static void note_position(uint64_t *first, uint64_t position)
{
	if (position && (!*first || position < *first))
		*first = position;
}

void sp__group_add(const struct sp__group_spec *s, struct sp__group_arena *a, uint32_t at,
		   const struct sp__group_value *values, const struct sp__group_value *second,
		   uint64_t position)
{
	struct sp__grouped *g = sp__arena_at(a, at);

	g->records++;
	if (s->position)
		note_position(sp__group_part(a, at, s->position), position + 1);
	for (uint32_t i = 0; i < s->narguments; i++)
		if (values[i].text.p)
			add_value(a, g, &s->arguments[i], &values[i], &second[i], position);
}

void sp__group_add_keys(const struct sp__group_spec *s, struct sp__group_arena *a, uint32_t at,
			const struct sp__slice *columns, uint64_t position)
{
	struct sp__group_text *t = sp__group_part(a, at, s->key_texts);

	for (uint32_t i = 0; i < s->nkeys; i++) {
		const struct sp__slice *text = &columns[s->keys[i].column];

		if (!sp__group_keeps_text(s, i))
			continue;
		if (!t->room || position < t->position)
			set_text(a, t, text->p, text->n, 0, position);
		t = (void *)((char *)t + SP__GROUP_TEXT_STEP);
	}
}

/* Partial groups as bytes. */

static size_t text_written(const struct sp__group_text *t)
{
	return t ? TEXT_CODES + t->bytes : 0;
}

size_t sp__group_written(const struct sp__group_spec *s, const struct sp__group_arena *a,
			 uint32_t at)
{
	struct sp__grouped *g = sp__arena_at(a, at);
	const struct sp__group_text *t = sp__group_part(a, at, s->key_texts);
	size_t n = 2 * SP__CODE_VARINT;

	for (uint32_t i = 0; i < s->nkeys; i++) {
		if (!sp__group_keeps_text(s, i))
			continue;
		n += text_written(t);
		t = (const void *)((const char *)t + SP__GROUP_TEXT_STEP);
	}
	for (uint32_t i = 0; i < s->narguments; i++) {
		const struct sp__group_argument *arg = &s->arguments[i];

		n += SP__CODE_VARINT + text_written(part(g, arg->min)) +
		     text_written(part(g, arg->max)) + text_written(part(g, arg->first)) +
		     text_written(part(g, arg->last));
		n += (arg->sum ? SUM_CODES : 0) + (arg->moments ? MOMENTS_CODES : 0) +
		     reals_of(arg) * REALS_CODES;
		n += arg->counts ? sp__counts_written(part(g, arg->counts)) : 0;
	}
	return n;
}

static char *put_text(const struct sp__group_arena *a, const struct sp__group_text *t, char *to)
{
	if (!t->room)
		return sp__code_put(to, 0);
	to = sp__code_put(to, (uint64_t)t->bytes + 1);
	to = sp__code_put(to, t->places);
	to = sp__code_put(to, t->position);
	memcpy(to, sp__arena_at(a, t->at), t->bytes);
	return to + t->bytes;
}

/* Writes the limbs that are not 0, each with the distance from the one before. */
static char *put_reals(const struct sp__exactsum *from, char *to)
{
	struct sp__exactsum s = *from;
	unsigned last = 0;

	sp__exactsum_carry(&s);
	*to++ = (char)(s.nan | s.plus_inf << 1 | s.minus_inf << 2);
	for (unsigned i = 0; i < SP__EXACTSUM_LIMBS; i++) {
		if (!s.limbs[i])
			continue;
		to = sp__code_put(to, i + 1 - last);
		to = sp__code_put_signed(to, s.limbs[i]);
		last = i + 1;
	}
	return sp__code_put(to, 0);
}

static char *put_all_reals(const struct sp__group_arena *a, uint32_t at, unsigned n, char *to)
{
	const struct sp__exactsum *s = sp__arena_at(a, at);

	*to++ = at != 0;
	for (unsigned i = 0; at && i < n; i++)
		to = put_reals(&s[i], to);
	return to;
}

static char *put_wide(const struct sp__wide *w, char *to)
{
	for (unsigned i = 0; i < 4; i++)
		to = sp__code_put(to, w->limbs[i]);
	return to;
}

static char *put_moments(const struct sp__group_arena *a, const struct sp__group_moments *m,
			 bool pairs, char *to)
{
	to = sp__code_put(to, m->n);
	to = sp__code_put_signed(to, m->x);
	to = put_wide(&m->xx, to);
	if (pairs) {
		to = sp__code_put_signed(to, m->y);
		to = put_wide(&m->yy, to);
		to = put_wide(&m->xy, to);
	}
	return put_all_reals(a, m->reals, pairs ? SP__REALS : SP__REALS_ALONE, to);
}

static char *put_argument(const struct sp__group_arena *a, struct sp__grouped *g,
			  const struct sp__group_argument *arg, char *to)
{
	const struct sp__group_sum *sum = part(g, arg->sum);
	const uint32_t texts[] = { arg->min, arg->max, arg->first, arg->last };

	to = sp__code_put(to, *(uint64_t *)part(g, arg->count));
	if (sum) {
		to = sp__code_put_signed(to, sum->units);
		to = sp__code_put(to, sum->places);
		to = put_all_reals(a, sum->reals, 1, to);
	}
	if (arg->moments)
		to = put_moments(a, part(g, arg->moments), arg->second != UINT32_MAX, to);
	if (arg->counts)
		to = sp__counts_put(a, part(g, arg->counts), to);
	for (unsigned i = 0; i < 4; i++)
		if (texts[i])
			to = put_text(a, part(g, texts[i]), to);
	return to;
}

char *sp__group_write(const struct sp__group_spec *s, const struct sp__group_arena *a, uint32_t at,
		      char *to)
{
	struct sp__grouped *g = sp__arena_at(a, at);
	const struct sp__group_text *t = sp__group_part(a, at, s->key_texts);

	to = sp__code_put(to, g->records);
	if (g->tag)
		return to;
	if (s->position)
		to = sp__code_put(to, *(uint64_t *)sp__group_part(a, at, s->position));
	for (uint32_t i = 0; i < s->nkeys; i++) {
		if (!sp__group_keeps_text(s, i))
			continue;
		to = put_text(a, t, to);
		t = (const void *)((const char *)t + SP__GROUP_TEXT_STEP);
	}
	for (uint32_t i = 0; i < s->narguments; i++)
		to = put_argument(a, g, &s->arguments[i], to);
	return to;
}

/* Merging. */

struct merging {
	const struct sp__group_spec *s;
	struct sp__group_arena *a;
	uint32_t at;
	struct sp__codes *from;
};

static void *merged(const struct merging *m, uint32_t offset)
{
	return sp__group_part(m->a, m->at, offset);
}

enum which { LEAST, GREATEST, EARLIEST, LATEST };

/* Takes a text; the one that `which` names stays. */
static int take_text(struct merging *m, uint32_t offset, enum which which)
{
	const uint64_t bytes = (uint64_t)sp__code_take(m->from);
	struct sp__group_text *t;
	unsigned places;
	uint64_t position;
	const char *p;
	int rc;

	if (!bytes)
		return 0;
	places = (unsigned)sp__code_take(m->from);
	if (places > SP__DECIMAL_PLACES && places != SP__PLACES_OF_TEXT)
		return SP_ECORRUPT;
	position = (uint64_t)sp__code_take(m->from);
	p = sp__code_take_bytes(m->from, bytes - 1);
	rc = p ? sp__arena_need(m->a, 2 * bytes) : 0;
	if (rc || !p)
		return rc;
	t = merged(m, offset);
	if (which == LEAST || which == GREATEST)
		set_end(m->a, t, p, bytes - 1, places, which == LEAST ? 1 : -1);
	else if (!t->room || (which == EARLIEST) == (position < t->position))
		set_text(m->a, t, p, bytes - 1, places, position);
	return 0;
}

static void take_reals(struct merging *m, struct sp__exactsum *to)
{
	struct sp__exactsum s = { 0 };
	const char *flags = sp__code_take_bytes(m->from, 1);
	uint64_t step, i = 0;

	if (flags) {
		s.nan = *flags & 1;
		s.plus_inf = *flags >> 1 & 1;
		s.minus_inf = *flags >> 2 & 1;
	}
	while ((step = (uint64_t)sp__code_take(m->from))) {
		i += step;
		if (i > SP__EXACTSUM_LIMBS) {
			m->from->bad = true;
			return;
		}
		s.limbs[i - 1] = (int64_t)sp__code_take_signed(m->from);
	}
	sp__exactsum_merge(to, &s);
}

/* field: offset of the member that has the place of n sums of reals. */
static int take_all_reals(struct merging *m, uint32_t field, unsigned n)
{
	const char *any = sp__code_take_bytes(m->from, 1);
	struct sp__exactsum *to;
	int rc;

	if (!any || !*any)
		return 0;
	rc = sp__arena_need(m->a, n * sizeof(*to));
	if (rc)
		return rc;
	to = reals(m->a, merged(m, field), n);
	for (unsigned i = 0; i < n; i++)
		take_reals(m, &to[i]);
	return 0;
}

static void take_wide(struct merging *m, struct sp__wide *to)
{
	struct sp__wide w;

	for (unsigned i = 0; i < 4; i++)
		w.limbs[i] = (uint64_t)sp__code_take(m->from);
	sp__wide_add(to, &w);
}

static int take_moments(struct merging *m, uint32_t offset, bool pairs)
{
	struct sp__group_moments *to = merged(m, offset);

	to->n += (uint64_t)sp__code_take(m->from);
	to->x += sp__code_take_signed(m->from);
	take_wide(m, &to->xx);
	if (pairs) {
		to->pairs = true;
		to->y += sp__code_take_signed(m->from);
		take_wide(m, &to->yy);
		take_wide(m, &to->xy);
	}
	return take_all_reals(m, offset + (uint32_t)offsetof(struct sp__group_moments, reals),
			      pairs ? SP__REALS : SP__REALS_ALONE);
}

static int take_argument(struct merging *m, const struct sp__group_argument *arg)
{
	const uint32_t texts[] = { arg->min, arg->max, arg->first, arg->last };
	struct sp__group_sum *sum;
	uint64_t places;
	int rc = 0;

	*(uint64_t *)merged(m, arg->count) += (uint64_t)sp__code_take(m->from);
	if (arg->sum) {
		sum = merged(m, arg->sum);
		rc = sp__arena_need(m->a, sizeof(struct sp__exactsum));
		if (rc)
			return rc;
		sum = merged(m, arg->sum);
		sum->units += sp__code_take_signed(m->from);
		relieve(m->a, sum);
		places = (uint64_t)sp__code_take(m->from);
		if (places > SP__DECIMAL_PLACES)
			return SP_ECORRUPT;
		sum->places = sp__max(sum->places, (uint32_t)places);
		rc = take_all_reals(m, arg->sum + (uint32_t)offsetof(struct sp__group_sum, reals),
				    1);
	}
	if (!rc && arg->moments)
		rc = take_moments(m, arg->moments, arg->second != UINT32_MAX);
	if (!rc && arg->counts)
		rc = sp__counts_take(m->a, m->at, arg->counts, m->from);
	for (unsigned i = 0; !rc && i < 4; i++)
		if (texts[i])
			rc = take_text(m, texts[i], (enum which)i);
	return rc;
}

int sp__group_merge(const struct sp__group_spec *s, struct sp__group_arena *a, uint32_t at,
		    struct sp__codes *from)
{
	struct merging m = { s, a, at, from };
	uint32_t offset = s->key_texts;
	int rc = 0;

	((struct sp__grouped *)sp__arena_at(a, at))->records += (uint64_t)sp__code_take(from);
	if (s->position)
		note_position(sp__group_part(a, at, s->position), (uint64_t)sp__code_take(from));
	for (uint32_t i = 0; !rc && i < s->nkeys; i++) {
		if (!sp__group_keeps_text(s, i))
			continue;
		rc = take_text(&m, offset, EARLIEST);
		offset += SP__GROUP_TEXT_STEP;
	}
	for (uint32_t i = 0; !rc && i < s->narguments; i++)
		rc = take_argument(&m, &s->arguments[i]);
	return rc ? rc : from->bad || from->p != from->end ? SP_ECORRUPT : 0;
}
