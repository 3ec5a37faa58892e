/* SPDX-License-Identifier: MIT */
/*
 * The state of a call that joins.
 */
#ifndef SP__CALL_JOINCALL_H
#define SP__CALL_JOINCALL_H

#include <spindle/join.h>
#include "call/call.h"

/* The fields of one file that are its key. */
struct sp__call_key {
	size_t *field; /* counted from 0 */
	struct sp_key *type;
	size_t n;
};

struct sp_call_join {
	struct sp_call base; /* words and directories */
	struct sp_join_opts opts;
	struct sp__call_key key[2];
	bool typed;
	bool *collated;
	struct sp_join_column *columns;
	struct sp_key *parts; /* of binary records: their keys and columns */
	size_t nparts;
	size_t *bkey[2];
	size_t nbkeys;
	char separator[16], fill[2];
};

/* Applies the words, which base has; where: as for sp_order_parse(). */
SP_MUST_CHECK int sp__call_join_words(struct sp_call_join *join, size_t nwords, const char **where,
				      struct sp_errinfo *err);

#endif
