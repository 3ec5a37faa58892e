/* SPDX-License-Identifier: MIT */
/*
 * Aggregates records with equal keys: neighbours, or all by a hash table of groups.
 *
 * Neighbours: a record whose key differs from the key of the current group ends that group.
 * Finished groups are collected and returned when the input batch is used up.
 *
 * Hash table: the groups are an array in the order of their first records.  Each group owns its
 * totals and its key.  If a search in the table is long, all keys are hashed by the strong hash.
 * At the end of the input the groups are returned batch by batch, and freed.
 *
 * Memory: neighbours need one key, and the groups that end in one batch.  In the table, a group
 * costs a struct, 112 bytes per value, its key, and 2 to 4 slots of 8 bytes.  All of it is charged
 * to the plan; if the budget is too small, the aggregation fails.
 *
 * Rejected: spilling groups.  A caller with too many groups sorts the input by the group fields and
 * aggregates neighbours in the memory of one group.  A second spilling mechanism would not do
 * better.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/decimal.h"
#include "base/err.h"
#include "base/hashtable.h"
#include "base/minmax.h"
#include "flow/operator.h"

/* Totals of the numbers in one field of a group's records; starts zeroed. */
struct total {
	uint64_t numbers;
	struct sp__decimal sum, min, max;
};

/* The keys of groups and their values; embedded in an operator; starts zeroed. */
struct grouping {
	size_t *groups, ngroups;
	struct sp_flow_value *values;
	size_t nvalues;
	struct sp__fields fields; /* the fields of the current record */
	struct sp__bytes key;	  /* the group fields of the record, as they will be written */
};

#define AVG_PLACES 6

static int grouping_open(struct grouping *g, struct sp_flow *flow, const size_t *groups,
			 size_t ngroups, const struct sp_flow_value *values, size_t nvalues)
{
	g->ngroups = ngroups;
	g->nvalues = nvalues;
	g->groups = calloc(ngroups + 1, sizeof(*groups));
	g->values = calloc(nvalues + 1, sizeof(*values));
	if (!g->groups || !g->values)
		return sp__err(flow->env.err, -ENOMEM, "allocate", NULL, -1);
	for (size_t i = 0; i < ngroups; i++)
		g->groups[i] = groups[i];
	for (size_t i = 0; i < nvalues; i++)
		g->values[i] = values[i];
	return 0;
}

static void grouping_close(struct grouping *g, struct sp_flow *flow)
{
	free(g->groups);
	free(g->values);
	free(g->fields.at);
	sp__bytes_release(&g->key, &flow->env.budget);
}

/* Joins the group fields with separators. */
static int make_key(struct grouping *g, struct sp_operator *op)
{
	int rc = 0;

	g->key.bytes = 0;
	for (size_t i = 0; i < g->ngroups && !rc; i++) {
		size_t k = g->groups[i];

		if (i)
			rc = sp__flow_append(op->flow, &g->key, op->cut.sep, op->cut.sep_bytes);
		if (!rc && k < g->fields.n)
			rc = sp__flow_append(op->flow, &g->key, g->fields.at[k].p,
					     g->fields.at[k].n);
	}
	return rc;
}

/* Passes each record of a batch to take() until that fails; charges the work.  0 or the error. */
static int grouping_batch(struct sp_operator *op, const struct sp_batch *batch,
			  int (*take)(void *arg, const char *record, size_t bytes), void *arg)
{
	const char *end = batch->data + batch->bytes;
	uint64_t records = 0;
	int rc = 0;

	for (const char *rec = batch->data, *after; rec < end && !rc; rec = after, records++) {
		size_t bytes;

		after = sp__record_next(&op->format, rec, end, &bytes);
		rc = take(arg, rec, bytes);
	}
	sp__charge_work(&op->flow->env, records, 1, 0);
	return rc;
}

/* Finds the fields and the key of a record of op.  0 or -ENOMEM. */
static int grouping_split(struct grouping *g, struct sp_operator *op, const char *record,
			  size_t bytes)
{
	int rc = sp__fields_split(&op->cut, record, bytes, &g->fields);

	if (rc < 0)
		return sp__err(op->flow->env.err, rc, "allocate", NULL, -1);
	return make_key(g, op);
}

static int bad_number(const struct sp_operator *op, const struct sp__slice *s, const char *reason)
{
	return sp__errf(op->flow->env.err, SP_EFORMAT, "aggregate", NULL, -1, "'%.*s': %s",
			(int)sp__min(s->n, 40), s->p, reason);
}

