/* SPDX-License-Identifier: MIT */
/*
 * Creates generators and fills buffers with whole records.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/enum.h"
#include "gen/gen.h"

static int bad(struct sp_errinfo *err, const char *reason)
{
	return sp__errf(err, -EINVAL, "generate", "", -1, "%s", reason);
}

static bool is_dbm(const struct sp_gen_opts *o)
{
	return o->kind == SP_GEN_T1 || o->kind == SP_GEN_T2;
}

/* A record of T1 or T2 is three integers of 4 bytes and at least 1 byte of padding. */
static int check_record_bytes(const struct sp_gen_opts *o, struct sp_errinfo *err)
{
	size_t min = is_dbm(o) ? 13 : 12, bytes = o->record_bytes;

	if (!bytes || (bytes >= min && bytes <= 32768))
		return 0;
	return sp__errf(err, -EINVAL, "generate", "", -1,
			"the bytes of a record must be from %zu to 32768", min);
}

static int check_scale(const struct sp_gen_opts *o, struct sp_errinfo *err)
{
	if (!(o->scale > 0 && o->scale <= 100000))
		return bad(err, "the scale must be above 0 and at most 100000");
	if (is_dbm(o) && o->scale > 14316)
		return bad(err, "the scale must be at most 14316: a1 has 4 bytes");
	return 0;
}

static int check(const struct sp_gen_opts *o, struct sp_errinfo *err)
{
	int rc;

	if ((unsigned int)o->kind > SP_GEN_G1)
		return bad(err, "unknown kind of data");
	if ((unsigned int)o->order > SP_GEN_NEARLY)
		return bad(err, "unknown order of keys");
	if (o->kind <= SP_GEN_RUNS && !o->records && !o->bytes)
		return bad(err, "a number of records or of bytes is needed");
	if (!(o->theta >= 0 && o->theta <= 8))
		return bad(err, "theta must be from 0 to 8");
	if (!(o->nearly >= 0 && o->nearly <= 1))
		return bad(err, "the share of displaced records must be from 0 to 1");
	if (!(o->alpha >= 0 && o->alpha <= 1))
		return bad(err, "alpha must be from 0 to 1");
	if (o->runs < 1 || o->runs > UINT32_MAX)
		return bad(err, "the number of runs must be from 1 to 4294967295");
	if (o->words > 1024)
		return bad(err, "a line has at most 1024 words");
	rc = check_record_bytes(o, err);
	return rc < 0 ? rc : check_scale(o, err);
}

static int init(struct sp_gen *g, struct sp_errinfo *err)
{
	switch (g->opts.kind) {
	case SP_GEN_LINES:
		return sp__gen_lines(g, err);
	case SP_GEN_RECORDS:
		return sp__gen_records(g, err);
	case SP_GEN_RUNS:
		return sp__gen_runs(g, err);
	case SP_GEN_R:
		return sp__gen_reals(g, err);
	case SP_GEN_T1:
	case SP_GEN_T2:
		return sp__gen_dbm(g, err);
	case SP_GEN_G1:
		return sp__gen_g1(g, err);
	default:
		return sp__gen_table(g, err);
	}
}

int sp_gen_new(struct sp_gen **gen, const struct sp_gen_opts *opts, struct sp_errinfo *err)
{
	struct sp_gen *g;
	int rc = check(opts, err);

	if (rc < 0)
		return rc;
	g = calloc(1, sizeof(*g));
	if (!g)
		return sp__err(err, -ENOMEM, "generate", "", -1);
	g->opts = *opts;
	g->rows = opts->records ? opts->records : UINT64_MAX;
	g->limit_bytes = opts->bytes ? opts->bytes : UINT64_MAX;
	rc = init(g, err);
	if (rc < 0) {
		sp_gen_free(g);
		return rc;
	}
	*gen = g;
	return 0;
}

long sp_gen_fill(struct sp_gen *g, char *buf, size_t bytes)
{
	char *p = buf, *end = buf + bytes, *q;
	uint64_t given = g->bytes;

	while (g->row < g->rows && g->bytes < g->limit_bytes) {
		if ((size_t)(end - p) < g->max_bytes)
			return p > buf ? p - buf : -EINVAL;
		q = g->emit(g, p);
		if (!q) {
			g->rows = g->row;
			break;
		}
		g->row++;
		p = q;
		g->bytes = given + (uint64_t)(p - buf);
	}
	return p - buf;
}

uint64_t sp_gen_count(const struct sp_gen *g)
{
	return g->row;
}

void sp_gen_free(struct sp_gen *g)
{
	if (!g)
		return;
	if (g->release && g->state)
		g->release(g->state);
	else
		free(g->state);
	free(g);
}

SP__ENUM_TABLE(sp_gen_kind, { "lines", SP_GEN_LINES }, { "records", SP_GEN_RECORDS },
	       { "runs", SP_GEN_RUNS }, { "lineitem", SP_GEN_LINEITEM },
	       { "orders", SP_GEN_ORDERS }, { "partsupp", SP_GEN_PARTSUPP },
	       { "supplier", SP_GEN_SUPPLIER }, { "customer", SP_GEN_CUSTOMER },
	       { "part", SP_GEN_PART }, { "r", SP_GEN_R }, { "t1", SP_GEN_T1 }, { "t2", SP_GEN_T2 },
	       { "g1", SP_GEN_G1 })

SP__ENUM_TABLE(sp_gen_order, { "uniform", SP_GEN_UNIFORM }, { "zipf", SP_GEN_ZIPF },
	       { "few", SP_GEN_FEW }, { "sorted", SP_GEN_SORTED }, { "reverse", SP_GEN_REVERSE },
	       { "nearly", SP_GEN_NEARLY })
