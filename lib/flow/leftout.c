/* SPDX-License-Identifier: MIT */
/* Records that a scan leaves out (scan.h): sums of several scans, and the first one's line. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "flow/scan.h"

void sp__left_out_join(struct sp__left_out *sum, const struct sp__left_out *more)
{
	const struct sp__left_out before = *sum;
	const bool first = more->skipped && (!sum->skipped || more->input < sum->input ||
					     (more->input == sum->input && more->from < sum->from));

	if (first)
		*sum = *more;
	sum->filtered = before.filtered + more->filtered;
	sum->skipped = before.skipped + more->skipped;
}

void sp__left_out_name(const struct sp__left_out *l, const char *input, char eol, char *text,
		       size_t room)
{
	const bool given = !strcmp(input, "-");
	const int fd = !l->from ? -1 : given ? STDIN_FILENO : open(input, O_RDONLY | O_CLOEXEC);
	uint64_t line = l->line;

	/* Without the lines before a part the number would be wrong. */
	if (l->from && (fd < 0 || sp__lines_before(fd, l->from, eol, &line)))
		snprintf(text, room, "a line%s", l->reason);
	else
		snprintf(text, room, "line %llu%s", (unsigned long long)line, l->reason);
	if (fd >= 0 && !given)
		close(fd);
}
