/* SPDX-License-Identifier: MIT */
/*
 * Loads libraries that few runs need, when they are needed.
 *
 * A library stays loaded until the program ends.  If it lacks a function, it counts as missing: the
 * stubs get all functions of a library or none.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include "base/err.h"
#include "base/loaded.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool loaded[SP__LIBRARIES];

/* Stores the functions of a library.  Returns the name of one that it lacks, or NULL. */
static const char *find_all(const struct sp__stubs *s, void *handle)
{
	const char *name = s->names;

	for (size_t i = 0; i < s->n; i++, name += strlen(name) + 1) {
		void *function = dlsym(handle, name);

		if (!function)
			return name;
		__atomic_store_n(&s->functions[i], function, __ATOMIC_RELEASE);
	}
	return NULL;
}

static int load(const struct sp__stubs *s, struct sp_errinfo *err)
{
	const char *reason, *lacks;
	void *handle;

	errno = 0;
	handle = dlopen(s->soname, RTLD_NOW | RTLD_LOCAL);
	if (!handle && errno == ENOMEM)
		return sp__err(err, -ENOMEM, "load", s->soname, -1);
	reason = handle ? NULL : dlerror();
	if (!handle)
		return sp__errf(err, SP_EUNSUP, "load", s->soname, -1,
				"cannot be loaded (%s): install the package %s",
				reason ? reason : "unknown reason", s->packages);
	lacks = find_all(s, handle);
	if (!lacks)
		return 0;
	sp__errf(err, SP_EUNSUP, "load", s->soname, -1,
		 "is too old, it lacks %s: install a newer package %s", lacks, s->packages);
	memset(s->functions, 0, s->n * sizeof(*s->functions));
	dlclose(handle);
	return SP_EUNSUP;
}

int sp__library_load(enum sp__library library, struct sp_errinfo *err)
{
	int rc = 0;

	if (!sp__stub_table)
		return 0;
	pthread_mutex_lock(&lock);
	if (!loaded[library])
		rc = load(sp__stub_table[library], err);
	loaded[library] = !rc;
	pthread_mutex_unlock(&lock);
	return rc;
}
