/* SPDX-License-Identifier: MIT */
/*
 * A line on the terminal with the state of a measurement, erased at its end.
 */
#include <stdarg.h>
#include <stdio.h>
#include "msg.h"
#include "progress.h"
#include "aiobench.h"

bool live_wanted(void)
{
	static int wanted = -1;

	if (wanted < 0)
		wanted = progress_wanted(PROGRESS_AUTO, 0);
	return wanted;
}

void show_live(const char *fmt, ...)
{
	char text[256];
	va_list ap;

	if (!live_wanted())
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	progress_draw("%s: %s", msg_program(), text);
}

void show_progress(void *arg, double share_done)
{
	(void)arg;
	show_live("%.0f %%", 100 * share_done);
}

void end_progress(void)
{
	progress_wipe();
}
