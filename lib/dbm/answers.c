/* SPDX-License-Identifier: MIT */
/*
 * Compares answers (answers.h).
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/readfloat.h"
#include "dbm/answers.h"

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
			"answer %u, to %s %u %u, is '%.60s', but of the generated table it is "
			"'%.80s'",
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
