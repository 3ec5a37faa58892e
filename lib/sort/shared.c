/* SPDX-License-Identifier: MIT */
/* Compares the records that a sort has read with those that it has returned or dropped. */
#include "base/err.h"
#include "sort/shared.h"

int sp__balance_compare(const struct sp__sort_shared *s, const char *what, uint64_t want,
			uint64_t have)
{
	if (want == have)
		return 0;
	return sp__errf(s->env.err, SP_EBALANCE, "sort", NULL, -1,
			"%s (%s: %llu expected, %llu found)", sp_strerror(SP_EBALANCE), what,
			(unsigned long long)want, (unsigned long long)have);
}

void sp__balance_join(struct sp__balance *to, const struct sp__balance *from)
{
	sp__tally_join(&to->dropped, &from->dropped);
	sp__tally_join(&to->given, &from->given);
	to->counted += from->counted;
}