/*
 * True if d is the same number with more decimal places.  Preferring it makes the result
 * independent of the order of the records.
 */
static bool is_longer(const struct sp__decimal *d, const struct sp__decimal *than)
{
	return d->units == than->units && d->places > than->places;
}

static int add(const struct sp_operator *op, const struct sp__slice *s, struct total *t)
{
	struct sp__decimal d;

	if (!sp__decimal_parse(s->p, s->n, &d))
		return bad_number(op, s, "not a number of at most 9 decimal places");
	if (!sp__decimal_add(&t->sum, &d))
		return bad_number(op, s, "the sum up to here is too large");
	if (!t->numbers || d.units < t->min.units || is_longer(&d, &t->min))
		t->min = d;
	if (!t->numbers || d.units > t->max.units || is_longer(&d, &t->max))
		t->max = d;
	t->numbers++;
	return 0;
}

/* Adds the record that was split to the totals, one per value.  0 or SP_EFORMAT. */
static int grouping_add(const struct grouping *g, const struct sp_operator *op,
			struct total *totals)
{
	int rc = 0;

	for (size_t i = 0; i < g->nvalues && !rc; i++) {
		const struct sp_flow_value *v = &g->values[i];

		if (v->function != SP_FLOW_COUNT && v->field < g->fields.n &&
		    g->fields.at[v->field].n)
			rc = add(op, &g->fields.at[v->field], &totals[i]);
	}
	return rc;
}

/* Prints one value. */
static size_t print(enum sp_flow_function function, const struct total *t, uint64_t records,
		    char text[SP__DECIMAL_TEXT])
{
	struct sp__decimal avg;

	if (function == SP_FLOW_COUNT)
		return (size_t)snprintf(text, SP__DECIMAL_TEXT, "%" PRIu64, records);
	if (!t->numbers)
		return 0;
	if (function == SP_FLOW_SUM)
		return sp__decimal_print(&t->sum, text);
	if (function == SP_FLOW_MIN)
		return sp__decimal_print(&t->min, text);
	if (function == SP_FLOW_MAX)
		return sp__decimal_print(&t->max, text);
	avg = sp__decimal_divide(&t->sum, t->numbers, (unsigned)sp__max(AVG_PLACES, t->sum.places));
	return sp__decimal_print(&avg, text);
}

/* Appends the result record of a group of `records` records.  0 or -ENOMEM. */
static int grouping_put(const struct grouping *g, const struct sp_operator *op,
			const struct sp__slice *key, const struct total *totals, uint64_t records,
			struct sp__bytes *out)
{
	const char eol = sp__operator_eol(op);
	char text[SP__DECIMAL_TEXT];
	int rc = sp__flow_append(op->flow, out, key->p, key->n);

	for (size_t i = 0; i < g->nvalues && !rc; i++) {
		if (i || g->ngroups)
			rc = sp__flow_append(op->flow, out, op->cut.sep, op->cut.sep_bytes);
		if (!rc)
			rc = sp__flow_append(
				op->flow, out, text,
				print(g->values[i].function, &totals[i], records, text));
	}
	return rc ? rc : sp__flow_append(op->flow, out, &eol, 1);
}

/* An aggregation of neighbours. */
struct aggregate {
	struct sp_operator op;
	struct grouping grouping;
	bool begun;	      /* a group is open */
	struct sp__bytes key; /* key of the open group */
	uint64_t records;     /* records of the open group */
	struct total *totals; /* totals of the open group */
	struct sp__bytes out;
};

/* Writes the current group. */
static int end_group(struct aggregate *a)
{
	const struct sp__slice key = { a->key.data, a->key.bytes };

	a->begun = false;
	return grouping_put(&a->grouping, &a->op, &key, a->totals, a->records, &a->out);
}

static void begin_next(struct aggregate *a)
{
	memset(a->totals, 0, a->grouping.nvalues * sizeof(*a->totals));
	a->records = 0;
	a->begun = true;
}

static bool is_current(const struct aggregate *a)
{
	const struct sp__bytes *key = &a->grouping.key;

	return a->key.bytes == key->bytes &&
	       (!key->bytes || !memcmp(a->key.data, key->data, key->bytes));
}

static int take_neighbour(void *operator, const char * rec, size_t bytes)
{
	struct aggregate *a = operator;
	struct sp__bytes key;
	int rc = grouping_split(&a->grouping, &a->op, rec, bytes);

	if (!rc && a->begun && !is_current(a))
		rc = end_group(a);
	if (rc)
		return rc;
	if (!a->begun) {
		begin_next(a);
		key = a->key;
		a->key = a->grouping.key;
		a->grouping.key = key;
	}
	a->records++;
	return grouping_add(&a->grouping, &a->op, a->totals);
}

