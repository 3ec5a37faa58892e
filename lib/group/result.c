/* SPDX-License-Identifier: MIT */
/*
 * Combines sorted partial records into groups, and writes a row for each (result.h).
 *
 * The records of a group follow each other: first what is kept of it, then the values of its lists,
 * ascending, so ranks and repetitions are counted as they pass.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/err.h"
#include "group/pivot.h"
#include "group/running.h"
#include "group/split.h"

#define ARENA_BYTES ((size_t)16 << 10)
#define LIST_SEPARATOR ';'
#define OTHER_LIST_SEPARATOR ',' /* in lines whose fields end with the first one */

static int no_memory(struct sp__group_results *r)
{
	return sp__err(r->err, -ENOMEM, "allocate", NULL, -1);
}

static bool is_rank(enum sp__group_function f)
{
	return f == SP__GROUP_MEDIAN || f == SP__GROUP_PERCENTILE;
}

static void set_list(struct sp__group_results *r, const struct sp__group_argument *a, unsigned keep,
		     uint32_t number)
{
	if (a->keep & keep) {
		r->lists[number].argument = a;
		r->lists[number].keep = keep;
	}
}

int sp__group_results_open(struct sp__group_results *r)
{
	const struct sp__group_spec *s = r->spec;

	r->lists = calloc(s->nlists + 1, sizeof(*r->lists));
	r->ranks = calloc(s->naggregates + 1, sizeof(*r->ranks));
	r->columns = calloc(sp__group_named(s) + 1, sizeof(*r->columns));
	r->ncolumns = sp__group_named(s) + s->nrunning;
	r->runs = s->nrunning ? sp__group_runs_new(s) : NULL;
	r->pivot = s->pivot ? sp__group_pivot_new(s) : NULL;
	r->scratch = r->having ? sp__expr_scratch_new(r->having) : NULL;
	if (!r->lists || !r->ranks || !r->columns || (r->having && !r->scratch) ||
	    (s->nrunning && !r->runs) || (s->pivot && !r->pivot) ||
	    sp__arena_open(&r->arena, ARENA_BYTES))
		return no_memory(r);
	for (uint32_t i = 0; i < s->narguments; i++) {
		set_list(r, &s->arguments[i], SP__KEEP_NUMBERS, s->arguments[i].numbers);
		set_list(r, &s->arguments[i], SP__KEEP_WORDS, s->arguments[i].words);
		set_list(r, &s->arguments[i], SP__KEEP_ROWS, s->arguments[i].rows);
	}
	if (s->largest)
		r->lists[0].keep = SP__KEEP_ROWS;
	return 0;
}

void sp__group_results_close(struct sp__group_results *r)
{
	for (uint32_t i = 0; r->lists && i < r->spec->nlists; i++) {
		sp__bytes_release(&r->lists[i].last, NULL);
		sp__bytes_release(&r->lists[i].mode, NULL);
		sp__bytes_release(&r->lists[i].joined, NULL);
	}
	free(r->lists);
	free(r->ranks);
	free(r->columns);
	sp__expr_scratch_free(r->scratch);
	sp__expr_free(r->having);
	sp__bytes_release(&r->header, NULL);
	sp__bytes_release(&r->values, NULL);
	sp__arena_close(&r->arena);
	sp__bytes_release(&r->prefix, NULL);
	sp__bytes_release(&r->text, NULL);
	sp__group_runs_free(r->runs);
	sp__group_pivot_free(r->pivot);
	sp__bytes_release(&r->row, NULL);
	sp__bytes_release(&r->body, NULL);
	sp__bytes_release(&r->out, NULL);
	sp__bytes_release(&r->ordered, NULL);
	sp__bytes_release(&r->code, NULL);
}

/* The open group. */

static void end_value(struct sp__group_list *l)
{
	if (l->times > l->most) {
		const struct sp__bytes mode = l->mode;

		l->most = l->times;
		l->mode = l->last;
		l->last = mode;
	}
	l->times = 0;
	l->last.bytes = 0;
}

/* Is a function sp__group_field_fn: a key is a part of the name of a file. */
static int name_file(struct sp__group_results *r, uint32_t number, const char *p, size_t n,
		     bool is_number)
{
	(void)number;
	(void)is_number;
	return sp__group_split_key(r->split, p, n);
}

/* Opens the file of the open group, whose partial records are complete. */
static int open_file(struct sp__group_results *r)
{
	int rc;

	r->take = name_file;
	rc = sp__group_row_key(r);
	r->take = NULL;
	if (!rc)
		rc = sp__group_split_begin(r->split);
	return rc ? rc : sp__group_results_header(r);
}

static int close_file(struct sp__group_results *r)
{
	int rc = sp__group_results_flush(r);

	return rc ? rc : sp__group_split_end(r->split);
}

