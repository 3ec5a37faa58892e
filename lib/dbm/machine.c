/* SPDX-License-Identifier: MIT */
/*
 * Reads /proc/cpuinfo and uname.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "dbm/machine.h"
#include "dbm/run.h"
#include "run/memory.h"

/* Reads the name of the processor; "" if the kernel does not tell. */
static void read_processor(char *name, size_t capacity)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256];

	*name = 0;
	while (f && !*name && fgets(line, sizeof(line), f)) {
		const char *colon = strstr(line, ": ");

		if (colon && !strncmp(line, "model name", 10))
			snprintf(name, capacity, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
	}
	if (f)
		fclose(f);
}

int sp__dbm_machine(struct sp_dbm_result *result)
{
	struct utsname u = { 0 };
	char name[256], kernel[256] = "";

	read_processor(name, sizeof(name));
	if (!uname(&u))
		snprintf(kernel, sizeof(kernel), "%.60s %.60s %.60s", u.sysname, u.release,
			 u.machine);
	result->machine = sp__dbm_keep(result, name);
	result->kernel = sp__dbm_keep(result, kernel);
	result->processors = sp__threads(0);
	result->memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	return result->machine && result->kernel ? 0 : -ENOMEM;
}
