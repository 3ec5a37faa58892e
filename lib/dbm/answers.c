/* SPDX-License-Identifier: MIT */
/*
 * Judges plans and answers of systems (answers.h), and names the values of the public enums.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <spindle/dbm.h>
#include "base/enum.h"
#include "base/err.h"
#include "base/floats.h"
#include "dbm/answers.h"

SP__ENUM_TABLE(sp_dbm_query, { "uss", SP_DBM_USS }, { "unj", SP_DBM_UNJ }, { "uidx", SP_DBM_UIDX })

SP__ENUM_TABLE(sp_dbm_counters, { "auto", SP_DBM_COUNTERS_AUTO }, { "hw", SP_DBM_COUNTERS_HW },
	       { "sim", SP_DBM_COUNTERS_SIM }, { "none", SP_DBM_COUNTERS_NONE })

SP__ENUM_TABLE(sp_dbm_event, { "cycles", SP_DBM_CYCLES }, { "instructions", SP_DBM_INSTRUCTIONS },
	       { "branches", SP_DBM_BRANCHES }, { "branch_misses", SP_DBM_BRANCH_MISSES },
	       { "l1d_misses", SP_DBM_L1D_MISSES }, { "l1i_misses", SP_DBM_L1I_MISSES },
	       { "llc_misses", SP_DBM_LLC_MISSES }, { "dtlb_misses", SP_DBM_DTLB_MISSES },
	       { "itlb_misses", SP_DBM_ITLB_MISSES }, { "frontend_stalls", SP_DBM_FRONTEND_STALLS },
	       { "backend_stalls", SP_DBM_BACKEND_STALLS })

/*
 * What a plan must name.  Every system has words of its own, so several are right: a scan of T1 can
 * be called "SCAN t1", "Seq Scan on t1" or "SEQ_SCAN"; a nested loop can search T2 without the word
 * join.
 */
struct needed {
	const char *words[4]; /* one of them */
	const char *name;
};

static const struct needed needed[SP_DBM_QUERIES][3] = {
	[SP_DBM_USS] = { { { "scan" }, "a scan" } },
	[SP_DBM_UNJ] = { { { "t1" }, "T1" },
			 { { "t2" }, "T2" },
			 { { "join", "loop", "search" }, "a join" } },
	[SP_DBM_UIDX] = { { { "index" }, "an index" } },
};

/* True if the text has the word, whatever its case, and no letter or digit is around a table's. */
static bool has(const char *text, const char *word)
{
	const size_t n = strlen(word);
	const bool whole = isdigit((unsigned char)word[n - 1]);

	for (const char *at = text; *at; at++)
		if (!strncasecmp(at, word, n) &&
		    (!whole || ((at == text || !isalnum((unsigned char)at[-1])) &&
				!isalnum((unsigned char)at[n]))))
			return true;
	return false;
}

const char *sp__plan_lacks(enum sp_dbm_query query, const char *text)
{
	for (size_t i = 0; i < 3 && needed[query][i].name; i++) {
		const struct needed *of = &needed[query][i];
		bool found = false;

		for (size_t k = 0; k < 4 && of->words[k]; k++)
			found |= has(text, of->words[k]);
		if (!found)
			return of->name;
	}
	return NULL;
}

int sp__truth_open(struct sp__dbm_truth *t)
{
	*t = (struct sp__dbm_truth){ .upto = calloc((SP_DBM_VALUES + 1) * SP__TRUTH_GROUPS,
						    sizeof(*t->upto)) };
	return t->upto ? 0 : -ENOMEM;
}

void sp__truth_close(struct sp__dbm_truth *t)
{
	free(t->upto);
	t->upto = NULL;
}

/* Reads a number from 1 to max and the bar behind it.  Returns what follows, or NULL. */
static const char *number(const char *at, const char *end, uint64_t max, uint32_t *value)
{
	uint64_t n = 0;

	for (; at < end && *at >= '0' && *at <= '9' && n <= max; at++)
		n = 10 * n + (uint64_t)(*at - '0');
	*value = (uint32_t)n;
	return n >= 1 && n <= max && at < end && *at == '|' ? at + 1 : NULL;
}

bool sp__truth_add(struct sp__dbm_truth *t, const char *lines, size_t bytes)
{
	const char *const end = lines + bytes;

	while (lines < end) {
		uint32_t a1, a2, a3;
		const char *at = number(lines, end, UINT32_MAX, &a1);

		at = at ? number(at, end, SP_DBM_VALUES, &a2) : NULL;
		at = at ? number(at, end, SP__TRUTH_GROUPS, &a3) : NULL;
		at = at ? memchr(at, '\n', (size_t)(end - at)) : NULL;
		if (!at)
			return false;
		t->upto[a2 * SP__TRUTH_GROUPS + a3 - 1]++;
		t->records++;
		lines = at + 1;
	}
	return true;
}

