/* SPDX-License-Identifier: MIT */
/* Makes the operator of a join: checks its options and chooses the algorithm. */
#include "base/err.h"
#include "join/joining.h"

static bool same_records(const struct sp_recfmt *a, const struct sp_recfmt *b)
{
	if (a->kind != b->kind || a->kind == SP_REC_FIXED)
		return false;
	return a->kind == SP_REC_CSV ? a->separator == b->separator : a->eol == b->eol;
}

/* Checks in addition to those for files; further indexes are operators of their own. */
static const char *refuse(const struct sp_join_opts *o, struct sp_operator *const inputs[2])
{
	struct sp_recfmt format;

	if (o->header || o->auto_columns || o->limited || o->nthen)
		return "a join of operators has no header, no limit and no further files";
	if (o->fixed_bytes[0] || o->fixed_bytes[1])
		return "a join of operators joins lines or CSV records";
	if (sp__is_inl(o->algorithm) != !inputs[1])
		return "index nested loops have one input, other joins have two";
	for (int i = 0; i < 2 && inputs[i]; i++) {
		format = sp__join_format(o, i);
		if (!same_records(&inputs[i]->format, &format))
			return "the records of an input are not those of the join";
	}
	return NULL;
}

int sp_join_operator(struct sp_operator **op, struct sp_operator *left, struct sp_operator *right,
		     const struct sp_join_opts *opts)
{
	struct sp_operator *const inputs[2] = { left, right };
	const char *reason = refuse(opts, inputs);

	if (reason)
		return sp__errf(left->flow->env.err, SP_EUNSUP, "plan", NULL, -1, "%s", reason);
	if (!right)
		return sp__inl_operator(op, inputs, opts);
	return opts->algorithm == SP_JOIN_AUTO || opts->algorithm == SP_JOIN_MERGE
		       ? sp__merge_operator(op, inputs, opts)
		       : sp__hash_operator(op, inputs, opts);
}
