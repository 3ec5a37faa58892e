/* SPDX-License-Identifier: MIT */
/*
 * What a program of the user prints for dbmbench, and results of cachegrind: accepted answers are
 * the right ones, a refusal has a reason, and the case of a plan does not matter.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "dbm/answers.h"
#include "dbm/counting.h"

#define QUESTIONS 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
const char *const sp_fuzz_tokens[] = { "1,4\n",	      "2.5",  "null\n",	    "\n",
				       "nan",	      "e-1",  "events: Ir", " Bc",
				       "\nsummary: ", " 42",  "SCAN ",	    "T1",
				       "T2",	      "join", "index",	    "2.500000000000\n",
				       NULL };

static const struct sp__dbm_question questions[QUESTIONS] = { { SP_DBM_USS, 9, 11 },
							      { SP_DBM_UNJ, 9, 11 },
							      { SP_DBM_UIDX, 10, 20 } };
static struct sp__dbm_truth truth;
static char path[64];
static int fd;

static void require(bool cond)
{
	if (!cond)
		abort();
}

static void begin(void)
{
	if (truth.upto)
		return;
	require(!sp__truth_open(&truth) && sp__truth_add(&truth, "1|10|1|x\n2|10|4|x\n", 18));
	sp__truth_end(&truth);
	fd = memfd_create("output", MFD_CLOEXEC);
	require(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
}

/* True if the text is one right answer to each question: 1,4, 2.5 and null. */
static bool right(const char *text, size_t bytes)
{
	char *end;
	double mean;

	if (strlen(text) != bytes || strncmp(text, "1,4\n", 4))
		return false;
	mean = strtod(text + 4, &end);
	return fabs(mean - 2.5) <= 2.5e-9 && (!strcmp(end, "\nnull\n") || !strcmp(end, "\nnull"));
}

static void check_answers(const char *text, size_t bytes)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc = sp__answers_check(path, &truth, questions, QUESTIONS, &err);

	require(!rc || (rc == SP_EFORMAT && *err.text));
	if (!rc)
		require(right(text, bytes));
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	rc = sp__answers_check(path, &truth, questions, 0, &err);
	require(rc == (bytes ? SP_EFORMAT : 0));
}

static void check_counts(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	double events[SP_DBM_EVENTS];
	int rc;

	for (int i = 0; i < SP_DBM_EVENTS; i++)
		events[i] = NAN;
	rc = sp__cachegrind_add(path, events, &err);
	require(!rc || (rc == SP_EFORMAT && *err.text));
	for (int i = 0; i < SP_DBM_EVENTS; i++)
		require(isnan(events[i]) || events[i] >= 0);
}

static void check_plan(char *text, size_t bytes)
{
	const char *lacks[SP_DBM_QUERIES];

	for (unsigned q = 0; q < SP_DBM_QUERIES; q++)
		lacks[q] = sp__plan_lacks(q, text);
	for (size_t i = 0; i < bytes; i++)
		text[i] = (char)toupper((unsigned char)text[i]);
	for (unsigned q = 0; q < SP_DBM_QUERIES; q++)
		require(sp__plan_lacks(q, text) == lacks[q]);
	strcpy(text + strlen(text), " scan of T1, T2 by index; join");
	for (unsigned q = 0; q < SP_DBM_QUERIES; q++)
		require(!sp__plan_lacks(q, text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = calloc(1, bytes + 64);

	begin();
	require(text && !ftruncate(fd, 0) && pwrite(fd, data, bytes, 0) == (ssize_t)bytes);
	if (bytes)
		memcpy(text, data, bytes);
	check_answers(text, bytes);
	check_counts();
	check_plan(text, bytes);
	free(text);
	return 0;
}