static int next_neighbours(void *operator, struct sp_batch * batch)
{
	struct aggregate *a = operator;
	int rc;

	a->out.bytes = 0;
	while (!a->out.bytes) {
		struct sp_batch in;

		rc = sp__operator_next(a->op.input, &in);
		if (rc == SP_READY)
			rc = grouping_batch(&a->op, &in, take_neighbour, a);
		else if (rc != SP_END)
			return rc;
		else if (!a->begun)
			return rc;
		else
			rc = end_group(a);
		if (rc < 0)
			return rc;
	}
	*batch = (struct sp_batch){ a->out.data, a->out.bytes };
	return SP_READY;
}

static void close_aggregate(void *operator)
{
	struct aggregate *a = operator;
	struct sp__budget *b = &a->op.flow->env.budget;

	grouping_close(&a->grouping, a->op.flow);
	free(a->totals);
	sp__bytes_release(&a->key, b);
	sp__bytes_release(&a->out, b);
}

int sp_flow_aggregate(struct sp_operator **op, struct sp_operator *input, const size_t *groups,
		      size_t ngroups, const struct sp_flow_value *values, size_t nvalues)
{
	struct aggregate *a;
	int rc = sp__operator_fields(input);

	if (!rc && ngroups)
		rc = sp__operator_ordered(input, "an aggregation of neighbours");
	a = rc ? NULL : sp__operator_new(input->flow, sizeof(*a), &input, 1, &rc);
	if (!a)
		return rc;
	a->op.next = next_neighbours;
	a->op.close = close_aggregate;
	*op = &a->op;
	a->op.any_order = false;
	rc = grouping_open(&a->grouping, input->flow, groups, ngroups, values, nvalues);
	a->totals = calloc(nvalues + 1, sizeof(*a->totals));
	if (!rc && !a->totals)
		rc = sp__err(input->flow->env.err, -ENOMEM, "allocate", NULL, -1);
	if (!rc && !ngroups)
		begin_next(a);
	return rc;
}

#define BATCH_BYTES (64u << 10)

struct group {
	uint64_t records;
	struct sp__slice key;  /* stored after the totals */
	struct total totals[]; /* one for each value */
};

struct grouped {
	struct sp_operator op;
	struct grouping grouping;
	struct group **groups; /* capacity: half of the slots */
	size_t n, given;
	struct sp__hashtable table; /* numbers of groups, from 1 */
	uint64_t charged_bytes;
	bool ended;
	struct sp__bytes out;
};

/* Charges bytes.  SP_EBUDGET: too many groups. */
static int charge(struct grouped *g, uint64_t bytes)
{
	struct sp__budget *b = &g->op.flow->env.budget;

	if (b->used_bytes + bytes > b->limit_bytes)
		return sp__errf(g->op.flow->env.err, SP_EBUDGET, "aggregate", NULL, -1,
				"%zu groups fill the memory of the plan: sort the input by the "
				"fields of the groups, and aggregate neighbours",
				g->n);
	sp__budget_charge(b, bytes);
	g->charged_bytes += bytes;
	return 0;
}

static int no_memory(const struct grouped *g)
{
	return sp__err(g->op.flow->env.err, -ENOMEM, "allocate", NULL, -1);
}

static size_t group_bytes(const struct grouped *g, size_t key_bytes)
{
	return sizeof(struct group) + g->grouping.nvalues * sizeof(struct total) + key_bytes;
}

static inline uint64_t *find(const struct grouped *g, uint64_t hash, const char *key, size_t bytes)
{
	return SP__HASHTABLE_FIND(&g->table, hash, number,
				  g->groups[number - 1]->key.n == bytes &&
					  !memcmp(g->groups[number - 1]->key.p, key, bytes));
}

static uint64_t hash_of(const struct grouped *g, uint32_t number)
{
	const struct sp__slice *key = &g->groups[number - 1]->key;

	return sp__hashtable_hash(&g->table, key->p, key->n);
}

/* Doubles the slots and the capacity for groups. */
static int grow(struct grouped *g)
{
	uint64_t slots = sp__hashtable_growth(&g->table);
	int rc = charge(g, slots + slots / sizeof(uint64_t) * sizeof(*g->groups) / 2);

	if (rc)
		return rc;
	if (sp__hashtable_grow(&g->table) || !SP__ARRAY_RESIZE(g->groups, g->table.nslots / 2))
		return no_memory(g);
	return 0;
}

