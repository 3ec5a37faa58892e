/* SPDX-License-Identifier: MIT */
/*
 * Aggregates all records with equal keys, neighbours or not, by a hash table of groups.
 *
 * Algorithm: the groups are an array in the order of their first records.  Each group owns its
 * totals and its key.  Slots with open addressing, at most half full, refer to the groups.  If a
 * search passes more than SP__PROBES_MAX slots, all keys are hashed by the strong hash.  At the
 * end of the input the groups are returned batch by batch, and freed.
 *
 * Memory: a group costs a struct, 112 bytes per value, its key, and 2 to 4 slots of 8 bytes.  All
 * of it is charged to the plan; if the budget is too small, the aggregation fails.
 *
 * Rejected: spilling groups.  A caller with too many groups sorts the input by the group fields and
 * aggregates neighbours in the memory of one group.  A second spilling mechanism would not do
 * better.
 */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/keyhash.h"
#include "flow/grouping.h"

#define BATCH_BYTES (64u << 10)
#define SLOTS_MIN 64

struct group {
	uint64_t hash, records;
	struct sp__slice key;	   /* stored after the totals */
	struct sp__total totals[]; /* one for each value */
};

struct grouped {
	struct sp_operator op;
	struct sp__grouping grouping;
	struct group **groups; /* capacity: half of the slots */
	size_t n, given;
	uint64_t *slots;		     /* number of a group, from 1; 0: free */
	size_t nslots;			     /* a power of 2 */
	const struct sp__key_secret *secret; /* of the hashes */
	bool strong;			     /* the strong hash is used */
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
				"%zu groups fill the memory of the plan: sort the input by their "
				"fields, and aggregate neighbours",
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
	return sizeof(struct group) + g->grouping.nvalues * sizeof(struct sp__total) + key_bytes;
}

static uint64_t hash_of(const struct grouped *g, const char *key, size_t bytes)
{
	return g->strong ? sp__key_hash_strong(key, bytes)
			 : sp__key_hash_secret(key, bytes, g->secret);
}

/* Finds the slot of a key, or the free slot where the key belongs. */
static uint64_t *find(const struct grouped *g, uint64_t hash, const struct sp__bytes *key)
{
	size_t at = hash & (g->nslots - 1);

	for (; g->slots[at]; at = (at + 1) & (g->nslots - 1)) {
		const struct group *have = g->groups[g->slots[at] - 1];

		if (have->hash == hash && have->key.n == key->bytes &&
		    (!key->bytes || !memcmp(have->key.p, key->data, key->bytes)))
			break;
	}
	return &g->slots[at];
}

static uint64_t *find_free(const struct grouped *g, uint64_t hash)
{
	size_t at = hash & (g->nslots - 1);

	while (g->slots[at])
		at = (at + 1) & (g->nslots - 1);
	return &g->slots[at];
}

static void fill_slots(struct grouped *g)
{
	for (size_t i = 0; i < g->n; i++)
		*find_free(g, g->groups[i]->hash) = i + 1;
}

/* Makes the slots again with the strong hash. */
static void strengthen(struct grouped *g)
{
	g->strong = true;
	memset(g->slots, 0, g->nslots * sizeof(*g->slots));
	for (size_t i = 0; i < g->n; i++)
		g->groups[i]->hash = hash_of(g, g->groups[i]->key.p, g->groups[i]->key.n);
	fill_slots(g);
}

/* True if the search for a hash that ended at a slot was longer than searches are. */
static bool is_long(const struct grouped *g, uint64_t hash, const uint64_t *slot)
{
	return (((size_t)(slot - g->slots) - hash) & (g->nslots - 1)) > SP__PROBES_MAX;
}

/* Doubles the slots and the capacity for groups. */
static int grow(struct grouped *g)
{
	size_t n = g->nslots ? 2 * g->nslots : SLOTS_MIN;
	uint64_t each = sizeof(*g->slots) + sizeof(*g->groups) / 2;
	struct group **groups;
	int rc = charge(g, n * each);

	if (rc)
		return rc;
	groups = reallocarray(g->groups, n / 2, sizeof(*groups));
	if (groups)
		g->groups = groups;
	free(g->slots);
	g->slots = calloc(n, sizeof(*g->slots));
	sp__budget_credit(&g->op.flow->env.budget, g->nslots * each);
	g->charged_bytes -= g->nslots * each;
	g->nslots = n;
	if (!groups || !g->slots)
		return no_memory(g);
	fill_slots(g);
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
	group->hash = hash;
	group->key = (struct sp__slice){ text, key->bytes };
	g->groups[g->n++] = group;
	*slot = g->n;
	return 0;
}

static int take_record(void *operator, const char * rec, size_t bytes)
{
	struct grouped *g = operator;
	const struct sp__bytes *key = &g->grouping.key;
	int rc = sp__grouping_split(&g->grouping, &g->op, rec, bytes);
	const char *text = key->bytes ? key->data : "";
	struct group *group;
	uint64_t hash, *slot;

	if (!rc && 2 * g->n == g->nslots)
		rc = grow(g);
	if (rc)
		return rc;
	hash = hash_of(g, text, key->bytes);
	slot = find(g, hash, key);
	if (!g->strong && is_long(g, hash, slot)) {
		strengthen(g);
		hash = hash_of(g, text, key->bytes);
		slot = find(g, hash, key);
	}
	if (!*slot)
		rc = begin_group(g, hash, slot);
	if (rc)
		return rc;
	group = g->groups[*slot - 1];
	group->records++;
	return sp__grouping_add(&g->grouping, &g->op, group->totals);
}

/* Returns some of the groups, which are complete. */
static int give(struct grouped *g, struct sp_batch *batch)
{
	int rc = 0;

	g->out.bytes = 0;
	for (; !rc && g->given < g->n && g->out.bytes < BATCH_BYTES; g->given++) {
		struct group *group = g->groups[g->given];
		size_t bytes = group_bytes(g, group->key.n);

		rc = sp__grouping_put(&g->grouping, &g->op, &group->key, group->totals,
				      group->records, &g->out);
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
			rc = sp__grouping_batch(&g->op, &in, take_record, g);
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
	free(g->slots);
	sp__budget_credit(b, g->charged_bytes);
	sp__grouping_close(&g->grouping, g->op.flow);
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
	g->secret = sp__key_secret();
	*op = &g->op;
	return sp__grouping_open(&g->grouping, input->flow, groups, ngroups, values, nvalues);
}
