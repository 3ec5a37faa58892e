/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <spindle/version.h>
#include "msg.h"
#include "version.h"

void version_print(void)
{
	printf("%s (Spindle) %s\n", msg_program(), SP_VERSION);
	puts("MIT licence: free to use, change and pass on, without any warranty.");
}