static int end_group(struct sp__group_results *r)
{
	const struct sp__group_spec *s = r->spec;
	int rc;

	for (uint32_t i = 0; i < s->nlists; i++)
		end_value(&r->lists[i]);
	if (s->largest)
		rc = r->split ? close_file(r) : 0;
	else
		rc = r->pivot ? sp__group_pivot_add(r) : sp__group_row_write(r);
	r->groups++;
	r->records += ((struct sp__grouped *)sp__group_result_part(r, 0))->records;
	r->at = 0;
	return rc;
}

static int begin_group(struct sp__group_results *r, const char *prefix, size_t bytes)
{
	const struct sp__group_spec *s = r->spec;

	if (s->state_bytes + (size_t)2 * SP__ARENA_UNIT > r->arena.capacity &&
	    sp__arena_extend(&r->arena, 2 * s->state_bytes))
		return no_memory(r);
	sp__arena_empty(&r->arena);
	r->at = sp__group_new(s, &r->arena, "", 0, 0);
	for (uint32_t i = 0; i < s->nlists; i++) {
		struct sp__group_list *l = &r->lists[i];

		l->passed = l->distinct = l->times = l->most = 0;
		l->last.bytes = l->mode.bytes = l->joined.bytes = 0;
	}
	return sp__bytes_set(&r->prefix, prefix, bytes, NULL) ? no_memory(r) : 0;
}

/* Computes the ranks of the percentiles, once all counts are known. */
static void begin_ranks(struct sp__group_results *r)
{
	const struct sp__group_spec *s = r->spec;

	for (uint32_t i = 0; i < s->naggregates; i++) {
		const struct sp__group_aggregate *g = &s->aggregates[i];
		struct sp__group_rank *rank = &r->ranks[i];
		unsigned __int128 at;
		uint64_t n;

		if (!is_rank(g->function))
			continue;
		n = *(uint64_t *)sp__group_result_part(r, s->arguments[g->argument].count);
		at = n ? (unsigned __int128)(n - 1) * g->part : 0;
		*rank = (struct sp__group_rank){ .rank = (uint64_t)(at / g->whole),
						 .part = (uint64_t)(at % g->whole) };
	}
}

/* Passes a number that occurs `times` times. */
static int pass_number(struct sp__group_results *r, struct sp__group_list *l, const char *code,
		       size_t n, uint64_t times)
{
	const struct sp__group_spec *s = r->spec;
	const struct sp__group_sum *sum = sp__group_result_part(r, l->argument->sum);
	struct sp__amount x;

	if (!sp__amount_decode((const unsigned char *)code, n, &x))
		return sp__err(r->err, SP_ECORRUPT, "group", NULL, -1);
	x.places = sum->places;
	for (uint32_t i = 0; i < s->naggregates; i++) {
		struct sp__group_rank *rank = &r->ranks[i];

		if (!is_rank(s->aggregates[i].function) ||
		    &s->arguments[s->aggregates[i].argument] != l->argument)
			continue;
		if (rank->rank >= l->passed && rank->rank - l->passed < times)
			rank->low = x;
		if (rank->rank + 1 >= l->passed && rank->rank + 1 - l->passed < times)
			rank->high = x;
	}
	l->passed += times;
	return 0;
}

static int pass_word(struct sp__group_results *r, struct sp__group_list *l, const char *p, size_t n,
		     uint64_t times)
{
	if (l->times && l->last.bytes == n && !memcmp(l->last.data, p, n)) {
		l->times += times;
		return 0;
	}
	end_value(l);
	l->distinct++;
	l->times = times;
	return sp__bytes_set(&l->last, p, n, NULL) ? no_memory(r) : 0;
}

static int pass_row(struct sp__group_results *r, struct sp__group_list *l, const char *p, size_t n)
{
	const struct sp__cut *cut = &r->in->cut;
	const bool taken = cut->kind == SP__CUT_BYTE && cut->sep[0] == LIST_SEPARATOR;
	const char separator = taken ? OTHER_LIST_SEPARATOR : LIST_SEPARATOR;

	if (r->spec->largest)
		return l->passed++ < r->spec->largest ? sp__group_row_put(r, p, n) : 0;
	if (l->passed++ && sp__bytes_append(&l->joined, &separator, 1, NULL))
		return no_memory(r);
	return sp__bytes_append(&l->joined, p, n, NULL) ? no_memory(r) : 0;
}

