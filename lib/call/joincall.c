/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <spindle/report.h>
#include "base/err.h"
#include "call/joincall.h"

int sp_call_join(struct sp_call_join **call, const char *const *words, size_t nwords,
		 struct sp_errinfo *err)
{
	static const struct sp_call_join init = { .opts = SP_JOIN_OPTS_INIT };
	struct sp_errinfo why = SP_ERRINFO_INIT;
	struct sp_call_join *c = malloc(sizeof(*c));
	const char *where = NULL;
	int rc;

	*call = NULL;
	if (!c)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	*c = init;
	c->opts.algorithm = SP_JOIN_AUTO;
	rc = sp__call_keep(&c->base, words, nwords, &why);
	if (!rc)
		rc = sp__call_join_words(c, nwords, &where, &why);
	if (!rc)
		rc = sp__call_complete(&c->base, &c->opts.run, &why);
	if (rc < 0) {
		rc = sp__call_wrong(err, &why, where);
		sp_call_join_free(c);
		return rc;
	}
	*call = c;
	return 0;
}

void sp_call_join_free(struct sp_call_join *call)
{
	if (!call)
		return;
	for (int i = 0; i < 2; i++) {
		free(call->key[i].field);
		free(call->key[i].type);
		free(call->bkey[i]);
	}
	free(call->collated);
	free(call->columns);
	free(call->parts);
	sp__call_release(&call->base);
	free(call);
}

int sp_call_join_files(const struct sp_call_join *call, const char *left, const char *right,
		       const uint64_t bytes[2], const char *output, char **report,
		       struct sp_errinfo *err)
{
	const struct sp_join_io io = { .inputs = { left, right }, .output = output };
	struct sp_join_opts opts = call->opts;
	struct sp_join_stats stats;
	int rc;

	for (int i = 0; bytes && i < 2; i++)
		opts.input_bytes[i] = bytes[i];
	sp_join_expect(&opts, io.inputs);
	rc = sp_join_run(&opts, &io, &stats, err);
	if (rc > 0)
		return sp__errf(err, SP_EFORMAT, "join", NULL, -1, "an input is not sorted");
	if (!rc && report)
		rc = sp__call_json(sp_report_join(&opts, &io, &stats), report, err);
	return rc;
}
