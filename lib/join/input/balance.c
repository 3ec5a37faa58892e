/* SPDX-License-Identifier: MIT */
/* Compares the tallies of inputs (balance.h). */
#include "base/err.h"
#include "join/plan/plan.h"
#include "join/input/balance.h"
#include "join/input/inputs.h"

#define PLEASE "please report it, and do not trust the result"

int sp__balance_same(struct sp__join_inputs *in, int side, const char *where,
		     const struct sp__tally *came, const struct sp__tally *went)
{
	if (came->records == went->records && came->sum == went->sum)
		return 0;
	return sp__errf(in->env->err, SP_EBALANCE, "join", in->io->inputs[side], -1,
			"%s; " PLEASE " (%s: %llu records in, %llu out%s)",
			sp_strerror(SP_EBALANCE), where, (unsigned long long)came->records,
			(unsigned long long)went->records,
			came->records == went->records ? ", but not the same" : "");
}

int sp__balance_bytes(struct sp__join_inputs *in, const char *where, uint64_t came, uint64_t went)
{
	if (came == went)
		return 0;
	return sp__errf(in->env->err, SP_EBALANCE, "join", NULL, -1,
			"%s; " PLEASE " (%s: %llu bytes in, %llu out)", sp_strerror(SP_EBALANCE),
			where, (unsigned long long)came, (unsigned long long)went);
}

/* Bytes that a scan at its end must have returned. */
static uint64_t scanned(const struct sp__source *s)
{
	return s->scan && s->ended ? s->before + sp__scan_owed(s->scan) : s->bytes;
}

static int balance_source(struct sp__join_inputs *in, int side)
{
	const struct sp__source *s = &in->source[side];
	struct sp__tally cut = { .records = s->lines, .sum = scanned(s) }, done = s->done;

	done.sum += (uint64_t)(s->end - s->at);
	return sp__balance_same(in, side, "input", &cut, &done);
}

int sp__balance_sources(struct sp__join_inputs *in)
{
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++)
		if (sp__join_scans(in->opts, i))
			rc = balance_source(in, i);
	return rc;
}
