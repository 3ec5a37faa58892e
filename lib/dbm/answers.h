/* SPDX-License-Identifier: MIT */
/*
 * Compares what a system printed with what is right: values exactly, means to 1e-9.
 */
#pragma once

#include "dbm/truth.h"

/* Writes a right answer as a system prints it.  text: 256 bytes. */
void sp__answer_print(const struct sp__dbm_question *q, const struct sp__dbm_answer *a, char *text);
/* True if a line, without its newline, is this answer. */
bool sp__answer_is(const struct sp__dbm_question *q, const struct sp__dbm_answer *a,
		   const char *line);
/*
 * Compares the lines of a file with n questions.  Returns 0; SP_EFORMAT if there are fewer or more,
 * or one is wrong; -ENOMEM; or -errno.
 */
SP_MUST_CHECK int sp__answers_check(const char *path, const struct sp__dbm_truth *t,
				    const struct sp__dbm_question *questions, unsigned n,
				    struct sp_errinfo *err);