/* Takes a value of a list: up to the end of the part, then of rows a text, then how often. */
static int take_listed(struct sp__group_results *r, struct sp__group_list *l, const char *at,
		       const char *stop)
{
	const char *end = memchr(at, SP__CODE_END, (size_t)(stop - at)), *text = at, *to;
	struct sp__codes codes;
	uint64_t times;

	if (end && l->keep == SP__KEEP_ROWS) {
		text = end + 1;
		end = memchr(text, SP__CODE_END, (size_t)(stop - text));
	}
	if (!end || sp__bytes_reserve(&r->text, (size_t)(stop - text), NULL))
		return end ? no_memory(r) : sp__err(r->err, SP_ECORRUPT, "group", NULL, -1);
	codes.p = r->text.data;
	codes.end = sp__code_unescape(r->text.data, end + 1, (size_t)(stop - end - 1));
	codes.bad = false;
	times = (uint64_t)sp__code_take(&codes);
	if (codes.bad)
		return sp__err(r->err, SP_ECORRUPT, "group", NULL, -1);
	if (l->keep == SP__KEEP_WORDS)
		return pass_word(r, l, text, (size_t)(end - text), times);
	to = sp__code_unescape(r->text.data, text, (size_t)(end - text));
	if (l->keep == SP__KEEP_ROWS)
		return pass_row(r, l, r->text.data, (size_t)(to - r->text.data));
	return pass_number(r, l, r->text.data, (size_t)(to - r->text.data), times);
}

static int take_group(struct sp__group_results *r, const char *at, const char *stop)
{
	struct sp__codes codes = { 0 };
	int rc;

	if (sp__bytes_reserve(&r->text, (size_t)(stop - at), NULL))
		return no_memory(r);
	codes.p = r->text.data;
	codes.end = sp__code_unescape(r->text.data, at, (size_t)(stop - at));
	rc = sp__group_merge(r->spec, &r->arena, r->at, &codes);
	if (rc)
		return sp__err(r->err, rc, "group", NULL, -1);
	begin_ranks(r);
	/* A huge text is now in the arena. */
	sp__bytes_empty(&r->text, NULL);
	return 0;
}

/* Takes a partial record [at, stop). */
static int take(struct sp__group_results *r, const char *at, const char *stop)
{
	const struct sp__group_spec *s = r->spec;
	const char *p = at;
	unsigned char tag;
	int rc = 0;

	if (r->at && (size_t)(stop - at) > r->prefix.bytes &&
	    (!r->prefix.bytes || !memcmp(at, r->prefix.data, r->prefix.bytes))) {
		/* No key is the beginning of another one. */
		p += r->prefix.bytes;
	} else {
		for (uint32_t i = 0; p && i < s->nkeys; i++)
			if ((p = memchr(p, SP__CODE_END, (size_t)(stop - p))))
				p++;
		if (!p || p == stop)
			return sp__err(r->err, SP_ECORRUPT, "group", NULL, -1);
		rc = r->at ? end_group(r) : 0;
		if (!rc)
			rc = begin_group(r, at, (size_t)(p - at));
		if (rc)
			return rc;
	}
	tag = (unsigned char)*p++;
	if (tag == SP__TAG_GROUP)
		return take_group(r, p, stop);
	if (tag < SP__TAG_LIST || tag - SP__TAG_LIST >= (int)s->nlists)
		return sp__err(r->err, SP_ECORRUPT, "group", NULL, -1);
	if (r->split && !r->lists[0].passed)
		rc = open_file(r);
	return rc ? rc : take_listed(r, &r->lists[tag - SP__TAG_LIST], p, stop);
}

int sp__group_results_take(struct sp__group_results *r, const struct sp_batch *partial)
{
	const char *at = partial->data, *end = at + partial->bytes;
	int rc = 0;

	for (const char *stop; !rc && at < end; at = stop + 1) {
		stop = memchr(at, SP__CODE_NUL, (size_t)(end - at));
		rc = take(r, at, stop);
	}
	return rc;
}

int sp__group_results_end(struct sp__group_results *r)
{
	int rc = 0;

	if (!r->at && !r->groups && !r->spec->nkeys)
		rc = begin_group(r, "", 0);
	if (!rc && r->at)
		rc = end_group(r);
	return rc || !r->pivot ? rc : sp__group_pivot_end(r);
}

/* Writes a row of the sort, [at, stop): behind the parts of the order. */
static int write_sorted(struct sp__group_results *r, const char *at, const char *stop)
{
	for (unsigned i = sp__group_is_ordered(r) + 1; i; i--)
		at = (const char *)memchr(at, SP__CODE_END, (size_t)(stop - at)) + 1;
	if (r->pivot)
		return sp__group_pivot_write(r, at, stop);
	if (r->runs && !(at = sp__group_runs_restore(r->runs, at, stop)))
		return no_memory(r);
	if (sp__bytes_reserve(&r->row, (size_t)(stop - at), NULL))
		return no_memory(r);
	r->row.bytes =
		(size_t)(sp__code_unescape(r->row.data, at, (size_t)(stop - at)) - r->row.data);
	return sp__group_row_finish(r);
}

int sp__group_results_rows(struct sp__group_results *r, const struct sp_batch *sorted)
{
	const char *at = sorted->data, *end = at + sorted->bytes;
	int rc = 0;

	for (const char *stop; !rc && at < end; at = stop + 1) {
		stop = memchr(at, SP__CODE_NUL, (size_t)(end - at));
		rc = write_sorted(r, at, stop);
	}
	return rc;
}
