/* SPDX-License-Identifier: MIT */
/*
 * Finds the adapters of a folder.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <spindle/dbm.h>
#include "base/array.h"
#include "base/err.h"
#include "dbm/run.h"

#define TIMEOUT_NS UINT64_C(60000000000)

void sp_dbm_systems_free(struct sp_dbm_system *systems, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free((char *)(uintptr_t)systems[i].name);
		free((char *)(uintptr_t)systems[i].version);
		free((char *)(uintptr_t)systems[i].failure);
	}
	free(systems);
}

static int by_name(const void *a, const void *b)
{
	const struct sp_dbm_system *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int add_names(const char *folder, struct sp_dbm_system **systems, size_t *n,
		     struct sp_errinfo *err)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	int rc = 0;

	if (!d)
		return sp__err(err, -errno, "open", folder, -1);
	while (!rc && (e = readdir(d))) {
		char *name;

		if (strchr(e->d_name, '.')) /* hidden, or no program */
			continue;
		name = strdup(e->d_name);
		if (!name || !SP__ARRAY_GROW_BY_ONE(*systems, *n)) {
			free(name);
			rc = sp__err(err, -ENOMEM, "read", folder, -1);
		} else {
			(*systems)[(*n)++] = (struct sp_dbm_system){ .name = name };
		}
	}
	closedir(d);
	if (*n)
		qsort(*systems, *n, sizeof(**systems), by_name);
	return rc;
}

/* Asks one adapter for its version, in a folder of its own. */
static int ask(struct sp_dbm_system *s, const char *adapters, const char *work,
	       struct sp_errinfo *err)
{
	const struct sp__dbm_place place = { .logs = work, .limits = { TIMEOUT_NS, NULL } };
	struct sp_errinfo reason = SP_ERRINFO_INIT;
	char line[SP__ADAPTER_LINE];
	struct sp__adapter a;
	int rc = sp__adapter_open(&a, &place, s->name, adapters, work, &reason);

	if (!rc)
		rc = mkdir(a.folder, 0777) ? sp__err(&reason, -errno, "create", a.folder, -1)
					   : sp__adapter_version(&a, line, &reason);
	sp__adapter_close(&a);
	if (rc < 0)
		snprintf(line, sizeof(line), "%.200s", sp__adapter_reason(&reason));
	*(rc ? &s->failure : &s->version) = strdup(line);
	return s->failure || s->version ? 0 : sp__err(err, -ENOMEM, "call", s->name, -1);
}

int sp_dbm_systems(const char *adapters, struct sp_dbm_system **systems, size_t *found,
		   struct sp_errinfo *err)
{
	const char *tmp = getenv("TMPDIR");
	char work[4096];
	int rc;

	*systems = NULL;
	*found = 0;
	snprintf(work, sizeof(work), "%s/dbmbench.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	rc = add_names(adapters, systems, found, err);
	if (!rc && !mkdtemp(work))
		rc = sp__err(err, -errno, "create", work, -1);
	if (rc)
		return rc;
	if (chmod(work, 0755)) /* a system can run as another user */
		rc = sp__err(err, -errno, "chmod", work, -1);
	for (size_t i = 0; !rc && i < *found; i++)
		rc = ask(&(*systems)[i], adapters, work, err);
	if (sp__folder_remove(work) && !rc)
		rc = sp__err(err, -errno, "remove", work, -1);
	return rc;
}
