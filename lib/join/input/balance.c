/* SPDX-License-Identifier: MIT */
/* Compares the tallies of inputs (balance.h). */
#include "base/err.h"
#include "join/input/balance.h"
#include "join/state.h"

#define PLEASE "please report it, and do not trust the result"

int sp__balance_same(struct sp__join *j, int side, const char *where, const struct sp__tally *in,
		     const struct sp__tally *out)
{
	if (in->records == out->records && in->sum == out->sum)
		return 0;
	return sp__errf(j->env.err, SP_EBALANCE, "join", j->io->inputs[side], -1,
			"%s; " PLEASE " (%s: %llu records in, %llu out%s)",
			sp_strerror(SP_EBALANCE), where, (unsigned long long)in->records,
			(unsigned long long)out->records,
			in->records == out->records ? ", but not the same" : "");
}

int sp__balance_bytes(struct sp__join *j, const char *where, uint64_t in, uint64_t out)
{
	if (in == out)
		return 0;
	return sp__errf(j->env.err, SP_EBALANCE, "join", NULL, -1,
			"%s; " PLEASE " (%s: %llu bytes in, %llu out)", sp_strerror(SP_EBALANCE),
			where, (unsigned long long)in, (unsigned long long)out);
}

/* At its end a scan has returned all that it read. */
static uint64_t scanned(const struct sp__source *s)
{
	return s->scan && s->ended ? sp__scan_owed(s->scan) : s->bytes;
}

static int balance_source(struct sp__join *j, int side)
{
	const struct sp__source *s = &j->source[side];
	struct sp__tally cut = { .records = s->lines, .sum = scanned(s) }, done = s->done;

	done.sum += (uint64_t)(s->end - s->at);
	return sp__balance_same(j, side, "input", &cut, &done);
}

int sp__balance_sources(struct sp__join *j)
{
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++)
		if (sp__join_scans(&j->opts, i))
			rc = balance_source(j, i);
	return rc;
}
