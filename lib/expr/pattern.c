/* SPDX-License-Identifier: MIT */
/*
 * The patterns of "like": % is any text, _ one character, \ takes the next byte as it is.
 *
 * A text is compared greedily, and after a difference again from the last %, one character later:
 * an earlier % need not be tried again.  So the time is at most the product of the lengths.
 */
#include "base/utf8.h"
#include "expr/node.h"

size_t sp__expr_character(const char *p, const char *end)
{
	const size_t bytes = sp__utf8_character(p, (size_t)(end - p));

	return bytes ? bytes : 1;
}

bool sp__expr_like(const struct sp__slice *text, const struct sp__slice *pattern)
{
	const char *t = text->p, *t_end = t + text->n;
	const char *p = pattern->p, *p_end = p + pattern->n;
	const char *again_p = NULL, *again_t = NULL;

	while (t < t_end || p < p_end) {
		if (p < p_end && *p == '%') {
			again_p = ++p;
			again_t = t;
			continue;
		}
		if (p < p_end && t < t_end && *p == '_') {
			p++;
			t += sp__expr_character(t, t_end);
			continue;
		}
		if (p < p_end && t < t_end) {
			const size_t escape = *p == '\\' && p + 1 < p_end;

			if (p[escape] == *t) {
				p += escape + 1;
				t++;
				continue;
			}
		}
		if (!again_p || again_t == t_end)
			return false;
		again_t += sp__expr_character(again_t, t_end);
		p = again_p;
		t = again_t;
	}
	return true;
}
