/* SPDX-License-Identifier: MIT */
/*
 * A locale with a decimal comma and points between thousands: German, built for one test.
 */
#ifndef GERMAN_H
#define GERMAN_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include "tap.h"

static char german_dir[] = "/tmp/spindle-locale-XXXXXX";

/* Sets the locale of the program; false: it cannot be built here. */
static bool german_set(void)
{
	char command[200];

	if (!mkdtemp(german_dir))
		return false;
	snprintf(command, sizeof(command),
		 "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1", german_dir, german_dir);
	if (system(command) == -1)
		return false;
	setenv("LOCPATH", german_dir, 1);
	return setlocale(LC_ALL, "de_DE.UTF-8");
}

static void german_remove(void)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -rf %s", german_dir);
	if (system(command) == -1)
		diag("%s is not removed", german_dir);
}

#endif
