/* SPDX-License-Identifier: MIT */
/*
 * Answers of a system compared with the right ones.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "dbm/answers.h"
#include "tap.h"

/* a2 = 10: the a3 1 and 4; a2 = 20: all from 1 to 50. */
static const struct sp__dbm_question uss = { SP_DBM_USS, 9, 11 };
static const struct sp__dbm_question uss_none = { SP_DBM_USS, 10, 11 };
static const struct sp__dbm_question uss_all = { SP_DBM_USS, 19, 21 };
static const struct sp__dbm_question mean = { SP_DBM_UNJ, 9, 11 };
static const struct sp__dbm_question mean_none = { SP_DBM_UIDX, 10, 20 };

static struct sp__dbm_truth truth;
static char path[] = "/tmp/dbm-answers.XXXXXX";
static struct sp_errinfo err;

static void make_truth(void)
{
	char line[32];
	bool good = !sp__truth_open(&truth) && sp__truth_add(&truth, "1|10|1|x\n2|10|4|x\n", 18);

	for (int i = 1; good && i <= 50; i++)
		good = sp__truth_add(&truth, line,
				     (size_t)snprintf(line, sizeof(line), "3|20|%d|x\n", i));
	if (!good)
		abort();
	sp__truth_end(&truth);
}

static bool right(const struct sp__dbm_question *q, const char *line)
{
	struct sp__dbm_answer a = sp__truth_answer(&truth, q);

	return sp__answer_is(q, &a, line);
}

static void values(void)
{
	static const char *const wrong[] = { "",     "1",      "4,1",  "1,4,", "1, 4", "1,4 ",
					     " 1,4", "1,4,50", "01,4", "1,,4", "1;4",  "1,4\r",
					     "null", "1.0,4",  "1\t4", "1,4,4" };
	char all[256] = "";

	ok(right(&uss, "1,4"), "the values of uss are right");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		ok(!right(&uss, wrong[i]), "'%s' is wrong", wrong[i]);
	ok(right(&uss_none, "") && !right(&uss_none, "null") && !right(&uss_none, " "),
	   "no value is an empty line");
	for (int i = 1; i <= 50; i++)
		sprintf(all + strlen(all), "%s%d", i > 1 ? "," : "", i);
	ok(right(&uss_all, all), "50 values are right");
	all[strlen(all) - 3] = '\0';
	ok(!right(&uss_all, all), "49 of them are wrong");
}

static void means(void)
{
	static const char *const good[] = { "2.5",  "2.50000000000", "25e-1",
					    "+2.5", "2.500000002",   "2.499999998" };
	static const char *const wrong[] = { "",
					     "2.500000003",
					     "2.499999997",
					     "2",
					     "3",
					     "-2.5",
					     "nan",
					     "inf",
					     "null",
					     "NULL",
					     " 2.5",
					     "2.5 ",
					     "2.5\r",
					     "2,5",
					     "2.5|2",
					     "0x1.4p1",
					     "2.5x",
					     "1e999",
					     "Error: database is locked" };

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		ok(right(&mean, good[i]), "a mean of 2.5 is '%s'", good[i]);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		ok(!right(&mean, wrong[i]), "a mean of 2.5 is not '%s'", wrong[i]);
	ok(right(&mean_none, "null"), "a mean of nothing is null");
	ok(!right(&mean_none, "") && !right(&mean_none, "0") && !right(&mean_none, "nan") &&
		   !right(&mean_none, "NULL") && !right(&mean_none, "null "),
	   "a mean of nothing is nothing else");
}

/* Compares a file of these bytes with n questions. */
static int check(const char *bytes, size_t size, unsigned n)
{
	const struct sp__dbm_question questions[] = { uss, mean, uss_none };
	FILE *f = fopen(path, "we");

	if (!f || (size && fwrite(bytes, size, 1, f) != 1) || fclose(f))
		abort();
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	return sp__answers_check(path, &truth, questions, n, &err);
}

static int check_text(const char *text, unsigned n)
{
	return check(text, strlen(text), n);
}

static bool says(const char *text)
{
	return strstr(err.text, text) || (diag("%s", err.text), false);
}

static void files(void)
{
	const size_t huge = 2000000;
	char *line = malloc(huge);

	if (!line)
		abort();
	ok(!check_text("1,4\n2.5\n\n", 3), "a file of right answers is right");
	ok(!check_text("1,4\n2.5", 2), "the last newline can be missing");
	ok(!check_text("", 0), "no question has no answer");
	ok(check_text("1,4\n", 2) == SP_EFORMAT && says("there are 1 answers to 2 queries"),
	   "a missing answer is an error");
	ok(check_text("1,4\n2.5\n\n\n", 3) == SP_EFORMAT && says("more answers than the 3"),
	   "one too many is an error");
	ok(check_text("\n", 0) == SP_EFORMAT, "an answer without a question is an error");
	ok(check_text("1,4\n2.6\n\n", 3) == SP_EFORMAT &&
		   says("answer 2, to unj 9 11, is '2.6'; the generated table gives "
			"'2.500000000000'"),
	   "a wrong answer is shown with the right one");
	ok(check("1,4\0\n", 5, 1) == SP_EFORMAT && check("1,4\0005\n", 6, 1) == SP_EFORMAT &&
		   check("\0\n2.5\n", 6, 1) == SP_EFORMAT,
	   "an answer with a NUL is wrong");
	memset(line, '1', huge);
	ok(check(line, huge, 1) == SP_EFORMAT && says("is '1111"), "a line of 2 MB is wrong");
	unlink(path);
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	ok(sp__answers_check(path, &truth, &uss, 1, &err) == -ENOENT, "a missing file is an error");
	free(line);
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd < 0)
		abort();
	close(fd);
	make_truth();
	values();
	means();
	files();
	sp__truth_close(&truth);
	return done();
}
