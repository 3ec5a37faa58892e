/* SPDX-License-Identifier: MIT */
/*
 * Parses a scheduler and its parameters: NAME[:KEY=VALUE[/VALUE...][/KEY=...]].
 *
 * A slash separates both parameters and values, so that the text can be an element of a list
 * separated by commas.
 */
#include <stdio.h>
#include <string.h>
#include "base/err.h"
#include "base/keyval.h"
#include "sim/sched.h"

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
