/* SPDX-License-Identifier: MIT */
/*
 * Refuses incompatible options, and completes the others.
 */
#include <stdio.h>
#include "xjoin.h"

/* Refuses options that the algorithm does not use; auto can choose an index. */
static void check_unused(const struct settings *set)
{
	const struct sp_join_opts *o = &set->opts;
	bool check = o->order == SP_JOIN_CHECK;
	bool loops = o->algorithm == SP_JOIN_INL || o->algorithm == SP_JOIN_ASYNC_INL;
	bool no_index = check || (o->algorithm != SP_JOIN_AUTO && !loops);
	bool no_hash = check || loops || o->algorithm == SP_JOIN_MERGE;
	char by[40] = "--check-order";

	if (!check)
		snprintf(by, sizeof(by), "--algorithm=%s", sp_join_algorithm_name(o->algorithm));
	args_exclude(o->index[0], "--index1", no_index, by);
	args_exclude(o->index[1], "--index2", no_index, by);
	args_exclude(o->nthen, "--then", no_index, by);
	args_exclude(o->max_outstanding, "--max-outstanding",
		     no_index || o->algorithm == SP_JOIN_INL, by);
	args_exclude(o->build, "--build", no_hash, by);
	args_exclude(o->join_bytes, "--join-memory", no_hash, by);
	args_exclude(set->common.seeded, "--seed", no_hash, by);
}

void tuning_finish(struct settings *set)
{
	struct sp_join_opts *o = &set->opts;
	bool check = o->order == SP_JOIN_CHECK;

	check_unused(set);
	suffixes_check(set);
	if (o->algorithm == SP_JOIN_AUTO && (set->form.plain || check))
		o->algorithm = SP_JOIN_MERGE;
	if (o->algorithm == SP_JOIN_MERGE) {
		args_exclude(o->csv, "--csv", true, "--algorithm=merge");
		args_exclude(o->semi, "--type=semi", true, "--algorithm=merge");
		args_exclude(true, "--algorithm=merge", o->fixed_bytes[0], "--record-size");
		for (int i = 0; i < 2; i++)
			if (set->form.key[i].n > 1 || set->form.typed)
				die("invalid field number: %s", quote(set->form.key[i].text));
	}
	args_exclude(check, "--check-order", o->algorithm != SP_JOIN_MERGE, "--algorithm");
	form_finish(set);
	common_options_finish(&set->common);
	common_options_packed(&set->common, set->output, "--output");
}
