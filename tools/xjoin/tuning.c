/* SPDX-License-Identifier: MIT */
/*
 * Spindle's own options.  All are long except -S and -T, which GNU join lacks.
 */
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "choice.h"
#include "longopt.h"
#include "msg.h"
#include "number.h"
#include "quote.h"
#include "xjoin.h"

#define THREADS_MAX 1024
#define OUTSTANDING_MAX 2048

static const struct sp_word build_words[] = { { "1", 1 }, { "2", 2 }, { "auto", 0 }, { NULL, 0 } };
static const struct sp_word ordered_words[] = { { "1", 1 }, { "2", 2 }, { NULL, 0 } };

static void set_type(void *to, const char *name, const char *text)
{
	struct settings *set = to;

	sp_join_form_set_type(&set->form, choice_option(name, text, sp_join_type_words()));
}

static uint64_t threads(const char *name, const char *text)
{
	uint64_t n = number_option(name, text, 1);

	return n < THREADS_MAX ? n : THREADS_MAX;
}

static uint64_t memory(const char *name, const char *text)
{
	uint64_t bytes = 0;
	enum number_status status = size_parse(text, 1024, &bytes);

	if (status != NUMBER_OK)
		number_die(status, name, text, SIZE_FORMS);
	return bytes ? bytes : 1; /* 0 would mean the default */
}

#define TO(member) SETTING_TO(struct settings, member)

const struct setting tuning_settings[] = {
	{ "algorithm", "WORD", TO(opts.algorithm), .words = sp_join_algorithm_words },
	{ "output", "FILE", TO(output), .once = "output files" },
	{ "type", "WORD", .call = set_type },
	{ "csv", TO(opts.csv) },
	{ "record-size", "N[,N]", .call = record_size_set },
	{ "bkey", "SPEC[,SPEC]", .call = bkey_add },
	{ "build", "FILE", TO(opts.build), .choices = build_words },
	{ "ordered", "FILE", TO(opts.ordered), .choices = ordered_words },
	{ "buffer-size", "SIZE", TO(opts.run.memory_bytes), .whole = memory, .letter = 'S' },
	{ "temporary-directory", "DIR", TO(common), .call = tmpdir_add, .letter = 'T' },
	{ "join-memory", "SIZE", TO(opts.join_bytes), .whole = size_option },
	{ "index1", "FILE", TO(opts.index[0]), .once = "indexes of file 1" },
	{ "index2", "FILE", TO(opts.index[1]), .once = "indexes of file 2" },
	{ "then", "FILE,...", .call = then_add },
	{ "max-outstanding", "N", TO(opts.max_outstanding), .number = { 1, OUTSTANDING_MAX } },
	{ "limit", "N", TO(opts.limit), .number = { 0, UINT64_MAX },
	  .given = offsetof(struct settings, opts.limited) },
	{ "timeline", "FILE", TO(timeline) },
	{ "parallel", "N", TO(opts.run.parallel), .whole = threads },
	COMMON_SETTINGS(struct settings, opts.run),
	{ 0 },
};

/* Of hash joins: those of memory and of temporary data. */
static void check_hash_options(const struct settings *set)
{
	const struct sp_join_opts *o = &set->opts;
	bool unused = o->order == SP_JOIN_CHECK || o->algorithm == SP_JOIN_MERGE ||
		      o->algorithm == SP_JOIN_INL || o->algorithm == SP_JOIN_ASYNC_INL;
	char by[40] = "--check-order";

	if (o->order != SP_JOIN_CHECK)
		snprintf(by, sizeof(by), "--algorithm=%s", sp_join_algorithm_name(o->algorithm));
	longopt_exclude(o->build, "--build", unused, by);
	longopt_exclude(o->join_bytes, "--join-memory", unused, by);
	longopt_exclude(set->common.seeded, "--seed", unused, by);
}

/* What an algorithm would not use is refused; auto may come to use an index. */
static void check_index_options(const struct settings *set)
{
	const struct sp_join_opts *o = &set->opts;
	const char *name = sp_join_algorithm_name(o->algorithm);
	bool unused = o->algorithm != SP_JOIN_AUTO && o->algorithm != SP_JOIN_INL &&
		      o->algorithm != SP_JOIN_ASYNC_INL;
	char by[40] = "--check-order";

	if (o->order != SP_JOIN_CHECK)
		snprintf(by, sizeof(by), "--algorithm=%s", name);
	else
		unused = true;
	longopt_exclude(o->index[0], "--index1", unused, by);
	longopt_exclude(o->index[1], "--index2", unused, by);
	longopt_exclude(o->nthen, "--then", unused, by);
	longopt_exclude(o->max_outstanding, "--max-outstanding",
			unused || o->algorithm == SP_JOIN_INL, by);
}

void tuning_finish(struct settings *set)
{
	struct sp_join_opts *o = &set->opts;
	bool check = o->order == SP_JOIN_CHECK;

	check_index_options(set);
	check_hash_options(set);
	if (o->algorithm == SP_JOIN_AUTO && (set->form.plain || check))
		o->algorithm = SP_JOIN_MERGE;
	if (o->algorithm == SP_JOIN_MERGE) {
		longopt_exclude(o->csv, "--csv", true, "--algorithm=merge");
		longopt_exclude(o->semi, "--type=semi", true, "--algorithm=merge");
		longopt_exclude(true, "--algorithm=merge", o->fixed_bytes[0], "--record-size");
		for (int i = 0; i < 2; i++)
			if (set->form.key[i].n > 1 || set->form.typed)
				die("invalid field number: %s", quote(set->form.key[i].text));
	}
	longopt_exclude(check, "--check-order", o->algorithm != SP_JOIN_MERGE, "--algorithm");
	form_finish(set);
	common_options_finish(&set->common);
	common_options_packed(&set->common, set->output, "--output");
}