/* Adds a group with the key of the record that was split. */
static int begin_group(struct grouped *g, uint64_t hash, uint64_t *slot)
{
	const struct sp__bytes *key = &g->grouping.key;
	size_t bytes = group_bytes(g, key->bytes);
	struct group *group;
	char *text;
	int rc = charge(g, bytes);

	if (rc)
		return rc;
	group = calloc(1, bytes);
	if (!group)
		return no_memory(g);
	text = (char *)&group->totals[g->grouping.nvalues];
	if (key->bytes)
		memcpy(text, key->data, key->bytes);
	group->key = (struct sp__slice){ text, key->bytes };
	g->groups[g->n++] = group;
	sp__hashtable_fill(slot, hash, (uint32_t)g->n);
	if (sp__hashtable_is_long(&g->table, hash, slot))
		SP__HASHTABLE_STRENGTHEN(&g->table, g->n, number, hash_of(g, number));
	return 0;
}

static int take_record(void *operator, const char * rec, size_t bytes)
{
	struct grouped *g = operator;
	const struct sp__bytes *key = &g->grouping.key;
	int rc = grouping_split(&g->grouping, &g->op, rec, bytes);
	const char *text = key->bytes ? key->data : "";
	struct group *group;
	uint64_t hash, *slot;
	uint32_t number;

	if (!rc && sp__hashtable_is_full(&g->table, g->n))
		rc = grow(g);
	if (rc)
		return rc;
	hash = sp__hashtable_hash(&g->table, text, key->bytes);
	slot = find(g, hash, text, key->bytes);
	number = (uint32_t)*slot ?: (uint32_t)g->n + 1;
	if (!*slot)
		rc = begin_group(g, hash, slot);
	if (rc)
		return rc;
	group = g->groups[number - 1];
	group->records++;
	return grouping_add(&g->grouping, &g->op, group->totals);
}

/* Returns some of the groups, which are complete. */
static int give(struct grouped *g, struct sp_batch *batch)
{
	int rc = 0;

	g->out.bytes = 0;
	for (; !rc && g->given < g->n && g->out.bytes < BATCH_BYTES; g->given++) {
		struct group *group = g->groups[g->given];
		size_t bytes = group_bytes(g, group->key.n);

		rc = grouping_put(&g->grouping, &g->op, &group->key, group->totals, group->records,
				  &g->out);
		free(group);
		g->groups[g->given] = NULL;
		sp__budget_credit(&g->op.flow->env.budget, bytes);
		g->charged_bytes -= bytes;
	}
	*batch = (struct sp_batch){ g->out.data, g->out.bytes };
	return rc ? rc : batch->bytes ? SP_READY : SP_END;
}

static int next(void *operator, struct sp_batch * batch)
{
	struct grouped *g = operator;
	int rc = SP_READY;

	while (!g->ended && rc == SP_READY) {
		struct sp_batch in;

		rc = sp__operator_next(g->op.input, &in);
		g->ended = rc == SP_END;
		if (rc == SP_READY) {
			rc = grouping_batch(&g->op, &in, take_record, g);
			rc = rc ? rc : SP_READY;
		}
	}
	return g->ended ? give(g, batch) : rc;
}

static void close_grouped(void *operator)
{
	struct grouped *g = operator;
	struct sp__budget *b = &g->op.flow->env.budget;

	for (size_t i = g->given; i < g->n; i++)
		free(g->groups[i]);
	free(g->groups);
	sp__hashtable_close(&g->table);
	sp__budget_credit(b, g->charged_bytes);
	grouping_close(&g->grouping, g->op.flow);
	sp__bytes_release(&g->out, b);
}

int sp_flow_group(struct sp_operator **op, struct sp_operator *input, const size_t *groups,
		  size_t ngroups, const struct sp_flow_value *values, size_t nvalues)
{
	struct grouped *g;
	int rc;

	if (!ngroups)
		return sp_flow_aggregate(op, input, groups, ngroups, values, nvalues);
	rc = sp__operator_fields(input);
	g = rc ? NULL : sp__operator_new(input->flow, sizeof(*g), &input, 1, &rc);
	if (!g)
		return rc;
	g->op.next = next;
	g->op.close = close_grouped;
	*op = &g->op;
	return grouping_open(&g->grouping, input->flow, groups, ngroups, values, nvalues);
}
