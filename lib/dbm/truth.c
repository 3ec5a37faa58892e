/* SPDX-License-Identifier: MIT */
/*
 * Counts records of T1 (truth.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "dbm/truth.h"

int sp__truth_open(struct sp__dbm_truth *t)
{
	*t = (struct sp__dbm_truth){ .upto = calloc((SP_DBM_VALUES + 1) * SP__TRUTH_GROUPS,
						    sizeof(*t->upto)) };
	return t->upto ? 0 : -ENOMEM;
}

void sp__truth_close(struct sp__dbm_truth *t)
{
	free(t->upto);
	t->upto = NULL;
}

/* Reads a number from 1 to max and the bar behind it.  Returns what follows, or NULL. */
static const char *number(const char *at, const char *end, uint64_t max, uint32_t *value)
{
	uint64_t n = 0;

	for (; at < end && *at >= '0' && *at <= '9' && n <= max; at++)
		n = 10 * n + (uint64_t)(*at - '0');
	*value = (uint32_t)n;
	return n >= 1 && n <= max && at < end && *at == '|' ? at + 1 : NULL;
}

bool sp__truth_add(struct sp__dbm_truth *t, const char *lines, size_t bytes)
{
	const char *const end = lines + bytes;

	while (lines < end) {
		uint32_t a1, a2, a3;
		const char *at = number(lines, end, UINT32_MAX, &a1);

		at = at ? number(at, end, SP_DBM_VALUES, &a2) : NULL;
		at = at ? number(at, end, SP__TRUTH_GROUPS, &a3) : NULL;
		at = at ? memchr(at, '\n', (size_t)(end - at)) : NULL;
		if (!at)
			return false;
		t->upto[a2 * SP__TRUTH_GROUPS + a3 - 1]++;
		t->records++;
		lines = at + 1;
	}
	return true;
}

void sp__truth_end(struct sp__dbm_truth *t)
{
	for (size_t i = SP__TRUTH_GROUPS; i < (SP_DBM_VALUES + 1) * SP__TRUTH_GROUPS; i++)
		t->upto[i] += t->upto[i - SP__TRUTH_GROUPS];
}

struct sp__dbm_answer sp__truth_answer(const struct sp__dbm_truth *t,
				       const struct sp__dbm_question *q)
{
	struct sp__dbm_answer a = { 0 };
	const uint32_t *low = t->upto + (size_t)q->lo * SP__TRUTH_GROUPS;
	const uint32_t *high = t->upto + (size_t)(q->hi - 1) * SP__TRUTH_GROUPS;

	for (unsigned i = 0; i < SP__TRUTH_GROUPS; i++) {
		const uint32_t n = high[i] - low[i];

		a.records += n;
		a.sum += n * (uint64_t)(i + 1);
		a.groups |= (uint64_t)(n != 0) << (i + 1);
	}
	return a;
}