void sp__truth_end(struct sp__dbm_truth *t)
{
	for (size_t i = SP__TRUTH_GROUPS; i < (SP_DBM_VALUES + 1) * SP__TRUTH_GROUPS; i++)
		t->upto[i] += t->upto[i - SP__TRUTH_GROUPS];
}

struct sp__dbm_answer sp__truth_answer(const struct sp__dbm_truth *t,
				       const struct sp__dbm_question *q)
{
	struct sp__dbm_answer a = { 0 };
	const uint32_t *low = t->upto + (size_t)q->lo * SP__TRUTH_GROUPS;
	const uint32_t *high = t->upto + (size_t)(q->hi - 1) * SP__TRUTH_GROUPS;

	for (unsigned i = 0; i < SP__TRUTH_GROUPS; i++) {
		const uint32_t n = high[i] - low[i];

		a.records += n;
		a.sum += n * (uint64_t)(i + 1);
		a.groups |= (uint64_t)(n != 0) << (i + 1);
	}
	return a;
}

#define TOLERANCE 1e-9

void sp__answer_print(const struct sp__dbm_question *q, const struct sp__dbm_answer *a, char *text)
{
	*text = 0;
	if (q->query != SP_DBM_USS && a->records)
		sprintf(text, "%.12f", (double)a->sum / (double)a->records);
	else if (q->query != SP_DBM_USS)
		strcpy(text, "null");
	else
		for (unsigned i = 1; i <= SP__TRUTH_GROUPS; i++)
			if (a->groups >> i & 1)
				text += sprintf(text,
						a->groups & ((UINT64_C(1) << i) - 1) ? ",%u" : "%u",
						i);
}

static bool is_mean(const struct sp__dbm_answer *a, const char *line)
{
	double value, right = (double)a->sum / (double)a->records;

	return !sp__read_f64(line, strlen(line), &value) &&
	       fabs(value - right) <= TOLERANCE * fmax(1, right);
}

bool sp__answer_is(const struct sp__dbm_question *q, const struct sp__dbm_answer *a,
		   const char *line)
{
	char right[256];

	if (q->query != SP_DBM_USS && a->records)
		return is_mean(a, line);
	sp__answer_print(q, a, right);
	return !strcmp(line, right);
}

static int wrong(const char *path, const struct sp__dbm_question *q, unsigned i, const char *line,
		 const struct sp__dbm_answer *a, struct sp_errinfo *err)
{
	char right[256];

	sp__answer_print(q, a, right);
	return sp__errf(err, SP_EFORMAT, "read", path, -1,
			"answer %u, to %s %u %u, is '%.60s'; the generated table gives '%.80s'",
			i + 1, sp_dbm_query_name(q->query), q->lo, q->hi, line, right);
}

static int check_lines(FILE *f, const char *path, const struct sp__dbm_truth *t,
		       const struct sp__dbm_question *questions, unsigned n, struct sp_errinfo *err)
{
	char *line = NULL;
	size_t capacity = 0;
	unsigned i = 0;
	int rc = 0;
	ssize_t got;

	while (!rc && (got = getline(&line, &capacity, f)) >= 0) {
		struct sp__dbm_answer a;

		if (got && line[got - 1] == '\n')
			line[--got] = 0;
		if (i == n) {
			rc = sp__errf(err, SP_EFORMAT, "read", path, -1,
				      "there are more answers than the %u queries", n);
			break;
		}
		a = sp__truth_answer(t, &questions[i]);
		if (strlen(line) != (size_t)got || !sp__answer_is(&questions[i], &a, line))
			rc = wrong(path, &questions[i], i, line, &a, err);
		i++;
	}
	free(line);
	if (!rc && ferror(f))
		rc = sp__err(err, -EIO, "read", path, -1);
	if (!rc && i < n)
		rc = sp__errf(err, SP_EFORMAT, "read", path, -1,
			      "there are %u answers to %u queries", i, n);
	return rc;
}

int sp__answers_check(const char *path, const struct sp__dbm_truth *t,
		      const struct sp__dbm_question *questions, unsigned n, struct sp_errinfo *err)
{
	FILE *f = fopen(path, "re");
	int rc;

	if (!f)
		return sp__err(err, -errno, "open", path, -1);
	rc = check_lines(f, path, t, questions, n, err);
	fclose(f);
	return rc;
}
