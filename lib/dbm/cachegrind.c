/* SPDX-License-Identifier: MIT */
/*
 * Reads results of cachegrind: a line "events:" with names, a line "summary:" with their sums.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/err.h"
#include "dbm/cachegrind.h"

static const struct {
	const char *name;
	enum sp_dbm_event event;
} names[] = {
	{ "Ir", SP_DBM_INSTRUCTIONS },	 { "I1mr", SP_DBM_L1I_MISSES },
	{ "D1mr", SP_DBM_L1D_MISSES },	 { "D1mw", SP_DBM_L1D_MISSES },
	{ "ILmr", SP_DBM_LLC_MISSES },	 { "DLmr", SP_DBM_LLC_MISSES },
	{ "DLmw", SP_DBM_LLC_MISSES },	 { "Bc", SP_DBM_BRANCHES },
	{ "Bi", SP_DBM_BRANCHES },	 { "Bcm", SP_DBM_BRANCH_MISSES },
	{ "Bim", SP_DBM_BRANCH_MISSES },
};

static void add(double *events, const char *name, double value)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i].name)) {
			double *to = &events[names[i].event];

			*to = isnan(*to) ? value : *to + value;
		}
}

/* Adds the numbers of a line to the events of another; both are changed.  False: they differ. */
static bool add_sums(double *events, char *of, char *sums)
{
	char *name_rest, *sum_rest, *end;
	char *name = strtok_r(of, " \n", &name_rest), *sum = strtok_r(sums, " \n", &sum_rest);

	for (; name && sum;
	     name = strtok_r(NULL, " \n", &name_rest), sum = strtok_r(NULL, " \n", &sum_rest)) {
		unsigned long long value = strtoull(sum, &end, 10);

		if (*end)
			return false;
		add(events, name, (double)value);
	}
	return !name && !sum;
}

int sp__cachegrind_add(const char *path, double *events, struct sp_errinfo *err)
{
	char *of = NULL, *line = NULL;
	size_t capacity = 0;
	bool added = false;
	FILE *f = fopen(path, "re");

	if (!f)
		return sp__err(err, -errno, "open", path, -1);
	while (getline(&line, &capacity, f) >= 0) {
		if (!strncmp(line, "events: ", 8)) {
			free(of);
			of = strdup(line + 8);
		} else if (of && !strncmp(line, "summary: ", 9)) {
			added = add_sums(events, of, line + 9);
		}
	}
	free(line);
	free(of);
	fclose(f);
	return added ? 0
		     : sp__errf(err, SP_EFORMAT, "read", path, -1,
				"is not a complete result of cachegrind");
}

int sp__cachegrind_take(const char *folder, double *events, struct sp_errinfo *err)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	char path[4096];
	int rc = 0;

	if (!d)
		return sp__err(err, -errno, "open", folder, -1);
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		rc = rc ? rc : sp__cachegrind_add(path, events, err);
		unlink(path);
	}
	closedir(d);
	return rc;
}
