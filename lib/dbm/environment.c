/* SPDX-License-Identifier: MIT */
/*
 * Makes the environment of an adapter.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dbm/adapter.h"
#include "dbm/environment.h"

#define PREFIX "DBM_"
#define OWN_MAX 8

extern char **environ;

/* Adds a variable; a format with a value that is NULL is left out. */
static int add(struct sp__environment *e, const char *format, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0)
		return -ENOMEM;
	e->variables[e->n++] = text;
	e->own++;
	return 0;
}

static int add_own(struct sp__environment *e, const struct sp__adapter *a)
{
	const struct sp__dbm_place *p = a->place;
	int rc = add(e, PREFIX "FOLDER=%s", a->folder);

	if (!rc)
		rc = add(e, PREFIX "PARALLEL=%u", p->parallel);
	if (!rc)
		rc = add(e, PREFIX "RECORD_BYTES=%u", (unsigned)p->record_bytes);
	if (!rc)
		rc = add(e, PREFIX "WRAP=%s", p->wrap ? p->wrap : "");
	if (!rc && p->wrap)
		rc = add(e, PREFIX "COUNTERS=sim");
	if (!rc && p->t1)
		rc = add(e, PREFIX "T1=%s", p->t1);
	if (!rc && p->t2)
		rc = add(e, PREFIX "T2=%s", p->t2);
	return rc;
}

int sp__environment_make(struct sp__environment *e, const struct sp__adapter *a)
{
	size_t n = 0;
	int rc;

	while (environ[n])
		n++;
	*e = (struct sp__environment){ .variables = calloc(n + OWN_MAX + 1, sizeof(char *)) };
	if (!e->variables)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], PREFIX, strlen(PREFIX)))
			e->variables[e->n++] = environ[i];
	rc = add_own(e, a);
	if (rc)
		sp__environment_free(e);
	return rc;
}

void sp__environment_free(struct sp__environment *e)
{
	for (size_t i = e->n - e->own; e->variables && i < e->n; i++)
		free((char *)(uintptr_t)e->variables[i]);
	free(e->variables);
	*e = (struct sp__environment){ 0 };
}
